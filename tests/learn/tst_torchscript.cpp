#include "core/devices/cost_model.h"
#include "core/graph/graph_stats.h"
#include "core/learn/torchscript_import.h"
#include "tests/learn/torchscript_models.h"

#include <QtTest>

#include <QFile>
#include <QTemporaryDir>

#include <set>

using namespace pw;
using namespace pw::learn;
using test::TorchModel;

namespace {

using Inputs = std::vector<TorchSampleInput>;

const Op* findOp(const OpGraph& graph, std::string_view name) {
    const auto id = graph.findOp(name);
    return id ? &graph.op(*id) : nullptr;
}

std::string attribute(const Op& op, std::string_view key) {
    for (const auto& [name, value] : op.attributes) {
        if (name == key)
            return value;
    }
    return {};
}

/// "layer1/0/conv1/conv2d" -> "8x3"
std::vector<std::int64_t> dimsOf(const OpGraph& graph, std::string_view name, std::size_t output = 0) {
    const auto id = graph.findOp(name);
    if (!id || graph.outputs(*id).size() <= output)
        return {-99};
    return graph.tensor(graph.outputs(*id)[output]).dims;
}

double flopsOf(const OpGraph& graph, std::string_view name) {
    const auto id = graph.findOp(name);
    const OpWork work = id ? opWork(graph, *id) : OpWork();
    return work.known ? work.flops : -1.0;
}

bool hasEdge(const OpGraph& graph, std::string_view from, std::string_view to, EdgeKind kind = EdgeKind::Data) {
    return std::any_of(graph.edges().begin(), graph.edges().end(), [&](const Edge& edge) {
        return edge.kind == kind && graph.op(edge.producer).name == from && graph.op(edge.consumer).name == to;
    });
}

std::set<std::string> namesOf(const OpGraph& graph) {
    std::set<std::string> names;
    for (const Op& op : graph.ops())
        names.insert(op.name);
    return names;
}

bool warns(const OpGraph& graph, std::string_view kind, std::string_view part) {
    return std::any_of(graph.warnings().begin(), graph.warnings().end(), [&](const Warning& warning) {
        return warning.kind == kind && warning.detail.find(part) != std::string::npos;
    });
}

using Dims = std::vector<std::int64_t>;

} // namespace

class TstTorchScript : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    Result<GraphPtr> import(TorchModel model, const Inputs& inputs) {
        TorchScriptSpec spec;
        spec.path = test::writeTorchModel(model, m_folder.filePath(QStringLiteral("model.pt")).toStdString());
        spec.inputs = inputs;
        return importTorchScript(spec);
    }
    GraphPtr open(TorchModel model, const Inputs& inputs) {
        auto graph = import(model, inputs);
        if (!graph)
            qWarning("%s", graph.error().toString().c_str());
        return graph ? *graph : nullptr;
    }

private Q_SLOTS:
    void aConvolutionalNetHasItsModulesAsScopes() {
        const GraphPtr graph = open(TorchModel::ConvNet, {{{2, 3, 16, 16}, "f32"}});
        QVERIFY(graph != nullptr);
        QCOMPARE(graph->format(), std::string("torchscript"));
        QCOMPARE(namesOf(*graph), (std::set<std::string>{"layer1/0/conv1/conv2d", "layer1/0/bn1/batch_norm", "layer1/0/relu_",
                                                         "max_pool2d", "flatten", "fc/linear", "softmax"}));
        const Op& conv = *findOp(*graph, "layer1/0/conv1/conv2d");
        QCOMPARE(conv.type, std::string("aten::conv2d"));
        QCOMPARE(graph->scopePath(conv.scope), std::string("layer1/0/conv1"));
        QCOMPARE(attribute(conv, "strides"), std::string("2,2"));
        QCOMPARE(attribute(conv, "input_shapes"), std::string("2x3x16x16;8x3x3x3"));
        QCOMPARE(conv.paramBytes, std::int64_t{8 * 3 * 3 * 3 * 4});
        QCOMPARE(findOp(*graph, "layer1/0/bn1/batch_norm")->paramBytes, std::int64_t{4 * 8 * 4});
        QCOMPARE(findOp(*graph, "fc/linear")->paramBytes, std::int64_t{(128 * 10 + 10) * 4});
        QCOMPARE(graph->unattachedParameterBytes(), std::int64_t{8}); // num_batches_tracked: nothing reads it any more
        QVERIFY(graph->warnings().empty());
    }

    void sizesAndWorkComeFromTheSampleInput() {
        const GraphPtr graph = open(TorchModel::ConvNet, {{{2, 3, 16, 16}, "f32"}});
        QVERIFY(graph != nullptr);
        QCOMPARE(dimsOf(*graph, "layer1/0/conv1/conv2d"), (Dims{2, 8, 8, 8}));
        QCOMPARE(dimsOf(*graph, "max_pool2d"), (Dims{2, 8, 4, 4}));
        QCOMPARE(dimsOf(*graph, "softmax"), (Dims{2, 10}));
        QCOMPARE(graph->tensor(graph->outputs(*graph->findOp("softmax"))[0]).bytes, std::int64_t{2 * 10 * 4});
        QCOMPARE(flopsOf(*graph, "layer1/0/conv1/conv2d"), 2.0 * (2 * 8 * 8 * 8) * 27);
        QCOMPARE(flopsOf(*graph, "fc/linear"), 2.0 * 2 * 10 * 128);
        QCOMPARE(flopsOf(*graph, "max_pool2d"), 4.0 * (2 * 8 * 4 * 4));
        for (std::size_t i = 0; i < graph->opCount(); ++i)
            QVERIFY2(opWork(*graph, OpId(i)).known, graph->op(OpId(i)).name.c_str());
    }

    void edgesFollowTheDataThroughInPlaceOps() {
        const GraphPtr graph = open(TorchModel::ConvNet, {{{1, 3, 16, 16}, "f32"}});
        QVERIFY(graph != nullptr);
        QCOMPARE(graph->edges().size(), std::size_t{6});
        QVERIFY(hasEdge(*graph, "layer1/0/conv1/conv2d", "layer1/0/bn1/batch_norm"));
        QVERIFY(hasEdge(*graph, "layer1/0/bn1/batch_norm", "layer1/0/relu_"));
        QVERIFY(hasEdge(*graph, "layer1/0/relu_", "max_pool2d"));
        QVERIFY(hasEdge(*graph, "fc/linear", "softmax"));
    }

    void aReadBehindAWriteThroughAViewWaitsForIt() {
        const GraphPtr graph = open(TorchModel::InPlace, {{{4, 8}, "f32"}});
        QVERIFY(graph != nullptr);
        QVERIFY(hasEdge(*graph, "fill_", "tanh", EdgeKind::Control));
        QVERIFY(hasEdge(*graph, "relu", "tanh"));
        QVERIFY(hasEdge(*graph, "tanh", "add_"));
    }

    void withoutSampleInputsTheGraphOpensAndSaysWhatIsMissing() {
        const GraphPtr graph = open(TorchModel::ConvNet, {});
        QVERIFY(graph != nullptr);
        QVERIFY(findOp(*graph, "layer1/0/conv1/conv2d") != nullptr);
        QCOMPARE(findOp(*graph, "fc/linear")->paramBytes, std::int64_t{(128 * 10 + 10) * 4});
        QVERIFY(!graph->tensor(graph->outputs(*graph->findOp("fc/linear"))[0]).shapeKnown);
        QVERIFY(warns(*graph, "unknown_shape", "--input 1x3x224x224:f32"));
        QVERIFY(warns(*graph, "unknown_shape", "x (Tensor)"));
    }

    void branchesOnShapesAreDecidedByTheSampleInput() {
        const GraphPtr three = open(TorchModel::ShapeBranch, {{{2, 3, 8}, "f32"}});
        QVERIFY(three != nullptr);
        QCOMPARE(namesOf(*three), (std::set<std::string>{"relu", "reshape"}));
        QCOMPARE(dimsOf(*three, "reshape"), (Dims{6, 8}));
        const GraphPtr unknown = open(TorchModel::ShapeBranch, {});
        QVERIFY(unknown != nullptr);
        QVERIFY(namesOf(*unknown).count("If") == 1); // nothing decides it
    }

    void branchesAndLoopsAreContainersWithBodies() {
        const GraphPtr graph = open(TorchModel::Control, {{{4, 16}, "f32"}});
        QVERIFY(graph != nullptr);
        const Op* branch = findOp(*graph, "If");
        const Op* loop = findOp(*graph, "Loop");
        QVERIFY(branch != nullptr && loop != nullptr);
        QCOMPARE(branch->bodies.size(), std::size_t{2});
        QCOMPARE(branch->bodies[0].name, std::string("then_branch"));
        QCOMPARE(branch->bodies[0].graph->op(OpId(0)).type, std::string("aten::matmul"));
        QCOMPARE(branch->bodies[1].graph->op(OpId(0)).type, std::string("aten::relu"));
        QCOMPARE(branch->paramBytes, std::int64_t{16 * 16 * 4}); // read inside, owned where its memory is counted
        QCOMPARE(loop->bodies.size(), std::size_t{1});
        QCOMPARE(loop->tripCount, 3.0);
        QCOMPARE(loop->paramBytes, std::int64_t{16 * 16 * 4});
        QVERIFY(hasEdge(*graph, "If", "Loop"));
        const OpGraph& body = *loop->bodies[0].graph;
        QCOMPARE(body.opCount(), std::size_t{3});
        QCOMPARE(opWork(body, OpId(0)).flops, 2.0 * 4 * 16 * 16); // shapes are known inside, too
        QVERIFY(opWork(body, OpId(0)).known);
    }

    void aConstantBoundIsTheTripCountOfALoopThatDidNotRun() {
        const GraphPtr graph = open(TorchModel::Control, {});
        QVERIFY(graph != nullptr);
        QCOMPARE(findOp(*graph, "Loop")->tripCount, 3.0);
    }

    void aRecurrentLayerOwnsAllItsWeights() {
        const GraphPtr graph = open(TorchModel::Lstm, {{{5, 3, 16}, "f32"}});
        QVERIFY(graph != nullptr);
        const Op* op = findOp(*graph, "lstm");
        QVERIFY(op != nullptr);
        const std::int64_t matrices = 2 * (128 * 16 + 128 * 32) + 2 * (128 * 64 + 128 * 32);
        QCOMPARE(op->paramBytes, (matrices + 8 * 128) * 4);
        QCOMPARE(dimsOf(*graph, "lstm", 0), (Dims{5, 3, 64}));
        QCOMPARE(dimsOf(*graph, "lstm", 1), (Dims{4, 3, 32}));
        // 15 rows: two FLOPs per weight, and 14 per hidden unit, layer and direction.
        QCOMPARE(flopsOf(*graph, "lstm"), 15.0 * (2.0 * static_cast<double>(matrices) + 14.0 * 32 * 4));
    }

    void severalInputsAreTakenInOrder() {
        const GraphPtr graph = open(TorchModel::TwoInputs, {{{2, 7, 32}, "f32"}, {{2, 5}, "i64"}});
        QVERIFY(graph != nullptr);
        QCOMPARE(dimsOf(*graph, "embedding"), (Dims{2, 5, 32}));
        QCOMPARE(dimsOf(*graph, "matmul"), (Dims{2, 5, 32}));
        QCOMPARE(flopsOf(*graph, "bmm"), 2.0 * 2 * 5 * 7 * 32);
        QCOMPARE(findOp(*graph, "embedding")->paramBytes, std::int64_t{100 * 32 * 4});
        QCOMPARE(findOp(*graph, "mul")->paramBytes, std::int64_t{32 * 4}); // the buffer
        QCOMPARE(graph->unattachedParameterBytes(), std::int64_t{1000 * 4});
    }

    void sharedWeightsCountOnce() {
        const GraphPtr graph = open(TorchModel::Shared, {{{3, 8}, "f32"}});
        QVERIFY(graph != nullptr);
        QCOMPARE(findOp(*graph, "fc/linear")->paramBytes, std::int64_t{(8 * 8 + 8) * 4});
        const Op* second = findOp(*graph, "fc/linear#2");
        QVERIFY(second != nullptr);
        QCOMPARE(second->paramBytes, std::int64_t{0});
        QCOMPARE(attribute(*second, "shared_weights"), std::string("fc/weight of fc/linear, fc/bias of fc/linear"));
        QCOMPARE(attribute(*second, "input_shapes"), std::string("3x8;8x8;8"));
    }

    void olderOperatorsHaveTheirFormulas() {
        const GraphPtr graph = open(TorchModel::Transposed, {{{1, 4, 4, 4}, "f32"}});
        QVERIFY(graph != nullptr);
        QCOMPARE(dimsOf(*graph, "_convolution"), (Dims{1, 6, 8, 8}));
        QCOMPARE(flopsOf(*graph, "_convolution"), 2.0 * (4 * 4 * 4) * (6 * 2 * 2));
        QCOMPARE(flopsOf(*graph, "addmm"), 2.0 * 48 * 5 * 8);
    }

    void aDescriptionThatDoesNotFitIsAnError() {
        const auto tooFew = import(TorchModel::TwoInputs, {{{2, 7, 32}, "f32"}});
        QVERIFY(!tooFew && tooFew.error().code == ErrorCode::Invalid);
        QVERIFY(tooFew.error().message.find("\"ids\"") != std::string::npos);
        const auto tooMany = import(TorchModel::Shared, {{{3, 8}, "f32"}, {{3, 8}, "f32"}});
        QVERIFY(!tooMany && tooMany.error().message.find("x (Tensor)") != std::string::npos);
        const auto badType = import(TorchModel::Shared, {{{3, 8}, "f31"}});
        QVERIFY(!badType && badType.error().message.find("\"f31\"") != std::string::npos);
    }

    void aRunThatFailsLeavesTheGraphAndSaysWhy() {
        const GraphPtr graph = open(TorchModel::Shared, {{{3, 9}, "f32"}});
        QVERIFY(graph != nullptr);
        QVERIFY(findOp(*graph, "fc/linear") != nullptr);
        QVERIFY(warns(*graph, "unknown_shape", "cannot be multiplied"));
        for (const Warning& warning : graph->warnings())
            QVERIFY(warning.detail.find('\n') == std::string::npos);
    }

    void hugeInputsAreRefusedByTheAllocator() {
        const auto graph = import(TorchModel::Shared, {{{1LL << 40, 8}, "f32"}});
        QVERIFY(!graph && graph.error().code == ErrorCode::Invalid);
        QVERIFY(graph.error().message.find("described inputs") != std::string::npos);
    }

    void cutOffAndOverwrittenFilesAreErrors() {
        const std::string path = test::writeTorchModel(TorchModel::Shared, m_folder.filePath(QStringLiteral("whole.pt")).toStdString());
        QFile whole(QString::fromStdString(path));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        const QByteArray bytes = whole.readAll();
        QFile part(m_folder.filePath(QStringLiteral("part.pt")));
        for (qsizetype size = 0; size < bytes.size(); size += 1 + bytes.size() / 200) {
            QVERIFY(part.open(QIODevice::WriteOnly | QIODevice::Truncate));
            part.write(bytes.left(size));
            part.close();
            TorchScriptSpec spec;
            spec.path = part.fileName().toStdString();
            const auto graph = importTorchScript(spec);
            QVERIFY2(!graph, qPrintable(QString::number(size)));
            QVERIFY(graph.error().message.find('\n') == std::string::npos);
        }
    }
};

QTEST_APPLESS_MAIN(TstTorchScript)
#include "tst_torchscript.moc"
