#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace pw {

/// (time, order, device) as one number, so that the next event is a minimum that compilers select without branching (a
/// branch here is taken at random and costs more than all comparisons). Times are not negative: then the bits of a double
/// sort like its value.
__extension__ using EventKey = unsigned __int128;

inline EventKey eventKey(double atUs, std::uint32_t order, std::uint32_t device) {
    return (static_cast<EventKey>(std::bit_cast<std::uint64_t>(atUs)) << 64) |
           (static_cast<std::uint64_t>(order) << 32 | device);
}
inline double eventTimeUs(EventKey key) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(key >> 64));
}
inline std::uint32_t eventOrder(EventKey key) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(key) >> 32);
}
inline std::uint32_t eventDevice(EventKey key) {
    return static_cast<std::uint32_t>(key);
}

/// The smallest of `count` > 0 keys.
inline EventKey firstEvent(const EventKey* keys, std::uint32_t count) {
    EventKey first = keys[0];
    for (std::uint32_t i = 1; i < count; ++i)
        first = keys[i] < first ? keys[i] : first;
    return first;
}

} // namespace pw
