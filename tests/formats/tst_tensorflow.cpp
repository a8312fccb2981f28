// TensorFlow graphs made by hand: one per rule.

#include "core/devices/cost_model.h"
#include "core/formats/formats.h"
#include "core/formats/tf_devices.h"
#include "core/graph/graph_stats.h"
#include "tests/formats/temp_file.h"
#include "tests/formats/tf_wire.h"

#include <QElapsedTimer>
#include <QtTest>

using namespace pw;
using namespace pw::test::tfwire;

namespace {

const test::TempFolder& folder() {
    static const test::TempFolder kFolder;
    return kFolder;
}

Result<GraphPtr> open(std::string_view content, const formats::LoadOptions& options = {},
                      std::string_view name = "graph.pb") {
    return formats::loadGraph(folder().write(name, content), options);
}

GraphPtr load(std::string_view content, const formats::LoadOptions& options = {}) {
    const auto graph = open(content, options);
    if (!graph)
        qWarning("%s", graph.error().toString().c_str());
    return graph.value_or(nullptr);
}

const Op& opOf(const OpGraph& graph, std::string_view name) {
    return graph.op(graph.findOp(name).value());
}

QByteArray shapeOf(const OpGraph& graph, std::string_view name, std::size_t output = 0) {
    const Tensor& tensor = graph.tensor(graph.outputs(graph.findOp(name).value())[output]);
    if (!tensor.shapeKnown)
        return "unknown";
    QByteArray text;
    for (const std::int64_t dim : tensor.dims)
        text += (text.isEmpty() ? "" : "x") + (dim < 0 ? QByteArray("?") : QByteArray::number(qint64(dim)));
    return text.isEmpty() ? "scalar" : text;
}

std::string warningOf(const OpGraph& graph, const std::string& kind) {
    for (const Warning& warning : graph.warnings()) {
        if (warning.kind == kind)
            return warning.detail;
    }
    return {};
}

/// x -> y, with a control edge, and z reads y's second output.
std::string smallGraph() {
    return placeholder("x", {2, 3}) + node("Relu", "y", {"x", "^c"}) + node("NoOp", "c") + node("AddN", "z", {"y:1", "x:0"});
}

} // namespace

class TestTensorflow : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void edges() {
        const GraphPtr graph = load(smallGraph());
        QVERIFY(graph);
        QCOMPARE(graph->format(), std::string("graphdef"));
        const GraphStats stats = computeStats(*graph);
        QCOMPARE(stats.ops, std::size_t{4});
        QCOMPARE(stats.edges, std::size_t{4});
        QCOMPARE(stats.controlEdges, std::size_t{1});
        const auto in = graph->inEdges(graph->findOp("z").value());
        QCOMPARE(graph->tensor(in[0].tensor).outputIndex, 1U);
        QCOMPARE(in[0].slot, 0U);
        QCOMPARE(in[1].slot, 1U);
        QCOMPARE(graph->outputs(graph->findOp("c").value()).size(), std::size_t{0});
    }

    void missingInputsAreCounted() {
        const GraphPtr graph = load(placeholder("x", {1}) + node("AddN", "y", {"gone", "x", "^away", "gone:1"}));
        QVERIFY(graph);
        QCOMPARE(computeStats(*graph).edges, std::size_t{1});
        const std::string warning = warningOf(*graph, "missing_input");
        QVERIFY2(warning.starts_with("3 inputs"), warning.c_str());
        QVERIFY(warning.find("\"gone\", \"^away\"") != std::string::npos);
    }

    void ofTwoNodesWithOneNameTheFirstIsMeant() {
        const GraphPtr graph = load(placeholder("x", {4}) + placeholder("x", {5}) + node("Relu", "y", {"x"}));
        QVERIFY(graph);
        QCOMPARE(shapeOf(*graph, "y"), QByteArray("4"));
        QVERIFY(graph->findOp("x#2"));
        QVERIFY(!warningOf(*graph, "duplicate_name").empty());
    }

    void parameters() {
        const std::string text = number(1, kString) + bytes(2, shape({2})) + bytes(8, "abc") + bytes(8, "de");
        const std::string variable = typeAttr("dtype", kFloat) + shapeAttr("shape", {10, 10});
        const GraphPtr graph = load(constant("w", tensor(kFloat, {3, 4})) + constant("names", text) +
                                    node("VariableV2", "v", {}, variable) + node("VarHandleOp", "h", {}, variable) +
                                    node("ReadVariableOp", "r", {"h"}, typeAttr("dtype", kFloat)));
        QVERIFY(graph);
        QCOMPARE(opOf(*graph, "w").paramBytes, std::int64_t{48});
        QCOMPARE(opOf(*graph, "names").paramBytes, std::int64_t{5});
        QCOMPARE(opOf(*graph, "v").paramBytes, std::int64_t{400});
        QCOMPARE(opOf(*graph, "h").paramBytes, std::int64_t{400});
        QCOMPARE(shapeOf(*graph, "r"), QByteArray("10x10"));
        QCOMPARE(graph->tensor(graph->outputs(graph->findOp("r").value())[0]).bytes, std::int64_t{400});
    }

    void impossibleSizesCountAsNothing() {
        const GraphPtr graph = load(constant("a", tensor(kFloat, {-5, 4})) +
                                    constant("b", tensor(kFloat, {INT64_MAX, INT64_MAX, INT64_MAX})));
        QVERIFY(graph);
        QCOMPARE(computeStats(*graph).parameterBytes, std::int64_t{0});
        QVERIFY(!warningOf(*graph, "bad_size").empty());
    }

    void weightsAreJumpedOver() {
        std::string big = tensor(kFloat, {4 << 20}) + bytes(4, std::string(16 << 20, 'w'));
        const GraphPtr graph = load(placeholder("x", {2}) + constant("w", big));
        QVERIFY(graph);
        QCOMPARE(opOf(*graph, "w").paramBytes, std::int64_t{16} << 20);
        std::string texts = number(1, kString) + bytes(2, shape({5000}));
        for (int i = 0; i < 5000; ++i)
            texts += bytes(8, "word");
        const GraphPtr words = load(constant("words", texts));
        QVERIFY(words);
        QCOMPARE(opOf(*words, "words").paramBytes, std::int64_t{20'000});
    }

    void declaredShapesWin() {
        const std::string shapes = attr("_output_shapes", bytes(1, bytes(7, shape({7, -1})) + bytes(7, number(3, 1))));
        const GraphPtr graph = load(placeholder("x", {2, 5}) + node("Relu", "y", {"x"}, shapes + typeAttr("T", kFloat)));
        QVERIFY(graph);
        QCOMPARE(shapeOf(*graph, "y", 0), QByteArray("7x5"));
        QCOMPARE(shapeOf(*graph, "y", 1), QByteArray("unknown"));
    }

    void sizesForOpenDimensions() {
        const std::string graph = placeholder("x", {-1, 3}) + constant("w", tensor(kFloat, {3, 8})) +
                                  node("MatMul", "y", {"x", "w"}, typeAttr("T", kFloat));
        formats::LoadOptions options;
        QCOMPARE(shapeOf(*load(graph), "y"), QByteArray("?x8"));
        QVERIFY(warningOf(*load(graph), "dynamic_dims").find("x[0]") != std::string::npos);
        options.dims = {{"x[0]", 32}, {"nothing[0]", 2}};
        const GraphPtr loaded = load(graph, options);
        QCOMPARE(shapeOf(*loaded, "y"), QByteArray("32x8"));
        QCOMPARE(opWork(*loaded, loaded->findOp("y").value()).flops, 2.0 * 32 * 3 * 8);
        QVERIFY(!warningOf(*loaded, "unknown_dim").empty());
    }

    void shapeRules_data() {
        QTest::addColumn<QByteArray>("graph");
        QTest::addColumn<QByteArray>("shape");
        const std::string image = placeholder("x", {2, 17, 17, 3});
        const std::string kernel = constant("w", tensor(kFloat, {3, 5, 3, 8}));
        const auto row = [](const char* name, const std::string& graph, const char* shape) {
            QTest::newRow(name) << QByteArray::fromStdString(graph) << QByteArray(shape);
        };
        const std::string same = textAttr("padding", "SAME") + intsAttr("strides", {1, 2, 2, 1});
        const std::string valid = textAttr("padding", "VALID") + intsAttr("strides", {1, 2, 2, 1});
        const std::string ksize = intsAttr("ksize", {1, 3, 3, 1});
        row("conv same", image + kernel + node("Conv2D", "y", {"x", "w"}, same), "2x9x9x8");
        row("conv valid", image + kernel + node("Conv2D", "y", {"x", "w"}, valid), "2x8x7x8");
        row("conv dilated", image + kernel + node("Conv2D", "y", {"x", "w"}, textAttr("padding", "VALID") +
            intsAttr("strides", {1, 1, 1, 1}) + intsAttr("dilations", {1, 2, 2, 1})), "2x13x9x8");
        row("conv explicit", image + kernel + node("Conv2D", "y", {"x", "w"}, textAttr("padding", "EXPLICIT") +
            intsAttr("strides", {1, 1, 1, 1}) + intsAttr("explicit_paddings", {0, 0, 1, 1, 2, 2, 0, 0})), "2x17x17x8");
        row("conv nchw", placeholder("x", {2, 3, 17, 17}) + kernel + node("Conv2D", "y", {"x", "w"}, textAttr("padding",
            "VALID") + intsAttr("strides", {1, 1, 2, 2}) + textAttr("data_format", "NCHW")), "2x8x8x7");
        row("depthwise", image + constant("w", tensor(kFloat, {3, 3, 3, 2})) +
            node("DepthwiseConv2dNative", "y", {"x", "w"}, same), "2x9x9x6");
        row("conv gradient", constant("s", intTensor({2, 17, 17, 3})) + kernel + placeholder("dy", {2, 9, 9, 8}) +
            node("Conv2DBackpropInput", "y", {"s", "w", "dy"}), "2x17x17x3");
        row("max pool", image + node("MaxPool", "y", {"x"}, same + ksize), "2x9x9x3");
        row("average pool", image + node("AvgPool", "y", {"x"}, valid + ksize), "2x8x8x3");
        row("bias gradient", image + node("BiasAddGrad", "y", {"x"}), "3");
        row("matmul", placeholder("x", {4, 5}) + placeholder("w", {6, 5}) +
            node("MatMul", "y", {"x", "w"}, boolAttr("transpose_b", true)), "4x6");
        row("batch matmul", placeholder("x", {7, 4, 5}) + placeholder("w", {7, 6, 5}) +
            node("BatchMatMulV2", "y", {"x", "w"}, boolAttr("adj_y", true)), "7x4x6");
        row("broadcast", placeholder("a", {4, 1, 3}) + placeholder("b", {5, 1}) + node("AddV2", "y", {"a", "b"}), "4x5x3");
        row("mean", image + constant("axes", intTensor({1, 2})) +
            node("Mean", "y", {"x", "axes"}, boolAttr("keep_dims", true)), "2x1x1x3");
        row("sum", image + constant("axes", intTensor({-1})) + node("Sum", "y", {"x", "axes"}), "2x17x17");
        row("reshape", image + constant("s", intTensor({2, -1})) + node("Reshape", "y", {"x", "s"}), "2x867");
        row("reshape by shape", image + node("Shape", "s", {"x"}) + placeholder("z", {17 * 17 * 6}) +
            node("Reshape", "y", {"z", "s"}), "2x17x17x3");
        row("concat", placeholder("a", {2, 3}) + placeholder("b", {2, 4}) + constant("axis", intTensor({1}, true)) +
            node("ConcatV2", "y", {"a", "b", "axis"}), "2x7");
        row("pack", placeholder("a", {2, 3}) + node("Pack", "y", {"a", "a"}, intAttr("axis", 1)), "2x2x3");
        row("expand", placeholder("a", {2, 3}) + constant("axis", intTensor({-1}, true)) +
            node("ExpandDims", "y", {"a", "axis"}), "2x3x1");
        row("squeeze", placeholder("a", {1, 3, 1}) + node("Squeeze", "y", {"a"}, intsAttr("squeeze_dims", {0})), "3x1");
        row("transpose", image + constant("p", intTensor({0, 3, 1, 2})) + node("Transpose", "y", {"x", "p"}), "2x3x17x17");
        row("pad", placeholder("a", {2, 3}) + constant("p", intTensor({1, 1, 0, 2})) + node("Reshape", "q", {"p"}) +
            node("Pad", "y", {"a", "p"}), "4x5");
        row("gather", placeholder("a", {100, 8}) + constant("i", intTensor({1, 2, 3})) +
            constant("axis", intTensor({0}, true)) + node("GatherV2", "y", {"a", "i", "axis"}), "3x8");
        row("batch norm", image + placeholder("s", {3}) + node("FusedBatchNormV3", "y", {"x", "s", "s", "s", "s"}),
            "2x17x17x3");
        row("strided slice", placeholder("a", {10, 6, 5}) + constant("b", intTensor({1, 0})) + constant("e", intTensor({9, 1})) +
            constant("s", intTensor({3, 1})) + node("StridedSlice", "y", {"a", "b", "e", "s"}, intAttr("shrink_axis_mask", 2)),
            "3x5");
        row("batch of a shape", image + node("Shape", "s", {"x"}) + constant("b", intTensor({0})) +
            constant("e", intTensor({1})) + node("StridedSlice", "n", {"s", "b", "e", "e"}, intAttr("shrink_axis_mask", 1)) +
            constant("d", intTensor({867}, true)) + node("Pack", "t", {"n", "d"}) + node("Reshape", "y", {"x", "t"}), "2x867");
        row("fill", constant("s", intTensor({3, 4})) + constant("v", intTensor({1}, true)) + node("Fill", "y", {"s", "v"}), "3x4");
        row("split", constant("axis", intTensor({1}, true)) + placeholder("a", {4, 8}) +
            node("Split", "y", {"axis", "a"}, intAttr("num_split", 4)), "4x2");
        row("one hot", placeholder("a", {6}) + constant("depth", intTensor({10}, true)) +
            node("OneHot", "y", {"a", "depth", "a", "a"}), "6x10");
        row("resize", image + constant("s", intTensor({34, 51})) + node("ResizeBilinear", "y", {"x", "s"}), "2x34x51x3");
        row("loop", placeholder("a", {3, 4}) + node("Enter", "e", {"a"}) + node("Merge", "y", {"e", "n"}) +
            node("NextIteration", "n", {"y"}), "3x4");
    }
    void shapeRules() {
        QFETCH(QByteArray, graph);
        QFETCH(QByteArray, shape);
        const GraphPtr loaded = load(graph.toStdString());
        QVERIFY(loaded);
        QCOMPARE(shapeOf(*loaded, "y"), shape);
    }

    void workOfAConvolution() {
        const GraphPtr graph = load(placeholder("x", {1, 8, 8, 3}) + constant("w", tensor(kFloat, {3, 3, 3, 16})) +
                                    node("Conv2D", "y", {"x", "w"}, textAttr("padding", "SAME") +
                                         intsAttr("strides", {1, 1, 1, 1}) + typeAttr("T", kFloat)));
        const OpWork work = opWork(*graph, graph->findOp("y").value());
        QVERIFY(work.known);
        QCOMPARE(work.flops, 2.0 * 8 * 8 * 16 * 3 * 3 * 3);
    }

    void devicesHaveOneName_data() {
        QTest::addColumn<QByteArray>("written");
        QTest::addColumn<QByteArray>("name");
        for (const char* written : {"/gpu:0", "/device:GPU:0", "/job:localhost/replica:0/task:0/device:GPU:0", "GPU:0", "gpu:0",
                                    "/GPU:0", "/job:localhost/replica:0/task:0/gpu:0", "/device:gpu:00", "device:GPU:0"})
            QTest::newRow(written) << QByteArray(written) << QByteArray("gpu:0");
        QTest::newRow("any") << QByteArray("/device:GPU:*") << QByteArray("gpu:*");
        QTest::newRow("xla") << QByteArray("/device:XLA_CPU:3") << QByteArray("xla_cpu:3");
        QTest::newRow("none") << QByteArray() << QByteArray();
        QTest::newRow("foreign") << QByteArray("my box") << QByteArray("my box");
        QTest::newRow("foreign path") << QByteArray("/a/b:c") << QByteArray("/a/b:c");
        QTest::newRow("job only") << QByteArray("/job:ps/task:1") << QByteArray("job:ps/task:1");
    }
    void devicesHaveOneName() {
        QFETCH(QByteArray, written);
        QFETCH(QByteArray, name);
        formats::TfDeviceNames names;
        names.add(written.toStdString());
        QCOMPARE(QByteArray::fromStdString(names.nameOf(written.toStdString())), name);
    }

    void jobsStayWhereThereAreSeveral() {
        formats::TfDeviceNames names;
        names.add("/job:worker/replica:0/task:1/device:GPU:0");
        QCOMPARE(names.nameOf("/job:worker/task:1/gpu:0"), std::string("gpu:0"));
        QCOMPARE(names.spellingOf("gpu:1").value_or(""), std::string("/job:worker/task:1/device:GPU:1"));
        names.add("/job:ps/task:0/cpu:0");
        QCOMPARE(names.nameOf("/job:worker/task:1/gpu:0"), std::string("job:worker/task:1/gpu:0"));
        QCOMPARE(names.nameOf("/job:ps/task:0/cpu:0"), std::string("job:ps/cpu:0"));
        QCOMPARE(names.spellingOf("job:worker/task:1/gpu:0").value_or(""), std::string("/job:worker/task:1/device:GPU:0"));
        QVERIFY(!names.spellingOf("P100 in the corner"));
    }

    void deviceWarnings() {
        const GraphPtr graph = load(node("NoOp", "a", {}, {}, "/gpu:0") + node("NoOp", "b", {}, {}, "/device:GPU:0") +
                                    node("NoOp", "c", {}, {}, "/device:GPU:*"));
        QCOMPARE(opOf(*graph, "a").device, std::string("gpu:0"));
        QCOMPARE(opOf(*graph, "b").device, std::string("gpu:0"));
        QCOMPARE(computeStats(*graph).devices.size(), std::size_t{2});
        QVERIFY(opOf(*graph, "a").allowedKinds.empty());
        QVERIFY(opOf(*graph, "c").allowedKinds == std::vector<std::string>{"gpu"});
        const std::string warning = warningOf(*graph, "device_spelling");
        QVERIFY2(warning.find("\"gpu:0\" is \"/device:GPU:0\", \"/gpu:0\"") != std::string::npos, warning.c_str());
        QVERIFY(warningOf(*graph, "one_device").empty());
        QVERIFY(!warningOf(*load(node("NoOp", "a", {}, {}, "/gpu:0") + node("NoOp", "b", {}, {}, "/gpu:0")), "one_device").empty());
    }

    void colocation() {
        const GraphPtr graph = load(node("Variable", "v") + node("Assign", "a", {"v"}, locAttr("v")) +
                                    node("Identity", "r", {"v"}, locAttr("a")) + node("Relu", "alone", {"r"}, locAttr("alone")) +
                                    node("Relu", "p", {}, locAttr("removed")) + node("Relu", "q", {}, locAttr("removed")));
        QCOMPARE(opOf(*graph, "v").colocation, std::string("v"));
        QCOMPARE(opOf(*graph, "a").colocation, std::string("v"));
        QCOMPARE(opOf(*graph, "r").colocation, std::string("v"));
        QCOMPARE(opOf(*graph, "alone").colocation, std::string());
        QCOMPARE(opOf(*graph, "p").colocation, std::string("p"));
        QCOMPARE(opOf(*graph, "q").colocation, std::string("p"));
    }

    void functionsBecomeBodies() {
        const std::string body = bytes(3, nodeBody("Relu", "r", {"x"})) + bytes(3, nodeBody("TopKV2", "t", {"r:activations:0"})) +
                                 bytes(3, nodeBody("Relu", "u", {"t:indices:0"}));
        const GraphPtr graph = load(placeholder("x", {2}) + node("StatelessIf", "if", {"x"}, funcAttr("then_branch", "f") +
                                    funcAttr("else_branch", "nowhere")) + node("f", "call", {"x"}) + function("f", {"x"}, body) +
                                    function("unused", {}, bytes(3, nodeBody("NoOp", "n"))));
        QVERIFY(graph);
        const Op& branch = opOf(*graph, "if");
        QCOMPARE(branch.bodies.size(), std::size_t{1});
        QCOMPARE(branch.bodies[0].name, std::string("then_branch"));
        QCOMPARE(branch.bodies[0].graph, opOf(*graph, "call").bodies[0].graph);
        const OpGraph& inner = *branch.bodies[0].graph;
        QCOMPARE(inner.name(), std::string("f"));
        QCOMPARE(inner.edges().size(), std::size_t{2});
        QCOMPARE(inner.tensor(inner.inEdges(inner.findOp("u").value())[0].tensor).outputIndex, 1U);
        QVERIFY(warningOf(inner, "missing_input").empty());
        QVERIFY(warningOf(*graph, "function").find("nowhere") != std::string::npos);
        QCOMPARE(graph->opCount(), std::size_t{3});
        QCOMPARE(graph->opCountWithBodies(), std::size_t{3 + 3 + 3 + 1});
        QVERIFY(!warningOf(*graph, "unused_function").empty());
    }

    void recursionOfFunctionsEnds() {
        const auto call = [](const char* name) { return bytes(3, nodeBody(name, "c")); };
        const GraphPtr graph = load(node("f", "a") + function("f", {}, call("g")) + function("g", {}, call("f")));
        QVERIFY(graph);
        QCOMPARE(graph->opCountWithBodies(), std::size_t{3});
        std::string chain = node("f0", "a");
        for (int i = 0; i < 5000; ++i)
            chain += function("f" + std::to_string(i), {}, call(("f" + std::to_string(i + 1)).c_str()) );
        QVERIFY(load(chain));
        std::string fan = node("f0", "a"); // each calls the next twice: 2^60 ops when written out
        for (int i = 0; i < 60; ++i) {
            const std::string next = "f" + std::to_string(i + 1);
            fan += function("f" + std::to_string(i), {}, bytes(3, nodeBody(next, "p")) + bytes(3, nodeBody(next, "q")));
        }
        QVERIFY(load(fan));
    }

    void loopsMakeAGraphCyclic() {
        const GraphPtr graph = load(placeholder("x", {1}) + node("Enter", "e", {"x"}) + node("Merge", "m", {"e", "n"}) +
                                    node("NextIteration", "n", {"m"}));
        QVERIFY(graph && graph->isCyclic());
        QVERIFY(!warningOf(*graph, "cycle").empty());
    }

    void phases() {
        const GraphPtr graph = load(node("MatMul", "a") + node("MatMul", "gradients/a_grad/MatMul") +
                                    node("ApplyAdam", "train/update") + node("SaveV2", "save/SaveV2"));
        QCOMPARE(opOf(*graph, "a").phase, Phase::Forward);
        QCOMPARE(opOf(*graph, "gradients/a_grad/MatMul").phase, Phase::Backward);
        QCOMPARE(opOf(*graph, "train/update").phase, Phase::Optimizer);
        QCOMPARE(opOf(*graph, "save/SaveV2").phase, Phase::Auxiliary);
    }

    void wrappedGraphs() {
        const GraphPtr plain = load(smallGraph());
        const GraphPtr meta = load(metaGraph(smallGraph()));
        QVERIFY(meta);
        QCOMPARE(meta->format(), std::string("metagraph"));
        QCOMPARE(meta->hash(), plain->hash());
        const GraphPtr saved = load(savedModel({smallGraph(), node("NoOp", "other")}));
        QVERIFY(saved);
        QCOMPARE(saved->format(), std::string("savedmodel"));
        QCOMPARE(saved->hash(), plain->hash());
        QVERIFY(warningOf(*saved, "several_graphs").find("2 graphs") != std::string::npos);
    }

    void eventFiles() {
        const std::string first = record(logEvent(bytes(3, "brain.Event:2")));
        const std::string older = record(logEvent(bytes(4, node("NoOp", "older"))));
        const std::string graph = record(logEvent(bytes(9, metaGraph(smallGraph()))));
        const std::string other = record(logEvent(bytes(5, std::string(300, 's'))));
        const GraphPtr loaded = load(first + older + other + graph + other);
        QVERIFY(loaded);
        QCOMPARE(loaded->format(), std::string("tfevents"));
        QCOMPARE(loaded->hash(), load(smallGraph())->hash());
        QVERIFY(warningOf(*loaded, "several_graphs").find("last") != std::string::npos);
        const GraphPtr cut = load(first + older + graph.substr(0, graph.size() / 2));
        QVERIFY(cut);
        QVERIFY(cut->findOp("older"));
        QVERIFY(!warningOf(*cut, "truncated").empty());
        const auto none = open(first + other);
        QVERIFY(!none);
        QVERIFY(none.error().message.find("without a graph") != std::string::npos);
    }

    void textForm() {
        const std::string text = "# a graph\nnode { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } }\n"
                                 "  attr { key: \"shape\" value { shape { dim { size: 2 } dim { size: 3 } } } } }\n"
                                 "node { name: \"y\" op: \"Relu\" input: \"x\" input: \"^c\" new_field { a: [1, 2] } }\n"
                                 "node < name: 'c' op: 'NoOp' >\n"
                                 "node { name: \"z\" op: \"AddN\" input: [\"y:1\", \"x:0\"] }\nversions { producer: 27 }\n";
        const GraphPtr graph = load(text);
        QVERIFY(graph);
        QCOMPARE(graph->hash(), load(smallGraph() + bytes(4, number(1, 27)))->hash());
        QCOMPARE(load("meta_info_def { tags: \"serve\" }\ngraph_def {\n" + text + "}\n")->hash(), graph->hash());
        QCOMPARE(load("saved_model_schema_version: 1\nmeta_graphs { graph_def {\n" + text + "} }\n")->hash(), graph->hash());
        const auto broken = open("node { name: \"x\" op: \"Relu\" }\nnode { name: \"y\" op \"Relu\" }\n");
        QVERIFY(!broken);
        QVERIFY2(broken.error().where.starts_with("line 2"), broken.error().toString().c_str());
    }

    void costGraphs() {
        const std::string text = "node { name: \"s\" }\n"
                                 "node { name: \"a\" id: 1 output_info { size: 70 } control_input: 0 compute_cost: 58 }\n"
                                 "node { name: \"b\" id: 2 input_info { preceding_node: 1 } compute_cost: 7 temporary_memory_size: 9\n"
                                 "       device: \"/gpu:1\" }\n";
        const GraphPtr graph = load(text);
        QVERIFY(graph);
        QCOMPARE(graph->format(), std::string("costgraph"));
        QCOMPARE(opOf(*graph, "a").costs[0].us, 58.0);
        QCOMPARE(opOf(*graph, "b").workspaceBytes, std::int64_t{9});
        QCOMPARE(opOf(*graph, "b").device, std::string("gpu:1"));
        QCOMPARE(graph->tensor(graph->inEdges(graph->findOp("b").value())[0].tensor).bytes, std::int64_t{70});
        const std::string binary = bytes(1, bytes(1, "s")) +
            bytes(1, bytes(1, "a") + number(3, 1) + bytes(5, number(1, 70)) + number(8, 0) + number(9, 58)) +
            bytes(1, bytes(1, "b") + bytes(2, "/gpu:1") + number(3, 2) + bytes(4, number(1, 1)) + number(6, 9) + number(9, 7));
        QCOMPARE(load(binary)->hash(), graph->hash());
        QVERIFY(!open("node { name: \"s\" compute_cost: 1 }\nnode { name: \"t\" compute_cost: 1 }\n"));
    }

    void tensorFlowJs() {
        const std::string model = R"({"format": "graph-model", "modelTopology": {"node": [
            {"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}, "shape": {"shape": {"dim": [{"size": "2"}, {"size": 3}]}}}},
            {"name": "w", "op": "Const", "attr": {"dtype": {"type": 1}}},
            {"name": "s", "op": "Const", "attr": {"value": {"tensor": {"dtype": "DT_INT32", "tensorShape": {"dim": [{"size": "1"}]}, "intVal": [6]}}}},
            {"name": "y", "op": "Reshape", "input": ["x", "s"], "device": "/gpu:0"}], "library": {"function": []}},
            "weightsManifest": [{"paths": ["a"], "weights": [{"name": "w", "shape": [5, 2], "dtype": "float32"}]}]})";
        const GraphPtr graph = load(model);
        QVERIFY(graph);
        QCOMPARE(graph->format(), std::string("tfjs"));
        QCOMPARE(opOf(*graph, "w").paramBytes, std::int64_t{40});
        QCOMPARE(shapeOf(*graph, "y"), QByteArray("6"));
        QCOMPARE(opOf(*graph, "y").device, std::string("gpu:0"));
        const auto layers = open(R"({"format": "layers-model", "modelTopology": {"class_name": "Sequential"}})");
        QVERIFY(!layers);
        QVERIFY(layers.error().message.find("layers-model") != std::string::npos);
        const auto bad = open(R"({"modelTopology": {"node": [{"name": "x", "op": "Relu", "attr": {"n": {"i": "many"}}}]}})");
        QVERIFY(!bad);
        QCOMPARE(bad.error().where, std::string("modelTopology.node[0].attr.n.i"));
    }

    void textsThatAreNoGraph() {
        const auto labels = open("item {\n  id: 1\n  name: 'cat'\n}\n", {}, "labels.pbtxt");
        QVERIFY(!labels);
        QVERIFY(labels.error().message.find("label map") != std::string::npos);
        const auto triton = open("name: \"m\"\nplatform: \"tensorflow_graphdef\"\nmax_batch_size: 8\n", {}, "config.pbtxt");
        QVERIFY(!triton);
        QVERIFY(triton.error().message.find("Triton") != std::string::npos);
    }

    void everyTruncationEnds_data() {
        QTest::addColumn<QByteArray>("content");
        const auto row = [](const char* name, const std::string& content) {
            QTest::newRow(name) << QByteArray::fromStdString(content);
        };
        const std::string graph = smallGraph() + constant("s", intTensor({1, 2})) +
                                  node("f", "call", {"x"}, locAttr("x") + funcAttr("g", "f")) +
                                  function("f", {"x"}, bytes(3, nodeBody("Relu", "r", {"x"})));
        row("GraphDef", graph);
        row("MetaGraphDef", metaGraph(graph));
        row("SavedModel", savedModel({graph}));
        row("events", record(logEvent(bytes(3, "brain.Event:2"))) + record(logEvent(bytes(4, graph))));
        row("text", "node { name: \"x\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { dim "
                    "{ size: 2 } } int_val: 1 int_val: 2 } } } }\nnode { name: \"y\" op: \"Relu\" input: \"x\" }\n");
        row("costs", "node { name: \"s\" id: 1 compute_cost: 3 output_info { size: 7 } }\n");
        row("tfjs", R"({"modelTopology": {"node": [{"name": "x", "op": "Const", "attr": {"value": {"tensor": {"dtype": 1}}}}]}})");
    }
    void everyTruncationEnds() {
        QFETCH(QByteArray, content);
        QVERIFY(open(content.toStdString()));
        for (qsizetype size = 0; size < content.size(); ++size) {
            const auto graph = open(content.left(size).toStdString());
            QVERIFY(graph || !graph.error().message.empty());
        }
        for (qsizetype at = 0; at < content.size(); ++at) {
            for (const int bit : {0, 3, 7}) {
                QByteArray flipped = content;
                flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
                const auto graph = open(flipped.toStdString());
                QVERIFY(graph || !graph.error().message.empty());
            }
        }
    }

    void cutOffFilesSayWhere() {
        const std::string graph = smallGraph();
        const auto cut = open(graph.substr(0, graph.size() - 3));
        QVERIFY(!cut);
        QVERIFY2(cut.error().message.find("cut off") != std::string::npos, cut.error().toString().c_str());
        QVERIFY(cut.error().where.starts_with("byte "));
    }

    void hostileFiles() {
        QElapsedTimer clock;
        clock.start();
        std::string nested = "node { name: \"x\" op: \"Relu\" attr { key: \"a\" value ";
        for (int i = 0; i < 10'000; ++i)
            nested += "{ func { attr { value ";
        QVERIFY(!open(nested));
        QVERIFY(!open("node { name: \"x\" op: \"Relu\" " + std::string(10'000, '{')));
        std::string unknown = "node { name: \"x\" op: \"Relu\" later ";
        for (int i = 0; i < 10'000; ++i)
            unknown += "{ a ";
        QVERIFY(!open(unknown));
        std::string deep = bytes(1, "f");
        for (int i = 0; i < 10'000; ++i)
            deep = bytes(2, bytes(1, "k") + bytes(2, bytes(10, deep.substr(0, 60'000))));
        open(node("Relu", "x", {}, bytes(5, deep)));
        QVERIFY(!open("\x0a\xff\xff\xff\xff\x07" + nodeBody("Relu", "x").substr(0, 80))); // 2 GB declared
        const GraphPtr many = load(node("Relu", "x") + node("Relu", "y", {"x:2000000000", "x:70000", "x:3"}));
        QVERIFY(many);
        std::string attributes;
        for (int i = 0; i < 100'000; ++i)
            attributes += intAttr("attribute" + std::to_string(i), i);
        QVERIFY(load(node("Relu", "x", {}, attributes)));
        const GraphPtr names = load(node("Relu", std::string(4000, 'n')) + node("Relu", "\xff\xfe", {std::string(4000, 'n')}));
        QVERIFY(names);
        QCOMPARE(computeStats(*names).edges, std::size_t{1});
        QVERIFY(!load(std::string(2'000'000, '\0').insert(0, smallGraph())));
        QVERIFY2(clock.elapsed() < 20'000, qPrintable(QString::number(clock.elapsed())));
    }

    void nodesNeedNameAndOp() {
        const auto noOp = open(smallGraph() + bytes(1, bytes(1, "nothing")));
        QVERIFY(!noOp);
        QCOMPARE(noOp.error().where, std::string("node 4 \"nothing\""));
        const auto noName = open(smallGraph() + bytes(1, bytes(2, "Relu")));
        QVERIFY(!noName);
        QCOMPARE(noName.error().message, std::string("the node has no name"));
    }

    void emptyRecordsAreNotBelieved() {
        std::string empty = smallGraph();
        for (int i = 0; i < 400'000; ++i)
            empty += bytes(1, "");
        const auto graph = open(empty);
        QVERIFY(!graph);
        QCOMPARE(graph.error().code, ErrorCode::TooLarge);
        std::string text = "node { name: \"x\" op: \"Relu\" }\n";
        for (int i = 0; i < 400'000; ++i)
            text += "node{}";
        const auto fromText = open(text);
        QVERIFY(!fromText);
        QCOMPARE(fromText.error().code, ErrorCode::TooLarge);
    }

    void stopping() {
        std::stop_source stop;
        stop.request_stop();
        formats::LoadOptions options;
        options.stop = stop.get_token();
        const auto graph = open(smallGraph(), options);
        QVERIFY(!graph);
        QCOMPARE(graph.error().code, ErrorCode::Busy);
    }
};

QTEST_APPLESS_MAIN(TestTensorflow)
#include "tst_tensorflow.moc"
