#include "core/devices/op_rules.h"
#include "core/place/expert_placer.h"
#include "tests/zoo/zoo_checks.h"

#include <QtTest>

#include <algorithm>
#include <map>
#include <set>

using namespace pw;
using namespace pw::test;

namespace {

std::size_t opCount(const QString& spec) {
    const GraphPtr graph = emitted(spec.toStdString());
    return graph ? graph->opCount() : 0;
}

/// The totals count multiply-adds of products.
double productFlops(const OpGraph& graph) {
    double flops = 0.0;
    for (const Op& op : graph.ops()) {
        if (op.phase == Phase::Forward && (op.type == "MatMul" || op.type == "BatchMatMul"))
            flops += op.flops;
    }
    return flops;
}

bool isUpdate(const Op& op) {
    return op.type.find("Apply") != std::string::npos || op.type == "ScatterSub";
}

/// The layer that a human expert puts the op with; -1 if it says nothing.
int expertLayer(const Op& op) {
    const std::string* layer = attribute(op, "expert_layer");
    return layer ? std::stoi(*layer) : -1;
}

/// True if an output of `from` goes into `to`.
bool feeds(const OpGraph& graph, const char* from, const char* to) {
    const auto consumer = graph.findOp(to);
    const auto producer = graph.findOp(from);
    if (!consumer || !producer)
        return false;
    const auto edges = graph.inEdges(*consumer);
    return std::any_of(edges.begin(), edges.end(), [&](const Edge& edge) { return edge.producer == *producer; });
}

} // namespace

class TestZooRecurrent : public QObject {
    Q_OBJECT

private Q_SLOTS:
    // Totals computed from the published architectures, and formulas where there are none.
    void totals_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<double>("parameters"); // millions
        QTest::addColumn<double>("forward");    // TFLOP of the products
        const auto row = [](const char* spec, double parameters, double forward) {
            QTest::newRow(spec) << QString(spec) << parameters << forward;
        };
        row("zoo:gnmt", 154.9, 0.916);
        row("zoo:gnmt?layers=4", 196.9, 1.346);
        row("zoo:gnmt?layers=8&level=L2", 280.8, 2.205);
        row("zoo:rnnlm", 108.1, 0.392);
        row("zoo:rnnlm?layers=4&dropout=1", 175.2, 0.693);
        row("zoo:rnnlm?layers=8", 309.5, 1.294);
        row("zoo:transformer_xl", 60.1, 1.11);
        row("zoo:transformer_xl?layers=4", 87.3, 1.68);
        row("zoo:transformer_xl?layers=8", 141.9, 2.81);
        const double h = 1024.0; // nmt: cells of encoder and decoder, attention, three tables of 32,000 rows
        const double cells = 7.0 * (8.0 * h * h + 4.0 * h) + 12.0 * h * h + 4.0 * h;
        const double attention = 2.0 * h * h + h * h + 3.0 * h * h + 2.0 * h + 1.0;
        const double nmt = cells + attention + 3.0 * 32000.0 * h;
        row("zoo:nmt?layers=4", nmt / 1e6, 2.0 * 128.0 * 40.0 * (68.0 * h * h + 6.0 * h * h + 32000.0 * h) / 1e12);
        const double p = 748.0; // enas: 26 squares of weights whatever the cell
        for (const char* spec : {"zoo:enas_ptb", "zoo:enas_ptb?cell=best", "zoo:enas_ptb?index=17&level=L2"})
            row(spec, (26.0 * p * p + 1e4 * p) / 1e6, 2.0 * 64.0 * 35.0 * (26.0 * p * p + 1e4 * p) / 1e12);
        const auto blocks = [](double rows, double steps) { // 12 blocks of width 768
            return 12.0 * (24.0 * rows * 768.0 * 768.0 + 4.0 * rows * steps * 768.0);
        };
        row("zoo:gpt2", 124.4, (blocks(8.0 * 1024, 1024) + 2.0 * 8 * 1024 * 768 * 50257.0) / 1e12);
        row("zoo:bert", 110.1, (blocks(32.0 * 128, 128) + 2.0 * 32 * 20 * 768 * (768 + 30522.0)) / 1e12);
        row("zoo:bert?head=classifier", 109.48, blocks(32.0 * 128, 128) / 1e12);
    }

    void totals() {
        QFETCH(QString, spec);
        QFETCH(double, parameters);
        QFETCH(double, forward);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        const double products = productFlops(*graph) / 1e12;
        qInfo("%zu ops, %.2f M parameters, %.4f TFLOP of products, %.4f in all", graph->opCount(), parametersM(*graph),
              products, phaseFlops(*graph, Phase::Forward) / 1e12);
        QVERIFY2(within(parametersM(*graph), parameters, 0.01), qPrintable(QString::number(parametersM(*graph))));
        QVERIFY2(within(products, forward, 0.01), qPrintable(QString::number(products)));
    }

    /// Nodes per cell and time step as a second difference over layers and steps: two more layers of NMT are four
    /// cells.
    void cellsHaveTheirOps_data() {
        QTest::addColumn<QString>("options");
        QTest::addColumn<int>("ops");
        const int table[3][4] = {{33, 35, 40, 42}, {68, 77, 89, 98}, {99, 111, 126, 138}};
        for (int level = 0; level < 3; ++level) {
            for (int kind = 0; kind < 4; ++kind) { // plain, residual, dropout, both
                const QString options =
                    QStringLiteral("level=L%1&residual=%2&dropout=%3").arg(level).arg(kind % 2).arg(kind / 2);
                QTest::newRow(qPrintable(options)) << options << table[level][kind];
            }
        }
    }

    void cellsHaveTheirOps() {
        QFETCH(QString, options);
        QFETCH(int, ops);
        const auto count = [&](int layers, int steps) {
            const QString spec = QStringLiteral("zoo:nmt?hidden=8&vocabulary=16&batch=2&layers=%1&steps=%2&%3");
            return static_cast<int>(opCount(spec.arg(layers).arg(steps).arg(options)));
        };
        QCOMPARE(count(6, 6) - count(6, 5) - count(4, 6) + count(4, 5), 4 * ops);
    }

    /// Sizes in thousands, at 40 and at 50 steps.
    void gnmtHasItsSize_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<double>("ops");
        const double table[3][6] = {{8.7, 14.7, 26.6, 10.9, 18.3, 33.2},
                                    {16.8, 29.5, 54.9, 21.0, 36.8, 68.5},
                                    {24.0, 42.1, 78.4, 30.0, 52.6, 97.9}};
        for (int level = 0; level < 3; ++level) {
            for (int i = 0; i < 6; ++i) {
                const QString spec = QStringLiteral("zoo:gnmt?level=L%1&layers=%2&steps=%3")
                                         .arg(level)
                                         .arg(2 << i % 3)
                                         .arg(40 + i / 3 * 10);
                QTest::newRow(qPrintable(spec)) << spec << table[level][i] * 1e3;
            }
        }
    }

    void gnmtHasItsSize() {
        QFETCH(QString, spec);
        QFETCH(double, ops);
        const auto count = static_cast<double>(opCount(spec));
        qInfo("%.0f ops, %.1f %% off", count, (count / ops - 1.0) * 100.0);
        QVERIFY(within(count, ops, 0.03));
    }

    void gnmt8HasMoreThanFiftyThousandOps() {
        const std::size_t count = opCount("zoo:gnmt?layers=8");
        QVERIFY2(count >= 50'000 && count <= 60'000, qPrintable(QString::number(count)));
    }

    /// HDP's published op counts grow by 4,639 per cell from 2 to 4 and from 4 to 8 layers: a graph of TensorFlow 1
    /// itself.
    void aCellIsAsLargeAsHdps() {
        const auto count = [](int layers) {
            return static_cast<double>(opCount(QStringLiteral("zoo:gnmt?level=L2&layers=%1").arg(layers)));
        };
        const double two = count(2);
        const double four = count(4);
        const double eight = count(8);
        qInfo("%.1f and %.1f ops per cell", (four - two) / 4.0, (eight - four) / 8.0);
        QVERIFY(within((four - two) / 4.0, 4639.0, 0.03));
        QVERIFY(within((eight - four) / 8.0, 4639.0, 0.03));
    }

    void enasStepHasItsForwardOps() {
        const auto count = [](int steps) {
            const GraphPtr graph = emitted("zoo:enas_ptb?cell=best&hidden=8&batch=2&steps=" + std::to_string(steps));
            return std::count_if(graph->ops().begin(), graph->ops().end(),
                                 [](const Op& op) { return op.phase == Phase::Forward; });
        };
        // twelve nodes of eight; node 0 masks and joins two inputs; the loose ends are added and scaled
        QCOMPARE(count(6) - count(5), std::ptrdiff_t{12 * 8 + 2 + 2});
        const GraphPtr best = emitted("zoo:enas_ptb?cell=best&hidden=8&batch=2&steps=2");
        QCOMPARE(best->inEdges(*best->findOp("cell/t000/AddN")).size(), std::size_t{6}); // nodes 3, 4, 7, 9, 10, 11
        QVERIFY(feeds(*best, "cell/t001/node_08/Add", "cell/t001/node_11/dropout/Mul") ||
                feeds(*best, "cell/t001/node_08/Add", "cell/t001/node_11/Mul"));
        QVERIFY(best->findOp("cell/t001/node_08/Relu"));
        QVERIFY(best->findOp("cell/t001/node_07/Tanh"));
    }

    void laws_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<int>("layers");
        const auto row = [](const char* spec, int layers) { QTest::newRow(spec) << QString(spec) << layers; };
        row("zoo:gnmt?steps=5&level=L0", 2);
        row("zoo:gnmt?steps=5&layers=4&level=L1&dropout=1", 4);
        row("zoo:gnmt?steps=4&layers=3&level=L2&colocate_gradients=1", 3);
        row("zoo:gnmt?steps=1&optimizer=adam", 2);
        row("zoo:gnmt?steps=2&optimizer=momentum", 2);
        row("zoo:gnmt?steps=2&optimizer=rmsprop", 2);
        row("zoo:gnmt?steps=4&mode=inference", 2);
        row("zoo:nmt?steps=5&layers=4&level=L0", 4);
        row("zoo:nmt?steps=5&level=L2&residual=1&dropout=1", 2);
        row("zoo:nmt?steps=5&attention=luong&level=L1", 2);
        row("zoo:nmt?steps=4&attention=luong&mode=inference", 2);
        row("zoo:nmt_family?index=3", 2);
        row("zoo:nmt_family?index=31&level=L2", 2);
        row("zoo:rnnlm?layers=3&steps=4", 3);
        row("zoo:transformer_xl", 2);
        row("zoo:transformer_xl?layers=3&level=L1", 3);
        row("zoo:transformer_xl?level=L2&memory=0&dropout=0", 2);
        row("zoo:transformer_xl?width=410&heads=10&head_width=41&inner=2100&steps=150&memory=150&batch=60", 2);
        row("zoo:transformer_xl?mode=inference", 2);
        row("zoo:gpt2", 12);
        row("zoo:gpt2?level=L2&layers=2&dropout=1&steps=64&colocate_gradients=1", 2);
        row("zoo:gpt2?mode=inference", 12);
        row("zoo:bert", 12);
        row("zoo:bert?head=classifier&level=L1&layers=3", 3);
        row("zoo:bert?level=L2&layers=2&optimizer=sgd", 2);
        row("zoo:bert?mode=inference&level=L2", 12);
        row("zoo:enas_ptb?steps=5", 12);
        row("zoo:enas_ptb?steps=5&cell=best&level=L2", 12);
        row("zoo:enas_ptb?steps=5&index=9&level=L1&dropout=0", 12);
        row("zoo:enas_ptb?steps=5&index=9&mode=inference", 12);
    }

    void laws() {
        QFETCH(QString, spec);
        QFETCH(int, layers);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        QVERIFY(!graph->isCyclic());
        QCOMPARE(componentCount(*graph), std::size_t{1});
        QVERIFY(graph->warnings().empty()); // no duplicate names
        const bool training = !spec.contains("inference");
        std::map<std::string, int> updates;
        std::size_t variables = 0;
        std::set<int> seenLayers;
        std::size_t untagged = 0;
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            const Op& op = graph->op(OpId(i));
            QVERIFY2(op.flops >= 0.0 && op.bytesMoved >= 0, op.name.c_str());
            QVERIFY2(devices::ruleFor(op.type).rule != devices::WorkRule::Unknown, op.type.c_str());
            QCOMPARE(op.paramBytes > 0, op.type == "Variable");
            variables += op.type == "Variable" ? 1 : 0;
            if (isUpdate(op)) {
                const Op& variable = graph->op(graph->inEdges(OpId(i))[0].producer);
                QCOMPARE(variable.type, std::string("Variable"));
                QCOMPARE(op.colocation, variable.name); // an update runs where its variable lives
                ++updates[variable.name];
            }
            for (const TensorId tensor : graph->outputs(OpId(i)))
                QVERIFY(graph->tensor(tensor).shapeKnown && !graph->tensor(tensor).dtype.empty());
            const int layer = expertLayer(op);
            untagged += layer < 0 ? 1 : 0;
            if (layer >= 0)
                seenLayers.insert(layer);
        }
        QCOMPARE(updates.size(), training ? variables : std::size_t{0});
        for (const auto& [name, count] : updates)
            QVERIFY2(count == 1, name.c_str());
        QCOMPARE(static_cast<int>(seenLayers.size()), layers);
        QCOMPARE(*seenLayers.rbegin(), layers - 1);
        QVERIFY2(untagged <= 6,
                 qPrintable(QString::number(untagged))); // clipping by the global norm, the first gradient
        if (training) {
            const double ratio = phaseFlops(*graph, Phase::Backward) / phaseFlops(*graph, Phase::Forward);
            QVERIFY2(ratio > 1.8 && ratio < 2.1, qPrintable(QString::number(ratio)));
        }
    }

    /// Gradients have the shape of what they are gradients of: each update reads one as large as its variable, sums of
    /// gradients and gradients of functions have one shape throughout.
    void gradientsHaveTheShapeOfTheirVariables_data() {
        QTest::addColumn<QString>("spec");
        for (const char* spec :
             {"zoo:gnmt?steps=3&level=L0", "zoo:gnmt?steps=3&level=L1", "zoo:nmt?steps=3&attention=luong&level=L2",
              "zoo:transformer_xl?level=L0", "zoo:transformer_xl?level=L2", "zoo:gpt2?level=L1&layers=1",
              "zoo:bert?level=L0&layers=1", "zoo:bert?level=L1&layers=1", "zoo:enas_ptb?steps=3"})
            QTest::newRow(spec) << QString(spec);
    }

    void gradientsHaveTheShapeOfTheirVariables() {
        QFETCH(QString, spec);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        std::size_t updates = 0;
        std::size_t sums = 0;
        const std::set<std::string> uniform = {"AddN", "TanhGrad", "SigmoidGrad", "ReluGrad", "GeluGrad", "RsqrtGrad"};
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            const Op& op = graph->op(OpId(i));
            const bool isApply = op.type.rfind("Apply", 0) == 0;
            if (!isApply && uniform.count(op.type) == 0)
                continue;
            (isApply ? updates : sums) += 1;
            const auto edges = graph->inEdges(OpId(i));
            for (const Edge& edge : edges)
                QVERIFY2(graph->tensor(edge.tensor).dims == graph->tensor(edges[0].tensor).dims, op.name.c_str());
            if (!isApply)
                QVERIFY2(graph->tensor(edges[0].tensor).dims == graph->tensor(graph->outputs(OpId(i))[0]).dims,
                         op.name.c_str());
        }
        QVERIFY(updates > 10 && sums > 10);
    }

    void scopesShowLayerAndStep() {
        const GraphPtr graph = emitted("zoo:gnmt?layers=4&steps=13");
        for (const char* name :
             {"encoder/layer_0/fw/t012/MatMul", "encoder/layer_0/bw/t000/Tanh", "encoder/layer_3/t012/MatMul",
              "encoder/layer_3/kernel", "decoder/layer_2/t005/BiasAdd", "decoder/attention/t007/Softmax",
              "gradients/encoder/layer_3/t012/MatMul", "train/encoder/layer_3/kernel/ApplyGradientDescent",
              "train/embeddings/encoder/weights/ScatterSub", "decoder/output_projection/t012/MatMul"})
            QVERIFY2(graph->findOp(name), name);
    }

    void expertsFollowTheLayers() {
        const GraphPtr graph = emitted("zoo:gnmt?layers=4&steps=5");
        const auto layer = [&](const char* name) { return expertLayer(graph->op(*graph->findOp(name))); };
        QCOMPARE(layer("encoder/layer_0/bw/t003/MatMul"), 0);
        QCOMPARE(layer("encoder/layer_2/t003/MatMul"), 2);
        QCOMPARE(layer("gradients/encoder/layer_2/t003/MatMul"), 2);
        QCOMPARE(layer("train/encoder/layer_2/kernel/ApplyGradientDescent"), 2);
        QCOMPARE(layer("decoder/layer_1/t003/MatMul"), 1);
        QCOMPARE(layer("embeddings/decoder/t003/GatherV2"), 0);
        QCOMPARE(layer("decoder/attention/t003/Softmax"), 3);
        QCOMPARE(layer("decoder/output_projection/t003/MatMul"), 3);
        QCOMPARE(layer("train/decoder/output_projection/kernel/ApplyGradientDescent"), 3);
    }

    /// GNMT's layers can run side by side; with the attention on top, NMT's cannot.
    void attentionSitsWhereThePaperPutsIt() {
        const GraphPtr gnmt = emitted("zoo:gnmt?layers=4&steps=6&level=L0");
        QVERIFY(feeds(*gnmt, "decoder/layer_0/t003/Mul_2", "decoder/attention/t003/MatMul"));
        QVERIFY(feeds(*gnmt, "decoder/attention/t003/Squeeze", "decoder/layer_1/t003/ConcatV2"));
        QVERIFY(feeds(*gnmt, "decoder/attention/t003/Squeeze", "decoder/layer_3/t003/ConcatV2"));
        QVERIFY(feeds(*gnmt, "decoder/attention/t003/Squeeze", "decoder/layer_0/t004/ConcatV2"));
        QVERIFY(!feeds(*gnmt, "decoder/layer_3/t003/Mul_2", "decoder/layer_0/t004/ConcatV2"));
        const GraphPtr nmt = emitted("zoo:nmt?layers=4&steps=6&level=L0");
        QVERIFY(feeds(*nmt, "decoder/layer_3/t003/Mul_2", "decoder/attention/t003/MatMul"));
        QVERIFY(feeds(*nmt, "decoder/attention/t003/Squeeze", "decoder/attention_layer/t003/ConcatV2"));
        QVERIFY(feeds(*nmt, "decoder/attention_layer/t003/MatMul", "decoder/layer_0/t004/ConcatV2"));
        QVERIFY(feeds(*nmt, "encoder/bw/layer_0/t003/Mul_2", "encoder/bw/layer_0/t002/ConcatV2"));
    }

    void emissionIsDeterministic() {
        for (const char* spec : {"zoo:gnmt?steps=7", "zoo:nmt?steps=7", "zoo:transformer_xl", "zoo:bert", "zoo:gpt2",
                                 "zoo:enas_ptb?seed=5", "zoo:nmt_family?index=4"})
            QCOMPARE(emitted(spec)->hash(), emitted(spec)->hash());
        QVERIFY(emitted("zoo:enas_ptb?seed=3")->hash() != emitted("zoo:enas_ptb?seed=4")->hash());
        QCOMPARE(emitted("zoo:enas_ptb?cell=best&seed=3")->hash(), emitted("zoo:enas_ptb?cell=best&index=4")->hash());
    }

    void familiesHaveThirtyTwoGraphs() {
        for (const char* family : {"enas_ptb", "nmt_family"}) {
            std::set<std::string> hashes;
            for (int index = 0; index < 32; ++index)
                hashes.insert(emitted("zoo:" + std::string(family) + "?index=" + std::to_string(index))->hash());
            QCOMPARE(hashes.size(), std::size_t{32});
        }
    }

    /// What a person does with a workload on as many P100 as its layers fits into their 16 GB.
    void expertPlacementsFit_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("devices");
        const auto row = [](const char* spec, const char* devices) {
            QTest::newRow(spec) << QString(spec) << QString(devices);
        };
        row("zoo:rnnlm?level=L0", "2xP100");
        row("zoo:rnnlm?layers=8&level=L0", "8xP100");
        row("zoo:gnmt?level=L0", "2xP100");
        row("zoo:gnmt?layers=4&level=L0", "4xP100");
        row("zoo:gnmt?layers=8&level=L0", "8xP100");
        row("zoo:nmt?layers=4&level=L0", "4xP100");
        row("zoo:transformer_xl", "2xP100");
        row("zoo:transformer_xl?layers=8", "8xP100");
        row("zoo:gpt2", "2xP100");
        row("zoo:bert", "2xP100");
        row("zoo:enas_ptb?cell=best", "2xP100");
    }

    void expertPlacementsFit() {
        QFETCH(QString, spec);
        QFETCH(QString, devices);
        const auto problem = PlacementProblem::compile(
            emitted(spec.toStdString()), *devicePreset(devices.toStdString()), GroupingOptions{}, SimOptions{});
        QVERIFY(problem);
        JobContext context;
        const auto placed = ExpertPlacer().place(*problem, {}, context, {});
        QVERIFY(placed);
        QVERIFY(placed->evaluation.valid);
        const std::set<DeviceId> used(placed->groups.begin(), placed->groups.end());
        QCOMPARE(used.size(), (*problem)->deviceCount());
    }

    void badOptionsAreExplained_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("part");
        QTest::newRow("one layer") << "zoo:gnmt?layers=1"
                                   << "layers=1";
        QTest::newRow("odd layers") << "zoo:nmt?layers=3"
                                    << "layers=3";
        QTest::newRow("attention") << "zoo:nmt?attention=self"
                                   << "attention=self: must be one of bahdanau, luong";
        QTest::newRow("too many cell steps") << "zoo:gnmt?layers=64&steps=1000"
                                             << "129,000 cell steps";
        QTest::newRow("index") << "zoo:enas_ptb?index=32"
                               << "index=32: must be a whole number from 0 to 31";
        QTest::newRow("family index") << "zoo:nmt_family?index=-1"
                                      << "index=-1";
        QTest::newRow("family has no steps") << "zoo:nmt_family?steps=4"
                                             << "no option \"steps\"";
        QTest::newRow("cell") << "zoo:enas_ptb?cell=worst"
                              << "cell=worst";
        QTest::newRow("heads") << "zoo:gpt2?heads=5"
                               << "heads=5: must divide width=768";
        QTest::newRow("positions") << "zoo:gpt2?steps=1025"
                                   << "1,024";
        QTest::newRow("predictions") << "zoo:bert?steps=16"
                                     << "predictions=20: must be at most steps=16";
        QTest::newRow("head") << "zoo:bert?head=none"
                              << "head=none: must be one of pretraining, classifier";
        QTest::newRow("optimizer") << "zoo:transformer_xl?optimizer=lamb"
                                   << "optimizer=lamb";
        QTest::newRow("level") << "zoo:gnmt?level=3"
                               << "level=3";
        QTest::newRow("memory") << "zoo:transformer_xl?memory=-1"
                                << "memory=-1";
    }

    void badOptionsAreExplained() {
        QFETCH(QString, spec);
        QFETCH(QString, part);
        const auto graph = zoo::makeFromSpec(spec.toStdString());
        QVERIFY(!graph);
        QVERIFY2(graph.error().message.find(part.toStdString()) != std::string::npos, graph.error().message.c_str());
    }
};

QTEST_APPLESS_MAIN(TestZooRecurrent)
#include "tst_zoo_recurrent.moc"
