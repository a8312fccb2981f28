#pragma once

#include "ui/document.h"
#include "ui/experiments.h"
#include "ui/file_opener.h"
#include "ui/job_list.h"
#include "ui/project.h"
#include "ui/run_curves.h"
#include "ui/selection.h"
#include "ui/services.h"
#include "ui/settings/settings.h"
#include "viz/theme/theme.h"

#include <QMainWindow>

QT_BEGIN_NAMESPACE
class QLabel;
class QMenu;
class QProgressBar;
class QPushButton;
class QStackedWidget;
class QToolBar;
class QToolButton;
QT_END_NAMESPACE

namespace pw::viz {
class MemoryView;
class TimelineView;
}

namespace pw::ui {

class Actions;
class ComparePage;
class GraphPage;
class InspectorPanel;
class JobsPanel;
class LibraryPanel;
class MessageBar;
class OpeningBar;
class PanelDock;
class RewardsPanel;
class RunsPanel;
class SearchField;
class SummaryStrip;
class WelcomePage;

/// The window: owns the models, builds the views and joins them. Menus and toolbar are in main_window_menus.cpp, what
/// commands do in main_window_commands.cpp and main_window_view.cpp, closing and session in main_window_session.cpp.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    enum class Mode { Welcome, Graph, Compare };

    MainWindow(AppServices services, Settings* settings, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens these files, or restores the session if there are none.
    void start(const QStringList& files);
    void startWithProject(const QString& project, const QStringList& files);
    void openFiles(const QStringList& files);
    void openSample(const QString& spec, const QString& deviceSet);
    void setMode(Mode mode);
    Mode mode() const { return m_mode; }
    void setTheme(viz::Theme::Kind kind);

    Document* document() { return &m_document; }
    Selection* selection() { return &m_selection; }
    Project* project() { return &m_project; }
    JobList* jobs() { return &m_jobs; }
    RunCurves* curves() { return &m_curves; }
    Experiments* experiments() { return &m_experiments; }
    Actions* actions() { return m_actions; }
    GraphPage* graphPage() { return m_graphPage; }
    ComparePage* comparePage() { return m_comparePage; }
    RewardsPanel* rewards() { return m_rewards; }
    JobsPanel* jobsPanel() { return m_jobsPanel; }
    InspectorPanel* inspector() { return m_inspector; }
    LibraryPanel* library() { return m_library; }
    RunsPanel* runs() { return m_runsPanel; }
    viz::TimelineView* timeline() { return m_timeline; }
    PanelDock* curvesDock() { return m_curvesDock; }
    PanelDock* statsDock() { return m_statsDock; }
    MessageBar* messageBar() { return m_messages; }
    OpeningBar* openingBar() { return m_opening; }
    SummaryStrip* summary() { return m_summary; }
    const AppServices& services() const { return m_services; }

public Q_SLOTS:
    void showTrainDialog();
    void showZooDialog();
    void showError(const pw::Error& error);
    void showOpenError(const pw::Error& error);

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    // main_window.cpp
    void buildCentral();
    void showPage(int index);
    void buildDocks();
    QWidget* makeTimelineTools();
    QWidget* makeMemoryTools();
    void connectViews();
    void arrangeDocks();
    void useLayoutCache();
    void updateTitle();
    void updateStatus();
    void refreshSchedule();

    // main_window_menus.cpp
    void buildMenus();
    void buildToolBar();
    void buildStatusBar();
    void fillPlaceMenu(QMenu* menu);
    void fillInferMenu(QMenu* menu);
    void fillOpenMenu(QMenu* menu);
    void updateActions();

    // main_window_commands.cpp
    void connectActions();
    void askOpen();
    void askSaveAs();
    void askNewProject();
    void askPolicyFile();
    void place(const std::string& method);
    void exportPlacement(int id);
    void exportGraph();
    void exportPicture();
    void exportRuns();
    void askFile(const QString& title, const QString& suggestion, const QString& filter,
                 std::function<void(const QString&)> chosen);
    /// Writes a file on a job; says when that failed, and where it lies when it did not.
    void writeFile(const QString& path, std::function<Status(const std::string& path)> write);
    void showShortcuts();
    void showAbout();
    void showSettings();

    // main_window_view.cpp
    void connectView();
    void updateGroupActions();
    void showGroupsDialog();
    void fillAssignMenu(QMenu* menu);
    void showGraphMenu(const QPoint& globalPos, qint64 op);

    // main_window_session.cpp
    void restoreWindow();
    void saveWindow();
    void restoreProject();
    void afterProject(std::function<void()> action);
    void runPending();
    void askToStopJobs();
    void finishClosing();
    QByteArray layoutState() const;

    AppServices m_services;
    Settings* m_settings;
    Document m_document;
    Selection m_selection;
    JobList m_jobs;
    RunCurves m_curves;
    Project m_project{m_services, &m_document};
    Experiments m_experiments{m_services, &m_document, &m_project, &m_jobs, &m_curves};
    FileOpener m_opener{m_services, &m_document, &m_project, &m_jobs, &m_experiments};

    Actions* m_actions;
    MessageBar* m_messages = nullptr;
    OpeningBar* m_opening = nullptr;
    QStackedWidget* m_pages = nullptr;
    WelcomePage* m_welcome = nullptr;
    GraphPage* m_graphPage = nullptr;
    ComparePage* m_comparePage = nullptr;
    QToolBar* m_summaryBar = nullptr;
    SummaryStrip* m_summary = nullptr;
    SearchField* m_search = nullptr;
    PanelDock* m_libraryDock = nullptr;
    PanelDock* m_inspectorDock = nullptr;
    PanelDock* m_curvesDock = nullptr;
    PanelDock* m_statsDock = nullptr;
    LibraryPanel* m_library = nullptr;
    InspectorPanel* m_inspector = nullptr;
    viz::TimelineView* m_timeline = nullptr;
    RewardsPanel* m_rewards = nullptr;
    viz::MemoryView* m_memory = nullptr;
    RunsPanel* m_runsPanel = nullptr;
    JobsPanel* m_jobsPanel = nullptr;
    std::vector<std::pair<QToolButton*, QString>> m_toolIcons;
    QLabel* m_criticalText = nullptr;
    QLabel* m_statusSelection = nullptr;
    QLabel* m_statusHint = nullptr;
    QLabel* m_statusJob = nullptr;
    QProgressBar* m_statusBarProgress = nullptr;
    QPushButton* m_statusStop = nullptr;

    viz::Theme::Kind m_themeKind = viz::Theme::Kind::Light;
    Mode m_mode = Mode::Welcome;
    QByteArray m_graphLayout; ///< docks of the graph mode while another mode is shown
    std::vector<std::function<void()>> m_afterProject; ///< what was asked for while the project was being opened
    QStringList m_openErrors; ///< since files were last asked for
    bool m_wasShown = false;
    bool m_closing = false;
};

} // namespace pw::ui
