#include "core/place/expert_placer.h"
#include "tests/zoo/zoo_checks.h"

#include <QtTest>

#include <limits>
#include <map>
#include <set>

using namespace pw;
using namespace pw::test;

namespace {

using Dims = std::vector<std::int64_t>;

bool endsWith(const std::string& text, const std::string& ending) {
    return text.size() >= ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

/// Moving averages are variables that no optimiser changes.
bool isTrainable(const Op& op) {
    return op.type == "Variable" && op.name.find("/moving_") == std::string::npos;
}

bool isProduct(const Op& op) {
    return op.type == "Conv2D" || op.type == "Conv1D" || op.type == "DepthwiseConv2dNative" || op.type == "MatMul";
}

struct Totals {
    double parametersM = 0.0; ///< trainable ones
    double products = 0.0;    ///< FLOPs of the forward pass
    double forward = 0.0;
    double backward = 0.0;
    std::size_t forwardOps = 0; ///< without variables and the losses of weights
    std::size_t convolutions = 0;
};

Totals totalsOf(const OpGraph& graph, bool withBiases = true) {
    Totals totals;
    for (const Op& op : graph.ops()) {
        if (isTrainable(op) && (withBiases || !endsWith(op.name, "_bias")))
            totals.parametersM += static_cast<double>(op.paramBytes) / 4e6;
        totals.backward += op.phase == Phase::Backward ? op.flops : 0.0;
        if (op.phase != Phase::Forward)
            continue;
        totals.forward += op.flops;
        totals.products += isProduct(op) ? op.flops : 0.0;
        totals.convolutions += op.type == "Conv2D" ? 1 : 0;
        totals.forwardOps += op.type != "Variable" && op.type != "L2Loss" ? 1 : 0;
    }
    return totals;
}

/// Gradients have the shape of what they are gradients of, where one op shows both.
bool gradientsFit(const OpGraph& graph, OpId id) {
    static const std::set<std::string> kUniform = {"AddN", "TanhGrad", "SigmoidGrad", "ReluGrad"};
    const std::string& type = graph.op(id).type;
    const auto edges = graph.inEdges(id);
    const auto dimsOf = [&](std::size_t input) { return graph.tensor(edges[input].tensor).dims; };
    const bool isUpdate = type.rfind("Apply", 0) == 0;
    if (isUpdate || kUniform.count(type) > 0) {
        for (std::size_t i = 1; i < edges.size(); ++i) {
            if (dimsOf(i) != dimsOf(0))
                return false;
        }
        return isUpdate || graph.tensor(graph.outputs(id)[0]).dims == dimsOf(0);
    }
    if (type == "MaxPoolGrad" || type == "FusedBatchNormGrad") // x is the first or the second input
        return graph.tensor(graph.outputs(id)[0]).dims == dimsOf(type == "MaxPoolGrad" ? 0 : 1);
    return true;
}

} // namespace

class TestZooImage : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void totals_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<double>("parameters"); // millions
        QTest::addColumn<double>("macs");       // billions per image
        const auto row = [](const char* spec, double parameters, double macs) {
            QTest::newRow(spec) << QString(spec) << parameters << macs;
        };
        row("zoo:amoebanet_d?batch=1&mode=inference", 81.51, 0.0);
        row("zoo:amoebanet_d?batch=1&width=256&mode=inference", 122.5, 15.2);
        row("zoo:amoebanet_d?batch=1&width=256&image=299&form=tf&mode=inference", 121.9, 27.0);
        row("zoo:nasnet_a?batch=1&mode=inference", 88.76, 23.78);
        row("zoo:nasnet_a?config=mobile&batch=1&mode=inference", 5.29, 0.564);
        row("zoo:nasnet_a?config=cifar&batch=1&mode=inference", 3.35, 0.544);
        row("zoo:inception_v3?batch=1&mode=inference", 23.82, 5.713);
        row("zoo:inception_v3?batch=1", 23.82 + 3.33, 0.0);
        row("zoo:resnet50?batch=1&mode=inference", 25.56, 4.09);
    }

    void totals() {
        QFETCH(QString, spec);
        QFETCH(double, parameters);
        QFETCH(double, macs);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        const Totals totals = totalsOf(*graph);
        const double macsG = totals.products / 2e9;
        qInfo("%zu ops, %zu forward, %zu convolutions, %.3f M parameters, %.4f GMAC", graph->opCount(),
              totals.forwardOps, totals.convolutions, totals.parametersM, macsG);
        if (parameters > 0.0)
            QVERIFY2(within(totals.parametersM, parameters, 0.01), qPrintable(QString::number(totals.parametersM)));
        if (macs > 0.0)
            QVERIFY2(within(macsG, macs, 0.01), qPrintable(QString::number(macsG)));
    }

    /// AmoebaNet-D has four factorised reductions: two convolutions each, one in the expected count.
    void amoebanetHasItsConvolutions() {
        const Totals totals = totalsOf(*emitted("zoo:amoebanet_d?batch=1&mode=inference"));
        QCOMPARE(totals.convolutions, std::size_t{275 + 4});
        QVERIFY2(within(static_cast<double>(totals.forwardOps), 1040.0, 0.04),
                 qPrintable(QString::number(totals.forwardOps)));
        const GraphPtr graph = emitted("zoo:amoebanet_d");
        qInfo("%zu ops with backward pass and optimiser", graph->opCount());
    }

    void wavenetHasItsTotals_data() {
        QTest::addColumn<int>("stacks");
        QTest::addColumn<double>("parameters"); // millions, without biases
        QTest::addColumn<double>("tflop");
        QTest::addColumn<int>("receptiveField");
        QTest::newRow("2 stacks") << 2 << 0.80 << 0.159 << 1024;
        QTest::newRow("4 stacks") << 4 << 1.18 << 0.237 << 2046;
    }

    void wavenetHasItsTotals() {
        QFETCH(int, stacks);
        QFETCH(double, parameters);
        QFETCH(double, tflop);
        QFETCH(int, receptiveField);
        const GraphPtr graph = emitted("zoo:wavenet?stacks=" + std::to_string(stacks));
        const Totals totals = totalsOf(*graph, false);
        qInfo("%zu ops, %zu forward, %.4f M parameters without biases, %.4f TFLOP of products, %.4f forward",
              graph->opCount(), totals.forwardOps, totals.parametersM, totals.products / 1e12, totals.forward / 1e12);
        QVERIFY2(within(totals.parametersM, parameters, 0.01), qPrintable(QString::number(totals.parametersM)));
        QVERIFY2(within(totals.products / 1e12, tflop, 0.01), qPrintable(QString::number(totals.products / 1e12)));
        // Every predicted sample sees a whole receptive field: that much more is read than predicted.
        const Dims audio = graph->tensor(graph->outputs(*graph->findOp("wavenet/audio"))[0]).dims;
        QCOMPARE(audio, (Dims{1, 100'000 + receptiveField - 1}));
    }

    void laws_data() {
        QTest::addColumn<QString>("spec");
        for (const char* workload :
             {"amoebanet_d?batch=2", "amoebanet_d?batch=2&aux=1&drop_path=1&form=tf&cells=6&width=64&image=128",
              "nasnet_a?batch=2", "nasnet_a?batch=2&config=mobile&drop_path=1", "nasnet_a?batch=2&config=cifar",
              "resnet50?batch=2", "resnet50?batch=2&variant=v1", "inception_v3?batch=2", "inception_v3?batch=2&aux=0",
              "wavenet?samples=2000", "wavenet?stacks=4&samples=2000&batch=2", "enas_cifar10?batch=8",
              "enas_cifar10?index=31", "enas_cifar10?cell=best&layers=15&filters=36&batch=144",
              "amoebanet_d?cells=3&width=16&image=32&batch=1&aux=1&form=tf", "resnet50?image=32&classes=2&batch=1",
              "enas_cifar10?layers=3&filters=2&batch=1", "enas_cifar10?space=macro&layers=3&filters=2&batch=1",
              "enas_cifar10?space=macro", "enas_cifar10?space=macro&layers=24&filters=96&batch=100&index=5"}) {
            for (const char* level : {"L0", "L1", "L2"}) {
                for (const char* mode : {"training", "inference"}) {
                    const QString spec = QStringLiteral("zoo:%1&level=%2&mode=%3").arg(workload, level, mode);
                    QTest::newRow(qPrintable(spec)) << spec;
                }
            }
        }
    }

    void laws() {
        QFETCH(QString, spec);
        const GraphPtr graph = emitted(spec.toStdString());
        QVERIFY(graph);
        QVERIFY(!graph->isCyclic());
        QCOMPARE(componentCount(*graph), std::size_t{1});
        QVERIFY(graph->warnings().empty());
        std::map<std::string, int> updates;
        std::size_t variables = 0;
        for (std::size_t i = 0; i < graph->opCount(); ++i) {
            const Op& op = graph->op(OpId(i));
            QVERIFY2(op.flops >= 0.0 && op.bytesMoved >= 0, op.name.c_str());
            QVERIFY2(attribute(op, "expert_layer") || attribute(op, "expert_branch"), op.name.c_str());
            QVERIFY2(gradientsFit(*graph, OpId(i)), op.name.c_str());
            variables += isTrainable(op) ? 1 : 0;
            if (op.type.rfind("Apply", 0) != 0)
                continue;
            const Op& variable = graph->op(graph->inEdges(OpId(i))[0].producer);
            QVERIFY2(isTrainable(variable), op.name.c_str());
            QCOMPARE(op.colocation, variable.name);
            ++updates[variable.name];
        }
        const bool training = spec.contains("=training");
        QCOMPARE(updates.size(), training ? variables : std::size_t{0});
        for (const auto& [name, count] : updates)
            QVERIFY2(count == 1, name.c_str());
        const Totals totals = totalsOf(*graph);
        const bool isTiny = spec.contains("filters=2") || spec.contains("image=32"); // where products hardly count
        if (training && !isTiny)
            QVERIFY2(totals.backward > 1.8 * totals.forward && totals.backward < 2.1 * totals.forward,
                     qPrintable(QString::number(totals.backward / totals.forward)));
        if (!training)
            QCOMPARE(totals.backward, 0.0);
    }

    void levelsAddPlumbingAlone() {
        for (const char* workload : {"amoebanet_d?batch=1", "nasnet_a?config=mobile&batch=1", "resnet50?batch=1",
                                     "wavenet?samples=1000", "enas_cifar10?batch=1", "inception_v3?batch=1"}) {
            const std::string spec = std::string("zoo:") + workload + "&level=L";
            const Totals compact = totalsOf(*emitted(spec + "0"));
            const Totals full = totalsOf(*emitted(spec + "2"));
            QVERIFY(within(full.products, compact.products, 0.002)); // dilated convolutions are padded at L2
            QCOMPARE(full.parametersM, compact.parametersM);
            const std::size_t sizes[] = {emitted(spec + "0")->opCount(), emitted(spec + "1")->opCount(),
                                         emitted(spec + "2")->opCount()};
            qInfo("%s: %zu, %zu, %zu ops", workload, sizes[0], sizes[1], sizes[2]);
            QVERIFY(sizes[0] <= sizes[1] && sizes[1] < sizes[2]);
        }
    }

    void opsBearTheNamesOfTensorFlow_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("name");
        const auto row = [](const char* spec, const char* name) {
            QTest::newRow(name) << QString(spec) << QString(name);
        };
        row("zoo:nasnet_a?batch=1", "conv0/weights");
        row("zoo:nasnet_a?batch=1", "cell_stem_1/comb_iter_0/right/separable_7x7_2/depthwise_weights");
        row("zoo:nasnet_a?batch=1", "cell_3/comb_iter_1/left/bn_sep_5x5_1/gamma");
        row("zoo:nasnet_a?batch=1", "cell_12/final_path_bn/beta");
        row("zoo:nasnet_a?batch=1", "train/cell_17/beginning_bn/gamma/ApplyRMSProp");
        row("zoo:nasnet_a?batch=1", "aux_11/aux_logits/FC/weights");
        row("zoo:amoebanet_d?batch=1", "cell_3/comb_iter_1/right/1x7/weights");
        row("zoo:amoebanet_d?batch=1", "gradients/cell_3/comb_iter_0/left/1x1/Conv2DBackpropFilter");
        row("zoo:resnet50?batch=1", "resnet_v1_50/block1/unit_1/bottleneck_v1/shortcut/weights");
        row("zoo:resnet50?batch=1", "resnet_v1_50/block4/unit_3/bottleneck_v1/conv3/BatchNorm/gamma");
        row("zoo:wavenet?samples=100", "wavenet/dilated_stack/layer17/gate_conv/Conv1D");
        row("zoo:enas_cifar10?batch=1", "child/layer_7/cell_4/combine/Add");
    }

    void opsBearTheNamesOfTensorFlow() {
        QFETCH(QString, spec);
        QFETCH(QString, name);
        QVERIFY(emitted(spec.toStdString())->findOp(name.toStdString()));
    }

    /// Sizes at the ends of the cells: width doubles and height halves at a reduction.
    void cellsHaveTheirShapes() {
        const auto shapeOf = [](const GraphPtr& graph, const char* name) {
            const auto id = graph->findOp(name);
            return id ? graph->tensor(graph->outputs(*id)[0]).dims : Dims();
        };
        const GraphPtr amoebanet = emitted("zoo:amoebanet_d?batch=1&mode=inference");
        QCOMPARE(shapeOf(amoebanet, "conv0/Conv2D"), (Dims{1, 112, 112, 52}));
        QCOMPARE(shapeOf(amoebanet, "cell_stem_1/cell_output/ConcatV2"), (Dims{1, 28, 28, 3 * 208}));
        QCOMPARE(shapeOf(amoebanet, "cell_5/cell_output/ConcatV2"), (Dims{1, 28, 28, 4 * 208}));
        QCOMPARE(shapeOf(amoebanet, "cell_17/cell_output/ConcatV2"), (Dims{1, 7, 7, 4 * 832}));
        const GraphPtr nasnet = emitted("zoo:nasnet_a?batch=1&mode=inference");
        QCOMPARE(shapeOf(nasnet, "conv0/Conv2D"), (Dims{1, 165, 165, 96}));
        QCOMPARE(shapeOf(nasnet, "cell_0/cell_output/ConcatV2"), (Dims{1, 42, 42, 6 * 168}));
        QCOMPARE(shapeOf(nasnet, "reduction_cell_0/cell_output/ConcatV2"), (Dims{1, 21, 21, 4 * 336}));
        QCOMPARE(shapeOf(nasnet, "cell_17/cell_output/ConcatV2"), (Dims{1, 11, 11, 6 * 672}));
    }

    /// What the dilations read: at L2 the samples between two taps become a batch.
    void dilatedConvolutionsAreSpelledOutAtL2() {
        const GraphPtr graph = emitted("zoo:wavenet?samples=1000&mode=inference&level=L2");
        const auto id = graph->findOp("wavenet/dilated_stack/layer3/filter_conv/Conv2D");
        QVERIFY(id);
        const Dims dims = graph->tensor(graph->outputs(*id)[0]).dims;
        QCOMPARE(dims[0], std::int64_t{8}); // dilation of layer 3
        QVERIFY(graph->findOp("wavenet/dilated_stack/layer3/filter_conv/time_to_batch/Transpose"));
        QVERIFY(!graph->findOp("wavenet/dilated_stack/layer0/filter_conv/time_to_batch/Transpose"));
    }

    void branchesAndLayersAreSpread_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("key");
        QTest::addColumn<int>("tags");
        QTest::newRow("inception") << "zoo:inception_v3?batch=1" << "expert_branch" << 4;
        QTest::newRow("nasnet") << "zoo:nasnet_a?batch=1" << "expert_branch" << 6;
        QTest::newRow("amoebanet") << "zoo:amoebanet_d?batch=1" << "expert_branch" << 6;
        QTest::newRow("enas") << "zoo:enas_cifar10?batch=1" << "expert_branch" << 6;
        QTest::newRow("enas macro") << "zoo:enas_cifar10?batch=1&space=macro" << "expert_layer" << 6;
        QTest::newRow("resnet") << "zoo:resnet50?batch=1" << "expert_layer" << 16;
        QTest::newRow("wavenet") << "zoo:wavenet?samples=1000&stacks=4" << "expert_layer" << 36;
    }

    void branchesAndLayersAreSpread() {
        QFETCH(QString, spec);
        QFETCH(QString, key);
        QFETCH(int, tags);
        const GraphPtr graph = emitted(spec.toStdString());
        std::map<int, double> flops;
        for (const Op& op : graph->ops()) {
            const std::string* tag = attribute(op, key.toStdString());
            QVERIFY2(tag, op.name.c_str());
            flops[QString::fromStdString(*tag).toInt()] += op.flops;
        }
        QCOMPARE(flops.size(), static_cast<std::size_t>(tags));
        QCOMPARE(flops.begin()->first, 0);
        QCOMPARE(flops.rbegin()->first, tags - 1);
    }

    /// As Placeto's authors number the branches of Inception.
    void inceptionBranchesAreThoseOfItsAuthors() {
        const GraphPtr graph = emitted("zoo:inception_v3?batch=1");
        const auto branch = [&](const std::string& scope) {
            const auto id = graph->findOp("InceptionV3/" + scope);
            return id ? *attribute(graph->op(*id), "expert_branch") : std::string("no such op");
        };
        QCOMPARE(branch("Conv2d_4a_3x3/Conv2D"), std::string("0"));
        QCOMPARE(branch("Mixed_5c/Branch_0/Conv2d_0a_1x1/Conv2D"), std::string("1"));
        QCOMPARE(branch("Mixed_5c/Branch_1/Conv_1_0c_5x5/Conv2D"), std::string("2"));
        QCOMPARE(branch("Mixed_5c/Branch_2/Conv2d_0c_3x3/Conv2D"), std::string("0"));
        QCOMPARE(branch("Mixed_5c/Branch_3/Conv2d_0b_1x1/Conv2D"), std::string("3"));
        QCOMPARE(branch("Mixed_5c/ConcatV2"), std::string("0"));
        QCOMPARE(branch("Mixed_6a/Branch_0/Conv2d_1a_1x1/Conv2D"), std::string("1"));
        QCOMPARE(branch("Mixed_6a/Branch_1/Conv2d_1a_1x1/Conv2D"), std::string("0"));
        QCOMPARE(branch("Mixed_6a/Branch_2/MaxPool_1a_3x3/MaxPool"), std::string("2"));
        QCOMPARE(branch("Mixed_6c/Branch_1/Conv2d_0c_7x1/Conv2D"), std::string("2"));
        QCOMPARE(branch("Mixed_7b/Branch_1/Conv2d_0b_1x3/Conv2D"), std::string("2"));
        QCOMPARE(branch("AuxLogits/Conv2d_1b_1x1/Conv2D"), std::string("0"));
    }

    void theFamilyIsAFamily_data() {
        QTest::addColumn<QString>("space");
        QTest::newRow("micro") << "micro";
        QTest::newRow("macro") << "macro";
    }

    void theFamilyIsAFamily() {
        QFETCH(QString, space);
        std::set<std::string> hashes;
        std::size_t least = std::numeric_limits<std::size_t>::max();
        std::size_t most = 0;
        for (int index = 0; index < 32; ++index) {
            const std::string spec =
                "zoo:enas_cifar10?space=" + space.toStdString() + "&index=" + std::to_string(index);
            const GraphPtr graph = emitted(spec);
            QCOMPARE(emitted(spec)->hash(), graph->hash());
            hashes.insert(graph->hash());
            least = std::min(least, graph->opCount());
            most = std::max(most, graph->opCount());
            QVERIFY(emitted(spec + "&seed=2")->hash() != graph->hash());
        }
        QCOMPARE(hashes.size(), std::size_t{32});
        qInfo("%zu to %zu ops", least, most);
    }

    void thePublishedCellsAreNotRandom() {
        QCOMPARE(emitted("zoo:enas_cifar10?cell=best&seed=2&index=3")->hash(),
                 emitted("zoo:enas_cifar10?cell=best")->hash());
        const GraphPtr graph = emitted("zoo:enas_cifar10?cell=best&layers=15&filters=36&batch=1&mode=inference");
        const auto shapeOf = [&](const char* name) {
            const auto id = graph->findOp(name);
            return id ? graph->tensor(graph->outputs(*id)[0]).dims : Dims();
        };
        // The normal cell leaves all five sums unused, the reduction cell four; reductions are layers 5 and 11.
        QCOMPARE(shapeOf("child/layer_4/final_combine/ConcatV2"), (Dims{1, 32, 32, 5 * 36}));
        QCOMPARE(shapeOf("child/layer_5/final_combine/ConcatV2"), (Dims{1, 16, 16, 4 * 72}));
        QCOMPARE(shapeOf("child/layer_11/final_combine/ConcatV2"), (Dims{1, 8, 8, 4 * 144}));
        QCOMPARE(shapeOf("child/layer_16/final_combine/ConcatV2"), (Dims{1, 8, 8, 5 * 144}));
        // Input 0 of ENAS is the older layer, 1 the newer one: block 0 averages the older, block 3 convolves the newer.
        const auto readBy = [&](const char* name) {
            const auto id = graph->findOp(name);
            return id ? graph->op(graph->inEdges(*id)[0].producer).name : std::string();
        };
        QCOMPARE(readBy("child/layer_1/cell_0/x_conv/AvgPool"), std::string("child/layer_1/prev_bn/FusedBatchNorm"));
        QCOMPARE(readBy("child/layer_1/cell_3/x_conv/Relu"), std::string("child/layer_1/beginning_bn/FusedBatchNorm"));
    }

    void emissionIsDeterministic() {
        for (const char* spec : {"zoo:amoebanet_d", "zoo:nasnet_a", "zoo:resnet50", "zoo:wavenet", "zoo:inception_v3"})
            QCOMPARE(emitted(spec)->hash(), emitted(spec)->hash());
    }

    /// What a person does with a workload fits into the 16 GB of each of its P100.
    void expertPlacementsFit_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("devices");
        const auto row = [](const char* spec, const char* devices) {
            QTest::newRow(spec) << QString(spec) << QString(devices);
        };
        row("zoo:inception_v3?batch=32", "2xP100");
        row("zoo:inception_v3?batch=64", "2xP100");
        row("zoo:amoebanet_d", "4xP100");
        row("zoo:nasnet_a", "4xP100");
        row("zoo:resnet50", "2xP100");
        row("zoo:wavenet", "2xP100");
        row("zoo:wavenet?stacks=4", "4xP100");
        row("zoo:enas_cifar10", "2xP100");
    }

    void expertPlacementsFit() {
        QFETCH(QString, spec);
        QFETCH(QString, devices);
        const auto set = devicePreset(devices.toStdString());
        const auto problem =
            PlacementProblem::compile(emitted(spec.toStdString()), *set, GroupingOptions{}, SimOptions{});
        QVERIFY(problem);
        JobContext context;
        const auto placed = ExpertPlacer().place(*problem, {}, context, {});
        QVERIFY(placed);
        qInfo("%.0f ms", placed->evaluation.stepTimeUs / 1000.0);
        QVERIFY(placed->evaluation.valid);
        const std::set<DeviceId> used(placed->groups.begin(), placed->groups.end());
        QCOMPARE(used.size(), (*problem)->deviceCount());
    }

    void badOptionsAreNamed_data() {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("part");
        const auto row = [](const char* spec, const char* part) {
            QTest::newRow(spec) << QString(spec) << QString(part);
        };
        row("zoo:amoebanet_d?cells=2", "cells=2");
        row("zoo:amoebanet_d?width=15", "width=15");
        row("zoo:amoebanet_d?form=jax", "form=jax");
        row("zoo:nasnet_a?config=huge", "config=huge");
        row("zoo:nasnet_a?aux=2", "aux=2");
        row("zoo:resnet50?variant=v2", "variant=v2");
        row("zoo:wavenet?stacks=0", "stacks=0");
        row("zoo:wavenet?samples=1e9", "samples=1e9");
        row("zoo:enas_cifar10?index=32", "index=32");
        row("zoo:enas_cifar10?cell=worst", "cell=worst");
        row("zoo:enas_cifar10?cell=best&space=macro", "cell=best");
        row("zoo:enas_cifar10?filters=x", "filters=x");
        row("zoo:wavenet?level=L3", "level=L3");
        row("zoo:resnet50?wheels=4", "wheels");
    }

    void badOptionsAreNamed() {
        QFETCH(QString, spec);
        QFETCH(QString, part);
        const auto graph = zoo::makeFromSpec(spec.toStdString());
        QVERIFY(!graph);
        QVERIFY2(graph.error().message.find(part.toStdString()) != std::string::npos, graph.error().message.c_str());
    }
};

QTEST_APPLESS_MAIN(TestZooImage)
#include "tst_zoo_image.moc"
