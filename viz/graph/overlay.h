#pragma once

#include "viz/graph/scene_painter.h"

#include <QStringList>

namespace pw::viz {

/// Strip that explains the colours: ops per device (or phase, or the scale), kinds of lines, what is hidden.
class Legend {
public:
    Legend(ScenePainter& painter, const Visuals& visuals, std::size_t hiddenOps, const QStringList& deviceNames = {});
    double height() const { return 26; }
    double width() const;
    /// At most `maxWidth` wide. Where the devices do not fit, all of them lose their names, then their counts; what still does
    /// not fit is left out from the end.
    QRectF paint(QPainter& painter, const QPointF& topLeft, double maxWidth) const;

private:
    struct Item {
        enum class Kind { Device, Swatch, Hatch, Gradient, Line, Text, Separator };
        Kind kind = Kind::Text;
        QString text;
        DeviceId device;
        QColor color;
        double lineWidth = 1;
        QString count = {}; ///< of a device: the end of its text
    };
    /// What devices are described with, from the longest.
    enum class Words { NameAndCount, Count, None };
    static QString textOf(const Item& item, Words words);
    double widthOf(const Item& item, Words words) const;
    Words wordsWithin(double maxWidth) const;
    void addDevices(const Visuals& visuals, const QStringList& names);
    void addScale(const Visuals& visuals);
    void paintItem(QPainter& painter, const Item& item, const QString& text, const QRectF& place) const;

    ScenePainter& m_painter;
    QFontMetricsF m_metrics;
    std::vector<Item> m_items;
};

/// Overview in the corner: the whole scene at far level, kept as a pixmap, with the part in view outlined.
class Minimap {
public:
    static constexpr QSizeF kSize = QSizeF(168, 104);
    void invalidate() { m_picture = QPixmap(); }
    void paint(QPainter& painter, ScenePainter& scenePainter, const Scene& scene, const Visuals& visuals,
               const QRectF& place, const QRectF& seen, qreal pixelRatio);
    /// Scene point under a point of the map.
    QPointF toScene(const Scene& scene, const QRectF& place, const QPointF& point) const;

private:
    static Viewport viewport(const Scene& scene, const QSizeF& size);
    QPixmap m_picture;
};

} // namespace pw::viz
