#pragma once

#include "viz/theme/figures.h"
#include "viz/theme/theme.h"

#include <QFont>
#include <QSize>
#include <QString>

#include <functional>
#include <vector>

QT_BEGIN_NAMESPACE
class QPainter;
class QRectF;
QT_END_NAMESPACE

namespace pw::viz {

/// Round ticks (1, 2 or 5 times a power of ten) within [from, to], at most `maxCount`.
struct Ticks {
    double step = 1.0;
    int decimals = 0; ///< that tell the ticks apart
    std::vector<double> values;
};
Ticks niceTicks(double from, double to, int maxCount);

/// The smallest of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is not below `value`: live axes grow in
/// such steps instead of with every point.
double niceCeil(double value);

/// Fonts of labels and axes: a pixel under the widget's own, never under 11 px.
QFont labelFont(const QFont& base);
QFont boldFont(const QFont& base);

/// A time axis in ms over `area` (ticks above it, grid lines through it) for [fromUs, toUs]; `endUs` is written in bold
/// at its place with a line, when it is inside. Returns nothing; draws into the strip of height `axisHeight` above
/// `area`.
struct TimeAxis {
    double fromUs = 0.0;
    double toUs = 1.0;
    double endUs = -1.0; ///< negative = no end mark
};
void paintTimeAxis(QPainter& painter, const QRectF& area, double axisHeight, const TimeAxis& axis, const Theme& theme,
                   const QFont& font);

/// A sentence in the middle of an empty view.
void paintEmptyText(QPainter& painter, const QRectF& area, const QString& text, const Theme& theme, const QFont& font);

/// Writes what `paint` draws in a picture of `size` (in device-independent pixels) as PNG (at twice the resolution) or
/// SVG, by the ending of `file`. Empty string on success, else the reason.
QString writePicture(const QString& file, const QSize& size, const QString& title,
                     const std::function<void(QPainter&)>& paint);

} // namespace pw::viz
