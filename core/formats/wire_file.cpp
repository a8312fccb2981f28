#include "core/formats/wire_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace pw::formats {

namespace {
constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kBytesAfterJump = 4 << 10; ///< why: behind a weight usually comes the head of the next one only
}

void appendVarint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>((value & 0x7fU) | 0x80U);
    out += static_cast<char>(value);
}

WireFile::WireFile(const OpenFile& file, const std::string& path, std::string what)
    : m_file(file)
    , m_path(path)
    , m_what(std::move(what))
    , m_size(static_cast<std::uint64_t>(file.size))
    , m_buffer(static_cast<std::size_t>(std::clamp<std::uint64_t>(m_size, 1, kBufferBytes))) {}

Status WireFile::readVarint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned char byte = 0;
        PW_CHECK(read(reinterpret_cast<char*>(&byte), 1));
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80)
            return {};
    }
    return damaged("a number is longer than 64 bits");
}

Result<WireField> WireFile::readField(std::uint64_t end) {
    std::uint64_t tag = 0;
    PW_CHECK(readVarint(tag));
    WireField field{static_cast<std::uint32_t>(tag >> 3), static_cast<std::uint32_t>(tag & 7U), 0};
    if (tag >> 32 != 0 || field.number == 0)
        return damaged("there is no such field");
    if (field.wire == 0 || field.wire == 2)
        PW_CHECK(readVarint(field.value));
    else if (field.wire == 1 || field.wire == 5)
        field.value = field.wire == 1 ? 8 : 4;
    else
        return damaged("unknown wire type " + std::to_string(field.wire));
    const std::uint64_t length = field.wire == 0 ? 0 : field.value;
    if (m_position > end || length > end - m_position) {
        return damaged("field " + std::to_string(field.number) + " ends after its record: the file has " +
                       std::to_string(m_size) + " bytes and is cut off or damaged");
    }
    return field;
}

Status WireFile::append(std::string& out, std::uint64_t count) {
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(count));
    return read(out.data() + before, static_cast<std::size_t>(count));
}

Status WireFile::copyField(std::string& out, const WireField& field) {
    appendVarint(out, (std::uint64_t{field.number} << 3) | field.wire);
    if (field.wire == 0 || field.wire == 2)
        appendVarint(out, field.value);
    return field.wire == 0 ? Status() : append(out, field.value);
}

tl::unexpected<Error> WireFile::damaged(const std::string& reason) const {
    return fail(ErrorCode::Parse, "not a readable " + m_what + ": " + reason, "byte " + std::to_string(m_position),
                m_path);
}

Status WireFile::read(char* into, std::size_t count) {
    while (count > 0) {
        if (m_position < m_bufferStart || m_position >= m_bufferStart + m_filled)
            PW_CHECK(fill());
        const auto offset = static_cast<std::size_t>(m_position - m_bufferStart);
        const std::size_t step = std::min(count, m_filled - offset);
        std::memcpy(into, m_buffer.data() + offset, step);
        into += step;
        count -= step;
        m_position += step;
    }
    return {};
}

Status WireFile::fill() {
    const bool isNext = m_position == m_bufferStart + m_filled;
    const std::size_t wanted = isNext ? m_buffer.size() : std::min(m_buffer.size(), kBytesAfterJump);
    ssize_t got = 0;
    do {
        got = ::pread(m_file.handle.fd(), m_buffer.data(), wanted, static_cast<off_t>(m_position));
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail(ErrorCode::Io, std::string("cannot read: ") + std::strerror(errno), {}, m_path);
    if (got == 0)
        return damaged("the file ends too early");
    m_bufferStart = m_position;
    m_filled = static_cast<std::size_t>(got);
    return {};
}

} // namespace pw::formats
