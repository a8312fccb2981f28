#include "viz/plots/memory_geometry.h"

#include <algorithm>

namespace pw::viz {

namespace {

/// Index of the first point after `us`.
std::size_t firstAfter(std::span<const MemoryPoint> points, double us) {
    return static_cast<std::size_t>(std::upper_bound(points.begin(), points.end(), us,
                                                     [](double at, const MemoryPoint& p) { return at < p.atUs; }) -
                                    points.begin());
}

} // namespace

MemoryColumns memoryColumns(std::span<const MemoryPoint> points, double fromUs, double toUs, std::size_t columns) {
    MemoryColumns result;
    result.minBytes.resize(columns);
    result.maxBytes.resize(columns);
    result.lastBytes.resize(columns);
    const double widthUs = columns > 0 ? (toUs - fromUs) / static_cast<double>(columns) : 0.0;
    std::size_t next = firstAfter(points, fromUs);
    std::int64_t value = next > 0 ? points[next - 1].bytes : 0;
    for (std::size_t column = 0; column < columns; ++column) {
        std::int64_t least = value;
        std::int64_t most = value;
        // The last column takes its right edge with it.
        const bool isLast = column + 1 == columns;
        const double edgeUs = isLast ? toUs : fromUs + widthUs * static_cast<double>(column + 1);
        while (next < points.size() && (points[next].atUs < edgeUs || (isLast && points[next].atUs <= toUs))) {
            value = points[next].bytes;
            least = std::min(least, value);
            most = std::max(most, value);
            ++next;
        }
        result.minBytes[column] = least;
        result.maxBytes[column] = most;
        result.lastBytes[column] = value;
    }
    return result;
}

std::int64_t bytesAt(std::span<const MemoryPoint> points, double us) {
    const std::size_t next = firstAfter(points, us);
    return next > 0 ? points[next - 1].bytes : 0;
}

} // namespace pw::viz
