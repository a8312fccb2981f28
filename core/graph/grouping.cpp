#include "core/graph/grouping.h"

#include "core/base/text.h"
#include "core/graph/colocation.h"
#include "core/graph/contraction.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <tuple>

namespace pw {

namespace {

using detail::ForcedSets;
using detail::Contraction;

std::string count(std::size_t value, const char* one, const char* many) {
    return text::grouped(static_cast<std::int64_t>(value)) + " " + (value == 1 ? one : many);
}

/// One entry per tensor and receiving group (or per control dependency), as (from, to, tensor, bytes).
struct Crossing {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    TensorId tensor;
    std::int64_t bytes = 0;

    auto tie() const { return std::tuple(from, to, tensor); }
};

std::vector<Crossing> crossings(const OpGraph& graph, std::span<const std::uint32_t> groupOf) {
    std::vector<Crossing> found;
    found.reserve(graph.edges().size());
    for (const Edge& edge : graph.edges()) {
        const std::uint32_t from = groupOf[edge.producer.index()];
        const std::uint32_t to = groupOf[edge.consumer.index()];
        if (from != to)
            found.push_back({from, to, edge.tensor, edge.tensor.isValid() ? graph.tensor(edge.tensor).bytes : 0});
    }
    std::sort(found.begin(), found.end(), [](const Crossing& a, const Crossing& b) { return a.tie() < b.tie(); });
    found.erase(std::unique(found.begin(), found.end(),
                            [](const Crossing& a, const Crossing& b) { return a.tie() == b.tie(); }),
                found.end());
    return found;
}

/// Arcs between groups along `position` (those against it turned round and counted), sorted by (from, to).
std::vector<Contraction::Arc> arcsAlong(const OpGraph& graph, std::span<const std::uint32_t> groupOf,
                                        std::span<const std::uint32_t> position, std::size_t& turned) {
    std::vector<Contraction::Arc> arcs;
    turned = 0;
    std::uint32_t lastFrom = 0;
    std::uint32_t lastTo = 0;
    for (const Crossing& crossing : crossings(graph, groupOf)) {
        const bool against = position[crossing.from] > position[crossing.to];
        if (against && (arcs.empty() || lastFrom != crossing.from || lastTo != crossing.to))
            ++turned;
        lastFrom = crossing.from;
        lastTo = crossing.to;
        if (against)
            arcs.push_back({crossing.to, crossing.from, crossing.bytes});
        else
            arcs.push_back({crossing.from, crossing.to, crossing.bytes});
    }
    const auto ends = [](const Contraction::Arc& arc) { return std::pair(arc.from, arc.to); };
    std::sort(arcs.begin(), arcs.end(), [&](const auto& a, const auto& b) { return ends(a) < ends(b); });
    std::size_t kept = 0;
    for (const Contraction::Arc& arc : arcs) {
        if (kept > 0 && ends(arcs[kept - 1]) == ends(arc))
            arcs[kept - 1].bytes += arc.bytes;
        else
            arcs[kept++] = arc;
    }
    arcs.resize(kept);
    return arcs;
}

bool isBetterName(const std::string& name, const std::string& than) {
    return std::pair(name.size(), std::string_view(name)) < std::pair(than.size(), std::string_view(than));
}

std::vector<GroupId> topologicalOrder(std::size_t n, std::span<const Grouping::Arc> arcs) {
    std::vector<std::uint32_t> waiting(n, 0);
    std::vector<std::size_t> start(n + 1, 0);
    for (const Grouping::Arc& arc : arcs) {
        ++waiting[arc.to.index()];
        ++start[arc.from.index() + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin()); // arcs are sorted by their tail
    std::priority_queue<GroupId, std::vector<GroupId>, std::greater<>> free;
    for (std::size_t i = 0; i < n; ++i) {
        if (waiting[i] == 0)
            free.emplace(i);
    }
    std::vector<GroupId> order;
    order.reserve(n);
    while (!free.empty()) {
        const GroupId at = free.top();
        free.pop();
        order.push_back(at);
        for (std::size_t k = start[at.index()]; k < start[at.index() + 1]; ++k) {
            if (--waiting[arcs[k].to.index()] == 0)
                free.push(arcs[k].to);
        }
    }
    return order;
}

/// All ops: in topological order, those on or behind a cycle after the others.
std::vector<OpId> sequenceOf(const OpGraph& graph) {
    const auto order = graph.topologicalOrder();
    std::vector<OpId> sequence(order.begin(), order.end());
    if (sequence.size() == graph.opCount())
        return sequence;
    std::vector<bool> ordered(graph.opCount(), false);
    for (const OpId id : order)
        ordered[id.index()] = true;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        if (!ordered[i])
            sequence.emplace_back(i);
    }
    return sequence;
}

/// Everything but the report, from a group per op. `position` orders the groups.
Grouping finish(const OpGraph& graph, std::span<const double> opCostUs, std::span<const std::uint32_t> groupOf,
                std::span<const std::uint32_t> position) {
    Grouping grouping;
    const std::size_t n = position.size();
    grouping.groupOf.reserve(graph.opCount());
    for (const std::uint32_t group : groupOf)
        grouping.groupOf.emplace_back(group);
    grouping.members.resize(n);
    grouping.centre.resize(n);
    grouping.names.resize(n);
    for (const OpId id : sequenceOf(graph)) {
        const std::size_t group = groupOf[id.index()];
        OpId& centre = grouping.centre[group];
        const auto costOf = [&](OpId op) { return op.index() < opCostUs.size() ? opCostUs[op.index()] : 0.0; };
        if (!centre.isValid() || costOf(id) > costOf(centre))
            centre = id;
        const std::string& name = graph.op(id).name;
        if (grouping.members[group].empty() || isBetterName(name, grouping.names[group]))
            grouping.names[group] = name;
        grouping.members[group].push_back(id);
    }
    for (const Contraction::Arc& arc : arcsAlong(graph, groupOf, position, grouping.turnedArcs))
        grouping.arcs.push_back({GroupId(arc.from), GroupId(arc.to), arc.bytes});
    grouping.order = topologicalOrder(n, grouping.arcs);
    return grouping;
}

std::vector<std::uint32_t> positionsOf(std::span<const std::uint32_t> order) {
    std::vector<std::uint32_t> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        position[order[i]] = static_cast<std::uint32_t>(i);
    return position;
}

/// Weight per set; equal ones where no op costs anything.
std::vector<double> weightsOf(const ForcedSets& sets, std::span<const double> opCostUs) {
    std::vector<double> weights(sets.count, 0.0);
    for (std::size_t i = 0; i < sets.setOf.size() && i < opCostUs.size(); ++i)
        weights[sets.setOf[i]] += opCostUs[i];
    if (std::accumulate(weights.begin(), weights.end(), 0.0) <= 0.0)
        std::fill(weights.begin(), weights.end(), 1.0);
    return weights;
}

/// Ops with exactly one distinct consumer, as (their set, the consumer's), from the back of the graph: so a chain grows from
/// its end. Ops that share a key with others stay where their set is: an L2 loss would drag its variable, and with it every
/// variable of the net, to the op that adds the losses up.
std::vector<std::pair<std::uint32_t, std::uint32_t>> onlyConsumers(const OpGraph& graph, const ForcedSets& sets) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    std::vector<std::uint32_t> sizes(sets.count, 0);
    for (const std::uint32_t set : sets.setOf)
        ++sizes[set];
    const auto order = graph.topologicalOrder();
    for (std::size_t i = order.size(); i-- > 0;) {
        if (sizes[sets.setOf[order[i].index()]] > 1)
            continue;
        OpId only;
        bool several = false;
        for (const EdgeId edge : graph.outEdges(order[i])) {
            const OpId consumer = graph.edge(edge).consumer;
            several = several || (only.isValid() && consumer != only);
            only = consumer;
        }
        if (only.isValid() && !several)
            pairs.emplace_back(sets.setOf[order[i].index()], sets.setOf[only.index()]);
    }
    return pairs;
}

constexpr std::size_t kShortSearch = 256; ///< arcs looked at before a merge is given up
constexpr std::size_t kLongSearch = 4096;

/// Down to the target, as balanced as possible: many rounds with a growing cap, so that light neighbours find each other
/// before one group swallows them; then neighbours in topological order; then without a cap.
void mergeToTarget(Contraction& contraction, double cap, std::size_t target) {
    for (const double share : {1.0 / 8, 1.0 / 2})
        contraction.contractHeaviest(cap * share, target, kShortSearch);
    contraction.contractHeaviest(cap, target, kLongSearch);
    contraction.mergeNeighboursInOrder(cap, target);
    contraction.mergeNeighboursInOrder(std::numeric_limits<double>::infinity(), target);
}

} // namespace

Grouping trivialGrouping(const OpGraph& graph) {
    std::vector<std::uint32_t> groupOf(graph.opCount());
    std::iota(groupOf.begin(), groupOf.end(), 0U);
    std::vector<std::uint32_t> position(graph.opCount(), 0); // of a cyclic graph: no order, no arc is turned
    const auto order = graph.topologicalOrder();
    for (std::size_t i = 0; i < order.size() && !graph.isCyclic(); ++i)
        position[order[i].index()] = static_cast<std::uint32_t>(i);
    Grouping grouping = finish(graph, {}, groupOf, position);
    grouping.joins.resize(grouping.groupCount());
    return grouping;
}

Result<Grouping> makeGrouping(const OpGraph& graph, std::span<const double> opCostUs, const GroupingOptions& options) {
    if (graph.isCyclic())
        return fail(ErrorCode::Invalid, "the graph has a cycle", "op \"" + graph.op(graph.cycle().front()).name + "\"");
    const ForcedSets sets = detail::forceSets(graph, options);
    const std::vector<std::uint32_t> startPosition = positionsOf(sets.order);
    std::size_t turned = 0;
    const auto startArcs = arcsAlong(graph, sets.setOf, startPosition, turned);
    std::vector<double> weights = weightsOf(sets, opCostUs);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double cap = options.targetGroups == 0 ? std::numeric_limits<double>::infinity()
                                                 : 2.0 * total / static_cast<double>(options.targetGroups);
    Contraction contraction(std::move(weights), startArcs, sets.order, sets.isFrozen);

    std::vector<std::string> report = sets.report;
    report.push_back(count(graph.opCount(), "op", "ops") + " in " + count(sets.count, "group", "groups") + ", " +
                     count(turned, "arc", "arcs") + " turned");
    if (options.coplacement || options.targetGroups > 0) {
        const std::size_t merges =
            contraction.mergePairs(onlyConsumers(graph, sets), cap, options.targetGroups, kShortSearch);
        report.push_back("coplacement: " + count(merges, "merge", "merges") + ", " +
                         count(contraction.aliveCount(), "group", "groups"));
    }
    if (options.targetGroups > 0) {
        mergeToTarget(contraction, cap, options.targetGroups);
        report.push_back("target " + std::to_string(options.targetGroups) + ": " +
                         count(contraction.aliveCount(), "group", "groups") + ", " +
                         count(contraction.refused(), "merge", "merges") + " refused");
    }

    // Groups are numbered by their first op.
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> numberOf(sets.count, kNone);
    std::vector<std::uint32_t> groupOf(graph.opCount());
    std::vector<std::uint32_t> position;
    std::vector<Grouping::Joins> joins;
    for (std::size_t i = 0; i < groupOf.size(); ++i) {
        const Contraction::Node root = contraction.root(sets.setOf[i]);
        if (numberOf[root] == kNone) {
            numberOf[root] = static_cast<std::uint32_t>(position.size());
            position.push_back(contraction.position(root));
            const Contraction::Merges& merges = contraction.mergesInto(root);
            joins.push_back({0, 0, 0, merges.pairs, merges.heaviest, merges.neighbours});
        }
        groupOf[i] = numberOf[root];
    }
    for (std::size_t set = 0; set < sets.count; ++set)
        detail::addJoins(joins[numberOf[contraction.root(static_cast<Contraction::Node>(set))]], sets.joins[set]);
    Grouping grouping = finish(graph, opCostUs, groupOf, position);
    grouping.report = std::move(report);
    grouping.joins = std::move(joins);
    return grouping;
}

std::string whyGrouped(const Grouping& grouping, GroupId group) {
    const Grouping::Joins& joins = grouping.joins[group.index()];
    const std::pair<std::uint32_t, const char*> rules[] = {
        {joins.byHand, "by hand"},         {joins.colocation, "by colocation"},
        {joins.scope, "by scope"},         {joins.coplacement, "with their only consumer"},
        {joins.traffic, "along the heaviest tensors"}, {joins.neighbours, "as neighbours in order"}};
    std::string list;
    for (const auto& [merges, why] : rules) {
        if (merges > 0)
            list += (list.empty() ? ": " : ", ") + text::grouped(merges) + " joined " + why;
    }
    return count(grouping.members[group.index()].size(), "op", "ops") + list;
}

} // namespace pw
