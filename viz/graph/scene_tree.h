#pragma once

#include "core/graph/op_graph.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pw::viz {

/// Index of a node of a SceneTree. Node 0 is the root, nodes are in preorder.
using NodeIndex = std::uint32_t;
inline constexpr NodeIndex kNoNode = std::numeric_limits<NodeIndex>::max();

/// One box of the hierarchy that the picture is made of: an op, a scope of the graph, or a box that we made up because a
/// scope has too many children to be looked at.
struct TreeNode {
    enum class Kind : std::uint8_t { Op, Scope, Derived };

    Kind kind = Kind::Scope;
    bool entersParent = false; ///< reads something from outside its parent
    bool leavesParent = false; ///< something outside its parent reads it
    NodeIndex parent = kNoNode;
    NodeIndex end = 0;         ///< one behind the last node of its subtree
    std::uint32_t depth = 0;
    std::uint32_t firstChild = 0; ///< into the tree's child list
    std::uint32_t childCount = 0;
    std::uint32_t opCount = 0;     ///< ops with a box in this subtree
    std::uint32_t hiddenCount = 0; ///< variable and constant ops without a box in this subtree
    OpId op;                       ///< of an Op
    ScopeId scope;                 ///< of a Scope: the innermost one where pass-through scopes were merged
    std::string label;             ///< of a Scope or Derived; ops are named when they are painted

    bool isOp() const { return kind == Kind::Op; }
};

/// A graph edge seen from the lowest box that holds both ends.
struct TreeEdge {
    NodeIndex from = kNoNode; ///< child of that box
    NodeIndex to = kNoNode;   ///< another child of it
    EdgeId edge;
};

/// The hierarchy of boxes of one graph, with every edge filed under the box where its two ends part. Immutable.
///
/// - Scopes come from the graph; pass-through scopes are merged into one box ("a/b"), a scope of one op is the op.
/// - A box with more than kMaxChildren children is cut into derived boxes, in topological order, at places where few
///   edges cross; a graph without scopes therefore gets a hierarchy too.
/// - Variables and constants have no box unless `showVariables`: they are counted instead.
class SceneTree {
public:
    static constexpr std::size_t kMaxChildren = 150;

    static std::shared_ptr<const SceneTree> build(GraphPtr graph, bool showVariables);

    const OpGraph& graph() const { return *m_graph; }
    const GraphPtr& graphPtr() const { return m_graph; }
    std::size_t nodeCount() const { return m_nodes.size(); }
    const TreeNode& node(NodeIndex index) const { return m_nodes[index]; }
    std::span<const NodeIndex> children(NodeIndex index) const {
        return std::span(m_children).subspan(m_nodes[index].firstChild, m_nodes[index].childCount);
    }
    /// Edges between two different children of `index`, sorted by (from, to, edge).
    std::span<const TreeEdge> edges(NodeIndex index) const {
        return std::span(m_edges).subspan(m_edgeStart[index], m_edgeStart[index + 1] - m_edgeStart[index]);
    }
    /// All edges of all boxes; edges(i) is a part of it.
    std::span<const TreeEdge> allEdges() const { return m_edges; }
    std::size_t edgeOffset(NodeIndex index) const { return m_edgeStart[index]; }

    NodeIndex nodeOf(OpId op) const { return m_nodeOfOp[op.index()]; } ///< kNoNode if it is hidden
    /// The box that shows a scope: itself, the one it was merged into, or the nearest one around it.
    NodeIndex nodeOf(ScopeId scope) const { return m_nodeOfScope[scope.index()]; }
    /// The ops in the subtree, in preorder.
    std::vector<OpId> opsBelow(NodeIndex index) const;
    bool isInside(NodeIndex inner, NodeIndex outer) const {
        return inner >= outer && inner < m_nodes[outer].end;
    }

private:
    friend class SceneTreeBuilder;
    SceneTree() = default;

    GraphPtr m_graph;
    std::vector<TreeNode> m_nodes;
    std::vector<NodeIndex> m_children;
    std::vector<TreeEdge> m_edges;
    std::vector<std::uint32_t> m_edgeStart;
    std::vector<NodeIndex> m_nodeOfOp;
    std::vector<NodeIndex> m_nodeOfScope;
};

/// Per op: a variable or constant, or one that only reshapes or copies such (a cast of weights, a fill of a constant shape).
/// They feed much and say little.
std::vector<bool> variablesAndConstants(const OpGraph& graph);

} // namespace pw::viz
