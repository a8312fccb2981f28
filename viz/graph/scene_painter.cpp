#include "viz/graph/scene_painter_frame.h"

#include "viz/graph/op_text.h"
#include "viz/theme/figures.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

constexpr double kMiddleFrom = 6;   ///< px, height of an op box
constexpr double kNearFrom = 17.5;
constexpr double kNearestFrom = 32;
constexpr double kHysteresis = 0.075; ///< to both sides: 15 % in all

QColor blend(const QColor& a, const QColor& b, double share) {
    const auto mix = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

QFont sized(QFont font, int px, bool bold) {
    font.setPixelSize(px);
    font.setBold(bold);
    return font;
}

/// 1.5 px from 10 kB, 6 px from 1 GB, by powers of ten between.
double bundleWidth(double bytes) {
    const double decades = bytes > 1 ? std::log10(bytes) : 0;
    return 1.5 + 4.5 * std::clamp((decades - 4) / 5, 0.0, 1.0);
}

/// Corners of a polyline rounded by at most `radius`.
QPainterPath roundedPolyline(const std::vector<QPointF>& points, double radius) {
    QPainterPath path(points.front());
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
        const QPointF in = points[i - 1] - points[i];
        const QPointF out = points[i + 1] - points[i];
        const double inLength = std::hypot(in.x(), in.y());
        const double outLength = std::hypot(out.x(), out.y());
        const double r = std::min({radius, inLength / 2, outLength / 2});
        if (r < 0.5) {
            path.lineTo(points[i]);
            continue;
        }
        path.lineTo(points[i] + in * (r / inLength));
        path.quadTo(points[i], points[i] + out * (r / outLength));
    }
    path.lineTo(points.back());
    return path;
}

void paintArrow(QPainter& painter, const QPointF& tip, QPointF direction, double size, double lineWidth,
                const QColor& color) {
    const double length = std::hypot(direction.x(), direction.y());
    if (length < 1e-6)
        return;
    direction /= length;
    const QPointF side(-direction.y(), direction.x());
    const QPointF back = tip - direction * size;
    const double half = std::max(size * 0.5, lineWidth / 2 + 2);
    const QPointF head[3] = {tip, back + side * half, back - side * half};
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(head, 3);
}

} // namespace

Lod lodFor(double zoom, Lod before) {
    const double height = scene::kOpHeight * zoom;
    const auto above = [&](double threshold, Lod level) {
        return height >= threshold * (before >= level ? 1 - kHysteresis : 1 + kHysteresis);
    };
    if (above(kNearestFrom, Lod::Nearest))
        return Lod::Nearest;
    if (above(kNearFrom, Lod::Near))
        return Lod::Near;
    return above(kMiddleFrom, Lod::Middle) ? Lod::Middle : Lod::Far;
}

ScenePainter::ScenePainter(const Theme& theme, const QFont& font)
    : m_theme(theme)
    , m_small(sized(font, 11, false))
    , m_normal(sized(font, 12, false))
    , m_bold(sized(font, 12, true))
    , m_letter(sized(font, 11, true))
    , m_tiny(sized(font, 10, true))
    , m_smallMetrics(m_small)
    , m_normalMetrics(m_normal)
    , m_boldMetrics(m_bold)
    , m_letterMetrics(m_letter) {}

const ScenePainter::Brushes& ScenePainter::brushes(DeviceId device) {
    while (m_brushes.size() <= device.index()) {
        const DeviceStyle style = deviceStyle(DeviceId(m_brushes.size()), m_theme);
        m_brushes.push_back({style, deviceBrush(style, false), deviceBrush(style, true)});
    }
    return m_brushes[device.index()];
}

const DeviceStyle& ScenePainter::style(DeviceId device) {
    return brushes(device).style;
}

QColor ScenePainter::phaseColor(Phase phase) const {
    static constexpr double kShade[] = {0.04, 0.22, 0.40, 0.12};
    return blend(m_theme.panel, m_theme.text, kShade[static_cast<std::size_t>(phase)]);
}

void ScenePainter::paint(QPainter& painter, const Scene& scene, const Visuals& visuals, const Viewport& viewport,
                         Lod lod, const Options& options) {
    Frame f{painter, scene, visuals, viewport, lod, options, viewport.toScene(viewport.area),
            std::vector<bool>(scene.scopes.size(), false)};
    for (std::size_t i = 0; i < scene.scopes.size(); ++i) {
        const SceneBox& box = scene.boxes[scene.scopes[i].box];
        const std::uint32_t outer = scene.boxes[box.parent].open;
        if (i > 0) {
            const QSizeF size = box.rect.size() * viewport.zoom;
            f.blocked[i] = f.blocked[outer] || !box.rect.intersects(f.seen) ||
                           std::min(size.width(), size.height()) < kBlockSide;
        }
        if (!f.blocked[i])
            paintScope(f, scene.scopes[i]);
    }
}

void ScenePainter::paintScope(Frame& f, const SceneScope& scope) {
    if (scope.box != 0)
        paintFrame(f, f.scene.boxes[scope.box]);
    paintEdges(f, scope);
    for (std::uint32_t i = scope.firstBox; i < scope.firstBox + scope.boxCount; ++i) {
        const SceneBox& box = f.scene.boxes[i];
        if (box.rect.intersects(f.seen))
            paintBox(f, box);
    }
}

void ScenePainter::drawText(QPainter& painter, const QRectF& rect, int flags, const QString& text, const QFont& font,
                            const QFontMetricsF& metrics, const QColor& color) const {
    if (rect.width() < 8)
        return;
    painter.setFont(font);
    painter.setPen(color);
    const QString shown = metrics.horizontalAdvance(text) <= rect.width()
                              ? text
                              : metrics.elidedText(text, Qt::ElideRight, rect.width());
    painter.drawText(rect, flags | Qt::TextSingleLine, shown);
}

// --- lines -----------------------------------------------------------------------------------------------------------

QPainterPath ScenePainter::pathOf(const Scene& scene, const SceneEdge& edge, const Viewport& viewport,
                                   double shorter) const {
    std::vector<QPointF> points;
    points.reserve(edge.pointCount);
    for (std::uint32_t i = 0; i < edge.pointCount; ++i)
        points.push_back(viewport.toView(scene.points[edge.firstPoint + i]));
    const QPointF last = points.back() - points[points.size() - 2];
    if (const double length = std::hypot(last.x(), last.y()); shorter > 0 && length > 0)
        points.back() -= last * (std::min(shorter, length) / length);
    if (!edge.curve)
        return roundedPolyline(points, 6 * std::min(1.0, viewport.zoom));
    QPainterPath path(points.front());
    for (std::size_t i = 1; i + 2 < points.size(); i += 3)
        path.cubicTo(points[i], points[i + 1], points[i + 2]);
    return path;
}

void ScenePainter::paintLine(QPainter& painter, const Scene& scene, const SceneEdge& edge, const Viewport& viewport,
                             const QPen& pen, bool arrow) const {
    if (edge.pointCount < 2)
        return;
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(pen);
    if (!arrow) {
        painter.drawPath(pathOf(scene, edge, viewport, 0));
        return;
    }
    // The line ends inside the head, or a wide one would stick out at the tip.
    const double size = std::min(4 + pen.widthF() * 1.6, 11.0);
    painter.drawPath(pathOf(scene, edge, viewport, size * 0.8));
    const QPointF tip = viewport.toView(scene.points[edge.firstPoint + edge.pointCount - 1]);
    const QPointF before = viewport.toView(scene.points[edge.firstPoint + edge.pointCount - 2]);
    paintArrow(painter, tip, tip - before, size, pen.widthF(), pen.color());
}

/// One px, not smoothed: several times faster than paintLine(), for pictures of thousands of lines.
void ScenePainter::paintThinLine(Frame& f, const SceneEdge& edge) const {
    constexpr int kSteps = 6; // per curve; at this size a curve has few px
    QPolygonF points;
    const auto at = [&](std::uint32_t i) { return f.view.toView(f.scene.points[edge.firstPoint + i]); };
    points << at(0);
    if (!edge.curve) {
        for (std::uint32_t i = 1; i < edge.pointCount; ++i)
            points << at(i);
    }
    for (std::uint32_t i = 1; edge.curve && i + 2 < edge.pointCount; i += 3) {
        const QPointF p0 = at(i - 1), p1 = at(i), p2 = at(i + 1), p3 = at(i + 2);
        for (int k = 1; k <= kSteps; ++k) {
            const double t = static_cast<double>(k) / kSteps;
            const double u = 1 - t;
            points << u * u * u * p0 + 3 * u * u * t * p1 + 3 * u * t * t * p2 + t * t * t * p3;
        }
    }
    f.painter.setRenderHint(QPainter::Antialiasing, false);
    f.painter.setPen(QPen(m_theme.edge, 1));
    f.painter.drawPolyline(points);
}

void ScenePainter::paintEdges(Frame& f, const SceneScope& scope) {
    const QRectF seen = f.seen;
    const auto isOp = [&](std::uint32_t box) { return box != SceneEdge::kFrame && f.scene.node(f.scene.boxes[box]).isOp(); };
    const auto isSeen = [&](const SceneEdge& edge) {
        if (edge.pointCount < 2 || !edge.bounds.intersects(seen))
            return false;
        // From afar only what runs between scopes is told apart.
        return f.lod > Lod::Far || (edge.linkCount > 0 && !isOp(edge.from) && !isOp(edge.to));
    };
    const std::uint32_t end = scope.firstEdge + scope.edgeCount;
    // Lines of one device first, so that what crosses devices lies above them.
    for (std::uint32_t i = scope.firstEdge; i < end; ++i) {
        const SceneEdge& edge = f.scene.edges[i];
        const EdgeLook& look = f.visuals.edge(i);
        if (!isSeen(edge) || (look.crossFrom.isValid() && !look.hasSame && f.options.crossEdges))
            continue;
        if (f.lod < Lod::Near && !f.options.vector) {
            paintThinLine(f, edge);
            continue;
        }
        const bool arrow = f.lod >= Lod::Near && edge.to != SceneEdge::kFrame;
        paintLine(f.painter, f.scene, edge, f.view, QPen(m_theme.edge, f.lod >= Lod::Near ? 1.25 : 1.0), arrow);
    }
    for (std::uint32_t i = scope.firstEdge; i < end && f.options.crossEdges; ++i) {
        const SceneEdge& edge = f.scene.edges[i];
        if (f.visuals.edge(i).crossFrom.isValid() && isSeen(edge))
            paintOneEdge(f, edge, f.visuals.edge(i));
    }
    for (std::uint32_t i = scope.firstEdge; i < end && f.options.criticalPath; ++i) {
        const SceneEdge& edge = f.scene.edges[i];
        if (f.visuals.edge(i).critical && isSeen(edge))
            paintLine(f.painter, f.scene, edge, f.view, QPen(m_theme.text, 1.5), false);
    }
}

/// What crosses devices: in the sender's colour, bundles wide by bytes, beside the line of what does not cross.
void ScenePainter::paintOneEdge(Frame& f, const SceneEdge& edge, const EdgeLook& look) {
    const bool opToOp = f.scene.node(f.scene.boxes[edge.from]).isOp() && f.scene.node(f.scene.boxes[edge.to]).isOp();
    double width = f.lod >= Lod::Near ? 2.5 : 1.75;
    if (!opToOp)
        width = std::max(1.5, bundleWidth(look.crossBytes) * (f.lod >= Lod::Near ? 1.0 : 0.7));
    QPen pen(style(look.crossFrom).stroke, width);
    pen.setJoinStyle(Qt::RoundJoin);
    f.painter.save();
    if (look.hasSame)
        f.painter.translate(1.5 + width / 2, 0);
    paintLine(f.painter, f.scene, edge, f.view, pen, f.lod >= Lod::Near);
    f.painter.restore();
    if (f.lod == Lod::Nearest && opToOp && f.options.text)
        paintEdgeLabel(f, edge, look);
}

void ScenePainter::paintEdgeLabel(Frame& f, const SceneEdge& edge, const EdgeLook& look) {
    const QPointF a = f.view.toView(f.scene.points[edge.firstPoint]);
    const QPointF b = f.view.toView(f.scene.points[edge.firstPoint + edge.pointCount - 1]);
    if (std::hypot(b.x() - a.x(), b.y() - a.y()) < 80 || look.crossBytes <= 0)
        return;
    const QString label = bytesText(look.crossBytes);
    const QSizeF size(m_smallMetrics.horizontalAdvance(label) + 6, 15);
    const QPointF middle = pathOf(f.scene, edge, f.view, 0).pointAtPercent(0.5);
    const QRectF patch(middle + QPointF(6, -size.height() / 2), size);
    f.painter.fillRect(patch, m_theme.panel);
    drawText(f.painter, patch, Qt::AlignCenter, label, m_small, m_smallMetrics, m_theme.text);
}

// --- boxes -----------------------------------------------------------------------------------------------------------

void ScenePainter::paintBox(Frame& f, const SceneBox& box) {
    const QRectF rect = f.view.toView(box.rect);
    if (f.scene.node(box).isOp()) {
        paintOp(f, box, rect);
        return;
    }
    if (!box.isOpen() || std::min(rect.width(), rect.height()) < kBlockSide)
        paintClosedScope(f, box, rect);
}

ScenePainter::OpLook ScenePainter::lookOf(const Frame& f, OpId op) {
    const ColorBy by = f.visuals.colorBy();
    OpLook look;
    if (by == ColorBy::Phase) {
        static constexpr const char* kLetters[] = {"F", "B", "U", "X"};
        const Phase phase = f.scene.tree().graph().op(op).phase;
        look.body = phaseColor(phase);
        look.letter = QString::fromLatin1(kLetters[static_cast<std::size_t>(phase)]);
        look.isScale = true;
        return look;
    }
    if (f.visuals.isHeat()) {
        const double place = f.visuals.scale(op);
        look.body = place < 0 ? m_theme.panel : heatColor(place, m_theme);
        look.unknown = f.visuals.isUnknown(op);
        look.letter = look.unknown ? QStringLiteral("?") : QString();
        look.isScale = true;
        return look;
    }
    look.device = f.visuals.device(op);
    return look;
}

void ScenePainter::paintOp(Frame& f, const SceneBox& box, const QRectF& rect) {
    const TreeNode& node = f.scene.node(box);
    OpLook look = lookOf(f, node.op);
    QPainter& p = f.painter;
    const bool placed = look.device.isValid();
    look.pale = f.visuals.isMovedMode() && !f.visuals.isMoved(node.op);
    look.moved = f.visuals.isMovedMode() && !look.pale;
    look.critical = f.options.criticalPath && f.visuals.isCritical(box.node);
    look.near = f.lod >= Lod::Near && rect.width() >= 60;
    if (f.lod == Lod::Far) {
        const QBrush fill = look.isScale  ? QBrush(look.body)
                            : !placed     ? QBrush(m_theme.track)
                            : look.pale   ? brushes(look.device).tint
                                          : brushes(look.device).fill;
        p.fillRect(rect, fill);
        if (look.unknown)
            paintHatch(p, rect, look.body);
        return;
    }
    if (look.isScale || f.options.vector)
        paintOpBody(p, rect, look);
    else
        paintSprite(p, rect, look);
    if (look.near && f.options.text) {
        const bool hasChip = !look.isScale || !look.letter.isEmpty();
        p.setPen(look.isScale             ? textOn(look.body)
                 : look.moved && placed ? brushes(look.device).style.letterColor
                                        : m_theme.text);
        paintOpText(f, node, rect, rect.left() + (hasChip ? chipWidth(rect) + 5 : 6));
    }
}

/// All boxes of one device and state look the same at one zoom: drawn once, then copied to whole pixels.
void ScenePainter::paintSprite(QPainter& painter, const QRectF& rect, const OpLook& look) {
    constexpr double kEdge = 2;
    const qreal ratio = painter.device()->devicePixelRatioF();
    const QSizeF size(std::round(rect.width() * ratio) / ratio, std::round(rect.height() * ratio) / ratio);
    if (size != m_spriteSize || ratio != m_spriteRatio) {
        m_sprites.clear();
        m_spriteSize = size;
        m_spriteRatio = ratio;
    }
    const std::uint64_t key = (static_cast<std::uint64_t>(look.device.value()) << 4) | (look.near ? 8U : 0U) |
                              (look.pale ? 4U : 0U) | (look.moved ? 2U : 0U) | (look.critical ? 1U : 0U);
    QPixmap& sprite = m_sprites[key];
    if (sprite.isNull()) {
        sprite = QPixmap(((size + QSizeF(2 * kEdge, 2 * kEdge)) * ratio).toSize());
        sprite.setDevicePixelRatio(ratio);
        sprite.fill(Qt::transparent);
        QPainter inner(&sprite);
        paintOpBody(inner, QRectF(QPointF(kEdge + 0.5, kEdge + 0.5), size - QSizeF(1, 1)), look);
    }
    const QPointF corner = rect.topLeft() - QPointF(kEdge, kEdge);
    painter.drawPixmap(QPointF(std::round(corner.x() * ratio) / ratio, std::round(corner.y() * ratio) / ratio), sprite);
}

double ScenePainter::chipWidth(const QRectF& rect) {
    return std::min(rect.height(), 24.0);
}

void ScenePainter::paintOpBody(QPainter& p, const QRectF& rect, const OpLook& look) {
    const bool placed = look.device.isValid();
    const Brushes* const device = placed ? &brushes(look.device) : nullptr;
    QPen pen(placed ? device->style.stroke : m_theme.control, 1);
    if (!look.isScale && !placed)
        pen.setStyle(Qt::DashLine);
    if (look.moved)
        pen = QPen(m_theme.text, 2);
    else if (look.critical)
        pen = QPen(m_theme.text, 1.5);
    const bool full = !look.pale && (!look.near || look.moved);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(pen);
    p.setBrush(look.isScale ? QBrush(look.body) : !placed ? QBrush(m_theme.panel) : full ? device->fill : device->tint);
    p.drawRoundedRect(rect, 3, 3);
    if (look.unknown) { // beside the name, not under it
        const double side = look.near ? chipWidth(rect) : rect.width();
        paintHatch(p, QRectF(rect.left(), rect.top(), side, rect.height()).adjusted(1, 1, -1, -1), look.body);
    }
    const QString letter = look.isScale ? look.letter : placed ? device->style.letter : QStringLiteral("?");
    if (letter.isEmpty() || rect.height() < 11.5 || rect.width() < 11.5)
        return;
    const QRectF chip = look.near ? QRectF(rect.left(), rect.top(), chipWidth(rect), rect.height()) : rect;
    if (look.near && placed && !look.pale && !look.moved) {
        p.setBrush(device->fill);
        p.drawRoundedRect(chip, 3, 3);
    }
    if (placed && device->style.hatch != 0) // the letter stands on a plain patch
        p.fillRect(QRectF(chip.center().x() - 6, chip.center().y() - 6, 12, 12),
                   look.pale ? device->style.tint : device->style.fill);
    if (look.unknown)
        p.fillRect(QRectF(chip.center().x() - 5, chip.center().y() - 6, 10, 12), look.body);
    p.setFont(m_letter);
    p.setPen(look.isScale ? textOn(look.body) : placed && !look.pale ? device->style.letterColor : m_theme.text);
    p.drawText(chip, Qt::AlignCenter, letter);
}

void ScenePainter::paintHatch(QPainter& painter, const QRectF& rect, const QColor& below) {
    constexpr double kStep = 5; // px between the lines
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing, true);
    QColor line = textOn(below);
    line.setAlphaF(0.6F);
    painter.setPen(QPen(line, 1.2));
    for (double x = rect.left() - rect.height(); x < rect.right(); x += kStep)
        painter.drawLine(QPointF(x, rect.bottom()), QPointF(x + rect.height(), rect.top()));
    painter.restore();
}

/// Eliding a text costs more than drawing it, and the boxes of a graph have few different titles.
QString ScenePainter::elidedTitle(const Op& op, double width) {
    constexpr qsizetype kMostTitles = 4096;
    if (std::abs(width - m_titleWidth) > 0.01 || m_titles.size() > kMostTitles) {
        m_titles.clear();
        m_titleWidth = width;
    }
    const QString title = opTitle(op);
    auto found = m_titles.constFind(title);
    if (found == m_titles.constEnd())
        found = m_titles.insert(title, m_smallMetrics.elidedText(title, Qt::ElideRight, width));
    return *found;
}

void ScenePainter::paintOpText(Frame& f, const TreeNode& node, const QRectF& rect, double left) {
    const Op& op = f.scene.tree().graph().op(node.op);
    const QColor color = f.painter.pen().color();
    QRectF line(left, rect.top(), rect.right() - 4 - left, rect.height());
    if (f.lod < Lod::Nearest) {
        f.painter.setFont(m_small);
        f.painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, elidedTitle(op, line.width()));
        return;
    }
    line.setHeight(rect.height() / 2);
    drawText(f.painter, line.adjusted(0, 1, 0, 1), Qt::AlignLeft | Qt::AlignVCenter, opTitle(op), m_small,
             m_smallMetrics, color);
    line.translate(0, line.height() - 1);
    const double time = f.visuals.timeUs(f.scene.tree().nodeOf(node.op));
    QString detail = time >= 0 ? timeText(time) : QString();
    const auto outputs = f.scene.tree().graph().outputs(node.op);
    if (!outputs.empty()) {
        const QString shape = shapeText(f.scene.tree().graph().tensor(outputs.front()));
        if (!shape.isEmpty())
            detail += (detail.isEmpty() ? QString() : QStringLiteral("  ")) + shape;
    }
    drawText(f.painter, line, Qt::AlignLeft | Qt::AlignVCenter, detail, m_small, m_smallMetrics,
             f.visuals.isMovedMode() || f.visuals.colorBy() != ColorBy::Device ? color : m_theme.text2);
}

void ScenePainter::paintRing(QPainter& painter, const QRectF& rect) const {
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(m_theme.accent, 2));
    painter.drawRoundedRect(rect.adjusted(-3, -3, 3, 3), 5, 5);
}

} // namespace pw::viz
