#include "ui/main_window.h"

#include "ui/actions.h"
#include "ui/docks/inspector_panel.h"
#include "ui/docks/jobs_panel.h"
#include "ui/docks/library_panel.h"
#include "ui/docks/rewards_panel.h"
#include "ui/docks/runs_panel.h"
#include "ui/message_bar.h"
#include "ui/panel_dock.h"
#include "ui/style.h"
#include "ui/views/compare_page.h"
#include "ui/views/elided_label.h"
#include "ui/views/graph_page.h"
#include "ui/views/opening_bar.h"
#include "ui/views/search_field.h"
#include "ui/views/summary_strip.h"
#include "ui/views/welcome_page.h"
#include "viz/graph/graph_view.h"
#include "viz/plots/memory_view.h"
#include "viz/plots/timeline_view.h"
#include "viz/theme/icon.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>

#include <cmath>

namespace pw::ui {

namespace {
constexpr int kLibraryWidth = 212;
constexpr int kInspectorWidth = 262;
constexpr int kBottomHeight = 244;
constexpr int kCurvesWidth = 900;
constexpr int kStatsWidth = 540;
} // namespace

MainWindow::MainWindow(AppServices services, Settings* settings, QWidget* parent)
    : QMainWindow(parent), m_services(std::move(services)), m_settings(settings), m_actions(new Actions(this)) {
    setAcceptDrops(true);
    setDockOptions(QMainWindow::AllowNestedDocks | QMainWindow::AllowTabbedDocks);
    setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    setWindowIcon(viz::appIcon());
    resize(1440, 900);
    buildCentral();
    buildDocks();
    buildMenus();
    buildToolBar();
    buildStatusBar();
    connectViews();
    connectActions();
    restoreWindow();
    setTheme(themeKindFor(m_settings->value(SettingId::Theme).toString()));
    updateActions();
    updateTitle();
    updateStatus();
}

MainWindow::~MainWindow() = default;

void MainWindow::buildCentral() {
    auto* central = new QWidget(this);
    central->setProperty("surface", "canvas");
    central->setAttribute(Qt::WA_StyledBackground);
    auto* column = new QVBoxLayout(central);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_messages = new MessageBar(central);
    m_opening = new OpeningBar(central);
    m_pages = new QStackedWidget(central);
    m_welcome = new WelcomePage(m_settings, &m_project, m_pages);
    m_graphPage = new GraphPage(&m_document, &m_selection, m_pages);
    m_comparePage = new ComparePage(&m_document, &m_selection, m_pages);
    m_pages->addWidget(m_welcome);
    m_pages->addWidget(m_graphPage);
    m_pages->addWidget(m_comparePage);
    showPage(0);
    column->addWidget(m_messages);
    column->addWidget(m_opening);
    column->addWidget(m_pages, 1);
    setCentralWidget(central);
}

void MainWindow::buildDocks() {
    m_libraryDock = new PanelDock(QStringLiteral("libraryDock"), tr("Library"), this);
    m_library = new LibraryPanel(&m_document, &m_project, this);
    m_libraryDock->addPanel(tr("Library"), QString(), m_library);
    m_inspectorDock = new PanelDock(QStringLiteral("inspectorDock"), tr("Inspector"), this);
    m_inspector = new InspectorPanel(&m_document, &m_selection, this);
    m_inspectorDock->addPanel(tr("Inspector"), QString(), m_inspector);

    m_curvesDock = new PanelDock(QStringLiteral("curvesDock"), tr("Timeline and rewards"), this);
    m_timeline = new viz::TimelineView(this);
    m_rewards = new RewardsPanel(&m_curves, &m_document, this);
    m_curvesDock->addPanel(tr("Timeline"), QStringLiteral("timeline"), m_timeline, makeTimelineTools());
    m_curvesDock->addPanel(tr("Rewards"), QStringLiteral("curve"), m_rewards, m_rewards->tools());

    m_statsDock = new PanelDock(QStringLiteral("statsDock"), tr("Memory, runs and jobs"), this);
    m_memory = new viz::MemoryView(this);
    m_runsPanel = new RunsPanel(&m_project, this);
    m_jobsPanel = new JobsPanel(&m_jobs, this);
    m_statsDock->addPanel(tr("Memory"), QStringLiteral("memory"), m_memory, makeMemoryTools());
    m_statsDock->addPanel(tr("Runs"), QStringLiteral("table"), m_runsPanel, m_runsPanel->tools());
    m_statsDock->addPanel(tr("Jobs"), QStringLiteral("jobs"), m_jobsPanel);
    arrangeDocks();
}

void MainWindow::arrangeDocks() {
    addDockWidget(Qt::LeftDockWidgetArea, m_libraryDock);
    addDockWidget(Qt::RightDockWidgetArea, m_inspectorDock);
    addDockWidget(Qt::BottomDockWidgetArea, m_curvesDock);
    splitDockWidget(m_curvesDock, m_statsDock, Qt::Horizontal);
    for (PanelDock* dock : {m_libraryDock, m_inspectorDock, m_curvesDock, m_statsDock}) {
        dock->setFloating(false);
        dock->setVisible(m_mode == Mode::Graph);
    }
    resizeDocks({m_libraryDock, m_inspectorDock}, {kLibraryWidth, kInspectorWidth}, Qt::Horizontal);
    resizeDocks({m_curvesDock, m_statsDock}, {kCurvesWidth, kStatsWidth}, Qt::Horizontal);
    resizeDocks({m_curvesDock, m_statsDock}, {kBottomHeight, kBottomHeight}, Qt::Vertical);
}

QWidget* MainWindow::makeTimelineTools() {
    auto* tools = new QWidget(this);
    auto* row = new QHBoxLayout(tools);
    row->setContentsMargins(0, 0, 4, 0);
    row->setSpacing(8);
    m_criticalText = new ElidedLabel(tools);
    m_criticalText->setProperty("role", "secondary");
    auto* critical = new QCheckBox(tr("Critical path"), tools);
    auto* links = new QCheckBox(tr("Links"), tools);
    critical->setChecked(true);
    links->setChecked(true);
    auto* fit = new QToolButton(tools);
    fit->setProperty("small", true);
    fit->setToolTip(tr("Show the whole step"));
    auto* save = new QToolButton(tools);
    save->setProperty("small", true);
    save->setToolTip(tr("Export the timeline as PNG or SVG"));
    connect(save, &QToolButton::clicked, (*m_actions)[ActionId::ExportTimeline], &QAction::trigger);
    row->addWidget(m_criticalText);
    row->addWidget(critical);
    row->addWidget(links);
    row->addWidget(fit);
    m_toolIcons.emplace_back(fit, QStringLiteral("fit"));
    connect(critical, &QCheckBox::toggled, m_timeline, &viz::TimelineView::setShowCriticalPath);
    connect(links, &QCheckBox::toggled, m_timeline, &viz::TimelineView::setShowLinks);
    connect(fit, &QToolButton::clicked, m_timeline, &viz::TimelineView::zoomToFit);
    row->addWidget(save);
    m_toolIcons.emplace_back(save, QStringLiteral("export"));
    m_timeline->setShowCriticalPath(true);
    m_timeline->setShowLinks(true);
    return tools;
}

QWidget* MainWindow::makeMemoryTools() {
    auto* tools = new QWidget(this);
    auto* row = new QHBoxLayout(tools);
    row->setContentsMargins(0, 0, 4, 0);
    auto* capacity = new QCheckBox(tr("Capacity"), tools);
    capacity->setChecked(true);
    row->addWidget(capacity);
    connect(capacity, &QCheckBox::toggled, m_memory, &viz::MemoryView::setShowCapacity);
    return tools;
}

void MainWindow::connectViews() {
    connect(&m_selection, &Selection::changed, m_timeline, &viz::TimelineView::setSelection);
    connect(&m_selection, &Selection::hoverChanged, m_timeline, &viz::TimelineView::setHovered);
    connect(&m_selection, &Selection::hoverChanged, m_memory, &viz::MemoryView::setHovered);
    connect(&m_selection, &Selection::changed, this, &MainWindow::updateStatus);
    connect(m_timeline, &viz::TimelineView::selectionChanged, &m_selection, [this](const QList<quint32>& ops) {
        m_selection.setOps(ops);
        if (ops.size() == 1)
            m_selection.reveal(ops.first());
    });
    connect(m_timeline, &viz::TimelineView::hoverChanged, &m_selection, &Selection::setHovered);
    connect(m_timeline, &viz::TimelineView::rangeChanged, m_memory, &viz::MemoryView::setRange);
    connect(&m_document, &Document::scheduleChanged, this, &MainWindow::refreshSchedule);
    connect(&m_document, &Document::currentGraphChanged, this, [this] {
        m_search->setGraph(m_document.graph());
        const bool any = m_document.currentGraph() != nullptr;
        if (!any)
            setMode(Mode::Welcome);
        else if (m_mode == Mode::Welcome)
            setMode(Mode::Graph);
        updateTitle();
        updateActions();
    });
    for (const auto signal : {&Document::situationChanged, &Document::placementsChanged, &Document::currentPlacementChanged})
        connect(&m_document, signal, this, &MainWindow::updateActions);
    connect(&m_document, &Document::failed, this, &MainWindow::showError);
    connect(&m_project, &Project::failed, this, [this](const Error& error) {
        showError(error);
        if (!m_project.isOpening())
            runPending(); // why: without a project everything but keeping still works
    });
    connect(&m_project, &Project::runsChanged, this, &MainWindow::updateActions);
    connect(&m_project, &Project::opened, this, [this] {
        m_curves.clear();
        useLayoutCache();
        m_settings->setValue(SettingId::LastProject, m_project.path());
        if (!m_project.isUntitled())
            m_settings->addRecentFile(m_project.path());
        updateTitle();
        updateActions();
        runPending();
    });
    connect(&m_project, &Project::saved, this, [this] {
        useLayoutCache();
        m_settings->setValue(SettingId::LastProject, m_project.path());
        m_settings->addRecentFile(m_project.path());
        updateTitle();
        statusBar()->showMessage(tr("Saved as %1").arg(m_project.path()), 5000);
    });
    connect(&m_experiments, &Experiments::failed, this, &MainWindow::showError);
    connect(&m_experiments, &Experiments::announced, this, [this](const QString& text) { m_statusHint->setText(text); });
    connect(&m_opener, &FileOpener::failed, this, &MainWindow::showOpenError);
    connect(&m_opener, &FileOpener::started, m_opening, &OpeningBar::add);
    connect(m_graphPage->view(), &viz::GraphView::bodySelectionChanged, m_inspector, &InspectorPanel::showBodyOps);
    connect(&m_opener, &FileOpener::noticed, m_messages, &MessageBar::showNotice);
    connect(&m_opener, &FileOpener::opened, m_settings, &Settings::addRecentFile);
    connect(&m_jobs, &JobList::listChanged, this, &MainWindow::updateStatus);
    connect(&m_jobs, &JobList::progressed, this, &MainWindow::updateStatus);
    connect(&m_jobs, &JobList::listChanged, this, [this] {
        const int running = m_jobs.runningCount();
        m_statsDock->setPanelBadge(m_jobsPanel, running > 0 ? QString::number(running) : QString());
    });
}

/// Layouts of scopes are kept in the project by content; a failing store only means laying out again.
void MainWindow::useLayoutCache() {
    viz::GraphView::LayoutCache cache;
    cache.load = [repository = m_project.repository()](const std::string& key) -> std::optional<std::string> {
        auto value = repository->loadLayout("layout/" + key);
        return value ? *value : std::nullopt;
    };
    cache.save = [repository = m_project.repository()](const std::string& key, const std::string& value) {
        (void)repository->saveLayout("layout/" + key, value);
    };
    m_graphPage->view()->setLayoutCache(std::move(cache));
}

void MainWindow::refreshSchedule() {
    const auto schedule = m_document.schedule();
    const ProblemPtr problem = schedule ? m_document.problem() : nullptr;
    m_timeline->setSchedule(problem, problem ? schedule : nullptr);
    m_memory->setSchedule(problem, problem ? schedule : nullptr);
    m_timeline->setSelection(m_selection.ops());
    QString text;
    if (problem && schedule->stepTimeUs > 0) {
        double transfers = 0.0;
        for (const PathStep& step : schedule->criticalPath)
            if (!step.op.isValid())
                transfers += step.endUs - step.startUs;
        const double share = std::round(transfers / schedule->stepTimeUs * 1000.0) / 10.0;
        text = tr("Critical path: %1 % compute, %2 % transfers").arg(words::fixed(100.0 - share, 1), words::fixed(share, 1));
    }
    m_criticalText->setText(text);
}

/// A stack is as large as its largest page unless the hidden ones are ignored.
void MainWindow::showPage(int index) {
    for (int i = 0; i < m_pages->count(); ++i) {
        const auto policy = i == index ? QSizePolicy::Preferred : QSizePolicy::Ignored;
        m_pages->widget(i)->setSizePolicy(policy, policy);
    }
    m_pages->setCurrentIndex(index);
}

void MainWindow::setMode(Mode mode) {
    if (mode == m_mode)
        return;
    if (m_mode == Mode::Graph)
        m_graphLayout = saveState();
    m_mode = mode;
    const bool graph = mode == Mode::Graph;
    showPage(static_cast<int>(mode));
    m_summaryBar->setVisible(graph);
    if (graph) {
        for (PanelDock* dock : {m_libraryDock, m_inspectorDock, m_curvesDock, m_statsDock})
            dock->show();
        if (m_graphLayout.isEmpty() || !restoreState(m_graphLayout))
            arrangeDocks();
        m_summaryBar->show();
    } else {
        for (PanelDock* dock : {m_libraryDock, m_inspectorDock, m_curvesDock, m_statsDock})
            dock->hide();
    }
    m_comparePage->setActive(mode == Mode::Compare);
    updateActions();
    updateStatus();
}

void MainWindow::setTheme(viz::Theme::Kind kind) {
    m_themeKind = kind;
    const viz::Theme& theme = viz::Theme::of(kind);
    if (auto* app = qobject_cast<QApplication*>(QCoreApplication::instance()))
        applyStyle(*app, theme);
    m_actions->setTheme(theme);
    m_welcome->setTheme(theme);
    m_graphPage->setTheme(theme);
    m_comparePage->setTheme(theme);
    m_summary->setTheme(theme);
    m_messages->setTheme(theme);
    m_library->setTheme(theme);
    m_inspector->setTheme(theme);
    m_timeline->setTheme(theme);
    m_memory->setTheme(theme);
    m_rewards->setTheme(theme);
    m_runsPanel->setTheme(theme);
    m_jobsPanel->setTheme(theme);
    for (PanelDock* dock : {m_libraryDock, m_inspectorDock, m_curvesDock, m_statsDock})
        dock->setTheme(theme);
    for (const auto& [button, icon] : m_toolIcons)
        button->setIcon(viz::icon(icon, theme));
}

/// Of several files that fail together, none hides the other.
void MainWindow::showOpenError(const Error& error) {
    const Message message = messageFor(error);
    m_openErrors.append(message.sentence);
    if (m_openErrors.size() == 1)
        m_messages->showMessage(message);
    else
        m_messages->showMessage({tr("%1 files were not opened").arg(m_openErrors.size()), message.sentence, tr("Details lists the others.")},
                                m_openErrors);
}

void MainWindow::showError(const Error& error) {
    m_messages->showMessage(messageFor(error));
}

} // namespace pw::ui
