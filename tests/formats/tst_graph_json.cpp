#include "core/formats/formats.h"
#include "core/graph/graph_builder.h"
#include "core/graph/graph_stats.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

using namespace pw;
using namespace pw::test;

namespace {

/// The documented example.
const char* const kExample = R"({ "format": "placewright-graph", "version": 1, "name": "W1",
  "ops": [
    { "name": "a", "type": "MatMul", "phase": "forward", "cost_us": 100, "outputs": [{"bytes": 760000, "dtype": "f32", "shape": [1, 190000]}] },
    { "name": "b", "type": "Relu", "inputs": ["a"], "cost_us": {"gpu": 30, "cpu": 300}, "flops": 190000, "bytes_moved": 1520000,
      "param_bytes": 0, "state_bytes": 0, "workspace_bytes": 0, "colocation": "grp1", "devices": ["gpu"], "outputs": [{"bytes": 76000}] },
    { "name": "c", "type": "NoOp", "inputs": ["a:0", "^b"] } ] })";

std::string withOps(const std::string& ops) {
    return R"({"format": "placewright-graph", "version": 1, "ops": [)" + ops + "]}";
}

Op namedOp(std::string name, std::string type) {
    Op op;
    op.name = std::move(name);
    op.type = std::move(type);
    return op;
}

Tensor sized(std::int64_t bytes) {
    Tensor tensor;
    tensor.bytes = bytes;
    return tensor;
}

Tensor shaped(std::vector<std::int64_t> dims) {
    Tensor tensor;
    tensor.shapeKnown = true;
    tensor.dims = std::move(dims);
    return tensor;
}

/// A graph that uses every field there is.
GraphPtr everything() {
    GraphBuilder inner("body", "test");
    const OpId one = inner.addOp(namedOp("x", "Relu"));
    inner.addOutput(one);
    inner.addUnattachedParameterBytes(11);
    const GraphPtr body = std::move(inner).build().value();

    GraphBuilder builder("every\"thing", "test");
    Op op;
    op.name = "a:0"; // reads like an output of "a"
    op.type = "ns::Type";
    op.phase = Phase::Optimizer;
    op.flops = 0.1;
    op.bytesMoved = 7;
    op.paramBytes = 1;
    op.stateBytes = 2;
    op.workspaceBytes = 3;
    op.colocation = "c";
    op.allowedKinds = {"tpu", "gpu"};
    op.costs = {{"gpu", 1.0 / 3.0}, {"cpu", 1e-9}, {"", 2.0}};
    op.tripCount = 3.0;
    op.device = "gpu:1";
    op.attributes = {{"k", "v\n"}};
    op.bodies = {{"then_branch", body}, {"else_branch", body}};
    const OpId first = builder.addOp(op);
    const OpId second = builder.addOp(namedOp("^weird", ""));
    const OpId third = builder.addOp(namedOp("c", "T"));
    builder.setScope(third, "outer/inner");
    // Outputs made out of order.
    const TensorId late = builder.addOutput(third, sized(5));
    Tensor named = shaped({-1, 2});
    named.bytes = 8;
    named.name = "t";
    named.dtype = "f32";
    const TensorId t0 = builder.addOutput(first, named);
    const TensorId t1 = builder.addOutput(first, shaped({}));
    builder.addInput(second, t1, 4);
    builder.addInput(second, t0, 1);
    builder.addInput(third, t0);
    builder.addInput(third, t0);
    builder.addCapture(third, t1);
    builder.addControl(second, third);
    builder.addInput(second, late, 9);
    builder.addUnattachedParameterBytes(1000);
    return std::move(builder).build().value();
}

} // namespace

class TestGraphJson : public QObject {
    Q_OBJECT

    TempFolder m_folder;

private Q_SLOTS:
    void theExampleOfTheInterfaces() {
        const auto graph = formats::fromGraphJson(kExample);
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        QCOMPARE((*graph)->name(), std::string("W1"));
        const Op& b = (*graph)->op(OpId(1));
        QCOMPARE(b.costs.size(), std::size_t{2});
        QCOMPARE(b.flops, 190000.0);
        QCOMPARE(b.bytesMoved, std::int64_t{1520000});
        QCOMPARE(b.allowedKinds, std::vector<std::string>{"gpu"});
        const GraphStats stats = computeStats(**graph);
        QCOMPARE(stats.edges, std::size_t{3});
        QCOMPARE(stats.controlEdges, std::size_t{1});
        QVERIFY((*graph)->warnings().empty());
    }

    void roundTrips() {
        for (const GraphPtr& graph :
             {everything(), w1(), w2(), w3(), generated(200), test::graph("a:3*10@gpu1 -> b => c")}) {
            const auto back = formats::fromGraphJson(formats::toGraphJson(*graph));
            QVERIFY2(back, back ? "" : back.error().toString().c_str());
            QCOMPARE((*back)->hash(), graph->hash());
            QCOMPARE((*back)->unattachedParameterBytes(), graph->unattachedParameterBytes());
            // Once read, writing gives the same bytes: nothing is lost that the hash does not see.
            QCOMPARE(formats::toGraphJson(**formats::fromGraphJson(formats::toGraphJson(**back))),
                     formats::toGraphJson(**back));
        }
    }

    void everyFieldComesBack() {
        const GraphPtr graph = everything();
        const GraphPtr back = formats::fromGraphJson(formats::toGraphJson(*graph)).value();
        const Op& op = back->op(OpId(0));
        QCOMPARE(op.name, std::string("a:0"));
        QCOMPARE(op.device, std::string("gpu:1"));
        QCOMPARE(op.attributes, graph->op(OpId(0)).attributes);
        QCOMPARE(op.bodies[1].name, std::string("else_branch"));
        QCOMPARE(op.bodies[0].graph->unattachedParameterBytes(), std::int64_t{11});
        const Tensor& tensor = back->tensor(back->outputs(OpId(0))[0]);
        QCOMPARE(tensor.name, std::string("t"));
        QCOMPARE(tensor.dims, (std::vector<std::int64_t>{-1, 2}));
        QVERIFY(back->tensor(back->outputs(OpId(0))[1]).shapeKnown);
        QCOMPARE(back->scopePath(back->op(OpId(2)).scope), std::string("outer/inner"));
        QCOMPARE(back->warnings().size(), std::size_t{1}); // only that it has a cycle
    }

    void unknownKeysBecomeAttributes() {
        const auto graph = formats::fromGraphJson(withOps(R"({"name": "a", "colour": {"r": 1}})"));
        QVERIFY(graph);
        QCOMPARE((*graph)->op(OpId(0)).attributes[0], std::pair(std::string("colour"), std::string("{\"r\":1}")));
        QCOMPARE((*graph)->warnings()[0].kind, std::string("unknown_key"));
        QCOMPARE((*graph)->warnings()[0].where, std::string("ops[0].colour"));
    }

    void opsInAnyOrderAndInputObjects() {
        const auto graph = formats::fromGraphJson(withOps(
            R"({"name": "b", "inputs": ["x:1:1", {"op": "x:1", "out": 0}]}, {"name": "x:1", "outputs": [{}, {}]})"));
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        QCOMPARE((*graph)->tensor((*graph)->edges()[0].tensor).outputIndex, 1U);
        QCOMPARE((*graph)->tensor((*graph)->edges()[1].tensor).outputIndex, 0U);
    }

    void errorsNameThePlace_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("where");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* name, const std::string& text, const char* where, const char* reason) {
            QTest::newRow(name) << QString::fromStdString(text) << where << reason;
        };
        row("not JSON", "{\n  \"a\": }", "line 2, column 8", "not valid JSON");
        row("other format", R"({"format": "dot"})", "format", "placewright-graph");
        row("no format", "{}", "format", "placewright-graph");
        row("an array", "[]", "", "found an array");
        row("newer version", R"({"format": "placewright-graph", "version": 2, "ops": []})", "version", "newer");
        row("no ops", R"({"format": "placewright-graph"})", "ops", "missing");
        row("op is a number", withOps("{}, 7"), "ops[1]", "expected an object");
        row("name is a number", withOps(R"({"name": 7})"), "ops[0].name", "expected text");
        row("phase", withOps(R"({"phase": "sideways"})"), "ops[0].phase", "unknown phase");
        row("cost", withOps(R"({"cost_us": {"gpu": "fast"}})"), "ops[0].cost_us.gpu", "expected a number");
        row("negative cost", withOps(R"({"name": "a", "cost_us": -1})"), "op \"a\"", "0 or more");
        row("fraction of a byte", withOps(R"({"param_bytes": 1.5})"), "ops[0].param_bytes", "whole number");
        row("too many bytes", withOps(R"({"param_bytes": 1e300})"), "ops[0].param_bytes", "whole number");
        row("missing op", withOps(R"({}, {}, {}, {"name": "b", "inputs": ["nobody"]})"), "ops[3].inputs[0]",
            "\"nobody\"");
        row("missing output", withOps(R"({"name": "a", "outputs": [{}]}, {"inputs": ["a:1"]})"), "ops[1].inputs[0]",
            "no output 1");
        row("control flag", withOps(R"({"name": "a"}, {"inputs": [{"op": "a", "control": 1}]})"),
            "ops[1].inputs[0].control", "true or false");
        row("slot", withOps(R"({"name": "a"}, {"inputs": [{"op": "a", "slot": 1e9}]})"), "ops[1].inputs[0].slot",
            "range");
        row("shape", withOps(R"({"outputs": [{"shape": [1, true]}]})"), "ops[0].outputs[0].shape[1]",
            "expected a number");
        row("body", withOps(R"({"bodies": [{"name": "x"}]})"), "ops[0].bodies[0].graph", "missing");
    }
    void errorsNameThePlace() {
        QFETCH(QString, text);
        QFETCH(QString, where);
        QFETCH(QString, reason);
        const auto graph = formats::fromGraphJson(text.toStdString(), "x.graph.json");
        QVERIFY(!graph);
        QCOMPARE(QString::fromStdString(graph.error().where), where);
        QVERIFY2(QString::fromStdString(graph.error().message).contains(reason), graph.error().message.c_str());
        QCOMPARE(graph.error().file, std::string("x.graph.json"));
    }

    void nestingIsLimited() {
        for (const char* bracket : {"[", "{\"a\":"}) {
            std::string text;
            for (int i = 0; i < 100000; ++i)
                text += bracket;
            const auto graph = formats::fromGraphJson(text);
            QVERIFY(!graph && graph.error().code == ErrorCode::TooLarge);
        }
        std::string body = withOps("");
        for (int i = 0; i < 80; ++i)
            body = withOps(R"({"bodies": [{"graph": )" + body + "}]}");
        const auto graph = formats::fromGraphJson(body);
        QVERIFY(!graph && graph.error().code == ErrorCode::TooLarge);
    }

    /// A few bytes of file may not become hundreds in memory without end.
    void tinyRecordsAreBounded() {
        const auto many = [](const std::string& record, std::size_t count) {
            std::string list;
            for (std::size_t i = 0; i < count; ++i)
                list += (i > 0 ? "," : "") + record;
            return list;
        };
        for (const std::string& text :
             {withOps(many("{}", 500'000)), withOps(R"({"outputs": [)" + many("{}", 500'000) + "]}"),
              withOps(R"({"attributes": {)" + many(R"("":0)", 10) + "}}, " + many(R"({"":0})", 500'000)),
              withOps(R"({"bodies": [)" + many(R"({"graph":{"ops":[]}})", 100'000) + "]}")}) {
            const auto graph = formats::fromGraphJson(text);
            QVERIFY(!graph);
            QVERIFY(graph.error().code == ErrorCode::TooLarge);
            QVERIFY2(graph.error().where.starts_with("ops["), graph.error().where.c_str());
        }
        QVERIFY(formats::fromGraphJson(withOps(many("{}", 50'000))));
    }

    /// Of a key that is there twice the last one counts, whatever kind of key it is.
    void doubledKeys() {
        const auto graph = formats::fromGraphJson(
            withOps(R"({"name": "x", "name": "y", "cost_us": {"gpu": 1, "gpu": 2}, "attributes": {"k": 1, "k": 2},
                        "odd": 1, "odd": 2, "flops": 7, "flops": null})"));
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        const Op& op = (*graph)->op(OpId(0));
        QCOMPARE(op.name, std::string("y"));
        QCOMPARE(op.costs.size(), std::size_t{1});
        QCOMPARE(op.costs[0].us, 2.0);
        using Pair = std::pair<std::string, std::string>;
        QCOMPARE(op.attributes, (std::vector<Pair>{{"k", "2"}, {"odd", "2"}}));
        QCOMPARE(op.flops, -1.0);
    }

    void truncatedAnywhereAndBitFlips() {
        const std::string whole = formats::toGraphJson(*everything());
        for (std::size_t length = 0; length + 2 < whole.size(); ++length)
            QVERIFY(!formats::fromGraphJson(std::string_view(whole).substr(0, length)));
        for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
            std::string damaged = whole;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
            const auto graph = formats::fromGraphJson(damaged);
            QVERIFY(graph || !graph.error().message.empty());
        }
    }

    void placementIsWrittenAsDevices() {
        const DeviceSet devices =
            DeviceSet::create("two", {{"gpu:0", "gpu", "", 0, 1.0, 1.0, 0.0}, {"gpu:1", "gpu", "", 0, 1.0, 1.0, 0.0}},
                              {})
                .value();
        const GraphPtr graph = w2();
        const auto placement = placementOf({0, 1, 0, 1, 1});
        for (const char* name : {"p.graph.json", "p.dot"}) {
            QVERIFY(formats::saveGraph(*graph, m_folder.path(name), {placement, &devices, {}}));
            const auto back = formats::loadGraph(m_folder.path(name));
            QVERIFY2(back, back ? "" : back.error().toString().c_str());
            QCOMPARE((*back)->op(OpId(1)).device, std::string("gpu:1"));
            QCOMPARE((*back)->op(OpId(2)).device, std::string("gpu:0"));
        }
        QVERIFY(formats::saveGraph(*graph, m_folder.path("p.onnx")).error().code == ErrorCode::Unsupported);
    }

    void largeGraphIsQuick() {
        const GraphPtr graph = generated(50000);
        const std::string text = formats::toGraphJson(*graph);
        QElapsedTimer timer;
        timer.start();
        const auto back = formats::fromGraphJson(text);
        qInfo("%zu ops, %zu MB: %lld ms", graph->opCount(), text.size() >> 20, static_cast<long long>(timer.elapsed()));
        QVERIFY(back && (*back)->hash() == graph->hash());
        QVERIFY(timer.elapsed() < 5000);
    }
};

QTEST_APPLESS_MAIN(TestGraphJson)
#include "tst_graph_json.moc"
