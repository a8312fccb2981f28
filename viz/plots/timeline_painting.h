#pragma once

#include "core/devices/device_set.h"
#include "viz/plots/timeline_geometry.h"
#include "viz/theme/theme.h"

#include <QFont>
#include <QList>
#include <QRectF>

#include <optional>

QT_BEGIN_NAMESPACE
class QPainter;
QT_END_NAMESPACE

namespace pw::viz {

/// Where the parts of a timeline are. All sizes come from the font.
struct TimelineLayout {
    struct Row {
        std::size_t lane = 0;
        double top = 0.0; ///< from the top of the first row
        double height = 0.0;
        double barInset = 1.0;
    };

    QRectF plot; ///< lanes, without axis, labels and legend; the visible part when rows are scrolled
    double axisHeight = 0.0;
    double legendHeight = 0.0;
    double contentHeight = 0.0; ///< of all rows
    double scroll = 0.0;        ///< rows are moved up by this
    std::vector<Row> rows;
    std::vector<std::int32_t> rowOfLane; ///< -1 = not shown

    /// Of a row on screen, or nothing where the lane is not shown.
    std::optional<QRectF> laneRect(std::size_t lane) const;
    std::optional<std::size_t> laneAt(double y) const;
};

/// Everything a picture of a timeline is made from. Pointers outlive the call.
struct TimelineScene {
    const TimelineModel* model = nullptr;
    const OpGraph* graph = nullptr;
    const DeviceSet* devices = nullptr;
    const Schedule* schedule = nullptr;
    const Theme* theme = nullptr;
    QFont font;
    TimeWindow window;
    TimelineLayout layout;
    bool showPath = false;
    bool compare = false; ///< looks mean moved or not
};

/// Layout for a picture of `size`; fills everything except `scroll`.
TimelineLayout layoutTimeline(const TimelineModel& model, const OpGraph& graph, const DeviceSet& devices,
                              const Schedule& schedule, const QSizeF& size, const QFont& font, bool showLinks);

/// The bar of an op on screen; nothing when it has none or its lane is hidden.
std::optional<QRectF> opRect(const TimelineScene& scene, OpId op);

/// Axis, lanes, bars, critical path, labels, legend: what changes only with range, size, data or theme.
void paintTimeline(QPainter& painter, const TimelineScene& scene, const QSizeF& size);

/// Selection rings, hover outline: what changes with the pointer.
void paintTimelineMarks(QPainter& painter, const TimelineScene& scene, const QList<quint32>& selection, qint64 hovered);

} // namespace pw::viz
