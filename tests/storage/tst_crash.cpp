// kill -9 at any moment: integrity check passes, at most one second of samples lost, the run is marked
// interrupted, and resuming from the last checkpoint equals an uninterrupted run.

#include "core/base/rng.h"
#include "core/experiment/memory_repository.h"
#include "tests/storage/crash_protocol.h"
#include "tests/support/fake_learner.h"

#include <QTest>

#include <csignal>
#include <cstdlib>

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

using namespace pw;

namespace {

class Victim {
public:
    Victim(const std::string& project, const std::string& log, int checkpointEvery = 50) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            return;
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
        std::string program = PW_CRASH_VICTIM;
        std::string projectArgument = project;
        std::string logArgument = log;
        std::string everyArgument = std::to_string(checkpointEvery);
        char* arguments[] = {program.data(), projectArgument.data(), logArgument.data(), everyArgument.data(), nullptr};
        if (::posix_spawn(&m_pid, PW_CRASH_VICTIM, &actions, nullptr, arguments, environ) != 0)
            m_pid = -1;
        posix_spawn_file_actions_destroy(&actions);
        ::close(ends[1]);
        m_output = ends[0];
    }
    ~Victim() {
        kill();
        ::close(m_output);
    }
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;

    /// False if it ended by itself.
    bool awaitFirstEpisode() const {
        char byte = 0;
        return ::read(m_output, &byte, 1) == 1;
    }
    /// Lets it work for that long. False if it ended by itself.
    bool live(double seconds) const {
        pollfd wait{m_output, POLLIN, 0};
        return ::poll(&wait, 1, static_cast<int>(seconds * 1000.0)) == 0;
    }
    /// Returns once it is gone.
    void kill() {
        if (m_pid > 0) {
            ::kill(m_pid, SIGKILL);
            ::waitpid(m_pid, nullptr, 0);
            m_pid = -1;
        }
    }

private:
    pid_t m_pid = -1;
    int m_output = -1;
};

/// Episodes 1..n that had ended before `time`.
std::int64_t endedBefore(const test::CrashLog& log, double time) {
    std::int64_t count = 0;
    for (std::size_t episode = 1; episode < test::CrashLog::kEpisodes; ++episode) {
        const double at = log.endedAt[episode];
        if (at == 0.0 || at >= time)
            break;
        ++count;
    }
    return count;
}

} // namespace

class TestCrash : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void killedAtAnyMomentLosesAtMostASecond() {
        const test::ProjectFolder folder;
        Rng rng(1);
        std::int64_t worstLoss = 0;
        for (int round = 0; round < 20; ++round) {
            const std::string logPath = folder.path("log" + std::to_string(round));
            const test::CrashLog* log = test::CrashLog::map(logPath);
            QVERIFY(log);
            // A checkpoint writes the samples with it; without one, only the recorder's own clock does.
            const bool checkpoints = round % 2 == 0;
            Victim victim(folder.path(), logPath, checkpoints ? 50 : 1000000);
            QVERIFY(victim.awaitFirstEpisode());
            QVERIFY(victim.live(1.6 * rng.uniform()));
            const double killedAt = test::monotonicSeconds();
            victim.kill();

            QVERIFY(storage::checkIntegrity(folder.path()).has_value());
            const auto repository = storage::openProject(folder.path());
            QVERIFY2(repository.has_value(), repository ? "" : repository.error().toString().c_str());
            const auto runs = *(*repository)->runs({});
            QCOMPARE(runs.size(), std::size_t(round + 1)); // and all earlier ones
            QCOMPARE(runs[0].status, RunStatus::Interrupted);
            const auto samples = *(*repository)->metrics(runs[0].id, 0);
            for (std::size_t i = 0; i < samples.size(); ++i)
                QCOMPARE(samples[i].step, std::int64_t(i + 1)); // without a gap
            const auto stored = static_cast<std::int64_t>(samples.size());
            const std::int64_t mustHave = endedBefore(*log, killedAt - 1.0);
            QVERIFY2(stored >= mustHave, (std::to_string(stored) + " of " + std::to_string(mustHave)).c_str());
            worstLoss = std::max(worstLoss, endedBefore(*log, killedAt) - stored);
            const auto checkpoint = *(*repository)->lastCheckpoint(runs[0].id);
            if (checkpoint) {
                QVERIFY(checkpoint->step % 50 == 0 && checkpoint->step <= stored);
                QVERIFY(!checkpoint->bytes.empty());
            }
            QVERIFY(checkpoint || !checkpoints || stored < 200);
        }
        qInfo("most samples lost in one of 20 kills: %lld", static_cast<long long>(worstLoss));
    }

    void killedWhileCreatingLeavesAUsableFile() {
        Rng rng(2);
        for (int round = 0; round < 20; ++round) {
            const test::ProjectFolder folder;
            {
                Victim victim(folder.path(), folder.path("log"));
                victim.live(0.03 * rng.uniform());
            }
            const auto repository = storage::openProject(folder.path());
            QVERIFY2(repository.has_value(), repository ? "" : repository.error().toString().c_str());
            QVERIFY(storage::checkIntegrity(folder.path()).has_value());
            test::addRun(**repository, "goes on");
        }
    }

    void resumingAKilledRunEqualsAnUninterruptedOne() {
        const test::ProjectFolder folder;
        {
            Victim victim(folder.path(), folder.path("log"));
            QVERIFY(victim.awaitFirstEpisode());
            QVERIFY(victim.live(0.7));
        }
        const RepositoryPtr repository = *storage::openProject(folder.path());
        const RunRecord killed = (*repository->runs({})).at(0);
        const auto checkpoint = *repository->lastCheckpoint(killed.id);
        QVERIFY(checkpoint.has_value());
        const auto problems = loadProblems(killed.spec, *repository);
        QVERIFY2(problems.has_value(), problems ? "" : problems.error().toString().c_str());
        QCOMPARE((*problems)[0]->hash(), test::crashProblems()[0]->hash());

        JobContext context;
        RunSpec spec = killed.spec;
        spec.maxEpisodes = checkpoint->step + 500;
        const auto resumed = runTraining(spec, *problems, test::FakeLearner(), repository, killed.id, nullptr, context);
        QVERIFY2(resumed.has_value(), resumed ? "" : resumed.error().toString().c_str());
        const auto reference = std::make_shared<MemoryRepository>();
        const auto whole = runTraining(test::crashSpec(spec.maxEpisodes), test::crashProblems(), test::FakeLearner(),
                                       reference, 0, nullptr, context);
        QVERIFY(whole.has_value());
        QVERIFY(*repository->metrics(killed.id, 0) == *reference->metrics(whole->run, 0));
        QCOMPARE(repository->run(killed.id)->status, RunStatus::Done);
        QVERIFY(repository->run(killed.id)->bestStepTimeUs == reference->run(whole->run)->bestStepTimeUs);
    }
};

QTEST_APPLESS_MAIN(TestCrash)
#include "tst_crash.moc"
