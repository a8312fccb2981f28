#include "viz/plots/reward_legend.h"

#include "viz/plots/plot_common.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace pw::viz {

namespace {

constexpr double kSwatch = 28.0;
constexpr double kPadding = 8.0;
constexpr double kColumnGap = 16.0;
constexpr double kMaxNameWidth = 240.0;

double rowHeight(const QFont& font) {
    return std::ceil(std::max(22.0, QFontMetricsF(font).height() + 6));
}

double valueWidth(const QFontMetricsF& metrics, const QString& header, const QList<RewardLegend::Row>& rows,
                  bool best) {
    // Room for a common figure from the start, so that the plot keeps its width when the cursor appears.
    double width = std::max(metrics.horizontalAdvance(header), metrics.horizontalAdvance(QStringLiteral("00,000.0")));
    for (const RewardLegend::Row& row : rows)
        width = std::max(width, metrics.horizontalAdvance(best ? row.best : row.at));
    return width;
}

} // namespace

void paintRunMarker(QPainter& painter, const QPointF& centre, double size, const RunStyle& style,
                    const QColor& inside) {
    painter.setPen(QPen(style.color, 1.5));
    painter.setBrush(style.marker == 4 ? style.color : inside);
    const double r = size / 2;
    switch (style.marker) {
    case 1:
        painter.drawRect(QRectF(centre.x() - r, centre.y() - r, size, size));
        break;
    case 2:
        painter.drawPolygon(QPolygonF{centre + QPointF(-r, r), centre + QPointF(r, r), centre + QPointF(0, -r)});
        break;
    case 3:
        painter.drawPolygon(QPolygonF{centre + QPointF(-r, 0), centre + QPointF(0, r), centre + QPointF(r, 0),
                                      centre + QPointF(0, -r)});
        break;
    default:
        painter.drawEllipse(centre, r, r);
        break;
    }
}

double RewardLegend::preferredWidth(const QFont& font) const {
    const QFontMetricsF metrics(font);
    double name = QFontMetricsF(labelFont(font)).horizontalAdvance(title) - kSwatch - 8;
    for (const Row& row : rows)
        name = std::max(name, metrics.horizontalAdvance(row.name));
    return std::ceil(kPadding + kSwatch + 8 + std::min(name, kMaxNameWidth) + kColumnGap +
                     valueWidth(metrics, atHeader, rows, false) + kColumnGap +
                     valueWidth(metrics, QStringLiteral("best"), rows, true) + kPadding);
}

double RewardLegend::preferredHeight(const QFont& font) const {
    const double noteLines = note.isEmpty() ? 0.0 : 2.0;
    return std::ceil(rowHeight(font) * static_cast<double>(rows.size() + 1) +
                     noteLines * QFontMetricsF(labelFont(font)).height() + 8);
}

void RewardLegend::paint(QPainter& painter, const QRectF& area, const Theme& theme, const QFont& font) const {
    const QFont small = labelFont(font);
    const QFontMetricsF metrics(font);
    const double bestLeft = area.right() - kPadding - valueWidth(metrics, QStringLiteral("best"), rows, true);
    const double atRight = bestLeft - kColumnGap;
    const double nameLeft = area.left() + kPadding + kSwatch + 8;
    const double nameWidth = atRight - valueWidth(metrics, atHeader, rows, false) - kColumnGap - nameLeft;
    const double height = rowHeight(font);
    painter.save();
    painter.setClipRect(area);

    QRectF line(area.left(), area.top(), area.width(), height);
    painter.setFont(small);
    painter.setPen(theme.muted);
    painter.drawText(line.adjusted(kPadding, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, title);
    painter.drawText(QRectF(area.left(), line.top(), atRight - area.left(), height), Qt::AlignVCenter | Qt::AlignRight,
                     atHeader);
    painter.drawText(line.adjusted(0, 0, -kPadding, 0), Qt::AlignVCenter | Qt::AlignRight, QStringLiteral("best"));
    painter.setPen(QPen(theme.line, 1));
    painter.drawLine(QPointF(area.left(), line.bottom() - 0.5), QPointF(area.right(), line.bottom() - 0.5));

    painter.setFont(font);
    for (qsizetype i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        line.translate(0, height);
        if (line.bottom() > area.bottom()) {
            painter.setFont(small);
            painter.setPen(theme.muted);
            painter.drawText(line.adjusted(kPadding, -2, 0, 0), Qt::AlignLeft | Qt::AlignTop,
                             QStringLiteral("and %1 more").arg(rows.size() - i));
            break;
        }
        if (row.live)
            painter.fillRect(line, theme.accentBg);
        const double y = line.center().y();
        QPen pen(row.style.color, row.live ? 2.5 : 1.75);
        QList<qreal> dash = row.style.dash;
        for (qreal& part : dash)
            part /= pen.widthF();
        if (!dash.isEmpty())
            pen.setDashPattern(dash);
        painter.setRenderHint(QPainter::Antialiasing);
        pen.setCapStyle(Qt::FlatCap);
        painter.setPen(pen);
        painter.drawLine(QPointF(line.left() + kPadding, y), QPointF(line.left() + kPadding + kSwatch, y));
        paintRunMarker(painter, QPointF(line.left() + kPadding + kSwatch / 2, y), 7, row.style,
                       row.live ? theme.accentBg : theme.panel);
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(theme.text);
        painter.drawText(QRectF(nameLeft, line.top(), nameWidth, height), Qt::AlignVCenter | Qt::AlignLeft,
                         metrics.elidedText(row.name, Qt::ElideMiddle, nameWidth));
        painter.drawText(QRectF(area.left(), line.top(), atRight - area.left(), height),
                         Qt::AlignVCenter | Qt::AlignRight, row.at);
        painter.drawText(line.adjusted(0, 0, -kPadding, 0), Qt::AlignVCenter | Qt::AlignRight, row.best);
    }
    line.translate(0, height);
    if (!note.isEmpty() && line.top() < area.bottom()) {
        painter.setFont(small);
        painter.setPen(theme.muted);
        painter.drawText(
            QRectF(area.left() + kPadding, line.top() + 6, area.width() - 2 * kPadding, area.bottom() - line.top() - 6),
            Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, note);
    }
    painter.restore();
}

} // namespace pw::viz
