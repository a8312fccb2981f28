#pragma once

#include "core/experiment/run_repository.h"
#include "ui/models/sealed_table_model.h"
#include "viz/theme/theme.h"

#include <QIcon>

#include <map>

namespace pw::ui {

/// The runs of the project, one a row. Tags and note can be edited; the change is told, not stored, here.
class RunsModel : public SealedTableModel {
    Q_OBJECT

public:
    enum Column { Run, Graph, Devices, Status, StepMs, Steps, Evaluations, Time, Started, Tags, Note, ColumnCount };

    explicit RunsModel(QObject* parent = nullptr);
    void setRuns(std::vector<RunRecord> runs);
    void setTheme(const viz::Theme& theme); ///< for the icons beside the words of the status
    const std::vector<RunRecord>& records() const { return m_runs; }
    /// Every word of `text` is in the row's name, graph, devices, status, tags or note.
    bool matches(int row, const QString& text) const;

Q_SIGNALS:
    void tagsEdited(qint64 run, const std::vector<std::string>& tags);
    void noteEdited(qint64 run, const QString& note);

protected:
    int rows() const override { return static_cast<int>(m_runs.size()); }
    QVariant cell(int row, int column, int role) const override;
    bool edit(int row, int column, const QVariant& value) override;

private:
    QString text(const RunRecord& run, int column) const;
    QVariant sortKey(const RunRecord& run, int column) const;

    std::vector<RunRecord> m_runs;
    std::map<RunStatus, QIcon> m_icons;
};

} // namespace pw::ui
