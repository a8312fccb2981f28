#pragma once

#include "viz/theme/theme.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

class Project;
class RunsModel;

/// The runs of the project: sort by any column, filter by words, edit tags and note in place, resume, delete, export.
class RunsPanel : public QWidget {
    Q_OBJECT

public:
    explicit RunsPanel(Project* project, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    QWidget* tools() const { return m_tools; }
    RunsModel* model() const { return m_model; }
    QTableView* table() const { return m_table; }
    QLineEdit* filter() const { return m_filter; }
    /// The whole table as CSV, in the order and with the filter on screen.
    QString toCsv() const;

Q_SIGNALS:
    void resumeRequested(qint64 run);
    void curveRequested(qint64 run);
    void exportRequested();

private:
    class Filter;
    QList<qint64> selectedRuns() const;
    void arrangeColumns();
    void refreshButtons();
    void askDelete();

    Project* m_project;
    RunsModel* m_model;
    Filter* m_proxy;
    QWidget* m_tools;
    QLineEdit* m_filter;
    QToolButton* m_curve;
    QToolButton* m_resume;
    QToolButton* m_delete;
    QToolButton* m_export;
    QStackedWidget* m_stack;
    QTableView* m_table;
};

} // namespace pw::ui
