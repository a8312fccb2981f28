#include "viz/graph/graph_view_private.h"

#include "viz/graph/op_text.h"

#include <QPaintEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <set>

namespace pw::viz {

namespace {
constexpr double kEdge = 8;           ///< between overlays and the border of the view
constexpr double kBarHeight = 26;     ///< of legend and zoom buttons
constexpr std::size_t kMostRings = 200; ///< more selected boxes than this get one tint over their scopes
constexpr std::size_t kMostFarLines = 64;
} // namespace

void GraphView::paintEvent(QPaintEvent*) {
    QPainter p(this);
    const Theme& theme = d->painter->theme();
    p.fillRect(rect(), theme.canvas);
    d->ensureVisuals();
    if (!d->scene || !d->visuals) {
        d->paintEmpty(p);
    } else {
        d->view.area = QRectF(rect());
        d->painter->paint(p, *d->scene, *d->visuals, d->view, d->lod, {d->showCross, d->showCritical, true, false});
        d->paintMarks(p);
        d->paintOverlay(p);
    }
    d->paintMessage(p);
    if (hasFocus() && d->current == kNoNode) {
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(theme.accent, 1));
        p.drawRect(QRectF(rect()).adjusted(0, 0, -1, -1));
    }
}

void GraphView::Private::paintEmpty(QPainter& p) const {
    if (job.isRunning())
        return; // the message says what happens
    p.setFont(painter->normalFont());
    p.setPen(painter->theme().muted);
    p.drawText(QRectF(q->rect()).adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
               graph ? QStringLiteral("This graph has no ops.") : emptyText);
}

void GraphView::Private::paintMessage(QPainter& p) const {
    if (!job.isRunning() || !shownGraph())
        return;
    const bool first = !scene || scene->tree().graphPtr() != shownGraph();
    const QString name = shortName(shownGraph()->name(), 60);
    const QString text = first ? QStringLiteral("Laying out %1\u2026").arg(name) : QStringLiteral("Laying out\u2026");
    const QFontMetricsF metrics(painter->normalFont());
    const QSizeF size(metrics.horizontalAdvance(text) + 24, 28);
    QRectF box(QPointF((q->width() - size.width()) / 2, first && !scene ? (q->height() - size.height()) / 2 : kEdge), size);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(painter->theme().control, 1));
    p.setBrush(painter->theme().panel);
    p.drawRoundedRect(box, 4, 4);
    p.setPen(painter->theme().text);
    p.setFont(painter->normalFont());
    p.drawText(box, Qt::AlignCenter, text);
}

// --- marks -----------------------------------------------------------------------------------------------------------

void GraphView::Private::paintMarks(QPainter& p) {
    paintHover(p);
    paintSelection(p);
    if (q->hasFocus() && current != kNoNode) {
        p.setRenderHint(QPainter::Antialiasing, true);
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(painter->theme().accent, 1));
        p.drawRoundedRect(view.toView(scene->boxes[drawnBox(current)].rect).adjusted(-1, -1, 1, 1), 3, 3);
    }
    if (drag == Drag::Band) {
        QColor fill = painter->theme().accent;
        fill.setAlphaF(0.12F);
        p.setRenderHint(QPainter::Antialiasing, false);
        p.setPen(QPen(painter->theme().accent, 1));
        p.setBrush(fill);
        p.drawRect(QRectF(pressAt, bandEnd).normalized());
    }
}

void GraphView::Private::paintSelection(QPainter& p) {
    if (selected.isEmpty())
        return;
    std::set<std::uint32_t> boxes;
    for (const quint32 op : selected) {
        const NodeIndex node = scene->tree().nodeOf(OpId(op));
        if (node != kNoNode)
            boxes.insert(drawnBox(node));
        if (boxes.size() > kMostRings)
            break;
    }
    boxes.erase(0);
    if (boxes.size() > kMostRings) {
        std::set<std::uint32_t> scopes;
        for (const quint32 op : selected) {
            const NodeIndex node = scene->tree().nodeOf(OpId(op));
            if (node != kNoNode)
                scopes.insert(scene->boxes[drawnBox(node)].parent);
        }
        QColor tint = painter->theme().accent;
        tint.setAlphaF(0.15F);
        for (const std::uint32_t scope : scopes)
            p.fillRect(view.toView(scene->boxes[scope].rect).intersected(view.area), tint);
        return;
    }
    for (const std::uint32_t box : boxes) {
        const QRectF rect = view.toView(scene->boxes[box].rect);
        if (rect.adjusted(-4, -4, 4, 4).intersects(view.area))
            painter->paintRing(p, rect);
    }
    if (boxes.size() == 1 && selected.size() == 1)
        paintFar(p, scene->boxes[*boxes.begin()], OpId(selected.front()));
}

/// Lines of the hovered box stand out, the rest stays.
void GraphView::Private::paintHover(QPainter& p) {
    if (hoveredNode == kNoNode || hoveredNode == 0)
        return;
    const std::uint32_t index = drawnBox(hoveredNode);
    const SceneBox& box = scene->boxes[index];
    const std::uint32_t outer = scene->boxes[box.parent].open;
    if (outer != SceneBox::kClosed && lod > Lod::Far) {
        const SceneScope& scope = scene->scopes[outer];
        for (std::uint32_t i = scope.firstEdge; i < scope.firstEdge + scope.edgeCount; ++i) {
            const SceneEdge& edge = scene->edges[i];
            if (edge.from != index && edge.to != index)
                continue;
            const EdgeLook& look = visuals->edge(i);
            const bool crosses = look.crossFrom.isValid() && showCross;
            const QColor color = crosses ? painter->style(look.crossFrom).stroke : painter->theme().edge;
            painter->paintLine(p, *scene, edge, view, QPen(color, 2.5), lod >= Lod::Near);
        }
    }
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(Qt::NoBrush);
    p.setPen(QPen(painter->theme().text, 1));
    p.drawRoundedRect(view.toView(box.rect), 3, 3);
}

/// What one op reads and feeds outside its own scope, as thin lines straight to the boxes that show the other ends.
void GraphView::Private::paintFar(QPainter& p, const SceneBox& box, OpId op) {
    const OpGraph& g = scene->tree().graph();
    const QRectF from = view.toView(box.rect);
    std::size_t lines = 0;
    p.save();
    p.setClipRegion(betweenBoxes());
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(Qt::NoBrush);
    const auto line = [&](OpId other, bool reads) {
        const NodeIndex node = scene->tree().nodeOf(other);
        if (node == kNoNode || ++lines > kMostFarLines)
            return;
        const SceneBox& far = scene->boxes[drawnBox(node)];
        if (far.parent == box.parent || &far == &box)
            return;
        const QRectF to = view.toView(far.rect);
        const QPointF a = reads ? QPointF(to.center().x(), to.bottom()) : QPointF(from.center().x(), from.bottom());
        const QPointF b = reads ? QPointF(from.center().x(), from.top()) : QPointF(to.center().x(), to.top());
        const double bend = std::clamp(std::abs(b.y() - a.y()) / 2, 20.0, 120.0);
        QPainterPath path(a);
        path.cubicTo(a + QPointF(0, bend), b - QPointF(0, bend), b);
        const DeviceId sender = visuals->device(reads ? other : op);
        const DeviceId receiver = visuals->device(reads ? op : other);
        const bool crosses = sender.isValid() && receiver.isValid() && sender != receiver;
        p.setPen(QPen(crosses ? painter->style(sender).stroke : painter->theme().text2, crosses ? 2 : 1, Qt::DashLine));
        p.drawPath(path);
    };
    for (const Edge& edge : g.inEdges(op))
        line(edge.producer, true);
    for (const EdgeId edge : g.outEdges(op))
        line(g.edge(edge).consumer, false);
    p.restore();
}

/// What is seen without its boxes and the heads of its open scopes: a line clipped to it runs behind every name.
QRegion GraphView::Private::betweenBoxes() const {
    constexpr std::size_t kMostBoxes = 1500; // more are so small that they have no names
    const QRectF area(q->rect());
    const QRectF seen = view.toScene(area);
    QRegion region(q->rect());
    std::size_t count = 0;
    for (std::size_t i = 1; i < scene->boxes.size() && lod >= Lod::Middle; ++i) {
        const SceneBox& box = scene->boxes[i];
        if (!box.rect.intersects(seen))
            continue;
        QRectF rect = view.toView(box.rect);
        if (box.isOpen())
            rect.setHeight(scene::kHeader * view.zoom);
        if (++count > kMostBoxes)
            break;
        region -= rect.toAlignedRect();
    }
    return region;
}

// --- overlays --------------------------------------------------------------------------------------------------------

GraphView::Private::OverlayPlaces GraphView::Private::overlay() const {
    OverlayPlaces places;
    const QRectF all(q->rect());
    const QRectF seen = view.toScene(all);
    places.hasMap = scene && q->width() >= 420 && q->height() >= 260 && !seen.contains(scene->bounds);
    double right = all.right() - kEdge;
    if (places.hasMap) {
        places.map = QRectF(QPointF(right - Minimap::kSize.width(), all.bottom() - kEdge - Minimap::kSize.height()),
                            Minimap::kSize);
        right = places.map.left() - kEdge;
    }
    const double top = all.bottom() - kEdge - kBarHeight;
    places.zoomIn = QRectF(right - kBarHeight, top, kBarHeight, kBarHeight);
    places.zoomText = QRectF(places.zoomIn.left() - 48, top, 48, kBarHeight);
    places.zoomOut = QRectF(places.zoomText.left() - kBarHeight, top, kBarHeight, kBarHeight);
    return places;
}

void GraphView::Private::paintOverlay(QPainter& p) {
    const OverlayPlaces places = overlay();
    const Theme& theme = painter->theme();
    if (inBody())
        paintCrumbs(p);
    const Legend legend(*painter, *visuals, scene->tree().node(0).hiddenCount, deviceNames);
    legend.paint(p, QPointF(kEdge, q->height() - kEdge - legend.height()), places.zoomOut.left() - 2 * kEdge);

    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(theme.control, 1));
    p.setBrush(theme.panel);
    p.drawRoundedRect(places.zoomOut.united(places.zoomIn), 4, 4);
    p.setPen(QPen(theme.text, 1.5, Qt::SolidLine, Qt::RoundCap));
    const QPointF out = places.zoomOut.center();
    const QPointF in = places.zoomIn.center();
    p.drawLine(out - QPointF(5, 0), out + QPointF(5, 0));
    p.drawLine(in - QPointF(5, 0), in + QPointF(5, 0));
    p.drawLine(in - QPointF(0, 5), in + QPointF(0, 5));
    p.setFont(painter->smallFont());
    const double percent = view.zoom * 100;
    p.drawText(places.zoomText, Qt::AlignCenter, QString::number(percent, 'f', percent < 9.95 ? 1 : 0) + QStringLiteral(" %"));
    if (places.hasMap)
        minimap.paint(p, *painter, *scene, *visuals, places.map, view.toScene(QRectF(q->rect())), q->devicePixelRatioF());
}

std::vector<GraphView::Private::Crumb> GraphView::Private::crumbs() const {
    std::vector<Crumb> list;
    const QFontMetricsF metrics(painter->boldFont());
    double x = kEdge;
    const auto add = [&](const QString& text, Crumb crumb) {
        crumb.text = metrics.elidedText(text, Qt::ElideMiddle, 160);
        crumb.rect = QRectF(x, 4, metrics.horizontalAdvance(crumb.text) + 8, 22);
        x = crumb.rect.right() + (crumb.isSibling ? 4 : 18);
        list.push_back(crumb);
    };
    add(graph->name().empty() ? QStringLiteral("main") : shortName(graph->name(), 40), {});
    GraphPtr outer = graph;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const Op& op = outer->op(OpId(bodies[i].container));
        Crumb container;
        container.level = i; // the graph that holds the container
        add(shortName(op.name, 40), container);
        const bool last = i + 1 == bodies.size();
        for (std::size_t b = 0; b < op.bodies.size(); ++b) {
            if (!last && b != bodies[i].body)
                continue;
            Crumb crumb;
            crumb.level = i + 1;
            crumb.isCurrent = last && b == bodies[i].body;
            crumb.isSibling = last;
            crumb.sibling = b;
            add(shortName(op.bodies[b].name, 40), crumb);
        }
        outer = bodies[i].graph;
    }
    return list;
}

void GraphView::Private::paintCrumbs(QPainter& p) const {
    const Theme& theme = painter->theme();
    const QRectF bar(0, 0, q->width(), 30);
    p.fillRect(bar, theme.header);
    p.setPen(QPen(theme.line, 1));
    p.drawLine(bar.bottomLeft(), bar.bottomRight());
    const std::vector<Crumb> list = crumbs();
    p.setRenderHint(QPainter::Antialiasing, true);
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Crumb& crumb = list[i];
        if (crumb.isSibling && crumb.isCurrent) {
            p.setPen(QPen(theme.control, 1));
            p.setBrush(theme.panel);
            p.drawRoundedRect(crumb.rect, 3, 3);
        }
        p.setFont(crumb.isCurrent ? painter->boldFont() : painter->normalFont());
        p.setPen(crumb.isCurrent ? theme.text : theme.accent);
        p.drawText(crumb.rect, Qt::AlignCenter, crumb.text);
        if (i + 1 < list.size() && !crumb.isSibling) {
            const QPointF at(crumb.rect.right() + 9, crumb.rect.center().y());
            const QPointF arrow[3] = {at + QPointF(-2, -3.5), at + QPointF(2, 0), at + QPointF(-2, 3.5)};
            p.setPen(QPen(theme.text2, 1.5, Qt::SolidLine, Qt::RoundCap));
            p.drawPolyline(arrow, 3);
        }
    }
}

} // namespace pw::viz
