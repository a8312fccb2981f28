#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace pw {

/// Content hash: 128 bits, not cryptographic, stable across machines and versions (it names graphs in files).
/// Every `add` frames its value (type and length), so that "ab","c" and "a","bc" differ.
class Hasher {
public:
    template<std::integral Integer>
    void add(Integer value) {
        addWord(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    }
    void add(double value);
    void add(std::string_view text);
    void add(const char* text) { add(std::string_view(text)); }

    std::uint64_t finish64() const;
    /// 32 lower-case hexadecimal digits.
    std::string finishHex() const;

private:
    void addWord(std::uint64_t value);

    std::uint64_t m_a = 0x243f6a8885a308d3ULL;
    std::uint64_t m_b = 0x13198a2e03707344ULL;
};

} // namespace pw
