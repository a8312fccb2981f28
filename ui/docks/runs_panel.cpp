#include "ui/docks/runs_panel.h"

#include "ui/models/runs_model.h"
#include "ui/project.h"
#include "viz/theme/icon.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

#include <utility>

namespace pw::ui {

class RunsPanel::Filter : public QSortFilterProxyModel {
public:
    explicit Filter(RunsModel* model, QObject* parent) : QSortFilterProxyModel(parent), m_model(model) {
        setSourceModel(model);
        setSortRole(RunsModel::SortRole);
    }
    void setText(const QString& text) {
        m_text = text;
        invalidateFilter();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex&) const override { return m_model->matches(row, m_text); }

private:
    RunsModel* m_model;
    QString m_text;
};

RunsPanel::RunsPanel(Project* project, QWidget* parent)
    : QWidget(parent), m_project(project), m_model(new RunsModel(this)), m_proxy(new Filter(m_model, this)) {
    m_tools = new QWidget(this);
    auto* tools = new QHBoxLayout(m_tools);
    tools->setContentsMargins(0, 0, 4, 0);
    tools->setSpacing(4);
    m_filter = new QLineEdit(m_tools);
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setProperty("small", true);
    m_filter->setClearButtonEnabled(true);
    m_filter->setFixedWidth(96);
    const auto button = [&](const QString& tip) {
        auto* made = new QToolButton(m_tools);
        made->setProperty("small", true);
        made->setToolTip(tip);
        made->setAccessibleName(tip);
        tools->addWidget(made);
        return made;
    };
    tools->addWidget(m_filter);
    m_curve = button(tr("Draw the curves of the selected runs under Rewards"));
    m_resume = button(tr("Go on with a training run from its last checkpoint"));
    m_delete = button(tr("Delete the selected runs from the project"));
    m_export = button(tr("Export this table"));

    m_table = new QTableView(this);
    m_table->setObjectName(QStringLiteral("runsTable"));
    m_table->setModel(m_proxy);
    m_table->setSortingEnabled(true);
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setAlternatingRowColors(true);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(22);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_table->setIconSize(QSize(14, 14));
    arrangeColumns();
    m_table->sortByColumn(RunsModel::Started, Qt::DescendingOrder);
    auto* empty = new QLabel(tr("No run has been recorded. Place ▸ METIS or Train… starts one."), this);
    empty->setAlignment(Qt::AlignCenter);
    empty->setWordWrap(true);
    empty->setProperty("role", "secondary");
    m_stack = new QStackedWidget(this);
    m_stack->addWidget(empty);
    m_stack->addWidget(m_table);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);

    connect(project, &Project::runsChanged, this, [this] {
        m_model->setRuns(m_project->runs());
        m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 1 : 0);
        refreshButtons();
    });
    connect(m_model, &RunsModel::tagsEdited, project, &Project::setTags);
    connect(m_model, &RunsModel::noteEdited, project,
            [project](qint64 run, const QString& note) { project->setNote(run, note.toStdString()); });
    connect(m_filter, &QLineEdit::textChanged, m_proxy, &Filter::setText);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPanel::refreshButtons);
    connect(m_curve, &QToolButton::clicked, this, [this] {
        const QList<qint64> runs = selectedRuns();
        for (const qint64 run : runs)
            Q_EMIT curveRequested(run);
    });
    connect(m_resume, &QToolButton::clicked, this, [this] { Q_EMIT resumeRequested(selectedRuns().value(0)); });
    connect(m_delete, &QToolButton::clicked, this, &RunsPanel::askDelete);
    connect(m_export, &QToolButton::clicked, this, &RunsPanel::exportRequested);
    refreshButtons();
}

/// What tells runs apart comes first; the columns that are seldom read are reached by scrolling.
void RunsPanel::arrangeColumns() {
    constexpr std::pair<RunsModel::Column, int> kColumns[] = {
        {RunsModel::Run, 128},   {RunsModel::Status, 96}, {RunsModel::StepMs, 70}, {RunsModel::Devices, 62},
        {RunsModel::Tags, 76},   {RunsModel::Time, 72},   {RunsModel::Steps, 52},  {RunsModel::Graph, 100},
        {RunsModel::Started, 88}, {RunsModel::Evaluations, 84}, {RunsModel::Note, 80}};
    QHeaderView* header = m_table->horizontalHeader();
    int place = 0;
    for (const auto& [column, width] : kColumns) {
        header->moveSection(header->visualIndex(column), place++);
        m_table->setColumnWidth(column, width);
    }
}

QList<qint64> RunsPanel::selectedRuns() const {
    QList<qint64> runs;
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    for (const QModelIndex& row : rows)
        runs.append(row.data(RunsModel::IdRole).toLongLong());
    return runs;
}

void RunsPanel::refreshButtons() {
    const QList<qint64> runs = selectedRuns();
    m_curve->setEnabled(!runs.isEmpty());
    m_delete->setEnabled(!runs.isEmpty());
    m_export->setEnabled(m_model->rowCount() > 0);
    const RunRecord* run = runs.size() == 1 ? m_project->findRun(runs.first()) : nullptr;
    m_resume->setEnabled(run && run->spec.kind == "train" && run->status != RunStatus::Running);
}

void RunsPanel::askDelete() {
    const QList<qint64> runs = selectedRuns();
    auto* box = new QMessageBox(QMessageBox::Question, tr("Delete runs"),
                                tr("Delete %1 runs with their curves, placements and checkpoints?").arg(runs.size()),
                                QMessageBox::Cancel, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* yes = box->addButton(tr("Delete"), QMessageBox::DestructiveRole);
    connect(yes, &QPushButton::clicked, m_project, [this, runs] {
        for (const qint64 run : runs)
            m_project->deleteRun(run);
    });
    box->open();
}

QString RunsPanel::toCsv() const {
    QString csv;
    const auto quoted = [](QString text) {
        return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
    };
    for (int column = 0; column < m_proxy->columnCount(); ++column)
        csv += (column > 0 ? QStringLiteral(",") : QString()) + quoted(m_proxy->headerData(column, Qt::Horizontal).toString());
    csv += QLatin1Char('\n');
    for (int row = 0; row < m_proxy->rowCount(); ++row) {
        for (int column = 0; column < m_proxy->columnCount(); ++column) {
            const QModelIndex index = m_proxy->index(row, column);
            // Step times go out as plain figures that a program can read.
            const QString text = column == RunsModel::StepMs
                                     ? QString::number(index.data(RunsModel::SortRole).toDouble() / 1000.0)
                                     : index.data().toString();
            csv += (column > 0 ? QStringLiteral(",") : QString()) + quoted(text);
        }
        csv += QLatin1Char('\n');
    }
    return csv;
}

void RunsPanel::setTheme(const viz::Theme& theme) {
    m_model->setTheme(theme);
    m_curve->setIcon(viz::icon(QStringLiteral("curve"), theme));
    m_resume->setIcon(viz::icon(QStringLiteral("resume"), theme));
    m_delete->setIcon(viz::icon(QStringLiteral("abort"), theme));
    m_export->setIcon(viz::icon(QStringLiteral("export"), theme));
}

} // namespace pw::ui
