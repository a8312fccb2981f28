#include "core/devices/cost_model.h"
#include "core/devices/op_rules.h"
#include "core/graph/graph_builder.h"
#include "core/sim/simulator.h"
#include "tests/zoo/zoo_checks.h"

#include <QtTest>

#include <set>

using namespace pw;
using namespace pw::test;

namespace {

/// The same graph as a file would give it: without FLOPs and bytes moved.
GraphPtr withoutWork(const OpGraph& graph) {
    GraphBuilder builder(graph.name(), "test");
    for (Op op : graph.ops()) {
        op.flops = -1.0;
        op.bytesMoved = -1;
        builder.addOp(std::move(op));
    }
    std::vector<TensorId> tensors(graph.tensorCount());
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        for (const TensorId output : graph.outputs(OpId(i)))
            tensors[output.index()] = builder.addOutput(OpId(i), graph.tensor(output));
    }
    for (const Edge& edge : graph.edges()) {
        if (edge.kind == EdgeKind::Data)
            builder.addInput(edge.consumer, tensors[edge.tensor.index()], edge.slot);
    }
    auto built = std::move(builder).build();
    return built ? *built : nullptr;
}

bool isForwardProduct(const Op& op) {
    static const std::set<std::string> kTypes = {"Conv2D", "Conv1D", "DepthwiseConv2dNative", "MatMul", "BatchMatMul"};
    return op.phase == Phase::Forward && kTypes.count(op.type) > 0;
}

} // namespace

/// The zoo and the cost model know the same ops.
class TestZooCosts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyOpHasAFormula_data() {
        QTest::addColumn<QString>("spec");
        for (const zoo::WorkloadInfo& info : zoo::workloads()) {
            for (const char* level : {"L0", "L1", "L2"}) {
                for (const char* mode : {"training", "inference"}) {
                    const QString spec = QStringLiteral("zoo:%1?level=%2&mode=%3")
                                             .arg(QString::fromStdString(info.name), QString(level), QString(mode));
                    QTest::newRow(qPrintable(spec)) << spec;
                }
            }
        }
    }

    void everyOpHasAFormula() {
        QFETCH(QString, spec);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        std::set<std::string> unknown; // the zoo states the work itself, but a file of this graph would not
        for (const Op& op : graph->ops()) {
            if (devices::ruleFor(op.type).rule == devices::WorkRule::Unknown)
                unknown.insert(op.type);
        }
        QVERIFY2(unknown.empty(), unknown.empty() ? "" : unknown.begin()->c_str());
        for (const char* preset : {"2xP100", "4xP100", "8xP100"}) {
            const CostTable costs = computeCosts(*graph, *devicePreset(preset));
            for (std::size_t i = 0; i < graph->opCount(); ++i) {
                QVERIFY2(costs.source[i] != CostSource::Default, graph->op(OpId(i)).name.c_str());
                const double us = costs.at(OpId(i), DeviceId(0));
                QVERIFY2(std::isfinite(us) && us >= 0.0, graph->op(OpId(i)).name.c_str());
            }
        }
    }

    /// What the zoo says an op computes is what the cost model makes of its shapes.
    void productsHaveTheFlopsOfTheCostModel_data() {
        QTest::addColumn<QString>("spec");
        for (const char* spec : {"zoo:inception_v3?batch=2", "zoo:nasnet_a?batch=2", "zoo:resnet50?batch=2",
                                 "zoo:wavenet?samples=500", "zoo:wavenet?samples=500&level=L2", "zoo:rnnlm?steps=3",
                                 "zoo:gnmt?steps=3", "zoo:transformer_xl?batch=1"})
            QTest::newRow(spec) << spec;
    }

    void productsHaveTheFlopsOfTheCostModel() {
        QFETCH(QString, spec);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        const GraphPtr bare = withoutWork(*graph);
        QVERIFY(bare);
        QCOMPARE(bare->opCount(), graph->opCount());
        std::size_t compared = 0;
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            const Op& op = graph->op(OpId(i));
            if (!isForwardProduct(op))
                continue;
            const OpWork work = opWork(*bare, OpId(i));
            QVERIFY2(work.known, op.name.c_str());
            QVERIFY2(std::abs(work.flops - op.flops) <= 1e-9 * op.flops, op.name.c_str());
            ++compared;
        }
        QVERIFY(compared > 0);
    }

    /// One training step on one P100. The expectation is arithmetic, not a measurement: three times the forward pass at
    /// 5 TFLOP/s, chosen as what a P100 reaches; the band of a factor of three is ours.
    void stepTimesHaveTheRightMagnitude_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<double>("seconds");
        QTest::newRow("RNNLM-2") << "zoo:rnnlm" << 3 * 0.392 / 5;
        QTest::newRow("GNMT-2") << "zoo:gnmt" << 3 * 0.916 / 5;
        QTest::newRow("Inception-v3, batch 32") << "zoo:inception_v3?batch=32" << 3 * 0.366 / 5;
        QTest::newRow("Inception-v3, batch 64") << "zoo:inception_v3" << 3 * 0.731 / 5;
        QTest::newRow("WaveNet-2") << "zoo:wavenet" << 3 * 0.159 / 5; // thin channels: bandwidth counts
        QTest::newRow("WaveNet-4") << "zoo:wavenet?stacks=4" << 3 * 0.237 / 5;
        QTest::newRow("Transformer-XL-2") << "zoo:transformer_xl" << 3 * 1.11 / 5;
        QTest::newRow("AmoebaNet-D") << "zoo:amoebanet_d" << 3 * 2.0 * 10.0e-3 * 32 / 5;
        QTest::newRow("ResNet-50") << "zoo:resnet50" << 3 * 2.0 * 4.09e-3 * 32 / 5;
    }

    void stepTimesHaveTheRightMagnitude() {
        QFETCH(QString, spec);
        QFETCH(double, seconds);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        const auto problem = PlacementProblem::compile(graph, *devicePreset("2xP100"), GroupingOptions{}, SimOptions{});
        QVERIFY(problem);
        Simulator simulator(*problem);
        const Evaluation step = simulator.evaluate(OpPlacement(graph->opCount(), DeviceId(0)));
        const double simulated = step.stepTimeUs / 1e6;
        qInfo("%.3f s simulated, %.3f s expected, %s", simulated, seconds, step.valid ? "fits" : "does not fit");
        QVERIFY2(simulated > seconds / 3 && simulated < seconds * 3, qPrintable(QString::number(simulated)));
    }
};

QTEST_APPLESS_MAIN(TestZooCosts)
#include "tst_zoo_costs.moc"
