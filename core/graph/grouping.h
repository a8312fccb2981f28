#pragma once

#include "core/graph/op_graph.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pw {

/// A partition of the ops of an acyclic graph into groups whose quotient graph is acyclic as well. A placer makes one
/// decision per group. Immutable; shared between threads.
struct Grouping {
    struct Arc {
        GroupId from;
        GroupId to;
        std::int64_t bytes = 0; ///< distinct tensors that cross, each once
    };

    std::vector<GroupId> groupOf;          ///< per op
    std::vector<std::vector<OpId>> members; ///< per group, in topological order
    std::vector<OpId> centre;              ///< per group: the op that stands for it (the dearest, first on ties)
    std::vector<std::string> names;        ///< per group: shortest, then alphabetically first member name
    std::vector<Arc> arcs;                 ///< between different groups, sorted by (from, to)
    std::vector<GroupId> order;            ///< topological, smallest id first among the free ones
    std::vector<std::string> report;       ///< what was merged, a line per rule

    std::size_t groupCount() const { return members.size(); }
};

struct GroupingOptions {
    bool colocation = true;  ///< ops with one colocation key share a group (specs: framework constraint)
    bool coplacement = true; ///< an op with one distinct consumer joins that consumer's group
    std::size_t targetGroups = 0; ///< merge along the heaviest arcs down to this many; 0 = do not
};

/// One group per op.
Grouping trivialGrouping(const OpGraph& graph);

/// Groups by the rules of `options`, in that order; never creates a cycle between groups (a merge that would is left
/// out and counted in the report, except for colocation, where the ops in between join the group).
/// `opCostUs` (per op) weighs the centre and balances merges: a merge never makes a group dearer than
/// 2 x total / targetGroups unless nothing else is left. Fails on a cyclic graph.
Result<Grouping> makeGrouping(const OpGraph& graph, std::span<const double> opCostUs, const GroupingOptions& options);

} // namespace pw
