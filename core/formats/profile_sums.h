#pragma once

#include "core/formats/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pw::formats {

/// A time that is longer than this (31 years) is a damaged number.
constexpr double kMaxOpUs = 1e15;

/// False for NaN, infinite, negative and absurdly long times.
inline bool isOpTime(double us) {
    return us >= 0.0 && us <= kMaxOpUs;
}

/// Collects times by op and lane. A lane is whatever a profiler keeps apart (a device, a process, a thread), as a
/// number that the caller gives; which device kind it means may be said at the end.
class ProfileSums {
public:
    void add(std::string_view op, std::uint32_t lane, double us);
    bool isEmpty() const { return m_sums.empty(); }
    void clear();

    /// How the samples of one op on one kind become its time.
    enum class Combine { Mean, Sum };
    /// One entry per op and kind in order of first appearance. `kindOfLane`: nothing = leave its times out.
    std::vector<Profile::Entry> entries(const std::vector<std::optional<std::string>>& kindOfLane,
                                        Combine combine) const;

private:
    struct Sum {
        const std::string* op = nullptr;
        std::uint32_t lane = 0;
        double us = 0.0;
        std::size_t samples = 0;
    };
    std::unordered_map<std::string, std::uint32_t> m_opNumber;
    std::unordered_map<std::uint64_t, std::uint32_t> m_placeOf; ///< op number and lane -> place in m_sums
    std::vector<Sum> m_sums;                                    ///< in order of first appearance
};

/// "gpu" or "cpu" where a label (a device string, an execution provider, a process's name) speaks of one; "" otherwise.
std::string deviceKindOf(std::string_view label);

} // namespace pw::formats
