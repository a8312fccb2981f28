#include "viz/graph/scene_painter_frame.h"

#include "viz/graph/op_text.h"
#include "viz/theme/figures.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

void paintChevron(QPainter& painter, const QPointF& center, bool open, const QColor& color) {
    painter.setPen(QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    const QPointF down[3] = {center + QPointF(-3.5, -2), center + QPointF(0, 2), center + QPointF(3.5, -2)};
    const QPointF right[3] = {center + QPointF(-2, -3.5), center + QPointF(2, 0), center + QPointF(-2, 3.5)};
    painter.drawPolyline(open ? down : right, 3);
}

} // namespace

void ScenePainter::paintFrame(Frame& f, const SceneBox& box) {
    const QRectF rect = f.view.toView(box.rect);
    const TreeNode& node = f.scene.node(box);
    int level = 0;
    for (std::uint32_t at = box.parent; at != 0; at = f.scene.boxes[at].parent)
        ++level;
    QPainter& p = f.painter;
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setBrush(level % 2 == 0 ? m_theme.frame : m_theme.frame2);
    p.setPen(QPen(m_theme.control, 1));
    p.drawRoundedRect(rect, 4, 4);
    const double headHeight = scene::kHeader * f.view.zoom;
    if (!f.options.text || rect.width() < 60 || headHeight < 13)
        return;
    // The head stays readable while a part of the frame is in view.
    const QRectF seen = rect.intersected(f.view.area);
    QRectF head(seen.left() + 7, rect.top(), seen.width() - 12, headHeight);
    p.setPen(QPen(m_theme.line, 1));
    p.drawLine(QPointF(rect.left() + 1, rect.top() + headHeight), QPointF(rect.right() - 1, rect.top() + headHeight));
    const bool withBar = rect.width() >= 200 && hasBar(f.visuals);
    if (withBar) {
        const double width = std::clamp(head.width() * 0.2, 56.0, 110.0);
        paintBar(p, QRectF(head.right() - width, head.center().y() - 6, width, 12), f.visuals, box.node);
        head.setRight(head.right() - width - 8);
    }
    paintChevron(p, QPointF(head.left() + 4, head.center().y()), true, m_theme.text);
    head.setLeft(head.left() + 12);
    const QString name = shortName(node.label, 80);
    const bool large = m_boldMetrics.horizontalAdvance(name) <= head.width();
    const QFontMetricsF& metrics = large ? m_boldMetrics : m_letterMetrics;
    drawText(p, head, Qt::AlignLeft | Qt::AlignVCenter, name, large ? m_bold : m_letter, metrics, m_theme.text);
    const double used = metrics.horizontalAdvance(name) + 14;
    if (used + 60 > head.width() || f.lod < Lod::Middle)
        return;
    QString info = countText(node.opCount, "op", "ops");
    if (const double time = f.visuals.timeUs(box.node); time >= 0)
        info += QStringLiteral(", ") + timeText(time);
    if (node.hiddenCount > 0)
        info += QStringLiteral(", ") + countText(node.hiddenCount, "variable op hidden", "variable ops hidden");
    drawText(p, head.adjusted(used, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, info, m_small, m_smallMetrics,
             m_theme.muted);
}

/// A scope of a few pixels: one block of its largest share, or of its dearest step, so that hot spots are seen from afar.
void ScenePainter::paintSpeck(Frame& f, const SceneBox& box, const QRectF& rect) {
    QBrush fill(m_theme.control);
    if (f.visuals.colorBy() != ColorBy::Device) {
        const auto shades = f.visuals.shades(box.node);
        std::size_t shown = static_cast<std::size_t>(std::max_element(shades.begin(), shades.end()) - shades.begin());
        for (std::size_t s = 0; s < Visuals::kHeatSteps && f.visuals.isHeat(); ++s)
            if (shades[s] > 0)
                shown = s;
        fill = shadeColor(f.visuals, shown);
    } else if (f.visuals.isPlaced()) {
        const auto mix = f.visuals.mix(box.node);
        const auto largest = static_cast<std::size_t>(std::max_element(mix.begin(), mix.end()) - mix.begin());
        if (largest < f.visuals.deviceCount())
            fill = brushes(DeviceId(largest)).fill;
    }
    f.painter.fillRect(rect, fill);
}

void ScenePainter::paintClosedScope(Frame& f, const SceneBox& box, const QRectF& rect) {
    QPainter& p = f.painter;
    const TreeNode& node = f.scene.node(box);
    const bool bar = hasBar(f.visuals);
    if (rect.width() < 8 && rect.height() < 8) {
        paintSpeck(f, box, rect);
        return;
    }
    const bool block = rect.height() < 24 || rect.width() < 60 || !f.options.text || box.isOpen();
    const bool critical = f.options.criticalPath && f.visuals.isCritical(box.node);
    const bool moved = f.visuals.isMovedMode() && f.visuals.hasMoved(box.node);
    p.setRenderHint(QPainter::Antialiasing, true);
    p.setPen(QPen(moved || critical ? m_theme.text : m_theme.control, moved ? 2 : critical ? 1.5 : 1));
    p.setBrush(m_theme.panel);
    p.drawRoundedRect(rect, 4, 4);
    if (block) {
        if (bar)
            paintBar(p, rect.adjusted(1, 1, -1, -1), f.visuals, box.node, false);
        return;
    }
    const double pad = rect.height() >= 40 ? 6 : 4;
    const bool twoLines = rect.height() >= 36;
    QRectF line(rect.left() + 6, rect.top() + (twoLines ? 3 : 1), rect.width() - 12, twoLines ? 18 : rect.height() - 8);
    paintChevron(p, QPointF(line.left() + 3, line.center().y()), false, m_theme.text2);
    drawText(p, line.adjusted(12, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, shortName(node.label, 60), m_small,
             m_smallMetrics, m_theme.text);
    if (!twoLines) {
        if (bar)
            paintBar(p, QRectF(rect.left() + 3, rect.bottom() - 7, rect.width() - 6, 5), f.visuals, box.node);
        return;
    }
    const double height = 14;
    const QRectF second(rect.left() + 7, rect.bottom() - height - pad, rect.width() - 14, height);
    const double time = f.visuals.timeUs(box.node);
    const double total = f.visuals.total(box.node);
    const QString figure = f.visuals.colorBy() == ColorBy::Memory && total >= 0 ? bytesText(total)
                           : f.visuals.colorBy() == ColorBy::Cost && total >= 0 ? timeText(total)
                           : time >= 0                                          ? timeText(time)
                                                                                : countText(node.opCount, "op", "ops");
    const double figureWidth = std::ceil(m_smallMetrics.horizontalAdvance(figure));
    const double barWidth = std::min(second.width() - figureWidth - 8, std::max(56.0, second.width() * 0.6));
    if (bar && barWidth >= 20)
        paintBar(p, QRectF(second.left(), second.top(), barWidth, height), f.visuals, box.node);
    drawText(p, second, Qt::AlignVCenter | (bar ? Qt::AlignRight : Qt::AlignLeft), figure, m_small, m_smallMetrics,
             m_theme.text2);
}

bool ScenePainter::hasBar(const Visuals& visuals) const {
    switch (visuals.colorBy()) {
    case ColorBy::Device: return visuals.isPlaced();
    case ColorBy::Phase: return true;
    case ColorBy::Cost:
    case ColorBy::Memory:
    case ColorBy::Time: break;
    }
    return visuals.scaleRange().second > 0;
}

void ScenePainter::paintBar(QPainter& painter, const QRectF& rect, const Visuals& visuals, NodeIndex node, bool outlined) {
    if (visuals.colorBy() == ColorBy::Device)
        paintMixBar(painter, rect, visuals.mix(node), outlined);
    else
        paintShadeBar(painter, rect, visuals, node, outlined);
}

QColor ScenePainter::shadeColor(const Visuals& visuals, std::size_t shade) const {
    if (visuals.colorBy() == ColorBy::Phase)
        return phaseColor(static_cast<Phase>(shade));
    if (shade >= Visuals::kHeatSteps)
        return m_theme.track;
    return heatColor(static_cast<double>(shade) / static_cast<double>(Visuals::kHeatSteps - 1), m_theme);
}

void ScenePainter::paintShadeBar(QPainter& painter, const QRectF& rect, const Visuals& visuals, NodeIndex node, bool outlined) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    const auto shares = visuals.shades(node);
    painter.fillRect(rect, m_theme.track);
    double x = rect.left();
    // Dearest first: what is looked for stands at the same end in every bar.
    for (std::size_t i = shares.size(); i-- > 0;) {
        const std::size_t shade = visuals.isHeat() ? i : shares.size() - 1 - i;
        const double width = rect.width() * static_cast<double>(shares[shade]);
        const QRectF part(x, rect.top(), width, rect.height());
        const QColor color = shadeColor(visuals, shade);
        painter.fillRect(part, color);
        if (visuals.isHeat() && shade == Visuals::kHeatSteps && width >= 3)
            paintHatch(painter, part, color);
        x += width;
    }
    if (outlined) {
        painter.setPen(QPen(m_theme.control, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect);
    }
    painter.restore();
}

void ScenePainter::paintMixBar(QPainter& painter, const QRectF& rect, std::span<const float> mix, bool outlined) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    constexpr float kLeast = 0.004F; // smaller shares are named in the tooltip only
    float shown = 0;
    for (const float share : mix)
        shown += share >= kLeast ? share : 0;
    painter.fillRect(rect, m_theme.track);
    double x = rect.left();
    for (std::size_t d = 0; d < mix.size() && shown > 0; ++d) {
        if (mix[d] < kLeast)
            continue;
        const double width = rect.width() * mix[d] / shown;
        const QRectF part(x, rect.top(), width, rect.height());
        const bool placed = d + 1 < mix.size();
        painter.fillRect(part, placed ? brushes(DeviceId(d)).fill : QBrush(m_theme.panel));
        if (x > rect.left() && rect.height() >= 5) {
            painter.setPen(QPen(m_theme.panel, 1));
            painter.drawLine(QPointF(x, rect.top()), QPointF(x, rect.bottom()));
        }
        const QString letter = placed ? brushes(DeviceId(d)).style.letter : QStringLiteral("?");
        if (width >= 11 && rect.height() >= 11) {
            if (placed && brushes(DeviceId(d)).style.hatch != 0)
                painter.fillRect(QRectF(part.center().x() - 5, part.center().y() - 5, 10, 10),
                                 brushes(DeviceId(d)).style.fill);
            painter.setFont(width >= 14 && rect.height() >= 13 ? m_letter : m_tiny);
            painter.setPen(placed ? brushes(DeviceId(d)).style.letterColor : m_theme.text);
            painter.drawText(part, Qt::AlignCenter, letter);
        }
        x += width;
    }
    if (outlined) {
        painter.setPen(QPen(m_theme.control, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect);
    }
    painter.restore();
}

} // namespace pw::viz
