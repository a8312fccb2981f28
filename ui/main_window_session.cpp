#include "ui/main_window.h"

#include "ui/message_bar.h"
#include "ui/panel_dock.h"
#include "ui/views/welcome_page.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QTimer>

#include <utility>

namespace pw::ui {

namespace {
constexpr int kLayoutVersion = 1; ///< raised when docks change: an old layout is then not restored
constexpr int kPatienceMs = 5000; ///< after this, closing offers to go without waiting
} // namespace

void MainWindow::start(const QStringList& files) {
    restoreProject();
    openFiles(files);
}

/// Opening a project replaces what is on screen, so whatever is opened meanwhile waits for it.
void MainWindow::afterProject(std::function<void()> action) {
    if (m_project.isOpening())
        m_afterProject.push_back(std::move(action));
    else
        action();
}

void MainWindow::runPending() {
    for (const auto& action : std::exchange(m_afterProject, {}))
        action();
}

void MainWindow::startWithProject(const QString& project, const QStringList& files) {
    m_project.open(project);
    openFiles(files);
}

void MainWindow::restoreProject() {
    const QString last = m_settings->value(SettingId::LastProject).toString();
    const bool restore = m_settings->value(SettingId::RestoreSession).toBool();
    if (restore && !last.isEmpty() && last != m_project.untitledPath() && QFileInfo::exists(last))
        m_project.open(last);
    else
        m_project.openUntitled();
}

void MainWindow::restoreWindow() {
    if (m_settings->value(SettingId::LayoutVersion).toInt() != kLayoutVersion)
        return;
    restoreGeometry(m_settings->value(SettingId::WindowGeometry).toByteArray());
    m_graphLayout = m_settings->value(SettingId::WindowState).toByteArray();
}

QByteArray MainWindow::layoutState() const {
    return m_mode == Mode::Graph ? saveState() : m_graphLayout;
}

void MainWindow::saveWindow() {
    m_settings->setValue(SettingId::LayoutVersion, kLayoutVersion);
    m_settings->setValue(SettingId::WindowGeometry, saveGeometry());
    m_settings->setValue(SettingId::WindowState, layoutState());
    m_settings->sync();
}

void MainWindow::updateTitle() {
    const GraphEntry* graph = m_document.currentGraph();
    const QString project = m_project.path().isEmpty() || m_project.isUntitled()
                                ? tr("untitled project")
                                : QFileInfo(m_project.path()).completeBaseName();
    setWindowTitle(graph ? tr("%1 – %2 – Placewright").arg(graph->name, project) : tr("Placewright"));
}

void MainWindow::showEvent(QShowEvent* event) {
    QMainWindow::showEvent(event);
    m_wasShown = true;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    QStringList files;
    const QList<QUrl> urls = event->mimeData()->urls();
    for (const QUrl& url : urls)
        if (url.isLocalFile())
            files.append(url.toLocalFile());
    if (files.isEmpty()) {
        showError({ErrorCode::Unsupported, "only files of this machine can be dropped here", {}, {}});
        return;
    }
    event->acceptProposedAction();
    openFiles(files);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (m_jobs.runningCount() > 0 && !m_closing) {
        event->ignore();
        askToStopJobs();
        return;
    }
    if (m_jobs.runningCount() > 0) {
        event->ignore();
        return;
    }
    saveWindow();
    m_project.flush();
    if (!m_project.isIdle()) { // what is still to be written is written first; the event loop keeps turning
        event->ignore();
        if (!m_closing)
            finishClosing();
        return;
    }
    event->accept();
}

void MainWindow::askToStopJobs() {
    if (findChild<QMessageBox*>(QStringLiteral("closeQuestion")))
        return;
    const int running = m_jobs.runningCount();
    auto* box = new QMessageBox(QMessageBox::Question, tr("Jobs are running"),
                                running == 1 ? tr("A job is running. Stop it, keep its best result, and quit?")
                                             : tr("%1 jobs are running. Stop them, keep their best results, and quit?").arg(running),
                                QMessageBox::Cancel, this);
    box->setObjectName(QStringLiteral("closeQuestion"));
    box->setInformativeText(tr("Training runs can be resumed later from their last checkpoint."));
    box->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* stop = box->addButton(tr("Stop and quit"), QMessageBox::AcceptRole);
    stop->setObjectName(QStringLiteral("stopAndQuit"));
    box->setDefaultButton(stop);
    connect(stop, &QPushButton::clicked, this, [this] {
        m_jobs.requestStopAll();
        finishClosing();
    });
    box->open();
}

void MainWindow::finishClosing() {
    m_closing = true;
    m_messages->showNotice(tr("Finishing"), tr("Jobs are stopping and results are stored; the window closes by itself."));
    // Queued: whoever listens to the end of a job (results, notes) is served before the window goes.
    const auto tryClose = [this] {
        if (m_jobs.runningCount() == 0)
            QTimer::singleShot(0, this, &QWidget::close);
    };
    connect(&m_jobs, &JobList::allFinished, this, tryClose);
    connect(&m_project, &Project::idle, this, tryClose);
    QTimer::singleShot(kPatienceMs, this, [this] {
        if (m_jobs.runningCount() == 0)
            return;
        auto* box = new QMessageBox(QMessageBox::Question, tr("Still stopping"),
                                    tr("A job has not stopped yet. Quit without waiting for its last result?"),
                                    QMessageBox::Cancel, this);
        box->setInformativeText(tr("What was stored before stays; the run will be marked as interrupted."));
        box->setAttribute(Qt::WA_DeleteOnClose);
        QPushButton* quit = box->addButton(tr("Quit now"), QMessageBox::DestructiveRole);
        connect(quit, &QPushButton::clicked, this, [this] { m_jobs.abortAll(); });
        box->open();
    });
    tryClose();
}

} // namespace pw::ui
