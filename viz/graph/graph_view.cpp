#include "viz/graph/graph_view_private.h"

#include <QEvent>
#include <QResizeEvent>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

constexpr double kLeastZoom = 0.004;
constexpr double kMostZoom = 4.0;
constexpr double kFitMargin = 16;     ///< px around a fitted picture
constexpr double kOverlayRoom = 44;   ///< px at the bottom for legend and zoom buttons
constexpr std::size_t kExpandBudget = 4000; ///< boxes: what expandAll() opens at most

} // namespace

GraphView::Private::Private(GraphView* owner)
    : q(owner)
    , painter(std::make_unique<ScenePainter>(Theme::light(), owner->font()))
    , job([this](Result<SceneResult> result) { receive(std::move(result)); }) {
    tipTimer.setSingleShot(true);
    tipTimer.setInterval(400);
}

GraphView::GraphView(QWidget* parent) : QWidget(parent), d(std::make_unique<Private>(this)) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(QStringLiteral("Graph"));
    d->emptyText = QStringLiteral("No graph is open.");
    connect(&d->tipTimer, &QTimer::timeout, this, [this] {
        QEvent tip(QEvent::User); // shown through event(): one place for tooltips
        event(&tip);
    });
}

GraphView::~GraphView() = default;

// --- what is shown ---------------------------------------------------------------------------------------------------

void GraphView::setLayoutCache(LayoutCache cache) {
    d->cache = std::move(cache);
    d->memo->load = d->cache.load;
    d->memo->save = d->cache.save;
}

void GraphView::setGraph(GraphPtr graph) {
    if (d->graph == graph && !d->inBody())
        return;
    d->graph = std::move(graph);
    d->bodies.clear();
    d->savedViews.clear();
    d->input = VisualInput{nullptr, nullptr, {}, {}, d->input.colorBy, {}, {}};
    d->memo = std::make_shared<LayoutMemo>();
    setLayoutCache(d->cache);
    d->showGraph(false);
}

void GraphView::Private::showGraph(bool keepView) {
    job.cancel();
    whenReady.clear();
    anchor.reset();
    reveal.reset();
    current = kNoNode;
    hoveredNode = kNoNode;
    hovered = -1;
    selected.clear();
    fitWhenReady = !keepView;
    if (!shownGraph() || shownGraph()->opCount() == 0) {
        scene.reset();
        visuals.reset();
        minimap.invalidate();
        q->update();
        return;
    }
    if (!keepView)
        open.clear();
    request(true);
}

void GraphView::Private::request(bool rebuildTree) {
    SceneRequest r;
    r.graph = shownGraph();
    r.showVariables = showVariables;
    r.memo = memo;
    if (!rebuildTree && scene && scene->tree().graphPtr() == r.graph)
        r.tree = scene->treePtr();
    if (!open.empty())
        r.open = open;
    const bool wasRunning = job.isRunning();
    job.start(std::move(r));
    if (!wasRunning)
        Q_EMIT q->layoutStarted();
    q->update();
}

void GraphView::Private::receive(Result<SceneResult> result) {
    if (!result) {
        Q_EMIT q->layoutFailed(QString::fromStdString(result.error().toString()));
        q->update();
        return;
    }
    const bool newTree = !scene || scene->treePtr() != result->scene->treePtr();
    if (newTree) { // node numbers of the old tree mean nothing now
        current = kNoNode;
        hoveredNode = kNoNode;
    }
    scene = result->scene;
    if (!job.isRunning())
        open = result->open;
    refreshVisuals();
    if (fitWhenReady)
        fit(1.25);
    else
        applyAnchor();
    fitWhenReady = false;
    for (const auto& call : std::exchange(whenReady, {}))
        call();
    if (reveal && !job.isRunning())
        revealAfterLayout(*std::exchange(reveal, std::nullopt));
    q->update();
    if (!job.isRunning())
        Q_EMIT q->layoutFinished();
}

void GraphView::Private::runWhenReady(std::function<void()> call) {
    if (scene && scene->tree().graphPtr() == shownGraph())
        call();
    else if (shownGraph())
        whenReady.push_back(std::move(call));
}

/// A new placement, schedule and costs often come together: what follows from them is summed up once, for the next picture.
void GraphView::Private::refreshVisuals() {
    minimap.invalidate();
    visualsStale = true;
    q->update();
}

void GraphView::Private::ensureVisuals() {
    if (!scene || !std::exchange(visualsStale, false))
        return;
    if (!inBody()) {
        visuals = std::make_unique<Visuals>(*scene, input);
    } else { // everything in a body runs where its container does
        VisualInput body;
        body.colorBy = input.colorBy;
        const quint32 container = bodies.front().container;
        if (input.placement && container < input.placement->size())
            body.placement = std::make_shared<OpPlacement>(scene->tree().graph().opCount(), (*input.placement)[container]);
        visuals = std::make_unique<Visuals>(*scene, body);
    }
}

void GraphView::setEmptyText(const QString& text) {
    d->emptyText = text;
    update();
}

void GraphView::setPlacement(std::shared_ptr<const OpPlacement> placement) {
    d->input.placement = std::move(placement);
    d->refreshVisuals();
}

void GraphView::setSchedule(std::shared_ptr<const Schedule> schedule) {
    d->input.schedule = std::move(schedule);
    d->refreshVisuals();
}

void GraphView::setOpCosts(std::vector<double> costUs) {
    d->input.costUs = std::move(costUs);
    d->refreshVisuals();
}

void GraphView::setCostSources(std::vector<CostSource> sources, const QString& device) {
    d->input.costSources = std::move(sources);
    d->input.costDevice = device;
    d->refreshVisuals();
}

void GraphView::setMoved(std::vector<bool> moved) {
    d->input.moved = std::move(moved);
    d->refreshVisuals();
}

void GraphView::setTheme(const Theme& theme) {
    d->painter = std::make_unique<ScenePainter>(theme, font());
    d->minimap.invalidate();
    update();
}

void GraphView::setColorBy(ColorBy colorBy) {
    d->input.colorBy = colorBy;
    d->refreshVisuals();
}

void GraphView::setShowCriticalPath(bool on) {
    d->showCritical = on;
    update();
}

void GraphView::setShowCrossDeviceEdges(bool on) {
    d->showCross = on;
    update();
}

void GraphView::setDeviceNames(const QStringList& names) {
    d->deviceNames = names;
    update();
}

void GraphView::setShowVariables(bool on) {
    if (d->showVariables == on)
        return;
    d->showVariables = on;
    if (!d->shownGraph())
        return;
    d->open.clear();
    d->fitWhenReady = true;
    d->request(true);
}

ColorBy GraphView::colorBy() const {
    return d->input.colorBy;
}

std::size_t GraphView::hiddenOps() const {
    return d->scene ? d->scene->tree().node(0).hiddenCount : 0;
}

GraphPtr GraphView::graph() const {
    return d->graph;
}

bool GraphView::isLayoutRunning() const {
    return d->job.isRunning();
}

double GraphView::zoom() const {
    return d->view.zoom;
}

QList<quint32> GraphView::selection() const {
    return d->inBody() ? QList<quint32>() : d->selected;
}

QRectF GraphView::rectOfOp(quint32 op) const {
    if (!d->scene || op >= d->scene->tree().graph().opCount())
        return {};
    const NodeIndex node = d->scene->tree().nodeOf(OpId(op));
    return node == kNoNode ? QRectF() : d->view.toView(d->scene->boxes[d->drawnBox(node)].rect);
}

QRectF GraphView::rectOfScope(quint32 scope) const {
    if (!d->scene || scope >= d->scene->tree().graph().scopeCount())
        return {};
    return d->view.toView(d->scene->boxes[d->drawnBox(d->scene->tree().nodeOf(ScopeId(scope)))].rect);
}

bool GraphView::isScopeOpen(quint32 scope) const {
    if (!d->scene || scope >= d->scene->tree().graph().scopeCount())
        return false;
    const auto box = d->scene->boxOf(d->scene->tree().nodeOf(ScopeId(scope)));
    return box && d->scene->boxes[*box].isOpen();
}

QSize GraphView::sizeHint() const {
    return {900, 600};
}

QSize GraphView::minimumSizeHint() const {
    return {240, 160};
}

// --- opening and closing ---------------------------------------------------------------------------------------------

void GraphView::Private::setOpen(NodeIndex node, bool isOpen, std::optional<QPointF> pointer) {
    if (scene->tree().node(node).isOp() || (open.count(node) != 0) == isOpen)
        return;
    if (isOpen)
        open.insert(node);
    else
        open.erase(node);
    if (const auto box = scene->boxOf(node))
        anchor = Anchor{node, view.toView(scene->boxes[*box].rect.topLeft()), isOpen ? std::nullopt : pointer};
    fitted = false;
    request(false);
    tellPeers([&](Private& peer) {
        if (peer.scene && node < peer.scene->tree().nodeCount())
            peer.setOpen(node, isOpen, pointer);
    });
}

void GraphView::Private::toggle(std::uint32_t box, std::optional<QPointF> pointer) {
    setOpen(scene->boxes[box].node, !scene->boxes[box].isOpen(), pointer);
}

void GraphView::Private::applyAnchor() {
    if (!anchor)
        return;
    const Anchor a = *std::exchange(anchor, std::nullopt);
    const auto box = scene->boxOf(a.node);
    if (!box)
        return;
    const QRectF rect = scene->boxes[*box].rect;
    QPointF topLeft = a.topLeft;
    if (a.pointer) { // closed: the pointer may have been deep inside the frame
        const QSizeF size = rect.size() * view.zoom;
        topLeft.setX(std::clamp(topLeft.x(), a.pointer->x() - size.width() + 8, std::max(topLeft.x(), a.pointer->x() - 8)));
        topLeft.setY(std::clamp(topLeft.y(), a.pointer->y() - size.height() + 8, std::max(topLeft.y(), a.pointer->y() - 8)));
    }
    setView(rect.topLeft() - topLeft / view.zoom, view.zoom);
}

void GraphView::openScope(quint32 scope) {
    d->runWhenReady([this, scope] {
        if (scope >= d->scene->tree().graph().scopeCount())
            return;
        const SceneTree& tree = d->scene->tree();
        NodeIndex node = tree.nodeOf(ScopeId(scope));
        OpenSet wanted = d->open;
        for (NodeIndex at = node; at != kNoNode; at = tree.node(at).parent) {
            if (!tree.node(at).isOp())
                wanted.insert(at);
        }
        if (wanted == d->open)
            return;
        const std::uint32_t shown = d->scene->visibleBoxOf(node);
        d->anchor = Private::Anchor{d->scene->boxes[shown].node, d->view.toView(d->scene->boxes[shown].rect.topLeft()), {}};
        d->open = std::move(wanted);
        d->request(false);
    });
}

void GraphView::expandAll() {
    d->runWhenReady([this] {
        d->open = openUpTo(d->scene->tree(), d->scene->tree().nodeCount(), kExpandBudget, OpenBy::Size);
        d->fitWhenReady = true;
        d->request(false);
    });
}

void GraphView::collapseAll() {
    d->runWhenReady([this] {
        d->open = {0};
        d->fitWhenReady = true;
        d->request(false);
    });
}

void GraphView::revealOp(quint32 op) {
    if (d->inBody())
        d->leaveBodies(0);
    d->runWhenReady([this, op] {
        const SceneTree& tree = d->scene->tree();
        if (op >= tree.graph().opCount())
            return;
        NodeIndex node = tree.nodeOf(OpId(op));
        if (node == kNoNode) // hidden: show where it would be
            node = tree.graph().op(OpId(op)).scope.isValid() ? tree.nodeOf(tree.graph().op(OpId(op)).scope) : 0;
        bool changed = false;
        for (NodeIndex at = tree.node(node).parent; at != kNoNode; at = tree.node(at).parent)
            changed = d->open.insert(at).second || changed;
        if (!changed && !d->job.isRunning()) {
            d->revealAfterLayout(op);
            return;
        }
        d->reveal = op;
        if (changed)
            d->request(false);
    });
}

void GraphView::Private::revealAfterLayout(quint32 op) {
    const SceneTree& t = scene->tree();
    NodeIndex node = t.nodeOf(OpId(op));
    if (node == kNoNode)
        node = t.graph().op(OpId(op)).scope.isValid() ? t.nodeOf(t.graph().op(OpId(op)).scope) : 0;
    current = node;
    bringIntoView(scene->visibleBoxOf(node));
}

// --- bodies ----------------------------------------------------------------------------------------------------------

void GraphView::openBodies(quint32 containerOp) {
    const GraphPtr shown = d->shownGraph();
    if (shown && containerOp < shown->opCount() && !shown->op(OpId(containerOp)).bodies.empty())
        d->enterBody(containerOp, 0);
}

void GraphView::Private::enterBody(quint32 op, std::size_t body) {
    const GraphPtr outer = shownGraph();
    const auto& list = outer->op(OpId(op)).bodies;
    if (body >= list.size() || !list[body].graph)
        return;
    savedViews.push_back({open, view.origin, view.zoom});
    bodies.push_back({op, body, list[body].graph});
    showGraph(false);
    if (bodies.size() == 1)
        Q_EMIT q->bodyOpened(op);
    Q_EMIT q->bodySelectionChanged(bodies.back().graph, {});
}

void GraphView::Private::leaveBodies(std::size_t keep) {
    if (bodies.size() <= keep)
        return;
    const SavedView saved = savedViews[keep];
    bodies.resize(keep);
    savedViews.resize(keep);
    open = saved.open;
    view.origin = saved.origin;
    view.zoom = saved.zoom;
    lod = lodFor(view.zoom, lod);
    showGraph(true);
    Q_EMIT q->bodySelectionChanged(inBody() ? bodies.back().graph : nullptr, {});
    Q_EMIT q->zoomChanged(view.zoom);
}

// --- view ------------------------------------------------------------------------------------------------------------

void GraphView::Private::setView(const QPointF& origin, double zoom, bool byUser) {
    const double before = view.zoom;
    view.zoom = std::clamp(zoom, kLeastZoom, kMostZoom);
    view.area = QRectF(q->rect());
    // At least a part of the picture stays in view.
    const QRectF room = scene ? scene->bounds : QRectF();
    const QSizeF seen = QSizeF(q->size()) / view.zoom;
    const double keepX = std::min(60 / view.zoom, room.width() / 2);
    const double keepY = std::min(60 / view.zoom, room.height() / 2);
    view.origin.setX(std::clamp(origin.x(), room.left() - seen.width() + keepX, room.right() - keepX));
    view.origin.setY(std::clamp(origin.y(), room.top() - seen.height() + keepY, room.bottom() - keepY));
    lod = lodFor(view.zoom, lod);
    fitted = fitted && !byUser;
    q->update();
    if (before != view.zoom)
        Q_EMIT q->zoomChanged(view.zoom);
    tellPeers([&](Private& peer) { peer.setView(view.origin, view.zoom, byUser); });
}

void GraphView::Private::zoomAt(const QPointF& place, double factor) {
    if (!scene)
        return;
    const double zoom = std::clamp(view.zoom * factor, std::min(kLeastZoom, fitZoom()), kMostZoom);
    const QPointF fixed = view.toScene(place);
    setView(fixed - place / zoom, zoom);
}

double GraphView::Private::fitZoom() const {
    const double width = q->width() - 2 * kFitMargin;
    const double height = q->height() - kFitMargin - kOverlayRoom - (inBody() ? 28 : 0);
    return std::min(std::max(20.0, width) / std::max(1.0, scene->bounds.width()),
                    std::max(20.0, height) / std::max(1.0, scene->bounds.height()));
}

void GraphView::Private::fit(double mostZoom) {
    if (!scene)
        return;
    const double zoom = std::clamp(fitZoom(), kLeastZoom, mostZoom);
    const double top = inBody() ? 28 : 0;
    const QPointF middle(q->width() / 2.0, top + kFitMargin / 2 + (q->height() - top - kOverlayRoom) / 2.0);
    setView(scene->bounds.center() - middle / zoom, zoom, false);
    fitted = true;
}

void GraphView::Private::bringIntoView(std::uint32_t box) {
    const QRectF rect = scene->boxes[box].rect;
    const QRectF safe = QRectF(q->rect()).adjusted(24, 32, -24, -52);
    double zoom = view.zoom;
    if (lod < Lod::Near) // a box that is asked for is readable
        zoom = 1.0;
    else if (safe.contains(view.toView(rect)))
        return q->update();
    QPointF place = view.toView(rect.center());
    if (zoom != view.zoom || !safe.contains(place))
        place = safe.center();
    setView(rect.center() - place / zoom, zoom);
}

void GraphView::zoomIn() {
    d->zoomAt(QRectF(rect()).center(), 1.25);
}

void GraphView::zoomOut() {
    d->zoomAt(QRectF(rect()).center(), 0.8);
}

void GraphView::zoomToFit() {
    d->fit(2.0);
}

void GraphView::resetZoom() {
    d->zoomAt(QRectF(rect()).center(), 1.0 / d->view.zoom);
}

void GraphView::resizeEvent(QResizeEvent*) {
    d->view.area = QRectF(rect());
    if (d->fitted && d->scene)
        d->fit(1.25);
    update();
}

// --- selection -------------------------------------------------------------------------------------------------------

void GraphView::setSelection(const QList<quint32>& ops) {
    d->runWhenReady([this, ops] {
        if (!d->inBody())
            d->select(ops, false);
    });
}

void GraphView::setHovered(qint64 op) {
    d->hovered = op;
    const bool known = d->scene && !d->inBody() && op >= 0 && op < static_cast<qint64>(d->scene->tree().graph().opCount());
    d->hoveredNode = known ? d->scene->tree().nodeOf(OpId(static_cast<std::size_t>(op))) : kNoNode;
    update();
}

void GraphView::Private::select(QList<quint32> ops, bool emitSignal) {
    const std::size_t count = scene ? scene->tree().graph().opCount() : 0;
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    ops.erase(std::lower_bound(ops.begin(), ops.end(), count), ops.end());
    if (ops == selected)
        return;
    selected = std::move(ops);
    q->update();
    if (!emitSignal)
        return;
    if (inBody())
        Q_EMIT q->bodySelectionChanged(bodies.back().graph, selected);
    else
        Q_EMIT q->selectionChanged(selected);
}

QList<quint32> GraphView::Private::opsOf(NodeIndex node) const {
    QList<quint32> ops;
    for (const OpId op : scene->tree().opsBelow(node))
        ops.push_back(op.value());
    return ops;
}

void GraphView::Private::selectNode(NodeIndex node, bool add) {
    current = node;
    QList<quint32> ops = opsOf(node);
    if (add) {
        std::sort(ops.begin(), ops.end());
        QList<quint32> rest;
        std::set_difference(selected.begin(), selected.end(), ops.begin(), ops.end(), std::back_inserter(rest));
        const bool allIn = rest.size() + ops.size() == selected.size();
        ops = allIn ? rest : selected + ops; // a second click takes them out again
    }
    select(std::move(ops), true);
}

std::uint32_t GraphView::Private::drawnBox(NodeIndex node) const {
    std::uint32_t box = scene->visibleBoxOf(node);
    for (std::uint32_t at = scene->boxes[box].parent; at != 0; at = scene->boxes[at].parent) {
        const QSizeF size = scene->boxes[at].rect.size() * view.zoom;
        if (std::min(size.width(), size.height()) < kBlockSide)
            box = at;
    }
    return box;
}

void GraphView::linkTo(GraphView* other) {
    if (other == nullptr || other == this)
        return;
    d->peers.emplace_back(other);
    other->d->peers.emplace_back(this);
    other->d->memo = d->memo; // each layout is made once
}

void GraphView::Private::tellPeers(const std::function<void(Private&)>& call) {
    if (following || inBody())
        return;
    for (const auto& peer : peers) {
        if (!peer || peer->d->shownGraph() != graph)
            continue;
        peer->d->following = true;
        call(*peer->d);
        peer->d->following = false;
    }
}

} // namespace pw::viz
