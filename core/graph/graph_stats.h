#pragma once

#include "core/graph/op_graph.h"

#include <map>

namespace pw {

/// Counts as `placewright-cli info` prints them; container ops count as one.
struct GraphStats {
    std::size_t ops = 0;
    std::size_t opsTotal = 0; ///< with the bodies of container ops, recursively
    std::size_t tensors = 0;
    std::size_t edges = 0;         ///< data and control input slots fed by ops of this graph, without captures
    std::size_t edgesDistinct = 0; ///< ordered (producer, consumer) pairs of those
    std::size_t controlEdges = 0;
    std::optional<std::size_t> depth; ///< ops on the longest path, captures included; nothing for a cyclic graph
    std::map<std::string, std::size_t> opTypes;
    std::map<std::string, std::size_t> devices; ///< the file's own assignment; "(none)" for ops without one
    std::int64_t parameterBytes = 0;            ///< bodies included
    double flops = 0.0;                         ///< known ones only, bodies not included
    std::size_t flopsUnknown = 0;               ///< ops with unknown FLOPs
    std::size_t scopes = 0;                     ///< without the root
};

GraphStats computeStats(const OpGraph& graph);

} // namespace pw
