// Values for the dimensions that an ONNX model leaves open.

#include "core/devices/cost_model.h"
#include "core/formats/formats.h"
#include "tests/formats/onnx_wire.h"
#include "tests/formats/temp_file.h"

#include <QtTest>

using namespace pw;
using namespace pw::test;

namespace {

using Dims = std::map<std::string, std::int64_t>;

GraphPtr opened(const std::string& path, const Dims& dims) {
    formats::LoadOptions options;
    options.dims = dims;
    auto graph = formats::loadGraph(path, options);
    if (!graph)
        qWarning("%s", graph.error().toString().c_str());
    return graph ? *graph : nullptr;
}

struct Totals {
    std::int64_t outputBytes = 0;
    double flops = 0.0;
    std::int64_t parameterBytes = 0;
};

Totals totals(const OpGraph& graph) {
    Totals sums;
    for (const Tensor& tensor : graph.tensors())
        sums.outputBytes += tensor.bytes;
    for (std::size_t i = 0; i < graph.opCount(); ++i) {
        sums.flops += opWork(graph, OpId(i)).flops;
        sums.parameterBytes += graph.op(OpId(i)).paramBytes;
    }
    return sums;
}

const Warning* warningOf(const OpGraph& graph, const std::string& kind) {
    for (const Warning& warning : graph.warnings()) {
        if (warning.kind == kind)
            return &warning;
    }
    return nullptr;
}

/// y = Relu(x), x of [batch, ?, 4].
std::string reluModel() {
    return wire::model(wire::bytes(1, wire::node("Relu", {"x"}, {"y"}, "n")) + wire::bytes(2, "g") +
                       wire::bytes(11, wire::valueInfo("x", 1, {"batch", "", "4"})) +
                       wire::bytes(12, wire::valueInfo("y", 1, {"batch", "", "4"})));
}

} // namespace

class TestOnnxDims : public QObject {
    Q_OBJECT

    TempFolder m_folder;

private Q_SLOTS:
    void byNameAndByPlace() {
        const std::string path = m_folder.write("m.onnx", reluModel());
        const auto dimsOf = [&](const Dims& dims) { return opened(path, dims)->tensor(TensorId(0)).dims; };
        QCOMPARE(dimsOf({}), (std::vector<std::int64_t>{-1, -1, 4}));
        QCOMPARE(dimsOf({{"batch", 8}}), (std::vector<std::int64_t>{8, -1, 4}));
        QCOMPARE(dimsOf({{"x[1]", 3}}), (std::vector<std::int64_t>{-1, 3, 4}));
        QCOMPARE(dimsOf({{"batch", 8}, {"x[1]", 3}}), (std::vector<std::int64_t>{8, 3, 4}));
        const GraphPtr graph = opened(path, {{"batch", 8}, {"x[1]", 3}});
        QCOMPARE(graph->tensor(TensorId(0)).bytes, std::int64_t{8 * 3 * 4 * 4});
        QVERIFY(warningOf(*graph, "dynamic_dims") == nullptr);
        // Without values they count as 1, and the warning says which ones there are.
        const GraphPtr open = opened(path, {});
        QCOMPARE(open->tensor(TensorId(0)).bytes, std::int64_t{4 * 4});
        const Warning* warning = warningOf(*open, "dynamic_dims");
        QVERIFY(warning != nullptr);
        QVERIFY(warning->detail.find("batch, x[1]") != std::string::npos);
    }

    void unknownNamesAreAnswered() {
        const std::string path = m_folder.write("m.onnx", reluModel());
        const GraphPtr graph = opened(path, {{"bacth", 8}, {"x[1]", 3}});
        const Warning* warning = warningOf(*graph, "unknown_dim");
        QVERIFY(warning != nullptr);
        QCOMPARE(warning->where, std::string("bacth"));
        QVERIFY2(warning->detail.find("there are: batch, x[1]") != std::string::npos, warning->detail.c_str());
        const std::string fixed =
            m_folder.write("f.onnx", wire::model(wire::bytes(1, wire::node("Relu", {"x"}, {"y"}, "n")) +
                                                 wire::bytes(11, wire::valueInfo("x", 1, {"2", "4"}))));
        const GraphPtr other = opened(fixed, {{"batch", 8}});
        warning = warningOf(*other, "unknown_dim");
        QVERIFY(warning != nullptr && warning->detail.find("no dimension that is not fixed") != std::string::npos);
        QCOMPARE(other->tensor(TensorId(0)).bytes, std::int64_t{2 * 4 * 4});
    }

    /// A batch of eight: eight times the activations and the work, the same weights.
    void everythingScales() {
        const std::string path = PW_SHARED_DATA "/onnx/super_resolution.onnx";
        if (!std::filesystem::exists(path))
            QSKIP("the shared data folder is not here");
        const GraphPtr open = opened(path, {});
        const Warning* warning = warningOf(*open, "dynamic_dims");
        QVERIFY(warning != nullptr);
        const std::string name = warning->detail.substr(warning->detail.find("there are: ") + 11);
        const std::string dim = name.substr(0, name.find_first_of(",)"));
        const GraphPtr one = opened(path, {{dim, 1}});
        const GraphPtr eight = opened(path, {{dim, 8}});
        const Totals small = totals(*one);
        const Totals large = totals(*eight);
        QVERIFY(small.flops > 0.0);
        QCOMPARE(large.parameterBytes, small.parameterBytes);
        std::int64_t fixedBytes = 0; // of tensors that hold shapes and constants
        std::size_t scaled = 0;
        for (std::size_t i = 0; i < one->tensorCount(); ++i) {
            const std::int64_t a = one->tensor(TensorId(i)).bytes;
            const std::int64_t b = eight->tensor(TensorId(i)).bytes;
            const bool isFixed = a == b;
            QVERIFY2(isFixed || b == 8 * a, one->tensor(TensorId(i)).name.c_str());
            fixedBytes += isFixed ? a : 0;
            scaled += isFixed ? 0 : 1;
        }
        QVERIFY2(scaled * 2 > one->tensorCount(), "most tensors are activations");
        QVERIFY2(fixedBytes * 100 < small.outputBytes, "what does not scale is small");
        QCOMPARE(large.outputBytes - fixedBytes, 8 * (small.outputBytes - fixedBytes));
        QVERIFY(std::abs(large.flops / small.flops - 8.0) < 1e-3);
    }

    /// Functions, control flow, ONNX-ML and quantised ops: each op has a cost, or is listed as one without a formula.
    void everyOpIsCostedOrListed() {
        if (!std::filesystem::exists(PW_SHARED_DATA "/onnx"))
            QSKIP("the shared data folder is not here");
        const DeviceSet devices = *devicePreset("2xP100");
        std::map<std::string, std::size_t> listed;
        std::size_t ops = 0;
        std::size_t containers = 0;
        for (const auto& file : std::filesystem::directory_iterator(PW_SHARED_DATA "/onnx")) {
            if (file.path().extension() != ".onnx")
                continue;
            const GraphPtr graph = opened(file.path().string(), {});
            QVERIFY(graph);
            const CostTable costs = computeCosts(*graph, devices);
            for (std::size_t i = 0; i < graph->opCount(); ++i, ++ops) {
                const Op& op = graph->op(OpId(i));
                if (!op.bodies.empty()) { // functions, If, Loop, Scan: what is inside
                    QVERIFY2(costs.source[i] == CostSource::Formula && costs.at(OpId(i), DeviceId(0)) > 0.0,
                             op.name.c_str());
                    ++containers;
                    continue;
                }
                const OpWork work = opWork(*graph, OpId(i));
                QCOMPARE(costs.source[i] == CostSource::Default, !work.known);
                if (!work.known)
                    ++listed[op.type];
            }
        }
        for (const auto& [type, count] : listed)
            qInfo("no formula: %s (%zu)", type.c_str(), count);
        QVERIFY(ops > 1000);
        QVERIFY(containers >= 5);
        QVERIFY2(listed.size() < 20, "most op types have a formula");
    }
};

QTEST_APPLESS_MAIN(TestOnnxDims)
#include "tst_onnx_dims.moc"
