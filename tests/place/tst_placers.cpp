/// The conformance suite: laws that every placer keeps, on random graphs, devices, pins and kinds.

#include "core/base/clock.h"
#include "core/graph/graph_builder.h"
#include "core/place/placer.h"
#include "tests/support/random_problem.h"

#include <QtTest/QtTest>

#include <array>
#include <thread>

using namespace pw;

namespace {

constexpr int kProblems = 200;

struct Case {
    ProblemPtr problem;
    PlaceOptions options;
};

/// Random graph, devices with and without limits and links, grouped or not, some groups pinned.
Case randomCase(std::uint64_t seed) {
    Rng rng = Rng::derive(seed, "placers");
    for (;;) {
        const GraphPtr graph = test::randomGraph(rng, 24);
        const bool reference = rng.below(4) == 0;
        DeviceSet devices = reference ? test::equalDevices(1 + rng.below(4))
                                      : test::randomDevices(rng, 4, rng.below(3) == 0, rng.below(2) == 0);
        const GroupingOptions grouping{true, rng.below(2) == 0, 0};
        const SimOptions sim{reference ? SimModel::Reference : SimModel::Links, rng.below(2) == 0 ? 0.0 : 10.0};
        auto problem = rng.below(2) == 0 ? PlacementProblem::compile(graph, devices, grouping, sim)
                                         : PlacementProblem::compile(graph, devices, trivialGrouping(*graph), sim);
        if (!problem)
            qFatal("%s", problem.error().toString().c_str());
        Case result{*problem, {}};
        result.options.seed = seed;
        result.options.maxEvaluations = 60;
        if (rng.below(2) == 0)
            return result;
        result.options.pinned.resize((*problem)->groupCount());
        for (auto& pin : result.options.pinned) {
            if (rng.below(4) == 0)
                pin = DeviceId(rng.below((*problem)->deviceCount()));
        }
        return result;
    }
}

PlacerRegistry& registry() {
    static PlacerRegistry placers = [] {
        PlacerRegistry made;
        addClassicPlacers(made);
        return made;
    }();
    return placers;
}

/// A cpu and two gpus; every fifth op may run on the cpu only, every fifth on gpus only.
ProblemPtr restrictedProblem(std::uint64_t seed) {
    Rng rng = Rng::derive(seed, "restricted");
    GraphBuilder builder("restricted", "test");
    const std::size_t n = 3 + rng.below(30);
    for (std::size_t i = 0; i < n; ++i) {
        Op op;
        op.name = "op" + std::to_string(i);
        op.costs = {{"", 1.0 + static_cast<double>(rng.below(20))}};
        const std::uint64_t kind = rng.below(5);
        if (kind < 2)
            op.allowedKinds = {kind == 0 ? "cpu" : "gpu"};
        const OpId id = builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = static_cast<std::int64_t>(rng.below(5000));
        builder.addOutput(id, std::move(tensor));
        if (i > 0)
            builder.addInput(id, builder.output(OpId(rng.below(i)), 0));
    }
    std::vector<Device> devices;
    std::vector<Link> links;
    for (std::size_t d = 0; d < 3; ++d) {
        devices.push_back({"d" + std::to_string(d), d == 1 ? "cpu" : "gpu", "", 0, 1e6, 1e5, 1.0});
        for (std::size_t other = 0; other < 3; ++other) {
            if (other != d)
                links.push_back({DeviceId(d), DeviceId(other), 1000.0, 2.0, ""});
        }
    }
    const GraphPtr graph = std::move(builder).build().value();
    return PlacementProblem::compile(graph, DeviceSet::create("mixed", devices, links).value(), trivialGrouping(*graph), {})
        .value();
}

ProblemPtr layeredProblem(std::size_t ops) {
    const GraphPtr graph = test::layeredGraph(ops, 8, 5);
    return PlacementProblem::compile(graph, test::equalDevices(4), trivialGrouping(*graph), {}).value();
}

void checkPlacement(const PlacementProblem& problem, const PlaceOptions& options, const PlaceResult& result) {
    QCOMPARE(result.groups.size(), problem.groupCount());
    for (std::size_t group = 0; group < result.groups.size(); ++group) {
        QVERIFY(result.groups[group].index() < problem.deviceCount());
        QVERIFY(problem.allowed(GroupId(group), result.groups[group]));
        if (!options.pinned.empty() && options.pinned[group])
            QCOMPARE(result.groups[group], *options.pinned[group]);
    }
    QCOMPARE(result.placement, expandPlacement(problem.grouping(), result.groups));
}

/// What the result says about itself is what a fresh simulator says.
void checkHonest(const ProblemPtr& problem, const PlaceResult& result) {
    Simulator fresh(problem);
    const Evaluation evaluation = fresh.evaluate(result.placement);
    QCOMPARE(result.evaluation.stepTimeUs, evaluation.stepTimeUs);
    QCOMPARE(result.evaluation.valid, evaluation.valid);
    QCOMPARE(result.peakBytes, std::vector<std::int64_t>(fresh.peakBytes().begin(), fresh.peakBytes().end()));
    if (evaluation.valid)
        QVERIFY(evaluation.stepTimeUs >= lowerBounds(*problem).best() * (1 - 1e-12));
}

} // namespace

class TestPlacers : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void lawsHold_data() { rows(); }
    void lawsHold();
    void kindsAreKept_data() { rows(); }
    void kindsAreKept();
    void budgetIsKept_data() { rows(); }
    void budgetIsKept();
    void stopKeepsTheBest_data() { rows(); }
    void stopKeepsTheBest();
    void abortIsQuick_data() { rows(); }
    void abortIsQuick();
    void badOptionsAreErrors_data() { rows(); }
    void badOptionsAreErrors();
    void sameOnFourThreads_data() { rows(); }
    void sameOnFourThreads();

private:
    static void rows() {
        QTest::addColumn<QString>("method");
        for (const std::string& name : registry().names())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
};

#define PW_FETCH_PLACER()                                                                                              \
    QFETCH(QString, method);                                                                                           \
    const Placer& placer = *registry().find(method.toStdString())

void TestPlacers::lawsHold() {
    PW_FETCH_PLACER();
    int valid = 0;
    int invalid = 0;
    for (std::uint64_t seed = 1; seed <= kProblems; ++seed) {
        const Case at = randomCase(seed);
        JobContext context;
        const auto result = placer.place(at.problem, at.options, context, {});
        QVERIFY2(result.has_value(), result ? "" : result.error().toString().c_str());
        checkPlacement(*at.problem, at.options, *result);
        checkHonest(at.problem, *result);
        const auto again = placer.place(at.problem, at.options, context, {});
        QCOMPARE(again->groups, result->groups);
        QCOMPARE(again->evaluations, result->evaluations);
        ++(result->evaluation.valid ? valid : invalid);
        if (QTest::currentTestFailed())
            return;
    }
    QVERIFY(valid > kProblems / 4 && invalid > 0); // both were exercised
}

void TestPlacers::kindsAreKept() {
    PW_FETCH_PLACER();
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const ProblemPtr problem = restrictedProblem(seed);
        PlaceOptions options;
        options.seed = seed;
        options.maxEvaluations = 50;
        options.start.assign(problem->groupCount(), DeviceId(0)); // not allowed for some: repaired or not used
        JobContext context;
        const auto result = placer.place(problem, options, context, {});
        QVERIFY(result.has_value());
        checkPlacement(*problem, options, *result);
        checkHonest(problem, *result);
        QVERIFY(result->evaluation.valid);
    }
}

void TestPlacers::budgetIsKept() {
    PW_FETCH_PLACER();
    const ProblemPtr problem = layeredProblem(60);
    JobContext context;
    for (const std::int64_t budget : {1, 2, 7, 100}) {
        PlaceOptions options;
        options.maxEvaluations = budget;
        std::int64_t samples = 0;
        double best = std::numeric_limits<double>::infinity();
        const auto result = placer.place(problem, options, context, [&](const PlaceSample& sample) {
            ++samples;
            QVERIFY(sample.bestStepTimeUs <= best);
            QVERIFY(sample.evaluations >= samples);
            best = sample.bestStepTimeUs;
        });
        QVERIFY(result->evaluations >= 1 && result->evaluations <= budget);
        QVERIFY(samples >= 1);
        QCOMPARE(best, result->evaluation.stepTimeUs);
    }
    PlaceOptions hurried; // a time limit alone, far below what the evaluations would take
    hurried.maxSeconds = 0.02;
    const Stopwatch watch;
    QVERIFY(placer.place(problem, hurried, context, {}).has_value());
    QVERIFY(watch.seconds() < 2.0);
}

void TestPlacers::stopKeepsTheBest() {
    PW_FETCH_PLACER();
    const ProblemPtr problem = layeredProblem(200);
    std::stop_source stop;
    JobContext context(stop.get_token(), {}, {});
    PlaceOptions options;
    options.maxEvaluations = 1'000'000'000;
    double best = 0.0;
    const auto result = placer.place(problem, options, context, [&](const PlaceSample& sample) {
        best = sample.bestStepTimeUs;
        if (sample.evaluations >= 20)
            stop.request_stop();
    });
    QVERIFY(result.has_value());
    checkHonest(problem, *result);
    QVERIFY(result->evaluation.valid);
    QCOMPARE(result->evaluation.stepTimeUs, best);
    QVERIFY(result->evaluations <= 1000); // it came back soon after
}

void TestPlacers::abortIsQuick() {
    PW_FETCH_PLACER();
    const ProblemPtr problem = layeredProblem(4000);
    PlaceOptions options;
    options.maxEvaluations = 1'000'000'000;
    for (const bool before : {true, false}) {
        std::stop_source abort;
        JobContext context({}, abort.get_token(), {});
        Stopwatch sinceAbort;
        if (before)
            abort.request_stop();
        const auto result = placer.place(problem, options, context, [&](const PlaceSample&) {
            if (!abort.stop_requested())
                sinceAbort.restart();
            abort.request_stop();
        });
        QVERIFY(sinceAbort.seconds() < 0.1);
        QVERIFY(result.has_value());
        checkPlacement(*problem, options, *result); // complete even then
        QVERIFY(!before || !result->evaluation.valid); // never evaluated, so never called valid
    }
}

void TestPlacers::badOptionsAreErrors() {
    PW_FETCH_PLACER();
    const ProblemPtr problem = layeredProblem(40);
    JobContext context;
    const auto refuses = [&](const PlaceOptions& options, const char* named) {
        const auto result = placer.place(problem, options, context, {});
        return !result && result.error().toString().find(named) != std::string::npos;
    };
    PlaceOptions options;
    options.parameters["no_such_key"] = "1";
    QVERIFY(refuses(options, "no_such_key"));
    options = {};
    options.pinned.resize(3);
    QVERIFY(refuses(options, "pins"));
    options = {};
    options.pinned.resize(40);
    options.pinned[7] = DeviceId(4);
    QVERIFY(refuses(options, "n7"));
    options = {};
    options.start.resize(39, DeviceId(0));
    QVERIFY(refuses(options, "start"));
    options = {};
    options.start.resize(40, DeviceId(9));
    QVERIFY(refuses(options, "start"));
    options = {};
    options.maxSeconds = -1.0;
    QVERIFY(refuses(options, "budget"));
}

/// One placer object serves all threads, with the same result on each.
void TestPlacers::sameOnFourThreads() {
    PW_FETCH_PLACER();
    const ProblemPtr problem = layeredProblem(100);
    PlaceOptions options;
    options.seed = 9;
    options.maxEvaluations = 200;
    std::array<GroupPlacement, 4> groups;
    {
        std::vector<std::jthread> threads;
        for (GroupPlacement& mine : groups) {
            threads.emplace_back([&] {
                JobContext context;
                mine = placer.place(problem, options, context, {})->groups;
            });
        }
    }
    QVERIFY(!groups[0].empty());
    for (const GroupPlacement& other : groups)
        QCOMPARE(other, groups[0]);
}

QTEST_APPLESS_MAIN(TestPlacers)
#include "tst_placers.moc"
