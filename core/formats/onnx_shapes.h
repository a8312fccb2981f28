#pragma once

#include "core/formats/onnx_model.h"

#include <stop_token>

namespace pw::formats {

/// Types of the values of each graph of a model, bodies included.
using ShapeTables = std::unordered_map<const onnx::GraphProto*, TypeTable>;

/// What the file itself says: inputs, outputs, value_info, initialisers; of all bodies as well.
ShapeTables declaredTypes(const onnx::GraphProto& graph);

/// Fills in the outputs of nodes by rules for the common ops, in dependency order, with small integer tensors carried
/// along (they hold shapes). What is known already is kept. For when the ONNX library's inference is not at hand.
void inferByOwnRules(const onnx::GraphProto& graph, ShapeTables& tables, std::stop_token stop);

} // namespace pw::formats
