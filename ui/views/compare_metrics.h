#pragma once

#include "ui/compare.h"
#include "ui/views/facts_view.h"

#include <QWidget>

namespace pw::ui {

/// One line of the comparison: both values and the difference, computed from the rounded figures so that rows add up.
struct MetricRow {
    QString name;
    QString base;
    QString candidate;
    QString difference;
    QString unit;
    DeviceId device;       ///< chip behind the name
    int better = 0;        ///< 1 the candidate is better, -1 worse, 0 equal or neither
};
std::vector<MetricRow> metricRows(const Comparison& comparison);

/// The rows, painted: figures aligned, worse ones by arrow and colour.
class CompareMetrics : public QWidget {
    Q_OBJECT

public:
    explicit CompareMetrics(QWidget* parent = nullptr);
    void setRows(std::vector<MetricRow> rows);
    void setTheme(const viz::Theme& theme);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {240, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<MetricRow> m_rows;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
