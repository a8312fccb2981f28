#pragma once

#include "core/learn/learn.h"

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace pw::learn {

/// Appends values to bytes, in the machine's own order (little-endian on every supported machine).
class ByteWriter {
public:
    template<class T>
        requires std::is_arithmetic_v<T>
    void add(T value) {
        const auto at = m_bytes.size();
        m_bytes.resize(at + sizeof value);
        std::memcpy(m_bytes.data() + at, &value, sizeof value);
    }
    void add(const std::string& text) { add(std::vector<char>(text.begin(), text.end())); }
    template<class T>
        requires std::is_arithmetic_v<T>
    void add(const std::vector<T>& values) {
        add(static_cast<std::uint64_t>(values.size()));
        const auto at = m_bytes.size();
        m_bytes.resize(at + values.size() * sizeof(T));
        if (!values.empty())
            std::memcpy(m_bytes.data() + at, values.data(), values.size() * sizeof(T));
    }
    Bytes take() { return std::move(m_bytes); }

private:
    Bytes m_bytes;
};

/// Reads them back. Never beyond the end: after the first value that does not fit, everything reads as zero or empty
/// and failed() is true.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) : m_rest(bytes) {}

    template<class T>
        requires std::is_arithmetic_v<T>
    T value() {
        T value{};
        if (const auto* from = next(sizeof value))
            std::memcpy(&value, from, sizeof value);
        return value;
    }
    template<class T>
        requires std::is_arithmetic_v<T>
    std::vector<T> values() {
        const auto count = value<std::uint64_t>();
        if (m_failed || count > m_rest.size() / sizeof(T)) {
            m_failed = true;
            return {};
        }
        std::vector<T> result(static_cast<std::size_t>(count));
        if (count > 0)
            std::memcpy(result.data(), next(result.size() * sizeof(T)), result.size() * sizeof(T));
        return result;
    }
    std::string text() {
        const auto chars = values<char>();
        return {chars.begin(), chars.end()};
    }
    bool failed() const { return m_failed; }
    bool atEnd() const { return m_rest.empty(); }
    std::span<const std::uint8_t> rest() const { return m_rest; }

private:
    const std::uint8_t* next(std::size_t size) {
        if (m_failed || size > m_rest.size()) {
            m_failed = true;
            return nullptr;
        }
        const auto* from = m_rest.data();
        m_rest = m_rest.subspan(size);
        return from;
    }

    std::span<const std::uint8_t> m_rest;
    bool m_failed = false;
};

} // namespace pw::learn
