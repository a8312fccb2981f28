#pragma once

#include "core/graph/op_graph.h"
#include "viz/graph/graph_view.h"

#include <QWidget>

#include <vector>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

class Document;
class Selection;

/// The picture of the current graph with its path bar, legend and zoom. Shows bodies of container ops in place, with a
/// path that leads back. Listens to document and selection.
class GraphPage : public QWidget {
    Q_OBJECT

public:
    GraphPage(Document* document, Selection* selection, QWidget* parent = nullptr);

    viz::GraphView* view() const { return m_view; }
    void setTheme(const viz::Theme& theme);
    bool showsBody() const { return !m_bodies.empty(); }

Q_SIGNALS:
    /// An op of a body was selected (they are not placed on their own); null graph: back at the whole graph.
    void bodySelectionChanged(const pw::GraphPtr& body, const QList<quint32>& ops);
    void showCriticalPathChanged(bool on);

private:
    class Legend;
    struct BodyLevel {
        QString name;
        GraphPtr graph;
    };
    QHBoxLayout* makePathBar();
    QHBoxLayout* makeBottomBar();
    QToolButton* addTool(QHBoxLayout* row, const QString& icon, const QString& tip, void (viz::GraphView::*slot)());
    void showGraph();
    void showPlacement();
    void showSchedule();
    void openBody(quint32 op);
    void leaveBodies(std::size_t depth);
    void rebuildPath();
    void addPathButton(const QString& text, const std::function<void()>& action);

    Document* m_document;
    Selection* m_selection;
    viz::GraphView* m_view;
    QWidget* m_path;
    QHBoxLayout* m_pathLayout;
    QComboBox* m_colorBy;
    QCheckBox* m_crossEdges;
    QCheckBox* m_criticalPath;
    QLabel* m_busy;
    QToolButton* m_zoomLabel;
    Legend* m_legend;
    std::vector<std::pair<QToolButton*, QString>> m_icons;
    std::vector<BodyLevel> m_bodies;
    GraphPtr m_shown;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
