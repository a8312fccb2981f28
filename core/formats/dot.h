#pragma once

#include "core/formats/graph_json.h"

namespace pw::formats {

/// Graphviz DOT through cgraph, behind the process-wide gate.
Result<GraphPtr> importDot(const std::string& content, const std::string& path, const std::string& fallbackName,
                           std::stop_token stop);

std::string toDot(const OpGraph& graph, const DeviceNames& deviceOf);

} // namespace pw::formats
