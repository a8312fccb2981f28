#include "viz/plots/timeline_painting.h"

#include "viz/plots/plot_common.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>

namespace pw::viz {

namespace {

constexpr double kMargin = 8.0;
constexpr double kChip = 16.0;
constexpr double kOutlineFromPx = 3.0;
constexpr double kLabelSparePx = 8.0;
constexpr qsizetype kMaxRings = 200;

QString busyText(const Schedule& schedule, DeviceId device) {
    return figure(busyPercent(schedule, device), 0) + QStringLiteral(" %");
}

QString sendsText(DeviceId device) {
    return QString::fromStdString(deviceLetter(device)) + QStringLiteral(" sends");
}

double labelColumnWidth(const OpGraph&, const DeviceSet& devices, const Schedule& schedule, const QFont& font) {
    const QFontMetricsF metrics(font);
    const QFontMetricsF small(labelFont(font));
    double name = small.horizontalAdvance(QStringLiteral("AA sends"));
    double busy = small.horizontalAdvance(QStringLiteral("busy"));
    for (std::size_t d = 0; d < devices.count(); ++d) {
        name = std::max(name, metrics.horizontalAdvance(deviceTitle(devices, DeviceId(d))));
        busy = std::max(busy, small.horizontalAdvance(busyText(schedule, DeviceId(d))));
    }
    return std::ceil(kMargin + kChip + 6 + name + 12 + busy + kMargin);
}

/// Rectangles of one colour, drawn in one call: a call per bar is what makes a timeline slow.
struct LaneBatches {
    std::array<QList<QRectF>, 3> bodies; ///< by look
    QList<QRectF> outlines;
};

QRectF barRect(const TimelineScene& scene, const QRectF& lane, double x0, double x1, BarLook look) {
    QRectF rect(scene.layout.plot.left() + x0, lane.top(), std::max(1.0, x1 - x0), lane.height());
    if (look == BarLook::HalfFill)
        rect.setTop(lane.top() + lane.height() / 2);
    return rect;
}

QString barLabel(const TimelineScene& scene, const TimelineLane& lane, const PixelBar& bar) {
    if (lane.kind == TimelineLane::Kind::Sends)
        return bar.group == PixelBar::kMixed ? QString() : QString::fromStdString(deviceLetter(DeviceId(bar.group)));
    if (bar.look == BarLook::HalfFill && !scene.compare)
        return {};
    if (bar.count() == 1)
        return QString::fromStdString(scene.graph->op(OpId(lane.item[bar.first])).type);
    if (bar.group == PixelBar::kMixed || bar.group >= scene.graph->scopeCount())
        return {};
    return QString::fromStdString(scene.graph->scope(ScopeId(bar.group)).name);
}

void paintBarLabels(QPainter& painter, const TimelineScene& scene, const TimelineLane& lane, const QRectF& rect,
                    const std::vector<PixelBar>& bars, const DeviceStyle& style) {
    const bool sends = lane.kind == TimelineLane::Kind::Sends;
    QFont font = labelFont(scene.font);
    if (sends) {
        font.setPixelSize(10);
        font.setBold(true);
    }
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    const double spare = sends ? 2.0 : kLabelSparePx;
    const double minimum = metrics.averageCharWidth() + spare;
    for (const PixelBar& bar : bars) {
        // The label stays in view while a long bar is panned.
        const double left = std::max(bar.x0, 0.0);
        const double right = std::min(bar.x1, scene.window.widthPx);
        if (right - left < minimum)
            continue;
        const QString label = barLabel(scene, lane, bar);
        if (label.isEmpty() || metrics.horizontalAdvance(label) + spare > right - left)
            continue;
        const QRectF box(scene.layout.plot.left() + left, rect.top(), right - left, rect.height());
        if (style.hatch != 0) {
            const double width = metrics.horizontalAdvance(label) + 4;
            painter.fillRect(QRectF(box.center().x() - width / 2, box.top() + 2, width, box.height() - 4),
                             bar.look == BarLook::Tint ? style.tint : style.fill);
        }
        painter.setPen(bar.look == BarLook::Tint ? scene.theme->text : style.letterColor);
        painter.drawText(box, Qt::AlignCenter, label);
    }
}

void paintLane(QPainter& painter, const TimelineScene& scene, const TimelineLane& lane, const QRectF& rect,
               std::vector<PixelBar>& bars) {
    mergeBars(lane, scene.window, bars);
    LaneBatches batches;
    for (const PixelBar& bar : bars) {
        const double x0 = std::max(bar.x0, -4.0);
        const double x1 = std::min(bar.x1, scene.window.widthPx + 4.0);
        const QRectF body = barRect(scene, rect, x0, x1, bar.look);
        batches.bodies[static_cast<std::size_t>(bar.look)].push_back(body);
        if (x1 - x0 >= kOutlineFromPx)
            batches.outlines.push_back(body.adjusted(0, 0.5, 0, -0.5)); // neighbours share the line between them
    }
    const DeviceStyle style = deviceStyle(lane.device, *scene.theme);
    painter.setPen(Qt::NoPen);
    for (const BarLook look : {BarLook::Tint, BarLook::Fill, BarLook::HalfFill}) {
        const QList<QRectF>& rects = batches.bodies[static_cast<std::size_t>(look)];
        painter.setBrush(deviceBrush(style, look == BarLook::Tint));
        painter.drawRects(rects);
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(style.stroke, 1));
    painter.drawRects(batches.outlines);
    paintBarLabels(painter, scene, lane, rect, bars, style);
}

void paintLaneLabel(QPainter& painter, const TimelineScene& scene, const TimelineLane& lane, const QRectF& row) {
    const QRectF column(0, row.top(), scene.layout.plot.left() - kMargin, row.height());
    const QFont small = labelFont(scene.font);
    if (lane.kind == TimelineLane::Kind::Sends) {
        painter.setFont(small);
        painter.setPen(scene.theme->muted);
        painter.drawText(QRectF(kMargin + kChip + 6, row.center().y() - 10, column.right(), 20),
                         Qt::AlignVCenter | Qt::AlignLeft | Qt::TextDontClip, sendsText(lane.device));
        return;
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintDeviceChip(painter,
                    QRectF(kMargin + 0.5, std::round(row.center().y() - kChip / 2) + 0.5, kChip - 1, kChip - 1),
                    lane.device, *scene.theme);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setFont(scene.font);
    painter.setPen(scene.theme->text);
    painter.drawText(column.adjusted(kMargin + kChip + 6, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     deviceTitle(*scene.devices, lane.device));
    painter.setFont(small);
    painter.setPen(scene.theme->muted);
    painter.drawText(column, Qt::AlignVCenter | Qt::AlignRight, busyText(*scene.schedule, lane.device));
}

/// Boxes around the bars of the path, and a line at the moment it goes on in another lane.
void paintCriticalPath(QPainter& painter, const TimelineScene& scene) {
    const double gapUs = 1.0 / scene.window.pxPerUs();
    const bool withSends = std::any_of(scene.layout.rows.begin(), scene.layout.rows.end(), [&](const auto& row) {
        return scene.model->lanes[row.lane].kind == TimelineLane::Kind::Sends;
    });
    painter.setPen(QPen(scene.theme->text, 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.setRenderHint(QPainter::Antialiasing);
    std::optional<QRectF> previous;
    for (const PathBox& box : pathBoxes(*scene.model, *scene.schedule, withSends, gapUs)) {
        const auto lane = scene.layout.laneRect(box.lane);
        if (!lane)
            continue;
        const double x0 = std::clamp(scene.window.toPx(box.startUs), -1e4, 1e5);
        const double x1 = std::clamp(scene.window.toPx(box.endUs), -1e4, 1e5);
        const QRectF rect = barRect(scene, *lane, x0, x1, BarLook::Fill);
        const bool visible = x1 >= -2 && x0 <= scene.window.widthPx + 2;
        if (visible)
            painter.drawRect(rect.adjusted(0.25, 0.25, -0.25, -0.25));
        if (previous && x0 >= -2 && previous->right() <= scene.layout.plot.right() + 2) {
            const bool down = rect.top() > previous->top();
            const double fromY = down ? previous->bottom() : previous->top();
            const double toY = down ? rect.top() : rect.bottom();
            painter.setPen(QPen(scene.theme->text, 1));
            painter.drawLine(QPointF(std::min(previous->right(), rect.left()), fromY), QPointF(rect.left(), toY));
            painter.setPen(QPen(scene.theme->text, 1.5));
        }
        previous = rect;
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

struct LegendEntry {
    QString text;
    BarLook look = BarLook::Tint;
    QColor ring; ///< an empty box of this colour instead of a bar
};

QList<LegendEntry> legendEntries(const TimelineScene& scene) {
    QList<LegendEntry> entries;
    if (scene.compare) {
        entries.push_back({QStringLiteral("moved between the two"), BarLook::Fill, {}});
        entries.push_back({QStringLiteral("same device in both"), BarLook::Tint, {}});
    } else {
        entries.push_back({QStringLiteral("forward"), BarLook::Tint, {}});
        entries.push_back({QStringLiteral("backward"), BarLook::Fill, {}});
        entries.push_back({QStringLiteral("update"), BarLook::HalfFill, {}});
    }
    if (scene.showPath)
        entries.push_back({QStringLiteral("critical path"), BarLook::Fill, scene.theme->text});
    entries.push_back({QStringLiteral("selected"), BarLook::Fill, scene.theme->accent});
    return entries;
}

void paintLegend(QPainter& painter, const TimelineScene& scene, const QSizeF& size) {
    const QFont font = labelFont(scene.font);
    const QFontMetricsF metrics(font);
    const DeviceStyle style = deviceStyle(DeviceId(0), *scene.theme);
    painter.setFont(font);
    double x = scene.layout.plot.left();
    const double middle = std::round(size.height() - scene.layout.legendHeight / 2);
    for (const LegendEntry& entry : legendEntries(scene)) {
        const double textWidth = metrics.horizontalAdvance(entry.text);
        if (x + 24 + textWidth > size.width())
            break;
        QRectF box(x + 0.5, middle - 5.5, 17, 11);
        if (entry.look == BarLook::HalfFill)
            box.setTop(box.center().y());
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(entry.ring.isValid() ? QBrush() : deviceBrush(style, entry.look == BarLook::Tint));
        painter.setPen(QPen(entry.ring.isValid() ? entry.ring : style.stroke, entry.ring.isValid() ? 2 : 1));
        painter.drawRect(box);
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(scene.theme->muted);
        painter.drawText(QPointF(x + 24, middle + metrics.ascent() / 2 - 1), entry.text);
        x += 24 + textWidth + 20;
    }
}

struct Span {
    QRectF rect;
    std::size_t lane = 0;
};

/// Bars of the selected ops in view, neighbours joined, so that a ring stands around what can be told apart.
std::vector<Span> selectionSpans(const TimelineScene& scene, const QList<quint32>& selection) {
    std::vector<Span> spans;
    for (const quint32 op : selection) {
        const auto rect = opRect(scene, OpId(op));
        if (rect && rect->right() >= scene.layout.plot.left() && rect->left() <= scene.layout.plot.right())
            spans.push_back({*rect, static_cast<std::size_t>(scene.model->laneOfOp[op])});
    }
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
        return a.lane != b.lane ? a.lane < b.lane : a.rect.left() < b.rect.left();
    });
    std::vector<Span> joined;
    for (const Span& span : spans) {
        if (!joined.empty() && joined.back().lane == span.lane && span.rect.left() - joined.back().rect.right() < 1.0)
            joined.back().rect.setRight(std::max(joined.back().rect.right(), span.rect.right()));
        else
            joined.push_back(span);
    }
    return joined;
}

} // namespace

std::optional<QRectF> TimelineLayout::laneRect(std::size_t lane) const {
    if (lane >= rowOfLane.size() || rowOfLane[lane] < 0)
        return std::nullopt;
    const Row& row = rows[static_cast<std::size_t>(rowOfLane[lane])];
    return QRectF(plot.left(), plot.top() + row.top - scroll + row.barInset, plot.width(),
                  row.height - 2 * row.barInset);
}

std::optional<std::size_t> TimelineLayout::laneAt(double y) const {
    if (y < plot.top() || y > plot.bottom())
        return std::nullopt;
    for (const Row& row : rows) {
        const double top = plot.top() + row.top - scroll;
        if (y >= top && y < top + row.height)
            return row.lane;
    }
    return std::nullopt;
}

namespace {

constexpr double kMostLaneHeight = 44.0; ///< higher bars say no more

/// Compute lanes share the room that is left below the last row. Returns the height of all rows.
double growLanes(std::vector<TimelineLayout::Row>& rows, const TimelineModel& model, double laneHeight, double height,
                 double room) {
    const auto computes = [&](const TimelineLayout::Row& row) {
        return model.lanes[row.lane].kind == TimelineLane::Kind::Compute;
    };
    const auto lanes = std::count_if(rows.begin(), rows.end(), computes);
    if (lanes == 0 || room <= height)
        return height;
    const double extra = std::floor(std::min((room - height) / static_cast<double>(lanes), kMostLaneHeight - laneHeight));
    if (extra <= 0)
        return height;
    double shift = 0;
    for (TimelineLayout::Row& row : rows) {
        row.top += shift;
        if (!computes(row))
            continue;
        row.height += extra;
        shift += extra;
    }
    return height + shift;
}

} // namespace

TimelineLayout layoutTimeline(const TimelineModel& model, const OpGraph& graph, const DeviceSet& devices,
                              const Schedule& schedule, const QSizeF& size, const QFont& font, bool showLinks) {
    TimelineLayout layout;
    const double textHeight = QFontMetricsF(font).height();
    const double smallHeight = QFontMetricsF(labelFont(font)).height();
    const double laneHeight = std::ceil(std::max(textHeight + 9.0, 24.0));
    const double sendHeight = std::ceil(std::max(smallHeight, 13.0));
    const double left = labelColumnWidth(graph, devices, schedule, font);
    layout.axisHeight = std::ceil(smallHeight + 10.0);
    layout.legendHeight = std::ceil(smallHeight + 10.0);
    layout.rowOfLane.assign(model.lanes.size(), -1);
    double top = 0.0;
    bool sendsBegan = false;
    for (std::size_t i = 0; i < model.lanes.size(); ++i) {
        const bool sends = model.lanes[i].kind == TimelineLane::Kind::Sends;
        if (sends && !showLinks)
            continue;
        if (sends && !sendsBegan)
            top += 4.0;
        sendsBegan = sendsBegan || sends;
        layout.rowOfLane[i] = static_cast<std::int32_t>(layout.rows.size());
        layout.rows.push_back({i, top, sends ? sendHeight : laneHeight, 1.0});
        top += layout.rows.back().height;
    }
    const double room = size.height() - layout.axisHeight - layout.legendHeight;
    top = growLanes(layout.rows, model, laneHeight, top, room);
    layout.contentHeight = top;
    layout.plot =
        QRectF(left, layout.axisHeight, std::max(1.0, size.width() - left - 12.0), std::max(1.0, std::min(top, room)));
    return layout;
}

std::optional<QRectF> opRect(const TimelineScene& scene, OpId op) {
    if (op.index() >= scene.model->laneOfOp.size() || scene.model->laneOfOp[op.index()] < 0)
        return std::nullopt;
    const auto lane = scene.layout.laneRect(static_cast<std::size_t>(scene.model->laneOfOp[op.index()]));
    if (!lane)
        return std::nullopt;
    const double x0 = std::clamp(scene.window.toPx(scene.schedule->startUs[op.index()]), -1e4, 1e5);
    const double x1 = std::clamp(scene.window.toPx(scene.schedule->endUs[op.index()]), -1e4, 1e5);
    return barRect(scene, *lane, x0, x1, BarLook::Fill);
}

void paintTimeline(QPainter& painter, const TimelineScene& scene, const QSizeF& size) {
    const TimelineLayout& layout = scene.layout;
    const Theme& theme = *scene.theme;
    painter.fillRect(QRectF(QPointF(0, 0), size), theme.panel);

    painter.save();
    painter.setClipRect(QRectF(0, layout.plot.top(), size.width(), layout.plot.height()));
    for (const auto& row : layout.rows)
        painter.fillRect(*layout.laneRect(row.lane), theme.lane);
    painter.restore();

    const double endUs = scene.schedule->stepTimeUs;
    paintTimeAxis(painter, layout.plot, layout.axisHeight, {scene.window.fromUs, scene.window.toUs, endUs}, theme,
                  labelFont(scene.font));
    painter.setFont(labelFont(scene.font));
    painter.setPen(theme.muted);
    painter.drawText(QRectF(0, 0, layout.plot.left() - kMargin, layout.axisHeight - 6),
                     Qt::AlignRight | Qt::AlignBottom, QStringLiteral("busy"));

    painter.save();
    painter.setClipRect(QRectF(0, layout.plot.top(), size.width(), layout.plot.height()));
    std::vector<PixelBar> bars;
    for (const auto& row : layout.rows) {
        const QRectF rect = *layout.laneRect(row.lane);
        if (rect.bottom() < layout.plot.top() || rect.top() > layout.plot.bottom())
            continue;
        paintLaneLabel(painter, scene, scene.model->lanes[row.lane], rect);
        painter.save();
        painter.setClipRect(layout.plot, Qt::IntersectClip);
        paintLane(painter, scene, scene.model->lanes[row.lane], rect, bars);
        painter.restore();
    }
    painter.setClipRect(layout.plot.adjusted(0, 0, 2, 0), Qt::IntersectClip);
    if (scene.showPath)
        paintCriticalPath(painter, scene);
    if (endUs >= scene.window.fromUs && endUs <= scene.window.toUs) {
        const double x = layout.plot.left() + scene.window.toPx(endUs);
        painter.setPen(QPen(theme.text, 1.5));
        painter.drawLine(QPointF(x, layout.plot.top()), QPointF(x, layout.plot.bottom()));
    }
    painter.restore();
    paintLegend(painter, scene, size);
}

void paintTimelineMarks(QPainter& painter, const TimelineScene& scene, const QList<quint32>& selection,
                        qint64 hovered) {
    painter.save();
    painter.setClipRect(scene.layout.plot.adjusted(-4, -4, 4, 4));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    const std::vector<Span> spans = selectionSpans(scene, selection);
    if (static_cast<qsizetype>(spans.size()) > kMaxRings) {
        QColor veil = scene.theme->accent;
        veil.setAlphaF(0.35F);
        for (const Span& span : spans)
            painter.fillRect(span.rect, veil);
    } else {
        for (const Span& span : spans) {
            // The gap is in the colour behind, so that the ring is never lost on a bar of a similar colour.
            painter.setPen(QPen(scene.theme->lane, 2));
            painter.drawRoundedRect(span.rect.adjusted(-1, -1, 1, 1), 1, 1);
            painter.setPen(QPen(scene.theme->accent, 2));
            painter.drawRoundedRect(span.rect.adjusted(-3, -3, 3, 3), 3, 3);
        }
    }
    if (hovered >= 0) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(scene.theme->text, 1));
        if (const auto rect = opRect(scene, OpId(static_cast<std::size_t>(hovered))))
            painter.drawRect(rect->adjusted(0, 0, -1, -1));
        for (const Transfer& transfer : scene.schedule->transfers) {
            if (transfer.producer.value() != static_cast<quint32>(hovered) || !transfer.from.isValid() ||
                transfer.from.index() >= scene.model->laneOfSender.size())
                continue;
            const std::int32_t lane = scene.model->laneOfSender[transfer.from.index()];
            const auto rect = lane < 0 ? std::nullopt : scene.layout.laneRect(static_cast<std::size_t>(lane));
            if (rect)
                painter.drawRect(barRect(scene, *rect, scene.window.toPx(transfer.startUs),
                                         scene.window.toPx(transfer.endUs), BarLook::Fill)
                                     .adjusted(0, 0, -1, -1));
        }
    }
    painter.restore();
}

} // namespace pw::viz
