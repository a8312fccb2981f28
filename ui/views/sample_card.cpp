#include "ui/views/sample_card.h"

#include "ui/words.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace pw::ui {

GraphSketch sketchOf(const OpGraph& graph, int devices) {
    GraphSketch sketch;
    sketch.ops = graph.opCount();
    std::vector<std::uint32_t> depth(graph.opCount(), 0);
    std::uint32_t deepest = 0;
    for (const OpId op : graph.topologicalOrder()) {
        for (const Edge& edge : graph.inEdges(op))
            depth[op.index()] = std::max(depth[op.index()], depth[edge.producer.index()] + 1);
        deepest = std::max(deepest, depth[op.index()]);
    }
    const std::size_t columns = std::min<std::size_t>(GraphSketch::kColumns, deepest + 1);
    std::vector<std::size_t> counts(columns, 0);
    for (const OpId op : graph.topologicalOrder())
        ++counts[depth[op.index()] * columns / (deepest + 1)];
    // Wide columns would flatten all others (the first holds every variable): cells grow with the root of the count.
    const double most = counts.size() < 2 ? 1.0 : std::sqrt(static_cast<double>(*std::max_element(counts.begin() + 1, counts.end())));
    std::size_t before = 0;
    for (const std::size_t count : counts) {
        GraphSketch::Column column;
        const double share = std::sqrt(static_cast<double>(count)) / std::max(1.0, most);
        const auto cells = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(share * GraphSketch::kMaxCells)), 1, GraphSketch::kMaxCells);
        const auto device = static_cast<int>(before * static_cast<std::size_t>(devices) / std::max<std::size_t>(1, sketch.ops));
        column.devices.assign(cells, std::min(device, devices - 1));
        sketch.columns.push_back(std::move(column));
        before += count;
    }
    return sketch;
}

SampleCard::SampleCard(const QString& title, const QString& spec, const QString& devices, QWidget* parent)
    : QAbstractButton(parent), m_title(title), m_spec(spec), m_devices(devices) {
    setText(title);
    setCursor(Qt::PointingHandCursor);
    setFocusPolicy(Qt::StrongFocus);
    setToolTip(tr("Open %1 on %2").arg(title, devices));
    setFixedSize(sizeHint());
}

void SampleCard::setSketch(GraphSketch sketch) {
    m_sketch = std::move(sketch);
    update();
}

void SampleCard::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    update();
}

void SampleCard::enterEvent(QEnterEvent*) {
    update();
}

void SampleCard::leaveEvent(QEvent*) {
    update();
}

void SampleCard::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const bool lit = underMouse() || hasFocus();
    const QRectF card = QRectF(rect()).adjusted(1, 1, -1, -1);
    painter.setBrush(m_theme.panel);
    painter.setPen(QPen(lit ? m_theme.accent : m_theme.control, lit ? 2 : 1));
    painter.drawRoundedRect(card, 6, 6);
    const QRectF picture(card.left() + 12, card.top() + 12, card.width() - 24, 98);
    paintSketch(painter, picture);
    painter.fillRect(QRectF(card.left() + 1, 121, card.width() - 2, 1), m_theme.line);
    QFont bold = font();
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(m_theme.text);
    const QRectF title(card.left() + 12, 127, card.width() - 24, 18);
    painter.drawText(title, Qt::AlignVCenter, QFontMetrics(bold).elidedText(m_title, Qt::ElideRight, static_cast<int>(title.width())));
    QFont small = font();
    small.setPixelSize(11);
    painter.setFont(small);
    painter.setPen(m_theme.text2);
    const QRectF line(card.left() + 12, 145, card.width() - 24, 16);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                     m_sketch.ops > 0 ? tr("%1 ops").arg(words::count(static_cast<std::int64_t>(m_sketch.ops))) : tr("…"));
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, QString(m_devices).replace(QLatin1Char('x'), QStringLiteral(" × ")));
}

void SampleCard::paintSketch(QPainter& painter, const QRectF& rect) const {
    if (m_sketch.columns.empty())
        return;
    // Three bands, read like lines of text: a long chain keeps cells that can be seen.
    constexpr std::size_t kBands = 3;
    const std::size_t perBand = (m_sketch.columns.size() + kBands - 1) / kBands;
    const double stepX = rect.width() / static_cast<double>(perBand);
    const double bandHeight = rect.height() / kBands;
    const double stepY = (bandHeight - 6) / static_cast<double>(GraphSketch::kMaxCells);
    for (std::size_t i = 0; i < m_sketch.columns.size(); ++i) {
        const double x = rect.left() + stepX * static_cast<double>(i % perBand);
        const double top = rect.top() + bandHeight * static_cast<double>(i / perBand);
        const auto& devices = m_sketch.columns[i].devices;
        const double middle = top + (bandHeight - 6) / 2;
        painter.setPen(QPen(m_theme.edge, 1));
        painter.drawLine(QPointF(x, middle), QPointF(x + stepX, middle));
        const double start = middle - stepY * static_cast<double>(devices.size()) / 2;
        for (std::size_t cell = 0; cell < devices.size(); ++cell) {
            const auto style = viz::deviceStyle(DeviceId(static_cast<std::size_t>(devices[cell])), m_theme);
            painter.setBrush(style.fill);
            painter.setPen(QPen(style.stroke, 0.8));
            painter.drawRoundedRect(QRectF(x + 1, start + stepY * static_cast<double>(cell) + 0.5, stepX - 2, std::max(2.0, stepY - 1)), 1, 1);
        }
    }
}

} // namespace pw::ui
