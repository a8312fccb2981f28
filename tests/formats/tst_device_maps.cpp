// Placements in the forms of other programs: read, resolved against a device set, written and read again.

#include "core/formats/formats.h"
#include "core/graph/graph_builder.h"
#include "core/zoo/zoo.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

using namespace pw;
using namespace pw::test;
using Placement = std::vector<DeviceId>;

namespace {

DeviceSet setOf(std::initializer_list<std::pair<const char*, const char*>> namesAndKinds) {
    std::vector<Device> devices;
    for (const auto& [name, kind] : namesAndKinds) {
        Device device;
        device.name = name;
        device.kind = kind;
        devices.push_back(device);
    }
    return DeviceSet::create("set", std::move(devices), {}).value();
}

/// Two GPUs and a CPU whose names say nothing.
DeviceSet odd() {
    return setOf({{"left", "gpu"}, {"host", "cpu"}, {"right", "gpu"}});
}

DeviceSet plain() {
    return setOf({{"gpu:0", "gpu"}, {"gpu:1", "gpu"}, {"cpu:0", "cpu"}});
}

GraphPtr scoped() {
    GraphBuilder builder("scoped", "json");
    for (const char* name : {"model/embed/w", "model/layers.0/attn/q", "model/layers.0/mlp", "model/layers.1/attn/q",
                             "model/layers.10/attn", "lm_head/proj", "loose"}) {
        Op op;
        op.name = name;
        op.type = "Op";
        builder.addOp(op);
    }
    return std::move(builder).build().value();
}

} // namespace

class TestDeviceMaps : public QObject {
    Q_OBJECT

    TempFolder m_folder;
    std::vector<Warning> m_warnings;

    Result<Placement> apply(std::string_view content, const OpGraph& graph, const DeviceSet& devices) {
        m_warnings.clear();
        auto file = formats::loadPlacement(m_folder.write("x", content));
        if (!file)
            return fail(file.error());
        return formats::applyPlacement(*file, graph, devices, m_warnings);
    }
    static Placement ids(std::initializer_list<int> devices) { return placementOf(devices); }

private Q_SLOTS:
    void kinds() {
        const auto kind = [&](std::string_view content) {
            return formats::sniff(m_folder.write("x", content)).value();
        };
        QCOMPARE(kind(R"({"model.embed": 0, "lm_head": "cpu", "": 0})"), formats::FileKind::Placement);
        QCOMPARE(kind(R"({"a": "/job:worker/device:GPU:0"})"), formats::FileKind::Placement);
        QCOMPARE(kind(R"([{"ep_name": "CPUExecutionProvider", "nodes": []}])"), formats::FileKind::Placement);
        QCOMPARE(kind(R"({"a": "b"})"), formats::FileKind::Unknown);
        QCOMPARE(kind(R"({"a": [0]})"), formats::FileKind::Unknown);
        QCOMPARE(kind("{}"), formats::FileKind::Unknown);
    }

    void accelerate() {
        const GraphPtr graph = scoped();
        const auto placed =
            apply(R"({"model.embed": 0, "model.layers.0": 1, "model.layers.1": "cuda:1", "lm_head": "cpu", "": 0})",
                  *graph, odd());
        // layers.10 does not begin with the module layers.1, and the CPU is the one device of its kind.
        QCOMPARE(placed.value(), ids({0, 2, 2, 2, 0, 1, 0}));
        QVERIFY(m_warnings.empty());
    }

    void accelerateOddities() {
        const GraphPtr graph = scoped();
        QCOMPARE(apply(R"({"": 0, "model/layers.0/mlp": 1})", *graph, plain()).value(), ids({0, 0, 1, 0, 0, 0, 0}));
        QCOMPARE(apply(R"({"": 0, "lm_head": "disk"})", *graph, plain()).value(), ids({0, 0, 0, 0, 0, 2, 0}));
        QCOMPARE(m_warnings.at(0).kind, std::string("disk"));
        QCOMPARE(apply(R"({"": 0, "gone": 1})", *graph, plain()).value(), ids({0, 0, 0, 0, 0, 0, 0}));
        QCOMPARE(m_warnings.at(0).kind, std::string("unknown_op"));
        QVERIFY(apply(R"({"model": 0})", *graph, plain()).error().where.find("lm_head/proj") != std::string::npos);
        QVERIFY(apply(R"({"": 7})", *graph, plain()).error().message.find("gpu:7") != std::string::npos);
        QVERIFY(apply(R"({"gone": 0})", *graph, plain()).error().message.find("none of the 1 modules") !=
                std::string::npos);
    }

    void tensorFlowStrings() {
        const GraphPtr graph = pw::test::graph("a -> b -> c");
        QCOMPARE(apply("op,device\na,/device:GPU:1\nb,/job:localhost/replica:0/task:0/device:CPU:0\nc,/gpu:0\n", *graph,
                       odd())
                     .value(),
                 ids({2, 1, 0}));
        QCOMPARE(apply(R"({"a": "/job:localhost/replica:0/task:0/device:GPU:1", "b": "/cpu:0", "c": "/gpu:0"})", *graph,
                       odd())
                     .value(),
                 ids({2, 1, 0}));
        // Two tasks with a GPU each: their devices follow each other.
        QCOMPARE(apply("a,/job:worker/task:0/device:GPU:0\nb,/job:worker/task:1/device:GPU:0\nc,/job:worker/task:1/"
                       "device:GPU:0\n",
                       *graph, plain())
                     .value(),
                 ids({0, 1, 1}));
        // Task 10 comes after task 2.
        QCOMPARE(apply("a,/job:worker/task:10/device:GPU:0\nb,/job:worker/task:2/device:GPU:0\nc,/job:worker/task:2/"
                       "device:GPU:0\n",
                       *graph, plain())
                     .value(),
                 ids({1, 0, 0}));
        QVERIFY(
            apply("op,device\na,/device:TPU:0\nb,/cpu:0\nc,/gpu:0\n", *graph, odd()).error().message.find("tpu:0") !=
            std::string::npos);
    }

    void onnxRuntime() {
        const GraphPtr graph = pw::test::graph("a -> b -> c -> d");
        QCOMPARE(
            apply(
                R"([{"ep_name": "CUDAExecutionProvider", "nodes": [{"name": "a", "domain": "", "op_type": "Conv"}, {"name": ""}]},
                           {"ep_name": "TensorrtExecutionProvider", "device_id": 1, "nodes": ["b"]},
                           {"ep_name": "CPUExecutionProvider", "nodes": [{"name": "c"}]}])",
                *graph, odd())
                .value(),
            ids({0, 2, 1, 0}));
        QCOMPARE(m_warnings.at(0).kind, std::string("unplaced_ops"));
        QCOMPARE(apply(R"({"a": "CUDAExecutionProvider", "b": "CUDAExecutionProvider:1", "c": "CPUExecutionProvider"})",
                       *graph, plain())
                     .value(),
                 ids({0, 1, 2, 0}));
        QCOMPARE(apply(R"([{"ep_name": "MoonExecutionProvider", "nodes": ["a"]}])", *graph, plain()).error().code,
                 ErrorCode::Unsupported);
        QCOMPARE(apply(R"([{"ep_name": "CPUExecutionProvider", "device_id": -1, "nodes": ["a"]}])", *graph, plain())
                     .error()
                     .where,
                 std::string("[0].device_id"));
    }

    void devicesOfTheGraphItself() {
        GraphBuilder builder("g", "json");
        for (const char* device : {"gpu:1", "", "/job:localhost/replica:0/task:0/device:CPU:0"}) {
            Op op;
            op.type = "Op";
            op.device = device;
            builder.addOp(op);
        }
        const GraphPtr graph = std::move(builder).build().value();
        const auto file = formats::placementOfGraph(*graph).value();
        QCOMPARE(formats::applyPlacement(file, *graph, odd(), m_warnings).value(), ids({2, 0, 1}));
        QCOMPARE(formats::placementOfGraph(*pw::test::graph("a")).error().code, ErrorCode::NotFound);
    }

    void roundTrips_data() {
        QTest::addColumn<QString>("ending");
        QTest::addColumn<QString>("which");
        for (const char* ending : {".placement.json", ".csv", ".tf.csv", ".device_map.json", ".ort.json"}) {
            for (const char* which : {"zoo", "flat", "scoped"})
                QTest::addRow("%s %s", ending, which) << ending << which;
        }
    }
    void roundTrips() {
        QFETCH(QString, ending);
        QFETCH(QString, which);
        const GraphPtr graph = which == "zoo"    ? zoo::make("rnnlm", {{"level", "L0"}}).value()
                               : which == "flat" ? pw::test::graph("a -> b; a -> c -> d; e")
                                                 : scoped();
        for (const DeviceSet& devices : {odd(), plain()}) {
            // Blocks of scopes, and single ops that fall out of them.
            Placement placement(graph->opCount());
            for (std::size_t i = 0; i < placement.size(); ++i)
                placement[i] = DeviceId(i % 97 == 5 ? 2 : graph->op(OpId(i)).scope.index() / 7 % 3);
            const auto file = formats::makePlacementFile(*graph, devices, placement, "test", 1);
            const std::string path = m_folder.path("p" + ending.toStdString());
            QVERIFY(formats::savePlacement(file, path, graph.get()).has_value());
            QCOMPARE(formats::sniff(path).value(), formats::FileKind::Placement);
            m_warnings.clear();
            const auto again =
                formats::applyPlacement(formats::loadPlacement(path).value(), *graph, devices, m_warnings);
            QVERIFY2(again.has_value(), again ? "" : again.error().toString().c_str());
            QCOMPARE(*again, placement);
            QVERIFY(m_warnings.empty());
        }
    }

    /// A scope whose ops share a device is one entry.
    void deviceMapIsShort() {
        const GraphPtr graph = scoped();
        const auto written = [&](std::initializer_list<int> devices) {
            const auto file = formats::makePlacementFile(*graph, plain(), ids(devices), "test", 1);
            const std::string path = m_folder.path("p.device_map.json");
            (void)formats::savePlacement(file, path, graph.get());
            return TempFolder::read(path);
        };
        QCOMPARE(written({1, 1, 1, 1, 1, 1, 1}), std::string("{\n  \"\": 1\n}\n"));
        QCOMPARE(written({0, 0, 0, 0, 0, 2, 1}),
                 std::string("{\n  \"lm_head\": \"cpu\",\n  \"loose\": 1,\n  \"model\": 0\n}\n"));
    }

    /// An op that is called like a scope beside it.
    void deviceMapWithClashingNames() {
        GraphBuilder builder("g", "json");
        for (const char* name : {"a", "a/b", "a/c", "a.b", "d"}) {
            Op op;
            op.name = name;
            op.type = "Op";
            builder.addOp(op);
        }
        const GraphPtr graph = std::move(builder).build().value();
        for (int code = 0; code < 32; ++code) {
            Placement placement;
            for (int i = 0; i < 5; ++i)
                placement.emplace_back(code >> i & 1);
            const auto file = formats::makePlacementFile(*graph, plain(), placement, "test", 1);
            const std::string path = m_folder.path("p.device_map.json");
            QVERIFY(formats::savePlacement(file, path, graph.get()).has_value());
            QCOMPARE(formats::applyPlacement(formats::loadPlacement(path).value(), *graph, plain(), m_warnings).value(),
                     placement);
        }
    }

    void badFilesEndWell() {
        const GraphPtr graph = pw::test::graph("a -> b");
        for (const std::string& whole :
             {std::string(R"([{"ep_name": "CUDAExecutionProvider", "nodes": [{"name": "a"}]}])"),
              std::string(R"({"a": "/job:worker/device:GPU:0", "b": "/cpu:0"})"),
              std::string(R"({"model.a": 0, "": "cpu"})")}) {
            for (std::size_t size = 0; size < whole.size(); ++size) {
                const auto placed = apply(std::string_view(whole).substr(0, size), *graph, plain());
                QVERIFY(!placed || placed->size() == 2);
            }
        }
        QVERIFY(!apply(R"({"a": -1})", *graph, plain()));
        QVERIFY(!apply(R"({"a": 18446744073709551615})", *graph, plain()));
        QVERIFY(!apply("{\"a\": \"\xff\"}", *graph, plain()));
        QVERIFY(!apply(R"([{"ep_name": 3, "nodes": 4}])", *graph, plain()));
        QVERIFY(!apply(R"({"": "meta"})", *graph, plain()));
    }
};

QTEST_APPLESS_MAIN(TestDeviceMaps)
#include "tst_device_maps.moc"
