#include "ui/views/facts_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

namespace pw::ui {

namespace {
constexpr int kRowHeight = 20;
constexpr int kSectionHeight = 26;
constexpr int kMargin = 8;
constexpr int kGap = 6;
/// Between words; names without a place to break at are broken anywhere.
int wrapFlags(const QFontMetrics& metrics, const QString& text, int width) {
    const QStringList parts = text.split(QLatin1Char(' '));
    const bool fits = std::all_of(parts.begin(), parts.end(), [&](const QString& word) { return metrics.horizontalAdvance(word) <= width; });
    return fits ? Qt::TextWordWrap : Qt::TextWrapAnywhere;
}
} // namespace

FactsView::FactsView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

FactsView::Row FactsView::section(const QString& title, const QString& note) {
    Row row;
    row.kind = Row::Kind::Section;
    row.label = title;
    row.value = note;
    return row;
}

FactsView::Row FactsView::fact(const QString& label, const QString& value, const QString& unit, const QString& toolTip) {
    Row row;
    row.label = label;
    row.value = value;
    row.unit = unit;
    row.toolTip = toolTip;
    return row;
}

FactsView::Row FactsView::text(const QString& text) {
    Row row;
    row.kind = Row::Kind::Text;
    row.label = text;
    return row;
}

void FactsView::setRows(std::vector<Row> rows) {
    m_rows = std::move(rows);
    m_unitWidth = m_extraWidth = 0;
    for (const Row& row : m_rows) {
        if (row.kind != Row::Kind::Fact && row.kind != Row::Kind::Head)
            continue;
        m_unitWidth = std::max(m_unitWidth, row.unit.isEmpty() ? 0 : fontMetrics().horizontalAdvance(row.unit));
        m_extraWidth = std::max(m_extraWidth, row.extra.isEmpty() ? 0 : fontMetrics().horizontalAdvance(row.extra));
    }
    updateGeometry();
    update();
}

void FactsView::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    update();
}

int FactsView::heightOf(const Row& row, int width) const {
    if (row.kind == Row::Kind::Section)
        return kSectionHeight;
    if (row.kind != Row::Kind::Text)
        return kRowHeight;
    const int room = std::max(40, width - 2 * kMargin);
    const QRect bounds = fontMetrics().boundingRect(QRect(0, 0, room, 10000), wrapFlags(fontMetrics(), row.label, room), row.label);
    return bounds.height() + 4;
}

int FactsView::heightForWidth(int width) const {
    int height = 4;
    for (const Row& row : m_rows)
        height += heightOf(row, width);
    return height;
}

void FactsView::resizeEvent(QResizeEvent* event) {
    if (event->size().width() != event->oldSize().width())
        updateGeometry(); // why: texts wrap to the width
}

int FactsView::rowAt(const QPoint& pos) const {
    int y = 0;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        y += heightOf(m_rows[i], width());
        if (pos.y() < y)
            return static_cast<int>(i);
    }
    return -1;
}

void FactsView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    int y = 0;
    for (const Row& row : m_rows) {
        const int height = heightOf(row, width());
        paintRow(painter, row, QRect(0, y, width(), height));
        y += height;
    }
}

void FactsView::paintRow(QPainter& painter, const Row& row, const QRect& rect) const {
    if (row.marked)
        painter.fillRect(rect, m_theme.accentBg);
    QRect inner = rect.adjusted(kMargin, 0, -kMargin, 0);
    QFont font = this->font();
    if (row.kind == Row::Kind::Section) {
        painter.fillRect(QRect(rect.left(), rect.top() + 2, rect.width(), 1), m_theme.line);
        inner.setTop(inner.top() + 4);
        QFont bold = font;
        bold.setBold(true);
        painter.setFont(bold);
        painter.setPen(m_theme.text);
        painter.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, row.label);
        font.setPixelSize(11);
        painter.setFont(font);
        painter.setPen(m_theme.muted);
        painter.drawText(inner, Qt::AlignRight | Qt::AlignVCenter, row.value);
        return;
    }
    painter.setFont(font);
    if (row.kind == Row::Kind::Text) {
        painter.setPen(m_theme.text2);
        painter.drawText(inner, wrapFlags(fontMetrics(), row.label, std::max(40, inner.width())), row.label);
        return;
    }
    const bool head = row.kind == Row::Kind::Head;
    if (m_extraWidth > 0) {
        const QRect extra(inner.right() - m_extraWidth, inner.top(), m_extraWidth + 1, inner.height());
        painter.setPen(head ? m_theme.muted : row.worse ? m_theme.danger : m_theme.text2);
        painter.drawText(extra, Qt::AlignRight | Qt::AlignVCenter, row.extra);
        inner.setRight(extra.left() - 2 * kGap);
    }
    if (m_unitWidth > 0) {
        const QRect unit(inner.right() - m_unitWidth, inner.top(), m_unitWidth + 1, inner.height());
        painter.setPen(m_theme.muted);
        painter.drawText(unit, Qt::AlignLeft | Qt::AlignVCenter, row.unit);
        inner.setRight(unit.left() - 4);
    }
    painter.setPen(head ? m_theme.muted : m_theme.text);
    const int valueWidth = painter.fontMetrics().horizontalAdvance(row.value);
    const int valueRoom = std::min(valueWidth, std::max(60, inner.width() * 3 / 5));
    painter.drawText(inner, Qt::AlignRight | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(row.value, Qt::ElideMiddle, valueRoom + 1));
    inner.setRight(inner.right() - valueRoom - kGap);
    if (row.hasDevice) {
        const QRectF chip(inner.left(), rect.center().y() - 7, 15, 15);
        viz::paintDeviceChip(painter, chip, row.device, m_theme);
        inner.setLeft(inner.left() + 21);
        painter.setFont(font);
    }
    painter.setPen(head || !row.hasDevice ? m_theme.muted : row.op >= 0 ? m_theme.accent : m_theme.text);
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(row.label, Qt::ElideMiddle, inner.width()));
}

void FactsView::mousePressEvent(QMouseEvent* event) {
    const int row = rowAt(event->pos());
    if (row < 0 || event->button() != Qt::LeftButton)
        return;
    const Row copy = m_rows[static_cast<std::size_t>(row)];
    Q_EMIT rowClicked(row);
    if (copy.op >= 0)
        Q_EMIT opClicked(static_cast<quint32>(copy.op));
}

void FactsView::mouseMoveEvent(QMouseEvent* event) {
    const int row = rowAt(event->pos());
    const bool link = row >= 0 && m_rows[static_cast<std::size_t>(row)].op >= 0;
    setCursor(link ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

bool FactsView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = rowAt(help->pos());
    if (index >= 0) {
        const Row& row = m_rows[static_cast<std::size_t>(index)];
        const QString full = row.value.isEmpty() ? row.label : row.label + QStringLiteral(": ") + row.value;
        QToolTip::showText(help->globalPos(), row.toolTip.isEmpty() ? full : row.toolTip, this);
    }
    return true;
}

} // namespace pw::ui
