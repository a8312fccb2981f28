#include "ui/docks/rewards_panel.h"

#include "ui/document.h"
#include "ui/run_curves.h"
#include "ui/words.h"
#include "viz/plots/reward_plot.h"
#include "viz/theme/icon.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QSignalBlocker>
#include <QSlider>
#include <QTableWidget>
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
};
constexpr Metric kMetrics[] = {
    {"step_time_us", QT_TR_NOOP("Step time"), "ms", 1e-3},
    {"best_step_time_us", QT_TR_NOOP("Best step time"), "ms", 1e-3},
    {"reward", QT_TR_NOOP("Reward"), "", 1.0},
    {"entropy", QT_TR_NOOP("Entropy"), "nats", 1.0},
    {"grad_norm", QT_TR_NOOP("Gradient norm"), "", 1.0},
    {"lr", QT_TR_NOOP("Learning rate"), "", 1.0},
};

constexpr int kRunRole = Qt::UserRole;

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
    tools->addWidget(m_fit);
    tools->addWidget(m_export);

    m_list = new QTableWidget(0, 3, this);
    m_list->setHorizontalHeaderLabels({tr("Step time, ms"), tr("now"), tr("best")});
    m_list->verticalHeader()->hide();
    m_list->verticalHeader()->setDefaultSectionSize(22);
    m_list->setShowGrid(false);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_list->setSelectionMode(QAbstractItemView::NoSelection);
    m_list->setIconSize(QSize(28, 12));
    m_list->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    for (const int column : {1, 2}) {
        m_list->horizontalHeader()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
        m_list->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    m_list->horizontalHeaderItem(0)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_list->setFixedWidth(290);
    m_list->hide();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    row->addWidget(m_plot, 1);
    row->addWidget(m_list);
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
    connect(m_list, &QTableWidget::itemChanged, this, [this](QTableWidgetItem* item) {
        if (item->column() == 0)
            m_curves->setShown(item->data(kRunRole).toLongLong(), item->checkState() == Qt::Checked);
    });
    connect(curves, &RunCurves::curveAdded, this, &RewardsPanel::addCurve);
    connect(curves, &RunCurves::curveAppended, this, &RewardsPanel::appendCurve);
    connect(curves, &RunCurves::curveChanged, this, [this](qint64 run) {
        const auto* curve = m_curves->find(run);
        m_plot->removeRun(run);
        if (curve && curve->shown) {
            m_plot->addRun(run, curve->name, curve->style, curve->live);
            appendCurve(run, 0);
        }
        refreshRow(run);
    });
    connect(curves, &RunCurves::curveRemoved, this, [this](qint64 run) {
        m_plot->removeRun(run);
        if (const int index = rowOf(run); index >= 0)
            m_list->removeRow(index);
        m_list->setVisible(m_list->rowCount() > 0);
    });
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
    const QSignalBlocker blocker(m_list);
    for (const auto& [run, curve] : m_curves->curves())
        if (const int row = rowOf(run); row >= 0)
            m_list->item(row, 0)->setIcon(styleIcon(curve.style));
}

void RewardsPanel::chooseMetric() {
    const Metric& metric = kMetrics[std::max(0, m_metric->currentIndex())];
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

int RewardsPanel::rowOf(qint64 run) const {
    for (int row = 0; row < m_list->rowCount(); ++row)
        if (m_list->item(row, 0)->data(kRunRole).toLongLong() == run)
            return row;
    return -1;
}

void RewardsPanel::addCurve(qint64 run) {
    const auto* curve = m_curves->find(run);
    if (!curve)
        return;
    m_plot->addRun(run, curve->name, curve->style, curve->live);
    const QSignalBlocker blocker(m_list);
    const int row = m_list->rowCount();
    m_list->insertRow(row);
    auto* name = new QTableWidgetItem(styleIcon(curve->style), curve->name);
    name->setData(kRunRole, static_cast<qlonglong>(run));
    name->setFlags(Qt::ItemIsEnabled | Qt::ItemIsUserCheckable);
    name->setCheckState(Qt::Checked);
    m_list->setItem(row, 0, name);
    for (const int column : {1, 2}) {
        auto* item = new QTableWidgetItem(QStringLiteral("–"));
        item->setFlags(Qt::ItemIsEnabled);
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        m_list->setItem(row, column, item);
    }
    m_list->show();
    if (!curve->steps.empty())
        appendCurve(run, 0);
    refreshRow(run);
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
    refreshRow(run);
}

void RewardsPanel::refreshRow(qint64 run) {
    const auto* curve = m_curves->find(run);
    const int row = rowOf(run);
    if (!curve || row < 0)
        return;
    const QSignalBlocker blocker(m_list);
    const auto last = [curve](const char* key) {
        const auto values = curve->values.find(key);
        return values == curve->values.end() || values->second.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                                       : values->second.back();
    };
    m_list->item(row, 0)->setText(curve->live ? tr("%1, live").arg(curve->name) : curve->name);
    m_list->item(row, 0)->setCheckState(curve->shown ? Qt::Checked : Qt::Unchecked);
    m_list->item(row, 1)->setText(words::milliseconds(last("step_time_us")));
    m_list->item(row, 2)->setText(words::milliseconds(last("best_step_time_us")));
}

} // namespace pw::ui
