#pragma once

#include "core/base/ids.h"

#include <QColor>
#include <QString>

QT_BEGIN_NAMESPACE
class QBrush;
class QPainter;
class QPalette;
class QRectF;
QT_END_NAMESPACE

namespace pw::viz {

/// Colour tokens: one accent, neutrals, and the devices. Names and meaning are those of the design tokens: `line` is
/// decoration only, `control` and `edge` have 3:1 on every surface, text colours 4.5:1.
struct Theme {
    enum class Kind { Light, Dark, HighContrast };

    Kind kind = Kind::Light;
    QColor chrome, panel, canvas, frame, frame2, header, hover, lane, track;
    QColor line, control, edge;
    QColor text, text2, muted;
    QColor accent, accentBg, onAccent;
    QColor danger, warning;

    static const Theme& light();
    static const Theme& dark();
    static const Theme& highContrast();
    static const Theme& of(Kind kind);

    bool isDark() const { return kind != Kind::Light; }
    QPalette palette() const;
};

/// How one device looks. `fill`: chips, bars, mix segments; `stroke`: outlines, curves, edges between devices (fills alone
/// are too pale for lines on light surfaces); `tint`: body of an op box, areas under curves.
struct DeviceStyle {
    QColor fill;
    QColor letterColor; ///< on `fill`
    QColor stroke;
    QColor tint;
    int hatch = 0; ///< 0 plain, 1 diagonal, 2 opposite diagonal and double edge
    QString letter;
};
DeviceStyle deviceStyle(DeviceId device, const Theme& theme);

/// A run's curve: colour, dash pattern (in px, empty = solid) and marker, kept for the life of the run.
struct RunStyle {
    QColor color;
    QList<qreal> dash;
    int marker = 0; ///< 0 circle, 1 square, 2 triangle, 3 diamond, 4 filled circle
};
RunStyle runStyle(int index, const Theme& theme);

/// Colour of a place in [0, 1] on the scale from little to much, for costs, bytes and times. The lightness changes in one
/// direction only, so it reads the same with any colour vision and in grey: away from the theme's background.
QColor heatColor(double place, const Theme& theme);
/// Black or white, whichever reads better on `background`: at least 4.5:1 on any colour.
QColor textOn(const QColor& background);
/// WCAG 2 relative luminance in [0, 1] of an opaque colour.
double luminance(const QColor& color);

/// Fills `rect` in the device's colour (with its hatch), outlines it, and writes the letter where it fits.
void paintDeviceChip(QPainter& painter, const QRectF& rect, DeviceId device, const Theme& theme, bool withLetter = true);
/// The brush a bar of this device is filled with: fill or tint, with its hatch.
QBrush deviceBrush(const DeviceStyle& style, bool tinted);

} // namespace pw::viz
