#include "ui/main_window.h"

#include "ui/actions.h"
#include "ui/panel_dock.h"
#include "ui/views/search_field.h"
#include "ui/views/summary_strip.h"
#include "ui/views/graph_page.h"
#include "viz/graph/graph_view.h"

#include <QAction>
#include <QActionGroup>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QProgressBar>
#include <QPushButton>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>

namespace pw::ui {

void MainWindow::buildMenus() {
    const Actions& a = *m_actions;
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addActions({a[ActionId::Open], a[ActionId::OpenSample], a[ActionId::NewFromZoo]});
    QMenu* recent = file->addMenu(tr("Open &recent"));
    connect(recent, &QMenu::aboutToShow, this, [this, recent] {
        recent->clear();
        fillOpenMenu(recent);
    });
    file->addSeparator();
    file->addActions({a[ActionId::NewProject], a[ActionId::Save], a[ActionId::SaveAs]});
    QMenu* exports = file->addMenu(tr("&Export"));
    exports->addActions({a[ActionId::ExportPlacement], a[ActionId::ExportGraph], a[ActionId::ExportPicture],
                         a[ActionId::ExportTimeline], a[ActionId::ExportMemory], a[ActionId::ExportCurves],
                         a[ActionId::ExportRuns]});
    file->addSeparator();
    file->addAction(a[ActionId::Quit]);
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    edit->addActions({a[ActionId::Undo], a[ActionId::Redo]});
    edit->addSeparator();
    edit->addActions({a[ActionId::ClearSelection], a[ActionId::Find]});
    edit->addSeparator();
    edit->addAction(a[ActionId::Settings]);
    QMenu* graph = menuBar()->addMenu(tr("&Graph"));
    graph->addActions({a[ActionId::Fit], a[ActionId::ZoomIn], a[ActionId::ZoomOut], a[ActionId::ZoomReset]});
    graph->addSeparator();
    graph->addActions({a[ActionId::ExpandAll], a[ActionId::CollapseAll]});
    graph->addSeparator();
    graph->addActions({a[ActionId::GroupTogether], a[ActionId::Ungroup], a[ActionId::Groups]});
    QMenu* look = menuBar()->addMenu(tr("&View"));
    QMenu* colors = look->addMenu(tr("&Colour by"));
    auto* oneColor = new QActionGroup(colors);
    for (const ActionId id : {ActionId::ColorDevice, ActionId::ColorCost, ActionId::ColorMemory, ActionId::ColorTime, ActionId::ColorPhase}) {
        colors->addAction(a[id]);
        oneColor->addAction(a[id]);
    }
    look->addSeparator();
    look->addActions({a[ActionId::ShowCrossEdges], a[ActionId::ShowCriticalPath], a[ActionId::ShowVariables]});
    look->addSeparator();
    look->addAction(a[ActionId::ShowFacts]);
    QMenu* placement = menuBar()->addMenu(tr("&Placement"));
    QMenu* methods = placement->addMenu(tr("&Place with"));
    fillPlaceMenu(methods);
    placement->addSeparator();
    QMenu* assign = placement->addMenu(tr("&Move selection to"));
    connect(assign, &QMenu::aboutToShow, this, [this, assign] { fillAssignMenu(assign); });
    placement->addAction(a[ActionId::WholeGroups]);
    QMenu* train = menuBar()->addMenu(tr("&Train"));
    train->addAction(a[ActionId::Train]);
    QMenu* infer = train->addMenu(tr("&Infer with a policy"));
    connect(infer, &QMenu::aboutToShow, this, [this, infer] { fillInferMenu(infer); });
    QMenu* view = menuBar()->addMenu(tr("&Compare"));
    view->addActions({a[ActionId::ModeGraph], a[ActionId::ModeCompare]});
    QMenu* window = menuBar()->addMenu(tr("&Window"));
    for (PanelDock* dock : {m_libraryDock, m_inspectorDock, m_curvesDock, m_statsDock})
        window->addAction(dock->toggleViewAction());
    window->addSeparator();
    QMenu* theme = window->addMenu(tr("T&heme"));
    const SettingInfo& info = Settings::info(SettingId::Theme);
    for (qsizetype i = 0; i < info.choices.size(); ++i)
        theme->addAction(tr(info.choiceLabels[i].toUtf8().constData()), this,
                         [this, choice = info.choices[i]] { m_settings->setValue(SettingId::Theme, choice); });
    window->addAction(a[ActionId::ResetLayout]);
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addActions({a[ActionId::Shortcuts], a[ActionId::About]});
}

void MainWindow::buildToolBar() {
    const Actions& a = *m_actions;
    auto* bar = addToolBar(tr("Tools"));
    bar->setObjectName(QStringLiteral("toolBar"));
    bar->setMovable(false);
    bar->setIconSize(QSize(16, 16));
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->setContextMenuPolicy(Qt::PreventContextMenu);
    const auto withMenu = [&](const QString& text, const QString& icon, const QString& tip, QMenu* menu) {
        auto* button = new QToolButton(bar);
        button->setText(text);
        button->setToolTip(tip);
        button->setMenu(menu);
        button->setPopupMode(QToolButton::InstantPopup);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setObjectName(icon + QStringLiteral("Button"));
        m_toolIcons.emplace_back(button, icon);
        bar->addWidget(button);
        return button;
    };
    auto* openMenu = new QMenu(bar);
    connect(openMenu, &QMenu::aboutToShow, this, [this, openMenu] {
        openMenu->clear();
        openMenu->addActions({(*m_actions)[ActionId::Open], (*m_actions)[ActionId::OpenSample], (*m_actions)[ActionId::NewFromZoo]});
        openMenu->addSeparator();
        fillOpenMenu(openMenu);
    });
    withMenu(tr("Open"), QStringLiteral("open"), tr("Open a file, a sample or a recent one (Ctrl+O)"), openMenu);
    bar->addAction(a[ActionId::Save]);
    bar->addSeparator();
    bar->addActions({a[ActionId::Undo], a[ActionId::Redo]});
    for (const ActionId id : {ActionId::Undo, ActionId::Redo})
        qobject_cast<QToolButton*>(bar->widgetForAction(a[id]))->setToolButtonStyle(Qt::ToolButtonIconOnly);
    bar->addSeparator();
    auto* placeMenu = new QMenu(bar);
    fillPlaceMenu(placeMenu);
    withMenu(tr("Place"), QStringLiteral("place"), tr("Place the graph with a method"), placeMenu);
    bar->addAction(a[ActionId::Train]);
    auto* inferMenu = new QMenu(bar);
    connect(inferMenu, &QMenu::aboutToShow, this, [this, inferMenu] { fillInferMenu(inferMenu); });
    withMenu(tr("Infer"), QStringLiteral("infer"), tr("Place with a trained policy, without training"), inferMenu);
    auto* exportMenu = new QMenu(bar);
    exportMenu->addActions({a[ActionId::ExportPlacement], a[ActionId::ExportGraph], a[ActionId::ExportPicture],
                            a[ActionId::ExportTimeline], a[ActionId::ExportMemory], a[ActionId::ExportCurves],
                            a[ActionId::ExportRuns]});
    withMenu(tr("Export"), QStringLiteral("export"), tr("Write what is on screen to a file"), exportMenu);
    bar->addSeparator();
    for (const ActionId id : {ActionId::ModeGraph, ActionId::ModeCompare}) {
        bar->addAction(a[id]);
        bar->widgetForAction(a[id])->setProperty("segment", true);
    }
    auto* stretch = new QWidget(bar);
    stretch->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    bar->addWidget(stretch);
    m_search = new SearchField(bar);
    m_search->setObjectName(QStringLiteral("searchField"));
    m_search->setFixedWidth(280);
    m_search->setCommands(m_actions->all());
    bar->addWidget(m_search);
    bar->addActions({a[ActionId::Settings], a[ActionId::Shortcuts]});
    for (const ActionId id : {ActionId::Settings, ActionId::Shortcuts})
        qobject_cast<QToolButton*>(bar->widgetForAction(a[id]))->setToolButtonStyle(Qt::ToolButtonIconOnly);

    addToolBarBreak();
    m_summaryBar = addToolBar(tr("Summary"));
    m_summaryBar->setObjectName(QStringLiteral("summaryBar"));
    m_summaryBar->setMovable(false);
    m_summaryBar->setContextMenuPolicy(Qt::PreventContextMenu);
    m_summaryBar->setStyleSheet(QStringLiteral("QToolBar { padding: 0; border: none; }"));
    m_summary = new SummaryStrip(&m_document, m_summaryBar);
    m_summary->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_summaryBar->addWidget(m_summary);
    m_summaryBar->hide();
}

void MainWindow::buildStatusBar() {
    m_statusSelection = new QLabel(this);
    m_statusHint = new QLabel(this);
    m_statusHint->setProperty("role", "secondary");
    m_statusJob = new QLabel(this);
    m_statusBarProgress = new QProgressBar(this);
    m_statusBarProgress->setFixedWidth(120);
    m_statusBarProgress->setTextVisible(false);
    m_statusStop = new QPushButton(tr("Stop"), this);
    m_statusStop->setProperty("small", true);
    m_statusStop->setToolTip(tr("Finish the current step and keep the best"));
    statusBar()->setSizeGripEnabled(false);
    statusBar()->setContentsMargins(8, 0, 4, 0);
    statusBar()->addWidget(m_statusSelection);
    statusBar()->addWidget(m_statusHint, 1);
    statusBar()->addPermanentWidget(m_statusJob);
    statusBar()->addPermanentWidget(m_statusBarProgress);
    statusBar()->addPermanentWidget(m_statusStop);
    connect(m_statusStop, &QPushButton::clicked, this, [this] {
        if (const JobEntry* job = m_jobs.foremost())
            job->canKeep ? m_jobs.requestStop(job->id) : m_jobs.abort(job->id);
    });
}

void MainWindow::updateStatus() {
    const qsizetype selected = m_selection.ops().size();
    if (m_mode == Mode::Welcome) {
        m_statusSelection->setText(tr("No graph is open"));
        m_statusHint->setText(tr("Ctrl+O opens, Ctrl+K goes anywhere, ? lists all keys"));
    } else {
        m_statusSelection->setText(selected == 0   ? tr("Nothing selected")
                                   : selected == 1 ? tr("1 op selected")
                                                   : tr("%1 ops selected").arg(words::count(selected)));
        if (selected > 0)
            m_statusHint->setText(tr("1 to %1 assign a device, Enter opens a scope, ? lists all keys")
                                      .arg(std::min<std::size_t>(8, m_document.devices().count())));
    }
    const JobEntry* job = m_jobs.foremost();
    m_statusJob->setVisible(job != nullptr);
    m_statusBarProgress->setVisible(job != nullptr);
    m_statusStop->setVisible(job != nullptr);
    if (!job)
        return;
    QString text = QStringLiteral("<b>%1</b>  %2").arg(job->title.toHtmlEscaped(), job->stopping ? tr("stopping…") : words::stageTitle(job->progress.stage));
    if (job->progress.fraction >= 0)
        text += QStringLiteral("  ") + tr("%1 %").arg(words::fixed(job->progress.fraction * 100, 0));
    if (job->progress.etaSeconds >= 0)
        text += QStringLiteral("  ") + tr("about %1 left").arg(words::duration(job->progress.etaSeconds));
    if (m_jobs.runningCount() > 1)
        text += QStringLiteral("  ·  ") + tr("%1 jobs").arg(m_jobs.runningCount());
    m_statusJob->setText(text);
    m_statusBarProgress->setMaximum(job->progress.fraction < 0 ? 0 : 1000);
    m_statusBarProgress->setValue(static_cast<int>(job->progress.fraction * 1000));
    m_statusStop->setText(job->canKeep ? tr("Stop") : tr("Abort"));
    m_statusStop->setEnabled(!job->stopping);
}

void MainWindow::fillPlaceMenu(QMenu* menu) {
    menu->setToolTipsVisible(true);
    if (!m_services.placers)
        return;
    static const std::map<std::string, const char*> kTips = {
        {"single", QT_TR_NOOP("Everything on the best single device: the baseline")},
        {"random", QT_TR_NOOP("A random device per group")},
        {"round_robin", QT_TR_NOOP("Groups dealt out in turn")},
        {"contiguous", QT_TR_NOOP("Blocks of equal time along the graph")},
        {"metis", QT_TR_NOOP("Graph partitioning: little traffic, equal load")},
        {"local_search", QT_TR_NOOP("Moves one group at a time while that helps, 10 s")},
    };
    for (const std::string& name : m_services.placers->names()) {
        if (name == "placeto")
            continue; // why: training has its own dialog
        QAction* action = menu->addAction(words::methodTitle(words::fromUtf8(name)));
        action->setData(words::fromUtf8(name));
        if (const auto tip = kTips.find(name); tip != kTips.end())
            action->setToolTip(tr(tip->second));
        connect(action, &QAction::triggered, this, [this, name] { place(name); });
    }
    menu->addSeparator();
    menu->addAction((*m_actions)[ActionId::Train]);
}

void MainWindow::fillInferMenu(QMenu* menu) {
    menu->clear();
    bool any = false;
    for (const RunRecord& run : m_project.runs()) {
        if (run.spec.kind != "train" || (run.status != RunStatus::Done && run.status != RunStatus::Stopped))
            continue;
        any = true;
        QAction* action = menu->addAction(tr("%1, trained on %2 for %3")
                                              .arg(runTitle(run.spec), words::fromUtf8(run.spec.graphName),
                                                   words::fromUtf8(run.spec.deviceSetName)));
        action->setEnabled(m_document.problem() != nullptr);
        connect(action, &QAction::triggered, this, [this, id = run.id] { m_experiments.infer(id); });
    }
    if (!any)
        menu->addAction(tr("No policy yet. Train… makes one."))->setEnabled(false);
    menu->addSeparator();
    menu->addAction((*m_actions)[ActionId::InferFile]);
}

void MainWindow::fillOpenMenu(QMenu* menu) {
    const QStringList files = m_settings->recentFiles();
    for (const QString& file : files)
        menu->addAction(QFileInfo(file).fileName() + QLatin1Char('\t') + QFileInfo(file).absolutePath(), this,
                        [this, file] { openFiles({file}); });
    if (files.isEmpty())
        menu->addAction(tr("Nothing opened yet"))->setEnabled(false);
}

void MainWindow::updateActions() {
    const Actions& a = *m_actions;
    const bool graph = m_document.graph() != nullptr;
    const bool problem = m_document.problem() != nullptr;
    const bool placed = m_document.currentPlacement() != nullptr;
    const QString why = !graph     ? tr("Open a graph first")
                        : !problem ? m_document.graph()->isCyclic() ? tr("A graph with a cycle cannot be placed") : tr("Preparing…")
                                   : QString();
    a[ActionId::Train]->setEnabled(problem);
    a[ActionId::Train]->setToolTip(problem ? a[ActionId::Train]->statusTip() : why);
    for (const QString& name : {QStringLiteral("placeButton"), QStringLiteral("inferButton")}) {
        if (auto* button = findChild<QToolButton*>(name)) {
            button->setEnabled(problem);
            if (!problem)
                button->setToolTip(why);
        }
    }
    for (const ActionId id : {ActionId::Fit, ActionId::ZoomIn, ActionId::ZoomOut, ActionId::ZoomReset,
                              ActionId::ExpandAll, ActionId::CollapseAll, ActionId::ExportGraph, ActionId::ExportPicture})
        a[id]->setEnabled(graph);
    a[ActionId::ExportPlacement]->setEnabled(placed);
    a[ActionId::ExportTimeline]->setEnabled(m_document.schedule() != nullptr);
    a[ActionId::ExportMemory]->setEnabled(m_document.schedule() != nullptr);
    a[ActionId::ExportCurves]->setEnabled(!m_curves.isEmpty());
    a[ActionId::ExportRuns]->setEnabled(!m_project.runs().empty());
    a[ActionId::InferFile]->setEnabled(problem);
    a[ActionId::ModeCompare]->setEnabled(graph);
    a[ActionId::ModeGraph]->setEnabled(graph);
    a[ActionId::Save]->setEnabled(m_project.repository() != nullptr);
    a[ActionId::SaveAs]->setEnabled(m_project.repository() != nullptr);
    a[ActionId::ModeGraph]->setChecked(m_mode == Mode::Graph);
    a[ActionId::ModeCompare]->setChecked(m_mode == Mode::Compare);
}

} // namespace pw::ui
