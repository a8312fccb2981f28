#include "ui/views/flow_matrix.h"

#include "ui/words.h"

#include <QPainter>

#include <algorithm>

namespace pw::ui {

namespace {
constexpr int kRow = 22;
constexpr int kNameWidth = 76;
constexpr int kMargin = 8;
} // namespace

FlowMatrix::FlowMatrix(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void FlowMatrix::setComparison(std::shared_ptr<const Comparison> comparison) {
    m_comparison = std::move(comparison);
    updateGeometry();
    update();
}

void FlowMatrix::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    update();
}

QSize FlowMatrix::sizeHint() const {
    const int devices = m_comparison ? static_cast<int>(m_comparison->flow.size()) : 2;
    return {300, (devices + 2) * kRow + 8};
}

void FlowMatrix::paintEvent(QPaintEvent*) {
    if (!m_comparison)
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto& flow = m_comparison->flow;
    const int devices = static_cast<int>(flow.size());
    const int cell = std::max(18, (width() - kNameWidth - 2 * kMargin) / (devices + 2));
    const auto column = [&](int c) { return QRect(kMargin + kNameWidth + c * cell, 0, cell, kRow); };
    std::size_t most = 1;
    for (int r = 0; r < devices; ++r)
        for (int c = 0; c < devices; ++c)
            if (r != c)
                most = std::max(most, flow[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)]);
    const auto write = [&](const QRect& rect, const QString& text, const QColor& color, bool bold = false) {
        QFont font = this->font();
        font.setBold(bold);
        painter.setFont(font);
        painter.setPen(color);
        painter.drawText(rect.adjusted(2, 0, -6, 0), Qt::AlignRight | Qt::AlignVCenter, text);
    };
    painter.setPen(m_theme.muted);
    painter.drawText(QRect(kMargin, 0, kNameWidth, kRow), Qt::AlignVCenter, tr("ops"));
    for (int c = 0; c < devices; ++c)
        viz::paintDeviceChip(painter, QRectF(column(c).right() - 22, 3.5, 15, 15), DeviceId(static_cast<std::size_t>(c)), m_theme);
    write(column(devices), tr("all"), m_theme.muted);
    write(column(devices + 1), tr("moved"), m_theme.muted);
    std::vector<std::size_t> columnSums(flow.size(), 0);
    for (int r = 0; r < devices; ++r) {
        const DeviceId device(static_cast<std::size_t>(r));
        const int y = (r + 1) * kRow;
        viz::paintDeviceChip(painter, QRectF(kMargin + 0.5, y + 3.5, 15, 15), device, m_theme);
        painter.setFont(font());
        painter.setPen(m_theme.text);
        painter.drawText(QRect(kMargin + 22, y, kNameWidth, kRow), Qt::AlignVCenter,
                         words::deviceTitle(m_comparison->problem->devices().device(device), device));
        std::size_t all = 0, moved = 0;
        for (int c = 0; c < devices; ++c) {
            const std::size_t count = flow[device.index()][static_cast<std::size_t>(c)];
            const QRect rect = column(c).translated(0, y);
            all += count;
            columnSums[static_cast<std::size_t>(c)] += count;
            if (r != c) {
                moved += count;
                QColor shade = m_theme.accent;
                shade.setAlphaF(0.4F * static_cast<float>(count) / static_cast<float>(most));
                painter.fillRect(rect.adjusted(0, 0, -1, -1), shade);
            }
            write(rect, words::count(static_cast<std::int64_t>(count)), r == c ? m_theme.muted : m_theme.text);
        }
        write(column(devices).translated(0, y), words::count(static_cast<std::int64_t>(all)), m_theme.text);
        write(column(devices + 1).translated(0, y), words::count(static_cast<std::int64_t>(moved)), m_theme.text, true);
    }
    const int y = (devices + 1) * kRow;
    painter.setFont(font());
    painter.setPen(m_theme.muted);
    painter.drawText(QRect(kMargin, y, kNameWidth, kRow), Qt::AlignVCenter, tr("all"));
    for (int c = 0; c < devices; ++c)
        write(column(c).translated(0, y), words::count(static_cast<std::int64_t>(columnSums[static_cast<std::size_t>(c)])), m_theme.text);
    write(column(devices).translated(0, y), words::count(static_cast<std::int64_t>(m_comparison->moved.size())), m_theme.text);
    write(column(devices + 1).translated(0, y), words::count(static_cast<std::int64_t>(m_comparison->movedOps)), m_theme.text, true);
}

} // namespace pw::ui
