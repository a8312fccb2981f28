#include "ui/views/compare_metrics.h"

#include "ui/words.h"

#include <QPainter>

#include <cmath>

namespace pw::ui {

namespace {

constexpr int kRow = 21;
constexpr int kMargin = 8;

MetricRow makeRow(const QString& name, double base, double candidate, int decimals, const QString& unit, bool lessIsBetter) {
    const double scale = std::pow(10.0, decimals);
    const double difference = (std::round(candidate * scale) - std::round(base * scale)) / scale;
    MetricRow row;
    row.name = name;
    row.base = words::fixed(base, decimals);
    row.candidate = words::fixed(candidate, decimals);
    row.difference = words::signedFixed(difference, decimals);
    row.unit = unit;
    if (difference != 0.0 && std::isfinite(difference))
        row.better = (difference < 0) == lessIsBetter ? 1 : -1;
    return row;
}

double pathTransfersUs(const Schedule& schedule) {
    double us = 0.0;
    for (const PathStep& step : schedule.criticalPath)
        if (!step.op.isValid())
            us += step.endUs - step.startUs;
    return us;
}

} // namespace

std::vector<MetricRow> metricRows(const Comparison& comparison) {
    const Schedule& base = *comparison.base;
    const Schedule& candidate = *comparison.candidate;
    const QString ms = QObject::tr("ms");
    std::vector<MetricRow> rows;
    rows.push_back(makeRow(QObject::tr("Step time"), base.stepTimeUs / 1e3, candidate.stepTimeUs / 1e3, 1, ms, true));
    if (comparison.boundUs > 0)
        rows.push_back(makeRow(QObject::tr("Step over lower bound"), base.stepTimeUs / comparison.boundUs,
                               candidate.stepTimeUs / comparison.boundUs, 2, QStringLiteral("×"), true));
    const double transfersBase = pathTransfersUs(base), transfersCandidate = pathTransfersUs(candidate);
    rows.push_back(makeRow(QObject::tr("Critical path, compute"), (base.stepTimeUs - transfersBase) / 1e3,
                           (candidate.stepTimeUs - transfersCandidate) / 1e3, 1, ms, true));
    rows.push_back(makeRow(QObject::tr("Critical path, transfers"), transfersBase / 1e3, transfersCandidate / 1e3, 1, ms, true));
    rows.push_back(makeRow(QObject::tr("Sent between devices"), static_cast<double>(base.transferBytes) / 1e9,
                           static_cast<double>(candidate.transferBytes) / 1e9, 2, QStringLiteral("GB"), true));
    for (std::size_t d = 0; d < base.peakBytes.size(); ++d) {
        MetricRow row = makeRow(QObject::tr("Peak memory"), static_cast<double>(base.peakBytes[d]) / 1e9,
                                static_cast<double>(candidate.peakBytes[d]) / 1e9, 2, QStringLiteral("GB"), true);
        row.device = DeviceId(d);
        rows.push_back(std::move(row));
    }
    return rows;
}

CompareMetrics::CompareMetrics(QWidget* parent) : QWidget(parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void CompareMetrics::setRows(std::vector<MetricRow> rows) {
    m_rows = std::move(rows);
    updateGeometry();
    update();
}

void CompareMetrics::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    update();
}

QSize CompareMetrics::sizeHint() const {
    return {360, (static_cast<int>(m_rows.size()) + 1) * kRow + 8};
}

void CompareMetrics::paintEvent(QPaintEvent*) {
    if (m_rows.empty())
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int unitWidth = 26;
    const int figure = std::clamp((width() - 2 * kMargin - unitWidth) / 5, 64, 92);
    const int right = width() - kMargin - unitWidth;
    const QRect difference(right - figure - 14, 0, figure + 14, kRow);
    const QRect candidate(difference.left() - figure, 0, figure, kRow);
    const QRect base(candidate.left() - figure, 0, figure, kRow);
    painter.setPen(m_theme.muted);
    painter.drawText(base, Qt::AlignRight | Qt::AlignVCenter, tr("Base"));
    painter.drawText(candidate, Qt::AlignRight | Qt::AlignVCenter, tr("Candidate"));
    painter.drawText(difference, Qt::AlignRight | Qt::AlignVCenter, tr("Difference"));
    painter.fillRect(QRect(kMargin, kRow, width() - 2 * kMargin, 1), m_theme.line);
    int y = kRow + 2;
    bool first = true;
    for (const MetricRow& row : m_rows) {
        QFont font = this->font();
        painter.setFont(font);
        painter.setPen(m_theme.text);
        painter.drawText(QRect(kMargin, y, base.left() - kMargin, kRow), Qt::AlignVCenter, row.name);
        if (row.device.isValid()) {
            const int x = kMargin + fontMetrics().horizontalAdvance(row.name) + 6;
            viz::paintDeviceChip(painter, QRectF(x + 0.5, y + 3.5, 14, 14), row.device, m_theme);
            painter.setFont(font);
            painter.setPen(m_theme.text);
        }
        painter.drawText(base.translated(0, y), Qt::AlignRight | Qt::AlignVCenter, row.base);
        painter.drawText(candidate.translated(0, y), Qt::AlignRight | Qt::AlignVCenter, row.candidate);
        font.setBold(first);
        painter.setFont(font);
        const QString arrow = row.better == 0 ? QString() : row.difference.startsWith(QLatin1Char('+')) ? QStringLiteral("▲ ") : QStringLiteral("▼ ");
        painter.setPen(row.better < 0 ? m_theme.danger : m_theme.text);
        painter.drawText(difference.translated(0, y), Qt::AlignRight | Qt::AlignVCenter, arrow + row.difference);
        font.setBold(false);
        painter.setFont(font);
        painter.setPen(m_theme.muted);
        painter.drawText(QRect(right + 6, y, unitWidth, kRow), Qt::AlignVCenter, row.unit);
        y += kRow;
        first = false;
    }
}

} // namespace pw::ui
