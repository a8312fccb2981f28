#include "viz/plots/timeline_view.h"

#include "viz/plots/plot_common.h"
#include "viz/plots/timeline_geometry.h"
#include "viz/plots/timeline_painting.h"
#include "viz/plots/timeline_tooltip.h"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPixmap>
#include <QScrollBar>
#include <QTimer>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

constexpr int kTooltipDelayMs = 400;
constexpr double kZoomStep = 1.4;
constexpr double kHitTolerancePx = 3.0;
constexpr int kDragFromPx = 4;
/// Deepest zoom: this share of the step across the view, but never under a picosecond.
constexpr double kMinShare = 1e-8;
constexpr double kMinSpanUs = 1e-6;

struct Hit {
    std::size_t lane = 0;
    std::size_t position = 0;
    OpId op; ///< of a transfer: its producer
    const Transfer* transfer = nullptr;
};

} // namespace

struct TimelineView::Private {
    enum class Drag { None, Pressed, Pan, Span };

    explicit Private(TimelineView* view)
        : q(view) {}

    TimelineView* q;
    GraphPtr graph;
    DeviceSet devices;
    std::shared_ptr<const Schedule> schedule;
    std::vector<bool> moved;
    TimelineModel model;
    Theme theme = Theme::light();
    QString emptyText;
    TimeWindow window;
    double axisEndUs = 0.0;
    bool showLinks = true;
    bool showPath = false;
    QList<quint32> selection;
    qint64 hovered = -1;

    QPixmap picture; ///< everything but the hover outline and the span
    bool pictureValid = false;
    QScrollBar* scrollBar = nullptr;
    QTimer* tooltipTimer = nullptr;
    QPoint tooltipPos;

    Drag drag = Drag::None;
    QPointF pressPos;
    double pressFromUs = 0.0;
    double spanAnchorUs = 0.0;
    std::optional<std::pair<double, double>> spanUs;

    bool hasSchedule() const { return graph && schedule; }
    double fullEndUs() const { return axisEndUs > 0.0 ? axisEndUs : std::max(model.endUs, kMinSpanUs); }

    TimelineScene scene(const QSizeF& size, bool scrolled) const {
        TimelineScene s;
        s.model = &model;
        s.graph = graph.get();
        s.devices = &devices;
        s.schedule = schedule.get();
        s.theme = &theme;
        s.font = q->font();
        s.layout = layoutTimeline(model, *graph, devices, *schedule, size, s.font, showLinks);
        s.layout.scroll = scrolled ? scrollBar->value() : 0.0;
        s.window = window;
        s.window.widthPx = s.layout.plot.width();
        s.showPath = showPath;
        s.compare = !moved.empty();
        return s;
    }
    TimelineScene scene() const { return scene(QSizeF(q->size()), true); }

    void rebuild() {
        model = hasSchedule() ? TimelineModel::build(*graph, devices.count(), *schedule, moved) : TimelineModel();
        updateScrollBar();
        invalidate();
    }

    void invalidate() {
        pictureValid = false;
        q->update();
    }

    void updateScrollBar() {
        if (!hasSchedule()) {
            scrollBar->hide();
            return;
        }
        const TimelineLayout layout =
            layoutTimeline(model, *graph, devices, *schedule, QSizeF(q->size()), q->font(), showLinks);
        const int hidden = static_cast<int>(std::ceil(layout.contentHeight - layout.plot.height()));
        scrollBar->setRange(0, std::max(0, hidden));
        scrollBar->setPageStep(static_cast<int>(layout.plot.height()));
        scrollBar->setSingleStep(24);
        const int width = 10;
        scrollBar->setGeometry(q->width() - width, static_cast<int>(layout.plot.top()), width,
                               static_cast<int>(layout.plot.height()));
        scrollBar->setVisible(hidden > 0);
    }

    void setWindow(double fromUs, double toUs) {
        if (!hasSchedule())
            return;
        const double full = fullEndUs();
        const double span = std::clamp(toUs - fromUs, std::min(full, std::max(full * kMinShare, kMinSpanUs)), full);
        const double from = std::clamp(fromUs, 0.0, full - span);
        if (from == window.fromUs && from + span == window.toUs)
            return;
        window.fromUs = from;
        window.toUs = from + span;
        invalidate();
        Q_EMIT q->rangeChanged(window.fromUs, window.toUs);
    }

    void zoomAt(double x, double factor) {
        const TimelineScene s = scene();
        const double at = s.window.toUsAt(std::clamp(x - s.layout.plot.left(), 0.0, s.window.widthPx));
        const double span = (window.toUs - window.fromUs) / factor;
        const double share = (at - window.fromUs) / (window.toUs - window.fromUs);
        setWindow(at - share * span, at + (1.0 - share) * span);
    }

    void pan(double us) { setWindow(window.fromUs + us, window.toUs + us); }

    std::optional<Hit> hitAt(const QPointF& pos) const {
        if (!hasSchedule())
            return std::nullopt;
        const TimelineScene s = scene();
        const auto laneIndex = s.layout.laneAt(pos.y());
        if (!laneIndex || pos.x() < s.layout.plot.left() - 1 || pos.x() > s.layout.plot.right() + 1)
            return std::nullopt;
        const TimelineLane& lane = model.lanes[*laneIndex];
        const double us = s.window.toUsAt(pos.x() - s.layout.plot.left());
        const auto position = barAt(lane, us, kHitTolerancePx / s.window.pxPerUs());
        if (!position)
            return std::nullopt;
        Hit hit{*laneIndex, *position, {}, nullptr};
        if (lane.kind == TimelineLane::Kind::Sends) {
            hit.transfer = &schedule->transfers[lane.item[*position]];
            hit.op = hit.transfer->producer;
        } else {
            hit.op = OpId(lane.item[*position]);
        }
        return hit;
    }

    void select(const QList<quint32>& ops) {
        if (ops == selection)
            return;
        selection = ops;
        invalidate();
        Q_EMIT q->selectionChanged(selection);
    }

    void click(const QPointF& pos, bool add) {
        const auto hit = hitAt(pos);
        if (!hit) {
            if (!add)
                select({});
            return;
        }
        QList<quint32> ops = add ? selection : QList<quint32>();
        const quint32 op = hit->op.value();
        if (const auto index = ops.indexOf(op); index >= 0)
            ops.removeAt(index);
        else
            ops.push_back(op);
        select(ops);
    }

    QList<quint32> opsWithin(double fromUs, double toUs) const {
        QList<quint32> ops;
        for (const TimelineLane& lane : model.lanes) {
            if (lane.kind != TimelineLane::Kind::Compute)
                continue;
            for (std::size_t i = firstEndingAfter(lane, fromUs); i < lane.size() && lane.startUs[i] < toUs; ++i) {
                if (lane.endUs[i] > fromUs)
                    ops.push_back(lane.item[i]);
            }
        }
        return ops;
    }

    void hover(const QPointF& pos) {
        const auto hit = hitAt(pos);
        const qint64 op = hit ? static_cast<qint64>(hit->op.value()) : -1;
        if (op != hovered) {
            hovered = op;
            q->update();
            Q_EMIT q->hoverChanged(op);
        }
        QToolTip::hideText();
        tooltipPos = pos.toPoint();
        if (hit)
            tooltipTimer->start();
        else
            tooltipTimer->stop();
    }

    void showTooltip() {
        const auto hit = hitAt(tooltipPos);
        if (!hit || !q->isVisible())
            return;
        const QString tip =
            hit->transfer ? transferTip(*graph, devices, *hit->transfer) : opTip(*graph, devices, *schedule, hit->op);
        QToolTip::showText(q->mapToGlobal(tooltipPos), tip, q);
    }

    /// Selects the next or previous bar in the lane of the (last) selected op and brings it into view.
    void walk(int step) {
        if (!hasSchedule())
            return;
        std::size_t lane = 0;
        std::int64_t position = -1;
        if (!selection.isEmpty() && selection.back() < model.laneOfOp.size() && model.laneOfOp[selection.back()] >= 0) {
            lane = static_cast<std::size_t>(model.laneOfOp[selection.back()]);
            const auto& items = model.lanes[lane].item;
            position = std::find(items.begin(), items.end(), selection.back()) - items.begin() + step;
        } else {
            position = 0;
        }
        if (lane >= model.lanes.size() || position < 0 ||
            position >= static_cast<std::int64_t>(model.lanes[lane].size()))
            return;
        const auto index = static_cast<std::size_t>(position);
        select({model.lanes[lane].item[index]});
        const double middle = (model.lanes[lane].startUs[index] + model.lanes[lane].endUs[index]) / 2;
        if (middle < window.fromUs || middle > window.toUs)
            pan(middle - (window.fromUs + window.toUs) / 2);
    }

    void paintSpan(QPainter& painter, const TimelineScene& s) const {
        const double left = s.layout.plot.left() + s.window.toPx(std::min(spanUs->first, spanUs->second));
        const double right = s.layout.plot.left() + s.window.toPx(std::max(spanUs->first, spanUs->second));
        const QRectF band(left, s.layout.plot.top(), right - left, s.layout.plot.height());
        QColor veil = theme.accent;
        veil.setAlphaF(0.16F);
        painter.fillRect(band, veil);
        painter.setPen(QPen(theme.accent, 1));
        painter.drawLine(band.topLeft(), band.bottomLeft());
        painter.drawLine(band.topRight(), band.bottomRight());
        const QFont font = labelFont(boldFont(q->font()));
        const QString text = msText(std::abs(spanUs->second - spanUs->first));
        const double width = QFontMetricsF(font).horizontalAdvance(text) + 12;
        const double x = std::clamp(band.center().x() - width / 2, s.layout.plot.left(),
                                    std::max(s.layout.plot.left(), s.layout.plot.right() - width));
        const QRectF box(x, band.top() + 2, width, QFontMetricsF(font).height() + 4);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(theme.control, 1));
        painter.setBrush(theme.panel);
        painter.drawRoundedRect(box, 3, 3);
        painter.setFont(font);
        painter.setPen(theme.text);
        painter.drawText(box, Qt::AlignCenter, text);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }

    void renderPicture(const TimelineScene& s) {
        const qreal ratio = q->devicePixelRatioF();
        if (picture.size() != q->size() * ratio)
            picture = QPixmap(q->size() * ratio);
        picture.setDevicePixelRatio(ratio);
        QPainter painter(&picture);
        paintTimeline(painter, s, QSizeF(q->size()));
        paintTimelineMarks(painter, s, selection, -1);
        pictureValid = true;
    }
};

TimelineView::TimelineView(QWidget* parent)
    : QWidget(parent)
    , d(std::make_unique<Private>(this)) {
    d->emptyText =
        QStringLiteral("No schedule yet. Place the graph and its simulated step appears here, a lane per device.");
    d->scrollBar = new QScrollBar(Qt::Vertical, this);
    d->scrollBar->hide();
    d->tooltipTimer = new QTimer(this);
    d->tooltipTimer->setSingleShot(true);
    d->tooltipTimer->setInterval(kTooltipDelayMs);
    connect(d->scrollBar, &QScrollBar::valueChanged, this, [this] { d->invalidate(); });
    connect(d->tooltipTimer, &QTimer::timeout, this, [this] { d->showTooltip(); });
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(QStringLiteral("Timeline"));
    setAccessibleDescription(QStringLiteral("Lanes per device over one simulated step"));
}

TimelineView::~TimelineView() = default;

void TimelineView::setSchedule(ProblemPtr problem, std::shared_ptr<const Schedule> schedule) {
    if (problem)
        setSchedule(problem->graphPtr(), problem->devices(), std::move(schedule));
    else
        setSchedule(GraphPtr(), DeviceSet(), nullptr);
}

void TimelineView::setSchedule(GraphPtr graph, DeviceSet devices, std::shared_ptr<const Schedule> schedule) {
    const bool sameGraph = graph && graph == d->graph && d->hasSchedule();
    const bool wasFitted = d->window.fromUs == 0.0 && d->window.toUs >= d->fullEndUs();
    d->graph = std::move(graph);
    d->devices = std::move(devices);
    d->schedule = std::move(schedule);
    d->spanUs.reset();
    if (!sameGraph) {
        d->selection.clear();
        d->moved.clear();
        d->hovered = -1;
    }
    d->rebuild();
    // A new placement of the same graph keeps the place the user looks at.
    if (!sameGraph || wasFitted || d->window.toUs > d->fullEndUs())
        zoomToFit();
}

void TimelineView::setEmptyText(const QString& text) {
    d->emptyText = text;
    update();
}

void TimelineView::setTheme(const Theme& theme) {
    d->theme = theme;
    d->invalidate();
}

void TimelineView::setShowLinks(bool on) {
    d->showLinks = on;
    d->updateScrollBar();
    d->invalidate();
}

void TimelineView::setShowCriticalPath(bool on) {
    d->showPath = on;
    d->invalidate();
}

void TimelineView::setMoved(std::vector<bool> moved) {
    d->moved = std::move(moved);
    d->rebuild();
}

void TimelineView::setAxisEnd(double us) {
    d->axisEndUs = std::isfinite(us) ? std::max(0.0, us) : 0.0;
    zoomToFit();
    d->invalidate();
}

double TimelineView::fromUs() const {
    return d->window.fromUs;
}

double TimelineView::toUs() const {
    return d->window.toUs;
}

QSize TimelineView::sizeHint() const {
    return {900, 216};
}

QSize TimelineView::minimumSizeHint() const {
    return {240, 96};
}

void TimelineView::setSelection(const QList<quint32>& ops) {
    if (ops == d->selection)
        return;
    d->selection = ops;
    d->invalidate();
}

void TimelineView::setHovered(qint64 op) {
    if (op == d->hovered)
        return;
    d->hovered = op;
    update();
}

void TimelineView::zoomToFit() {
    d->setWindow(0.0, d->fullEndUs());
}

void TimelineView::zoomIn() {
    if (d->hasSchedule())
        d->zoomAt(d->scene().layout.plot.center().x(), kZoomStep);
}

void TimelineView::zoomOut() {
    if (d->hasSchedule())
        d->zoomAt(d->scene().layout.plot.center().x(), 1.0 / kZoomStep);
}

void TimelineView::setRange(double fromUs, double toUs) {
    if (toUs > fromUs)
        d->setWindow(fromUs, toUs);
    else
        zoomToFit();
}

QString TimelineView::exportImage(const QString& file) {
    if (!d->hasSchedule())
        return QStringLiteral("there is no schedule to draw");
    const TimelineLayout layout =
        layoutTimeline(d->model, *d->graph, d->devices, *d->schedule, QSizeF(width(), 1e6), font(), d->showLinks);
    const QSize size(width(), static_cast<int>(layout.axisHeight + layout.contentHeight + layout.legendHeight));
    const TimelineScene scene = d->scene(QSizeF(size), false);
    return writePicture(file, size, QStringLiteral("Timeline of ") + QString::fromStdString(d->graph->name()),
                        [&](QPainter& painter) {
                            paintTimeline(painter, scene, QSizeF(size));
                            paintTimelineMarks(painter, scene, d->selection, -1);
                        });
}

bool TimelineView::event(QEvent* event) {
    // Tooltips have their own, shorter delay.
    if (event->type() == QEvent::ToolTip)
        return true;
    return QWidget::event(event);
}

void TimelineView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (!d->hasSchedule()) {
        painter.fillRect(rect(), d->theme.panel);
        paintEmptyText(painter, QRectF(rect()), d->emptyText, d->theme, font());
        return;
    }
    const TimelineScene scene = d->scene();
    if (!d->pictureValid || d->picture.size() != size() * devicePixelRatioF())
        d->renderPicture(scene);
    painter.drawPixmap(0, 0, d->picture);
    if (d->hovered >= 0)
        paintTimelineMarks(painter, scene, {}, d->hovered);
    if (d->spanUs)
        d->paintSpan(painter, scene);
    if (hasFocus()) {
        painter.setPen(QPen(d->theme.accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(0, 0, -1, -1));
    }
}

void TimelineView::resizeEvent(QResizeEvent*) {
    d->updateScrollBar();
    d->invalidate();
}

void TimelineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) {
        d->updateScrollBar();
        d->invalidate();
    }
    QWidget::changeEvent(event);
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    if (!d->hasSchedule())
        return;
    event->accept();
    const TimelineScene scene = d->scene();
    const QPoint delta = event->angleDelta();
    const double spanUs = d->window.toUs - d->window.fromUs;
    if (event->position().x() < scene.layout.plot.left() && d->scrollBar->isVisible())
        d->scrollBar->setValue(d->scrollBar->value() - delta.y() / 3);
    else if (event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(delta.x()) > std::abs(delta.y()))
        d->pan(-(delta.x() != 0 ? delta.x() : delta.y()) / 1200.0 * spanUs);
    else
        d->zoomAt(event->position().x(), std::pow(1.0015, delta.y()));
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (!d->hasSchedule() || event->button() != Qt::LeftButton)
        return;
    d->tooltipTimer->stop();
    d->pressPos = event->position();
    d->pressFromUs = d->window.fromUs;
    d->drag = Private::Drag::Pressed;
    if (event->modifiers().testFlag(Qt::ShiftModifier)) {
        const TimelineScene scene = d->scene();
        d->spanAnchorUs = scene.window.toUsAt(event->position().x() - scene.layout.plot.left());
        d->drag = Private::Drag::Span;
    }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    if (!d->hasSchedule())
        return;
    if (d->drag == Private::Drag::None) {
        d->hover(event->position());
        return;
    }
    const TimelineScene scene = d->scene();
    if (d->drag == Private::Drag::Span) {
        const double x = std::clamp(event->position().x() - scene.layout.plot.left(), 0.0, scene.window.widthPx);
        d->spanUs = std::pair(d->spanAnchorUs, scene.window.toUsAt(x));
        update();
        return;
    }
    const QPointF moved = event->position() - d->pressPos;
    if (d->drag == Private::Drag::Pressed && moved.manhattanLength() >= kDragFromPx) {
        d->drag = Private::Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    }
    if (d->drag == Private::Drag::Pan) {
        const double from = d->pressFromUs - moved.x() / scene.window.pxPerUs();
        d->setWindow(from, from + d->window.toUs - d->window.fromUs);
    }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton)
        return;
    const Private::Drag drag = d->drag;
    d->drag = Private::Drag::None;
    unsetCursor();
    if (!d->hasSchedule())
        return;
    if (drag == Private::Drag::Span && d->spanUs) {
        d->select(
            d->opsWithin(std::min(d->spanUs->first, d->spanUs->second), std::max(d->spanUs->first, d->spanUs->second)));
    } else if (drag == Private::Drag::Pressed || drag == Private::Drag::Span) {
        d->spanUs.reset();
        d->click(event->position(), event->modifiers().testFlag(Qt::ControlModifier));
        update();
    }
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton)
        zoomToFit();
}

void TimelineView::leaveEvent(QEvent*) {
    d->tooltipTimer->stop();
    if (d->hovered < 0)
        return;
    d->hovered = -1;
    update();
    Q_EMIT hoverChanged(-1);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    const double spanUs = d->window.toUs - d->window.fromUs;
    switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_W:
        zoomIn();
        break;
    case Qt::Key_Minus:
    case Qt::Key_S:
        zoomOut();
        break;
    case Qt::Key_Left:
    case Qt::Key_A:
        d->pan(-0.1 * spanUs);
        break;
    case Qt::Key_Right:
    case Qt::Key_D:
        d->pan(0.1 * spanUs);
        break;
    case Qt::Key_Up:
        d->scrollBar->setValue(d->scrollBar->value() - d->scrollBar->singleStep());
        break;
    case Qt::Key_Down:
        d->scrollBar->setValue(d->scrollBar->value() + d->scrollBar->singleStep());
        break;
    case Qt::Key_Home:
    case Qt::Key_F:
    case Qt::Key_0:
        zoomToFit();
        break;
    case Qt::Key_Comma:
        d->walk(-1);
        break;
    case Qt::Key_Period:
        d->walk(1);
        break;
    case Qt::Key_Escape:
        d->spanUs.reset();
        d->select({});
        update();
        break;
    default:
        QWidget::keyPressEvent(event);
        break;
    }
}

} // namespace pw::viz
