#pragma once

#include "viz/theme/theme.h"

#include <QKeySequence>
#include <QObject>

#include <map>
#include <vector>

QT_BEGIN_NAMESPACE
class QAction;
class QWidget;
QT_END_NAMESPACE

namespace pw::ui {

enum class ActionId {
    Open, OpenSample, NewFromZoo, NewProject, Save, SaveAs, Quit,
    Undo, Redo, ClearSelection, Find, WholeGroups,
    Fit, ZoomIn, ZoomOut, ZoomReset, ExpandAll, CollapseAll,
    ShowFacts, ShowVariables, ShowCrossEdges, ShowCriticalPath,
    ColorDevice, ColorCost, ColorMemory, ColorTime, ColorPhase,
    GroupTogether, Ungroup, Groups,
    Train, Infer, InferFile, ModeGraph, ModeCompare,
    ExportPlacement, ExportGraph, ExportPicture, ExportTimeline, ExportMemory, ExportCurves, ExportRuns,
    ResetLayout, Settings, Shortcuts, About,
};

/// Every command of the window, declared once: text, icon, keys, tip. Menus, toolbar and the list of keys follow.
class Actions : public QObject {
    Q_OBJECT

public:
    explicit Actions(QWidget* window);

    QAction* operator[](ActionId id) const { return m_actions.at(id); }
    void setTheme(const viz::Theme& theme);
    /// "Ctrl+O", "Open a graph, placement, device set or project": all commands that have keys.
    std::vector<std::pair<QString, QString>> shortcuts() const;
    /// All commands that can be run now, for the search field.
    std::vector<QAction*> all() const;

private:
    std::map<ActionId, QAction*> m_actions;
};

} // namespace pw::ui
