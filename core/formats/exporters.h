#pragma once

#include "core/formats/formats.h"

namespace pw::formats {

/// Device name per op; empty = the names that the graph itself carries.
using DeviceNames = std::vector<std::string>;

/// What a writer of graphs gets beside the graph.
struct Target {
    const std::string& path;
    const DeviceNames& deviceOf;
    const std::string& source; ///< SaveOptions::source
};

// One writer per graph format. Each writes beside the target and renames.
Status exportGraphJson(const OpGraph& graph, const Target& target);
Status exportDot(const OpGraph& graph, const Target& target);
Status exportGraphml(const OpGraph& graph, const Target& target);
Status exportOnnx(const OpGraph& graph, const Target& target); ///< devices into a copy of the original
Status exportTensorFlow(const OpGraph& graph, const Target& target); ///< devices into a copy of the original

std::string toDot(const OpGraph& graph, const DeviceNames& deviceOf);

} // namespace pw::formats
