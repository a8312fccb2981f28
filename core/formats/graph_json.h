#pragma once

#include "core/formats/exporters.h"
#include "core/graph/graph_builder.h"

namespace pw::formats {

std::string toGraphJson(const OpGraph& graph, const DeviceNames& deviceOf);

/// The document up to the point where its graph is put together.
Result<GraphBuilder> readGraphJson(std::string_view json, const std::string& file);

constexpr int kMaxBodyDepth = 64; ///< why: bodies are read, written and freed recursively

} // namespace pw::formats
