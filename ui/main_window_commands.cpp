#include "ui/main_window.h"

#include "core/formats/formats.h"
#include "ui/actions.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/dialogs/shortcuts_dialog.h"
#include "ui/dialogs/train_dialog.h"
#include "ui/dialogs/zoo_dialog.h"
#include "ui/docks/inspector_panel.h"
#include "ui/docks/jobs_panel.h"
#include "ui/docks/library_panel.h"
#include "ui/docks/rewards_panel.h"
#include "ui/docks/runs_panel.h"
#include "ui/file_filters.h"
#include "ui/message_bar.h"
#include "ui/panel_dock.h"
#include "ui/style.h"
#include "ui/views/compare_page.h"
#include "ui/views/graph_page.h"
#include "ui/views/search_field.h"
#include "ui/views/welcome_page.h"
#include "viz/graph/graph_view.h"
#include "viz/plots/memory_view.h"
#include "viz/plots/reward_plot.h"
#include "viz/plots/timeline_view.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QShortcut>
#include <QStatusBar>

namespace pw::ui {

namespace {
constexpr double kSearchSeconds = 10.0; ///< what Place gives to methods that would go on for ever
const char* const kSample = "zoo:inception_v3";
const char* const kSampleDevices = "2xK80";
} // namespace

void MainWindow::connectActions() {
    const Actions& a = *m_actions;
    const auto on = [&](ActionId id, auto slot) { connect(a[id], &QAction::triggered, this, slot); };
    const auto onView = [&](ActionId id, void (viz::GraphView::*slot)()) {
        connect(a[id], &QAction::triggered, m_graphPage->view(), slot);
    };
    on(ActionId::Open, [this] { askOpen(); });
    on(ActionId::OpenSample, [this] { openSample(QLatin1String(kSample), QLatin1String(kSampleDevices)); });
    on(ActionId::NewFromZoo, [this] { showZooDialog(); });
    on(ActionId::NewProject, [this] { askNewProject(); });
    on(ActionId::Save, [this] {
        m_project.flush();
        if (m_project.isUntitled())
            askSaveAs();
        else
            statusBar()->showMessage(tr("Everything is stored in %1").arg(m_project.path()), 4000);
    });
    on(ActionId::SaveAs, [this] { askSaveAs(); });
    on(ActionId::Quit, [this] { close(); });
    on(ActionId::Undo, [this] { m_document.undoGroup()->undo(); });
    on(ActionId::Redo, [this] { m_document.undoGroup()->redo(); });
    on(ActionId::ClearSelection, [this] { m_selection.clear(); });
    on(ActionId::Find, [this] { m_search->focusNow(); });
    onView(ActionId::Fit, &viz::GraphView::zoomToFit);
    onView(ActionId::ZoomIn, &viz::GraphView::zoomIn);
    onView(ActionId::ZoomOut, &viz::GraphView::zoomOut);
    onView(ActionId::ZoomReset, &viz::GraphView::resetZoom);
    onView(ActionId::ExpandAll, &viz::GraphView::expandAll);
    onView(ActionId::CollapseAll, &viz::GraphView::collapseAll);
    on(ActionId::Train, [this] { showTrainDialog(); });
    on(ActionId::InferFile, [this] { askPolicyFile(); });
    on(ActionId::ModeGraph, [this] { setMode(Mode::Graph); updateActions(); });
    on(ActionId::ModeCompare, [this] { setMode(Mode::Compare); updateActions(); });
    on(ActionId::ExportPlacement, [this] {
        if (const PlacementEntry* entry = m_document.currentPlacement())
            exportPlacement(entry->id);
    });
    on(ActionId::ExportGraph, [this] { exportGraph(); });
    on(ActionId::ExportPicture, [this] { exportPicture(); });
    on(ActionId::ExportTimeline, [this] {
        askFile(tr("Export timeline"), QStringLiteral("timeline.png"), tr("Pictures (*.png *.svg)"),
                [this](const QString& file) { m_timeline->exportImage(file); });
    });
    on(ActionId::ExportMemory, [this] {
        askFile(tr("Export memory plot"), QStringLiteral("memory.png"), tr("Pictures (*.png *.svg)"),
                [this](const QString& file) { m_memory->exportImage(file); });
    });
    const auto exportCurves = [this] {
        askFile(tr("Export curves"), QStringLiteral("curves.pdf"), tr("Pictures and data (*.png *.svg *.pdf *.csv)"),
                [this](const QString& file) {
                    if (const QString reason = m_rewards->plot()->exportTo(file); !reason.isEmpty())
                        showError({ErrorCode::Io, reason.toStdString(), file.toStdString(), {}});
                });
    };
    on(ActionId::ExportCurves, exportCurves);
    connect(m_rewards, &RewardsPanel::exportRequested, this, exportCurves);
    on(ActionId::ExportRuns, [this] { exportRuns(); });
    connect(m_runsPanel, &RunsPanel::exportRequested, this, &MainWindow::exportRuns);
    on(ActionId::ResetLayout, [this] {
        m_graphLayout.clear();
        arrangeDocks();
    });
    on(ActionId::Settings, [this] { showSettings(); });
    on(ActionId::Shortcuts, [this] { showShortcuts(); });
    on(ActionId::About, [this] { showAbout(); });
    a[ActionId::WholeGroups]->setChecked(true);
    connect(a[ActionId::WholeGroups], &QAction::toggled, m_inspector, &InspectorPanel::setMovesWholeGroups);
    connect(m_inspector, &InspectorPanel::movesWholeGroupsChanged, a[ActionId::WholeGroups], &QAction::setChecked);

    connectView();

    QUndoGroup* undo = m_document.undoGroup();
    const auto refreshUndo = [this, undo] {
        (*m_actions)[ActionId::Undo]->setEnabled(undo->canUndo());
        (*m_actions)[ActionId::Redo]->setEnabled(undo->canRedo());
        (*m_actions)[ActionId::Undo]->setToolTip(undo->canUndo() ? tr("Undo: %1 (Ctrl+Z)").arg(undo->undoText()) : tr("Nothing to undo"));
        (*m_actions)[ActionId::Redo]->setToolTip(undo->canRedo() ? tr("Redo: %1 (Ctrl+Y)").arg(undo->redoText()) : tr("Nothing to redo"));
    };
    connect(undo, &QUndoGroup::canUndoChanged, this, refreshUndo);
    connect(undo, &QUndoGroup::canRedoChanged, this, refreshUndo);
    connect(undo, &QUndoGroup::indexChanged, this, refreshUndo);
    connect(undo, &QUndoGroup::activeStackChanged, this, refreshUndo);
    refreshUndo();
    for (int digit = 1; digit <= 8; ++digit) {
        auto* key = new QShortcut(QKeySequence(Qt::Key_0 + digit), this);
        connect(key, &QShortcut::activated, this, [this, digit] {
            m_document.assign(m_selection.ops(), DeviceId(static_cast<std::size_t>(digit - 1)), m_inspector->movesWholeGroups());
        });
    }
    connect(m_search, &SearchField::opChosen, &m_selection, &Selection::reveal);
    connect(m_search, &SearchField::opsChosen, this, [this](const QList<quint32>& ops) {
        if (!ops.isEmpty())
            m_selection.reveal(ops.first());
        m_selection.setOps(ops);
    });
    connect(m_search, &SearchField::scopeChosen, m_graphPage->view(), &viz::GraphView::openScope);
    connect(m_library, &LibraryPanel::policyActivated, &m_experiments, &Experiments::infer);
    connect(m_library, &LibraryPanel::exportPlacementRequested, this, &MainWindow::exportPlacement);
    connect(m_library, &LibraryPanel::compareRequested, this, [this](int id) {
        m_comparePage->compare(id, m_document.currentPlacement() ? m_document.currentPlacement()->id : -1);
        setMode(Mode::Compare);
    });
    connect(m_runsPanel, &RunsPanel::resumeRequested, this, [this](qint64 run) {
        m_experiments.resume(run);
        m_curvesDock->raisePanel(m_rewards);
    });
    connect(m_runsPanel, &RunsPanel::curveRequested, this, [this](qint64 run) {
        m_experiments.loadCurve(run);
        m_curvesDock->raisePanel(m_rewards);
    });
    connect(&m_curves, &RunCurves::curveAdded, this, &MainWindow::updateActions);
    connect(m_comparePage, &ComparePage::opActivated, this, [this](quint32 op) {
        setMode(Mode::Graph);
        m_selection.reveal(op);
    });
    connect(m_welcome, &WelcomePage::openRequested, this, &MainWindow::askOpen);
    connect(m_welcome, &WelcomePage::zooRequested, this, &MainWindow::showZooDialog);
    connect(m_welcome, &WelcomePage::newProjectRequested, this, &MainWindow::askNewProject);
    connect(m_welcome, &WelcomePage::fileChosen, this, [this](const QString& file) { openFiles({file}); });
    connect(m_welcome, &WelcomePage::sampleChosen, this, &MainWindow::openSample);
    connect(m_welcome, &WelcomePage::resumeRequested, &m_experiments, &Experiments::resume);
    connect(m_welcome, &WelcomePage::shortcutsRequested, this, &MainWindow::showShortcuts);
    connect(m_settings, &Settings::changed, this, [this](SettingId id) {
        if (id == SettingId::Theme)
            setTheme(themeKindFor(m_settings->value(SettingId::Theme).toString()));
        if (id == SettingId::RecentFiles)
            m_welcome->refresh();
    });
}

void MainWindow::askFile(const QString& title, const QString& suggestion, const QString& filter,
                         std::function<void(const QString&)> chosen) {
    auto* dialog = new QFileDialog(this, title, {}, filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->selectFile(suggestion);
    dialog->setDefaultSuffix(filters::firstEnding(dialog->selectedNameFilter()));
    connect(dialog, &QFileDialog::filterSelected, dialog,
            [dialog](const QString& line) { dialog->setDefaultSuffix(filters::firstEnding(line)); });
    connect(dialog, &QFileDialog::fileSelected, this, std::move(chosen));
    dialog->open();
}

void MainWindow::writeFile(const QString& path, std::function<Status(const std::string&)> write) {
    JobHandle* job = m_jobs.start(tr("Writing %1").arg(QFileInfo(path).fileName()), QStringLiteral("export"), false,
                                  [write = std::move(write), target = path.toStdString()](JobContext&) { return write(target); });
    connect(job, &JobHandle::finished, this, [this, path](const JobEnd& end) {
        if (end.error)
            showError(*end.error);
        else if (end.outcome == JobOutcome::Succeeded)
            statusBar()->showMessage(tr("Written to %1").arg(path), 5000);
    });
}

void MainWindow::askOpen() {
    auto* dialog = new QFileDialog(this, tr("Open"), {}, filters::openFilter());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, &MainWindow::openFiles);
    dialog->open();
}

void MainWindow::askSaveAs() {
    if (m_jobs.runningCount() > 0) { // why: a run goes on writing into the file it began in
        showError({ErrorCode::Busy, "a job is still writing into this project", {}, {}});
        return;
    }
    askFile(tr("Save project"), QStringLiteral("project.placewright"), tr("Placewright projects (*.placewright)"),
            [this](const QString& file) { m_project.saveAs(file); });
}

void MainWindow::askNewProject() {
    askFile(tr("New project"), QStringLiteral("project.placewright"), tr("Placewright projects (*.placewright)"),
            [this](const QString& file) { m_project.open(file); });
}

void MainWindow::askPolicyFile() {
    auto* dialog = new QFileDialog(this, tr("Open policy"), {}, tr("Policies (*.policy);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, &m_experiments, &Experiments::inferFile);
    dialog->open();
}

void MainWindow::openFiles(const QStringList& files) {
    if (files.isEmpty())
        return;
    m_messages->hide();
    m_openErrors.clear();
    afterProject([this, files] { m_opener.open(files); });
}

void MainWindow::openSample(const QString& spec, const QString& deviceSet) {
    m_messages->hide();
    m_openErrors.clear();
    afterProject([this, spec, deviceSet] { m_opener.openSample(spec, deviceSet); });
}

void MainWindow::place(const std::string& method) {
    m_experiments.place(method, method == "local_search" ? kSearchSeconds : 0.0);
}

void MainWindow::showZooDialog() {
    auto* dialog = new ZooDialog(m_document.deviceSets(), m_document.devices(), viz::Theme::of(m_themeKind), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &ZooDialog::openRequested, this, [this](const QString& spec, const QString& deviceHash) {
        m_document.setCurrentDevices(deviceHash.toStdString()); // unknown and empty: no change
        openSample(spec, {});
    });
    dialog->open();
}

void MainWindow::showTrainDialog() {
    if (!m_document.problem())
        return;
    auto* dialog = new TrainDialog(m_services, &m_document, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &TrainDialog::startRequested, this, [this](const std::vector<TrainRequest>& requests) {
        for (const TrainRequest& request : requests)
            m_experiments.train(request);
        setMode(Mode::Graph);
        m_curvesDock->raisePanel(m_rewards);
        m_statsDock->raisePanel(m_jobsPanel);
    });
    dialog->open();
}

void MainWindow::exportPlacement(int id) {
    const PlacementEntry* entry = m_document.findPlacement(id);
    const GraphPtr graph = m_document.graph();
    if (!entry || !graph || !entry->ops)
        return;
    const auto file = std::make_shared<formats::PlacementFile>(formats::makePlacementFile(
        *graph, m_document.devices(), *entry->ops, entry->method.toStdString(), 1));
    for (const quint32 op : entry->pinned)
        file->pinned.push_back(graph->op(OpId(op)).name);
    askFile(tr("Export placement"), QStringLiteral("%1.placement.json").arg(QString(entry->name).replace(QLatin1Char(' '), QLatin1Char('_'))),
            filters::saveFilter(formats::FileKind::Placement), [this, file](const QString& path) {
                writeFile(path, [file](const std::string& target) { return formats::savePlacement(*file, target); });
            });
}

void MainWindow::exportGraph() {
    const GraphPtr graph = m_document.graph();
    const PlacementEntry* entry = m_document.currentPlacement();
    const QString source = m_document.currentGraph()->source.section(words::kOverlay, 0, 0);
    const QString name = QFileInfo(m_document.currentGraph()->name).fileName().replace(QLatin1Char(' '), QLatin1Char('_'));
    askFile(tr("Export graph"), name + QStringLiteral(".graph.json"), filters::saveFilter(formats::FileKind::Graph, source),
            [this, graph, source, ops = entry ? entry->ops : nullptr, devices = m_document.devices()](const QString& path) {
                writeFile(path, [graph, ops, devices, from = source.toStdString()](const std::string& target) {
                    formats::SaveOptions options;
                    options.source = from;
                    if (ops) {
                        options.placement = *ops;
                        options.devices = &devices;
                    }
                    return formats::saveGraph(*graph, target, options);
                });
            });
}

void MainWindow::exportPicture() {
    const GraphPtr graph = m_document.graph();
    const PlacementEntry* entry = m_document.currentPlacement();
    viz::RenderOptions options;
    options.theme = viz::Theme::of(m_themeKind);
    const GraphEntry* current = m_document.currentGraph();
    options.title = entry ? tr("%1, %2").arg(current->name, entry->name) : current->name;
    for (std::size_t d = 0; d < m_document.devices().count(); ++d)
        options.deviceNames.push_back(words::deviceTitle(m_document.devices().device(DeviceId(d)), DeviceId(d)));
    std::vector<double> costs;
    if (const ProblemPtr problem = m_document.problem())
        for (std::size_t i = 0; i < problem->opCount(); ++i)
            costs.push_back(problem->costs().at(OpId(i), DeviceId(0)));
    askFile(tr("Export picture"), QStringLiteral("graph.svg"), tr("Pictures (*.png *.svg)"),
            [this, graph, ops = entry ? entry->ops : nullptr, options, costs](const QString& path) {
                writeFile(path, [=](const std::string&) { return viz::renderGraph(graph, ops.get(), costs, options, path); });
            });
}

void MainWindow::exportRuns() {
    askFile(tr("Export runs"), QStringLiteral("runs.csv"), tr("Tables (*.csv)"), [this](const QString& path) {
        writeFile(path, [csv = m_runsPanel->toCsv().toStdString()](const std::string& target) {
            return formats::writeFileAtomically(target, csv);
        });
    });
}

void MainWindow::showShortcuts() {
    auto* dialog = new ShortcutsDialog(m_actions->shortcuts(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::showAbout() {
    auto* dialog = new AboutDialog(m_services, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void MainWindow::showSettings() {
    auto* dialog = new SettingsDialog(m_settings, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

} // namespace pw::ui
