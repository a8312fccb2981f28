#include "viz/plots/memory_view.h"

#include "viz/plots/memory_geometry.h"
#include "viz/plots/memory_painting.h"
#include "viz/plots/plot_common.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPixmap>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <optional>

namespace pw::viz {

struct MemoryView::Private {
    explicit Private(MemoryView* view)
        : q(view) {}

    MemoryView* q;
    DeviceSet devices;
    std::vector<std::int64_t> capacityBytes;
    std::shared_ptr<const Schedule> schedule;
    Theme theme = Theme::light();
    QString emptyText;
    bool showCapacity = true;
    double fromUs = 0.0;
    double toUs = 0.0; ///< 0 = whole step
    qint64 hovered = -1;
    QPointF cursor = QPointF(-1, -1);
    QPixmap picture;
    bool pictureValid = false;
    QScrollBar* scrollBar = nullptr;

    bool isEmpty() const { return !schedule || devices.count() == 0; }

    double endUs() const {
        double end = std::isfinite(schedule->stepTimeUs) ? schedule->stepTimeUs : 0.0;
        for (const auto& points : schedule->memory) {
            if (!points.empty())
                end = std::max(end, points.back().atUs);
        }
        return end > 0.0 ? end : 1.0;
    }

    MemoryScene scene(const QSizeF& size, bool scrolled) const {
        MemoryScene s;
        s.devices = &devices;
        s.capacityBytes = &capacityBytes;
        s.schedule = schedule.get();
        s.theme = &theme;
        s.font = q->font();
        s.showCapacity = showCapacity;
        s.fromUs = toUs > fromUs ? fromUs : 0.0;
        s.toUs = toUs > fromUs ? toUs : endUs();
        layoutMemory(s, size);
        s.scroll = scrolled ? scrollBar->value() : 0.0;
        return s;
    }
    MemoryScene scene() const { return scene(QSizeF(q->size()), true); }

    void invalidate() {
        pictureValid = false;
        q->update();
    }

    void updateScrollBar() {
        if (isEmpty()) {
            scrollBar->hide();
            return;
        }
        const MemoryScene s = scene();
        const int hidden = static_cast<int>(std::ceil(s.contentHeight - s.plot.height()));
        scrollBar->setRange(0, std::max(0, hidden));
        scrollBar->setPageStep(static_cast<int>(s.plot.height()));
        scrollBar->setSingleStep(static_cast<int>(s.rowHeight));
        scrollBar->setGeometry(q->width() - 8, static_cast<int>(s.plot.top()), 8, static_cast<int>(s.plot.height()));
        scrollBar->setVisible(hidden > 0);
    }

    std::optional<std::size_t> rowAt(const MemoryScene& s, double y) const {
        for (std::size_t i = 0; i < s.rowCount(); ++i) {
            if (y >= s.rowRect(i).top() && y <= s.rowRect(i).bottom())
                return i;
        }
        return std::nullopt;
    }

    QString tipAt(const QPointF& pos) const {
        if (isEmpty())
            return {};
        const MemoryScene s = scene();
        const auto row = rowAt(s, pos.y());
        if (!row)
            return {};
        QString tip;
        if (pos.x() >= s.plot.left() && pos.x() <= s.plot.right() && *row < schedule->memory.size()) {
            const double us = s.fromUs + (pos.x() - s.plot.left()) / s.plot.width() * (s.toUs - s.fromUs);
            tip = QStringLiteral("%1, %2 at %3\n")
                      .arg(deviceTitle(devices, DeviceId(*row)),
                           bytesText(static_cast<double>(bytesAt(schedule->memory[*row], us))), msText(us));
        }
        const double peakAt = *row < schedule->peakAtUs.size() ? schedule->peakAtUs[*row] : 0.0;
        const QString over = overCapacityText(s, *row);
        return tip + (over.isEmpty() ? QStringLiteral("peak %1 at %2")
                                           .arg(bytesText(static_cast<double>(s.peakOf(*row))), msText(peakAt))
                                     : over);
    }

    void paintHover(QPainter& painter, const MemoryScene& s) const {
        const auto op = static_cast<std::size_t>(hovered);
        painter.setClipRect(s.plot);
        if (hovered >= 0 && op < schedule->startUs.size() && op < schedule->endUs.size()) {
            const double x0 = s.xOf(schedule->startUs[op]);
            const double x1 = std::max(s.xOf(schedule->endUs[op]), x0 + 1);
            QColor veil = theme.text;
            veil.setAlphaF(0.15F);
            painter.fillRect(QRectF(x0, s.plot.top(), x1 - x0, s.plot.height()), veil);
            painter.setPen(QPen(theme.text, 1));
            painter.drawLine(QPointF(x0, s.plot.top()), QPointF(x0, s.plot.bottom()));
        }
        if (s.plot.contains(cursor)) {
            painter.setPen(QPen(theme.control, 1));
            painter.drawLine(QPointF(cursor.x(), s.plot.top()), QPointF(cursor.x(), s.plot.bottom()));
        }
    }
};

MemoryView::MemoryView(QWidget* parent)
    : QWidget(parent)
    , d(std::make_unique<Private>(this)) {
    d->emptyText =
        QStringLiteral("No schedule yet. Place the graph and the memory of each device over one step appears here.");
    d->scrollBar = new QScrollBar(Qt::Vertical, this);
    d->scrollBar->hide();
    connect(d->scrollBar, &QScrollBar::valueChanged, this, [this] { d->invalidate(); });
    setMouseTracking(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(QStringLiteral("Memory"));
    setAccessibleDescription(QStringLiteral("Memory of each device over one simulated step"));
}

MemoryView::~MemoryView() = default;

void MemoryView::setSchedule(ProblemPtr problem, std::shared_ptr<const Schedule> schedule) {
    if (!problem) {
        setSchedule(DeviceSet(), {}, nullptr);
        return;
    }
    std::vector<std::int64_t> capacities;
    for (std::size_t i = 0; i < problem->deviceCount(); ++i)
        capacities.push_back(problem->capacityBytes(DeviceId(i)));
    setSchedule(problem->devices(), std::move(capacities), std::move(schedule));
}

void MemoryView::setSchedule(DeviceSet devices, std::vector<std::int64_t> capacityBytes,
                             std::shared_ptr<const Schedule> schedule) {
    d->devices = std::move(devices);
    d->capacityBytes = std::move(capacityBytes);
    d->schedule = std::move(schedule);
    d->updateScrollBar();
    d->invalidate();
}

void MemoryView::setEmptyText(const QString& text) {
    d->emptyText = text;
    update();
}

void MemoryView::setTheme(const Theme& theme) {
    d->theme = theme;
    d->invalidate();
}

void MemoryView::setShowCapacity(bool on) {
    d->showCapacity = on;
    d->invalidate();
}

QSize MemoryView::sizeHint() const {
    return {540, 216};
}

QSize MemoryView::minimumSizeHint() const {
    return {220, 96};
}

void MemoryView::setHovered(qint64 op) {
    if (op == d->hovered)
        return;
    d->hovered = op;
    update();
}

void MemoryView::setRange(double fromUs, double toUs) {
    if (!std::isfinite(fromUs) || !std::isfinite(toUs) || (fromUs == d->fromUs && toUs == d->toUs))
        return;
    d->fromUs = fromUs;
    d->toUs = toUs;
    d->invalidate();
}

QString MemoryView::exportImage(const QString& file) {
    if (d->isEmpty())
        return QStringLiteral("there is no schedule to draw");
    MemoryScene scene = d->scene(QSizeF(size()), false);
    const QSize full(width(), static_cast<int>(std::max<double>(height(), scene.axisHeight + scene.contentHeight + 8)));
    scene = d->scene(QSizeF(full), false);
    return writePicture(file, full, QStringLiteral("Memory over one step"),
                        [&](QPainter& painter) { paintMemory(painter, scene, QSizeF(full)); });
}

bool MemoryView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = d->tipAt(QPointF(help->pos()));
    if (tip.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), tip, this);
    return true;
}

void MemoryView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (d->isEmpty()) {
        painter.fillRect(rect(), d->theme.panel);
        paintEmptyText(painter, QRectF(rect()), d->emptyText, d->theme, font());
        return;
    }
    const MemoryScene scene = d->scene();
    const qreal ratio = devicePixelRatioF();
    if (!d->pictureValid || d->picture.size() != size() * ratio) {
        if (d->picture.size() != size() * ratio)
            d->picture = QPixmap(size() * ratio);
        d->picture.setDevicePixelRatio(ratio);
        QPainter inner(&d->picture);
        paintMemory(inner, scene, QSizeF(size()));
        d->pictureValid = true;
    }
    painter.drawPixmap(0, 0, d->picture);
    d->paintHover(painter, scene);
}

void MemoryView::resizeEvent(QResizeEvent*) {
    d->updateScrollBar();
    d->invalidate();
}

void MemoryView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) {
        d->updateScrollBar();
        d->invalidate();
    }
    QWidget::changeEvent(event);
}

void MemoryView::wheelEvent(QWheelEvent* event) {
    if (d->scrollBar->isVisible())
        d->scrollBar->setValue(d->scrollBar->value() - event->angleDelta().y() / 3);
}

void MemoryView::mouseMoveEvent(QMouseEvent* event) {
    d->cursor = event->position();
    update();
}

void MemoryView::leaveEvent(QEvent*) {
    d->cursor = QPointF(-1, -1);
    update();
}

} // namespace pw::viz
