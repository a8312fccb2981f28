#pragma once

#include "viz/theme/theme.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QLabel;
class QSlider;
class QToolButton;
QT_END_NAMESPACE

namespace pw::viz {
class RewardPlot;
}

namespace pw::ui {

class Document;
class RunCurves;

/// Curves of training runs: one metric, several runs with a tick each, smoothing, log axis, reference lines, export.
class RewardsPanel : public QWidget {
    Q_OBJECT

public:
    RewardsPanel(RunCurves* curves, Document* document, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    QWidget* tools() const { return m_tools; }
    viz::RewardPlot* plot() const { return m_plot; }
    QComboBox* metric() const { return m_metric; }
    QToolButton* runsButton() const { return m_runs; }

Q_SIGNALS:
    void exportRequested();

private:
    void chooseMetric();
    void refreshReferences();
    void addCurve(qint64 run);
    void appendCurve(qint64 run, std::size_t from);
    void fillRunsMenu();
    QIcon styleIcon(int style) const;

    RunCurves* m_curves;
    Document* m_document;
    QWidget* m_tools;
    viz::RewardPlot* m_plot;
    QComboBox* m_metric;
    QSlider* m_smoothing;
    QLabel* m_smoothingText;
    QCheckBox* m_log;
    QToolButton* m_runs;
    QToolButton* m_fit;
    QToolButton* m_export;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
