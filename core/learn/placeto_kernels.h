#pragma once

#include <cstddef>

namespace pw::learn {

/// y[j][0..n) = bias[j] + sum over r of w[r][j] * x[r][0..n), through a ReLU if asked. Rows lie `n` apart.
void affineRows(const float* w, const float* bias, std::size_t in, std::size_t out, const float* x, float* y,
                std::size_t n, bool relu);
void affineRows(const double* w, const double* bias, std::size_t in, std::size_t out, const double* x, double* y,
                std::size_t n, bool relu);

} // namespace pw::learn
