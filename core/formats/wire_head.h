#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pw::formats {

/// Walks the fields of a protobuf message as far as the head reaches.
class FieldWalk {
public:
    explicit FieldWalk(std::string_view bytes)
        : m_bytes(bytes) {}

    bool next() {
        const auto tag = varint();
        if (!tag || *tag >> 3 == 0 || *tag >> 32 != 0)
            return false;
        field = static_cast<std::uint32_t>(*tag >> 3);
        wire = static_cast<std::uint32_t>(*tag & 7U);
        if (wire == 0) {
            const auto read = varint();
            value = read.value_or(0);
            return read.has_value();
        }
        if (wire != 2)
            return false; // none of the messages told apart here has fixed-width fields at its top
        const auto read = varint();
        length = read.value_or(0);
        payload = m_bytes.substr(0, length);
        start = m_read;
        skip(length);
        return read.has_value();
    }

    std::uint32_t field = 0;
    std::uint32_t wire = 0;
    std::uint64_t value = 0;
    std::uint64_t length = 0;
    std::size_t start = 0;    ///< of the payload, from the message's begin
    std::string_view payload; ///< as much as is there
    bool atEnd() const { return m_bytes.empty(); }

private:
    std::optional<std::uint64_t> varint() {
        std::uint64_t read = 0;
        for (unsigned shift = 0; shift < 64 && !m_bytes.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_bytes.front());
            skip(1);
            read |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80)
                return read;
        }
        return std::nullopt;
    }
    void skip(std::uint64_t count) {
        const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, m_bytes.size()));
        m_bytes.remove_prefix(step);
        m_read += step;
    }

    std::string_view m_bytes;
    std::size_t m_read = 0;
};

} // namespace pw::formats
