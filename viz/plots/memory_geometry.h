#pragma once

#include "core/sim/simulator.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pw::viz {

/// Least and most bytes within each pixel column, and the value at its right edge. Exact: a column knows the value it
/// starts with and every step inside it.
struct MemoryColumns {
    std::vector<std::int64_t> minBytes;
    std::vector<std::int64_t> maxBytes;
    std::vector<std::int64_t> lastBytes;
};

/// Columns of equal width over [fromUs, toUs]. Before the first point there are 0 bytes, after the last one its value
/// holds.
MemoryColumns memoryColumns(std::span<const MemoryPoint> points, double fromUs, double toUs, std::size_t columns);

/// Bytes at one moment.
std::int64_t bytesAt(std::span<const MemoryPoint> points, double us);

} // namespace pw::viz
