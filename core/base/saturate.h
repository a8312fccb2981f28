#pragma once

#include <cstdint>
#include <limits>

namespace pw {

/// Sum of two sizes that stops at the largest number instead of turning negative: files may name sizes at will.
constexpr std::int64_t addSaturating(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    return b > 0 && a > kMax - b ? kMax : a + b;
}

} // namespace pw
