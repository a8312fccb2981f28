#pragma once

#include "core/graph/op_graph.h"

#include <cstdint>
#include <vector>

namespace pw::detail {

/// The ops of a graph joined by their colocation keys, before any merging. Private to core/graph (grouping).
struct ColocatedSets {
    std::vector<std::uint32_t> setOf; ///< per op; dense, in order of each set's first op id
    std::size_t count = 0;
    std::size_t keys = 0;             ///< keys that join at least two ops
    std::vector<std::uint32_t> order; ///< of the sets: topological once arcs against it are turned round
};

/// With `useKeys` false every op is its own set. Arcs between sets that lie on no cycle follow `order`; on a cycle the sets
/// are ordered by the topological place of their first op.
ColocatedSets colocate(const OpGraph& graph, bool useKeys);

} // namespace pw::detail
