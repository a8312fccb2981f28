#pragma once

#include "ui/async.h"
#include "ui/compare.h"
#include "ui/document.h"
#include "viz/theme/theme.h"

#include <QWidget>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;
class QToolButton;
QT_END_NAMESPACE

namespace pw::viz {
class GraphView;
class TimelineView;
}

namespace pw::ui {

class CompareMetrics;
class FlowMatrix;
class MovesModel;
class Selection;

/// Two placements of one graph side by side: same op at the same place, moved ops marked in graphs and timelines, listed
/// by effect, metrics with their difference, one shared time axis.
class ComparePage : public QWidget {
    Q_OBJECT

public:
    ComparePage(Document* document, Selection* selection, QWidget* parent = nullptr);
    void setTheme(const viz::Theme& theme);
    /// Only computes and draws while it is on screen.
    void setActive(bool active);
    /// -1 leaves the choice as it is.
    void compare(int base, int candidate);
    std::shared_ptr<const Comparison> comparison() const { return m_comparison; }
    MovesModel* moves() const { return m_movesModel; }
    void step(int direction); ///< previous or next change
    void fitAll();

Q_SIGNALS:
    void opActivated(quint32 op); ///< show it in the graph mode

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    struct Pane {
        QLabel* title = nullptr;
        QLabel* figures = nullptr;
        viz::GraphView* graph = nullptr;
        viz::TimelineView* timeline = nullptr;
        QLabel* timelineTitle = nullptr;
    };
    QHBoxLayout* makeBar();
    QWidget* makeLeft();
    QWidget* makeRight();
    QWidget* makeHead(Pane& pane, const QString& role);
    void connectPane(Pane& pane);
    void fillChoices();
    void request();
    void show(std::shared_ptr<const Comparison> comparison);
    void showPane(Pane& pane, const PlacementEntry* entry, const std::shared_ptr<const Schedule>& schedule);
    void showChange(int row);
    int currentRow() const;

    Document* m_document;
    Selection* m_selection;
    MovesModel* m_movesModel;
    QSortFilterProxyModel* m_movesProxy;
    QComboBox* m_baseChoice = nullptr;
    QComboBox* m_candidateChoice = nullptr;
    QCheckBox* m_crossEdges = nullptr;
    QLabel* m_change = nullptr;
    QToolButton* m_fit = nullptr;
    QToolButton* m_swap = nullptr;
    QToolButton* m_previous = nullptr;
    QToolButton* m_next = nullptr;
    QStackedWidget* m_stack = nullptr;
    Pane m_base;
    Pane m_candidate;
    CompareMetrics* m_metrics = nullptr;
    FlowMatrix* m_flow = nullptr;
    QLabel* m_movesTitle = nullptr;
    QTableView* m_table = nullptr;
    int m_baseId = -1;
    int m_candidateId = -1;
    bool m_active = false;
    std::shared_ptr<const Comparison> m_comparison;
    GraphPtr m_shownGraph;
    LatestJob m_job{this};
};

} // namespace pw::ui
