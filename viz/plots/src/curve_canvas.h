#pragma once

#include "viz/plots/curve_data.h"
#include "viz/theme/theme.h"

#include <QFont>
#include <QPaintDevice>
#include <QString>

#include <functional>
#include <limits>
#include <memory>
#include <vector>

QT_BEGIN_NAMESPACE
class QPainter;
class QWidget;
QT_END_NAMESPACE

namespace pw::viz {

/// What a CurveCanvas draws. Values of curves and references are multiplied by `scale`.
struct CanvasContent {
    struct Run {
        const Curve* curve = nullptr;
        RunStyle style;
        int styleIndex = 0;
        bool live = false;
    };
    struct Reference {
        QString name;
        double value = 0.0;
    };

    std::vector<Run> runs; ///< in drawing order; live ones come out on top
    std::vector<Reference> references;
    QString xLabel;
    QString yLabel;
    double scale = 1.0;
    bool logY = false;
    bool smoothed = false; ///< a smoothed line over the raw band, else the raw line alone
    double cursor = std::numeric_limits<double>::quiet_NaN();
};

/// Axes, curves, bands, reference lines and cursor on a QCustomPlot, which no header shows. The content is read at
/// every drawing: change it, then call replot(). GUI thread only.
class CurveCanvas {
public:
    struct Callbacks {
        std::function<void(double x)> hovered; ///< not a number = left
        std::function<void()> rangeChangedByUser;
        std::function<void()> doubleClicked;
        std::function<void()> pressed;
    };

    CurveCanvas(QWidget* parent, const CanvasContent& content, Callbacks callbacks);
    ~CurveCanvas();

    QWidget* widget() const;
    void setTheme(const Theme& theme, const QFont& font);
    /// Axes follow the data at every drawing.
    void setFollow(bool on);
    void replot();
    int replotCount() const;

    /// Draws the plot into (0, 0, width, height) of the device, then lets `more` draw on the same painter.
    void render(QPaintDevice& device, int width, int height, bool vectors,
                const std::function<void(QPainter&)>& more) const;

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace pw::viz
