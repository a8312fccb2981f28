#pragma once

#include "core/formats/formats.h"
#include "core/formats/onnx_shapes.h"

#include <deque>
#include <unordered_map>

namespace pw::formats {

/// What all graphs of one model share while they are turned into OpGraphs.
struct OnnxModelContext {
    std::unordered_map<std::string, const onnx::FunctionProto*> functions; ///< by "domain::name"
    std::unordered_map<std::string, GraphPtr> functionGraphs;              ///< built so far; null while being built
    std::deque<onnx::GraphProto> functionBodies;                           ///< own the nodes that importers look at
    ShapeTables tables;
    std::size_t expandedOps = 0; ///< ops of all function bodies hung into the graph so far
    std::stop_token stop;
};

/// Builds the graph of a model from its nodes; bodies of If, Loop and Scan and called functions become Body graphs.
Result<GraphPtr> importOnnxGraph(OnnxModelContext& context, const onnx::GraphProto& graph, std::string name,
                                 std::vector<Warning> warnings);

} // namespace pw::formats
