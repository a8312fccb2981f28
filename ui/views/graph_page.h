#pragma once

#include "core/graph/op_graph.h"
#include "viz/graph/graph_view.h"

#include <QWidget>

#include <functional>
#include <vector>

QT_BEGIN_NAMESPACE
class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace pw::ui {

class Actions;
class Document;
class GraphStrip;
class Selection;

/// The picture of the current graph with the path of the selection above it. Listens to document and selection.
class GraphPage : public QWidget {
    Q_OBJECT

public:
    GraphPage(Document* document, Selection* selection, QWidget* parent = nullptr);

    viz::GraphView* view() const { return m_view; }
    GraphStrip* strip() const { return m_strip; }
    /// What the View menu switches, these controls switch too.
    void connectActions(const Actions& actions);
    void setColorBy(viz::ColorBy colorBy);
    void setTheme(const viz::Theme& theme);

Q_SIGNALS:
    void showCriticalPathChanged(bool on);

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    QHBoxLayout* makePathBar();
    void fitBar();
    void nameDevices();
    QToolButton* addTool(QHBoxLayout* row, const QString& icon, const QString& tip, void (viz::GraphView::*slot)());
    void showGraph();
    void showPlacement();
    void showSchedule();
    void rebuildPath();
    void addScopes(const OpGraph& graph, const std::vector<ScopeId>& scopes);
    void addPathButton(const QString& text, const std::function<void()>& action);

    Document* m_document;
    Selection* m_selection;
    viz::GraphView* m_view;
    QWidget* m_path;
    QHBoxLayout* m_pathLayout;
    int m_pathWidth = 0; ///< that the path was made for
    GraphStrip* m_strip;
    QComboBox* m_colorBy;
    QCheckBox* m_crossEdges;
    QCheckBox* m_criticalPath;
    QCheckBox* m_variables;
    QLabel* m_busy;
    std::vector<std::pair<QToolButton*, QString>> m_icons;
    GraphPtr m_shown;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
