#include "core/devices/cost_model.h"
#include "core/graph/graph_builder.h"
#include "core/zoo/zoo.h"

#include <QtTest>

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <cmath>
#include <set>

using namespace pw;

namespace {

using Dims = std::vector<std::int64_t>;
using Attributes = std::vector<std::pair<std::string, std::string>>;

Tensor tensorOf(Dims dims, std::string dtype = "f32") {
    Tensor tensor;
    tensor.dtype = std::move(dtype);
    tensor.bytes = elementCount(dims).value_or(0) * dtypeBytes(tensor.dtype);
    tensor.dims = std::move(dims);
    tensor.shapeKnown = true;
    return tensor;
}

/// One op that reads tensors of `inputs`, as an ONNX file gives it.
OpWork workOf(std::string type, const std::vector<Dims>& inputs, const Dims& output, Attributes attributes = {}) {
    GraphBuilder builder("g", "test");
    Op op;
    op.name = "op";
    op.type = std::move(type);
    op.attributes = std::move(attributes);
    std::vector<TensorId> tensors;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        Op source;
        source.type = "Placeholder";
        tensors.push_back(builder.addOutput(builder.addOp(std::move(source)), tensorOf(inputs[i])));
    }
    const OpId id = builder.addOp(std::move(op));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (!inputs[i].empty()) // an empty shape leaves the slot to input_shapes
            builder.addInput(id, tensors[i], static_cast<std::uint32_t>(i));
    }
    builder.addOutput(id, tensorOf(output));
    return opWork(*std::move(builder).build().value(), id);
}

GraphPtr oneOp(Op op) {
    GraphBuilder builder("g", "test");
    builder.addOp(std::move(op));
    return std::move(builder).build().value();
}

DeviceSet host() {
    return *devicePreset("CPU+1xP100"); // cpu:0 is device 0, gpu:0 is device 1
}

constexpr DeviceId kCpu{0};
constexpr DeviceId kGpu{1};

GraphPtr bodyOf(double us) {
    Op op;
    op.name = "inner";
    op.costs = {{"", us}};
    return oneOp(std::move(op));
}

Op container(std::string type, std::vector<GraphPtr> bodies, double trips = -1.0) {
    Op op;
    op.name = "container";
    op.type = std::move(type);
    op.tripCount = trips;
    for (GraphPtr& body : bodies)
        op.bodies.push_back({"body", std::move(body)});
    return op;
}

} // namespace

class TestCostModel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    // FLOPs by hand.
    void flops_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<QVector<QVector<qint64>>>("inputs");
        QTest::addColumn<QVector<qint64>>("output");
        QTest::addColumn<QString>("attributes");
        QTest::addColumn<double>("flops");
        using In = QVector<QVector<qint64>>;
        using Out = QVector<qint64>;
        QTest::newRow("MatMul") << "MatMul" << In{{8, 16}, {16, 32}} << Out{8, 32} << "" << 2.0 * 8 * 16 * 32;
        QTest::newRow("MatMul transposed") << "MatMul" << In{{16, 8}, {16, 32}} << Out{8, 32} << "transpose_a=1"
                                           << 2.0 * 8 * 16 * 32;
        QTest::newRow("batched MatMul") << "MatMul" << In{{2, 4, 8, 16}, {2, 4, 16, 8}} << Out{2, 4, 8, 8} << ""
                                        << 2.0 * 8 * 8 * 16 * 8;
        QTest::newRow("BatchMatMulV2") << "BatchMatMulV2" << In{{3, 8, 16}, {3, 16, 4}} << Out{3, 8, 4} << ""
                                       << 2.0 * 3 * 8 * 16 * 4;
        QTest::newRow("MatMulInteger") << "MatMulInteger" << In{{8, 16}, {16, 32}} << Out{8, 32} << "" << 8192.0;
        QTest::newRow("QLinearMatMul") << "QLinearMatMul" << In{{8, 16}, {1}, {1}, {16, 32}} << Out{8, 32} << "" << 8192.0;
        QTest::newRow("Gemm") << "Gemm" << In{{8, 16}, {32, 16}} << Out{8, 32} << "transB=1" << 8192.0;
        QTest::newRow("Gemm transA") << "Gemm" << In{{16, 8}, {16, 32}} << Out{8, 32} << "transA=1" << 8192.0;
        QTest::newRow("MatMulNBits") << "com.microsoft::MatMulNBits" << In{{8, 16}} << Out{8, 32} << "K=16;;N=32" << 8192.0;
        QTest::newRow("Conv") << "Conv" << In{{1, 3, 8, 8}, {16, 3, 3, 3}} << Out{1, 16, 8, 8} << ""
                              << 2.0 * 16 * 64 * 27;
        QTest::newRow("grouped Conv") << "Conv" << In{{1, 8, 4, 4}, {8, 1, 3, 3}} << Out{1, 8, 4, 4} << "group=8"
                                      << 2.0 * 8 * 16 * 9;
        QTest::newRow("Conv, weights unknown") << "Conv" << In{{1, 8, 4, 4}} << Out{1, 16, 4, 4}
                                               << "group=2;;kernel_shape=[3, 3]" << 2.0 * 16 * 16 * 9 * 4;
        QTest::newRow("Conv, weights of a file") << "Conv" << In{{1, 3, 8, 8}} << Out{1, 16, 8, 8}
                                                 << "input_shapes=1x3x8x8;16x3x3x3;16" << 2.0 * 16 * 64 * 27;
        QTest::newRow("ConvInteger") << "ConvInteger" << In{{1, 3, 8, 8}, {16, 3, 3, 3}} << Out{1, 16, 8, 8} << ""
                                     << 2.0 * 16 * 64 * 27;
        QTest::newRow("QLinearConv") << "QLinearConv" << In{{1, 3, 8, 8}} << Out{1, 16, 8, 8}
                                     << "input_shapes=;;;16x3x3x3" << 2.0 * 16 * 64 * 27;
        QTest::newRow("ConvTranspose") << "ConvTranspose" << In{{1, 3, 8, 8}, {3, 16, 2, 2}} << Out{1, 16, 16, 16} << ""
                                       << 2.0 * 3 * 64 * 16 * 4;
        QTest::newRow("Conv2D") << "Conv2D" << In{{1, 8, 8, 3}, {3, 3, 3, 16}} << Out{1, 8, 8, 16} << ""
                                << 2.0 * 16 * 64 * 27;
        QTest::newRow("Conv2DBackpropInput") << "Conv2DBackpropInput" << In{{4}, {3, 3, 3, 16}, {1, 8, 8, 16}}
                                             << Out{1, 8, 8, 3} << "" << 2.0 * 16 * 64 * 27;
        QTest::newRow("Conv2DBackpropFilter") << "Conv2DBackpropFilter" << In{{1, 8, 8, 3}, {4}, {1, 8, 8, 16}}
                                              << Out{3, 3, 3, 16} << "" << 2.0 * 16 * 64 * 27;
        QTest::newRow("ConvGrad") << "com.microsoft::ConvGrad" << In{{1, 16, 8, 8}, {1, 3, 8, 8}, {16, 3, 3, 3}}
                                  << Out{1, 3, 8, 8} << "" << 4.0 * 16 * 64 * 27;
        QTest::newRow("depthwise") << "DepthwiseConv2dNative" << In{{1, 8, 8, 4}, {3, 3, 4, 1}} << Out{1, 8, 8, 4} << ""
                                   << 2.0 * 256 * 9;
        QTest::newRow("depthwise, back to the input")
            << "DepthwiseConv2dNativeBackpropInput" << In{{4}, {3, 3, 4, 1}, {1, 4, 4, 4}} << Out{1, 8, 8, 4} << ""
            << 2.0 * 64 * 9;
        QTest::newRow("depthwise, back to the filter")
            << "DepthwiseConv2dNativeBackpropFilter" << In{{1, 8, 8, 4}, {4}, {1, 4, 4, 4}} << Out{3, 3, 4, 1} << ""
            << 2.0 * 64 * 9;
        QTest::newRow("MaxPool") << "MaxPool" << In{{1, 4, 8, 8}} << Out{1, 4, 4, 4} << "kernel_shape=2,2" << 4.0 * 64;
        QTest::newRow("GlobalAveragePool") << "GlobalAveragePool" << In{{1, 4, 8, 8}} << Out{1, 4, 1, 1} << "" << 256.0;
        QTest::newRow("ReduceSum") << "ReduceSum" << In{{16, 8}} << Out{16} << "" << 128.0;
        QTest::newRow("Relu") << "Relu" << In{{16, 8}} << Out{16, 8} << "" << 128.0;
        QTest::newRow("Sigmoid") << "Sigmoid" << In{{16, 8}} << Out{16, 8} << "" << 1024.0;
        QTest::newRow("BatchNormalization") << "BatchNormalization" << In{{1, 4, 8, 8}} << Out{1, 4, 8, 8} << "" << 2048.0;
        QTest::newRow("Softmax") << "Softmax" << In{{4, 10}} << Out{4, 10} << "" << 200.0;
        QTest::newRow("LSTM") << "LSTM" << In{{5, 2, 8}, {1, 64, 8}, {1, 64, 16}} << Out{5, 1, 2, 16} << ""
                              << 10.0 * (2 * 64 * (8 + 16) + 14 * 16);
        QTest::newRow("GRU by attribute") << "GRU" << In{{5, 2, 8}} << Out{5, 1, 2, 16} << "hidden_size=16"
                                          << 10.0 * (2 * 48 * 24 + 3.5 * 48);
        QTest::newRow("Einsum") << "Einsum" << In{{2, 8, 16}, {2, 16, 4}} << Out{2, 8, 4} << "equation=bij,bjk->bik"
                                << 2.0 * 2 * 8 * 16 * 4;
        QTest::newRow("ApplyAdam") << "ApplyAdam" << In{{100}} << Out{100} << "" << 1200.0;
        QTest::newRow("unknown dimension counts once") << "MatMul" << In{{-1, 16}, {16, 32}} << Out{-1, 32} << ""
                                                       << 2.0 * 16 * 32;
    }

    void flops() {
        QFETCH(QString, type);
        QFETCH(QVector<QVector<qint64>>, inputs);
        QFETCH(QVector<qint64>, output);
        QFETCH(QString, attributes);
        QFETCH(double, flops);
        std::vector<Dims> shapes;
        for (const auto& shape : inputs)
            shapes.emplace_back(shape.begin(), shape.end());
        Attributes given;
        // one attribute, or several separated by ";;" (input_shapes has single ';' of its own)
        const QStringList parts = attributes.startsWith("input_shapes") ? QStringList{attributes} : attributes.split(";;");
        for (const QString& part : parts) {
            if (!part.isEmpty())
                given.emplace_back(part.section('=', 0, 0).toStdString(), part.section('=', 1).toStdString());
        }
        const OpWork work = workOf(type.toStdString(), shapes, Dims(output.begin(), output.end()), given);
        QVERIFY(work.known);
        QCOMPARE(work.flops, flops);
        QVERIFY(work.bytesMoved > 0.0);
    }

    void bytesMovedFollowTheRule() {
        QCOMPARE(workOf("Add", {{10, 10}, {10, 10}}, {10, 10}).bytesMoved, 1200.0);
        QCOMPARE(workOf("Concat", {{10}, {30}}, {40}).bytesMoved, 320.0);
        QCOMPARE(workOf("Gather", {{100000, 64}, {8}}, {8, 64}).bytesMoved, 8.0 * 8 * 64); // not the table
        QCOMPARE(workOf("Conv", {{1, 3, 8, 8}}, {1, 16, 8, 8}, {{"input_shapes", "1x3x8x8;16x3x3x3"}}).bytesMoved,
                 4.0 * (192 + 432 + 1024)); // weights of the file are read as well
        QCOMPARE(workOf("Reshape", {{100}}, {10, 10}).bytesMoved, 0.0);
        QVERIFY(workOf("Reshape", {{100}}, {10, 10}).known);
    }

    void unknownTypesMoveTheirTensors() {
        const OpWork work = workOf("my.domain::Mystery", {{10}}, {20});
        QVERIFY(!work.known);
        QCOMPARE(work.flops, 0.0);
        QCOMPARE(work.bytesMoved, 120.0);
    }

    void givenNumbersWin() {
        Op op;
        op.type = "MatMul";
        op.flops = 1e6;
        op.bytesMoved = 500;
        const OpWork work = opWork(*oneOp(std::move(op)), OpId(0));
        QVERIFY(work.known);
        QCOMPARE(work.flops, 1e6);
        QCOMPARE(work.bytesMoved, 500.0);
    }

    void rooflineTakesTheLargerBound() {
        const DeviceSet devices = host();
        Op compute;
        compute.type = "MatMul";
        compute.flops = 9.3e9;
        compute.bytesMoved = 0;
        const CostTable table = computeCosts(*oneOp(compute), devices);
        QCOMPARE(table.at(OpId(0), kGpu), 9.3e9 / (0.55 * 9.3e6));
        QVERIFY(table.at(OpId(0), kCpu) > table.at(OpId(0), kGpu));
        QCOMPARE(table.source[0], CostSource::Formula);
        Op move;
        move.type = "Relu";
        move.flops = 1.0;
        move.bytesMoved = 732000;
        QCOMPARE(computeCosts(*oneOp(move), devices).at(OpId(0), kGpu), 1.0 / 0.75);
    }

    void devicesWithoutRatesCostNothing() {
        Device device;
        device.name = "x";
        device.kind = "gpu";
        const DeviceSet set = *DeviceSet::create("bare", {device}, {});
        Op op;
        op.type = "MatMul";
        op.flops = 1e9;
        op.bytesMoved = 1000;
        QCOMPARE(computeCosts(*oneOp(op), set).at(OpId(0), DeviceId(0)), 0.0);
    }

    void measuredCostsOverride() {
        const DeviceSet devices = host();
        Op op;
        op.type = "MatMul";
        op.flops = 9.3e9;
        op.bytesMoved = 0;
        op.costs = {{"", 7.0}, {"gpu", 3.0}};
        CostTable table = computeCosts(*oneOp(op), devices);
        QCOMPARE(table.at(OpId(0), kGpu), 3.0);
        QCOMPARE(table.at(OpId(0), kCpu), 7.0);
        QCOMPARE(table.source[0], CostSource::Measured);
        op.costs = {{"gpu", 3.0}}; // the other kind keeps its formula
        table = computeCosts(*oneOp(op), devices);
        QCOMPARE(table.at(OpId(0), kGpu), 3.0);
        QCOMPARE(table.at(OpId(0), kCpu), 9.3e9 / (0.7 * 1.0e6));
        op.costs = {{"tpu", 3.0}};
        QCOMPARE(computeCosts(*oneOp(op), devices).source[0], CostSource::Formula);
    }

    void containersCostTheirBodies() {
        const DeviceSet devices = host();
        const auto cost = [&](Op op) { return computeCosts(*oneOp(std::move(op)), devices).at(OpId(0), kGpu); };
        QCOMPARE(cost(container("If", {bodyOf(5.0), bodyOf(8.0)})), 8.0);
        QCOMPARE(cost(container("StatelessIf", {bodyOf(9.0), bodyOf(8.0)})), 9.0);
        QCOMPARE(cost(container("Loop", {bodyOf(5.0)}, 12.0)), 60.0);
        QCOMPARE(cost(container("Scan", {bodyOf(5.0)})), 5.0);
        QCOMPARE(cost(container("Loop", {bodyOf(5.0)}, 0.0)), 0.0);
        QCOMPARE(cost(container("Loop", {oneOp(container("Loop", {bodyOf(2.0)}, 3.0))}, 4.0)), 24.0);
    }

    void deepAndSharedBodiesEnd() {
        GraphPtr body = bodyOf(1.0);
        for (int depth = 0; depth < 1000; ++depth) // shared twice at every level: 2^1000 paths
            body = oneOp(container("Loop", {body, body}));
        const CostTable table = computeCosts(*body, host());
        QVERIFY(std::isfinite(table.at(OpId(0), kGpu)));
        QCOMPARE(table.source[0], CostSource::Formula);
    }

    void hostileSizesStayFinite() {
        const Dims huge(8, 1'000'000'000'000);
        const OpWork work = workOf("MatMul", {huge, huge}, huge);
        QVERIFY(std::isfinite(work.flops) && std::isfinite(work.bytesMoved));
        Op op;
        op.type = "Loop";
        op.tripCount = 1e308;
        op.bodies = {{"body", bodyOf(1e300)}};
        QVERIFY(std::isfinite(computeCosts(*oneOp(op), host()).at(OpId(0), kGpu)));
        for (const char* shapes : {"", ";;;;", "x", "1xx", "-3x4", "99999999999999999999x2", "axb;?"})
            QVERIFY(std::isfinite(workOf("Conv", {{1, 3, 4, 4}}, {1, 3, 4, 4}, {{"input_shapes", shapes}}).flops));
    }

    /// Every op type of the ONNX files has a rule, but containers and two types whose work no shape tells.
    void typesOfTheSharedModelsAreCovered() {
        QFile file(QStringLiteral(PW_SHARED_DATA "/EXPECTED.json"));
        if (!file.open(QIODevice::ReadOnly))
            QSKIP("shared data is not there");
        const QJsonArray files = QJsonDocument::fromJson(file.readAll()).object().value("files").toArray();
        std::set<std::string> uncovered;
        std::size_t types = 0;
        for (const QJsonValue& entry : files) {
            if (!entry["file"].toString().startsWith("onnx"))
                continue;
            for (const QString& type : entry["op_histogram"].toObject().keys()) {
                ++types;
                const OpWork work = workOf(type.toStdString(), {{2, 4, 8}, {2, 8, 4}, {2, 4, 8}, {2, 8, 4}}, {2, 4, 8},
                                           {{"kernel_shape", "3"}, {"equation", "bij,bjk"}, {"hidden_size", "4"}});
                if (!work.known)
                    uncovered.insert(type.toStdString());
            }
        }
        QVERIFY(types > 0);
        for (const char* container : {"If", "Loop", "Scan", "ai.onnx.ml::TreeEnsembleClassifier", "MFCC"})
            uncovered.erase(container);
        QVERIFY2(uncovered.empty(), uncovered.empty() ? "" : uncovered.begin()->c_str());
    }

    /// Orders of magnitude of published step times: Inception batch 64 on one P100 about 0.44 s, RNNLM-2 about 0.24 s.
    void workloadsCostWhatTheyShould() {
        const DeviceSet devices = host();
        for (const auto& [spec, seconds] : {std::pair("zoo:inception_v3", 0.44), std::pair("zoo:rnnlm", 0.24)}) {
            const GraphPtr graph = *zoo::makeFromSpec(spec);
            const CostTable table = computeCosts(*graph, devices);
            double us = 0.0;
            for (std::size_t i = 0; i < graph->opCount(); ++i) {
                us += table.at(OpId(i), kGpu);
                QCOMPARE(table.source[i], CostSource::Formula);
                if (graph->op(OpId(i)).type == "Variable" || graph->op(OpId(i)).type == "Shape")
                    QCOMPARE(table.at(OpId(i), kGpu), 0.0);
            }
            QVERIFY2(std::abs(us / 1e6 - seconds) < 0.3 * seconds, qPrintable(QString::number(us / 1e6)));
        }
    }
};

QTEST_APPLESS_MAIN(TestCostModel)
#include "tst_cost_model.moc"
