#pragma once

#include "core/graph/op_graph.h"

#include <QString>

namespace pw::viz {

/// "Conv 3×3": type, and kernel where there is one; the last part of the name where there is no type.
QString opTitle(const Op& op);
/// "1×64×56×56", unknown dimensions as "?"; empty if the shape is unknown.
QString shapeText(const Tensor& tensor);
/// Whole name, cut in the middle where it is absurdly long.
QString shortName(const std::string& name, int most = 120);
/// "22.6 ms", "12.0 µs" with a fixed number of decimals.
QString timeText(double us);
QString bytesText(double bytes);
QString countText(std::size_t count, const char* one, const char* many);

} // namespace pw::viz
