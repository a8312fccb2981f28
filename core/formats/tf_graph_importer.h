#pragma once

#include "core/formats/formats.h"
#include "core/formats/tf_devices.h"
#include "core/formats/pw_tensorflow.pb.h"

namespace pw::formats {

/// What a GraphDef becomes.
struct TfGraphSource {
    std::string name;
    std::string format; ///< "graphdef", "metagraph", "savedmodel", "tfevents", "tfjs"
    std::vector<Warning> warnings;
};

/// Builds the graph of a GraphDef; called functions become bodies. Fails where it holds no nodes.
Result<GraphPtr> importTfGraph(const tensorflow::GraphDef& graph, TfGraphSource source, const LoadOptions& options);

/// All device strings of a graph, functions included.
TfDeviceNames deviceNamesOf(const tensorflow::GraphDef& graph);

} // namespace pw::formats
