#include "core/graph/colocation.h"

#include <algorithm>
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

} // namespace

ColocatedSets colocate(const OpGraph& graph, bool useKeys) {
    ColocatedSets sets;
    const std::size_t n = graph.opCount();
    sets.setOf.resize(n);
    std::unordered_map<std::string_view, std::pair<std::uint32_t, std::size_t>> byKey; // set, members
    for (std::size_t i = 0; i < n; ++i) {
        const std::string& key = graph.op(OpId(i)).colocation;
        if (!useKeys || key.empty()) {
            sets.setOf[i] = static_cast<std::uint32_t>(sets.count++);
            continue;
        }
        const auto [found, isNew] = byKey.try_emplace(key, static_cast<std::uint32_t>(sets.count), 0);
        sets.count += isNew ? 1 : 0;
        sets.keys += ++found->second.second == 2 ? 1 : 0;
        sets.setOf[i] = found->second.first;
    }
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
