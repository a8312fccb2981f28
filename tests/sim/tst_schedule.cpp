#include "tests/sim/sim_check.h"

#include <QtTest/QtTest>

using namespace pw;

namespace {

std::string pathText(const OpGraph& graph, const Schedule& schedule) {
    std::string text;
    for (const PathStep& step : schedule.criticalPath) {
        text += text.empty() ? "" : " ";
        text += step.op.isValid() ? graph.op(step.op).name : ">" + graph.op(schedule.transfers[step.transfer].producer).name;
    }
    return text;
}

} // namespace

class TestSchedule : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void criticalPathOverABusyDevice();
    void criticalPathOverATransfer();
    void criticalPathOverABusyLink();
    void equalsTheEvaluation_data();
    void equalsTheEvaluation();
    void transfersOfW1();
};

void TestSchedule::criticalPathOverABusyDevice() {
    // c is ready at 10 but b has the device until 40.
    const GraphPtr graph = test::graph("a:10 -> b:30; a -> c:5");
    const Schedule schedule =
        Simulator(test::problemOf(graph, test::equalDevices(1, 0.0), SimModel::Links)).schedule(test::allOn(0, 3));
    QCOMPARE(pathText(*graph, schedule), std::string("a b c"));
    PW_NEAR(schedule.readyUs[2], 10.0);
    PW_NEAR(schedule.startUs[2], 40.0);
    PW_NEAR(schedule.busyUs[0], 45.0);
}

void TestSchedule::criticalPathOverATransfer() {
    const GraphPtr graph = test::graph("a:10*76000 -> b:30; a -> c:5");
    const Schedule schedule =
        Simulator(test::problemOf(graph, test::equalDevices(2, 0.0), SimModel::Links)).schedule(test::placementOf({0, 1, 0}));
    QCOMPARE(pathText(*graph, schedule), std::string("a >a b"));
    PW_NEAR(schedule.criticalPath[1].startUs, 10.0);
    PW_NEAR(schedule.criticalPath[1].endUs, 45.0); // latency 25 and 10 for the bytes
    PW_NEAR(schedule.stepTimeUs, 75.0);
}

void TestSchedule::criticalPathOverABusyLink() {
    // b ends at 15, while a's output has the link from 10 to 20.
    const GraphPtr graph = test::graph("a:10*76000 -> x:1; b:5*7600 -> y:100");
    const Schedule schedule = Simulator(test::problemOf(graph, test::equalDevices(3, 0.0), SimModel::Links))
                                  .schedule(test::placementOf({0, 1, 0, 1})); // ops: a, x, b, y
    QCOMPARE(pathText(*graph, schedule), std::string("a >a >b y"));
    PW_NEAR(schedule.criticalPath[1].endUs, 20.0); // it held the link until then
    PW_NEAR(schedule.criticalPath[2].startUs, 20.0);
    PW_NEAR(schedule.criticalPath[2].endUs, 46.0);
    PW_NEAR(schedule.transfers[1].readyUs, 15.0);
}

void TestSchedule::equalsTheEvaluation_data() {
    QTest::addColumn<bool>("reference");
    QTest::newRow("links") << false;
    QTest::newRow("reference") << true;
}

/// Laws that hold for every schedule, on random graphs.
void TestSchedule::equalsTheEvaluation() {
    QFETCH(bool, reference);
    Rng rng(11);
    for (int round = 0; round < 600; ++round) {
        const GraphPtr graph = test::randomGraph(rng, 20);
        const DeviceSet devices = reference ? test::equalDevices(1 + rng.below(4), 1.0, 5.0, 100.0)
                                            : test::randomDevices(rng, 4, round % 2 == 0, true);
        const ProblemPtr problem = test::problemOf(graph, devices, reference ? SimModel::Reference : SimModel::Links);
        Simulator simulator(problem);
        const OpPlacement placement = test::randomPlacement(rng, graph->opCount(), devices.count());
        const Schedule schedule = simulator.schedule(placement);
        const Evaluation evaluation = simulator.evaluate(placement);
        QCOMPARE(schedule.stepTimeUs, evaluation.stepTimeUs);
        QCOMPARE(schedule.valid, evaluation.valid);
        if (evaluation.valid)
            QVERIFY(evaluation.stepTimeUs >= lowerBounds(*problem).best() * (1 - 1e-12));
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            QCOMPARE(schedule.startUs[i], simulator.startsUs()[i]);
            QVERIFY(schedule.readyUs[i] <= schedule.startUs[i] && schedule.startUs[i] <= schedule.endUs[i]);
        }
        for (std::size_t d = 0; d < devices.count(); ++d) {
            QCOMPARE(schedule.peakBytes[d], simulator.peakBytes()[d]);
            std::int64_t live = 0;
            for (const LiveBuffer& buffer : liveBuffers(*problem, schedule, DeviceId(d), schedule.peakAtUs[d]))
                live += buffer.bytes;
            QCOMPARE(live, schedule.peakBytes[d]);
            for (std::size_t k = 1; k < schedule.memory[d].size(); ++k)
                QVERIFY(schedule.memory[d][k - 1].atUs <= schedule.memory[d][k].atUs && schedule.memory[d][k].bytes >= 0);
        }
        for (std::size_t k = 1; k < schedule.transfers.size(); ++k)
            QVERIFY(schedule.transfers[k - 1].startUs <= schedule.transfers[k].startUs);
        const auto& path = schedule.criticalPath;
        QCOMPARE(path.front().startUs, 0.0);
        PW_NEAR(path.back().endUs, *std::max_element(schedule.endUs.begin(), schedule.endUs.end()));
        const double gapUs = reference ? 5.0 + 1e-9 : 1e-9; // after a transfer or an op the reference model has gaps
        for (std::size_t k = 1; k < path.size(); ++k) {
            QVERIFY(path[k].startUs >= path[k - 1].endUs - 1e-9);
            QVERIFY(path[k].startUs <= path[k - 1].endUs + gapUs);
        }
    }
}

void TestSchedule::transfersOfW1() {
    const Schedule schedule = Simulator(test::problemOf(test::w1(), test::equalDevices(3), SimModel::Links))
                                  .schedule(test::placementOf({0, 1, 2, 1, 0, 0}));
    QCOMPARE(schedule.transfers.size(), std::size_t{5}); // a to 1 and 2; b, c, d to 0
    QCOMPARE(schedule.transferBytes, std::int64_t{2 * 760000 + 76000 + 152000 + 7600});
    PW_NEAR(schedule.transfers[0].startUs, 105.7);
    PW_NEAR(schedule.transfers[0].endUs, 205.7);
    PW_NEAR(schedule.transfers[0].arriveUs, 230.7);
}

QTEST_APPLESS_MAIN(TestSchedule)
#include "tst_schedule.moc"
