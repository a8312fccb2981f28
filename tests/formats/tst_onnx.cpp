// ONNX import: names, captures, bodies, weights, broken and hostile files, the worker process.

#include "core/base/clock.h"
#include "core/formats/formats.h"
#include "core/graph/graph_stats.h"
#include "tests/formats/onnx_wire.h"
#include "tests/formats/temp_file.h"

#include <QtTest>

#include <fstream>
#include <sys/stat.h>
#include <thread>

using namespace pw;
using namespace pw::test;

namespace {

std::string thisProgram;

/// A line of /proc/self/status ("VmHWM" is the peak since it was last reset) in bytes.
std::int64_t statusBytes(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(key + ":"))
            return std::stoll(line.substr(key.size() + 1)) * 1024;
    }
    return -1;
}

bool resetPeak() {
    std::ofstream clear("/proc/self/clear_refs");
    clear << "5" << std::flush;
    return clear.good();
}

std::size_t warningsOf(const OpGraph& graph, std::string_view kind) {
    return static_cast<std::size_t>(std::count_if(graph.warnings().begin(), graph.warnings().end(),
                                                  [&](const Warning& warning) { return warning.kind == kind; }));
}

std::string attribute(const Op& op, std::string_view key) {
    for (const auto& [name, value] : op.attributes) {
        if (name == key)
            return value;
    }
    return {};
}

/// x [batch, 8] -> MatMul(w 8x4) -> a -> Relu -> y
std::string smallGraph() {
    using namespace wire;
    return bytes(1, node("MatMul", {"x", "w"}, {"a"}, "mm")) + bytes(1, node("Relu", {"a"}, {"y"})) +
           bytes(2, "small") + bytes(5, tensor("w", 1, {8, 4}) + bytes(9, std::string(128, '\1'))) +
           bytes(11, valueInfo("x", 1, {"batch", "8"})) + bytes(12, valueInfo("y", 1, {"", ""}));
}

} // namespace

class TestOnnx : public QObject {
    Q_OBJECT

    GraphPtr load(const std::string& content, const formats::LoadOptions& options = {}) {
        const auto graph = formats::loadGraph(m_folder.write("model.onnx", content), options);
        if (!graph)
            QTest::qFail(graph.error().toString().c_str(), __FILE__, __LINE__);
        return graph ? *graph : nullptr;
    }
    Error loadError(const std::string& content) {
        const auto graph = formats::loadGraph(m_folder.write("model.onnx", content));
        return graph ? Error{ErrorCode::Internal, "opened", {}, {}} : graph.error();
    }

    TempFolder m_folder;
    TempFolder m_programs{TempFolder::Place::Disk};

private Q_SLOTS:
    void namesWeightsAndShapes() {
        const GraphPtr graph = load(wire::model(smallGraph()));
        QVERIFY(graph);
        QCOMPARE(graph->name(), std::string("small"));
        QCOMPARE(graph->op(OpId(0)).name, std::string("mm"));
        QCOMPARE(graph->op(OpId(1)).name, std::string("y")); // no name: its first output's
        QCOMPARE(graph->op(OpId(0)).paramBytes, std::int64_t{128});
        QCOMPARE(attribute(graph->op(OpId(0)), "input_shapes"), std::string("?x8;8x4"));
        const Tensor& a = graph->tensor(graph->outputs(OpId(0))[0]);
        QCOMPARE(a.name, std::string("a"));
        QCOMPARE(a.dtype, std::string("f32"));
        QCOMPARE(a.dims, (std::vector<std::int64_t>{-1, 4}));
        QCOMPARE(a.bytes, std::int64_t{16}); // the open dimension counts as 1
        QCOMPARE(warningsOf(*graph, "dynamic_dims"), std::size_t{1});
    }

    void dimsGetValues() {
        formats::LoadOptions options;
        options.dims = {{"batch", 32}, {"nothing", 3}};
        for (const bool worker : {false, true}) {
            options.workerProgram = worker ? thisProgram : std::string();
            const GraphPtr graph = load(wire::model(smallGraph()), options);
            QVERIFY(graph);
            QCOMPARE(graph->tensor(TensorId(1)).dims, (std::vector<std::int64_t>{32, 4}));
            QCOMPARE(graph->tensor(TensorId(1)).bytes, std::int64_t{512});
            QCOMPARE(warningsOf(*graph, "dynamic_dims"), std::size_t{0});
            QCOMPARE(warningsOf(*graph, "unknown_dim"), std::size_t{1});
        }
    }

    void unnamedDimsAreNamedByInputAndAxis() {
        using namespace wire;
        const std::string graph = bytes(1, node("Relu", {"x"}, {"y"})) + bytes(11, valueInfo("x", 1, {"", "3"}));
        formats::LoadOptions options;
        options.dims = {{"x[0]", 5}};
        QCOMPARE(load(model(graph), options)->tensor(TensorId(0)).dims, (std::vector<std::int64_t>{5, 3}));
    }

    void shapeArithmeticIsFollowed() {
        using namespace wire;
        // Reshape by a Concat of what Shape and Gather take from x.
        const std::string graph = bytes(1, node("Shape", {"x"}, {"s"})) +
                                  bytes(1, node("Gather", {"s", "zero"}, {"n"}, "", intAttribute("axis", 0))) +
                                  bytes(1, node("Concat", {"n", "rest"}, {"target"}, "", intAttribute("axis", 0))) +
                                  bytes(1, node("Reshape", {"x", "target"}, {"y"})) +
                                  bytes(5, int64Tensor("zero", {0})) + bytes(5, int64Tensor("rest", {-1})) +
                                  bytes(11, valueInfo("x", 1, {"2", "3", "4"}));
        const GraphPtr built = load(model(graph));
        QVERIFY(built);
        QCOMPARE(built->tensor(TensorId(3)).dims, (std::vector<std::int64_t>{2, 12}));
    }

    void bodiesCaptureFromOuterGraphs() {
        using namespace wire;
        // The inner body reads "a" of the outermost graph, two levels up, and the weights "w".
        const std::string inner = bytes(1, node("Add", {"a", "w"}, {"i"})) + bytes(12, valueInfo("i", 1, {"2"}));
        const std::string middle =
            bytes(1, node("Not", {"c"}, {"d"})) +
            bytes(1, node("If", {"d"}, {"m"}, "inner_if", graphAttribute("then_branch", inner))) +
            bytes(12, valueInfo("m", 1, {"2"}));
        const std::string passThrough = bytes(12, valueInfo("a", 1, {"2"})); // hands out an outer value
        const std::string graph =
            bytes(1, node("Relu", {"x"}, {"a"}, "relu")) +
            bytes(1, node("If", {"c"}, {"y"}, "outer_if",
                          graphAttribute("then_branch", middle) + graphAttribute("else_branch", passThrough))) +
            bytes(5, tensor("w", 1, {2})) + bytes(5, tensor("unused", 1, {100})) + bytes(11, valueInfo("x", 1, {"2"})) +
            bytes(11, valueInfo("c", 9, {"1"}));
        const GraphPtr built = load(model(graph));
        QVERIFY(built);
        QCOMPARE(built->opCount(), std::size_t{2});
        QCOMPARE(built->opCountWithBodies(), std::size_t{5});
        const auto edges = built->inEdges(OpId(1));
        QCOMPARE(edges.size(), std::size_t{1}); // one capture, though two bodies read it; "c" is an input of the graph
        QVERIFY(edges[0].kind == EdgeKind::Capture && edges[0].producer == OpId(0));
        QCOMPARE(built->op(OpId(1)).paramBytes, std::int64_t{8});
        QCOMPARE(built->unattachedParameterBytes(), std::int64_t{400});
        QCOMPARE(computeStats(*built).parameterBytes, std::int64_t{408});
        QCOMPARE(*computeStats(*built).depth, std::size_t{2});
        QCOMPARE(built->op(OpId(1)).bodies[0].name, std::string("then_branch"));
        QCOMPARE(warningsOf(*built, "missing_input"), std::size_t{0});
    }

    void tripCountOfLoop() {
        using namespace wire;
        const std::string body = bytes(1, node("Identity", {"cond"}, {"cond_out"})) + bytes(11, valueInfo("i", 7, {})) +
                                 bytes(11, valueInfo("cond", 9, {})) + bytes(12, valueInfo("cond_out", 9, {}));
        const std::string graph = bytes(1, node("Loop", {"n", ""}, {}, "loop", graphAttribute("body", body))) +
                                  bytes(5, int64Tensor("n", {7}));
        QCOMPARE(load(model(graph))->op(OpId(0)).tripCount, 7.0);
    }

    void functionsBecomeBodies() {
        using namespace wire;
        const std::string callSelf = bytes(4, "Again") + bytes(7, "own");
        const std::string function = bytes(1, "Again") + bytes(4, "p") + bytes(5, "q") +
                                     bytes(7, node("Relu", {"p"}, {"t"})) +
                                     bytes(7, bytes(1, "t") + bytes(2, "q") + callSelf) + bytes(10, "own");
        const std::string graph =
            bytes(1, bytes(1, "x") + bytes(2, "y") + callSelf) + bytes(11, valueInfo("x", 1, {"2"}));
        const GraphPtr built = load(model(graph) + bytes(25, function));
        QVERIFY(built);
        QCOMPARE(built->op(OpId(0)).type, std::string("own::Again"));
        QCOMPARE(built->op(OpId(0)).bodies.size(), std::size_t{1});
        QCOMPARE(built->opCountWithBodies(), std::size_t{3}); // the call inside the body stays without one
    }

    void missingInputsAndCyclesOpen() {
        using namespace wire;
        const std::string graph = bytes(1, node("Add", {"b", "nowhere"}, {"a"})) + bytes(1, node("Relu", {"a"}, {"b"}));
        const GraphPtr built = load(model(graph, 999)); // an opset from the future
        QVERIFY(built);
        QVERIFY(built->isCyclic());
        QCOMPARE(warningsOf(*built, "missing_input"), std::size_t{1});
        QCOMPARE(warningsOf(*built, "cycle"), std::size_t{1});
    }

    void namesThatAreNotUtf8() {
        using namespace wire;
        const GraphPtr built =
            load(model(bytes(1, node("Re\xfflu", {"x"}, {"\xc3\x28"}, "\xff\xfe")) + bytes(2, "g\xff")));
        QVERIFY(built);
        QCOMPARE(built->op(OpId(0)).name, std::string("\xef\xbf\xbd\xef\xbf\xbd"));
        QVERIFY(formats::fromGraphJson(formats::toGraphJson(*built)).has_value());
    }

    /// Any prefix of a model either opens or is refused with the reason.
    void truncatedAnywhere() {
        const std::string whole = wire::model(smallGraph());
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const auto graph =
                formats::loadGraph(m_folder.write("cut.onnx", std::string_view(whole).substr(0, length)));
            QVERIFY(graph || !graph.error().message.empty());
            QVERIFY(graph || !graph.error().file.empty());
        }
        const Error error = loadError(whole.substr(0, whole.size() / 2));
        QVERIFY(error.code == ErrorCode::Parse);
        QVERIFY2(error.message.find("cut off") != std::string::npos, error.message.c_str());
    }

    void bitFlips() {
        const std::string whole = wire::model(smallGraph());
        for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
            std::string damaged = whole;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
            const auto graph = formats::loadGraph(m_folder.write("flip.onnx", damaged));
            QVERIFY(graph || !graph.error().message.empty());
        }
    }

    void hugeDeclaredLengths() {
        using namespace wire;
        const std::string huge = varint(std::uint64_t{1} << 62);
        QVERIFY(loadError(number(1, 8) + varint((7U << 3U) | 2U) + huge + "abc").code == ErrorCode::Parse);
        const std::string lyingTensor = varint((5U << 3U) | 2U) + huge + "abc";
        QVERIFY(loadError(number(1, 8) + bytes(7, lyingTensor)).code == ErrorCode::Parse);
        // Dimensions that promise more than there can be: counted as nothing, with a warning.
        const GraphPtr built =
            load(model(bytes(1, node("Relu", {"w"}, {"y"})) + bytes(5, tensor("w", 1, {INT64_MAX, INT64_MAX}))));
        QVERIFY(built);
        QCOMPARE(warningsOf(*built, "bad_size"), std::size_t{1});
        QCOMPARE(computeStats(*built).parameterBytes, std::int64_t{0});
    }

    void recordsBeyondReason() {
        const Error error = loadError(wire::model([] {
            std::string nodes;
            for (int i = 0; i < 400000; ++i)
                nodes += std::string("\x0a\x00", 2); // a node of two bytes
            return nodes;
        }()));
        QVERIFY(error.code == ErrorCode::TooLarge);
    }

    void bodiesNestedTooDeep() {
        std::string graph = wire::bytes(1, wire::node("Relu", {"x"}, {"y"}));
        for (int depth = 0; depth < 100; ++depth)
            graph = wire::bytes(1, wire::node("If", {"c"}, {"y"}, "", wire::graphAttribute("then_branch", graph)));
        const Error error = loadError(wire::model(graph));
        QVERIFY(error.code == ErrorCode::TooLarge);
        QVERIFY2(error.message.find("nest") != std::string::npos, error.message.c_str());
    }

    /// 200 MB of weights are jumped over: the file is sparse, but the reader does not know that.
    void weightsAreNeverHeld() {
        constexpr std::int64_t kWeights = 200 << 20;
        const std::string path = m_folder.path("big.onnx"); // sparse: takes no room
        {
            using namespace wire;
            const std::string head = tensor("w", 1, {kWeights / 4}) + varint((9U << 3U) | 2U) + varint(kWeights);
            const std::string nodes = bytes(1, node("Gather", {"w", "i"}, {"y"}));
            const std::uint64_t tensorSize = head.size() + kWeights;
            const std::string tensorHead = varint((5U << 3U) | 2U) + varint(tensorSize) + head;
            std::ofstream out(path, std::ios::binary);
            out << number(1, 8) << varint((7U << 3U) | 2U) << varint(nodes.size() + tensorHead.size() + kWeights)
                << nodes << tensorHead;
            out.seekp(kWeights - 1, std::ios::cur);
            out.put('\0');
        }
        if (!resetPeak())
            QSKIP("the peak of memory cannot be reset here");
        const std::int64_t before = statusBytes("VmRSS");
        const auto graph = formats::loadGraph(path);
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        QCOMPARE((*graph)->op(OpId(0)).paramBytes, kWeights);
        const std::int64_t growth = statusBytes("VmHWM") - before;
        qInfo("peak grew by %lld kB", static_cast<long long>(growth / 1024));
        QVERIFY(growth < 20 << 20);
    }

    void textForm() {
        const std::string text =
            "# a model\nir_version: 8\ngraph {\n node { input: \"x\" output: \"y\" op_type: \"Relu\" }\n"
            " initializer { dims: 2 dims: 3 data_type: 1 float_data: 1.5 name: \"x\" }\n}\n";
        const auto graph = formats::loadGraph(m_folder.write("model.onnxtxt", text));
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        QCOMPARE((*graph)->op(OpId(0)).paramBytes, std::int64_t{24});
        QCOMPARE((*graph)->name(), std::string("model"));
        const auto broken = formats::loadGraph(m_folder.write("broken.onnxtxt", text + "graph {"));
        QVERIFY(!broken);
        QVERIFY2(broken.error().where.find("line") == 0, broken.error().toString().c_str());
    }

    void workerThatFails_data() {
        QTest::addColumn<QString>("script");
        QTest::newRow("dies") << "kill -SEGV $$";
        QTest::newRow("says nothing") << "cat > /dev/null";
        QTest::newRow("does not read") << "exit 0";
        QTest::newRow("talks nonsense") << "cat > /dev/null; printf Ononsense";
        QTest::newRow("is not there") << "";
    }
    void workerThatFails() {
        QFETCH(QString, script);
        formats::LoadOptions options;
        options.workerProgram = "/nonexistent/worker";
        if (!script.isEmpty()) {
            options.workerProgram = m_programs.write("worker.sh", "#!/bin/sh\n" + script.toStdString() + "\n");
            std::filesystem::permissions(options.workerProgram, std::filesystem::perms::owner_all);
        }
        const GraphPtr graph = load(wire::model(smallGraph()), options);
        QVERIFY(graph);
        QCOMPARE(warningsOf(*graph, "shape_inference"), std::size_t{1});
        QCOMPARE(graph->tensor(TensorId(1)).dims, (std::vector<std::int64_t>{-1, 4})); // own rules stepped in
    }

    /// Every op's output has the shape of the one input: the ONNX library would copy 20,000 dimensions into each. Its
    /// process gets no memory for that.
    void shapesOfHugeRankDoNotMultiply() {
#ifdef __SANITIZE_ADDRESS__
        QSKIP("the worker has no limit under AddressSanitizer, whose shadow memory is larger than any");
#endif
        std::string graph = wire::bytes(11, wire::valueInfo("x", 1, std::vector<std::string>(20000, "1")));
        for (int i = 0; i < 2000; ++i)
            graph += wire::bytes(1, wire::node("Relu", {"x"}, {"t" + std::to_string(i)}));
        formats::LoadOptions options;
        options.workerProgram = thisProgram;
        const GraphPtr opened = load(wire::model(graph), options);
        QVERIFY(opened);
        QCOMPARE(warningsOf(*opened, "shape_inference"), std::size_t{1});
        QVERIFY(!opened->tensor(TensorId(1999)).shapeKnown);
    }

    void stopEndsAHangingWorker() {
        const std::string started = m_folder.path("started"); // a pipe: the worker says that it hangs
        QCOMPARE(::mkfifo(started.c_str(), 0600), 0);
        formats::LoadOptions options;
        options.workerProgram = m_programs.write("hang.sh", "#!/bin/sh\necho > " + started + "\nexec sleep 60\n");
        std::filesystem::permissions(options.workerProgram, std::filesystem::perms::owner_all);
        const std::string path = m_folder.write("model.onnx", wire::model(smallGraph()));
        std::stop_source source;
        options.stop = source.get_token();
        Stopwatch sinceStop;
        std::jthread stopper([&] {
            TempFolder::read(started);
            sinceStop.restart();
            source.request_stop();
        });
        const auto graph = formats::loadGraph(path, options);
        stopper.join();
        const double seconds = sinceStop.seconds();
        QVERIFY(!graph && graph.error().code == ErrorCode::Busy);
        QCOMPARE(graph.error().message, std::string("cancelled"));
        QVERIFY2(seconds < 0.5, std::to_string(seconds).c_str());
    }

    /// The request is larger than any socket buffer in both directions.
    void largeModelThroughTheWorker() {
        std::string graph;
        for (int i = 0; i < 10000; ++i) {
            const std::string in = i == 0 ? "x" : "t" + std::to_string(i - 1);
            graph += wire::bytes(1, wire::node("Relu", {in}, {"t" + std::to_string(i)},
                                               "block" + std::to_string(i / 100) + "/relu" + std::to_string(i)));
        }
        graph += wire::bytes(11, wire::valueInfo("x", 1, {"2", "3"}));
        const std::string path = m_folder.write("large.onnx", wire::model(graph));
        for (const bool worker : {false, true}) {
            formats::LoadOptions options;
            options.workerProgram = worker ? thisProgram : std::string();
            const Stopwatch watch;
            const auto built = formats::loadGraph(path, options);
            qInfo("10,000 nodes %s the worker: %.3f s", worker ? "with" : "without", watch.seconds());
            QVERIFY(built);
            QCOMPARE(warningsOf(**built, "shape_inference"), std::size_t{0});
            QCOMPARE((*built)->tensor(TensorId(9999)).dims, (std::vector<std::int64_t>{2, 3}));
        }
    }
};

int main(int argc, char** argv) {
    if (argc > 2 && std::string(argv[1]) == "--worker")
        return formats::runOnnxShapeWorker();
    thisProgram = argv[0];
    TestOnnx test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_onnx.moc"
