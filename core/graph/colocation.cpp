#include "core/graph/colocation.h"

#include "core/base/text.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace pw::detail {

namespace {

using Arcs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Adjacency in one array.
struct Successors {
    std::vector<std::uint32_t> start;
    std::vector<std::uint32_t> to;

    Successors(std::size_t n, const Arcs& arcs) : start(n + 1, 0), to(arcs.size()) {
        for (const auto& arc : arcs)
            ++start[arc.first + 1];
        for (std::size_t i = 0; i < n; ++i)
            start[i + 1] += start[i];
        std::vector<std::uint32_t> fill(start.begin(), start.end() - 1);
        for (const auto& arc : arcs)
            to[fill[arc.first]++] = arc.second;
    }
};

/// Strongly connected components (Tarjan's algorithm with an explicit stack: graphs are deep). Component per node.
std::vector<std::uint32_t> components(std::size_t n, const Successors& successors) {
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> component(n, kNone);
    std::vector<std::uint32_t> index(n, kNone);
    std::vector<std::uint32_t> low(n, 0);
    std::vector<std::uint32_t> open;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> walk; // node, next arc
    std::uint32_t nextIndex = 0;
    std::uint32_t nextComponent = 0;
    for (std::uint32_t root = 0; root < n; ++root) {
        if (index[root] != kNone)
            continue;
        walk.emplace_back(root, successors.start[root]);
        while (!walk.empty()) {
            const std::uint32_t at = walk.back().first;
            if (index[at] == kNone) {
                index[at] = low[at] = nextIndex++;
                open.push_back(at);
            }
            if (walk.back().second < successors.start[at + 1]) {
                const std::uint32_t to = successors.to[walk.back().second++];
                if (index[to] == kNone)
                    walk.emplace_back(to, successors.start[to]);
                else if (component[to] == kNone)
                    low[at] = std::min(low[at], index[to]);
                continue;
            }
            walk.pop_back();
            if (!walk.empty())
                low[walk.back().first] = std::min(low[walk.back().first], low[at]);
            if (low[at] != index[at])
                continue;
            for (std::uint32_t member = kNone; member != at; open.pop_back()) {
                member = open.back();
                component[member] = nextComponent;
            }
            ++nextComponent;
        }
    }
    return component;
}

/// Kahn's algorithm over the arcs that count, smallest place first among the free ones.
std::vector<std::uint32_t> orderSets(std::size_t n, Arcs arcs, const std::vector<std::uint32_t>& place) {
    const std::vector<std::uint32_t> component = components(n, Successors(n, arcs));
    for (auto& [from, to] : arcs) {
        if (component[from] == component[to] && place[from] > place[to])
            std::swap(from, to);
    }
    const Successors successors(n, arcs);
    std::vector<std::uint32_t> waiting(n, 0);
    for (const auto& arc : arcs)
        ++waiting[arc.second];
    using Entry = std::pair<std::uint32_t, std::uint32_t>; // place, set
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> free;
    for (std::uint32_t i = 0; i < n; ++i) {
        if (waiting[i] == 0)
            free.emplace(place[i], i);
    }
    std::vector<std::uint32_t> order;
    order.reserve(n);
    while (!free.empty()) {
        const std::uint32_t at = free.top().second;
        free.pop();
        order.push_back(at);
        for (std::uint32_t k = successors.start[at]; k < successors.start[at + 1]; ++k) {
            const std::uint32_t to = successors.to[k];
            if (--waiting[to] == 0)
                free.emplace(place[to], to);
        }
    }
    return order;
}

/// Ops joined into sets, with the number of joins each rule made.
class Joiner {
public:
    explicit Joiner(std::size_t n) : m_parent(n), m_joins(n) {
        for (std::size_t i = 0; i < n; ++i)
            m_parent[i] = static_cast<std::uint32_t>(i);
    }

    std::uint32_t root(std::uint32_t at) {
        for (; m_parent[at] != at; at = m_parent[at])
            m_parent[at] = m_parent[m_parent[at]];
        return at;
    }
    using Rule = std::uint32_t Grouping::Joins::*;
    /// True if they were apart.
    bool join(std::uint32_t a, std::uint32_t b, Rule rule) {
        a = root(a);
        b = root(b);
        if (a == b)
            return false;
        if (a > b)
            std::swap(a, b);
        m_parent[b] = a;
        addJoins(m_joins[a], m_joins[b]);
        ++(m_joins[a].*rule);
        return true;
    }
    const Grouping::Joins& joinsOf(std::uint32_t root) const { return m_joins[root]; }

private:
    std::vector<std::uint32_t> m_parent;
    std::vector<Grouping::Joins> m_joins;
};

/// Joins the ops that `keyOf` gives one non-empty key. Returns the number of keys that hold at least two ops.
template<typename KeyOf>
std::size_t joinByKey(const OpGraph& graph, Joiner& joiner, Joiner::Rule rule, const KeyOf& keyOf) {
    std::unordered_map<decltype(keyOf(OpId(0))), std::pair<std::uint32_t, std::size_t>> byKey; // first op, members
    std::size_t shared = 0;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        const auto key = keyOf(OpId(i));
        if (key == decltype(key){})
            continue;
        const auto [found, isNew] = byKey.try_emplace(key, static_cast<std::uint32_t>(i), 0);
        shared += ++found->second.second == 2 ? 1 : 0;
        if (!isNew)
            joiner.join(found->second.first, static_cast<std::uint32_t>(i), rule);
    }
    return shared;
}

/// Per scope: its ancestor at `depth`, or 0 (the root) for the root itself.
std::vector<std::uint32_t> scopesAtDepth(const OpGraph& graph, std::size_t depth) {
    std::vector<std::uint32_t> ancestor(graph.scopeCount(), 0);
    std::vector<std::size_t> depthOf(graph.scopeCount(), 0);
    for (std::size_t i = 1; i < graph.scopeCount(); ++i) { // parents come before their children
        const std::size_t parent = graph.scope(ScopeId(i)).parent.index();
        depthOf[i] = depthOf[parent] + 1;
        ancestor[i] = depthOf[i] <= depth ? static_cast<std::uint32_t>(i) : ancestor[parent];
    }
    return ancestor;
}

std::string counted(std::size_t value, const char* one, const char* many) {
    return text::grouped(static_cast<std::int64_t>(value)) + " " + (value == 1 ? one : many);
}

/// Marks the ops in `isByHand`.
std::string joinByHand(const OpGraph& graph, const GroupingOptions& options, Joiner& joiner, std::vector<bool>& isByHand) {
    std::size_t ops = 0;
    std::size_t missing = 0;
    for (const auto& names : options.byHand) {
        std::optional<OpId> first;
        for (const std::string& name : names) {
            const auto op = graph.findOp(name);
            if (!op) {
                ++missing;
                continue;
            }
            ++ops;
            isByHand[op->index()] = true;
            if (first)
                joiner.join(first->value(), op->value(), &Grouping::Joins::byHand);
            else
                first = op;
        }
    }
    return "by hand: " + counted(ops, "op", "ops") + " in " + counted(options.byHand.size(), "group", "groups") +
           (missing > 0 ? ", " + counted(missing, "name", "names") + " not in the graph" : std::string());
}

/// Per op that is the first of its set: does the set hold a marked op?
std::vector<bool> setsOf(Joiner& joiner, const std::vector<bool>& isMarked) {
    std::vector<bool> found(isMarked.size(), false);
    for (std::size_t i = 0; i < isMarked.size(); ++i) {
        if (isMarked[i])
            found[joiner.root(static_cast<std::uint32_t>(i))] = true;
    }
    return found;
}

void numberSets(Joiner& joiner, const std::vector<bool>& isByHand, ForcedSets& sets) {
    const std::size_t n = isByHand.size();
    constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::vector<std::uint32_t> numberOf(n, kNone);
    sets.setOf.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t root = joiner.root(static_cast<std::uint32_t>(i));
        if (numberOf[root] == kNone) {
            numberOf[root] = static_cast<std::uint32_t>(sets.count++);
            sets.joins.push_back(joiner.joinsOf(root));
            sets.isFrozen.push_back(false);
        }
        sets.setOf[i] = numberOf[root];
        if (isByHand[i])
            sets.isFrozen[sets.setOf[i]] = true;
    }
}

} // namespace

void addJoins(Grouping::Joins& to, const Grouping::Joins& from) {
    to.colocation += from.colocation;
    to.byHand += from.byHand;
    to.scope += from.scope;
    to.coplacement += from.coplacement;
    to.traffic += from.traffic;
    to.neighbours += from.neighbours;
}

ForcedSets forceSets(const OpGraph& graph, const GroupingOptions& options) {
    ForcedSets sets;
    const std::size_t n = graph.opCount();
    Joiner joiner(n);
    std::vector<bool> isByHand(n, false);
    if (!options.byHand.empty())
        sets.report.push_back(joinByHand(graph, options, joiner, isByHand));
    if (options.colocation) {
        const std::size_t keys = joinByKey(graph, joiner, &Grouping::Joins::colocation,
                                           [&](OpId id) { return std::string_view(graph.op(id).colocation); });
        sets.report.push_back("colocation: " + counted(keys, "key", "keys"));
    }
    if (options.scopeDepth > 0) {
        const auto scopeOf = scopesAtDepth(graph, options.scopeDepth);
        // A set counts as its first op, the variable: the updates of all variables are in one scope, which would fold
        // everything into one group otherwise.
        const std::vector<bool> isHandSet = setsOf(joiner, isByHand);
        const std::size_t scopes = joinByKey(graph, joiner, &Grouping::Joins::scope, [&](OpId id) {
            const bool isFirst = joiner.root(id.value()) == id.value();
            return isFirst && !isHandSet[id.index()] ? scopeOf[graph.op(id).scope.index()] : 0U;
        });
        sets.report.push_back("scopes to depth " + std::to_string(options.scopeDepth) + ": " +
                              counted(scopes, "scope", "scopes"));
    }
    numberSets(joiner, isByHand, sets);

    std::vector<std::uint32_t> place(sets.count, ~std::uint32_t{0});
    const auto opOrder = graph.topologicalOrder();
    for (std::size_t i = 0; i < opOrder.size(); ++i) {
        std::uint32_t& first = place[sets.setOf[opOrder[i].index()]];
        first = std::min(first, static_cast<std::uint32_t>(i));
    }
    Arcs arcs;
    arcs.reserve(graph.edges().size());
    for (const Edge& edge : graph.edges()) {
        const std::uint32_t from = sets.setOf[edge.producer.index()];
        const std::uint32_t to = sets.setOf[edge.consumer.index()];
        if (from != to)
            arcs.emplace_back(from, to);
    }
    std::sort(arcs.begin(), arcs.end());
    arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
    sets.order = orderSets(sets.count, std::move(arcs), place);
    return sets;
}

} // namespace pw::detail
