#include "viz/plots/memory_painting.h"

#include "viz/plots/memory_geometry.h"
#include "viz/plots/plot_common.h"
#include "viz/theme/icon.h"

#include <QFontMetricsF>
#include <QLineF>
#include <QPainter>
#include <QPainterPath>
#include <QPolygonF>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

constexpr double kMargin = 8.0;
constexpr double kChip = 16.0;
constexpr double kMaxRowHeight = 90.0;
constexpr double kRowGap = 6.0;

double device(const std::vector<double>& values, std::size_t index) {
    return index < values.size() ? values[index] : 0.0;
}

/// What stands beside a row: the peak, with the capacity where there is one.
QString peakText(const MemoryScene& scene, std::size_t index) {
    const auto peak = static_cast<double>(scene.peakOf(index));
    const auto capacity = static_cast<double>(scene.capacityOf(index));
    return capacity > 0 && scene.showCapacity ? bytesOfText(peak, capacity) : bytesText(peak);
}

/// Top of the vertical scale: capacity or peak, whichever is higher, with a little air over a peak beyond capacity.
double scaleTop(const MemoryScene& scene, std::size_t index) {
    const auto peak = static_cast<double>(scene.peakOf(index));
    const auto capacity = scene.showCapacity ? static_cast<double>(scene.capacityOf(index)) : 0.0;
    return std::max({peak > capacity ? peak * 1.08 : capacity, 1.0});
}

struct Curve {
    QPolygonF area;
    QPolygonF line;
    QList<QLineF> extremes; ///< what happens within one column and is over before its end
};

/// The area is bounded by the highest value of each column; the line follows the value at each column's end.
Curve curveOf(const MemoryScene& scene, std::size_t index, const QRectF& row) {
    Curve curve;
    if (index >= scene.schedule->memory.size())
        return curve;
    const auto columns = static_cast<std::size_t>(std::max(1.0, std::round(row.width())));
    const MemoryColumns values = memoryColumns(scene.schedule->memory[index], scene.fromUs, scene.toUs, columns);
    const double perByte = (row.height() - 1) / scaleTop(scene, index);
    const double step = row.width() / static_cast<double>(columns);
    const auto yOf = [&](std::int64_t bytes) { return row.bottom() - static_cast<double>(bytes) * perByte; };
    curve.area.reserve(static_cast<qsizetype>(2 * columns + 2));
    curve.area << row.bottomLeft();
    for (std::size_t c = 0; c < columns; ++c) {
        const double x0 = row.left() + step * static_cast<double>(c);
        const double x1 = x0 + step;
        curve.area << QPointF(x0, yOf(values.maxBytes[c])) << QPointF(x1, yOf(values.maxBytes[c]));
        if (values.minBytes[c] != values.maxBytes[c])
            curve.extremes << QLineF(x0 + step / 2, yOf(values.minBytes[c]), x0 + step / 2, yOf(values.maxBytes[c]));
        curve.line << QPointF(x0, yOf(values.lastBytes[c])) << QPointF(x1, yOf(values.lastBytes[c]));
    }
    curve.area << row.bottomRight();
    return curve;
}

double capacityY(const MemoryScene& scene, std::size_t index, const QRectF& row) {
    return row.bottom() - static_cast<double>(scene.capacityOf(index)) * (row.height() - 1) / scaleTop(scene, index);
}

void paintCurve(QPainter& painter, const MemoryScene& scene, std::size_t index, const QRectF& row) {
    const Theme& theme = *scene.theme;
    const DeviceStyle style = deviceStyle(DeviceId(index), theme);
    const Curve curve = curveOf(scene, index, row);
    painter.save();
    painter.setClipRect(row.adjusted(0, -2, 0, 1), Qt::IntersectClip);
    painter.setPen(Qt::NoPen);
    painter.setBrush(deviceBrush(style, true));
    painter.drawPolygon(curve.area);
    const bool over = scene.isOver(index) && scene.showCapacity;
    if (over) {
        // What is beyond capacity, in the colour of danger and hatched: never by colour alone.
        painter.save();
        painter.setClipRect(
            QRectF(row.left(), row.top() - 2, row.width(), capacityY(scene, index, row) - row.top() + 2),
            Qt::IntersectClip);
        QColor veil = theme.danger;
        veil.setAlphaF(0.35F);
        painter.setBrush(veil);
        painter.drawPolygon(curve.area);
        painter.setBrush(QBrush(theme.danger, Qt::BDiagPattern));
        painter.drawPolygon(curve.area);
        painter.restore();
    }
    painter.setBrush(Qt::NoBrush);
    const auto drawLines = [&](const QColor& color, double width) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(color, 1, Qt::SolidLine, Qt::FlatCap));
        painter.drawLines(curve.extremes);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(color, width, Qt::SolidLine, Qt::FlatCap, Qt::MiterJoin));
        painter.drawPolyline(curve.line);
    };
    drawLines(style.stroke, 1.5);
    if (over) {
        painter.setClipRect(
            QRectF(row.left(), row.top() - 2, row.width(), capacityY(scene, index, row) - row.top() + 2),
            Qt::IntersectClip);
        drawLines(theme.danger, 1.75);
    }
    painter.restore();
}

void paintPeak(QPainter& painter, const MemoryScene& scene, std::size_t index, const QRectF& row) {
    const double atUs = device(scene.schedule->peakAtUs, index);
    if (scene.peakOf(index) <= 0 || atUs < scene.fromUs || atUs > scene.toUs)
        return;
    const double y =
        row.bottom() - static_cast<double>(scene.peakOf(index)) * (row.height() - 1) / scaleTop(scene, index);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(scene.isOver(index) ? scene.theme->danger : scene.theme->text, 1.5));
    painter.setBrush(scene.theme->panel);
    painter.drawEllipse(QPointF(scene.xOf(atUs), y), 3, 3);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void paintScale(QPainter& painter, const MemoryScene& scene, std::size_t index, const QRectF& row, double right) {
    const Theme& theme = *scene.theme;
    const QFontMetricsF metrics(labelFont(scene.font));
    painter.setFont(labelFont(scene.font));
    painter.setPen(QPen(theme.control, 1));
    painter.drawLine(QPointF(row.left(), row.bottom()), QPointF(row.right(), row.bottom()));
    painter.setPen(theme.muted);
    const QRectF column(row.right() + 4, 0, right - row.right() - 4, metrics.height());
    painter.drawText(column.translated(0, row.bottom() - metrics.height() + 3), Qt::AlignRight | Qt::AlignVCenter,
                     QStringLiteral("0"));
    const auto capacity = static_cast<double>(scene.capacityOf(index));
    if (capacity <= 0 || !scene.showCapacity)
        return;
    const double y = std::round(capacityY(scene, index, row)) + 0.5;
    QPen dash(theme.text2, 1.0);
    dash.setDashPattern({4, 3});
    painter.setPen(dash);
    painter.drawLine(QPointF(row.left(), y), QPointF(row.right(), y));
    if (row.bottom() - y < 2 * metrics.height() - 4)
        return; // both figures would touch
    painter.setPen(theme.muted);
    painter.drawText(column.translated(0, y - metrics.height() / 2 + 2), Qt::AlignRight | Qt::AlignVCenter,
                     figure(capacity / 1e9, 1) + QStringLiteral(" GB"));
}

void paintRowLabel(QPainter& painter, const MemoryScene& scene, std::size_t index, const QRectF& row) {
    const Theme& theme = *scene.theme;
    const double right = scene.plot.left() - kMargin;
    const double textHeight = QFontMetricsF(scene.font).height();
    const double smallHeight = QFontMetricsF(labelFont(scene.font)).height();
    const bool over = scene.isOver(index);
    const bool twoLines = over && row.height() >= textHeight + smallHeight;
    const double top = row.center().y() - (twoLines ? textHeight + smallHeight : textHeight) / 2;
    const QRectF line(kMargin, top, right - kMargin, textHeight);
    painter.setRenderHint(QPainter::Antialiasing);
    paintDeviceChip(painter,
                    QRectF(kMargin + 0.5, std::round(line.center().y() - kChip / 2) + 0.5, kChip - 1, kChip - 1),
                    DeviceId(index), theme);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setFont(scene.font);
    painter.setPen(theme.text);
    painter.drawText(line.adjusted(kChip + 6, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     deviceTitle(*scene.devices, DeviceId(index)));
    painter.setPen(over ? theme.danger : theme.text);
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, peakText(scene, index));
    if (!twoLines)
        return;
    const auto excess = static_cast<double>(scene.peakOf(index) - scene.capacityOf(index));
    const QString words =
        QStringLiteral("%1 over at %2").arg(bytesText(excess), msText(device(scene.schedule->peakAtUs, index)));
    const QRectF second(kMargin, top + textHeight, right - kMargin, smallHeight);
    painter.setFont(labelFont(scene.font));
    const double width = QFontMetricsF(labelFont(scene.font)).horizontalAdvance(words);
    painter.drawText(second, Qt::AlignVCenter | Qt::AlignRight, words);
    paintIcon(painter, QRectF(std::max(kMargin, second.right() - width - 18), second.center().y() - 7, 14, 14),
              QStringLiteral("warning"), theme.danger);
}

} // namespace

std::int64_t MemoryScene::capacityOf(std::size_t index) const {
    return index < capacityBytes->size() ? (*capacityBytes)[index] : 0;
}

std::int64_t MemoryScene::peakOf(std::size_t index) const {
    return index < schedule->peakBytes.size() ? schedule->peakBytes[index] : 0;
}

QRectF MemoryScene::rowRect(std::size_t index) const {
    return QRectF(plot.left(), plot.top() + rowHeight * static_cast<double>(index) + kRowGap - scroll, plot.width(),
                  rowHeight - kRowGap);
}

void layoutMemory(MemoryScene& scene, const QSizeF& size) {
    const QFontMetricsF metrics(scene.font);
    const QFontMetricsF small(labelFont(scene.font));
    double name = 0.0;
    double peak = small.horizontalAdvance(QStringLiteral("peak"));
    double scale = small.horizontalAdvance(QStringLiteral("0"));
    double second = 0.0;
    for (std::size_t i = 0; i < scene.rowCount(); ++i) {
        name = std::max(name, metrics.horizontalAdvance(deviceTitle(*scene.devices, DeviceId(i))));
        peak = std::max(peak, metrics.horizontalAdvance(peakText(scene, i)));
        if (scene.isOver(i))
            second = std::max(second, 20 + small.horizontalAdvance(QStringLiteral("000.00 GB over at 00,000.0 ms")));
        if (scene.showCapacity && scene.capacityOf(i) > 0)
            scale = std::max(scale, small.horizontalAdvance(figure(static_cast<double>(scene.capacityOf(i)) / 1e9, 1) +
                                                            QStringLiteral(" GB")));
    }
    const double labels = std::max(kChip + 6 + name + 12 + peak, second);
    const double left = std::ceil(kMargin + labels + kMargin);
    const double right = std::ceil(scale + 4 + kMargin);
    scene.axisHeight = std::ceil(small.height() + 10);
    const double bottom = 8.0;
    const double room = std::max(1.0, size.height() - scene.axisHeight - bottom);
    const double least = std::ceil(metrics.height() + small.height() + kRowGap);
    const auto rows = static_cast<double>(std::max<std::size_t>(1, scene.rowCount()));
    scene.rowHeight = std::floor(std::clamp(room / rows, least, kMaxRowHeight));
    scene.contentHeight = scene.rowHeight * rows;
    scene.plot =
        QRectF(left, scene.axisHeight, std::max(1.0, size.width() - left - right), std::min(room, scene.contentHeight));
}

void paintMemory(QPainter& painter, const MemoryScene& scene, const QSizeF& size) {
    const Theme& theme = *scene.theme;
    painter.fillRect(QRectF(QPointF(0, 0), size), theme.panel);
    painter.setFont(labelFont(scene.font));
    painter.setPen(theme.muted);
    painter.drawText(QRectF(0, 0, scene.plot.left() - kMargin, scene.axisHeight - 6), Qt::AlignRight | Qt::AlignBottom,
                     QStringLiteral("peak"));
    painter.save();
    painter.setClipRect(QRectF(0, scene.plot.top(), size.width(), scene.plot.height() + 4));
    for (std::size_t i = 0; i < scene.rowCount(); ++i)
        painter.fillRect(scene.rowRect(i), theme.lane);
    painter.restore();
    paintTimeAxis(painter, scene.plot, scene.axisHeight, {scene.fromUs, scene.toUs, -1.0}, theme,
                  labelFont(scene.font));

    painter.save();
    painter.setClipRect(QRectF(0, scene.plot.top(), size.width(), scene.plot.height() + 4));
    for (std::size_t i = 0; i < scene.rowCount(); ++i) {
        const QRectF row = scene.rowRect(i);
        if (row.bottom() < scene.plot.top() || row.top() > scene.plot.bottom())
            continue;
        paintRowLabel(painter, scene, i, row);
        paintCurve(painter, scene, i, row);
        paintScale(painter, scene, i, row, size.width() - kMargin);
        paintPeak(painter, scene, i, row);
    }
    painter.restore();
}

QString overCapacityText(const MemoryScene& scene, std::size_t index) {
    if (!scene.isOver(index))
        return {};
    return QStringLiteral("%1 needs %2 at %3")
        .arg(QString::fromStdString(deviceLetter(DeviceId(index))),
             bytesOfText(static_cast<double>(scene.peakOf(index)), static_cast<double>(scene.capacityOf(index))),
             msText(device(scene.schedule->peakAtUs, index)));
}

} // namespace pw::viz
