#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pw {

/// xoshiro256** (Blackman and Vigna, public domain algorithm), seeded with splitmix64. Same numbers on every machine,
/// unlike the distributions of <random>. Not thread-safe: one per job, derived by name from the run's seed.
class Rng {
public:
    using State = std::array<std::uint64_t, 4>;

    explicit Rng(std::uint64_t seed = 0);

    /// An independent stream for one purpose; the same seed and name give the same stream.
    static Rng derive(std::uint64_t seed, std::string_view name);

    std::uint64_t next();
    /// Uniform in [0, 1).
    double uniform();
    /// Uniform in [0, n), n > 0, without modulo bias.
    std::uint64_t below(std::uint64_t n);
    /// Standard normal (Box-Muller, no cached second value, so that the state is the four words alone).
    double normal();

    const State& state() const { return m_state; }
    void setState(const State& state) { m_state = state; }

private:
    State m_state;
};

} // namespace pw
