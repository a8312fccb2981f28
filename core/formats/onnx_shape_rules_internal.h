#pragma once

#include "core/formats/onnx_shape_rules.h"
#include "core/formats/shape_math.h"

#include <optional>
#include <string_view>

/// What the two files of shape rules share.
namespace pw::formats::rules {

constexpr std::size_t kMaxConstant = 8192;
constexpr std::int32_t kFloat = 1, kUint8 = 2, kInt32 = 6, kInt64 = 7, kBool = 9;

/// Axes of Squeeze, Unsqueeze and reductions: an attribute first, an input since opset 13 (18 for some). Nothing if
/// they come from an input whose values are not known.
std::optional<Dims> axesOf(const RuleContext& c, bool& isGiven);

using Rule = void (*)(RuleContext&);
/// The rule for an op that moves data without computing (Reshape, Gather, Slice...), nullptr if it is none of those.
Rule dataRule(std::string_view opType);

} // namespace pw::formats::rules
