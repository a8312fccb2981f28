// Profiles: what each profiler's file means, how names meet a graph, bad files.

#include "core/formats/formats.h"
#include "core/formats/profile.h"
#include "core/graph/graph_builder.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

using namespace pw;
using namespace pw::test;
using formats::FileKind;
using formats::Profile;
using formats::ProfileReport;

namespace {

/// Fields of a protobuf message, written by hand: none of the reader's code is used.
std::string varint(std::uint64_t value) {
    std::string out;
    for (; value >= 128; value >>= 7)
        out += static_cast<char>(value % 128 + 128);
    return out + static_cast<char>(value);
}

std::string number(int field, std::uint64_t value) {
    return varint(static_cast<std::uint64_t>(field) * 8) + varint(value);
}

std::string message(int field, const std::string& content) {
    return varint(static_cast<std::uint64_t>(field) * 8 + 2) + varint(content.size()) + content;
}

std::string node(const std::string& name, std::uint64_t startUs, std::uint64_t endUs) {
    return message(2,
                   message(1, name) + number(2, 1000) + number(3, startUs) + number(4, endUs) + number(5, endUs + 7));
}

std::string stepStats() {
    const std::string cpu = message(1, "/job:localhost/replica:0/task:0/device:CPU:0") + node("_SOURCE", 0, 1) +
                            node("feed", 1, 4) + node("loop/add", 0, 2) + node("loop/add", 0, 3);
    const std::string launch =
        message(1, "/job:localhost/replica:0/task:0/device:GPU:0") + node("conv", 0, 500) + node("shape", 0, 6);
    const std::string stream = message(1, "/device:GPU:0/stream:12") + node("conv:Conv2D", 0, 30);
    const std::string all = message(1, "/job:localhost/replica:0/task:0/device:GPU:0/stream:all") +
                            node("conv:Conv2D", 0, 30) + node("conv:Conv2D#id=2#", 0, 12) + node("x:MEMCPYDtoH", 0, 99);
    return message(1, cpu) + message(1, launch) + message(1, stream) + message(1, all);
}

constexpr const char* kOrt = R"([
  {"cat":"Session","pid":1,"tid":1,"dur":900,"ts":0,"ph":"X","name":"model_loading_uri","args":{}},
  {"cat":"Node","pid":1,"tid":1,"dur":0,"ts":1,"ph":"X","name":"conv1_fence_before","args":{"op_name":"Conv"}},
  {"cat":"Node","pid":1,"tid":1,"dur":100,"ts":2,"ph":"X","name":"conv1_kernel_time","args":{"provider":"CUDAExecutionProvider","op_name":"Conv"}},
  {"cat":"Node","pid":1,"tid":1,"dur":50,"ts":9,"ph":"X","name":"conv1_kernel_time","args":{"provider":"CUDAExecutionProvider","op_name":"Conv"}},
  {"cat":"Node","pid":1,"tid":1,"dur":7,"ts":9,"ph":"X","name":"relu1_kernel_time","args":{"op_name":"Relu","provider":"CPUExecutionProvider"}},
  {"cat":"Session","pid":1,"tid":1,"dur":990,"ts":0,"ph":"X","name":"model_run","args":{}}
])";

} // namespace

class TestProfile : public QObject {
    Q_OBJECT

    TempFolder m_folder;

    Result<Profile> load(std::string_view content) { return formats::loadProfile(m_folder.write("x", content)); }
    Error errorOf(std::string_view content) {
        const auto profile = load(content);
        return profile ? Error{ErrorCode::Internal, "opened", {}, {}} : profile.error();
    }
    static double usOf(const Profile& profile, const std::string& op, const std::string& kind) {
        double us = -1.0;
        for (const auto& entry : profile.entries) {
            if (entry.op == op && entry.deviceKind == kind)
                us = us < 0.0 ? entry.us : -2.0; // twice is wrong
        }
        return us;
    }

private Q_SLOTS:
    void kinds() {
        const auto kind = [&](std::string_view content) {
            return formats::sniff(m_folder.write("x", content)).value();
        };
        QCOMPARE(kind(kOrt), FileKind::Profile);
        QCOMPARE(kind(R"({"schemaVersion":1,"traceEvents":[]})"), FileKind::Profile);
        QCOMPARE(kind("op,us\na,1\n"), FileKind::Profile);
        QCOMPARE(kind("op,time_us,device_kind\na,1,gpu\n"), FileKind::Profile);
        QCOMPARE(kind("a,1.5\nb,2,gpu\n"), FileKind::Profile);
        QCOMPARE(kind("op,device\na,gpu:0\n"), FileKind::Placement);
        QCOMPARE(kind("a,gpu:0\nb,gpu:1\n"), FileKind::Placement);
        QCOMPARE(kind("a,b\nc,d\n"), FileKind::Unknown);
        QCOMPARE(kind(stepStats()), FileKind::Profile);
        QCOMPARE(kind(message(1, stepStats())), FileKind::Profile);
        QCOMPARE(kind("step_stats {\n  dev_stats {\n    device: \"/device:CPU:0\"\n"), FileKind::Profile);
    }

    void onnxRuntime() {
        const Profile profile = load(kOrt).value();
        QCOMPARE(profile.format, std::string("ONNX Runtime profile"));
        QCOMPARE(profile.entries.size(), std::size_t(2));
        QCOMPARE(usOf(profile, "conv1", "gpu"), 75.0);
        QCOMPARE(profile.entries[0].samples, std::size_t(2));
        QCOMPARE(usOf(profile, "relu1", "cpu"), 7.0);
    }

    void chromeTrace() {
        const Profile profile = load(R"({"displayTimeUnit":"ms","traceEvents":[
            {"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1.5},
            {"ph":"B","name":"outer","pid":2,"tid":"w","ts":10},
            {"ph":"B","name":"inner","pid":2,"tid":"w","ts":12},
            {"ph":"E","pid":2,"tid":"w","ts":15},
            {"ph":"E","pid":2,"tid":"w","ts":30},
            {"ph":"X","name":"k","cat":"kernel","pid":3,"tid":1,"ts":0,"dur":4,"args":{"name":"not me"}},
            {"ph":"X","name":"launch","cat":"cuda_runtime","pid":3,"tid":1,"ts":0,"dur":4},
            {"ph":"X","name":"aten::mm","cat":"cpu_op","pid":3,"tid":1,"ts":0,"dur":8,"args":{"Input Dims":[[2,3]]}},
            {"ph":"X","name":"Conv2D","cat":"Op","pid":5,"tid":0,"ts":0,"dur":6,"args":{"name":"net/conv","op":"Conv2D"}},
            {"ph":"M","name":"process_name","pid":1,"args":{"name":"gpu:0"}},
            {"ph":"M","name":"thread_name","pid":2,"tid":"w","args":{"name":"CPU worker"}}]})")
                                    .value();
        QCOMPARE(profile.format, std::string("Chrome trace"));
        QCOMPARE(usOf(profile, "a", "gpu"), 1.5);
        QCOMPARE(usOf(profile, "outer", "cpu"), 20.0);
        QCOMPARE(usOf(profile, "inner", "cpu"), 3.0);
        QCOMPARE(usOf(profile, "k", "gpu"), 4.0);
        QCOMPARE(usOf(profile, "aten::mm", "cpu"), 8.0);
        QCOMPARE(usOf(profile, "net/conv", ""), 6.0);
        QCOMPARE(profile.entries.size(), std::size_t(6));
        QVERIFY(profile.warnings.empty());
    }

    /// TensorFlow's timeline has a GPU's kernels by stream, all together, and their launches under the device's name.
    void timelineOfTensorFlow() {
        const Profile profile = load(R"({"traceEvents":[
            {"ph":"M","name":"process_name","pid":0,"args":{"name":"/job:localhost/replica:0/task:0/device:GPU:0 Compute"}},
            {"ph":"M","name":"process_name","pid":1,"args":{"name":"/device:GPU:0/stream:all Compute"}},
            {"ph":"M","name":"process_name","pid":2,"args":{"name":"/device:GPU:0/stream:7 Compute"}},
            {"ph":"M","name":"process_name","pid":3,"args":{"name":"/job:localhost/replica:0/task:0/device:CPU:0 Compute"}},
            {"ph":"X","cat":"Op","name":"Conv2D","pid":0,"tid":0,"ts":0,"dur":500,"args":{"name":"conv","op":"Conv2D"}},
            {"ph":"X","cat":"Op","name":"Conv2D","pid":1,"tid":0,"ts":0,"dur":30,"args":{"name":"conv","op":"Conv2D"}},
            {"ph":"X","cat":"Op","name":"Conv2D","pid":2,"tid":0,"ts":0,"dur":31,"args":{"name":"conv","op":"Conv2D"}},
            {"ph":"X","cat":"Op","name":"Shape","pid":3,"tid":0,"ts":0,"dur":2,"args":{"name":"shape","op":"Shape"}}]})")
                                    .value();
        QCOMPARE(profile.entries.size(), std::size_t(2));
        QCOMPARE(usOf(profile, "conv", "gpu"), 30.0);
        QCOMPARE(usOf(profile, "shape", "cpu"), 2.0);
    }

    /// Chrome reads lists without an end, because a program may die while it writes one.
    void traceWithoutAnEnd() {
        const Profile profile =
            load(R"([{"ph":"X","name":"a","ts":0,"dur":2},{"ph":"X","name":"b","ts":0,"dur":3},)").value();
        QCOMPARE(usOf(profile, "b", ""), 3.0);
        QCOMPARE(profile.warnings.size(), std::size_t(1));
        QCOMPARE(profile.warnings[0].kind, std::string("cut_off"));
    }

    void impossibleEventsAreLeftOut() {
        const Profile profile = load(R"([{"ph":"X","name":"a","ts":0,"dur":-2},{"ph":"X","name":"b","ts":0,"dur":1e300},
            {"ph":"X","name":"c","ts":0},{"ph":"E","ts":5},{"ph":"X","name":"d","ts":0,"dur":9}])")
                                    .value();
        QCOMPARE(profile.entries.size(), std::size_t(1));
        QCOMPARE(usOf(profile, "d", ""), 9.0);
        QCOMPARE(profile.warnings.size(), std::size_t(2));
        QVERIFY(profile.warnings[0].detail.starts_with("3 events"));
        QVERIFY(profile.warnings[1].detail.starts_with("1 begin or end"));
    }

    void tensorFlow_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("StepStats") << QByteArray::fromStdString(stepStats());
        QTest::newRow("RunMetadata") << QByteArray::fromStdString(message(1, stepStats()) + message(3, "graph"));
        QTest::newRow("text") << QByteArray(R"(step_stats {
          dev_stats { device: "/job:localhost/replica:0/task:0/device:CPU:0"
            node_stats { node_name: "_SOURCE" op_end_rel_micros: 1 }
            node_stats { node_name: "feed" op_start_rel_micros: 1 op_end_rel_micros: 4 }
            node_stats { node_name: "loop/add" op_end_rel_micros: 2 }
            node_stats { node_name: "loop/add" op_end_rel_micros: 3 all_end_rel_micros: 9 timeline_label: "x" } }
          dev_stats { device: "/job:localhost/replica:0/task:0/device:GPU:0"
            node_stats { node_name: "conv" op_end_rel_micros: 500 }
            node_stats { node_name: "shape" op_end_rel_micros: 6 } }
          dev_stats { device: "/device:GPU:0/stream:12" node_stats { node_name: "conv:Conv2D" op_end_rel_micros: 30 } }
          dev_stats { device: "/job:localhost/replica:0/task:0/device:GPU:0/stream:all"
            node_stats { node_name: "conv:Conv2D" op_end_rel_nanos: 30000 }
            node_stats { node_name: "conv:Conv2D" op_end_rel_micros: 12 } } })");
    }
    void tensorFlow() {
        QFETCH(QByteArray, content);
        const Profile profile = load(content.toStdString()).value();
        QCOMPARE(profile.format, std::string("TensorFlow StepStats"));
        QCOMPARE(usOf(profile, "feed", "cpu"), 3.0);
        QCOMPARE(usOf(profile, "loop/add", "cpu"), 5.0); // both turns of the loop
        QCOMPARE(usOf(profile, "conv", "gpu"), 42.0);    // both kernels, each once, and not its launch
        QCOMPARE(usOf(profile, "shape", "gpu"), 6.0);    // ran nothing on a stream
        QCOMPARE(profile.entries.size(), std::size_t(4));
    }

    void csv() {
        const Profile profile = load("op,us,device_kind\n\"a,b\",1.5,GPU\nc,2\nc,4\n\nd,1e3,cpu\n").value();
        QCOMPARE(usOf(profile, "a,b", "gpu"), 1.5);
        QCOMPARE(usOf(profile, "c", ""), 3.0);
        QCOMPARE(usOf(profile, "d", "cpu"), 1000.0);
        QCOMPARE(load("a,1\nb,2\n").value().entries.size(), std::size_t(2));
    }

    void badTables() {
        QCOMPARE(errorOf("op,us\na,1\nb,-1\n").where, std::string("line 3"));
        QCOMPARE(errorOf("op,us\na,nan\n").where, std::string("line 2"));
        QCOMPARE(errorOf("op,us\na,inf\n").code, ErrorCode::Invalid);
        QCOMPARE(errorOf("op,us\na,1e999\n").code, ErrorCode::Invalid);
        QCOMPARE(errorOf("op,us\na,1e16\n").code, ErrorCode::Invalid);
        QCOMPARE(errorOf("op,us\na,soon\n").code, ErrorCode::Parse);
        QCOMPARE(errorOf("op,us\na\n").where, std::string("line 2"));
        QVERIFY(errorOf("op,us\n").message.find("no time") != std::string::npos);
        QVERIFY(errorOf("").message == "is empty");
        QCOMPARE(errorOf("op,us\n\xff\xfe,1\n").code, ErrorCode::Parse);
        QCOMPARE(errorOf("op,device\na,gpu:0\n").code, ErrorCode::Parse);
        QCOMPARE(formats::loadProfile(m_folder.path("missing")).error().code, ErrorCode::NotFound);
        QCOMPARE(errorOf("[{\"ph\":\"X\",\"ts\":0,\"name\":\"\xff\",\"dur\":1}]").code, ErrorCode::Parse);
        QCOMPARE(errorOf("[{\"ph\":\"X\",\"ts\":0,\"name\":\"a\",\"dur\":NaN}]").code, ErrorCode::Parse);
    }

    void cutAnywhere() {
        for (const std::string& whole : {std::string(kOrt), stepStats(), message(1, stepStats())}) {
            for (std::size_t size = 0; size < whole.size(); ++size) {
                if (const auto profile = load(std::string_view(whole).substr(0, size)); !profile)
                    QVERIFY2(!profile.error().message.empty() && !profile.error().file.empty(),
                             profile.error().toString().c_str());
            }
        }
    }

    void deepNestingIsNoProblem() {
        const std::string deep(200000, '[');
        QCOMPARE(errorOf("[{\"ph\":\"X\",\"ts\":0,\"args\":" + deep).code, ErrorCode::Parse);
    }

    void appliesByName() {
        const GraphPtr base = graph("conv1:5 -> relu1:6 -> out:7");
        ProfileReport report;
        Profile profile = load(kOrt).value();
        profile.entries.push_back({"gone", "gpu", 30.0, 1});
        const GraphPtr measured = formats::applyProfile(*base, profile, report).value();
        QCOMPARE(report.opsMatched, std::size_t(2));
        QCOMPARE(report.opsWithoutTime, std::size_t(1));
        QCOMPARE(report.matchedUs, 82.0);
        QCOMPARE(report.unmatchedUs, 30.0);
        QCOMPARE(report.unmatchedEntries, std::vector<std::string>{"gone"});
        const auto& conv = measured->op(measured->findOp("conv1").value());
        QCOMPARE(conv.costs.back().kind, std::string("gpu"));
        QCOMPARE(conv.costs.back().us, 75.0);
        QCOMPARE(measured->op(measured->findOp("out").value()).costs.size(), std::size_t(1));
        QVERIFY(measured->hash() != base->hash());
        QCOMPARE(measured->edges().size(), base->edges().size());
        QCOMPARE(measured->name(), base->name());
    }

    /// A cost for every kind replaces all the others; one of a kind only that kind's.
    void whatIsReplaced() {
        GraphBuilder builder("g", "json");
        Op op;
        op.name = "s/a";
        op.costs = {{"gpu", 1.0}, {"cpu", 2.0}};
        op.bodies = {{"body", graph("x:1")}};
        op.attributes = {{"k", "v"}};
        builder.addOp(op);
        builder.addWarning("w", "here", "text");
        const GraphPtr base = std::move(builder).build().value();
        ProfileReport report;
        const auto costsAfter = [&](const char* csv) {
            return formats::applyProfile(*base, load(csv).value(), report).value();
        };
        const GraphPtr one = costsAfter("op,us\ns/a,9,gpu\n");
        QCOMPARE(one->op(OpId(0)).costs.size(), std::size_t(2));
        QCOMPARE(one->op(OpId(0)).costs[0].us, 9.0);
        QCOMPARE(one->op(OpId(0)).costs[1].us, 2.0);
        const GraphPtr all = costsAfter("op,us,kind\ns/a,9\n");
        QCOMPARE(all->op(OpId(0)).costs.size(), std::size_t(1));
        QCOMPARE(all->op(OpId(0)).bodies.size(), std::size_t(1));
        QCOMPARE(all->op(OpId(0)).attributes.size(), std::size_t(1));
        QCOMPARE(all->scopeCount(), base->scopeCount());
        QCOMPARE(all->warnings().size(), base->warnings().size());
    }

    void namesWithAdditions() {
        const GraphPtr base = graph("/net/a:1 -> b:1 -> c:1; e:1");
        ProfileReport report;
        const auto apply = [&](std::string_view csv) {
            return formats::applyProfile(*base, load(csv).value(), report);
        };
        const GraphPtr measured = apply("op,us\nnet/a,2\nb_kernel_time,3\nfused c,4\n").value();
        QCOMPARE(report.opsMatched, std::size_t(3));
        QCOMPARE(measured->op(measured->findOp("c").value()).costs[0].us, 4.0);
        QVERIFY(report.warnings.empty());

        QVERIFY(apply("op,us\nb,3\nb:0,8\n").has_value()); // the exact name counts
        QCOMPARE(report.matchedUs, 3.0);
        QCOMPARE(report.unmatchedEntries, std::vector<std::string>{"b:0"});

        QVERIFY(apply("op,us\nb,3\nc:0,8\nc/fused_bn,9\n").has_value()); // two for one op
        QCOMPARE(report.opsMatched, std::size_t(1));
        QCOMPARE(report.warnings.size(), std::size_t(2));

        QCOMPARE(apply("op,us\nzz,3\n").error().code, ErrorCode::Invalid);
    }

    void oneNameForTwoOps() {
        const GraphPtr base = graph("/d:1 -> d:1 -> e:1");
        ProfileReport report;
        QVERIFY(formats::applyProfile(*base, load("op,us\nd:0,3\ne,1\n").value(), report).has_value());
        QCOMPARE(report.opsMatched, std::size_t(1));
        QCOMPARE(report.warnings.size(), std::size_t(1));
        QCOMPARE(report.warnings[0].kind, std::string("ambiguous_op"));
    }
};

QTEST_APPLESS_MAIN(TestProfile)
#include "tst_profile.moc"
