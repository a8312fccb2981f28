#pragma once

#include "core/devices/device_set.h"
#include "core/sim/simulator.h"
#include "viz/theme/theme.h"

#include <QFont>
#include <QRectF>
#include <QSizeF>
#include <QString>

#include <vector>

QT_BEGIN_NAMESPACE
class QPainter;
QT_END_NAMESPACE

namespace pw::viz {

/// Everything a picture of memory over time is made from. Pointers outlive the call.
struct MemoryScene {
    const DeviceSet* devices = nullptr;
    const std::vector<std::int64_t>* capacityBytes = nullptr;
    const Schedule* schedule = nullptr;
    const Theme* theme = nullptr;
    QFont font;
    double fromUs = 0.0;
    double toUs = 1.0;
    bool showCapacity = true;
    QRectF plot; ///< all rows, without labels and axis
    double axisHeight = 0.0;
    double rowHeight = 0.0;
    double scroll = 0.0;
    double contentHeight = 0.0;

    std::size_t rowCount() const { return devices->count(); }
    std::int64_t capacityOf(std::size_t device) const;
    std::int64_t peakOf(std::size_t device) const;
    bool isOver(std::size_t device) const { return capacityOf(device) > 0 && peakOf(device) > capacityOf(device); }
    QRectF rowRect(std::size_t device) const; ///< the curve's area
    double xOf(double us) const { return plot.left() + (us - fromUs) / (toUs - fromUs) * plot.width(); }
};

/// Fills in the places of everything from size and font.
void layoutMemory(MemoryScene& scene, const QSizeF& size);
void paintMemory(QPainter& painter, const MemoryScene& scene, const QSizeF& size);
/// "A needs 13.1 of 12.0 GB at 2,180.0 ms"; empty where it fits.
QString overCapacityText(const MemoryScene& scene, std::size_t device);

} // namespace pw::viz
