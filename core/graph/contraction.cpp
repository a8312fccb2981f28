#include "core/graph/contraction.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace pw::detail {

Contraction::Contraction(std::vector<double> weights, std::span<const Arc> arcs, std::span<const Node> order,
                         std::vector<bool> frozen)
    : m_isFrozen(std::move(frozen)), m_merges(weights.size()), m_weight(std::move(weights)), m_parent(m_weight.size()), m_alive(m_weight.size(), true),
      m_position(m_weight.size()), m_successors(m_weight.size()), m_predecessors(m_weight.size()),
      m_aliveCount(m_weight.size()), m_seen(m_weight.size(), 0) {
    for (std::size_t i = 0; i < m_parent.size(); ++i) {
        m_parent[i] = static_cast<Node>(i);
        m_position[order[i]] = static_cast<std::uint32_t>(i);
    }
    m_arcs.reserve(arcs.size() * 2);
    for (const Arc& arc : arcs) {
        m_arcs.emplace(key(arc.from, arc.to), arc.bytes);
        m_successors[arc.from].push_back(arc.to);
        m_predecessors[arc.to].push_back(arc.from);
    }
}

Contraction::Node Contraction::root(Node node) {
    for (; m_parent[node] != node; node = m_parent[node])
        m_parent[node] = m_parent[m_parent[node]];
    return node;
}

void Contraction::dropDead(std::vector<Node>& list) const {
    list.erase(std::remove_if(list.begin(), list.end(), [this](Node node) { return !m_alive[node]; }), list.end());
}

std::span<const Contraction::Node> Contraction::liveSuccessors(Node node) {
    dropDead(m_successors[node]);
    return m_successors[node];
}

std::span<const Contraction::Node> Contraction::livePredecessors(Node node) {
    dropDead(m_predecessors[node]);
    return m_predecessors[node];
}

bool Contraction::fits(Node a, Node b, double cap) const {
    // why: a merge with a node that costs nothing makes no group dearer
    return !m_isFrozen[a] && !m_isFrozen[b] &&
           (m_weight[a] + m_weight[b] <= cap || std::min(m_weight[a], m_weight[b]) == 0.0);
}

/// The nodes strictly between `from` and `to` in the order that `from` reaches (forward) or that reach `to`. Blocked: one of
/// them completes a second path. The limit counts arcs looked at.
Contraction::Search Contraction::collectBetween(Node from, Node to, bool forward, std::size_t limit,
                                                std::vector<Node>& found) {
    found.clear();
    ++m_searchNumber;
    const Node start = forward ? from : to;
    const Node goal = forward ? to : from;
    std::size_t looked = 0;
    for (std::size_t next = 0;; ++next) {
        const bool atStart = next == 0;
        const Node at = atStart ? start : found[next - 1];
        auto& list = forward ? m_successors[at] : m_predecessors[at];
        looked += list.size();
        if (looked > limit) // why: before the walk, a hub would cost its whole list for each of its arcs
            return Search::GaveUp;
        dropDead(list);
        for (const Node neighbour : list) {
            if (neighbour == goal) {
                if (!atStart)
                    return Search::Blocked;
                continue;
            }
            const bool inside = forward ? m_position[neighbour] < m_position[to] : m_position[neighbour] > m_position[from];
            if (inside && m_seen[neighbour] != m_searchNumber) {
                m_seen[neighbour] = m_searchNumber;
                found.push_back(neighbour);
            }
        }
        if (next == found.size())
            return Search::Clear;
    }
}

/// Ancestors of the head first, then room for the merged node (at the tail's entry), then descendants of the tail. All others
/// keep their place.
void Contraction::reorder(Node from, Node to) {
    const auto byPosition = [this](Node a, Node b) { return m_position[a] < m_position[b]; };
    std::sort(m_before.begin(), m_before.end(), byPosition);
    std::sort(m_after.begin(), m_after.end(), byPosition);
    std::vector<std::uint32_t> places = {m_position[from], m_position[to]};
    for (const auto* nodes : {&m_before, &m_after}) {
        for (const Node node : *nodes)
            places.push_back(m_position[node]);
    }
    std::sort(places.begin(), places.end());
    std::size_t next = 0;
    for (const Node node : m_before)
        m_position[node] = places[next++];
    m_position[from] = places[next];
    next += 2; // the merged node needs one of the two
    for (const Node node : m_after)
        m_position[node] = places[next++];
}

bool Contraction::mergeAlong(Node from, Node to, std::size_t searchLimit) {
    // The side with fewer neighbours first: if nothing lies on it, the other need not be looked at.
    const bool tailFirst = m_successors[from].size() <= m_predecessors[to].size();
    Search results[2] = {};
    for (const bool forward : {tailFirst, !tailFirst}) {
        std::vector<Node>& found = forward ? m_after : m_before;
        const Search result = collectBetween(from, to, forward, searchLimit, found);
        if (result == Search::Clear && found.empty()) {
            merge(from, to, forward ? m_position[to] : m_position[from]);
            return true;
        }
        results[forward ? 0 : 1] = result;
        if (result == Search::Blocked)
            break;
    }
    if (results[0] != Search::Clear || results[1] != Search::Clear) {
        ++m_refused;
        return false;
    }
    reorder(from, to);
    merge(from, to, m_position[from]);
    return true;
}

/// The smaller of the two moves into the other. Fills m_changed.
Contraction::Node Contraction::merge(Node a, Node b, std::uint32_t position) {
    const auto degree = [this](Node node) { return m_successors[node].size() + m_predecessors[node].size(); };
    const Node keep = degree(a) >= degree(b) ? a : b;
    const Node gone = keep == a ? b : a;
    m_changed.clear();
    const auto move = [&](Node neighbour, bool outgoing) {
        const Key oldKey = outgoing ? key(gone, neighbour) : key(neighbour, gone);
        const auto old = m_arcs.find(oldKey);
        const std::int64_t bytes = old->second;
        m_arcs.erase(old);
        if (neighbour == keep)
            return;
        const auto [arc, isNew] = m_arcs.try_emplace(outgoing ? key(keep, neighbour) : key(neighbour, keep), 0);
        arc->second += bytes;
        if (isNew) {
            (outgoing ? m_successors : m_predecessors)[keep].push_back(neighbour);
            (outgoing ? m_predecessors : m_successors)[neighbour].push_back(keep);
        }
        m_changed.push_back(outgoing ? Arc{keep, neighbour, arc->second} : Arc{neighbour, keep, arc->second});
    };
    for (const Node neighbour : liveSuccessors(gone))
        move(neighbour, true);
    for (const Node neighbour : livePredecessors(gone))
        move(neighbour, false);
    m_alive[gone] = false;
    m_parent[gone] = keep;
    m_weight[keep] += m_weight[gone];
    m_merges[keep].pairs += m_merges[gone].pairs;
    m_merges[keep].heaviest += m_merges[gone].heaviest;
    m_merges[keep].neighbours += m_merges[gone].neighbours;
    ++(m_merges[keep].*m_rule);
    m_position[keep] = position;
    m_successors[gone] = {};
    m_predecessors[gone] = {};
    --m_aliveCount;
    return keep;
}

std::size_t Contraction::mergePairs(std::span<const std::pair<Node, Node>> pairs, double cap, std::size_t target,
                                    std::size_t searchLimit) {
    m_rule = &Merges::pairs;
    std::size_t merges = 0;
    for (const auto& pair : pairs) {
        if (m_aliveCount <= target)
            break;
        Node from = root(pair.first);
        Node to = root(pair.second);
        if (from == to || !fits(from, to, cap))
            continue;
        if (m_position[from] > m_position[to])
            std::swap(from, to); // a turned arc
        merges += mergeAlong(from, to, searchLimit) ? 1 : 0;
    }
    return merges;
}

void Contraction::contractHeaviest(double cap, std::size_t target, std::size_t searchLimit) {
    m_rule = &Merges::heaviest;
    const auto lighter = [](const Arc& a, const Arc& b) {
        return std::tuple(a.bytes, b.from, b.to) < std::tuple(b.bytes, a.from, a.to);
    };
    std::priority_queue<Arc, std::vector<Arc>, decltype(lighter)> heaviest(lighter);
    for (Node node = 0; node < m_alive.size(); ++node) {
        if (!m_alive[node])
            continue;
        for (const Node consumer : liveSuccessors(node))
            heaviest.push({node, consumer, m_arcs.at(key(node, consumer))});
    }
    while (m_aliveCount > target && !heaviest.empty()) {
        const Arc arc = heaviest.top();
        heaviest.pop();
        if (!m_alive[arc.from] || !m_alive[arc.to] || !fits(arc.from, arc.to, cap))
            continue;
        if (m_arcs.at(key(arc.from, arc.to)) != arc.bytes)
            continue; // a newer entry says how many it is now
        if (!mergeAlong(arc.from, arc.to, searchLimit))
            continue;
        for (const Arc& changed : m_changed)
            heaviest.push(changed);
    }
}

void Contraction::mergeNeighboursInOrder(double cap, std::size_t target) {
    m_rule = &Merges::neighbours;
    std::vector<Node> order;
    for (Node node = 0; node < m_alive.size(); ++node) {
        if (m_alive[node])
            order.push_back(node);
    }
    std::sort(order.begin(), order.end(), [this](Node a, Node b) { return m_position[a] < m_position[b]; });
    // A linked list over places in `order`; a pair is named by its left place. Nothing lies between neighbours, so no
    // second path can join them.
    const std::size_t n = order.size();
    std::vector<std::size_t> next(n);
    std::vector<std::size_t> previous(n);
    for (std::size_t i = 0; i < n; ++i) {
        next[i] = i + 1;
        previous[i] = i == 0 ? n : i - 1;
    }
    using Pair = std::tuple<double, std::size_t, std::size_t>; // weight, left, right
    std::priority_queue<Pair, std::vector<Pair>, std::greater<>> lightest;
    const auto push = [&](std::size_t left, std::size_t right) {
        if (left < n && right < n)
            lightest.emplace(m_weight[order[left]] + m_weight[order[right]], left, right);
    };
    for (std::size_t i = 0; i + 1 < n; ++i)
        push(i, i + 1);
    while (m_aliveCount > target && !lightest.empty()) {
        const auto [weight, left, right] = lightest.top();
        lightest.pop();
        if (next[left] != right || weight != m_weight[order[left]] + m_weight[order[right]])
            continue;
        if (!fits(order[left], order[right], cap))
            continue;
        order[left] = merge(order[left], order[right], m_position[order[left]]);
        next[left] = next[right];
        if (next[left] < n)
            previous[next[left]] = left;
        next[right] = n + 1; // gone
        push(left, next[left]);
        push(previous[left], left);
    }
}

} // namespace pw::detail
