#include "tests/ui/ui_fixture.h"
#include "ui/actions.h"
#include "ui/async.h"
#include "ui/dialogs/train_dialog.h"
#include "ui/docks/rewards_panel.h"
#include "ui/docks/runs_panel.h"
#include "ui/message_bar.h"
#include "ui/models/moves_model.h"
#include "ui/models/parameters_model.h"
#include "ui/models/runs_model.h"
#include "ui/views/compare_page.h"

#include <QAction>
#include <QFileInfo>
#include <QHeaderView>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QToolButton>
#include <QtTest>

#include <ctime>
#include <thread>

using namespace pw;
using namespace pw::ui;

namespace {

double threadCpuMs() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Measures the CPU time of every event that is delivered on the GUI thread. CPU, not wall: other programs on the machine
/// cannot make it fail.
class TimedApplication : public QApplication {
public:
    using QApplication::QApplication;

    bool notify(QObject* receiver, QEvent* event) override {
        if (m_depth > 0 || !m_measuring)
            return deliver(receiver, event);
        const double before = threadCpuMs();
        const bool result = deliver(receiver, event);
        const double spent = threadCpuMs() - before;
        ++m_events;
        if (spent > m_worstMs) {
            m_worstMs = spent;
            m_worst = QStringLiteral("%1, event %2").arg(QLatin1String(receiver->metaObject()->className())).arg(event->type());
        }
        return result;
    }

    void startMeasuring() {
        m_measuring = true;
        m_worstMs = 0.0;
        m_events = 0;
    }
    void stopMeasuring() { m_measuring = false; }
    double worstMs() const { return m_worstMs; }
    const QString& worst() const { return m_worst; }
    int events() const { return m_events; }

private:
    bool deliver(QObject* receiver, QEvent* event) {
        ++m_depth;
        const bool result = QApplication::notify(receiver, event);
        --m_depth;
        return result;
    }

    bool m_measuring = false;
    int m_depth = 0;
    int m_events = 0;
    double m_worstMs = 0.0;
    QString m_worst;
};

TrainRequest requestFor(Document& document) {
    TrainRequest request;
    request.graphs = {document.graph()};
    request.devices = document.devices();
    request.groups = document.grouping().targetGroups;
    request.maxEpisodes = 20;
    return request;
}

} // namespace

class TstUiJobsWindow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void aTrainingFillsCurveLibraryAndRuns();
    void theTrainingDialogStartsWithoutReading();
    void parametersReachTheCommandLine();
    void stopKeepsTheBestAndAbortDropsIt();
    void closingWithARunningJobAsksAndNeverBlocks();
    void compareMarksListsAndMeasures();
    void compareSaysWhenThereIsNothingToCompare();
    void aStoppedTrainingIsResumedAsTheSameRun();
    void savingMovesTheUntitledProject();
    void aFailingTrainingIsOneMessage();
    void zeroShotFromAStoredPolicy();
    void runsAreEditedInTheProject();
    void noEventTakesLongWhileAJobRuns();
    void aDestroyedHandleNeverWaits();
};

void TstUiJobsWindow::aTrainingFillsCurveLibraryAndRuns() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(4)));
    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
    QCOMPARE(fixture.window().curves()->curves().size(), 1U);
    const RunCurves::Curve& curve = fixture.window().curves()->curves().begin()->second;
    QCOMPARE(curve.steps.size(), 20U); // every sample, none dropped
    QVERIFY(!curve.live);
    QCOMPARE(curve.values.at("reward").size(), 20U);
    QMenu* menu = fixture.window().rewards()->runsButton()->menu();
    Q_EMIT menu->aboutToShow();
    QCOMPARE(menu->actions().size(), 1);
    menu->actions().first()->trigger(); // unticked
    QVERIFY(!curve.shown);
    const PlacementEntry* placement = fixture.document().currentPlacement();
    QVERIFY(placement && placement->method == QStringLiteral("placeto") && !placement->live);
    QTRY_COMPARE(fixture.window().project()->runs().size(), 1U);
    QTRY_COMPARE(fixture.window().project()->runs().front().status, RunStatus::Done);
    QTRY_VERIFY(fixture.document().schedule());
    QCOMPARE(fixture.document().schedule()->placement, *placement->ops);
}

void TstUiJobsWindow::theTrainingDialogStartsWithoutReading() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    (*fixture.window().actions())[ActionId::Train]->trigger();
    auto* dialog = fixture.window().findChild<TrainDialog*>();
    QVERIFY(dialog);
    QTRY_VERIFY(!dialog->parameters()->parameters().empty());
    auto* start = dialog->findChild<QPushButton*>(QStringLiteral("startTraining"));
    QVERIFY(start->isEnabled());
    QCOMPARE(dialog->requests().size(), 1U);
    QCOMPARE(dialog->requests().front().groups, 128U);
    QCOMPARE(dialog->requests().front().graphs.front(), fixture.document().graph());
    QVERIFY(dialog->requests().front().maxSeconds > 0.0);
    QTest::keyClick(dialog, Qt::Key_Return);
    QTRY_COMPARE(int(fixture.library.trainings), 1);
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
}

void TstUiJobsWindow::parametersReachTheCommandLine() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    TrainDialog dialog(fixture.window().services(), &fixture.document(), nullptr);
    QTRY_VERIFY(!dialog.parameters()->parameters().empty());
    QVERIFY(!dialog.commandLine().contains(QStringLiteral("--set")));
    dialog.parameters()->setValue("entropy", "0.5");
    QVERIFY(dialog.commandLine().contains(QStringLiteral("--set entropy=0.5")));
    QCOMPARE(dialog.requests().front().parameters.at("entropy"), std::string("0.5"));
    QVERIFY(dialog.commandLine().startsWith(QStringLiteral("placewright-cli train placeto --graphs test --devices 2xK80")));
}

void TstUiJobsWindow::stopKeepsTheBestAndAbortDropsIt() {
    test::UiFixture fixture;
    fixture.library.endless = true;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    JobList* jobs = fixture.window().jobs();
    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_VERIFY(!fixture.document().placements().empty()); // the best so far is followed while it runs
    QVERIFY(fixture.document().placements().front()->live);
    jobs->requestStop(jobs->foremost()->id);
    QTRY_COMPARE(jobs->runningCount(), 0);
    QCOMPARE(fixture.document().placements().size(), 1U);
    QVERIFY(!fixture.document().placements().front()->live);
    QTRY_COMPARE(fixture.repository->runs({})->back().status, RunStatus::Stopped);

    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_COMPARE(fixture.document().placements().size(), 2U);
    jobs->abort(jobs->foremost()->id);
    QTRY_COMPARE(jobs->runningCount(), 0);
    QTRY_COMPARE(fixture.document().placements().size(), 1U);
}

void TstUiJobsWindow::closingWithARunningJobAsksAndNeverBlocks() {
    test::UiFixture fixture;
    fixture.library.endless = true;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_VERIFY(!fixture.document().placements().empty());
    QVERIFY(!fixture.window().close());
    QVERIFY(!fixture.window().close()); // asks once
    const auto boxes = fixture.window().findChildren<QMessageBox*>(QStringLiteral("closeQuestion"));
    QCOMPARE(boxes.size(), 1);
    QCOMPARE(fixture.window().jobs()->runningCount(), 1);
    const double before = threadCpuMs();
    QTest::mouseClick(boxes.first()->findChild<QPushButton*>(QStringLiteral("stopAndQuit")), Qt::LeftButton);
    QVERIFY(threadCpuMs() - before < 200.0);
    QTRY_VERIFY(!fixture.window().isVisible());
    QCOMPARE(fixture.repository->runs({})->back().status, RunStatus::Stopped);
    QVERIFY(fixture.repository->runs({})->back().bestPlacementId.has_value());
}

void TstUiJobsWindow::compareMarksListsAndMeasures() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(4)));
    QVERIFY(fixture.place("single"));
    QVERIFY(fixture.place("contiguous"));
    fixture.window().setMode(MainWindow::Mode::Compare);
    ComparePage* page = fixture.window().comparePage();
    QTRY_VERIFY(page->comparison());
    QCOMPARE(page->comparison()->candidate->placement, *fixture.document().currentPlacement()->ops);
    const auto& comparison = *page->comparison();
    std::size_t moved = 0;
    for (std::size_t i = 0; i < comparison.moved.size(); ++i)
        moved += comparison.base->placement[i] != comparison.candidate->placement[i] ? 1 : 0;
    QCOMPARE(comparison.movedOps, moved);
    QVERIFY(moved > 0);
    page->step(1);
    QCOMPARE(fixture.window().selection()->ops(), page->moves()->moves().front().ops);
    page->step(1);
    QCOMPARE(fixture.window().selection()->ops(), page->moves()->moves()[1].ops);
    page->step(-1);
    QCOMPARE(fixture.window().selection()->ops(), page->moves()->moves().front().ops);
}

void TstUiJobsWindow::compareSaysWhenThereIsNothingToCompare() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    QVERIFY(fixture.place("single"));
    fixture.window().setMode(MainWindow::Mode::Compare);
    QVERIFY(!fixture.window().comparePage()->comparison());
    QVERIFY(fixture.place("contiguous"));
    QTRY_VERIFY(fixture.window().comparePage()->comparison());
}

void TstUiJobsWindow::aStoppedTrainingIsResumedAsTheSameRun() {
    test::UiFixture fixture;
    fixture.library.endless = true;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    JobList* jobs = fixture.window().jobs();
    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_VERIFY(!fixture.document().placements().empty());
    jobs->requestStop(jobs->foremost()->id);
    QTRY_COMPARE(jobs->runningCount(), 0);
    QTRY_VERIFY(!fixture.window().project()->runs().empty());
    QTRY_COMPARE(fixture.window().project()->runs().front().status, RunStatus::Stopped);
    fixture.library.endless = false;
    fixture.window().experiments()->resume(fixture.window().project()->runs().front().id);
    QTRY_COMPARE(jobs->runningCount(), 0);
    QCOMPARE(int(fixture.library.trainings), 2);
    QCOMPARE(fixture.repository->runs({})->size(), 1U);
    QCOMPARE(fixture.repository->runs({})->front().status, RunStatus::Done);
    QCOMPARE(fixture.window().curves()->curves().size(), 1U);
}

void TstUiJobsWindow::savingMovesTheUntitledProject() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    Project* project = fixture.window().project();
    QVERIFY(project->isUntitled());
    const QString old = fixture.write(QStringLiteral("untitled.placewright"), "x");
    QCOMPARE(old, project->untitledPath());
    project->saveAs(fixture.filePath(QStringLiteral("mine.placewright")));
    QTRY_VERIFY(!project->isUntitled());
    QTRY_VERIFY(!QFileInfo::exists(old));
    QCOMPARE(fixture.settings->value(SettingId::LastProject).toString(), project->path());
    QVERIFY(fixture.window().windowTitle().contains(QStringLiteral("Placewright")));
}

void TstUiJobsWindow::aFailingTrainingIsOneMessage() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    fixture.repository->failWritesAfter(0, Error{ErrorCode::Io, "the disk is full", "p.placewright", {}});
    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
    QTRY_VERIFY(fixture.window().messageBar()->text().contains(QStringLiteral("the disk is full")));
    QCOMPARE(fixture.window().jobs()->entries().back().outcome, JobOutcome::Failed);
}

void TstUiJobsWindow::zeroShotFromAStoredPolicy() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(3)));
    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
    QTRY_VERIFY(!fixture.window().project()->runs().empty());
    QVERIFY(fixture.show(test::layeredGraph(5)));
    fixture.window().experiments()->infer(fixture.window().project()->runs().front().id);
    QTRY_COMPARE(fixture.document().placements().size(), 1U);
    QVERIFY(fixture.document().currentPlacement()->name.contains(QStringLiteral("zero-shot")));
    QCOMPARE((*fixture.document().currentPlacement()->ops)[0], DeviceId(1));
}

void TstUiJobsWindow::runsAreEditedInTheProject() {
    test::UiFixture fixture;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(2)));
    QVERIFY(fixture.place("single"));
    RunsModel* model = fixture.window().runs()->model();
    QTRY_COMPARE(model->rowCount(), 1);
    model->setData(model->index(0, RunsModel::Note), QStringLiteral("the baseline"), Qt::EditRole);
    model->setData(model->index(0, RunsModel::Tags), QStringLiteral("a, b"), Qt::EditRole);
    QTRY_VERIFY(fixture.window().project()->isIdle());
    const RunRecord run = fixture.repository->runs({})->front();
    QCOMPARE(run.note, std::string("the baseline"));
    QCOMPARE(run.tags, (std::vector<std::string>{"a", "b"}));
    QVERIFY(fixture.window().runs()->toCsv().contains(QStringLiteral("\"the baseline\"")));
    QVERIFY(!model->index(0, RunsModel::Status).data(Qt::DecorationRole).value<QIcon>().isNull());
    const QHeaderView* header = fixture.window().runs()->table()->horizontalHeader();
    constexpr int kUsualWidth = 540; // of the dock at 1440 x 900
    for (const int column : {RunsModel::Run, RunsModel::Status, RunsModel::StepMs, RunsModel::Tags, RunsModel::Time})
        QVERIFY(header->sectionPosition(column) + header->sectionSize(column) <= kUsualWidth);
    fixture.window().project()->deleteRun(run.id);
    QTRY_COMPARE(model->rowCount(), 0);
}

void TstUiJobsWindow::noEventTakesLongWhileAJobRuns() {
    test::UiFixture fixture;
    fixture.library.endless = true;
    QVERIFY(fixture.open());
    QVERIFY(fixture.show(test::layeredGraph(60)));
    QVERIFY(fixture.place("contiguous"));
    fixture.window().experiments()->train(requestFor(fixture.document()));
    QTRY_VERIFY(fixture.window().curves()->curves().size() == 1);
    auto* app = static_cast<TimedApplication*>(qApp);
    app->startMeasuring();
    const auto* curve = &fixture.window().curves()->curves().begin()->second;
    QTRY_VERIFY_WITH_TIMEOUT(curve->steps.size() > 500 && app->events() > 300, 60000);
    app->stopMeasuring();
    qInfo("%d events, longest %.1f ms of CPU time (%s)", app->events(), app->worstMs(), qPrintable(app->worst()));
    QVERIFY2(app->worstMs() < 50.0, qPrintable(QStringLiteral("%1 ms in %2").arg(app->worstMs()).arg(app->worst())));
    fixture.window().jobs()->abortAll();
    QTRY_COMPARE(fixture.window().jobs()->runningCount(), 0);
}

void TstUiJobsWindow::aDestroyedHandleNeverWaits() {
    auto running = std::make_shared<std::atomic<bool>>(false);
    auto ended = std::make_shared<std::atomic<bool>>(false);
    auto* handle = new JobHandle(QStringLiteral("spin"), [running, ended](JobContext& context) -> Status {
        *running = true;
        while (!context.abortRequested())
            std::this_thread::yield();
        *ended = true;
        return {};
    }, nullptr);
    QSignalSpy finished(handle, &JobHandle::finished);
    QTRY_VERIFY(running->load());
    delete handle;
    QTRY_VERIFY(ended->load()); // it was told to end, and nobody waited for it
    QCOMPARE(finished.count(), 0);
}

int main(int argc, char** argv) {
    TimedApplication app(argc, argv);
    TstUiJobsWindow tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_ui_jobs_window.moc"
