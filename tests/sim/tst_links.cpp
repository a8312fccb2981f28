#include "core/graph/graph_builder.h"
#include "tests/sim/sim_check.h"
#include "tests/support/brute_force_links.h"

#include <QtTest/QtTest>

using namespace pw;

namespace {

/// The values of the `links` model that every implementation must give.
std::vector<test::Expected> tableOfRules() {
    using test::placementOf;
    std::vector<test::Expected> rows = {
        {"W1 as placed", test::w1(), 3, placementOf({0, 1, 2, 1, 0, 0}), 332.1, {760000, 843600, 912000},
         {0, 230.7, 230.7, 266.4, 105.7, 321.4}},
        {"W1 on 0", test::w1(), 3, test::allOn(0, 6), 239.2, {995600, 0, 0}, {}},
        {"W2 as placed", test::w2(), 2, placementOf({0, 1, 1, 1, 1}), 149.8, {228000, 266000},
         {0, 110.7, 90.7, 126.4, 137.1}},
        {"W2 on 0", test::w2(), 2, test::allOn(0, 5), 94.8, {266000, 0}, {}},
        {"W3 001100", test::w3(), 2, placementOf({0, 0, 1, 1, 0, 0}), 663.5, {577600, 760000},
         {0, 45.7, 120.7, 326.4, 582.1, 647.8}},
        {"W3 001000", test::w3(), 2, placementOf({0, 0, 1, 0, 0, 0}), 538.5, {950000, 570000}, {}},
        {"W3 001111", test::w3(), 2, placementOf({0, 0, 1, 1, 1, 1}), 613.5, {570000, 950000}, {}},
        {"W3 010101", test::w3(), 2, placementOf({0, 1, 0, 1, 0, 1}), 689.5, {577600, 760000}, {}},
        {"W3 100010", test::w3(), 2, placementOf({1, 0, 0, 0, 1, 0}), 895.2, {760000, 577600}, {}},
        {"W3 on 0", test::w3(), 2, test::allOn(0, 6), 744.2, {950000, 0}, {}},
        {"generated 12", test::generated(12), 2, test::generatedPlacement(12, 2), 567.6031578947369, {790418, 646017},
         {406.20184210526315, 465.90184210526314, 530.9031578947369}},
        {"generated 40", test::generated(40), 3, test::generatedPlacement(40, 3), 2100.446842105264,
         {874135, 1102055, 1178071}, {1941.0419736842111, 1997.7468421052638, 1997.7468421052638}},
        {"generated 100", test::generated(100), 4, test::generatedPlacement(100, 4), 5548.7331578947305,
         {957856, 912056, 1132471, 1231566}, {5279.607499999995, 5365.320263157889, 5457.033157894731}},
        {"generated 12 on 0", test::generated(12), 1, test::allOn(0, 12), 489.0, {1041225}, {}},
        {"generated 40 on 0", test::generated(40), 1, test::allOn(0, 40), 1824.8, {1246482}, {}},
        {"generated 100 on 0", test::generated(100), 1, test::allOn(0, 100), 4543.2, {1269743}, {}},
    };
    return rows;
}

Device plainDevice(const char* name, const char* kind, std::int64_t memoryBytes = 0) {
    return {name, kind, "test", memoryBytes, 1.0e6, 1.0e5, 0.0};
}

} // namespace

class TestLinks : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void valuesOfTheRules();
    void sameNumbersAgainAndOnAnotherSimulator();
    void agreesWithBruteForce_data();
    void agreesWithBruteForce();
    void sharedLinksTakeTurns();
    void missingLinkGoesOverTheFirstCpu();
    void noPathIsInvalid();
    void overCapacityIsInvalid();
    void parametersStayResident();
    void whatAVariablePutsOutIsItsParameter();
    void prioritiesDecideAmongReadyOps();
    void wrongPlacementIsNotSimulated();
    void emptyGraphTakesNoTime();
};

void TestLinks::valuesOfTheRules() {
    for (const test::Expected& row : tableOfRules()) {
        Simulator simulator(test::problemOf(row.graph, test::equalDevices(row.devices), SimModel::Links));
        const Evaluation evaluation = simulator.evaluate(row.placement);
        qInfo("%s", row.label);
        QVERIFY(evaluation.valid);
        PW_NEAR(evaluation.stepTimeUs, row.stepTimeUs);
        for (std::size_t d = 0; d < row.peaks.size(); ++d)
            QCOMPARE(simulator.peakBytes()[d], row.peaks[d]);
        const auto starts = simulator.startsUs().last(row.lastStarts.size());
        for (std::size_t i = 0; i < starts.size(); ++i)
            PW_NEAR(starts[i], row.lastStarts[i]);
    }
}

void TestLinks::sameNumbersAgainAndOnAnotherSimulator() {
    const ProblemPtr problem = test::problemOf(test::generated(100), test::equalDevices(4), SimModel::Links);
    Simulator first(problem);
    Simulator second(problem);
    Rng rng(3);
    for (int i = 0; i < 50; ++i) {
        const OpPlacement placement = test::randomPlacement(rng, 100, 4);
        const double stepTimeUs = first.evaluate(placement).stepTimeUs;
        QCOMPARE(second.evaluate(placement).stepTimeUs, stepTimeUs);
        QCOMPARE(first.evaluate(placement).stepTimeUs, stepTimeUs);
        QCOMPARE(second.evaluateGroups(placement).stepTimeUs, stepTimeUs); // one group per op
    }
}

void TestLinks::agreesWithBruteForce_data() {
    QTest::addColumn<bool>("sparse");
    QTest::addColumn<int>("maxOps");
    QTest::newRow("all links, tiny") << false << 6;
    QTest::newRow("all links") << false << 16;
    QTest::newRow("missing links, tiny") << true << 6;
    QTest::newRow("missing links") << true << 16;
}

void TestLinks::agreesWithBruteForce() {
    QFETCH(bool, sparse);
    QFETCH(int, maxOps);
    Rng rng = Rng::derive(7, sparse ? "sparse" : "dense");
    int invalid = 0;
    for (int round = 0; round < 1500; ++round) {
        const GraphPtr graph = test::randomGraph(rng, static_cast<std::size_t>(maxOps));
        const DeviceSet devices = test::randomDevices(rng, 4, sparse, true);
        Simulator simulator(test::problemOf(graph, devices, SimModel::Links));
        for (int k = 0; k < 3; ++k) {
            const OpPlacement placement = test::randomPlacement(rng, graph->opCount(), devices.count());
            const Evaluation evaluation = simulator.evaluate(placement);
            const test::BruteForceResult expected = test::bruteForceLinks(*graph, devices, placement);
            PW_NEAR(evaluation.stepTimeUs, expected.stepTimeUs);
            bool fits = expected.everyPathExists;
            for (std::size_t i = 0; i < graph->opCount(); ++i)
                PW_NEAR(simulator.startsUs()[i], expected.startUs[i]);
            for (std::size_t d = 0; d < devices.count(); ++d) {
                QCOMPARE(simulator.peakBytes()[d], expected.peakBytes[d]);
                const std::int64_t capacity = devices.device(DeviceId(d)).memoryBytes;
                fits = fits && (capacity == 0 || expected.peakBytes[d] <= capacity);
            }
            QCOMPARE(evaluation.valid, fits);
            invalid += fits ? 0 : 1;
        }
    }
    QVERIFY(invalid > 100); // the check of validity was exercised
}

void TestLinks::sharedLinksTakeTurns() {
    // a and b end at 10 and send 1,000 bytes each, 10 us, over links of one name (latency 1).
    const GraphPtr graph = test::graph("a:10*1000 -> x:1; b:10*1000 -> y:1");
    const std::vector<Device> devices = {plainDevice("d0", "gpu"), plainDevice("d1", "gpu"), plainDevice("d2", "gpu")};
    for (const bool shared : {false, true}) {
        const char* name = shared ? "switch" : "";
        std::vector<Link> links = {{DeviceId(0), DeviceId(2), 100.0, 1.0, name}, {DeviceId(1), DeviceId(2), 100.0, 1.0, name}};
        const DeviceSet set = DeviceSet::create("set", devices, links).value();
        Simulator simulator(test::problemOf(graph, set, SimModel::Links));
        simulator.evaluate(test::placementOf({0, 2, 1, 2})); // ops: a, x, b, y
        PW_NEAR(simulator.startsUs()[1], 21.0);
        PW_NEAR(simulator.startsUs()[3], shared ? 31.0 : 22.0); // 22: x has the device until then
    }
}

void TestLinks::missingLinkGoesOverTheFirstCpu() {
    const GraphPtr graph = test::graph("a:10*1000 -> b:5");
    const std::vector<Device> devices = {plainDevice("gpu:0", "gpu"), plainDevice("cpu:0", "cpu"),
                                         plainDevice("cpu:1", "cpu"), plainDevice("gpu:1", "gpu")};
    const std::vector<Link> links = {{DeviceId(0), DeviceId(2), 100.0, 2.0, ""}, {DeviceId(2), DeviceId(3), 50.0, 3.0, ""}};
    const DeviceSet set = DeviceSet::create("set", devices, links).value(); // cpu:0 has no links
    Simulator simulator(test::problemOf(graph, set, SimModel::Links));
    const OpPlacement placement = test::placementOf({0, 3});
    QVERIFY(simulator.evaluate(placement).valid);
    PW_NEAR(simulator.startsUs()[1], 10.0 + (2.0 + 10.0) + (3.0 + 20.0)); // store and forward
    QCOMPARE(simulator.peakBytes()[2], std::int64_t{1000});               // the host holds what it forwards
    const Schedule schedule = simulator.schedule(placement);
    QCOMPARE(schedule.transfers.size(), std::size_t{2});
    QCOMPARE(schedule.transfers[0].to, DeviceId(2));
    QCOMPARE(schedule.transfers[1].from, DeviceId(2));
}

void TestLinks::noPathIsInvalid() {
    const GraphPtr graph = test::graph("a:10*1000 -> b:5");
    const DeviceSet set =
        DeviceSet::create("set", {plainDevice("gpu:0", "gpu"), plainDevice("gpu:1", "gpu")}, {}).value();
    const ProblemPtr problem = test::problemOf(graph, set, SimModel::Links);
    Simulator simulator(problem);
    QVERIFY(simulator.evaluate(test::placementOf({0, 0})).valid);
    QVERIFY(!simulator.evaluate(test::placementOf({0, 1})).valid);
    const Schedule schedule = simulator.schedule(test::placementOf({0, 1}));
    QCOMPARE(schedule.fault.kind, Fault::Kind::NoPath);
    QCOMPARE(schedule.fault.device, DeviceId(0));
    QCOMPARE(schedule.fault.otherDevice, DeviceId(1));
    PW_NEAR(schedule.startUs[1], 10.0); // shown as if the transfer took no time
    QCOMPARE(describeFault(*problem, schedule.fault), std::string("no path from gpu:0 to gpu:1 for op \"a\""));
}

void TestLinks::overCapacityIsInvalid() {
    const GraphPtr graph = test::graph("a:10*1000 -> b:5*600 -> c:1");
    const DeviceSet set = DeviceSet::create("set", {plainDevice("gpu:0", "gpu", 1600)}, {}).value();
    Simulator fits(test::problemOf(graph, set, SimModel::Links));
    QVERIFY(fits.evaluate(test::allOn(0, 3)).valid); // 1,600 while b runs
    const auto headroom = PlacementProblem::compile(graph, set, trivialGrouping(*graph), SimOptions{SimModel::Links, 10.0}).value();
    QCOMPARE(headroom->capacityBytes(DeviceId(0)), std::int64_t{1440});
    const Schedule schedule = Simulator(headroom).schedule(test::allOn(0, 3));
    QVERIFY(!schedule.valid);
    QCOMPARE(schedule.fault.kind, Fault::Kind::OverCapacity);
    QCOMPARE(schedule.fault.excessBytes, std::int64_t{160});
    PW_NEAR(schedule.fault.atUs, 10.0);
    PW_NEAR(schedule.stepTimeUs, 16.0);
    QCOMPARE(describeFault(*headroom, schedule.fault), std::string("gpu:0 needs 1.6 kB of 1.4 kB at 10.0 us"));
}

void TestLinks::whatAVariablePutsOutIsItsParameter() {
    // v (100 bytes of parameters, an output of 100) feeds a here and b there; a's own output is 7 bytes, b's 5.
    GraphBuilder builder("variable", "test");
    const auto add = [&](const char* type, std::int64_t paramBytes, std::int64_t outputBytes) {
        Op op;
        op.type = type;
        op.costs = {{"", 1.0}};
        op.paramBytes = paramBytes;
        Tensor tensor;
        tensor.bytes = outputBytes;
        const OpId id = builder.addOp(std::move(op));
        builder.addOutput(id, tensor);
        return id;
    };
    for (const char* type : {"Variable", "Const", "MatMul"}) {
        builder = GraphBuilder("variable", "test");
        const OpId v = add(type, 100, 100);
        for (const std::int64_t bytes : {7, 5})
            builder.addInput(add("Relu", 0, bytes), builder.output(v, 0));
        const GraphPtr graph = std::move(builder).build().value();
        const ProblemPtr problem = PlacementProblem::compile(graph, test::equalDevices(2, 0.0), trivialGrouping(*graph), {}).value();
        const Schedule schedule = Simulator(problem).schedule(test::placementOf({0, 0, 1}));
        const bool isVariable = std::string_view(type) != "MatMul"; // weights of an op that computes something else
        QCOMPARE(schedule.peakBytes[0], std::int64_t{isVariable ? 107 : 207});
        QCOMPARE(schedule.peakBytes[1], std::int64_t{105}); // the copy is real
        std::int64_t alive = 0;
        for (const LiveBuffer& buffer : liveBuffers(*problem, schedule, DeviceId(0), schedule.startUs[1]))
            alive += buffer.bytes;
        QCOMPARE(alive, schedule.peakBytes[0]);
    }
}

void TestLinks::parametersStayResident() {
    GraphBuilder builder("resident", "test");
    Op op;
    op.name = "a";
    op.costs = {{"", 10.0}};
    op.paramBytes = 700;
    op.stateBytes = 50;
    op.workspaceBytes = 5;
    builder.addOp(op);
    Simulator simulator(test::problemOf(std::move(builder).build().value(), test::equalDevices(2), SimModel::Links));
    const Schedule schedule = simulator.schedule(test::placementOf({1}));
    QCOMPARE(schedule.peakBytes, (std::vector<std::int64_t>{0, 755}));
    QCOMPARE(schedule.memory[1].back().bytes, std::int64_t{750});
}

void TestLinks::prioritiesDecideAmongReadyOps() {
    // a, then b and c are ready together; c is more urgent. d is the most urgent but not ready before b or c runs.
    const GraphPtr graph = test::graph("a:10 -> b:5; a -> c:5; c -> d:1");
    Simulator simulator(test::problemOf(graph, test::equalDevices(1, 0.0), SimModel::Links));
    simulator.evaluate(test::allOn(0, 4));
    PW_NEAR(simulator.startsUs()[1], 10.0);
    PW_NEAR(simulator.startsUs()[2], 15.0);
    simulator.setPriorities({0.0, 1.0, 2.0, 3.0});
    simulator.evaluate(test::allOn(0, 4));
    PW_NEAR(simulator.startsUs()[2], 10.0);
    PW_NEAR(simulator.startsUs()[3], 15.0);
    PW_NEAR(simulator.startsUs()[1], 16.0);
    simulator.setPriorities({});
    simulator.evaluate(test::allOn(0, 4));
    PW_NEAR(simulator.startsUs()[1], 10.0);
}

void TestLinks::wrongPlacementIsNotSimulated() {
    const ProblemPtr problem = test::problemOf(test::w1(), test::equalDevices(2), SimModel::Links);
    Simulator simulator(problem);
    for (const OpPlacement& wrong : {test::allOn(0, 5), test::allOn(2, 6), OpPlacement(6)}) {
        QVERIFY(!simulator.evaluate(wrong).valid);
        QVERIFY(!simulator.evaluateGroups(wrong).valid);
        QVERIFY(!simulator.schedule(wrong).valid);
    }
}

void TestLinks::emptyGraphTakesNoTime() {
    GraphPtr graph = GraphBuilder("empty", "test").build().value();
    for (const SimModel model : {SimModel::Links, SimModel::Reference}) {
        Simulator simulator(test::problemOf(graph, test::equalDevices(2), model));
        QVERIFY(simulator.evaluate({}).valid);
        QCOMPARE(simulator.evaluate({}).stepTimeUs, 0.0);
        QVERIFY(simulator.schedule({}).criticalPath.empty());
    }
}

QTEST_APPLESS_MAIN(TestLinks)
#include "tst_links.moc"
