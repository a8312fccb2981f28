#pragma once

#include "core/formats/shape_math.h"
#include "core/formats/tf_shape_rules.h"

/// What the files of shape rules share.
namespace pw::formats::tf {

constexpr std::size_t kMaxConstant = 64; ///< why: shapes are short, and every op on the way holds a copy
constexpr std::int64_t kMaxListedOutputs = 1024;

using Rule = void (*)(RuleContext&);

/// Rules for ops that move data without computing (Reshape, GatherV2, StridedSlice...); nullptr if it is none of those.
Rule dataRule(std::string_view opType);
/// Rules for convolutions, pools, matrix products, normalisation and their gradients.
Rule networkRule(std::string_view opType);

/// Element-wise arithmetic on small integer constants ("Add", "Mul", ...); nothing where it is not followed.
std::optional<Dims> foldedIntegers(std::string_view opType, const Dims& a, const Dims& b);

/// An output with the shape of an input.
void sameShapeAs(RuleContext& c, std::size_t output, std::size_t input, int dtype);

/// Output 0 with the shape that the values of an input give; only its rank where they are not known.
void shapeFromInput(RuleContext& c, std::size_t input, int dtype);

} // namespace pw::formats::tf
