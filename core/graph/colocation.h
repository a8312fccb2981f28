#pragma once

#include "core/graph/grouping.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pw::detail {

/// The ops of a graph joined by what does not depend on cost: hand-made groups, colocation keys, scopes. Private to
/// core/graph (grouping).
struct ForcedSets {
    std::vector<std::uint32_t> setOf; ///< per op; dense, in order of each set's first op id
    std::size_t count = 0;
    std::vector<Grouping::Joins> joins; ///< per set
    std::vector<bool> isFrozen;         ///< per set: made by hand, takes no more ops
    std::vector<std::uint32_t> order;   ///< of the sets: topological once arcs against it are turned round
    std::vector<std::string> report;    ///< a line per rule that was asked for
};

/// Arcs between sets that lie on no cycle follow `order`; on a cycle the sets are ordered by the topological place of their
/// first op.
/// Adds up.
void addJoins(Grouping::Joins& to, const Grouping::Joins& from);

ForcedSets forceSets(const OpGraph& graph, const GroupingOptions& options);

} // namespace pw::detail
