#pragma once

#include "viz/graph/visuals.h"

#include <QFont>
#include <QFontMetricsF>
#include <QHash>
#include <QPen>
#include <QPixmap>

#include <map>

QT_BEGIN_NAMESPACE
class QPainter;
class QPainterPath;
QT_END_NAMESPACE

namespace pw::viz {

/// Level of detail, by the height of an op box on screen.
enum class Lod { Far, Middle, Near, Nearest };
/// With 15 % hysteresis around the thresholds, so that nothing flickers while zooming.
Lod lodFor(double zoom, Lod before);

/// A scope narrower or lower than this on screen (px) is one filled rectangle, open or not.
inline constexpr double kBlockSide = 26;

/// Which part of a scene is seen at which size.
struct Viewport {
    QPointF origin;    ///< scene point at the top left corner of the view
    double zoom = 1.0; ///< 1 = 100 %
    QRectF area;       ///< of the view, px

    QPointF toView(const QPointF& p) const { return (p - origin) * zoom; }
    QPointF toScene(const QPointF& p) const { return p / zoom + origin; }
    QRectF toView(const QRectF& r) const { return {toView(r.topLeft()), r.size() * zoom}; }
    QRectF toScene(const QRectF& r) const { return {toScene(r.topLeft()), r.size() / zoom}; }
};

/// Paints a scene: frames, lines, boxes. Scopes outside the view or too small cost nothing. Holds what does not change
/// between frames (device brushes, fonts); make a new one for another theme.
class ScenePainter {
public:
    struct Options {
        bool crossEdges = true;
        bool criticalPath = false;
        bool text = true; ///< off in the minimap
        bool vector = false; ///< no pixmaps: for SVG and large prints
    };

    ScenePainter(const Theme& theme, const QFont& font);

    void paint(QPainter& painter, const Scene& scene, const Visuals& visuals, const Viewport& viewport, Lod lod,
               const Options& options);
    /// Segments by share, with letters where they fit.
    void paintMixBar(QPainter& painter, const QRectF& rect, std::span<const float> mix, bool outlined = true);
    /// 2 px accent outside a 2 px gap.
    void paintRing(QPainter& painter, const QRectF& rect) const;
    /// One line of the scene, in another pen: hover, path.
    void paintLine(QPainter& painter, const Scene& scene, const SceneEdge& edge, const Viewport& viewport,
                   const QPen& pen, bool arrow) const;
    const DeviceStyle& style(DeviceId device);
    const Theme& theme() const { return m_theme; }
    const QFont& smallFont() const { return m_small; }
    const QFont& normalFont() const { return m_normal; }
    const QFont& boldFont() const { return m_bold; }
    QColor phaseColor(Phase phase) const;
    /// The hatch that lies over boxes whose cost is a guess.
    static void paintHatch(QPainter& painter, const QRectF& rect, const QColor& below);

private:
    struct Frame; // what one paint() call carries around

    void paintScope(Frame& f, const SceneScope& scope);
    void paintFrame(Frame& f, const SceneBox& box);
    void paintEdges(Frame& f, const SceneScope& scope);
    void paintThinLine(Frame& f, const SceneEdge& edge) const;
    void paintOneEdge(Frame& f, const SceneEdge& edge, const EdgeLook& look);
    void paintEdgeLabel(Frame& f, const SceneEdge& edge, const EdgeLook& look);
    void paintBox(Frame& f, const SceneBox& box);
    void paintOp(Frame& f, const SceneBox& box, const QRectF& rect);
    void paintOpText(Frame& f, const TreeNode& node, const QRectF& rect, double left);
    void paintClosedScope(Frame& f, const SceneBox& box, const QRectF& rect);
    void paintSpeck(Frame& f, const SceneBox& box, const QRectF& rect);
    bool hasBar(const Visuals& visuals) const;
    /// Devices, phases or steps of the scale, by what the picture is coloured by.
    void paintBar(QPainter& painter, const QRectF& rect, const Visuals& visuals, NodeIndex node, bool outlined = true);
    void paintShadeBar(QPainter& painter, const QRectF& rect, const Visuals& visuals, NodeIndex node, bool outlined);
    QColor shadeColor(const Visuals& visuals, std::size_t shade) const;
    /// `shorter`: px left out at the end, for an arrow head.
    QPainterPath pathOf(const Scene& scene, const SceneEdge& edge, const Viewport& viewport, double shorter) const;
    void drawText(QPainter& painter, const QRectF& rect, int flags, const QString& text, const QFont& font,
                  const QFontMetricsF& metrics, const QColor& color) const;

    struct OpLook {
        QColor body;
        QString letter;
        DeviceId device;
        bool isScale = false; ///< coloured by value, no device chip
        bool unknown = false; ///< its value is a guess: hatched, "?"
        bool near = false;
        bool pale = false;
        bool moved = false;
        bool critical = false;
    };
    void paintOpBody(QPainter& painter, const QRectF& rect, const OpLook& look);
    void paintSprite(QPainter& painter, const QRectF& rect, const OpLook& look);
    static double chipWidth(const QRectF& rect);
    QString elidedTitle(const Op& op, double width);
    OpLook lookOf(const Frame& f, OpId op);
    struct Brushes {
        DeviceStyle style;
        QBrush fill;
        QBrush tint;
    };
    const Brushes& brushes(DeviceId device);

    Theme m_theme;
    QFont m_small;  ///< 11 px
    QFont m_normal; ///< 12 px
    QFont m_bold;   ///< 12 px bold
    QFont m_letter; ///< 11 px bold
    QFont m_tiny;   ///< 10 px bold, letters in narrow segments only
    QFontMetricsF m_smallMetrics;
    QFontMetricsF m_normalMetrics;
    QFontMetricsF m_boldMetrics;
    QFontMetricsF m_letterMetrics;
    std::vector<Brushes> m_brushes;
    std::map<std::uint64_t, QPixmap> m_sprites; ///< by device and state, all of m_spriteSize
    QSizeF m_spriteSize;
    qreal m_spriteRatio = 0;
    QHash<QString, QString> m_titles; ///< elided to m_titleWidth
    double m_titleWidth = -1;
};

} // namespace pw::viz
