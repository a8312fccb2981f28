#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pw::detail {

/// A weighted DAG whose nodes are merged step by step while it stays acyclic. Private to core/graph (grouping).
///
/// A topological order is kept up to date (after Pearce and Kelly, "A dynamic topological sort algorithm for directed
/// acyclic graphs"): a merge along an arc is legal if no second path joins its ends, and such a path can only run through
/// nodes between the two in the order. Arcs live in one hash table; the neighbour lists may name nodes that are gone, which
/// are dropped when a list is walked.
class Contraction {
public:
    using Node = std::uint32_t;
    struct Arc {
        Node from = 0;
        Node to = 0;
        std::int64_t bytes = 0;
    };

    /// `arcs` are distinct, without self-loops; `order` is a topological order of all nodes. Frozen nodes are never merged.
    Contraction(std::vector<double> weights, std::span<const Arc> arcs, std::span<const Node> order,
                std::vector<bool> frozen);

    std::size_t aliveCount() const { return m_aliveCount; }
    /// The node that a merged one went into, or itself.
    Node root(Node node);
    /// Of a node that is alive: larger = later in a topological order.
    std::uint32_t position(Node node) const { return m_position[node]; }

    /// Merges the pairs in their order where `cap` (weight) allows it and no second path joins them, down to `target`.
    /// Pairs name original nodes that have an arc. Returns the merges made.
    std::size_t mergePairs(std::span<const std::pair<Node, Node>> pairs, double cap, std::size_t target,
                           std::size_t searchLimit);
    /// Merges along the heaviest arcs within `cap`, down to `target`.
    void contractHeaviest(double cap, std::size_t target, std::size_t searchLimit);
    /// Merges neighbours in the topological order, the lightest pairs first, within `cap`, down to `target`.
    void mergeNeighboursInOrder(double cap, std::size_t target);
    /// Merges that a second path forbade, or that were given up on.
    std::size_t refused() const { return m_refused; }

    /// Merges that went into a node, by the function that made them.
    struct Merges {
        std::uint32_t pairs = 0;
        std::uint32_t heaviest = 0;
        std::uint32_t neighbours = 0;
    };
    const Merges& mergesInto(Node node) const { return m_merges[node]; }

private:
    using Key = std::uint64_t;
    static Key key(Node from, Node to) { return (Key{from} << 32) | to; }

    bool fits(Node a, Node b, double cap) const;
    std::span<const Node> liveSuccessors(Node node);
    std::span<const Node> livePredecessors(Node node);
    void dropDead(std::vector<Node>& list) const;
    bool mergeAlong(Node from, Node to, std::size_t searchLimit);
    enum class Search { GaveUp, Clear, Blocked };
    Search collectBetween(Node from, Node to, bool forward, std::size_t limit, std::vector<Node>& found);
    void reorder(Node from, Node to);
    Node merge(Node a, Node b, std::uint32_t position);

    std::vector<bool> m_isFrozen;
    std::vector<Merges> m_merges;
    std::uint32_t Merges::* m_rule = &Merges::pairs; ///< counts the merges that are being made
    std::vector<double> m_weight;
    std::vector<Node> m_parent;
    std::vector<bool> m_alive;
    std::vector<std::uint32_t> m_position;
    std::vector<std::vector<Node>> m_successors;
    std::vector<std::vector<Node>> m_predecessors;
    std::unordered_map<Key, std::int64_t> m_arcs;
    std::size_t m_aliveCount = 0;
    std::size_t m_refused = 0;
    std::vector<Node> m_after;  ///< scratch: descendants of an arc's tail before its head in the order
    std::vector<Node> m_before; ///< scratch: ancestors of the head after the tail
    std::vector<std::uint32_t> m_seen; ///< scratch: search that saw a node last
    std::uint32_t m_searchNumber = 0;
    std::vector<Arc> m_changed; ///< arcs whose bytes the last merge changed
};

} // namespace pw::detail
