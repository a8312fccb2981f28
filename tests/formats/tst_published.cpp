// Small workloads of each published format with exact values, and what is wrong with bad ones.

#include "core/formats/formats.h"
#include "core/graph/graph_stats.h"
#include "tests/formats/published_examples.h"
#include "tests/formats/temp_file.h"

#include <QtTest>

#include <filesystem>

using namespace pw;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const auto at = text.find(what);
    if (at == std::string::npos)
        qFatal("\"%s\" is not in the example", what.c_str());
    return text.replace(at, what.size(), with);
}

std::string attributeOf(const Op& op, std::string_view key) {
    for (const auto& [name, value] : op.attributes) {
        if (name == key)
            return value;
    }
    return "(none)";
}

double costOf(const Op& op, std::string_view kind) {
    for (const MeasuredCost& cost : op.costs) {
        if (cost.kind == kind)
            return cost.us;
    }
    return -1.0;
}

bool hasWarning(const OpGraph& graph, std::string_view kind) {
    return std::any_of(graph.warnings().begin(), graph.warnings().end(),
                       [&](const Warning& warning) { return warning.kind == kind; });
}

double rateBetween(const DeviceSet& devices, std::string_view from, std::string_view to) {
    const LinkId link = devices.linkBetween(*devices.find(from), *devices.find(to));
    return link.isValid() ? devices.link(link).bytesPerUs : 0.0;
}

} // namespace

class TestPublished : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void dnnPartitioning() {
        const std::string path = m_folder.write("w.json", test::kWorkload);
        const GraphPtr graph = load(path);
        QVERIFY(graph);
        QCOMPARE(graph->format(), std::string("dnn-partitioning"));
        QVERIFY(hasWarning(*graph, "unit"));
        const Op& first = graph->op(OpId(std::size_t{0}));
        QCOMPARE(first.name, std::string("a/MatMul_1"));
        QCOMPARE(first.type, std::string("MatMul"));
        QCOMPARE(costOf(first, "gpu"), 2250.0);
        QCOMPARE(costOf(first, "cpu"), 20500.0);
        QCOMPARE(first.paramBytes, 400);
        QCOMPARE(first.colocation, std::string("color:3"));
        QCOMPARE(attributeOf(first, "id"), std::string("7"));
        QCOMPARE(attributeOf(first, "layer_id"), std::string("9"));
        QCOMPARE(attributeOf(first, "edge_cost"), std::string("0.5"));
        QCOMPARE(attributeOf(first, "edge_size"), std::string("1024"));
        QVERIFY(first.phase == Phase::Forward && first.allowedKinds.empty());
        const Op& second = graph->op(OpId(std::size_t{1}));
        QCOMPARE(second.allowedKinds, std::vector<std::string>{"cpu"});
        QCOMPARE(second.colocation, std::string());
        QCOMPARE(costOf(second, "gpu"), -1.0);
        QCOMPARE(costOf(second, "cpu"), 3000.0);
        QVERIFY(graph->op(OpId(std::size_t{2})).phase == Phase::Backward);
        QCOMPARE(graph->op(OpId(std::size_t{2})).colocation, std::string("color:3"));
        QCOMPARE(graph->edges().size(), std::size_t(3));
        QCOMPARE(graph->outputs(OpId(std::size_t{0})).size(), std::size_t(1)); // both readers share the tensor
    }

    void dnnPartitioningDevices() {
        const std::string path = m_folder.write("w.json", test::kWorkload);
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY2(devices.has_value(), devices ? "" : devices.error().toString().c_str());
        QCOMPARE(devices->count(), std::size_t(3));
        QCOMPARE(devices->device(*devices->find("acc:1")).kind, std::string("gpu"));
        QCOMPARE(devices->device(*devices->find("acc:1")).memoryBytes, 1000);
        QCOMPARE(devices->device(*devices->find("cpu:0")).kind, std::string("cpu"));
        QCOMPARE(devices->device(*devices->find("cpu:0")).launchUs, 0.0);
        QCOMPARE(rateBetween(*devices, "acc:0", "acc:1"), 0.0);
        // 1024 bytes in half a millisecond are 2.048 bytes/us, times ten until every cost is a whole number of bytes.
        const double rate = rateBetween(*devices, "acc:0", "cpu:0");
        QCOMPARE(rate, rateBetween(*devices, "cpu:0", "acc:1"));
        const GraphPtr graph = load(path);
        QCOMPARE(static_cast<double>(graph->tensor(graph->outputs(OpId(std::size_t{0}))[0]).bytes) / rate, 500.0);
        QCOMPARE(static_cast<double>(graph->tensor(graph->outputs(OpId(std::size_t{1}))[0]).bytes) / rate, 250.0);
    }

    /// Costs that no size explains: the bytes still give them back.
    void costsWithoutSizes() {
        const std::vector<double> costs = {1e-3, 0.1234567890123, 3.0, 98765.4321, 0.0};
        const std::string path = m_folder.write("c.json", test::workloadWithCosts(costs));
        const GraphPtr graph = load(path);
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY(graph && devices);
        const double rate = rateBetween(*devices, "acc:0", "cpu:1");
        QVERIFY(rateBetween(*devices, "cpu:0", "cpu:1") > 1e5 * rate);
        for (std::size_t i = 0; i < costs.size(); ++i) {
            const double us = static_cast<double>(graph->tensor(graph->outputs(OpId(i))[0]).bytes) / rate;
            QVERIFY2(std::abs(us - costs[i] * 1000.0) <= 1e-7 * 98765.4321 * 1000.0, std::to_string(i).c_str());
        }
    }

    /// Rounding to whole bytes may be felt by no cost that matters, and sizes stay real where the file gives them.
    void roundingStaysBelowTheDearestCost() {
        const std::string path = m_folder.write("c.json", test::workloadWithCosts({1e-9, 0.37, 1e3}));
        const GraphPtr graph = load(path);
        const double rate = rateBetween(*formats::loadDevicesOfGraph(path), "acc:0", "cpu:1");
        for (const double cost : {1e-9, 0.37, 1e3}) {
            const auto op = static_cast<std::size_t>(cost > 1.0 ? 2 : cost > 0.1 ? 1 : 0);
            const double us = static_cast<double>(graph->tensor(graph->outputs(OpId(op))[0]).bytes) / rate;
            QVERIFY(std::abs(us - cost * 1000.0) <= 1e-7 * 1e6);
        }
        QCOMPARE(rate, 2147.483648); // 2 GiB a second: 1e3 units are enough bytes already
    }
    void splitsAreByNodeId() {
        const GraphPtr graph = load(m_folder.write("w.json", test::kWorkload));
        const auto devices = formats::loadDevicesOfGraph(m_folder.path("w.json"));
        const std::string path = m_folder.write("s.json", test::kSplit);
        QVERIFY(*formats::sniff(path) == formats::FileKind::Placement);
        const auto split = formats::loadPlacement(path);
        QVERIFY2(split.has_value(), split ? "" : split.error().toString().c_str());
        std::vector<Warning> warnings;
        const auto placement = formats::applyPlacement(*split, *graph, *devices, warnings);
        QVERIFY2(placement.has_value(), placement ? "" : placement.error().toString().c_str());
        QCOMPARE(devices->device((*placement)[0]).name, std::string("acc:0"));
        QCOMPARE(devices->device((*placement)[1]).name, std::string("cpu:0"));
        QCOMPARE(devices->device((*placement)[2]).name, std::string("acc:0"));
        // The same placement in the program's own form names the ops.
        const auto own = formats::makePlacementFile(*graph, *devices, *placement, "", 0);
        QCOMPARE(own.assignment.at("Relu8"), std::string("cpu:0"));
    }

    void badSplits_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const std::string& text, const char* says) {
            QTest::newRow(name) << QString::fromStdString(text) << says;
        };
        row("twice", replaced(test::kSplit, "[8]", "[9]"), "cpus[0].nodes[0]: node 9 has a device already");
        row("text", replaced(test::kSplit, "[8]", "[\"x\"]"), "cpus[0].nodes[0]: expected a number, found text");
        row("no nodes", replaced(test::kSplit, "\"nodes\": [8]", "\"ops\": [8]"), "cpus[0].nodes: missing");
        row("empty", "{\"fpgas\": [], \"cpus\": [], \"nodes\": []}", "holds no assignment");
        row("no list", replaced(test::kSplit, "[{\"load\": 2, \"nodes\": [8]}]", "8"),
            "cpus: expected an array, found a number");
    }
    void badSplits() {
        QFETCH(QString, text);
        QFETCH(QString, says);
        const auto split = formats::loadPlacement(m_folder.write("s.json", text.toStdString()));
        QVERIFY(!split.has_value());
        QCOMPARE(QString::fromStdString(split.error().toString()),
                 QString::fromStdString(m_folder.path("s.json")) + ": " + says);
    }

    void pipeDream() {
        const std::string path = m_folder.write("graph.txt", test::kPipeDream);
        const GraphPtr graph = load(path);
        QVERIFY(graph);
        const Op& conv = graph->op(*graph->findOp("node2"));
        QCOMPARE(conv.type, std::string("Conv2d"));
        QCOMPARE(costOf(conv, ""), 3750.0);
        QCOMPARE(attributeOf(conv, "forward_ms"), std::string("1.5"));
        QCOMPARE(attributeOf(conv, "module"), std::string("Conv2d(3, 64, kernel_size=(3, 3), padding=(1, 1))"));
        QCOMPARE(conv.paramBytes, 7168);
        QCOMPARE(conv.device, std::string("stage:1"));
        QCOMPARE(graph->tensor(graph->outputs(*graph->findOp("node2"))[0]).bytes, 124);
        const Op& input = graph->op(*graph->findOp("node1"));
        QCOMPARE(input.type, std::string("Input"));
        QCOMPARE(attributeOf(input, "module"), std::string("Input -- with -- dashes"));
        QCOMPARE(graph->edges().size(), std::size_t(1));
        const auto placement = formats::loadPlacement(path);
        QVERIFY(placement.has_value());
        QCOMPARE(placement->devices, (std::vector<std::string>{"stage:0", "stage:1"}));
        QCOMPARE(placement->assignment.at("node2"), std::string("stage:1"));
    }

    /// Each task costs something else on each speed.
    void dagBenchWithTooManySpeeds() {
        std::string tasks;
        std::string nodes;
        for (int i = 0; i < 2000; ++i) {
            tasks += (i == 0 ? "" : ", ") + ("{\"name\": \"t" + std::to_string(i)) + "\", \"cost\": 1}";
            nodes += (i == 0 ? "" : ", ") + ("{\"name\": \"n" + std::to_string(i)) +
                     "\", \"speed\": " + std::to_string(i + 1) + "}";
        }
        const auto graph = formats::loadGraph(m_folder.write(
            "speeds.json", "{\"name\": \"x\", \"task_graph\": {\"tasks\": [" + tasks +
                               "], \"dependencies\": []}, \"network\": {\"nodes\": [" + nodes + "], \"edges\": []}}"));
        QVERIFY(!graph);
        QVERIFY2(graph.error().code == ErrorCode::TooLarge, graph.error().toString().c_str());
    }

    void dagBench() {
        const std::string path = m_folder.write("d.json", test::kDagBench);
        const GraphPtr graph = load(path);
        QVERIFY(graph);
        QCOMPARE(graph->name(), std::string("w.tiny"));
        const Op& task = graph->op(*graph->findOp("load_0"));
        QCOMPARE(task.type, std::string("load"));
        QCOMPARE(costOf(task, ""), 3000.0);
        QCOMPARE(costOf(task, "speed:2"), 1500.0);
        QCOMPARE(costOf(task, "speed:0.5"), 6000.0);
        // Every dependency is a message of its own. A quarter of a byte: everything is 100 times as large.
        QCOMPARE(graph->outputs(*graph->findOp("load_0")).size(), std::size_t(2));
        QCOMPARE(graph->tensor(graph->outputs(*graph->findOp("load_0"))[0]).bytes, 25);
        QCOMPARE(graph->tensor(graph->outputs(*graph->findOp("load_0"))[1]).bytes, 800);
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY(devices.has_value());
        QCOMPARE(devices->count(), std::size_t(3));
        QCOMPARE(devices->device(*devices->find("N1")).kind, std::string("speed:0.5"));
        QCOMPARE(rateBetween(*devices, "N0", "N1"), 50.0); // 500 per ms, in hundredths of a byte per us
        QCOMPARE(rateBetween(*devices, "N1", "N0"), 50.0); // listed one way only
        QCOMPARE(rateBetween(*devices, "N1", "N2"), 1.0);
        QCOMPARE(rateBetween(*devices, "N2", "N1"), 2.0);
        QCOMPARE(rateBetween(*devices, "N0", "N2"), 0.0); // speed 0: no connection
    }

    void standardTaskGraph() {
        const GraphPtr graph = load(m_folder.write("a.stg", test::kStg));
        QVERIFY(graph);
        QCOMPARE(graph->opCount(), std::size_t(5));
        QCOMPARE(graph->edges().size(), std::size_t(5));
        QCOMPARE(costOf(graph->op(*graph->findOp("task2")), ""), 7.0);
        QCOMPARE(graph->op(*graph->findOp("task0")).type, std::string("Dummy"));
        QCOMPARE(graph->op(*graph->findOp("task3")).type, std::string("Task"));
        QVERIFY(hasWarning(*graph, "processors") && hasWarning(*graph, "unit"));
        QCOMPARE(*computeStats(*graph).depth, std::size_t(4));
        const std::string withoutDummies = "2\n 1 5 0\n 2 7 1 1\n";
        QCOMPARE(load(m_folder.write("b.stg", withoutDummies))->opCount(), std::size_t(2));
        const auto devices = formats::loadDevicesOfGraph(m_folder.path("a.stg"));
        QVERIFY(devices.error().code == ErrorCode::NotFound);
        QVERIFY(devices.error().message.find("carries no device set") != std::string::npos);
    }

    void nGraph() {
        const GraphPtr graph = load(m_folder.write("n.json", test::kNGraph));
        QVERIFY(graph);
        const auto dimsOf = [&](const char* op) { return graph->tensor(graph->outputs(*graph->findOp(op))[0]).dims; };
        const auto bytesOf = [&](const char* op) { return graph->tensor(graph->outputs(*graph->findOp(op))[0]).bytes; };
        QCOMPARE(graph->opCount(), std::size_t(7));
        QCOMPARE(dimsOf("Dot_2"), (std::vector<std::int64_t>{2, 3}));
        QCOMPARE(bytesOf("Tanh_3"), 24);
        QCOMPARE(dimsOf("Slice_4"), (std::vector<std::int64_t>{2, 2}));
        QCOMPARE(dimsOf("Concat_5"), (std::vector<std::int64_t>{2, 5}));
        QCOMPARE(bytesOf("Result_6"), 40);
        QCOMPARE(computeStats(*graph).parameterBytes, 2 * 8 * 4 + 8 * 3 * 4);
        QCOMPARE(attributeOf(graph->op(*graph->findOp("Dot_2")), "reduction_axes_count"), std::string("1"));
        QVERIFY(hasWarning(*graph, "functions"));
    }

    void piper() {
        const std::string path = m_folder.write("p.json", test::kPiper);
        const GraphPtr graph = load(path);
        QVERIFY(graph);
        const Op& layer = graph->op(*graph->findOp("node4"));
        QCOMPARE(costOf(layer, ""), 6500.0);
        QCOMPARE(layer.paramBytes, 100);
        QCOMPARE(attributeOf(layer, "variant"), std::string("1 vanilla"));
        QCOMPARE(attributeOf(layer, "memoryUsageB"), std::string("22"));
        QCOMPARE(attributeOf(layer, "syncTimeBw"), std::string("{\"1\":0.5}"));
        QCOMPARE(attributeOf(layer, "variant 2 vanilla"),
                 std::string("{\"parameterSize\":50.0,\"timePerSample\":1.0}"));
        QCOMPARE(attributeOf(layer, "variant 1 activation recomp"),
                 std::string("{\"parameterSize\":100.0,\"timePerSample\":9.0}"));
        QCOMPARE(costOf(graph->op(*graph->findOp("layer1")), ""), 2000.0);
        QCOMPARE(graph->tensor(graph->outputs(*graph->findOp("node4"))[0]).bytes, 4096);
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY(devices.has_value());
        QCOMPARE(devices->count(), std::size_t(3));
        QCOMPARE(devices->device(*devices->find("acc:2")).memoryBytes, 8'000'000'000);
        QCOMPARE(rateBetween(*devices, "acc:2", "acc:0"), 25000.0);
    }

    void modelExplorer() {
        const GraphPtr graph = load(m_folder.write("m.json", test::kModelExplorer));
        QVERIFY(graph);
        QCOMPARE(graph->name(), std::string("main"));
        const OpId conv = *graph->findOp("n1");
        QCOMPARE(graph->op(conv).type, std::string("conv"));
        QCOMPARE(graph->scopePath(graph->op(conv).scope), std::string("net/block"));
        QCOMPARE(graph->inEdges(conv).size(), std::size_t(2));
        QCOMPARE(graph->op(graph->inEdges(conv)[0].producer).name, std::string("w")); // slot 0
        QCOMPARE(graph->op(graph->inEdges(conv)[1].producer).name, std::string("in"));
        QCOMPARE(attributeOf(graph->op(*graph->findOp("in")), "shape"), std::string("1x3"));
        QCOMPARE(graph->outputs(conv).size(), std::size_t(1)); // output number 65000 is one output, not 65,001
        QVERIFY(hasWarning(*graph, "graphs"));
    }

    /// A file may begin with any of its lists, and its telling keys may come late.
    void keysInAnyOrder() {
        for (const std::string& text : test::workloadsWithLateKeys(400)) {
            const std::string path = m_folder.write("order.json", text);
            QCOMPARE(load(path)->opCount(), std::size_t(401));
            QVERIFY(formats::loadDevicesOfGraph(path).has_value());
        }
        QCOMPARE(load(m_folder.write("late.json", test::dagBenchWithLateTasks()))->opCount(), std::size_t(1));
    }

    void badFiles_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const std::string& text, const char* says) {
            QTest::newRow(name) << QString::fromStdString(text) << says;
        };
        row("dnn: no id", replaced(test::kWorkload, "\"id\": 8, ", ""), "nodes[1].id: missing");
        row("dnn: id twice", replaced(test::kWorkload, "\"id\": 8", "\"id\": 7"),
            "nodes[1].id: a second node has the id \"7\"");
        row("dnn: unknown node", replaced(test::kWorkload, "\"destId\": 8", "\"destId\": 88"),
            "edges[0].destId: there is no node \"88\"");
        row("dnn: no edge end", replaced(test::kWorkload, "\"destId\": 8, ", ""), "edges[0].destId: missing");
        row("dnn: negative", replaced(test::kWorkload, "2.25", "-2.25"),
            "nodes[0].fpgaLatency: must be finite and 0 or more, found -2.25");
        row("dnn: negative edge", replaced(test::kWorkload, "0.25", "-1"),
            "edges[2].cost: must be finite and 0 or more, found -1");
        row("dnn: text", replaced(test::kWorkload, "20.5", "\"20.5\""),
            "nodes[0].cpuLatency: expected a number, found text");
        row("dnn: no cost", replaced(test::kWorkload, "\"cpuLatency\": 20.5, ", ""), "nodes[0].cpuLatency: missing");
        row("dnn: not a flag", replaced(test::kWorkload, "\"supportedOnFpga\": 1", "\"supportedOnFpga\": 2"),
            "nodes[0].supportedOnFpga: expected true, false, 0 or 1, found 2");
        row("dnn: size", replaced(test::kWorkload, "400.0", "1e300"), "nodes[0].size: is more than 2^50 bytes");
        row("dnn: not a number", replaced(test::kWorkload, "20.5", "NaN"), "not valid JSON");
        row("dnn: too large", replaced(test::kWorkload, "20.5", "1e999"), "not valid JSON");
        row("dnn: nodes", replaced(test::kWorkload, "\"edges\": [", "\"edges\": 5, \"x\": ["),
            "edges: expected an array, found a number");
        row("dnn: no object", replaced(test::kWorkload, "\"edges\": [", "\"edges\": [3, "),
            "edges[0]: expected an object, found a number");
        row("pipedream: time", replaced(test::kPipeDream, "=1.500", "=fast"),
            "line 1, forward_compute_time: expected a number, 0 or more, found \"fast\"");
        row("pipedream: negative", replaced(test::kPipeDream, "=2.250", "=-2"),
            "line 1, backward_compute_time: expected a number, 0 or more, found \"-2\"");
        row("pipedream: nan", replaced(test::kPipeDream, "=2.250", "=nan"),
            "line 1, backward_compute_time: expected a number, 0 or more, found \"nan\"");
        row("pipedream: list", replaced(test::kPipeDream, "4.0]", "4.0"),
            "line 1, activation_size: the list does not end");
        row("pipedream: missing", replaced(test::kPipeDream, ", parameter_size=7168.000", ""),
            "line 1, parameter_size: missing");
        row("pipedream: edge", replaced(test::kPipeDream, "\tnode1 -- node2", "\tnode1 -- node3"),
            "line 3: there is no node \"node3\"");
        row("pipedream: half an edge", replaced(test::kPipeDream, "\tnode1 -- node2", "\tnode1 --"),
            "line 3: expected \"node -- node\"");
        row("pipedream: twice", replaced(test::kPipeDream, "node1 -- Input", "node2 -- Input"),
            "line 2: a second node has the id \"node2\"");
        row("dagbench: unknown", replaced(test::kDagBench, "\"target\": \"end\"", "\"target\": \"x\""),
            "task_graph.dependencies[1].target: there is no node \"x\"");
        row("dagbench: twice", replaced(test::kDagBench, "\"name\": \"end\"", "\"name\": \"load_0\""),
            "task_graph.tasks[2].name: a second node has the id \"load_0\"");
        row("dagbench: speed", replaced(test::kDagBench, "\"speed\": 0.5", "\"speed\": 0"),
            "network.nodes[1].speed: must be above 0");
        row("dagbench: cost", replaced(test::kDagBench, "\"cost\": 1.5", "\"cost\": true"),
            "task_graph.tasks[1].cost: expected a number, found true or false");
        row("stg: count", replaced(test::kStg, "  3 2\n", "  9 2\n"), "the first line names 9 tasks, there are 5");
        row("stg: predecessor", replaced(test::kStg, "2   1  2", "2   1  9"), "line 6: there is no node \"9\"");
        row("stg: too few", replaced(test::kStg, "2   1  2", "2   1"), "line 6: expected 2 predecessors, found 1");
        row("stg: twice", replaced(test::kStg, "  2   7", "  1   7"), "line 5: a second node has the id \"1\"");
        row("stg: time", replaced(test::kStg, "  2   7", "  2   x"),
            "line 5, time: expected a number, 0 or more, found \"x\"");
        row("ngraph: input", replaced(test::kNGraph, "[\"Dot_2\"]", "[\"Dot_9\"]"),
            "[0].ops[3].inputs[0]: there is no node \"Dot_9\"");
        row("ngraph: no op", replaced(test::kNGraph, "\"op\": \"Tanh\", ", ""), "[0].ops[3].op: missing");
        row("ngraph: name twice", replaced(test::kNGraph, "\"name\": \"Tanh_3\"", "\"name\": \"Dot_2\""),
            "[0].ops[3].name: a second node has the id \"Dot_2\"");
        row("ngraph: shape", replaced(test::kNGraph, "[2, 8]", "[2, -8]"),
            "[0].ops[0].shape[1]: must be 0 or more, found -8");
        row("ngraph: huge", replaced(test::kNGraph, "[2, 8]", "[4611686018427387904, 8]"),
            "[0].ops[0], its output: is more than 2^50 bytes");
        row("piper: degree", replaced(test::kPiper, "\"2\":", "\"two\":"),
            "nodes[0].TMPCs: expected a degree of tensor parallelism, 1 or more, found \"two\"");
        row("piper: time", replaced(test::kPiper, "6.5", "\"6.5\""),
            "nodes[0].TMPCs.1[1].timePerSample: expected a number, found text");
        row("piper: none",
            replaced(test::kPiper, "[{\"id\": \"other\", \"timePerSample\": 2, \"parameterSize\": 0}]", "[]"),
            "nodes[1].TMPCs: has no way to run the layer");
        row("explorer: source", replaced(test::kModelExplorer, "\"sourceNodeId\": \"w\"", "\"sourceNodeId\": \"v\""),
            "graphs[0].nodes[1].incomingEdges[1].sourceNodeId: there is no node \"v\"");
        row("explorer: twice", replaced(test::kModelExplorer, "\"id\": \"w\"", "\"id\": \"in\""),
            "graphs[0].nodes[2].id: a second node has the id \"in\"");
    }
    void badFiles() {
        QFETCH(QString, text);
        QFETCH(QString, says);
        const std::string path = m_folder.write("bad", text.toStdString());
        const auto graph = formats::loadGraph(path);
        QVERIFY(!graph.has_value());
        const QString message = QString::fromStdString(graph.error().toString());
        QVERIFY2(message.startsWith(QString::fromStdString(path) + ": ") && message.contains(says),
                 qPrintable(message));
    }

    void badDevices_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const std::string& text, const char* says) {
            QTest::newRow(name) << QString::fromStdString(text) << says;
        };
        row("dnn: count", replaced(test::kWorkload, "\"maxFPGAs\": 2", "\"maxFPGAs\": 1e9"),
            "maxFPGAs: must be between 0 and 1024, found 1000000000");
        row("dnn: none",
            replaced(replaced(test::kWorkload, "\"maxFPGAs\": 2", "\"maxFPGAs\": 0"), "\"maxCPUs\": 1",
                     "\"maxCPUs\": 0"),
            "devices: a device set needs at least one device");
        row("dnn: missing", replaced(test::kWorkload, "\"maxCPUs\": 1,", ""), "maxCPUs: missing");
        row("dnn: memory", replaced(test::kWorkload, "1000.0", "-1"),
            "maxSizePerFPGA: must be finite and 0 or more, found -1");
        row("piper: count", replaced(test::kPiper, "\"maxDevices\": 3", "\"maxDevices\": 0"),
            "maxDevices: must be between 1 and 1024, found 0");
        row("dagbench: end",
            replaced(test::kDagBench, "\"target\": \"N1\", \"speed\": 500.0", "\"target\": \"N7\", \"speed\": 500.0"),
            "network.edges[1].target: there is no device \"N7\"");
        row("dagbench: twice",
            replaced(test::kDagBench, "\"source\": \"N2\", \"target\": \"N1\"",
                     "\"source\": \"N1\", \"target\": \"N2\""),
            "network.edges[3]: a second edge in this direction");
        row("dagbench: no network", replaced(test::kDagBench, "\"network\"", "\"other\""),
            "network: this task graph comes without a network of devices");
    }
    void badDevices() {
        QFETCH(QString, text);
        QFETCH(QString, says);
        const std::string path = m_folder.write("bad", text.toStdString());
        const auto devices = formats::loadDevicesOfGraph(path);
        QVERIFY(!devices.has_value());
        QCOMPARE(QString::fromStdString(devices.error().toString()), QString::fromStdString(path) + ": " + says);
    }

    void picklesStayClosed() {
        const std::string pickle("\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x08networkx", 20);
        const auto graph = formats::loadGraph(m_folder.write("giph.pkl", pickle));
        QVERIFY(!graph && graph.error().code == ErrorCode::Unsupported);
        QVERIFY2(graph.error().message.find("a Python pickle") != std::string::npos, graph.error().toString().c_str());
    }

    /// Cut anywhere: a graph or an error with a reason, and never a graph with other ops than the whole file's.
    void cutAtEveryByte_data() { addExamples(); }
    void cutAtEveryByte() {
        QFETCH(QString, text);
        const std::string whole = text.toStdString();
        const std::size_t ops = load(m_folder.write("whole", whole))->opCount();
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const std::string path = m_folder.write("cut", std::string_view(whole).substr(0, length));
            const auto graph = formats::loadGraph(path);
            QVERIFY2(graph ? (*graph)->opCount() <= ops : !graph.error().message.empty(),
                     std::to_string(length).c_str());
            const auto devices = formats::loadDevicesOfGraph(path);
            QVERIFY(devices || !devices.error().message.empty());
            const auto placement = formats::loadPlacement(path);
            QVERIFY(placement || !placement.error().message.empty());
        }
    }

    void largeFilesOpenQuickly_data() {
        QTest::addColumn<QString>("format");
        for (const char* format :
             {"dnn-partitioning", "pipedream", "dagbench", "stg", "ngraph", "model-explorer", "piper"})
            QTest::newRow(format) << format;
    }
    void largeFilesOpenQuickly() {
        QFETCH(QString, format);
        constexpr int kOps = 100'000;
        const std::string path = m_folder.write("large", test::publishedChain(format.toStdString(), kOps));
        QElapsedTimer timer;
        timer.start();
        const GraphPtr graph = load(path);
        QVERIFY(graph);
        QCOMPARE(graph->opCount(), std::size_t(kOps));
        QCOMPARE(graph->edges().size(), std::size_t(kOps - 1));
        QVERIFY2(timer.elapsed() < 10'000,
                 std::to_string(timer.elapsed()).c_str()); // a second at most; more only under sanitizers
        qInfo("%lld ms for %.1f MB", static_cast<long long>(timer.elapsed()),
              static_cast<double>(std::filesystem::file_size(path)) / 1e6);
    }

private:
    GraphPtr load(const std::string& path) {
        auto graph = formats::loadGraph(path);
        if (!graph)
            qWarning("%s", graph.error().toString().c_str());
        return graph ? *graph : nullptr;
    }

    static void addExamples() {
        QTest::addColumn<QString>("text");
        for (const test::Example& example : test::publishedExamples())
            QTest::newRow(example.format) << example.text;
    }

    test::TempFolder m_folder;
};

QTEST_APPLESS_MAIN(TestPublished)
#include "tst_published.moc"
