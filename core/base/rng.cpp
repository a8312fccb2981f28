#include "core/base/rng.h"

#include "core/base/hash.h"

#include <cmath>
#include <numbers>

namespace pw {

namespace {

std::uint64_t splitmix64(std::uint64_t& x) {
    x += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = x;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

std::uint64_t rotateLeft(std::uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

} // namespace

Rng::Rng(std::uint64_t seed) {
    for (auto& word : m_state)
        word = splitmix64(seed);
}

Rng Rng::derive(std::uint64_t seed, std::string_view name) {
    Hasher hasher;
    hasher.add(seed);
    hasher.add(name);
    return Rng(hasher.finish64());
}

std::uint64_t Rng::next() {
    const std::uint64_t result = rotateLeft(m_state[1] * 5, 7) * 9;
    const std::uint64_t t = m_state[1] << 17;
    m_state[2] ^= m_state[0];
    m_state[3] ^= m_state[1];
    m_state[1] ^= m_state[2];
    m_state[0] ^= m_state[3];
    m_state[2] ^= t;
    m_state[3] = rotateLeft(m_state[3], 45);
    return result;
}

double Rng::uniform() {
    return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::uint64_t Rng::below(std::uint64_t n) {
    const std::uint64_t limit = n * (UINT64_MAX / n);
    std::uint64_t x = next();
    while (x >= limit)
        x = next();
    return x % n;
}

double Rng::normal() {
    const double u = 1.0 - uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * uniform());
}

} // namespace pw
