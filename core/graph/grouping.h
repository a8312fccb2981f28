#pragma once

#include "core/graph/op_graph.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pw {

/// A partition of the ops of an acyclic graph into groups, with an acyclic graph between them. A placer makes one decision
/// per group. Immutable; shared between threads.
///
/// Colocation may force a cycle: a variable shares its group with its update op, which needs everything that the variable
/// feeds. Then the arcs against the order of the groups' first ops are turned round: each still says that two groups
/// exchange tensors, and the arcs together stay acyclic. Without such keys the arcs are exactly the quotient graph.
/// Contracting the cycles instead would fold most of a training graph into one group (ARCHITECTURE.md, Departures).
struct Grouping {
    struct Arc {
        GroupId from;
        GroupId to;
        std::int64_t bytes = 0; ///< distinct tensors that cross, each once per direction; a turned one counts here too
    };

    std::vector<GroupId> groupOf;          ///< per op
    std::vector<std::vector<OpId>> members; ///< per group, in topological order
    std::vector<OpId> centre;              ///< per group: the op that stands for it (the dearest, first on ties)
    std::vector<std::string> names;        ///< per group: shortest, then alphabetically first member name
    std::vector<Arc> arcs;                 ///< between different groups, sorted by (from, to)
    std::vector<GroupId> order;            ///< topological, smallest id first among the free ones
    std::size_t turnedArcs = 0;            ///< group pairs whose tensors (some of them) cross against `order`
    std::vector<std::string> report;       ///< what was merged, a line per rule

    /// How many of a group's joins each rule made; together one less than its ops.
    struct Joins {
        std::uint32_t colocation = 0;
        std::uint32_t byHand = 0;
        std::uint32_t scope = 0;
        std::uint32_t coplacement = 0;
        std::uint32_t traffic = 0;    ///< along the heaviest arcs
        std::uint32_t neighbours = 0; ///< next to each other in topological order
    };
    std::vector<Joins> joins; ///< per group

    std::size_t groupCount() const { return members.size(); }
};

struct GroupingOptions {
    bool colocation = true; ///< ops with one colocation key share a group: the framework's constraint
    /// An op with one distinct consumer (an op) joins that consumer's group, whatever it costs. Off by default: it folds
    /// parallel branches into their join. Merging to a target begins with the same merges, as far as they stay balanced.
    bool coplacement = false;
    std::size_t targetGroups = 0; ///< merge along the heaviest arcs down to this many; 0 = do not
    /// Ops whose scopes agree in their first so many components share a group; 0 = do not. Ops that a colocation key joins
    /// go with the first of them; ops outside any scope, and those grouped by hand, are left alone.
    std::size_t scopeDepth = 0;
    /// Groups that a person made: ops by name. They stay as they are: only what a colocation key forces joins them. Names
    /// that the graph does not have are counted in the report.
    std::vector<std::vector<std::string>> byHand = {};

    bool operator==(const GroupingOptions&) const = default;
};

/// One group per op.
Grouping trivialGrouping(const OpGraph& graph);

/// Groups by the rules of `options`, in that order. Coplacement and merging never create a cycle between groups (a merge
/// that would is left out and counted in the report); for colocation see Grouping.
/// `opCostUs` (per op) weighs the centre and balances merges: with a target, no merge makes a group dearer than
/// 2 x total / targetGroups unless nothing else is left. The target is met exactly where colocation, scopes and hand-made
/// groups leave at least that many groups and do not stand between the rest; coplacement stops at it. Fails on a cyclic graph.
Result<Grouping> makeGrouping(const OpGraph& graph, std::span<const double> opCostUs, const GroupingOptions& options);

/// "12 ops: 4 joined by colocation, 5 along the heaviest tensors, 2 as neighbours in order".
std::string whyGrouped(const Grouping& grouping, GroupId group);

} // namespace pw
