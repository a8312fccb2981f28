#include "ui/actions.h"

#include "viz/theme/icon.h"

#include <QAction>
#include <QWidget>

namespace pw::ui {

namespace {

struct ActionInfo {
    ActionId id;
    const char* text;
    const char* icon;
    const char* keys; ///< portable text, several separated by ';'
    const char* tip;
    bool checkable = false;
};

constexpr ActionInfo kActions[] = {
    {ActionId::Open, QT_TR_NOOP("&Open…"), "open", "Ctrl+O", QT_TR_NOOP("Open a graph, placement, profile, device set, policy or project")},
    {ActionId::OpenSample, QT_TR_NOOP("Open &sample: Inception-v3"), "graph", "", QT_TR_NOOP("The training graph of Inception-v3 on two K80s")},
    {ActionId::NewFromZoo, QT_TR_NOOP("New from &zoo…"), "new", "Ctrl+Shift+N", QT_TR_NOOP("Generate a workload: choose it, set its options, see its size first")},
    {ActionId::NewProject, QT_TR_NOOP("&New project…"), "new", "Ctrl+N", QT_TR_NOOP("Start an empty project file")},
    {ActionId::Save, QT_TR_NOOP("&Save"), "save", "Ctrl+S", QT_TR_NOOP("Save the project; an untitled one gets a name")},
    {ActionId::SaveAs, QT_TR_NOOP("Save project &as…"), "save", "Ctrl+Shift+S", QT_TR_NOOP("Save the project under another name")},
    {ActionId::Quit, QT_TR_NOOP("&Quit"), "", "Ctrl+Q", QT_TR_NOOP("Close the window")},
    {ActionId::Undo, QT_TR_NOOP("&Undo"), "undo", "Ctrl+Z", QT_TR_NOOP("Undo the last move by hand")},
    {ActionId::Redo, QT_TR_NOOP("&Redo"), "redo", "Ctrl+Shift+Z;Ctrl+Y", QT_TR_NOOP("Redo the move that was undone")},
    {ActionId::ClearSelection, QT_TR_NOOP("&Clear selection"), "", "Esc", QT_TR_NOOP("Nothing selected")},
    {ActionId::Find, QT_TR_NOOP("&Find or go to…"), "search", "Ctrl+F;Ctrl+K", QT_TR_NOOP("Find ops and scopes by name or type, or run a command")},
    {ActionId::WholeGroups, QT_TR_NOOP("Move whole &groups"), "", "", QT_TR_NOOP("Moves by hand take the whole group along"), true},
    {ActionId::Fit, QT_TR_NOOP("&Fit"), "fit", "F;Home", QT_TR_NOOP("Fit the whole graph into the view")},
    {ActionId::ZoomIn, QT_TR_NOOP("Zoom &in"), "zoom-in", "+;Ctrl++", QT_TR_NOOP("Zoom in")},
    {ActionId::ZoomOut, QT_TR_NOOP("Zoom &out"), "zoom-out", "-;Ctrl+-", QT_TR_NOOP("Zoom out")},
    {ActionId::ZoomReset, QT_TR_NOOP("Zoom to &100 %"), "", "Ctrl+0", QT_TR_NOOP("Boxes at their own size")},
    {ActionId::ExpandAll, QT_TR_NOOP("&Expand all scopes"), "expand-all", "Ctrl+E", QT_TR_NOOP("Open scopes, as far as a picture allows")},
    {ActionId::CollapseAll, QT_TR_NOOP("&Collapse all scopes"), "collapse-all", "Ctrl+Shift+E", QT_TR_NOOP("Close all scopes")},
    {ActionId::ShowFacts, QT_TR_NOOP("&Facts of the graph"), "", "", QT_TR_NOOP("A row above the picture: size, work, unknown costs, warnings, devices of the file"), true},
    {ActionId::ShowVariables, QT_TR_NOOP("&Variables and constants"), "", "", QT_TR_NOOP("Boxes for variables and constants too; else they are only counted"), true},
    {ActionId::ShowCrossEdges, QT_TR_NOOP("&Cross-device edges"), "", "", QT_TR_NOOP("Edges between devices in the colour of the sender"), true},
    {ActionId::ShowCriticalPath, QT_TR_NOOP("Critical &path"), "critical-path", "", QT_TR_NOOP("Outline the ops and transfers that the step time hangs on"), true},
    {ActionId::ColorDevice, QT_TR_NOOP("&Device"), "", "", QT_TR_NOOP("Colour by device"), true},
    {ActionId::ColorCost, QT_TR_NOOP("&Cost"), "", "", QT_TR_NOOP("Colour by what an op costs; unknown costs are hatched"), true},
    {ActionId::ColorMemory, QT_TR_NOOP("&Memory"), "", "", QT_TR_NOOP("Colour by parameters, state, workspace and outputs of an op"), true},
    {ActionId::ColorTime, QT_TR_NOOP("&Time in the schedule"), "", "", QT_TR_NOOP("Colour by the time of an op in the current schedule"), true},
    {ActionId::ColorPhase, QT_TR_NOOP("&Phase"), "", "", QT_TR_NOOP("Colour by forward, backward and update"), true},
    {ActionId::GroupTogether, QT_TR_NOOP("Group &together"), "", "Ctrl+G", QT_TR_NOOP("One decision for all selected ops")},
    {ActionId::Ungroup, QT_TR_NOOP("&Ungroup"), "", "Ctrl+Shift+G", QT_TR_NOOP("Dissolve the groups made by hand of the selected ops")},
    {ActionId::Groups, QT_TR_NOOP("&Groups…"), "", "", QT_TR_NOOP("How ops become groups: number, scopes, colocation; what was merged")},
    {ActionId::Train, QT_TR_NOOP("&Train…"), "train", "Ctrl+T", QT_TR_NOOP("Train a placement policy in the background")},
    {ActionId::Infer, QT_TR_NOOP("&Infer"), "infer", "", QT_TR_NOOP("Place the current graph with a trained policy, without training")},
    {ActionId::InferFile, QT_TR_NOOP("With a policy &file…"), "policy", "", QT_TR_NOOP("Place with a policy from a file")},
    {ActionId::ModeGraph, QT_TR_NOOP("&Graph"), "graph", "Ctrl+1", QT_TR_NOOP("The graph with its docks"), true},
    {ActionId::ModeCompare, QT_TR_NOOP("&Compare"), "compare", "Ctrl+2", QT_TR_NOOP("Two placements side by side"), true},
    {ActionId::ExportPlacement, QT_TR_NOOP("&Placement…"), "place", "", QT_TR_NOOP("Write the placement shown as JSON or CSV")},
    {ActionId::ExportGraph, QT_TR_NOOP("&Graph with placement…"), "graph", "", QT_TR_NOOP("Write the graph as JSON or DOT")},
    {ActionId::ExportPicture, QT_TR_NOOP("P&icture of the graph…"), "export", "", QT_TR_NOOP("Write the coloured graph as PNG or SVG")},
    {ActionId::ExportTimeline, QT_TR_NOOP("&Timeline…"), "timeline", "", QT_TR_NOOP("Write the timeline as PNG or SVG")},
    {ActionId::ExportMemory, QT_TR_NOOP("&Memory…"), "memory", "", QT_TR_NOOP("Write the memory plot as PNG or SVG")},
    {ActionId::ExportCurves, QT_TR_NOOP("&Curves…"), "curve", "", QT_TR_NOOP("Write the curves as PNG, SVG, PDF or CSV")},
    {ActionId::ExportRuns, QT_TR_NOOP("&Runs table…"), "table", "", QT_TR_NOOP("Write the runs table as CSV")},
    {ActionId::ResetLayout, QT_TR_NOOP("&Reset layout"), "", "", QT_TR_NOOP("Put all docks back where they were at first")},
    {ActionId::Settings, QT_TR_NOOP("&Settings…"), "settings", "Ctrl+,", QT_TR_NOOP("Theme and session")},
    {ActionId::Shortcuts, QT_TR_NOOP("&Keyboard shortcuts"), "help", "?;F1", QT_TR_NOOP("List all keys")},
    {ActionId::About, QT_TR_NOOP("&About Placewright"), "info", "", QT_TR_NOOP("Version, licence, what computes here")},
};

} // namespace

Actions::Actions(QWidget* window) : QObject(window) {
    for (const ActionInfo& info : kActions) {
        auto* action = new QAction(tr(info.text), window);
        QList<QKeySequence> keys;
        const QStringList parts = QString::fromLatin1(info.keys).split(QLatin1Char(';'), Qt::SkipEmptyParts);
        for (const QString& part : parts)
            keys.append(QKeySequence::fromString(part, QKeySequence::PortableText));
        action->setShortcuts(keys);
        const QString first = keys.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(keys.first().toString(QKeySequence::NativeText));
        action->setToolTip(tr(info.tip) + first);
        action->setStatusTip(tr(info.tip));
        action->setCheckable(info.checkable);
        action->setProperty("glyph", QString::fromLatin1(info.icon));
        window->addAction(action);
        m_actions[info.id] = action;
    }
}

void Actions::setTheme(const viz::Theme& theme) {
    for (const auto& [id, action] : m_actions) {
        const QString icon = action->property("glyph").toString();
        const bool mode = id == ActionId::ModeGraph || id == ActionId::ModeCompare;
        if (!icon.isEmpty())
            action->setIcon(mode ? viz::icon(icon, theme, viz::IconTone::Text, viz::IconTone::OnAccent) : viz::icon(icon, theme));
    }
}

std::vector<std::pair<QString, QString>> Actions::shortcuts() const {
    std::vector<std::pair<QString, QString>> list;
    for (const auto& [id, action] : m_actions) {
        QStringList keys;
        const QList<QKeySequence> sequences = action->shortcuts();
        for (const QKeySequence& sequence : sequences)
            keys.append(sequence.toString(QKeySequence::NativeText));
        if (!keys.isEmpty())
            list.emplace_back(keys.join(QStringLiteral("  or  ")), action->statusTip());
    }
    return list;
}

std::vector<QAction*> Actions::all() const {
    std::vector<QAction*> list;
    for (const auto& [id, action] : m_actions)
        list.push_back(action);
    return list;
}

} // namespace pw::ui
