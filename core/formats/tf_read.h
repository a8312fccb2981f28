#pragma once

#include "core/formats/pw_tensorflow.pb.h"
#include "core/formats/wire_file.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

/// Binary files of TensorFlow: where in them the graph is, and the graph without its weights.
namespace pw::formats::tf {

/// The stretches of a file that make up one GraphDef: a message may come in several parts.
using GraphRanges = std::vector<FileRange>;

struct FoundGraph {
    GraphRanges ranges;
    std::size_t graphsInFile = 1;
    bool isCutOff = false; ///< event files: the last record is not complete
};

FoundGraph wholeFile(const OpenFile& file);
/// graph_def of a MetaGraphDef.
Result<FoundGraph> findInMetaGraph(const OpenFile& file, const std::string& path);
/// graph_def of the first MetaGraphDef of a SavedModel.
Result<FoundGraph> findInSavedModel(const OpenFile& file, const std::string& path);
/// The last graph of a TensorBoard event file, be it an event's graph_def or its meta_graph_def.
Result<FoundGraph> findInEvents(const OpenFile& file, const std::string& path);

/// Reads a graph. Tensors are jumped over in the file unless they are small: kept are integers of up to 64 KB, because
/// they carry shapes, and others of up to 1 KB. Errors name the byte or the node.
Result<tensorflow::GraphDef> readGraphDef(const OpenFile& file, const std::string& path, const GraphRanges& ranges,
                                          std::stop_token stop, const std::function<void(double)>& progress);

} // namespace pw::formats::tf
