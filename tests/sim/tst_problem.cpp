#include "core/graph/graph_builder.h"
#include "tests/sim/sim_check.h"

#include <QtTest/QtTest>

using namespace pw;

class TestProblem : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void cycleIsNamed();
    void hugeSizesAreRefused();
    void optionsAreChecked();
    void groupingOfAnotherGraphIsRefused();
    void allowedKindsBindGroups();
    void groupSums();
    void hashSeesEverything();
    void lowerBoundsByHand();
};

void TestProblem::cycleIsNamed() {
    const GraphPtr graph = test::graph("start:1 -> a:1 -> b:1 -> c:1 -> a");
    const auto result = PlacementProblem::compile(graph, test::equalDevices(2), GroupingOptions{}, SimOptions{});
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Invalid);
    for (const char* name : {"a", "b", "c"})
        QVERIFY(result.error().message.find(name) != std::string::npos);
    QVERIFY(result.error().message.find("start") == std::string::npos);
}

void TestProblem::hugeSizesAreRefused() {
    GraphBuilder builder("huge", "test");
    for (int i = 0; i < 3; ++i) {
        Op op;
        op.paramBytes = std::numeric_limits<std::int64_t>::max();
        builder.addOp(op);
    }
    const auto result = PlacementProblem::compile(std::move(builder).build().value(), test::equalDevices(2), GroupingOptions{}, SimOptions{});
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::TooLarge);
}

void TestProblem::optionsAreChecked() {
    for (const double headroom : {-1.0, 100.0, std::numeric_limits<double>::quiet_NaN()})
        QVERIFY(!PlacementProblem::compile(test::w1(), test::equalDevices(2), GroupingOptions{}, SimOptions{SimModel::Links, headroom}));
    QCOMPARE(simModelFromName("reference"), std::optional(SimModel::Reference));
    QCOMPARE(simModelFromName("links"), std::optional(SimModel::Links));
    QVERIFY(!simModelFromName("pipelin"));
}

void TestProblem::groupingOfAnotherGraphIsRefused() {
    QVERIFY(!PlacementProblem::compile(test::w1(), test::equalDevices(2), trivialGrouping(*test::w2()), SimOptions{}));
    Grouping broken = trivialGrouping(*test::w1());
    broken.groupOf[2] = GroupId(17);
    QVERIFY(!PlacementProblem::compile(test::w1(), test::equalDevices(2), broken, SimOptions{}));
}

void TestProblem::allowedKindsBindGroups() {
    GraphBuilder builder("kinds", "test");
    Op op;
    op.name = "on cpu";
    op.costs = {{"", 1.0}};
    op.allowedKinds = {"cpu"};
    builder.addOp(op);
    op.name = "anywhere";
    op.allowedKinds.clear();
    builder.addOp(op);
    const std::vector<Device> devices = {{"gpu:0", "gpu", "", 0, 1e6, 1e5, 0}, {"cpu:0", "cpu", "", 0, 1e6, 1e5, 0}};
    const ProblemPtr problem = test::problemOf(std::move(builder).build().value(), DeviceSet::create("s", devices, {}).value(), SimModel::Links);
    QVERIFY(!problem->allowed(GroupId(0), DeviceId(0)));
    QVERIFY(problem->allowed(GroupId(0), DeviceId(1)));
    QVERIFY(problem->allowed(GroupId(1), DeviceId(0)));
    Simulator simulator(problem);
    QVERIFY(simulator.evaluate(test::placementOf({1, 0})).valid);
    QVERIFY(!simulator.evaluate(test::placementOf({0, 0})).valid);
    const Schedule schedule = simulator.schedule(test::placementOf({0, 0}));
    QCOMPARE(schedule.fault.kind, Fault::Kind::ForbiddenKind);
    QCOMPARE(schedule.fault.op, OpId(0));
    QCOMPARE(describeFault(*problem, schedule.fault), std::string("op \"on cpu\" may not run on gpu:0 (gpu)"));
    QCOMPARE(describeFault(*problem, Fault{}), std::string());
}

void TestProblem::groupSums() {
    const ProblemPtr problem = test::problemOf(test::w2(), test::equalDevices(2), SimModel::Links);
    QCOMPARE(problem->groupCostUs(GroupId(0), DeviceId(1)), 50.0);
    QCOMPARE(problem->groupOutputBytes(GroupId(0)), std::int64_t{228000});
}

void TestProblem::hashSeesEverything() {
    const auto hash = [](GraphPtr graph, std::size_t devices, SimOptions options) {
        const Grouping grouping = trivialGrouping(*graph);
        return PlacementProblem::compile(graph, test::equalDevices(devices), grouping, options).value()->hash();
    };
    const std::string base = hash(test::w1(), 2, {});
    QCOMPARE(hash(test::w1(), 2, {}), base);
    QVERIFY(hash(test::w2(), 2, {}) != base);
    QVERIFY(hash(test::w1(), 3, {}) != base);
    QVERIFY(hash(test::w1(), 2, {SimModel::Reference, 0.0}) != base);
    QVERIFY(hash(test::w1(), 2, {SimModel::Links, 5.0}) != base);
}

void TestProblem::lowerBoundsByHand() {
    // Costs 40 + 3 * 200 + 60 + 10, launch 5.7 each; chain of four ops.
    const LowerBounds links = lowerBounds(*test::problemOf(test::w3(), test::equalDevices(2), SimModel::Links));
    PW_NEAR(links.workUs, 744.2 / 2);
    PW_NEAR(links.criticalPathUs, 310 + 4 * 5.7);
    const LowerBounds reference = lowerBounds(*test::problemOf(test::w3(), test::equalDevices(2), SimModel::Reference));
    PW_NEAR(reference.workUs, 744.2 / 2);
    PW_NEAR(reference.criticalPathUs, 310 + 5.7);
}

QTEST_APPLESS_MAIN(TestProblem)
#include "tst_problem.moc"
