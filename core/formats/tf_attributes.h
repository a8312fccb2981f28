#pragma once

#include "core/formats/tf_model.h"

namespace pw::formats::tf {

/// An attribute as text: lists with commas, "SAME", "true", "f32", shapes as "1x?x3". Empty for what is no parameter
/// (tensors, functions, our own bookkeeping) or too long to be one.
std::string attributeText(const tensorflow::AttrEntry& entry);

} // namespace pw::formats::tf
