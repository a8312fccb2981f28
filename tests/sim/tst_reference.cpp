#include "core/graph/graph_builder.h"
#include "tests/sim/sim_check.h"
#include "tests/support/brute_force_reference.h"

#include <QtTest/QtTest>

using namespace pw;

namespace {

/// Values executed with the authors' code.
std::vector<test::Expected> workedGraphs() {
    using test::placementOf;
    const GraphPtr w3 = test::w3();
    return {
        {"W1", test::w1(), 3, placementOf({0, 1, 2, 1, 0, 0}), 291, {760000, 83600, 152000},
         {0, 200, 200, 235.7, 105.7, 266}},
        {"W2", test::w2(), 2, placementOf({0, 1, 1, 1, 1}), 130, {228000, 38000}, {0, 70, 105, 105, 85.7}},
        {"W2 on 0", test::w2(), 2, test::allOn(0, 5), 94.8, {266000, 0}, {0, 55.7, 71.4, 71.4, 82.1}},
        {"W3 on 0", w3, 2, test::allOn(0, 6), 744.2, {950000, 0}, {}},
        {"W3 001000", w3, 2, placementOf({0, 0, 1, 0, 0, 0}), 538.5, {760000, 190000}, {}},
        {"W3 001100", w3, 2, placementOf({0, 0, 1, 1, 0, 0}), 602.1, {570000, 380000},
         {0, 45.7, 90, 295.7, 520.7, 586.4}},
        {"W3 001111", w3, 2, placementOf({0, 0, 1, 1, 1, 1}), 582.8, {570000, 387600}, {}},
        {"W3 011111", w3, 2, placementOf({0, 1, 1, 1, 1, 1}), 788.5, {380000, 577600}, {}},
        {"W3 010101", w3, 2, placementOf({0, 1, 0, 1, 0, 1}), 606.7, {570000, 380000}, {}},
        {"W3 100010", w3, 2, placementOf({1, 0, 0, 0, 1, 0}), 812.4, {570000, 380000}, {}},
    };
}

/// Small cases executed with the authors' code. In the DSL an op has one output; an absent one has 0 bytes, which is the same to this model.
std::vector<test::Expected> smallCases() {
    using test::placementOf;
    const GraphPtr pair = test::graph("a:100*76000 -> b:50*8");
    const GraphPtr fan = test::graph("p:10*7600 -> z:20; p -> m:30; p -> k:40");
    return {
        {"one op", test::graph("a:10"), 1, placementOf({0}), 15.7, {}, {0}},
        {"one op of cost 0", test::graph("a:0"), 1, placementOf({0}), 0, {}, {0}},
        {"pair apart", pair, 2, placementOf({0, 1}), 165.7, {76000, 8}, {110}},
        {"pair together", pair, 2, placementOf({0, 0}), 161.4, {76008, 0}, {105.7}},
        {"sources in graph order", test::graph("b:10; a:10; a -> c:5; b -> c"), 1, test::allOn(0, 3), 42.1, {},
         {0, 15.7, 31.4}},
        {"children in name order, apart", fan, 2, placementOf({0, 1, 1, 1}), 118.1, {}, {0, 92.4, 56.7, 11}},
        {"children in name order, together", fan, 2, test::allOn(0, 4), 122.8, {}, {0, 97.1, 61.4, 15.7}},
        {"bus takes turns", test::graph("a:10*760000; b:10*7600; a -> x:5; b -> y:5"), 2, placementOf({0, 0, 1, 1}), 161,
         {767600, 0}, {110, 136}},
        {"empty transfer", test::graph("a:10 -> x:5"), 2, placementOf({0, 1}), 35, {}, {10}},
        {"control from cost 0", test::graph("a:0 => x:5"), 2, placementOf({0, 1}), 25, {}, {0}},
    };
}

/// Generated graphs executed with the authors' code.
std::vector<test::Expected> generatedGraphs() {
    std::vector<test::Expected> rows;
    rows.push_back({"12", test::generated(12), 2, test::generatedPlacement(12, 2), 450.5031578947368, {592808, 501614},
                    {314.10184210526313, 373.8018421052631, 413.8031578947368}});
    rows.push_back({"40", test::generated(40), 3, test::generatedPlacement(40, 3), 1774.8511842105265,
                    {896848, 608093, 729684}, {1646.1463157894739, 1672.1511842105265, 1672.1511842105265}});
    rows.push_back({"100", test::generated(100), 4, test::generatedPlacement(100, 4), 4285.453815789474,
                    {775434, 1003254, 676581, 744881}, {4077.7281578947373, 4132.740921052632, 4193.753815789474}});
    rows.push_back({"12 on 0", test::generated(12), 2, test::allOn(0, 12), 489.0, {1041225}, {}});
    rows.push_back({"40 on 0", test::generated(40), 3, test::allOn(0, 40), 1824.8, {1413704}, {}});
    rows.push_back({"100 on 0", test::generated(100), 4, test::allOn(0, 100), 4543.2, {1413704}, {}});
    return rows;
}

} // namespace

class TestReference : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void graphsOfTheTests();
    void values_data();
    void values();
    void agreesWithBruteForce();
    void simultaneousBusesGoByName();
    void bestOfAllPlacements();
    void costZeroByValue();
    void lastOutputIndexWins();
    void capacitiesAndSharedAreIgnored();
    void unequalDevicesAreAnError_data();
    void unequalDevicesAreAnError();
};

/// The generated graphs are those of 5.8: edge counts and cost sums.
void TestReference::graphsOfTheTests() {
    const std::vector<std::array<int, 3>> rows = {{12, 17, 432}, {40, 65, 1631}, {100, 169, 4053}};
    for (const auto& [n, edges, costSum] : rows) {
        const GraphPtr graph = test::generated(n);
        double sum = 0.0;
        for (const Op& op : graph->ops())
            sum += op.costs.front().us;
        QCOMPARE(graph->edges().size(), static_cast<std::size_t>(edges));
        QCOMPARE(sum, static_cast<double>(costSum));
    }
}

void TestReference::values_data() {
    QTest::addColumn<int>("table");
    QTest::addColumn<int>("row");
    const std::vector<std::vector<test::Expected>> tables = {workedGraphs(), smallCases(), generatedGraphs()};
    for (std::size_t t = 0; t < tables.size(); ++t) {
        for (std::size_t i = 0; i < tables[t].size(); ++i)
            QTest::newRow(tables[t][i].label) << static_cast<int>(t) << static_cast<int>(i);
    }
}

void TestReference::values() {
    QFETCH(int, table);
    QFETCH(int, row);
    const auto rows = table == 0 ? workedGraphs() : table == 1 ? smallCases() : generatedGraphs();
    const test::Expected& expected = rows[static_cast<std::size_t>(row)];
    Simulator simulator(test::problemOf(expected.graph, test::equalDevices(expected.devices), SimModel::Reference));
    const Evaluation evaluation = simulator.evaluate(expected.placement);
    QVERIFY(evaluation.valid);
    PW_NEAR(evaluation.stepTimeUs, expected.stepTimeUs);
    for (std::size_t d = 0; d < expected.peaks.size(); ++d)
        QCOMPARE(simulator.peakBytes()[d], expected.peaks[d]);
    const auto starts = simulator.startsUs().last(expected.lastStarts.size());
    for (std::size_t i = 0; i < starts.size(); ++i)
        PW_NEAR(starts[i], expected.lastStarts[i]);
    // The full story tells the same.
    const Schedule schedule = simulator.schedule(expected.placement);
    QCOMPARE(schedule.stepTimeUs, evaluation.stepTimeUs);
    for (std::size_t d = 0; d < expected.devices; ++d)
        QCOMPARE(schedule.peakBytes[d], simulator.peakBytes()[d]);
}

/// Thousands of small graphs, with gaps of 0 as well: then everything happens at once and names decide.
void TestReference::agreesWithBruteForce() {
    Rng rng(21);
    for (int round = 0; round < 4000; ++round) {
        const GraphPtr graph = test::randomGraph(rng, round % 2 == 0 ? 8 : 24);
        const std::size_t count = 1 + rng.below(round % 10 == 0 ? 12 : 4); // gpu:10 comes before gpu:2
        const DeviceSet devices = test::equalDevices(count, static_cast<double>(rng.below(3)),
                                                     static_cast<double>(rng.below(3)), rng.below(2) == 0 ? 100.0 : 200.0);
        Simulator simulator(test::problemOf(graph, devices, SimModel::Reference));
        const OpPlacement placement = test::randomPlacement(rng, graph->opCount(), count);
        const Evaluation evaluation = simulator.evaluate(placement);
        const test::BruteForceResult expected = test::bruteForceReference(*graph, devices, placement);
        QCOMPARE(evaluation.stepTimeUs, expected.stepTimeUs);
        for (std::size_t i = 0; i < graph->opCount(); ++i)
            QCOMPARE(simulator.startsUs()[i], expected.startUs[i]);
        for (std::size_t d = 0; d < count; ++d)
            QCOMPARE(simulator.peakBytes()[d], expected.peakBytes[d]);
    }
}

/// Two empty transfers at 10: the bus of gpu:10 comes before that of gpu:2, so y is released before x.
void TestReference::simultaneousBusesGoByName() {
    Simulator simulator(test::problemOf(test::graph("a:10 -> x:5; b:10 -> y:5"), test::equalDevices(11, 0.0, 0.0),
                                        SimModel::Reference));
    simulator.evaluate(test::placementOf({2, 0, 10, 0})); // ops: a, x, b, y
    PW_NEAR(simulator.startsUs()[3], 10.0);
    PW_NEAR(simulator.startsUs()[1], 15.0);
}

void TestReference::bestOfAllPlacements() {
    Simulator simulator(test::problemOf(test::w3(), test::equalDevices(2), SimModel::Reference));
    double best = 1e300;
    double worst = 0.0;
    for (int code = 0; code < 64; ++code) {
        OpPlacement placement;
        for (int i = 0; i < 6; ++i)
            placement.emplace_back(static_cast<std::size_t>((code >> i) & 1));
        const double stepTimeUs = simulator.evaluate(placement).stepTimeUs;
        best = std::min(best, stepTimeUs);
        worst = std::max(worst, stepTimeUs);
    }
    PW_NEAR(best, 538.5);
    PW_NEAR(worst, 812.4);
}

/// The authors' test of identity makes a float 0.0 cost a gap; here the value counts (5.7).
void TestReference::costZeroByValue() {
    Simulator simulator(test::problemOf(test::graph("a:0.0"), test::equalDevices(1), SimModel::Reference));
    QCOMPARE(simulator.evaluate(test::placementOf({0})).stepTimeUs, 0.0);
}

/// u reads p:0 (760,000 bytes) and p:1 (7,600): only index 1 is a dependency. A control edge counts as index 0.
void TestReference::lastOutputIndexWins() {
    for (const bool control : {false, true}) {
        GraphBuilder builder("two outputs", "test");
        Op p;
        p.name = "p";
        p.costs = {{"", 10.0}};
        const OpId producer = builder.addOp(p);
        for (const std::int64_t bytes : {760000, 7600}) {
            Tensor tensor;
            tensor.bytes = bytes;
            builder.addOutput(producer, tensor);
        }
        p.name = "u";
        const OpId consumer = builder.addOp(p);
        builder.addInput(consumer, builder.output(producer, 0));
        builder.addInput(consumer, builder.output(producer, 1));
        if (control)
            builder.addControl(producer, consumer);
        Simulator simulator(test::problemOf(std::move(builder).build().value(), test::equalDevices(2), SimModel::Reference));
        simulator.evaluate(test::placementOf({0, 1}));
        PW_NEAR(simulator.startsUs()[1], control ? 110.0 : 11.0);
    }
}

void TestReference::capacitiesAndSharedAreIgnored() {
    std::vector<Device> devices(2);
    devices[0] = {"a", "gpu", "", 1, 1e6, 1e5, 5.7};
    devices[1] = {"b", "gpu", "", 0, 1e6, 1e5, 5.7};
    const std::vector<Link> links = {{DeviceId(0), DeviceId(1), 7600, 25, "x"}, {DeviceId(1), DeviceId(0), 7600, 25, "x"}};
    Simulator simulator(test::problemOf(test::w3(), DeviceSet::create("s", devices, links).value(), SimModel::Reference));
    const Evaluation evaluation = simulator.evaluate(test::placementOf({0, 0, 1, 1, 0, 0}));
    QVERIFY(evaluation.valid);
    PW_NEAR(evaluation.stepTimeUs, 602.1);
}

void TestReference::unequalDevicesAreAnError_data() {
    QTest::addColumn<int>("what");
    QTest::addColumn<QString>("named");
    QTest::newRow("launch") << 0 << "launch_us";
    QTest::newRow("kind") << 1 << "kind";
    QTest::newRow("flops") << 2 << "flops_per_us";
    QTest::newRow("link rate") << 3 << "bytes_per_us";
    QTest::newRow("latency") << 4 << "latency_us";
    QTest::newRow("link missing") << 5 << "missing";
}

void TestReference::unequalDevicesAreAnError() {
    QFETCH(int, what);
    QFETCH(QString, named);
    std::vector<Device> devices = {{"a", "gpu", "", 0, 1e6, 1e5, 5.7}, {"b", "gpu", "", 0, 1e6, 1e5, 5.7}};
    std::vector<Link> links = {{DeviceId(0), DeviceId(1), 7600, 25, ""}, {DeviceId(1), DeviceId(0), 7600, 25, ""}};
    switch (what) {
    case 0: devices[1].launchUs = 1.0; break;
    case 1: devices[1].kind = "cpu"; break;
    case 2: devices[1].flopsPerUs = 2e6; break;
    case 3: links[1].bytesPerUs = 1.0; break;
    case 4: links[1].latencyUs = 1.0; break;
    default: links.pop_back(); break;
    }
    const DeviceSet set = DeviceSet::create("set", devices, links).value();
    const GraphPtr graph = test::w1();
    const auto result = PlacementProblem::compile(graph, set, trivialGrouping(*graph), SimOptions{SimModel::Reference, 0.0});
    QVERIFY(!result);
    QVERIFY2(result.error().toString().find(named.toStdString()) != std::string::npos,
             result.error().toString().c_str());
    QVERIFY(PlacementProblem::compile(graph, set, trivialGrouping(*graph), SimOptions{}).has_value());
}

QTEST_APPLESS_MAIN(TestReference)
#include "tst_reference.moc"
