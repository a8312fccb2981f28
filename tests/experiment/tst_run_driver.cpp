#include "core/experiment/run_driver.h"

#include "core/base/clock.h"
#include "core/experiment/memory_repository.h"
#include "core/jobs/job.h"
#include "tests/support/fake_learner.h"
#include "tests/support/graph_dsl.h"
#include "tests/support/two_devices.h"

#include <QTest>

#include <algorithm>
#include <stdexcept>
#include <stop_token>
#include <thread>

using namespace pw;

namespace {

ProblemPtr problem(const char* text = "a:3*10 -> b:5*10 -> d:1; a -> c:2*10 -> d") {
    GroupingOptions grouping;
    grouping.coplacement = false;
    return *PlacementProblem::compile(test::graph(text), test::pairOfDevices(), grouping, {});
}

/// A placer that does what a test says.
class ScriptedPlacer final : public Placer {
public:
    using Script = std::function<Result<PlaceResult>(const ProblemPtr&, const PlaceOptions&, JobContext&,
                                                     const SampleSink&)>;
    explicit ScriptedPlacer(Script script) : m_script(std::move(script)) {}
    std::string name() const override { return "scripted"; }
    Result<PlaceResult> place(const ProblemPtr& p, const PlaceOptions& options, JobContext& context,
                              const SampleSink& sink) const override {
        return m_script(p, options, context, sink);
    }

private:
    Script m_script;
};

PlaceResult allOn(const ProblemPtr& p, std::size_t device) {
    PlaceResult result;
    result.groups.assign(p->groupCount(), DeviceId(device));
    result.placement = expandPlacement(p->grouping(), result.groups);
    result.evaluation = Simulator(p).evaluateGroups(result.groups);
    result.evaluations = 42;
    return result;
}

PlaceSample sampleOf(std::int64_t step, double best) {
    return {step, step, 0.001 * static_cast<double>(step), best + 1.0, best, {{"reward", 0.5}}};
}

/// Seconds until `run` has a sample, negative if not within 5 s.
double secondsUntilSample(const RunRepository& repository, RowId run) {
    const Stopwatch watch;
    while (watch.seconds() < 5.0) {
        const auto samples = repository.metrics(run, 0);
        if (samples && !samples->empty())
            return watch.seconds();
        std::this_thread::yield();
    }
    return -1.0;
}

RunSpec trainSpec(std::int64_t episodes) {
    RunSpec spec;
    spec.kind = "train";
    spec.method = "fake";
    spec.maxEpisodes = episodes;
    spec.seed = 7;
    return spec;
}

std::string describe(const Error& error) {
    return error.toString();
}

} // namespace

class TestRunDriver : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init() {
        m_repository = std::make_shared<MemoryRepository>();
        m_problem = problem();
    }

    void placementIsRecorded() {
        RunMailbox mailbox;
        JobContext context;
        RunSpec spec;
        spec.method = "scripted";
        const ScriptedPlacer placer([](const auto& p, const auto&, auto&, const auto& sink) -> Result<PlaceResult> {
            sink(sampleOf(1, 20.0));
            sink(sampleOf(2, 10.0));
            return allOn(p, 1);
        });
        const auto outcome = runPlacement(spec, m_problem, placer, m_repository, &mailbox, context);
        QVERIFY2(outcome.has_value(), outcome ? "" : describe(outcome.error()).c_str());
        QCOMPARE(outcome->status, RunStatus::Done);
        QCOMPARE(outcome->results.size(), std::size_t(1));

        const RunRecord run = *m_repository->run(outcome->run);
        QCOMPARE(run.status, RunStatus::Done);
        QCOMPARE(run.evaluations, std::int64_t(42));
        QCOMPARE(run.spec.graphHashes.at(0), m_problem->graph().hash());
        QCOMPARE(run.spec.deviceSetHash, m_problem->devices().hash());
        QVERIFY(run.bestStepTimeUs == outcome->results[0].evaluation.stepTimeUs);
        QVERIFY(run.valid);
        const PlacementRecord best = *m_repository->placement(*run.bestPlacementId);
        QVERIFY(best.placement == outcome->results[0].placement);
        QVERIFY(best.runId == outcome->run);

        const auto samples = *m_repository->metrics(outcome->run, 0);
        QCOMPARE(samples.size(), std::size_t(2));
        QCOMPARE(samples[1].values.at("best_step_time_us"), 10.0);
        QCOMPARE(samples[1].values.at("step_time_us"), 11.0);
        QCOMPARE(samples[1].values.at("reward"), 0.5);
        QCOMPARE(samples[1].values.at("evaluations"), 2.0);

        const auto content = mailbox.drain();
        QVERIFY(content.samples == samples);
        QVERIFY(content.state.has_value());
        QCOMPARE(content.state->run, outcome->run);
        QVERIFY(content.state->bestGroups == outcome->results[0].groups);
        QVERIFY(content.state->problem == m_problem);
    }

    void worksWithoutRepositoryAndMailbox() {
        JobContext context;
        const ScriptedPlacer placer([](const auto& p, const auto&, auto&, const auto& sink) -> Result<PlaceResult> {
            sink(sampleOf(1, 20.0));
            return allOn(p, 0);
        });
        const auto outcome = runPlacement({}, m_problem, placer, nullptr, nullptr, context);
        QVERIFY(outcome.has_value());
        QCOMPARE(outcome->run, RowId(0));
        QCOMPARE(outcome->results.size(), std::size_t(1));
    }

    void sampleIsWrittenWithinASecondThoughThePlacerStalls() {
        double seconds = -1.0;
        const ScriptedPlacer placer([&](const auto& p, const auto&, auto&, const auto& sink) -> Result<PlaceResult> {
            sink(sampleOf(1, 20.0));
            seconds = secondsUntilSample(*m_repository, 1);
            return allOn(p, 0);
        });
        JobContext context;
        QVERIFY(runPlacement({}, m_problem, placer, m_repository, nullptr, context).has_value());
        QVERIFY2(seconds >= 0.0 && seconds < 1.0, std::to_string(seconds).c_str());
    }

    void samplesAreBatchedAndThinnedButImprovementsKept() {
        const ScriptedPlacer placer([](const auto& p, const auto&, auto&, const auto& sink) -> Result<PlaceResult> {
            for (std::int64_t step = 1; step <= 100000; ++step)
                sink(sampleOf(step, step < 77777 ? 20.0 : 10.0));
            return allOn(p, 0);
        });
        JobContext context;
        const auto outcome = runPlacement({}, m_problem, placer, m_repository, nullptr, context);
        QVERIFY(outcome.has_value());
        const auto samples = *m_repository->metrics(outcome->run, 0);
        QVERIFY2(samples.size() > 2000 && samples.size() < 8000, std::to_string(samples.size()).c_str());
        QVERIFY(std::any_of(samples.begin(), samples.end(), [](const auto& s) { return s.step == 77777; }));
        for (std::int64_t step = 1; step <= 1000; ++step)
            QCOMPARE(samples[static_cast<std::size_t>(step - 1)].step, step);
        QVERIFY(m_repository->metricBatches() < 50);
    }

    void stopKeepsAndAbortDropsTheResult() {
        std::stop_source stop, abort;
        JobContext stopping(stop.get_token(), abort.get_token(), {});
        const ScriptedPlacer stopped([&](const auto& p, const auto&, auto& context, const auto&) -> Result<PlaceResult> {
            stop.request_stop();
            return context.stopRequested() && !context.abortRequested() ? Result<PlaceResult>(allOn(p, 0))
                                                                        : fail(ErrorCode::Internal, "not stopped");
        });
        const auto kept = runPlacement({}, m_problem, stopped, m_repository, nullptr, stopping);
        QVERIFY(kept.has_value());
        QCOMPARE(kept->status, RunStatus::Stopped);
        QCOMPARE(m_repository->run(kept->run)->status, RunStatus::Stopped);
        QVERIFY(m_repository->run(kept->run)->bestPlacementId.has_value());

        JobContext aborting(stop.get_token(), abort.get_token(), {});
        const ScriptedPlacer aborted([&](const auto&, const auto&, auto&, const auto& sink) -> Result<PlaceResult> {
            sink(sampleOf(1, 20.0));
            abort.request_stop();
            return fail(ErrorCode::Busy, "cancelled");
        });
        const auto dropped = runPlacement({}, m_problem, aborted, m_repository, nullptr, aborting);
        QVERIFY(dropped.has_value());
        QCOMPARE(dropped->status, RunStatus::Interrupted);
        QVERIFY(dropped->results.empty());
        const RunRecord run = *m_repository->run(dropped->run);
        QCOMPARE(run.status, RunStatus::Interrupted);
        QVERIFY(run.error.empty()); // cancel is not an error
        QVERIFY(!run.bestPlacementId);
        QCOMPARE(m_repository->metrics(dropped->run, 0)->size(), std::size_t(1));
    }

    void failingOrThrowingPlacerMarksTheRunFailed() {
        JobContext context;
        const ScriptedPlacer failing([](const auto&, const auto&, auto&, const auto&) -> Result<PlaceResult> {
            return fail(ErrorCode::Invalid, "no way", "op \"x\"");
        });
        const auto failed = runPlacement({}, m_problem, failing, m_repository, nullptr, context);
        QVERIFY(!failed);
        QCOMPARE(failed.error().message, std::string("no way"));
        QCOMPARE(m_repository->run(1)->status, RunStatus::Failed);
        QCOMPARE(m_repository->run(1)->error, std::string("op \"x\": no way"));
        const ScriptedPlacer throwing(
            [](const auto&, const auto&, auto&, const auto&) -> Result<PlaceResult> { throw std::runtime_error("boom"); });
        const auto thrown = runPlacement({}, m_problem, throwing, m_repository, nullptr, context);
        QVERIFY(!thrown);
        QCOMPARE(thrown.error().code, ErrorCode::Internal);
        QCOMPARE(m_repository->run(2)->status, RunStatus::Failed);
    }

    void failingRepositoryStopsTheRunAndKeepsWhatWasStored() {
        RunMailbox mailbox;
        const FakeLearnerUntilStopped learner;
        m_repository->failWritesAfter(6, {ErrorCode::Io, "the disk is full", "p.placewright", {}});
        JobContext context;
        const auto outcome = runTraining(trainSpec(0), {m_problem}, learner.library, m_repository, 0, &mailbox, context);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().toString(), std::string("p.placewright: the disk is full"));
        QVERIFY(!m_repository->metrics(1, 0)->empty());
        const auto content = mailbox.drain();
        QVERIFY(content.state.has_value());
        QVERIFY(!content.state->bestGroups.empty()); // found, though it could not be stored
    }

    void repositoryThatFailsAtOnceFailsTheRun() {
        m_repository->failWritesAfter(0, {ErrorCode::Io, "read-only", "p", {}});
        JobContext context;
        const auto outcome = runTraining(trainSpec(5), {m_problem}, test::FakeLearner(), m_repository, 0, nullptr, context);
        QVERIFY(!outcome);
        QCOMPARE(outcome.error().code, ErrorCode::Io);
        QVERIFY(m_repository->runs({})->empty());
    }

    void pinsReachThePlacerAsGroups() {
        RunSpec spec;
        spec.pins = {{"b", "gpu:1"}};
        std::vector<std::optional<DeviceId>> pinned;
        const ScriptedPlacer placer([&](const auto& p, const auto& options, auto&, const auto&) -> Result<PlaceResult> {
            pinned = options.pinned;
            return allOn(p, 1);
        });
        JobContext context;
        QVERIFY(runPlacement(spec, m_problem, placer, nullptr, nullptr, context).has_value());
        const OpId b = *m_problem->graph().findOp("b");
        const GroupId group = m_problem->grouping().groupOf[b.index()];
        QVERIFY(pinned.at(group.index()) == DeviceId(1));
        QCOMPARE(std::count(pinned.begin(), pinned.end(), std::nullopt), std::ptrdiff_t(pinned.size() - 1));
        for (const auto& [op, device] : {std::pair("nowhere", "gpu:1"), std::pair("b", "gpu:9")}) {
            spec.pins = {{op, device}};
            const auto refused = runPlacement(spec, m_problem, placer, m_repository, nullptr, context);
            QVERIFY(!refused);
            QCOMPARE(refused.error().where, "op \"" + std::string(op) + "\"");
        }
        QVERIFY(m_repository->runs({})->empty());
    }

    void specOfOtherGraphsIsRefused() {
        RunSpec spec;
        spec.graphHashes = {"0123"};
        JobContext context;
        const ScriptedPlacer placer([](const auto& p, const auto&, auto&, const auto&) { return allOn(p, 0); });
        QVERIFY(!runPlacement(spec, m_problem, placer, m_repository, nullptr, context));
    }

    void trainingIsRecorded() {
        RunMailbox mailbox;
        JobContext context;
        const auto outcome =
            runTraining(trainSpec(12), {m_problem}, test::FakeLearner(), m_repository, 0, &mailbox, context);
        QVERIFY(outcome.has_value());
        QCOMPARE(outcome->episodes, std::int64_t(12));
        const RunRecord run = *m_repository->run(outcome->run);
        QCOMPARE(run.status, RunStatus::Done);
        QCOMPARE(run.steps, std::int64_t(12));
        QCOMPARE(run.evaluations, std::int64_t(12));
        QCOMPARE(run.seconds, 0.012);
        QCOMPARE(m_repository->metrics(outcome->run, 0)->size(), std::size_t(12));
        QVERIFY(*m_repository->policy(outcome->run) == learn::Bytes({1, 2, 3}));
        QCOMPARE((*m_repository->lastCheckpoint(outcome->run))->step, std::int64_t(12));
        QVERIFY(run.bestStepTimeUs == outcome->results.at(0).evaluation.stepTimeUs);
        QCOMPARE(mailbox.drain().samples.size(), std::size_t(12));
    }

    /// Resume starts at the last checkpoint, and from there equals an uninterrupted run.
    void resumedTrainingEqualsAnUninterruptedOne() {
        JobContext context;
        const auto whole =
            runTraining(trainSpec(40), {m_problem}, test::FakeLearner(), m_repository, 0, nullptr, context);
        QVERIFY(whole.has_value());

        // dies in episode 18: the last checkpoint is that of 15, samples are there up to 17
        test::FakeLearner::Options dying;
        dying.failAtEpisode = 18;
        QVERIFY(!runTraining(trainSpec(40), {m_problem}, test::FakeLearner(dying), m_repository, 0, nullptr, context));
        const RowId run = whole->run + 1;
        QCOMPARE(m_repository->metrics(run, 0)->size(), std::size_t(17));
        const RunSpec stored; // a spec without method stands for the stored one
        const auto resumed =
            runTraining(stored, {m_problem}, test::FakeLearner(), m_repository, run, nullptr, context);
        QVERIFY2(resumed.has_value(), resumed ? "" : describe(resumed.error()).c_str());
        QCOMPARE(resumed->run, run);
        QCOMPARE(resumed->episodes, std::int64_t(40));
        QVERIFY(*m_repository->metrics(run, 0) == *m_repository->metrics(whole->run, 0));
        const RunRecord a = *m_repository->run(whole->run);
        const RunRecord b = *m_repository->run(run);
        QCOMPARE(b.status, RunStatus::Done);
        QVERIFY(b.error.empty());
        QVERIFY(a.bestStepTimeUs == b.bestStepTimeUs);
        QCOMPARE(a.seconds, b.seconds);
        QVERIFY(a.spec == b.spec);
        QVERIFY((*m_repository->lastCheckpoint(run))->bytes == (*m_repository->lastCheckpoint(whole->run))->bytes);
    }

    void resumingTakesOtherLimitsButNotOtherNumbers() {
        JobContext context;
        const auto first =
            runTraining(trainSpec(10), {m_problem}, test::FakeLearner(), m_repository, 0, nullptr, context);
        QVERIFY(first.has_value());
        RunSpec other = trainSpec(20);
        other.seed = 8;
        const auto refused =
            runTraining(other, {m_problem}, test::FakeLearner(), m_repository, first->run, nullptr, context);
        QVERIFY(!refused);
        QVERIFY(refused.error().message.find("seed") != std::string::npos);
        const auto longer =
            runTraining(trainSpec(20), {m_problem}, test::FakeLearner(), m_repository, first->run, nullptr, context);
        QVERIFY(longer.has_value());
        QCOMPARE(m_repository->run(first->run)->spec.maxEpisodes, std::int64_t(20));
        QCOMPARE(m_repository->metrics(first->run, 0)->size(), std::size_t(20));
        QVERIFY(!runTraining(trainSpec(20), {m_problem}, test::FakeLearner(), m_repository, 99, nullptr, context));
    }

    void runningRunIsNotResumed() {
        const RowId graph = *m_repository->putGraph(m_problem->graph(), "test");
        const RowId devices = *m_repository->putDeviceSet(m_problem->devices());
        const RowId run = *m_repository->startRun(trainSpec(10), "elsewhere", graph, devices);
        JobContext context;
        const auto refused = runTraining({}, {m_problem}, test::FakeLearner(), m_repository, run, nullptr, context);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Busy);
    }

    void problemsComeBackFromTheProject() {
        JobContext context;
        RunSpec spec = trainSpec(3);
        spec.grouping.targetGroups = 3;
        GroupingOptions grouping;
        grouping.targetGroups = 3;
        const ProblemPtr grouped = *PlacementProblem::compile(m_problem->graphPtr(), test::pairOfDevices(), grouping, {});
        const auto outcome = runTraining(spec, {grouped}, test::FakeLearner(), m_repository, 0, nullptr, context);
        QVERIFY(outcome.has_value());
        const RunSpec stored = m_repository->run(outcome->run)->spec;
        const auto problems = loadProblems(stored, *m_repository);
        QVERIFY(problems.has_value());
        QCOMPARE(problems->size(), std::size_t(1));
        QCOMPARE((*problems)[0]->hash(), grouped->hash());
        RunSpec strange = stored;
        strange.graphHashes = {"00"};
        QVERIFY(!loadProblems(strange, *m_repository));
    }

private:
    /// Trains until the context stops it; gives up after a while, so that a missing stop is a failure and not a hang.
    struct FakeLearnerUntilStopped {
        test::FakeLearner library{test::FakeLearner::Options{
            5, [watch = Stopwatch()](std::int64_t) {
                if (watch.seconds() > 20.0)
                    throw std::runtime_error("nobody stopped the training");
            }}};
    };

    std::shared_ptr<MemoryRepository> m_repository;
    ProblemPtr m_problem;
};

QTEST_APPLESS_MAIN(TestRunDriver)
#include "tst_run_driver.moc"
