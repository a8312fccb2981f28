#include "viz/graph/scene.h"

#include <algorithm>
#include <cmath>

namespace pw::viz {

std::optional<std::uint32_t> Scene::boxOf(NodeIndex node) const {
    if (node == kNoNode || m_boxOfNode[node] == SceneBox::kClosed)
        return std::nullopt;
    return m_boxOfNode[node];
}

std::uint32_t Scene::visibleBoxOf(NodeIndex node) const {
    while (node != kNoNode && m_boxOfNode[node] == SceneBox::kClosed)
        node = m_tree->node(node).parent;
    return node == kNoNode ? 0 : m_boxOfNode[node];
}

std::uint32_t Scene::visibleBoxOf(OpId op) const {
    return visibleBoxOf(m_tree->nodeOf(op));
}

std::optional<std::uint32_t> Scene::boxAt(const QPointF& place, double leastSide) const {
    std::optional<std::uint32_t> found;
    std::uint32_t scope = scopes.empty() ? SceneBox::kClosed : 0;
    while (scope != SceneBox::kClosed) {
        const SceneScope& at = scopes[scope];
        scope = SceneBox::kClosed;
        for (std::uint32_t i = at.firstBox; i < at.firstBox + at.boxCount; ++i) {
            if (boxes[i].rect.contains(place)) {
                found = i;
                if (std::min(boxes[i].rect.width(), boxes[i].rect.height()) >= leastSide)
                    scope = boxes[i].open;
                break;
            }
        }
    }
    return found;
}

std::vector<std::uint32_t> Scene::leavesIn(const QRectF& area) const {
    std::vector<std::uint32_t> found;
    for (const SceneScope& scope : scopes) {
        if (!area.intersects(boxes[scope.box].rect))
            continue;
        for (std::uint32_t i = scope.firstBox; i < scope.firstBox + scope.boxCount; ++i) {
            if (!boxes[i].isOpen() && area.contains(boxes[i].rect))
                found.push_back(i);
        }
    }
    return found;
}

std::shared_ptr<const ScopeLayout> LayoutMemo::get(const LayoutInput& input) {
    const std::string key = layoutKey(input);
    {
        const std::lock_guard lock(m_mutex);
        if (const auto found = m_layouts.find(key); found != m_layouts.end())
            return found->second;
    }
    // Small scopes are laid out faster than a database answers.
    constexpr std::size_t kWorthStoring = 24;
    const bool store = input.boxes.size() >= kWorthStoring && !input.links.empty();
    std::optional<ScopeLayout> layout;
    if (store && load) {
        if (const auto text = load(key))
            layout = decodeLayout(*text, input);
    }
    const bool found = layout.has_value();
    if (!found) {
        layout = layoutScope(input);
        if (store && save)
            save(key, encodeLayout(*layout));
    }
    auto result = std::make_shared<const ScopeLayout>(*std::move(layout));
    const std::lock_guard lock(m_mutex);
    m_made += found ? 0 : 1;
    return m_layouts.try_emplace(key, std::move(result)).first->second;
}

std::size_t LayoutMemo::layoutsMade() const {
    const std::lock_guard lock(m_mutex);
    return m_made;
}

OpenSet openUpTo(const SceneTree& tree, std::size_t maxDepth, std::size_t budget, OpenBy by) {
    OpenSet open = {0};
    std::size_t boxes = tree.node(0).childCount;
    std::vector<NodeIndex> level = {0};
    for (std::size_t depth = 0; depth < maxDepth && !level.empty(); ++depth) {
        std::vector<NodeIndex> next;
        for (const NodeIndex at : level) {
            for (const NodeIndex child : tree.children(at)) {
                if (!tree.node(child).isOp())
                    next.push_back(child);
            }
        }
        std::stable_sort(next.begin(), next.end(), [&](NodeIndex a, NodeIndex b) {
            return tree.node(a).opCount > tree.node(b).opCount;
        });
        level.clear();
        std::size_t all = boxes;
        for (const NodeIndex node : next)
            all += tree.node(node).childCount;
        if (by == OpenBy::Level && all > budget)
            break;
        for (const NodeIndex node : next) {
            if (boxes + tree.node(node).childCount > budget)
                continue;
            boxes += tree.node(node).childCount;
            open.insert(node);
            level.push_back(node);
        }
    }
    return open;
}

/// Inner scopes first, each laid out knowing the sizes of its open children; then positions outside in.
class SceneBuilder {
public:
    SceneBuilder(std::shared_ptr<const SceneTree> tree, const OpenSet& open, LayoutMemo& memo)
        : m_tree(std::move(tree)), m_memo(memo) {
        // Only what is open all the way up is visible.
        for (const NodeIndex node : open) { // in preorder, so parents come first
            if (node < m_tree->nodeCount() && (node == 0 || m_inner.count(m_tree->node(node).parent) != 0) &&
                !m_tree->node(node).isOp())
                m_inner.emplace(node, nullptr);
        }
        m_inner.emplace(0, nullptr);
    }

    Result<std::shared_ptr<const Scene>> build(const JobContext& context) {
        std::size_t done = 0;
        for (auto it = m_inner.rbegin(); it != m_inner.rend(); ++it) {
            if (context.abortRequested())
                return fail(ErrorCode::Busy, "cancelled");
            Progress progress;
            progress.stage = "layout";
            progress.fraction = static_cast<double>(done++) / static_cast<double>(m_inner.size());
            context.report(progress);
            it->second = m_memo.get(inputOf(it->first));
        }
        compose();
        return std::shared_ptr<const Scene>(std::move(m_scene));
    }

private:
    static BoxSize frameSize(NodeIndex node, const ScopeLayout& inner) {
        if (node == 0)
            return {inner.width, inner.height};
        const double least = scene::kScopeWidth;
        return {std::max(least, inner.width + 2 * scene::kMargin),
                inner.height + scene::kHeader + 2 * scene::kEntry};
    }

    BoxSize closedSize(NodeIndex node) const {
        if (m_tree->node(node).isOp())
            return {scene::kOpWidth, scene::kOpHeight};
        return {scene::kScopeWidth, scene::kScopeHeight};
    }

    BoxSize sizeOf(NodeIndex node) const {
        const auto found = m_inner.find(node);
        return found != m_inner.end() ? frameSize(node, *found->second) : closedSize(node);
    }

    LayoutInput inputOf(NodeIndex node) const {
        LayoutInput input;
        const auto children = m_tree->children(node);
        std::map<NodeIndex, std::uint32_t> place;
        for (std::size_t i = 0; i < children.size(); ++i) {
            input.boxes.push_back(sizeOf(children[i]));
            input.closed.push_back(closedSize(children[i]));
            place.emplace(children[i], static_cast<std::uint32_t>(i));
        }
        const auto edges = m_tree->edges(node);
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (i == 0 || edges[i].from != edges[i - 1].from || edges[i].to != edges[i - 1].to)
                input.links.push_back({place.at(edges[i].from), place.at(edges[i].to)});
        }
        return input;
    }

    void compose() {
        m_scene.reset(new Scene);
        m_scene->m_tree = m_tree;
        m_scene->m_boxOfNode.assign(m_tree->nodeCount(), SceneBox::kClosed);
        const BoxSize size = sizeOf(0);
        m_scene->bounds = QRectF(0, 0, size.width, size.height);
        m_scene->boxes.push_back({0, m_scene->bounds, 0, 0});
        m_scene->m_boxOfNode[0] = 0;
        m_scene->scopes.push_back({0, 0, 0, 0, 0});
        for (std::size_t i = 0; i < m_scene->scopes.size(); ++i)
            composeScope(static_cast<std::uint32_t>(i));
    }

    void composeScope(std::uint32_t index) {
        Scene& scene = *m_scene;
        const std::uint32_t frame = scene.scopes[index].box;
        const NodeIndex node = scene.boxes[frame].node;
        const ScopeLayout& inner = *m_inner.at(node);
        const QRectF outer = scene.boxes[frame].rect;
        QPointF origin = outer.topLeft();
        if (node != 0)
            origin += QPointF((outer.width() - inner.width) / 2, scene::kHeader + scene::kEntry);
        scene.scopes[index].firstBox = static_cast<std::uint32_t>(scene.boxes.size());
        scene.scopes[index].boxCount = m_tree->node(node).childCount;
        std::size_t i = 0;
        for (const NodeIndex child : m_tree->children(node)) {
            const BoxSize size = sizeOf(child);
            SceneBox box{child, QRectF(origin + inner.positions[i++], QSizeF(size.width, size.height)), frame};
            if (m_inner.count(child) != 0) {
                box.open = static_cast<std::uint32_t>(scene.scopes.size());
                scene.scopes.push_back({static_cast<std::uint32_t>(scene.boxes.size()), 0, 0, 0, 0});
            }
            scene.m_boxOfNode[child] = static_cast<std::uint32_t>(scene.boxes.size());
            scene.boxes.push_back(box);
        }
        scene.scopes[index].firstEdge = static_cast<std::uint32_t>(scene.edges.size());
        addEdges(node, inner, origin);
        if (node != 0)
            addStubs(index);
        scene.scopes[index].edgeCount = static_cast<std::uint32_t>(scene.edges.size()) - scene.scopes[index].firstEdge;
    }

    void addEdges(NodeIndex node, const ScopeLayout& inner, const QPointF& origin) {
        Scene& scene = *m_scene;
        const auto edges = m_tree->edges(node);
        std::size_t link = 0;
        for (std::size_t i = 0; i < edges.size();) {
            std::size_t end = i + 1;
            while (end < edges.size() && edges[end].from == edges[i].from && edges[end].to == edges[i].to)
                ++end;
            const LayoutRoute& route = inner.routes[link++];
            SceneEdge edge;
            edge.from = scene.m_boxOfNode[edges[i].from];
            edge.to = scene.m_boxOfNode[edges[i].to];
            edge.firstLink = static_cast<std::uint32_t>(m_tree->edgeOffset(node) + i);
            edge.linkCount = static_cast<std::uint32_t>(end - i);
            edge.curve = route.curve;
            std::vector<QPointF> points;
            for (std::uint32_t p = 0; p < route.pointCount; ++p)
                points.push_back(inner.points[route.firstPoint + p] + origin);
            addEdge(edge, points);
            i = end;
        }
    }

    void addEdge(SceneEdge edge, const std::vector<QPointF>& points) {
        edge.firstPoint = static_cast<std::uint32_t>(m_scene->points.size());
        edge.pointCount = static_cast<std::uint32_t>(points.size());
        if (!points.empty()) {
            double left = points[0].x(), right = left, top = points[0].y(), bottom = top;
            for (const QPointF& p : points) {
                left = std::min(left, p.x());
                right = std::max(right, p.x());
                top = std::min(top, p.y());
                bottom = std::max(bottom, p.y());
            }
            edge.bounds = QRectF(left - 1, top - 1, right - left + 2, bottom - top + 2);
        }
        m_scene->points.insert(m_scene->points.end(), points.begin(), points.end());
        m_scene->edges.push_back(edge);
    }

    /// Lines from the middle of the frame's head to boxes that are fed from outside, and from boxes that feed outside to the
    /// middle of its foot: only where the way is free, which it is for the first and the last row.
    void addStubs(std::uint32_t index) {
        const Scene& scene = *m_scene;
        const SceneScope scope = scene.scopes[index];
        const QRectF frame = scene.boxes[scope.box].rect;
        for (const bool enters : {true, false}) {
            const double edgeY = enters ? frame.top() + scene::kHeader : frame.bottom();
            const double busY = enters ? edgeY + scene::kEntry / 2 - 1 : edgeY - scene::kEntry / 2;
            for (std::uint32_t i = scope.firstBox; i < scope.firstBox + scope.boxCount; ++i) {
                const SceneBox& box = scene.boxes[i];
                const TreeNode& node = m_tree->node(box.node);
                if (!(enters ? node.entersParent : node.leavesParent))
                    continue;
                const double x = box.rect.center().x();
                const double end = enters ? box.rect.top() : box.rect.bottom();
                if (!isFree(scope, i, QRectF(x - 1, std::min(end, busY), 2, std::abs(end - busY))))
                    continue;
                std::vector<QPointF> points = {{frame.center().x(), edgeY}, {frame.center().x(), busY}, {x, busY}, {x, end}};
                if (std::abs(x - frame.center().x()) < 1)
                    points = {{x, edgeY}, {x, end}};
                if (!enters)
                    std::reverse(points.begin(), points.end());
                SceneEdge edge;
                edge.from = enters ? SceneEdge::kFrame : i;
                edge.to = enters ? i : SceneEdge::kFrame;
                addEdge(edge, points);
            }
        }
    }

    bool isFree(const SceneScope& scope, std::uint32_t self, const QRectF& area) const {
        for (std::uint32_t i = scope.firstBox; i < scope.firstBox + scope.boxCount; ++i) {
            if (i != self && m_scene->boxes[i].rect.intersects(area))
                return false;
        }
        return true;
    }

    std::shared_ptr<const SceneTree> m_tree;
    LayoutMemo& m_memo;
    std::map<NodeIndex, std::shared_ptr<const ScopeLayout>> m_inner;
    std::unique_ptr<Scene> m_scene;
};

Result<std::shared_ptr<const Scene>> buildScene(std::shared_ptr<const SceneTree> tree, const OpenSet& open,
                                                LayoutMemo& memo, const JobContext& context) {
    return SceneBuilder(std::move(tree), open, memo).build(context);
}

} // namespace pw::viz
