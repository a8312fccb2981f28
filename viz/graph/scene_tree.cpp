#include "viz/graph/scene_tree.h"

#include "viz/graph/scene_chunks.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace pw::viz {

std::vector<bool> variablesAndConstants(const OpGraph& graph) {
    static constexpr std::array<std::string_view, 8> kSources = {
        "Const",       "Constant",       "Variable",           "VariableV2",
        "VarHandleOp", "ReadVariableOp", "AutoReloadVariable", "VarIsInitializedOp"};
    static constexpr std::array<std::string_view, 10> kReshaping = {
        "Identity", "Cast", "Unsqueeze", "Squeeze", "Reshape", "Transpose", "Shape", "Expand", "Slice", "DequantizeLinear"};
    const auto isIn = [](const auto& list, const std::string& type) {
        return std::find(list.begin(), list.end(), std::string_view(type)) != list.end();
    };
    std::vector<bool> found(graph.opCount(), false);
    for (std::size_t i = 0; i < graph.opCount(); ++i)
        found[i] = isIn(kSources, graph.op(OpId(i)).type);
    for (const OpId id : graph.topologicalOrder()) {
        const auto inputs = graph.inEdges(id);
        const auto isConstant = [&](const Edge& edge) { return found[edge.producer.index()]; };
        // Without an input in the graph only a fill is known to be constant: the rest may read what is fed from outside.
        const bool fills = graph.op(id).type == "ConstantOfShape";
        if (fills || (!inputs.empty() && isIn(kReshaping, graph.op(id).type)))
            found[id.index()] = std::all_of(inputs.begin(), inputs.end(), isConstant);
    }
    return found;
}

std::vector<OpId> SceneTree::opsBelow(NodeIndex index) const {
    std::vector<OpId> ops;
    ops.reserve(m_nodes[index].opCount);
    for (NodeIndex i = index; i < m_nodes[index].end; ++i) {
        if (m_nodes[i].isOp())
            ops.push_back(m_nodes[i].op);
    }
    return ops;
}

/// Builds the tree in three steps: drafts of scopes and ops, bands where there are too many children, preorder arrays.
/// Nothing recurses: names with thousands of components are legal.
class SceneTreeBuilder {
public:
    SceneTreeBuilder(GraphPtr graph, bool showVariables) : m_graph(std::move(graph)) {
        const std::size_t count = m_graph->opCount();
        m_hidden = showVariables ? std::vector<bool>(count, false) : variablesAndConstants(*m_graph);
        if (std::find(m_hidden.begin(), m_hidden.end(), false) == m_hidden.end())
            m_hidden.assign(count, false); // a graph of constants only is worth a picture too
    }

    std::shared_ptr<const SceneTree> build() {
        draftScopes();
        draftOps();
        mergePassThrough();
        sortChildren();
        chunk();
        flatten();
        fileEdges();
        return std::shared_ptr<const SceneTree>(std::move(m_tree));
    }

private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    struct Draft {
        TreeNode::Kind kind = TreeNode::Kind::Scope;
        std::uint32_t parent = kNone;
        std::uint32_t first = kNone; ///< smallest op id below, the order among siblings
        std::uint32_t ops = 0;
        std::uint32_t hidden = 0;
        OpId op;
        ScopeId scope;
        std::string label;
        std::vector<std::uint32_t> children;
        std::uint32_t mergedInto = kNone; ///< shown by that draft instead
    };

    /// Draft i is scope m_scopeOrder[i], parents before children.
    void draftScopes() {
        const OpGraph& g = *m_graph;
        m_draftOfScope.assign(g.scopeCount(), 0);
        std::vector<ScopeId> stack;
        if (g.scopeCount() > 0)
            stack.push_back(ScopeId(0));
        if (stack.empty())
            m_drafts.emplace_back();
        while (!stack.empty()) {
            const ScopeId id = stack.back();
            stack.pop_back();
            const Scope& scope = g.scope(id);
            Draft draft;
            draft.scope = id;
            draft.label = scope.name;
            draft.parent = scope.parent.isValid() ? m_draftOfScope[scope.parent.index()] : kNone;
            m_draftOfScope[id.index()] = static_cast<std::uint32_t>(m_drafts.size());
            m_drafts.push_back(std::move(draft));
            stack.insert(stack.end(), scope.children.rbegin(), scope.children.rend());
        }
        m_scopeDrafts = m_drafts.size();
    }

    void draftOps() {
        const OpGraph& g = *m_graph;
        m_draftOfOp.assign(g.opCount(), kNone);
        for (std::uint32_t i = 0; i < g.opCount(); ++i) {
            const ScopeId scope = g.op(OpId(i)).scope;
            const std::uint32_t parent = scope.isValid() ? m_draftOfScope[scope.index()] : 0;
            if (m_hidden[i]) {
                ++m_drafts[parent].hidden;
                continue;
            }
            Draft draft;
            draft.kind = TreeNode::Kind::Op;
            draft.op = OpId(i);
            draft.first = i;
            draft.ops = 1;
            draft.parent = parent;
            m_draftOfOp[i] = static_cast<std::uint32_t>(m_drafts.size());
            m_drafts.push_back(std::move(draft));
        }
        for (std::size_t i = m_drafts.size(); i-- > 1;) { // children come after parents
            const Draft& draft = m_drafts[i];
            Draft& parent = m_drafts[draft.parent];
            parent.hidden += draft.hidden;
            if (draft.ops == 0)
                continue;
            parent.first = std::min(parent.first, draft.first);
            parent.ops += draft.ops;
            parent.children.push_back(static_cast<std::uint32_t>(i));
        }
    }

    /// Deepest first, so that a whole chain a/b/c ends up in one box. The root stays.
    void mergePassThrough() {
        for (std::size_t i = m_scopeDrafts; i-- > 1;) {
            Draft& draft = m_drafts[i];
            if (draft.ops == 0) {
                draft.mergedInto = draft.parent;
                continue;
            }
            if (draft.children.size() != 1)
                continue;
            const std::uint32_t only = draft.children.front();
            Draft& child = m_drafts[only];
            if (child.kind == TreeNode::Kind::Scope && child.label.size() + draft.label.size() < 200)
                child.label = draft.label + "/" + child.label;
            child.hidden = std::max(child.hidden, draft.hidden);
            child.parent = draft.parent;
            draft.mergedInto = only;
            auto& siblings = m_drafts[draft.parent].children;
            std::replace(siblings.begin(), siblings.end(), static_cast<std::uint32_t>(i), only);
            draft.children.clear();
        }
    }

    void sortChildren() {
        for (Draft& draft : m_drafts) {
            std::sort(draft.children.begin(), draft.children.end(),
                      [this](std::uint32_t a, std::uint32_t b) { return m_drafts[a].first < m_drafts[b].first; });
        }
    }

    // --- bands -------------------------------------------------------------------------------------------------------

    std::vector<std::uint32_t> depths() const {
        std::vector<std::uint32_t> result(m_drafts.size(), 0);
        std::vector<std::uint32_t> stack = {0};
        while (!stack.empty()) {
            const std::uint32_t at = stack.back();
            stack.pop_back();
            for (const std::uint32_t child : m_drafts[at].children) {
                result[child] = result[at] + 1;
                stack.push_back(child);
            }
        }
        return result;
    }

    void chunk() {
        std::vector<bool> large(m_drafts.size(), false);
        bool any = false;
        for (std::size_t i = 0; i < m_drafts.size(); ++i) {
            large[i] = m_drafts[i].children.size() > SceneTree::kMaxChildren;
            any = any || large[i];
        }
        if (!any)
            return;
        std::map<std::uint32_t, ItemGraph> items;
        std::vector<std::uint32_t> itemOf(m_drafts.size(), 0);
        for (std::uint32_t i = 0; i < m_drafts.size(); ++i) {
            if (!large[i])
                continue;
            const auto& children = m_drafts[i].children;
            for (std::size_t k = 0; k < children.size(); ++k)
                itemOf[children[k]] = static_cast<std::uint32_t>(k);
            items[i].count = children.size();
        }
        const std::vector<std::uint32_t> depth = depths();
        for (const Edge& edge : m_graph->edges()) {
            std::uint32_t a = m_draftOfOp[edge.producer.index()];
            std::uint32_t b = m_draftOfOp[edge.consumer.index()];
            if (a == kNone || b == kNone || a == b)
                continue;
            while (m_drafts[a].parent != m_drafts[b].parent) {
                if (depth[a] >= depth[b])
                    a = m_drafts[a].parent;
                else
                    b = m_drafts[b].parent;
            }
            const std::uint32_t parent = m_drafts[a].parent;
            if (a != b && parent != kNone && large[parent])
                items[parent].edges.emplace_back(itemOf[a], itemOf[b]);
        }
        for (auto& [parent, graph] : items)
            chunkOne(parent, std::move(graph));
    }

    void chunkOne(std::uint32_t parent, ItemGraph items) {
        std::vector<std::uint32_t> members = m_drafts[parent].children;
        while (members.size() > SceneTree::kMaxChildren) {
            const auto bands = cutIntoBands(items);
            std::vector<std::uint32_t> bandOf(members.size(), 0);
            std::vector<std::uint32_t> boxes;
            for (std::size_t b = 0; b < bands.size(); ++b) {
                std::vector<std::uint32_t> children;
                for (const std::uint32_t item : bands[b]) {
                    bandOf[item] = static_cast<std::uint32_t>(b);
                    children.push_back(members[item]);
                }
                boxes.push_back(addBand(std::move(children)));
            }
            ItemGraph next;
            next.count = bands.size();
            for (const auto& [from, to] : items.edges) {
                if (bandOf[from] != bandOf[to])
                    next.edges.emplace_back(bandOf[from], bandOf[to]);
            }
            items = std::move(next);
            members = std::move(boxes);
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
            m_drafts[members[i]].parent = parent;
            m_drafts[members[i]].label = "Part " + std::to_string(i + 1) + contentOf(members[i]);
        }
        m_drafts[parent].children = std::move(members);
    }

    std::uint32_t addBand(std::vector<std::uint32_t> children) {
        const auto index = static_cast<std::uint32_t>(m_drafts.size());
        Draft band;
        band.kind = TreeNode::Kind::Derived;
        for (std::size_t i = 0; i < children.size(); ++i) {
            Draft& child = m_drafts[children[i]];
            child.parent = index;
            band.first = std::min(band.first, child.first);
            band.ops += child.ops;
            band.hidden += child.hidden;
            if (child.kind == TreeNode::Kind::Derived)
                child.label = "Part " + std::to_string(i + 1) + contentOf(children[i]);
        }
        band.children = std::move(children);
        m_drafts.push_back(std::move(band));
        return index;
    }

    /// What is in a band, in a few words: its first scope, or its most frequent op type.
    std::string contentOf(std::uint32_t band) const {
        std::map<std::string_view, std::uint32_t> types;
        std::vector<std::uint32_t> stack = {band};
        while (!stack.empty()) {
            const Draft& draft = m_drafts[stack.back()];
            stack.pop_back();
            if (draft.kind == TreeNode::Kind::Scope)
                return " \u00b7 " + draft.label + " \u2026";
            if (draft.kind == TreeNode::Kind::Op)
                ++types[m_graph->op(draft.op).type];
            stack.insert(stack.end(), draft.children.rbegin(), draft.children.rend());
        }
        const auto most = std::max_element(types.begin(), types.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most == types.end() || most->first.empty())
            return {};
        return " \u00b7 " + std::string(most->first) + " \u00d7" + std::to_string(most->second);
    }

    // --- arrays ------------------------------------------------------------------------------------------------------

    void flatten() {
        m_tree.reset(new SceneTree);
        m_tree->m_graph = m_graph;
        m_tree->m_nodeOfOp.assign(m_graph->opCount(), kNoNode);
        m_nodeOfDraft.assign(m_drafts.size(), kNoNode);
        auto& nodes = m_tree->m_nodes;
        std::vector<std::uint32_t> stack = {0};
        while (!stack.empty()) {
            const std::uint32_t at = stack.back();
            stack.pop_back();
            Draft& draft = m_drafts[at];
            const auto index = static_cast<NodeIndex>(nodes.size());
            m_nodeOfDraft[at] = index;
            TreeNode node;
            node.kind = draft.kind;
            node.parent = draft.parent == kNone ? kNoNode : m_nodeOfDraft[draft.parent];
            node.depth = node.parent == kNoNode ? 0 : nodes[node.parent].depth + 1;
            node.opCount = draft.ops;
            node.hiddenCount = draft.hidden;
            node.op = draft.op;
            node.scope = draft.scope;
            node.label = std::move(draft.label);
            node.childCount = static_cast<std::uint32_t>(draft.children.size());
            node.end = index + 1;
            if (draft.op.isValid())
                m_tree->m_nodeOfOp[draft.op.index()] = index;
            nodes.push_back(std::move(node));
            stack.insert(stack.end(), draft.children.rbegin(), draft.children.rend());
        }
        for (NodeIndex i = static_cast<NodeIndex>(nodes.size()); i-- > 1;)
            nodes[nodes[i].parent].end = std::max(nodes[nodes[i].parent].end, nodes[i].end);
        nodes[0].end = static_cast<NodeIndex>(nodes.size());
        listChildren();
        mapScopes();
    }

    void listChildren() {
        auto& nodes = m_tree->m_nodes;
        std::uint32_t start = 0;
        for (TreeNode& node : nodes) {
            node.firstChild = start;
            start += node.childCount;
        }
        m_tree->m_children.resize(start);
        std::vector<std::uint32_t> next(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i)
            next[i] = nodes[i].firstChild;
        for (NodeIndex i = 1; i < nodes.size(); ++i)
            m_tree->m_children[next[nodes[i].parent]++] = i;
    }

    void mapScopes() {
        // A merged scope points at the draft that shows it, which may itself be merged further in or out.
        std::vector<NodeIndex> shown(m_scopeDrafts, kNoNode);
        const auto resolve = [&](std::uint32_t draft) {
            std::uint32_t at = draft;
            std::size_t steps = 0;
            while (m_drafts[at].mergedInto != kNone && steps++ <= m_scopeDrafts)
                at = m_drafts[at].mergedInto;
            return at;
        };
        m_tree->m_nodeOfScope.assign(m_graph->scopeCount(), 0);
        for (std::size_t i = 0; i < m_graph->scopeCount(); ++i) {
            const std::uint32_t draft = m_draftOfScope[i];
            if (draft < m_scopeDrafts && shown[draft] == kNoNode) {
                const NodeIndex node = m_nodeOfDraft[resolve(draft)];
                shown[draft] = node == kNoNode ? 0 : node;
            }
            m_tree->m_nodeOfScope[i] = draft < m_scopeDrafts ? shown[draft] : 0;
        }
    }

    void fileEdges() {
        auto& nodes = m_tree->m_nodes;
        std::vector<std::pair<NodeIndex, TreeEdge>> filed;
        filed.reserve(m_graph->edges().size());
        for (std::size_t i = 0; i < m_graph->edges().size(); ++i) {
            const Edge& edge = m_graph->edges()[i];
            NodeIndex a = m_tree->m_nodeOfOp[edge.producer.index()];
            NodeIndex b = m_tree->m_nodeOfOp[edge.consumer.index()];
            if (a == kNoNode || b == kNoNode || a == b)
                continue;
            while (nodes[a].parent != nodes[b].parent) {
                if (nodes[a].depth >= nodes[b].depth) {
                    nodes[a].leavesParent = true;
                    a = nodes[a].parent;
                } else {
                    nodes[b].entersParent = true;
                    b = nodes[b].parent;
                }
            }
            filed.emplace_back(nodes[a].parent, TreeEdge{a, b, EdgeId(i)});
        }
        std::sort(filed.begin(), filed.end(), [](const auto& x, const auto& y) {
            return std::tie(x.first, x.second.from, x.second.to, x.second.edge) <
                   std::tie(y.first, y.second.from, y.second.to, y.second.edge);
        });
        m_tree->m_edgeStart.assign(nodes.size() + 1, 0);
        m_tree->m_edges.reserve(filed.size());
        for (const auto& [node, edge] : filed) {
            ++m_tree->m_edgeStart[node + 1];
            m_tree->m_edges.push_back(edge);
        }
        for (std::size_t i = 0; i < nodes.size(); ++i)
            m_tree->m_edgeStart[i + 1] += m_tree->m_edgeStart[i];
    }

    GraphPtr m_graph;
    std::vector<bool> m_hidden;
    std::vector<Draft> m_drafts;
    std::size_t m_scopeDrafts = 0;
    std::vector<std::uint32_t> m_draftOfScope;
    std::vector<std::uint32_t> m_draftOfOp;
    std::vector<NodeIndex> m_nodeOfDraft;
    std::unique_ptr<SceneTree> m_tree;
};

std::shared_ptr<const SceneTree> SceneTree::build(GraphPtr graph, bool showVariables) {
    return SceneTreeBuilder(std::move(graph), showVariables).build();
}

} // namespace pw::viz
