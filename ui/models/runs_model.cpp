#include "ui/models/runs_model.h"

#include "ui/project.h"
#include "ui/words.h"
#include "viz/theme/icon.h"

#include <algorithm>
#include <limits>

namespace pw::ui {

RunsModel::RunsModel(QObject* parent)
    : SealedTableModel({{tr("Run"), Qt::AlignLeft, false, {}},
                        {tr("Graph"), Qt::AlignLeft, false, {}},
                        {tr("Devices"), Qt::AlignLeft, false, {}},
                        {tr("Status"), Qt::AlignLeft, false, {}},
                        {tr("Step, ms"), Qt::AlignRight, false, tr("Best valid step time found, simulated")},
                        {tr("Steps"), Qt::AlignRight, false, tr("Episodes, or samples recorded")},
                        {tr("Evaluations"), Qt::AlignRight, false, tr("Placements simulated")},
                        {tr("Time"), Qt::AlignRight, false, tr("Wall time, over all resumes")},
                        {tr("Started"), Qt::AlignLeft, false, {}},
                        {tr("Tags"), Qt::AlignLeft, true, tr("Words separated by commas; double-click to edit")},
                        {tr("Note"), Qt::AlignLeft, true, tr("Double-click to edit")}},
                       parent) {}

void RunsModel::setRuns(std::vector<RunRecord> runs) {
    const bool sameRows = runs.size() == m_runs.size() &&
                          std::equal(runs.begin(), runs.end(), m_runs.begin(),
                                     [](const auto& a, const auto& b) { return a.id == b.id; });
    if (sameRows) { // why: a reset would drop the selection and an open editor while a training reports
        m_runs = std::move(runs);
        if (!m_runs.empty())
            Q_EMIT dataChanged(index(0, 0), index(rows() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_runs = std::move(runs);
    endResetModel();
}

void RunsModel::setTheme(const viz::Theme& theme) {
    m_icons = {{RunStatus::Running, viz::icon(QStringLiteral("play"), theme)},
               {RunStatus::Done, viz::icon(QStringLiteral("valid"), theme)},
               {RunStatus::Stopped, viz::icon(QStringLiteral("stop"), theme)},
               {RunStatus::Failed, viz::icon(QStringLiteral("abort"), theme)},
               {RunStatus::Interrupted, viz::icon(QStringLiteral("warning"), theme)}};
    if (rows() > 0)
        Q_EMIT dataChanged(index(0, Status), index(rows() - 1, Status), {Qt::DecorationRole});
}

QString RunsModel::text(const RunRecord& run, int column) const {
    switch (column) {
    case Run: return runTitle(run.spec);
    case Graph: return words::fromUtf8(run.spec.graphName);
    case Devices: return words::fromUtf8(run.spec.deviceSetName);
    case Status: return words::statusTitle(run.status);
    case StepMs: return run.bestStepTimeUs ? words::milliseconds(*run.bestStepTimeUs) : QStringLiteral("–");
    case Steps: return words::count(run.steps);
    case Evaluations: return words::count(run.evaluations);
    case Time: return words::duration(run.seconds);
    case Started: return words::when(run.startedAt);
    case Tags: {
        QStringList tags;
        for (const auto& tag : run.tags)
            tags.append(words::fromUtf8(tag));
        return tags.join(QStringLiteral(", "));
    }
    case Note: return words::fromUtf8(run.note);
    }
    return {};
}

QVariant RunsModel::sortKey(const RunRecord& run, int column) const {
    switch (column) {
    case StepMs: return run.bestStepTimeUs.value_or(std::numeric_limits<double>::infinity());
    case Steps: return static_cast<qlonglong>(run.steps);
    case Evaluations: return static_cast<qlonglong>(run.evaluations);
    case Time: return run.seconds;
    case Started: return static_cast<qlonglong>(run.startedAt);
    default: return text(run, column).toLower();
    }
}

QVariant RunsModel::cell(int row, int column, int role) const {
    const RunRecord& run = m_runs[static_cast<std::size_t>(row)];
    switch (role) {
    case Qt::DisplayRole: return text(run, column);
    case SortRole: return sortKey(run, column);
    case IdRole: return static_cast<qlonglong>(run.id);
    case Qt::DecorationRole: {
        const auto icon = column == Status ? m_icons.find(run.status) : m_icons.end();
        return icon == m_icons.end() ? QVariant() : QVariant(icon->second);
    }
    case Qt::ToolTipRole:
        if (column == Status && !run.error.empty())
            return words::fromUtf8(run.error);
        if (column == Note && !run.note.empty())
            return words::fromUtf8(run.note);
        return {};
    default: return {};
    }
}

bool RunsModel::edit(int row, int column, const QVariant& value) {
    RunRecord& run = m_runs[static_cast<std::size_t>(row)];
    if (column == Note) {
        run.note = value.toString().toStdString();
        Q_EMIT noteEdited(run.id, value.toString());
        return true;
    }
    if (column != Tags)
        return false;
    std::vector<std::string> tags;
    const QStringList parts = value.toString().split(QLatin1Char(','), Qt::SkipEmptyParts);
    for (const QString& part : parts)
        if (!part.trimmed().isEmpty())
            tags.push_back(part.trimmed().toStdString());
    run.tags = tags;
    Q_EMIT tagsEdited(run.id, tags);
    return true;
}

bool RunsModel::matches(int row, const QString& text) const {
    const RunRecord& run = m_runs[static_cast<std::size_t>(row)];
    QString all;
    for (const int column : {Run, Graph, Devices, Status, Tags, Note})
        all += this->text(run, column) + QLatin1Char('\n');
    const QStringList parts = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    return std::all_of(parts.begin(), parts.end(),
                       [&all](const QString& part) { return all.contains(part, Qt::CaseInsensitive); });
}

} // namespace pw::ui
