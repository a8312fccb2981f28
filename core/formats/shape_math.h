#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/// Arithmetic on shapes in which -1 stands for a dimension that is not known; what cannot be is not known either.
namespace pw::formats::rules {

using Dims = std::vector<std::int64_t>;
constexpr std::size_t kMaxRank = 64;

inline std::int64_t mulDim(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

inline std::int64_t addDim(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum) ? -1 : sum;
}

inline std::int64_t product(const Dims& dims, std::size_t from, std::size_t to) {
    std::int64_t count = 1;
    for (std::size_t d = from; d < to; ++d)
        count = mulDim(count, dims[d]);
    return count;
}

inline std::optional<std::size_t> axisOf(std::int64_t axis, std::size_t rank) {
    if (axis < 0)
        axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
        return std::nullopt;
    return static_cast<std::size_t>(axis);
}

/// Broadcast of two shapes; nothing where they cannot be.
std::optional<Dims> broadcast(const Dims& a, const Dims& b);

} // namespace pw::formats::rules
