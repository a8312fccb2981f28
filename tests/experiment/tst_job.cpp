#include "core/base/clock.h"
#include "core/jobs/job.h"
#include "core/jobs/mailbox.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stdexcept>

namespace {

/// Blocks a job until the test lets it go, or until it is asked to leave.
class Gate {
public:
    void open() {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_changed.notify_all();
    }
    void wait() {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_open; });
    }
    /// False if `stop` came first.
    bool wait(const std::stop_token& stop) {
        std::unique_lock lock(m_mutex);
        return m_changed.wait(lock, stop, [this] { return m_open; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    bool m_open = false;
};

int threadCount() {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.rfind("Threads:", 0) == 0)
            return std::stoi(line.substr(8));
    }
    return -1;
}

} // namespace

class TestJob : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void succeeds() {
        pw::Job job("work", [](pw::JobContext&) { return pw::Status(); });
        QCOMPARE(job.name(), std::string("work"));
        QCOMPARE(job.wait().outcome, pw::JobOutcome::Succeeded);
        QVERIFY(job.end().has_value());
        QVERIFY(!job.end()->error);
    }

    void errorIsTheJobsError() {
        pw::Job job("work", [](pw::JobContext&) -> pw::Status { return pw::fail(pw::ErrorCode::Io, "disk", "w", "f"); });
        const pw::JobEnd end = job.wait();
        QCOMPARE(end.outcome, pw::JobOutcome::Failed);
        QCOMPARE(end.error->toString(), std::string("f: w: disk"));
    }

    void exceptionIsAnInternalError() {
        pw::Job job("work", [](pw::JobContext&) -> pw::Status { throw std::runtime_error("boom"); });
        const pw::JobEnd end = job.wait();
        QCOMPARE(end.outcome, pw::JobOutcome::Failed);
        QCOMPARE(end.error->code, pw::ErrorCode::Internal);
        QCOMPARE(end.error->message, std::string("boom"));
        pw::Job other("work", [](pw::JobContext&) -> pw::Status { throw 1; });
        QCOMPARE(other.wait().outcome, pw::JobOutcome::Failed);
    }

    void newestProgressIsTakenOnce() {
        Gate reported, leave;
        pw::Job job("work", [&](pw::JobContext& context) {
            for (int i = 0; i <= 10; ++i)
                context.report({"train", i / 10.0, 0.0, {}, -1.0, -1.0});
            reported.open();
            leave.wait();
            return pw::Status();
        });
        reported.wait();
        const auto progress = job.takeProgress();
        QVERIFY(progress.has_value());
        QCOMPARE(progress->fraction, 1.0);
        QVERIFY(!job.takeProgress());
        QVERIFY(!job.end());
        leave.open();
        job.wait();
    }

    void stopKeepsTheResult() {
        Gate never;
        pw::Job job("work", [&](pw::JobContext& context) {
            never.wait(context.stopToken());
            return context.stopRequested() && !context.abortRequested() ? pw::Status()
                                                                        : pw::Status(pw::fail(pw::ErrorCode::Internal, "?"));
        });
        job.requestStop();
        QCOMPARE(job.wait().outcome, pw::JobOutcome::Stopped);
    }

    void abortWinsOverStopAndErrors() {
        Gate never;
        pw::Job job("work", [&](pw::JobContext& context) -> pw::Status {
            never.wait(context.abortToken());
            if (!context.stopRequested()) // abort means stop as well
                return {};
            return pw::fail(pw::ErrorCode::Busy, "cancelled");
        });
        job.requestStop();
        job.abort();
        const pw::JobEnd end = job.wait();
        QCOMPARE(end.outcome, pw::JobOutcome::Aborted);
        QVERIFY(!end.error);
    }

    void endHookRunsOnceAfterTheEndIsSet() {
        std::atomic<int> calls = 0;
        std::atomic<bool> endWasSet = false;
        Gate started, hooked;
        pw::Job* handle = nullptr;
        pw::Job job(
            "work", [&](pw::JobContext&) { started.wait(); return pw::Status(); },
            [&] {
                ++calls;
                endWasSet = handle->end().has_value();
                hooked.open();
            });
        handle = &job;
        started.open();
        hooked.wait();
        QCOMPARE(calls.load(), 1);
        QVERIFY(endWasSet);
    }

    void destructorDoesNotWait() {
        Gate entered, leave;
        std::atomic<bool> sawAbort = false;
        {
            pw::Job job("stubborn", [&](pw::JobContext& context) {
                entered.open();
                leave.wait(); // deaf to abort
                sawAbort = context.abortRequested();
                return pw::Status();
            });
            entered.wait();
        } // would hang here if the destructor waited
        leave.open();
        pw::joinAllJobs();
        QVERIFY(sawAbort);
    }

    void moveAssignmentAbortsTheOldOne() {
        Gate never;
        std::atomic<bool> aborted = false;
        pw::Job job("old", [&](pw::JobContext& context) {
            never.wait(context.abortToken());
            aborted = context.abortRequested();
            return pw::Status();
        });
        job = pw::Job("new", [](pw::JobContext&) { return pw::Status(); });
        QCOMPARE(job.name(), std::string("new"));
        QCOMPARE(job.wait().outcome, pw::JobOutcome::Succeeded);
        pw::joinAllJobs();
        QVERIFY(aborted);
    }

    void whatTheFunctionHoldsIsFreedAtTheEnd() {
        auto held = std::make_shared<int>(1);
        const std::weak_ptr<int> watch = held;
        pw::Job job("work", [held = std::move(held)](pw::JobContext&) { return pw::Status(); });
        job.wait();
        QVERIFY(watch.expired());
    }

    /// Each thread that is not joined keeps its stack: a day of layouts would use up the address space.
    void endedJobsAreJoinedOnTheWay() {
        const auto mapsOf = [] {
            std::ifstream maps("/proc/self/maps");
            return static_cast<int>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
        };
        pw::joinAllJobs();
        const int before = mapsOf();
        for (int i = 0; i < 300; ++i) {
            pw::Job job("work", [](pw::JobContext&) { return pw::Status(); });
            job.wait();
        }
        QVERIFY2(mapsOf() - before < 150, "stacks of ended threads pile up");
        QVERIFY(threadCount() < 100);
        pw::joinAllJobs();
    }

    void mailboxOverwritesStateAndCountsWhatItDrops() {
        pw::Mailbox<int, int> mailbox(2);
        QVERIFY(!mailbox.drain().state);
        mailbox.setState(1);
        mailbox.setState(2);
        for (int i = 0; i < 5; ++i)
            mailbox.append(i);
        const auto content = mailbox.drain();
        QVERIFY(content.state == 2);
        QVERIFY((content.samples == std::vector{0, 1}));
        QCOMPARE(content.dropped, std::uint64_t(3));
        const auto empty = mailbox.drain();
        QVERIFY(!empty.state && empty.samples.empty() && empty.dropped == 0);
    }
};

QTEST_APPLESS_MAIN(TestJob)
#include "tst_job.moc"
