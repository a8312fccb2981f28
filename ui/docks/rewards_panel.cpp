#include "ui/docks/rewards_panel.h"

#include "ui/document.h"
#include "ui/run_curves.h"
#include "ui/words.h"
#include "viz/plots/reward_plot.h"
#include "viz/theme/icon.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QSlider>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pw::ui {

namespace {

struct Metric {
    const char* key;
    const char* label;
    const char* unit;
    double scale;
    bool lowestIsBest;
};
constexpr Metric kMetrics[] = {
    {"step_time_us", QT_TR_NOOP("Step time"), "ms", 1e-3, true},
    {"best_step_time_us", QT_TR_NOOP("Best step time"), "ms", 1e-3, true},
    {"reward", QT_TR_NOOP("Reward"), "", 1.0, false},
    {"entropy", QT_TR_NOOP("Entropy"), "nats", 1.0, true},
    {"grad_norm", QT_TR_NOOP("Gradient norm"), "", 1.0, true},
    {"lr", QT_TR_NOOP("Learning rate"), "", 1.0, true},
};

} // namespace

RewardsPanel::RewardsPanel(RunCurves* curves, Document* document, QWidget* parent)
    : QWidget(parent), m_curves(curves), m_document(document), m_plot(new viz::RewardPlot(this)) {
    m_tools = new QWidget(this);
    auto* tools = new QHBoxLayout(m_tools);
    tools->setContentsMargins(0, 0, 4, 0);
    tools->setSpacing(8);
    m_metric = new QComboBox(m_tools);
    m_metric->setProperty("small", true);
    for (const Metric& metric : kMetrics)
        m_metric->addItem(tr(metric.label));
    m_smoothing = new QSlider(Qt::Horizontal, m_tools);
    m_smoothing->setRange(0, 98);
    m_smoothing->setValue(80);
    m_smoothing->setFixedWidth(90);
    m_smoothing->setToolTip(tr("Weight of the exponential moving average; the raw values stay as a band"));
    m_smoothingText = new QLabel(m_tools);
    m_log = new QCheckBox(tr("Log y"), m_tools);
    m_runs = new QToolButton(m_tools);
    m_runs->setText(tr("Runs"));
    m_runs->setToolTip(tr("Which runs are drawn"));
    m_runs->setPopupMode(QToolButton::InstantPopup);
    m_runs->setMenu(new QMenu(m_runs));
    connect(m_runs->menu(), &QMenu::aboutToShow, this, &RewardsPanel::fillRunsMenu);
    m_fit = new QToolButton(m_tools);
    m_fit->setToolTip(tr("Show all"));
    m_fit->setProperty("small", true);
    m_export = new QToolButton(m_tools);
    m_export->setToolTip(tr("Export the curves as PNG, SVG, PDF or CSV"));
    m_export->setProperty("small", true);
    tools->addWidget(m_metric);
    tools->addWidget(new QLabel(tr("Smoothing"), m_tools));
    tools->addWidget(m_smoothing);
    tools->addWidget(m_smoothingText);
    tools->addWidget(m_log);
    tools->addWidget(m_runs);
    tools->addWidget(m_fit);
    tools->addWidget(m_export);

    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_plot, 1);
    m_plot->setXLabel(tr("episode"));
    m_plot->setEmptyText(tr("No run has recorded a reward. Start one with Train…"));

    connect(m_metric, &QComboBox::currentIndexChanged, this, &RewardsPanel::chooseMetric);
    connect(m_smoothing, &QSlider::valueChanged, this, [this](int value) {
        m_plot->setSmoothing(value / 100.0);
        m_smoothingText->setText(QString::number(value / 100.0, 'f', 2));
    });
    connect(m_log, &QCheckBox::toggled, m_plot, &viz::RewardPlot::setLogY);
    connect(m_fit, &QToolButton::clicked, m_plot, &viz::RewardPlot::zoomToFit);
    connect(m_export, &QToolButton::clicked, this, &RewardsPanel::exportRequested);
    connect(curves, &RunCurves::curveAdded, this, &RewardsPanel::addCurve);
    connect(curves, &RunCurves::curveAppended, this, &RewardsPanel::appendCurve);
    connect(curves, &RunCurves::curveChanged, this, [this](qint64 run) {
        const auto* curve = m_curves->find(run);
        m_plot->removeRun(run);
        if (curve && curve->shown) {
            m_plot->addRun(run, curve->name, curve->style, curve->live);
            appendCurve(run, 0);
        }
    });
    connect(curves, &RunCurves::curveRemoved, m_plot, &viz::RewardPlot::removeRun);
    connect(document, &Document::placementsChanged, this, &RewardsPanel::refreshReferences);
    connect(document, &Document::situationChanged, this, &RewardsPanel::refreshReferences);
    m_plot->setSmoothing(m_smoothing->value() / 100.0);
    m_smoothingText->setText(QString::number(m_smoothing->value() / 100.0, 'f', 2));
    chooseMetric();
}

QIcon RewardsPanel::styleIcon(int style) const {
    const viz::RunStyle look = viz::runStyle(style, m_theme);
    QPixmap pixmap(QSize(28, 12) * devicePixelRatioF());
    pixmap.setDevicePixelRatio(devicePixelRatioF());
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    QPen pen(look.color, 2);
    if (!look.dash.isEmpty()) {
        QList<qreal> dash;
        for (const qreal length : look.dash)
            dash.append(length / 2);
        pen.setDashPattern(dash);
        pen.setCapStyle(Qt::FlatCap);
    }
    painter.setPen(pen);
    painter.drawLine(QPointF(0, 6), QPointF(28, 6));
    return QIcon(pixmap);
}

void RewardsPanel::setTheme(const viz::Theme& theme) {
    m_theme = theme;
    m_plot->setTheme(theme);
    m_fit->setIcon(viz::icon(QStringLiteral("fit"), theme));
    m_export->setIcon(viz::icon(QStringLiteral("export"), theme));
}

void RewardsPanel::chooseMetric() {
    const Metric& metric = kMetrics[std::max(0, m_metric->currentIndex())];
    m_plot->setLowestIsBest(metric.lowestIsBest);
    m_plot->setMetric(QLatin1String(metric.key), tr(metric.label), QLatin1String(metric.unit), metric.scale);
    for (const auto& [run, curve] : m_curves->curves()) {
        if (!curve.shown)
            continue;
        const auto values = curve.values.find(metric.key);
        m_plot->setData(run, curve.steps,
                        values != curve.values.end()
                            ? values->second
                            : std::vector<double>(curve.steps.size(), std::numeric_limits<double>::quiet_NaN()));
    }
    refreshReferences();
    m_plot->zoomToFit();
}

void RewardsPanel::refreshReferences() {
    const bool times = m_metric->currentIndex() <= 1;
    const double none = std::numeric_limits<double>::quiet_NaN();
    const auto situation = m_document->situation();
    double metis = none;
    for (const PlacementEntry* placement : m_document->placements())
        if (placement->method == QLatin1String("metis") && placement->evaluated && placement->valid)
            metis = std::isnan(metis) ? placement->stepTimeUs : std::min(metis, placement->stepTimeUs);
    const bool single = situation && situation->single.valid;
    m_plot->setReference(tr("METIS"), times ? metis : none);
    m_plot->setReference(tr("single device"), times && single ? situation->single.stepTimeUs : none);
    m_plot->setReference(tr("lower bound"), times && situation ? situation->bounds.best() : none);
}

void RewardsPanel::fillRunsMenu() {
    QMenu* menu = m_runs->menu();
    menu->clear();
    for (const auto& [run, curve] : m_curves->curves()) {
        QAction* action = menu->addAction(styleIcon(curve.style), curve.live ? tr("%1, live").arg(curve.name) : curve.name);
        action->setCheckable(true);
        action->setChecked(curve.shown);
        connect(action, &QAction::toggled, m_curves, [this, id = run](bool on) { m_curves->setShown(id, on); });
    }
    if (m_curves->isEmpty())
        menu->addAction(tr("No curve yet. Train…, or Curve in the Runs table."))->setEnabled(false);
}

void RewardsPanel::addCurve(qint64 run) {
    const auto* curve = m_curves->find(run);
    if (!curve)
        return;
    m_plot->addRun(run, curve->name, curve->style, curve->live);
    if (!curve->steps.empty())
        appendCurve(run, 0);
}

void RewardsPanel::appendCurve(qint64 run, std::size_t from) {
    const auto* curve = m_curves->find(run);
    if (!curve || from >= curve->steps.size())
        return;
    const Metric& metric = kMetrics[std::max(0, m_metric->currentIndex())];
    const auto values = curve->values.find(metric.key);
    if (curve->shown && values != curve->values.end()) {
        const auto begin = static_cast<std::ptrdiff_t>(from);
        m_plot->append(run, {curve->steps.begin() + begin, curve->steps.end()},
                       {values->second.begin() + begin, values->second.end()});
    }
}

} // namespace pw::ui
