#include "viz/graph/graph_view_private.h"

#include "viz/graph/op_text.h"
#include "viz/theme/figures.h"

#include <QContextMenuEvent>
#include <QCursor>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {
constexpr double kDragFrom = 4; ///< px moved with the button down until it is a drag
constexpr double kPanStep = 60; ///< px per arrow key
} // namespace

std::optional<std::uint32_t> GraphView::Private::boxAt(const QPointF& place) const {
    return scene ? scene->boxAt(view.toScene(place), kBlockSide / view.zoom) : std::nullopt;
}

bool GraphView::Private::onChevron(std::uint32_t box, const QPointF& place) const {
    const SceneBox& b = scene->boxes[box];
    if (scene->node(b).isOp())
        return false;
    const QRectF rect = view.toView(b.rect).intersected(view.area);
    if (rect.height() < 24 || rect.width() < 60)
        return false;
    return QRectF(rect.left(), rect.top(), 20, std::min(24.0, rect.height())).contains(place);
}

// --- mouse -----------------------------------------------------------------------------------------------------------

void GraphView::wheelEvent(QWheelEvent* event) {
    const QPointF pixels = event->pixelDelta().isNull() ? QPointF(event->angleDelta()) / 2 : QPointF(event->pixelDelta());
    if (!d->scene || pixels.isNull()) {
        event->ignore();
        return;
    }
    if ((event->modifiers() & Qt::ShiftModifier) != 0) { // some platforms turn the axis themselves
        const double step = pixels.x() != 0 ? pixels.x() : pixels.y();
        d->setView(d->view.origin - QPointF(step, 0) / d->view.zoom, d->view.zoom);
    } else {
        d->zoomAt(event->position(), std::pow(1.0035, pixels.y() != 0 ? pixels.y() : pixels.x()));
    }
    event->accept();
}

void GraphView::mousePressEvent(QMouseEvent* event) {
    d->tipTimer.stop();
    QToolTip::hideText();
    const QPointF place = event->position();
    if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton)
        return;
    d->pressAt = place;
    d->pressOrigin = d->view.origin;
    d->pressModifiers = event->modifiers();
    d->drag = Private::Drag::None;
    if (event->button() == Qt::LeftButton && d->clickOverlay(place))
        return;
    d->drag = event->button() == Qt::MiddleButton ? Private::Drag::Pan : Private::Drag::Pressed;
}

void GraphView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF place = event->position();
    using Drag = Private::Drag;
    if (d->drag == Drag::Pressed && (place - d->pressAt).manhattanLength() >= kDragFrom)
        d->drag = (d->pressModifiers & Qt::ShiftModifier) != 0 ? Drag::Band : Drag::Pan;
    switch (d->drag) {
    case Drag::Pan:
        setCursor(Qt::ClosedHandCursor);
        d->setView(d->pressOrigin - (place - d->pressAt) / d->view.zoom, d->view.zoom);
        return;
    case Drag::Band:
        d->bandEnd = place;
        update();
        return;
    case Drag::Map: d->clickOverlay(place); return;
    case Drag::Pressed: return;
    case Drag::None: break;
    }
    d->tipAt = event->globalPosition().toPoint();
    d->hover(d->boxAt(place));
}

void GraphView::Private::hover(std::optional<std::uint32_t> box) {
    const NodeIndex node = box ? scene->boxes[*box].node : kNoNode;
    if (node == hoveredNode)
        return;
    hoveredNode = node;
    QToolTip::hideText();
    if (node != kNoNode)
        tipTimer.start();
    else
        tipTimer.stop();
    const bool isOp = node != kNoNode && scene->tree().node(node).isOp();
    const qint64 op = isOp ? static_cast<qint64>(scene->tree().node(node).op.value()) : -1;
    q->update();
    if (op == hovered)
        return;
    hovered = op;
    if (!inBody())
        Q_EMIT q->hoverChanged(op);
}

void GraphView::leaveEvent(QEvent*) {
    d->tipTimer.stop();
    if (d->scene)
        d->hover(std::nullopt);
}

void GraphView::mouseReleaseEvent(QMouseEvent* event) {
    const auto drag = std::exchange(d->drag, Private::Drag::None);
    unsetCursor();
    if (drag == Private::Drag::Pressed)
        d->release(event->position());
    else if (drag == Private::Drag::Band)
        d->finishBand();
}

void GraphView::Private::release(const QPointF& place) {
    if (!scene)
        return;
    const auto box = boxAt(place);
    const bool add = (pressModifiers & Qt::ControlModifier) != 0;
    if (!box) {
        current = kNoNode;
        if (!add)
            select({}, true);
        return q->update();
    }
    if (onChevron(*box, place))
        return toggle(*box, place);
    const SceneBox& b = scene->boxes[*box];
    const bool inFrame = b.isOpen() && view.toView(b.rect).height() >= kBlockSide &&
                         place.y() > view.toView(b.rect).top() + scene::kHeader * view.zoom;
    if (inFrame) { // the ground of an open scope is nothing one selects
        if (!add)
            select({}, true);
        return;
    }
    selectNode(b.node, add);
    q->update();
}

void GraphView::Private::finishBand() {
    const QRectF area = view.toScene(QRectF(pressAt, bandEnd).normalized());
    QList<quint32> ops = (pressModifiers & Qt::ControlModifier) != 0 ? selected : QList<quint32>();
    for (const std::uint32_t box : scene ? scene->leavesIn(area) : std::vector<std::uint32_t>())
        ops += opsOf(scene->boxes[box].node);
    select(std::move(ops), true);
    q->update();
}

void GraphView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !d->scene || d->clickOverlay(event->position()))
        return;
    const auto box = d->boxAt(event->position());
    if (box && !d->onChevron(*box, event->position()))
        d->activate(*box, event->position());
}

/// Opens or closes a scope, or looks into a container op.
void GraphView::Private::activate(std::uint32_t box, std::optional<QPointF> pointer) {
    const TreeNode node = scene->node(scene->boxes[box]);
    if (node.isOp()) {
        if (!scene->tree().graph().op(node.op).bodies.empty())
            enterBody(node.op.value(), 0);
        return;
    }
    toggle(box, pointer);
    if (node.scope.isValid() && !inBody())
        Q_EMIT q->scopeActivated(node.scope.value());
}

bool GraphView::Private::clickOverlay(const QPointF& place) {
    if (!scene)
        return false;
    if (inBody()) {
        for (const Crumb& crumb : crumbs()) {
            if (!crumb.rect.contains(place))
                continue;
            if (crumb.isSibling && !crumb.isCurrent) {
                const quint32 container = bodies.back().container;
                leaveBodies(bodies.size() - 1);
                enterBody(container, crumb.sibling);
            } else if (!crumb.isCurrent) {
                leaveBodies(crumb.level);
            }
            return true;
        }
    }
    const OverlayPlaces places = overlay();
    if (places.hasMap && (places.map.contains(place) || drag == Drag::Map)) {
        drag = Drag::Map;
        const QPointF middle = minimap.toScene(*scene, places.map, place);
        setView(middle - QPointF(q->width(), q->height()) / 2 / view.zoom, view.zoom);
        return true;
    }
    if (places.zoomIn.contains(place))
        q->zoomIn();
    else if (places.zoomOut.contains(place))
        q->zoomOut();
    else if (places.zoomText.contains(place))
        q->resetZoom();
    else
        return false;
    return true;
}

void GraphView::contextMenuEvent(QContextMenuEvent* event) {
    const bool byKey = event->reason() == QContextMenuEvent::Keyboard;
    NodeIndex node = byKey ? d->current : kNoNode;
    if (!byKey) {
        if (const auto box = d->boxAt(event->pos()))
            node = d->scene->boxes[*box].node;
    }
    const bool isOp = node != kNoNode && d->scene->tree().node(node).isOp();
    if (node != kNoNode && !d->inBody()) { // the menu speaks about what is selected
        const QList<quint32> ops = d->opsOf(node);
        const bool inside = std::all_of(ops.begin(), ops.end(), [this](quint32 op) {
            return std::binary_search(d->selected.begin(), d->selected.end(), op);
        });
        if (!inside)
            d->selectNode(node, false);
    }
    const qint64 op = isOp && !d->inBody() ? static_cast<qint64>(d->scene->tree().node(node).op.value()) : -1;
    Q_EMIT contextMenuRequested(event->globalPos(), op);
}

// --- tooltip ---------------------------------------------------------------------------------------------------------

bool GraphView::event(QEvent* event) {
    if (event->type() == QEvent::User || event->type() == QEvent::ToolTip) {
        d->ensureVisuals();
        const QString text = d->tipText();
        if (!text.isEmpty() && underMouse())
            QToolTip::showText(d->tipAt, text, this);
        return true;
    }
    if (event->type() == QEvent::FontChange) {
        d->painter = std::make_unique<ScenePainter>(Theme(d->painter->theme()), font());
        d->minimap.invalidate();
    }
    return QWidget::event(event);
}

QString GraphView::Private::tipText() const {
    if (!scene || hoveredNode == kNoNode)
        return {};
    const TreeNode& node = scene->tree().node(hoveredNode);
    const auto deviceName = [this](std::size_t device) {
        const auto i = static_cast<qsizetype>(device);
        return i < deviceNames.size() && !deviceNames[i].isEmpty() ? deviceNames[i] : painter->style(DeviceId(device)).letter;
    };
    QStringList lines;
    if (node.isOp()) {
        const OpGraph& g = scene->tree().graph();
        const Op& op = g.op(node.op);
        lines << QStringLiteral("<b>%1</b>").arg(shortName(op.name, 200).toHtmlEscaped()) << opTitle(op).toHtmlEscaped();
        const DeviceId at = visuals->device(node.op);
        lines << (at.isValid() ? QStringLiteral("Device: ") + deviceName(at.index()).toHtmlEscaped()
                               : QStringLiteral("Not placed"));
        double bytes = 0;
        for (const TensorId output : g.outputs(node.op))
            bytes += static_cast<double>(g.tensor(output).bytes);
        if (const double time = visuals->timeUs(hoveredNode); time >= 0) {
            lines << QStringLiteral("Time: ") + timeText(time);
            if (const auto source = visuals->costSource(node.op))
                lines.last() += *source == CostSource::Measured  ? QStringLiteral(", cost measured")
                                : *source == CostSource::Formula ? QStringLiteral(", cost by formula")
                                                                 : QStringLiteral(", cost unknown: estimated from bytes");
        }
        if (const Schedule* schedule = visuals->schedule())
            lines << QStringLiteral("Start: %1 (simulated)").arg(timeText(schedule->startUs[node.op.index()]));
        lines << QStringLiteral("Output: ") + bytesText(bytes);
        if (op.paramBytes > 0)
            lines << QStringLiteral("Parameters: ") + bytesText(static_cast<double>(op.paramBytes));
        if (!op.bodies.empty())
            lines << QStringLiteral("Double click looks inside");
    } else {
        const QString path = node.scope.isValid() ? shortName(scene->tree().graph().scopePath(node.scope), 200)
                                                  : shortName(node.label, 200);
        lines << QStringLiteral("<b>%1</b>").arg(path.toHtmlEscaped()) << countText(node.opCount, "op", "ops");
        if (const double time = visuals->timeUs(hoveredNode); time >= 0)
            lines.last() += QStringLiteral(", ") + timeText(time);
        const auto mix = visuals->mix(hoveredNode);
        for (std::size_t i = 0; i < mix.size() && visuals->isPlaced(); ++i) {
            if (mix[i] > 0)
                lines << QStringLiteral("%1: %2 %").arg(i + 1 < mix.size() ? deviceName(i).toHtmlEscaped()
                                                                          : QStringLiteral("not placed"))
                             .arg(100.0 * static_cast<double>(mix[i]), 0, 'f', 1);
        }
        if (node.hiddenCount > 0)
            lines << countText(node.hiddenCount, "variable op hidden", "variable ops hidden");
    }
    return lines.join(QStringLiteral("<br>"));
}

// --- keyboard --------------------------------------------------------------------------------------------------------

void GraphView::keyPressEvent(QKeyEvent* event) {
    if (!d->scene || !d->handleKey(event->key(), event->modifiers()))
        QWidget::keyPressEvent(event);
}

bool GraphView::Private::handleKey(int key, Qt::KeyboardModifiers modifiers) {
    if ((modifiers & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0 && key != Qt::Key_Plus &&
        key != Qt::Key_Minus)
        return false;
    switch (key) {
    case Qt::Key_Plus:
    case Qt::Key_Equal: q->zoomIn(); return true;
    case Qt::Key_Minus: q->zoomOut(); return true;
    case Qt::Key_0: q->resetZoom(); return true;
    case Qt::Key_F:
    case Qt::Key_Home: q->zoomToFit(); return true;
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        if (current != kNoNode && (modifiers & Qt::ShiftModifier) == 0) {
            walk(key);
        } else {
            const double dx = key == Qt::Key_Left ? -kPanStep : key == Qt::Key_Right ? kPanStep : 0;
            const double dy = key == Qt::Key_Up ? -kPanStep : key == Qt::Key_Down ? kPanStep : 0;
            setView(view.origin + QPointF(dx, dy) / view.zoom, view.zoom);
        }
        return true;
    case Qt::Key_Space:
        if (current == kNoNode)
            walk(key); // start at the box nearest to the middle
        else
            selectNode(current, (modifiers & Qt::ShiftModifier) != 0);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (current == kNoNode)
            return false;
        activate(drawnBox(current), std::nullopt);
        return true;
    case Qt::Key_Backspace:
    case Qt::Key_Escape:
        if (inBody())
            leaveBodies(bodies.size() - 1);
        else if (key == Qt::Key_Escape && (!selected.isEmpty() || current != kNoNode)) {
            current = kNoNode;
            select({}, true);
            q->update();
        } else
            return false;
        return true;
    default: return false;
    }
}

/// To the nearest drawn box in a direction; Space: to the one nearest to the middle of the view.
void GraphView::Private::walk(int key) {
    const QPointF from = current != kNoNode ? scene->boxes[drawnBox(current)].rect.center()
                                            : view.toScene(QRectF(q->rect()).center());
    const bool vertical = key == Qt::Key_Up || key == Qt::Key_Down;
    const double sign = key == Qt::Key_Up || key == Qt::Key_Left ? -1 : 1;
    std::optional<std::uint32_t> best;
    double bestCost = 0;
    for (std::uint32_t i = 1; i < scene->boxes.size(); ++i) {
        const SceneBox& box = scene->boxes[i];
        if (box.isOpen() || (current != kNoNode && i == drawnBox(current)) || drawnBox(box.node) != i)
            continue;
        const QPointF to = box.rect.center() - from;
        const double along = sign * (vertical ? to.y() : to.x());
        const double across = std::abs(vertical ? to.x() : to.y());
        if (key != Qt::Key_Space && along <= 1)
            continue;
        const double cost = key == Qt::Key_Space ? std::hypot(to.x(), to.y()) : along + 2 * across;
        if (!best || cost < bestCost) {
            best = i;
            bestCost = cost;
        }
    }
    if (!best)
        return;
    selectNode(scene->boxes[*best].node, false);
    const QRectF safe = QRectF(q->rect()).adjusted(24, 32, -24, -52);
    const QRectF rect = view.toView(scene->boxes[*best].rect);
    if (!safe.contains(rect.center()))
        setView(scene->boxes[*best].rect.center() - safe.center() / view.zoom, view.zoom);
}

void GraphView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}

void GraphView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

} // namespace pw::viz
