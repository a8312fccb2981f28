/// What the single methods promise beyond the conformance suite.

#include "core/graph/graph_builder.h"
#include "core/place/placer.h"
#include "tests/support/graph_dsl.h"
#include "tests/support/random_problem.h"

#include <QtTest/QtTest>

#include <numeric>

using namespace pw;

namespace {

PlaceResult place(const ProblemPtr& problem, const char* method, PlaceOptions options = {}) {
    PlacerRegistry registry;
    addClassicPlacers(registry);
    JobContext context;
    return registry.find(method)->place(problem, options, context, {}).value();
}

ProblemPtr ungrouped(const GraphPtr& graph, DeviceSet devices, SimModel model = SimModel::Links) {
    return PlacementProblem::compile(graph, std::move(devices), trivialGrouping(*graph), {model, 0.0}).value();
}

Device device(const char* name, const char* kind, std::int64_t memoryBytes = 0) {
    return {name, kind, "test", memoryBytes, 1e6, 1e5, 0.0};
}

std::vector<Link> allLinks(std::size_t count) {
    std::vector<Link> links;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < count; ++j) {
            if (i != j)
                links.push_back({DeviceId(i), DeviceId(j), 1000.0, 1.0, ""});
        }
    }
    return links;
}

/// Ops with parameters of `bytes` each, in a chain.
GraphPtr heavyChain(std::initializer_list<std::int64_t> bytes) {
    GraphBuilder builder("heavy", "test");
    for (const std::int64_t size : bytes) {
        Op op;
        op.name = "op" + std::to_string(builder.opCount());
        op.costs = {{"", 10.0}};
        op.paramBytes = size;
        const OpId id = builder.addOp(std::move(op));
        if (id.index() > 0)
            builder.addControl(OpId(id.index() - 1), id);
    }
    return std::move(builder).build().value();
}

} // namespace

class TestPlaceMethods : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void registryKeepsTheOrder();
    void singleTakesTheFirstGpu();
    void singleTakesTheDeviceThatFits();
    void roundRobinTakesTurns();
    void contiguousBalancesBlocks();
    void contiguousKnowsSpeeds();
    void expertFollowsLayers();
    void expertFollowsBranches();
    void expertWithoutTagsCutsBlocks();
    void metisSeparatesWhatIsLoose();
    void metisRespectsMemory();
    void randomTakesTheBestOfMany();
    void localSearchFindsTheOptimumOfW3();
    void localSearchStartsWhereItIsTold();
    void localSearchMovesToValidity();
    void localSearchBeatsSingleAndRandom();
};

void TestPlaceMethods::registryKeepsTheOrder() {
    PlacerRegistry registry;
    addClassicPlacers(registry);
    const std::vector<std::string> first = {"single", "random", "round_robin", "contiguous", "expert", "metis", "local_search"};
    const std::vector<std::string> names = registry.names();
    for (const std::string& name : first)
        QVERIFY(std::find(names.begin(), names.end(), name) != names.end());
    QCOMPARE(names.front(), std::string("single"));
    QVERIFY(registry.find("no such method") == nullptr);
}

void TestPlaceMethods::singleTakesTheFirstGpu() {
    const DeviceSet set = DeviceSet::create("s", {device("cpu:0", "cpu"), device("gpu:0", "gpu"), device("gpu:1", "gpu")},
                                            allLinks(3)).value();
    const ProblemPtr problem = ungrouped(test::graph("a:1 -> b:2"), set);
    QCOMPARE(place(problem, "single").groups, test::placementOf({1, 1}));
    PlaceOptions options;
    options.parameters["device"] = "cpu:0";
    QCOMPARE(place(problem, "single", options).groups, test::placementOf({0, 0}));
    options.parameters["device"] = "tpu:0";
    PlacerRegistry registry;
    addClassicPlacers(registry);
    JobContext context;
    QVERIFY(!registry.find("single")->place(problem, options, context, {}));
}

void TestPlaceMethods::singleTakesTheDeviceThatFits() {
    const DeviceSet set = DeviceSet::create("s", {device("gpu:0", "gpu", 100), device("gpu:1", "gpu", 1000)}, allLinks(2)).value();
    const PlaceResult result = place(ungrouped(heavyChain({300, 300}), set), "single");
    QVERIFY(result.evaluation.valid);
    QCOMPARE(result.groups, test::placementOf({1, 1}));
}

void TestPlaceMethods::roundRobinTakesTurns() {
    const ProblemPtr problem = ungrouped(test::graph("a:1 -> b:1 -> c:1 -> d:1 -> e:1"), test::equalDevices(3));
    QCOMPARE(place(problem, "round_robin").groups, test::placementOf({0, 1, 2, 0, 1}));
}

void TestPlaceMethods::contiguousBalancesBlocks() {
    // 5 + 1 + 1 + 1 + 4: the best cut in two is 5 1 | 1 1 4, not 5 | 1 1 1 4.
    const ProblemPtr problem = ungrouped(test::graph("a:5 -> b:1 -> c:1 -> d:1 -> e:4"), test::equalDevices(2, 0.0));
    QCOMPARE(place(problem, "contiguous").groups, test::placementOf({0, 0, 1, 1, 1}));
}

void TestPlaceMethods::contiguousKnowsSpeeds() {
    // Four times slower on the cpu: it gets a fifth.
    GraphBuilder builder("chain", "test");
    for (int i = 0; i < 20; ++i) {
        Op op;
        op.costs = {{"gpu", 1.0}, {"cpu", 4.0}};
        const OpId id = builder.addOp(std::move(op));
        if (i > 0)
            builder.addControl(OpId(id.index() - 1), id);
    }
    const DeviceSet set = DeviceSet::create("s", {device("gpu:0", "gpu"), device("cpu:0", "cpu")}, allLinks(2)).value();
    const PlaceResult result = place(ungrouped(std::move(builder).build().value(), set), "contiguous");
    QCOMPARE(std::count(result.groups.begin(), result.groups.end(), DeviceId(1)), std::ptrdiff_t{4});
}

namespace {

/// A chain of ops of equal cost with one attribute each; "" = none.
GraphPtr taggedChain(const char* key, std::initializer_list<const char*> tags) {
    GraphBuilder builder("tagged", "test");
    for (const char* tag : tags) {
        Op op;
        op.costs = {{"", 1.0}};
        if (*tag != 0)
            op.attributes.emplace_back(key, tag);
        const OpId id = builder.addOp(std::move(op));
        Tensor tensor;
        tensor.bytes = 8;
        builder.addOutput(id, tensor);
        if (id.index() > 0)
            builder.addInput(id, builder.output(OpId(id.index() - 1), 0));
    }
    return std::move(builder).build().value();
}

} // namespace

void TestPlaceMethods::expertFollowsLayers() {
    // Four layers on two devices; a gap follows its producer, a source what it feeds, odd text is no tag.
    const GraphPtr graph = taggedChain("expert_layer", {"", "0", "1", "x", "2", "3", "", "0"});
    QCOMPARE(place(ungrouped(graph, test::equalDevices(2, 0.0)), "expert").groups,
             test::placementOf({0, 0, 0, 0, 1, 1, 1, 0}));
    // More devices than layers: each layer on one of them, in order.
    QCOMPARE(place(ungrouped(taggedChain("expert_layer", {"0", "1"}), test::equalDevices(4, 0.0)), "expert").groups,
             test::placementOf({0, 2}));
    // Gpus only.
    const DeviceSet set = DeviceSet::create("s", {device("cpu:0", "cpu"), device("gpu:0", "gpu"), device("gpu:1", "gpu")},
                                            allLinks(3)).value();
    QCOMPARE(place(ungrouped(taggedChain("expert_layer", {"0", "1"}), set), "expert").groups, test::placementOf({1, 2}));
}

void TestPlaceMethods::expertFollowsBranches() {
    const GraphPtr graph = taggedChain("expert_branch", {"0", "1", "2", "3", "4", "0"});
    QCOMPARE(place(ungrouped(graph, test::equalDevices(2, 0.0)), "expert").groups, test::placementOf({0, 1, 0, 1, 0, 0}));
}

void TestPlaceMethods::expertWithoutTagsCutsBlocks() {
    const ProblemPtr problem = ungrouped(test::graph("a:5 -> b:1 -> c:1 -> d:1 -> e:4"), test::equalDevices(2, 0.0));
    QCOMPARE(place(problem, "expert").groups, place(problem, "contiguous").groups);
}

void TestPlaceMethods::metisSeparatesWhatIsLoose() {
    // Two chains of equal work with nothing in between: one on each device, nothing is sent.
    std::string text;
    for (const char* chain : {"a", "b"}) {
        for (int i = 0; i < 20; ++i)
            text += (i == 0 ? "" : " -> ") + std::string(chain) + std::to_string(i) + ":10*50000";
        text += "; ";
    }
    const ProblemPtr problem = ungrouped(test::graph(text), test::equalDevices(2));
    const PlaceResult result = place(problem, "metis");
    QCOMPARE(Simulator(problem).schedule(result.placement).transfers.size(), std::size_t{0});
    QVERIFY(result.groups.front() != result.groups.back());
}

void TestPlaceMethods::metisRespectsMemory() {
    // Equal times; the first ops own almost all parameters. Balancing time alone would put them together.
    const GraphPtr graph = heavyChain({400, 400, 400, 400, 10, 10, 10, 10, 10, 10, 10, 10});
    const auto problemWith = [&](std::int64_t capacity) {
        return ungrouped(graph, DeviceSet::create("s", {device("gpu:0", "gpu", capacity), device("gpu:1", "gpu", capacity)},
                                                  allLinks(2)).value());
    };
    QVERIFY(!place(problemWith(1000), "single").evaluation.valid);
    QVERIFY(place(problemWith(1000), "metis").evaluation.valid);
}

void TestPlaceMethods::randomTakesTheBestOfMany() {
    const ProblemPtr problem = ungrouped(test::layeredGraph(60, 6, 1), test::equalDevices(2));
    QCOMPARE(place(problem, "random").evaluations, std::int64_t{1});
    PlaceOptions many;
    many.maxEvaluations = 200;
    const PlaceResult best = place(problem, "random", many);
    QCOMPARE(best.evaluations, std::int64_t{200});
    QVERIFY(best.evaluation.stepTimeUs < place(problem, "random").evaluation.stepTimeUs);
    PlaceOptions other;
    other.seed = 2;
    QVERIFY(place(problem, "random", other).groups != place(problem, "random").groups);
}

/// By Placeto's released simulator: 538.5 is the optimum of all 64 placements in the reference model.
void TestPlaceMethods::localSearchFindsTheOptimumOfW3() {
    const ProblemPtr problem = ungrouped(test::w3(), test::equalDevices(2), SimModel::Reference);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        PlaceOptions options;
        options.seed = seed;
        const double stepTimeUs = place(problem, "local_search", options).evaluation.stepTimeUs;
        QVERIFY2(std::abs(stepTimeUs - 538.5) < 1e-6, std::to_string(stepTimeUs).c_str());
    }
}

void TestPlaceMethods::localSearchStartsWhereItIsTold() {
    const ProblemPtr problem = ungrouped(test::layeredGraph(60, 6, 1), test::equalDevices(3));
    Rng rng(4);
    PlaceOptions options;
    options.start = test::randomPlacement(rng, 60, 3);
    options.maxEvaluations = 1;
    const PlaceResult result = place(problem, "local_search", options);
    QCOMPARE(result.groups, options.start);
    options.maxEvaluations = 300;
    QVERIFY(place(problem, "local_search", options).evaluation.stepTimeUs < result.evaluation.stepTimeUs);
}

void TestPlaceMethods::localSearchMovesToValidity() {
    // 12 ops of 100 bytes on three devices of 450: every start on one device is over capacity.
    const GraphPtr graph = heavyChain({100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100});
    const DeviceSet set = DeviceSet::create("s", {device("a", "gpu", 450), device("b", "gpu", 450), device("c", "gpu", 450)},
                                            allLinks(3)).value();
    QVERIFY(!place(ungrouped(graph, set), "single").evaluation.valid);
    QVERIFY(place(ungrouped(graph, set), "local_search").evaluation.valid);
}

/// Means over layered graphs, as multiples of what local search finds: what a thousand evaluations are worth.
void TestPlaceMethods::localSearchBeatsSingleAndRandom() {
    constexpr int kGraphs = 6;
    for (const SimModel model : {SimModel::Links, SimModel::Reference}) {
        for (const std::size_t devices : {std::size_t{2}, std::size_t{4}}) {
            double single = 0.0, random = 0.0, metis = 0.0, contiguous = 0.0, bound = 0.0;
            for (std::uint64_t seed = 1; seed <= kGraphs; ++seed) {
                const ProblemPtr problem = ungrouped(test::layeredGraph(100, 8, seed), test::equalDevices(devices), model);
                PlaceOptions options;
                options.seed = seed;
                const double found = place(problem, "local_search", options).evaluation.stepTimeUs;
                const auto ratio = [&](const char* method, const PlaceOptions& with) {
                    return place(problem, method, with).evaluation.stepTimeUs / found;
                };
                single += ratio("single", options) / kGraphs;
                metis += ratio("metis", options) / kGraphs;
                contiguous += ratio("contiguous", options) / kGraphs;
                bound += lowerBounds(*problem).best() / found / kGraphs;
                for (std::uint64_t k = 0; k < 20; ++k) {
                    options.seed = 100 * seed + k;
                    random += ratio("random", options) / (20 * kGraphs);
                }
            }
            qInfo("%-9s D=%zu, x local_search: single %.3f random mean %.3f contiguous %.3f metis %.3f lower bound %.3f",
                  simModelName(model), devices, single, random, contiguous, metis, bound);
            QVERIFY(single > 1.2 && random > 1.1);
        }
    }
}

QTEST_APPLESS_MAIN(TestPlaceMethods)
#include "tst_place_methods.moc"
