#include "core/learn/placeto_infer.h"
#include "core/learn/placeto_trainer.h"
#include "tests/learn/learn_support.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

#include <atomic>
#include <cmath>
#include <ctime>
#include <numeric>
#include <pthread.h>
#include <thread>

using namespace pw;
using namespace pw::learn;

namespace {

using Parameters = std::map<std::string, std::string>;

/// Small networks for the tests that are not about learning.
const Parameters kQuick = {{"k", "2"}};

TrainSpec specOf(std::vector<ProblemPtr> problems, std::int64_t episodes, Parameters parameters = kQuick) {
    TrainSpec spec;
    spec.problems = std::move(problems);
    spec.maxEpisodes = episodes;
    spec.seed = 5;
    spec.parameters = std::move(parameters);
    return spec;
}

Result<TrainResult> train(const TrainSpec& spec, const TrainHooks& hooks, JobContext& context) {
    PW_TRY(const auto trainer, PlacetoTrainer::create(spec, hooks));
    return trainer->run(context);
}

Result<TrainResult> train(const TrainSpec& spec, const TrainHooks& hooks = {}) {
    JobContext context;
    return train(spec, hooks, context);
}

/// Weights and all else a checkpoint holds except the seconds, which are measured.
PlacetoState stateOf(const TrainSpec& spec, const Bytes& checkpoint) {
    TrainSpec resumed = spec;
    resumed.resumeFrom = checkpoint;
    const TrainHooks none;
    auto state = PlacetoTrainer::create(resumed, none).value()->state();
    state.seconds = 0.0;
    return state;
}

void compareStates(const PlacetoState& a, const PlacetoState& b) {
    QCOMPARE(a.weights, b.weights);
    QCOMPARE(a.firstMoment, b.firstMoment);
    QCOMPARE(a.secondMoment, b.secondMoment);
    QCOMPARE(a.rng, b.rng);
    QCOMPARE(a.episodes, b.episodes);
    QCOMPARE(a.updates, b.updates);
    QCOMPARE(a.problems.size(), b.problems.size());
    for (std::size_t i = 0; i < a.problems.size(); ++i) {
        QCOMPARE(a.problems[i].window, b.problems[i].window);
        QCOMPARE(a.problems[i].best.groups, b.problems[i].best.groups);
        QCOMPARE(a.problems[i].evaluations, b.problems[i].evaluations);
    }
}

/// Everything of the samples but the clock.
std::vector<std::vector<double>> curveOf(const std::vector<EpisodeSample>& samples) {
    std::vector<std::vector<double>> curve;
    for (const auto& s : samples)
        curve.push_back({static_cast<double>(s.episode), static_cast<double>(s.evaluations), s.reward, s.stepTimeUs,
                         s.bestStepTimeUs, s.entropy, s.gradNorm, s.learningRate, static_cast<double>(s.problem)});
    return curve;
}

} // namespace

class TestPlacetoTrain : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void resumingEqualsNeverHavingStopped_data() {
        QTest::addColumn<bool>("several");
        QTest::newRow("one graph") << false;
        QTest::newRow("three graphs, two rollouts") << true;
    }
    void resumingEqualsNeverHavingStopped() {
        QFETCH(bool, several);
        std::vector<ProblemPtr> problems = {test::problemOf(test::generated(12))};
        Parameters parameters = kQuick;
        if (several) {
            problems.push_back(test::problemOf(test::w3()));
            problems.push_back(test::problemOf(test::w2()));
            parameters["rollouts"] = "2";
            parameters["graphs_per_update"] = "1";
            parameters["start"] = "random_each";
        }
        const auto spec = specOf(problems, 20, parameters);
        std::vector<EpisodeSample> whole;
        std::vector<EpisodeSample> parts;
        const auto straight = train(spec, {[&whole](const auto& s) { whole.push_back(s); }, {}, {}}).value();

        std::stop_source stop;
        JobContext context(stop.get_token(), {}, {});
        TrainHooks hooks;
        hooks.onEpisode = [&](const EpisodeSample& s) {
            parts.push_back(s);
            if (s.episode == 10)
                stop.request_stop();
        };
        TrainSpec rest = spec;
        const auto first = train(spec, hooks, context).value();
        QCOMPARE(first.episodes, 10);
        rest.resumeFrom = first.checkpoint;
        rest.seed = 777; // the checkpoint's own stream counts
        const auto second = train(rest, {[&parts](const auto& s) { parts.push_back(s); }, {}, {}}).value();

        QCOMPARE(curveOf(parts), curveOf(whole));
        compareStates(stateOf(spec, straight.checkpoint), stateOf(spec, second.checkpoint));
        QCOMPARE(second.policy, straight.policy);
        for (std::size_t i = 0; i < problems.size(); ++i)
            QCOMPARE(second.best[i].groups, straight.best[i].groups);
    }

    void anUpdateThatAStopCutsNeverHappened() {
        const auto spec = specOf({test::problemOf(test::generated(40), 3)}, 8);
        const auto whole = train(spec).value();
        // Cut in the middle of the third episode, at its second better placement or later.
        std::stop_source stop;
        JobContext context(stop.get_token(), {}, {});
        int episodes = 0;
        TrainHooks hooks;
        hooks.onEpisode = [&episodes](const EpisodeSample&) { ++episodes; };
        hooks.onBest = [&](std::size_t, const GroupPlacement&, const Evaluation&) {
            if (episodes >= 1)
                stop.request_stop();
        };
        const auto cut = train(spec, hooks, context).value();
        QVERIFY(cut.episodes < 8);
        TrainSpec rest = spec;
        rest.resumeFrom = cut.checkpoint;
        compareStates(stateOf(spec, train(rest).value().checkpoint), stateOf(spec, whole.checkpoint));
    }

    void sameSeedSameBytes() {
        const auto spec = specOf({test::problemOf(test::generated(12))}, 6);
        const auto a = train(spec).value();
        const auto b = train(spec).value();
        QCOMPARE(a.policy, b.policy);
        auto other = spec;
        other.seed = 6;
        QVERIFY(train(other).value().policy != a.policy);
    }

    /// The policy itself gets better, not only the best placement seen: its last episodes beat random placements.
    void learnsOnASmallGraph_data() {
        QTest::addColumn<QString>("variant");
        QTest::newRow("full") << "full";
        QTest::newRow("pools only") << "no_message_passing";
    }
    void learnsOnASmallGraph() {
        QFETCH(QString, variant);
        // Four independent chains that end in one op: two devices halve the time, mixing within a chain costs transfers.
        const auto problem = test::problemOf(test::graph("s:1*100 -> a1:60*900000 -> a2:60*900000 -> a3:60*9000 -> e:1; "
                                                         "s -> b1:60*900000 -> b2:60*900000 -> b3:60*9000 -> e; "
                                                         "s -> c1:60*900000 -> c2:60*900000 -> c3:60*9000 -> e; "
                                                         "s -> d1:60*900000 -> d2:60*900000 -> d3:60*9000 -> e"));
        Simulator simulator(problem);
        Rng rng(1);
        double random = 0.0;
        for (int i = 0; i < 200; ++i) {
            GroupPlacement placement;
            for (std::size_t g = 0; g < problem->groupCount(); ++g)
                placement.emplace_back(static_cast<std::size_t>(rng.below(2)));
            random += simulator.evaluateGroups(placement).stepTimeUs / 200.0;
        }
        auto spec = specOf({problem}, 250, {{"variant", variant.toStdString()}, {"lr", "0.003"}, {"lr_end", "0.0003"}});
        spec.seed = 1;
        std::vector<double> last;
        const auto result = train(spec, {[&last](const EpisodeSample& s) { last.push_back(s.stepTimeUs); }, {}, {}}).value();
        const double mean = std::accumulate(last.end() - 30, last.end(), 0.0) / 30.0;
        const double single = 14 * 5.7 + 12 * 60 + 2;
        QVERIFY2(mean < 0.8 * random, qPrintable(QString("policy %1, random %2").arg(mean).arg(random)));
        QVERIFY2(result.best[0].evaluation.stepTimeUs < 0.6 * single, qPrintable(QString::number(result.best[0].evaluation.stepTimeUs)));
        QVERIFY(result.best[0].evaluation.valid);
    }

    void theTrainedPolicyPlacesItsGraph() {
        const auto problem = test::problemOf(test::w3());
        const auto trained = train(specOf({problem}, 60)).value();
        InferSpec infer;
        infer.policy = trained.policy;
        infer.problem = problem;
        JobContext context;
        const auto placed = inferPlaceto(infer, context).value();
        QVERIFY(placed.evaluation.valid);
        QVERIFY(placed.evaluation.stepTimeUs <= 744.2);
        QVERIFY(placed.confidence > 0.5 && placed.confidence <= 1.0);
        QVERIFY(placed.evaluations <= 2 + 9 * 7);
        QCOMPARE(inferPlaceto(infer, context).value().groups, placed.groups);
    }

    void aPolicyForOtherDevicesIsAnErrorThatSaysSo() {
        const auto trained = train(specOf({test::problemOf(test::w3())}, 1)).value();
        InferSpec infer;
        infer.policy = trained.policy;
        infer.problem = test::problemOf(test::w3(), 4);
        JobContext context;
        const auto placed = inferPlaceto(infer, context);
        QVERIFY(!placed);
        const auto message = QString::fromStdString(placed.error().message);
        QVERIFY2(message.contains("2 devices") && message.contains("4"), qPrintable(message));
    }

    void badSpecsAreErrors() {
        QVERIFY(!train(specOf({}, 1)));
        QVERIFY(!train(specOf({test::problemOf(test::w3())}, 0)));
        QVERIFY(!train(specOf({test::problemOf(test::w3()), test::problemOf(test::w3(), 3)}, 1)));
        auto unknown = specOf({test::problemOf(test::w3())}, 1, {{"no_such_key", "1"}});
        const auto result = train(unknown);
        QVERIFY(!result);
        QVERIFY(QString::fromStdString(result.error().message).contains("no_such_key"));
        auto noDevice = specOf({test::problemOf(test::w3())}, 1);
        noDevice.device = "cuda:9";
        QVERIFY(!train(noDevice));
        auto damaged = specOf({test::problemOf(test::w3())}, 1);
        damaged.resumeFrom = {1, 2, 3};
        QVERIFY(!train(damaged));
    }

    void aBudgetOfEvaluationsIsKept() {
        auto spec = specOf({test::problemOf(test::generated(40))}, 0);
        spec.maxEvaluations = 100;
        QCOMPARE(train(spec).value().best[0].evaluations, 100);
    }

    void schedulesFollowTheBudget() {
        std::vector<double> rates;
        train(specOf({test::problemOf(test::w3())}, 10), {[&rates](const auto& s) { rates.push_back(s.learningRate); }, {}, {}}).value();
        QCOMPARE(rates.front(), 1e-3);
        QVERIFY(std::abs(rates[5] - 5.5e-4) < 1e-12);
    }

    void stopIsFeltQuickly() {
        // A graph whose update takes far longer than the stop may.
        std::string text;
        for (int i = 1; i < 400; ++i)
            text += "n" + std::to_string(i / 2) + ":3*1000 -> n" + std::to_string(i) + ":5*2000;";
        auto spec = specOf({test::problemOf(test::graph(text))}, 0, {});
        spec.maxSeconds = 60.0;
        std::stop_source stop;
        JobContext context(stop.get_token(), {}, {});
        const TrainHooks none;
        const auto trainer = PlacetoTrainer::create(spec, none).value();
        // In processor time of the training thread, so that other load on the machine does not count.
        clockid_t clock{};
        QCOMPARE(pthread_getcpuclockid(pthread_self(), &clock), 0);
        const auto cpuSeconds = [clock] {
            timespec now{};
            clock_gettime(clock, &now);
            return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
        };
        std::atomic<double> askedAt = 0.0;
        const double begin = cpuSeconds();
        std::thread asker([&] {
            while (cpuSeconds() < begin + 0.6)
                std::this_thread::yield();
            askedAt = cpuSeconds();
            stop.request_stop();
        });
        const auto result = trainer->run(context);
        const double felt = cpuSeconds() - askedAt;
        asker.join();
        QVERIFY(result);
        QVERIFY(result->best[0].evaluation.valid);
        QVERIFY2(felt < 0.1, qPrintable(QString("%1 s").arg(felt)));
    }

    void checkpointAtTheEndAndBestAlongTheWay() {
        int checkpoints = 0;
        std::int64_t at = -1;
        double best = std::numeric_limits<double>::infinity();
        TrainHooks hooks;
        hooks.onCheckpoint = [&](std::int64_t episode, const Bytes&) {
            ++checkpoints;
            at = episode;
        };
        hooks.onBest = [&](std::size_t, const GroupPlacement&, const Evaluation& evaluation) {
            QVERIFY(evaluation.valid && evaluation.stepTimeUs < best);
            best = evaluation.stepTimeUs;
        };
        const auto result = train(specOf({test::problemOf(test::w3())}, 12), hooks).value();
        QCOMPARE(checkpoints, 1);
        QCOMPARE(at, 12);
        QCOMPARE(result.best[0].evaluation.stepTimeUs, best);
    }
};

QTEST_APPLESS_MAIN(TestPlacetoTrain)
#include "tst_placeto_train.moc"
