#include "core/base/hash.h"

#include <bit>
#include <cstring>

namespace pw {

namespace {

std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
}

} // namespace

void Hasher::addWord(std::uint64_t value) {
    m_a = mix(m_a ^ value) + 0x9e3779b97f4a7c15ULL;
    m_b = mix(m_b + std::rotl(value, 29)) ^ std::rotl(m_a, 17);
}

void Hasher::add(double value) {
    add(std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value)); // why: -0.0 and 0.0 are one value
}

void Hasher::add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()) ^ 0x5bd1e9955bd1e995ULL);
    while (!text.empty()) {
        std::uint64_t word = 0;
        const std::size_t n = text.size() < 8 ? text.size() : 8;
        std::memcpy(&word, text.data(), n);
        add(word);
        text.remove_prefix(n);
    }
}

std::uint64_t Hasher::finish64() const {
    return mix(m_a ^ std::rotl(m_b, 31));
}

std::string Hasher::finishHex() const {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text(32, '0');
    const std::uint64_t words[2] = {mix(m_a + m_b), finish64()};
    for (int i = 0; i < 32; ++i)
        text[static_cast<std::size_t>(i)] = kDigits[(words[i / 16] >> (60 - 4 * (i % 16))) & 15];
    return text;
}

} // namespace pw
