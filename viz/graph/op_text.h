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
} // namespace pw::viz
