// Devices written into TensorFlow's files: nothing else changes.

#include "core/formats/exporters.h"
#include "core/formats/formats.h"
#include "tests/formats/temp_file.h"
#include "tests/formats/tf_wire.h"

#include <QtTest>

using namespace pw;
using namespace pw::test::tfwire;
using formats::DeviceNames;

namespace {

const test::TempFolder& folder() {
    static const test::TempFolder kFolder;
    return kFolder;
}

Result<std::string> exported(const OpGraph& graph, const DeviceNames& devices, const std::string& source,
                             const std::string& name) {
    const std::string path = folder().path(name);
    PW_CHECK(formats::exportTensorFlow(graph, {path, devices, source}));
    return test::TempFolder::read(path);
}

DeviceNames someDevices(const OpGraph& graph) {
    static const std::vector<std::string> kNames = {"gpu:0", "cpu:0", "gpu:1"};
    DeviceNames names;
    for (std::size_t i = 0; i < graph.opCount(); ++i)
        names.push_back(kNames[i * i % 3]);
    return names;
}

std::string binaryGraph(std::string_view device = {}) {
    return node("Relu", "a", {}, number(900, 5) + intAttr("n", 3), device) + node("Relu", "b", {"a"}) +
           bytes(77, "unknown") + node("NoOp", "c", {"^b"}) + number(3, 8);
}

std::string endingOf(const std::string& path) {
    return path.substr(path.rfind('.'));
}

} // namespace

class TestTensorflowWrite : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void binaryKeepsEveryOtherByte() {
        const std::string source = folder().write("in.pb", binaryGraph());
        const auto graph = formats::loadGraph(source);
        QVERIFY(graph);
        const auto out = exported(**graph, {"gpu:1", "", "gpu:0"}, source, "out.pb");
        QVERIFY2(out, out ? "" : out.error().toString().c_str());
        const std::string expected = bytes(1, bytes(1, "a") + bytes(2, "Relu") + bytes(4, "/device:GPU:1") + intAttr("n", 3) +
                                                  number(900, 5)) + node("Relu", "b", {"a"}) + bytes(77, "unknown") +
                                     node("NoOp", "c", {"^b"}, {}, "/device:GPU:0") + number(3, 8);
        // why put together anew: the unknown field stands before the attribute in the original and must stay there.
        const std::string kept = bytes(1, bytes(1, "a") + bytes(2, "Relu") + bytes(4, "/device:GPU:1") + number(900, 5) +
                                              intAttr("n", 3)) + expected.substr(expected.find(node("Relu", "b", {"a"})));
        QCOMPARE(QByteArray::fromStdString(*out), QByteArray::fromStdString(kept));
    }

    void spellingsThatMeanTheDeviceStay() {
        for (const char* device : {"/gpu:0", "/job:localhost/replica:0/task:0/device:GPU:0"}) {
            const std::string source = folder().write("spelled.pb", binaryGraph(device));
            const auto graph = formats::loadGraph(source);
            QVERIFY(graph);
            QCOMPARE(QByteArray::fromStdString(*exported(**graph, {}, source, "same.pb")),
                     QByteArray::fromStdString(binaryGraph(device)));
            QCOMPARE(QByteArray::fromStdString(*exported(**graph, {"gpu:0", "", ""}, source, "same.pb")),
                     QByteArray::fromStdString(binaryGraph(device)));
            QCOMPARE(QByteArray::fromStdString(*exported(**graph, {"", "", ""}, source, "none.pb")),
                     QByteArray::fromStdString(binaryGraph()));
            QCOMPARE(QByteArray::fromStdString(*exported(**graph, {"cpu:0", "", ""}, source, "other.pb")),
                     QByteArray::fromStdString(binaryGraph("/device:CPU:0")));
        }
    }

    void textKeepsEveryOtherByte() {
        const std::string before = "# head\nnode {\n  name: \"a\"\n  op: \"Relu\"  # an op\n  attr { key: \"n\" value { i: 3 } }\n}\n"
                                   "node { op: \"Relu\" name: \"b\" input: [\"a\"] }\r\nnode {\r\n\tname: \"c\"\r\n\top: \"NoOp\"\r\n"
                                   "\tdevice: '/gpu:7'\r\n}\r\nversions { producer: 3 }";
        const std::string after = "# head\nnode {\n  name: \"a\"\n  op: \"Relu\"\n  device: \"/device:GPU:1\"  # an op\n  attr { key: "
                                  "\"n\" value { i: 3 } }\n}\n"
                                  "node { op: \"Relu\" name: \"b\" input: [\"a\"] device: \"/device:CPU:0\" }\r\nnode {\r\n\tname: "
                                  "\"c\"\r\n\top: \"NoOp\"\r\n\tdevice: \"/device:GPU:0\"\r\n}\r\nversions { producer: 3 }";
        const std::string source = folder().write("in.pbtxt", before);
        const auto graph = formats::loadGraph(source);
        QVERIFY2(graph, graph ? "" : graph.error().toString().c_str());
        const auto out = exported(**graph, {"gpu:1", "cpu:0", "gpu:0"}, source, "out.pbtxt");
        QVERIFY2(out, out ? "" : out.error().toString().c_str());
        QCOMPARE(QByteArray::fromStdString(*out), QByteArray::fromStdString(after));
    }

    void allFilesComeBack_data() {
        QTest::addColumn<QString>("file");
        for (const char* file : {"tf/mnist_frozen_graph.pb", "tf/autopilot.meta", "tf/xla_placed_graph.pbtxt", "tf/dm21/saved_model.pb",
                                 "tf/impala/graph.pbtxt", "tf/impala/model.ckpt-90912640.meta", "tf/guesslang/graph.pbtxt",
                                 "tf/guesslang/saved_model.pb", "tf/half_plus_two_tf2/saved_model.pb", "tf/capture_prefetch.pbtxt",
                                 "tf/estimator_mnist/graph.pbtxt"})
            QTest::newRow(file) << QString(file);
    }
    void allFilesComeBack() {
        QFETCH(QString, file);
        const std::string source = PW_SHARED_DATA "/" + file.toStdString();
        if (!QFile::exists(QString::fromStdString(source)))
            QSKIP("the shared data folder is not here");
        const auto graph = formats::loadGraph(source);
        QVERIFY(graph);
        const std::string original = test::TempFolder::read(source);
        const std::string ending = endingOf(source);
        QCOMPARE(QByteArray::fromStdString(*exported(**graph, {}, source, "same" + ending)), QByteArray::fromStdString(original));

        const DeviceNames devices = someDevices(**graph);
        const auto placed = exported(**graph, devices, source, "placed" + ending);
        QVERIFY2(placed, placed ? "" : placed.error().toString().c_str());
        const auto back = formats::loadGraph(folder().path("placed" + ending));
        QVERIFY2(back, back ? "" : back.error().toString().c_str());
        QCOMPARE((*back)->opCount(), (*graph)->opCount());
        for (std::size_t i = 0; i < devices.size(); ++i)
            QCOMPARE((*back)->op(OpId(i)).device, devices[i]);

        const DeviceNames none(devices.size());
        const auto stripped = exported(**graph, none, source, "stripped" + ending);
        const auto strippedAgain = exported(**back, none, folder().path("placed" + ending), "again" + ending);
        QVERIFY(stripped && strippedAgain);
        QCOMPARE(QByteArray::fromStdString(*strippedAgain), QByteArray::fromStdString(*stripped));
        const bool hadDevices = std::any_of((*graph)->ops().begin(), (*graph)->ops().end(),
                                            [](const Op& op) { return !op.device.empty(); });
        if (!hadDevices)
            QCOMPARE(QByteArray::fromStdString(*stripped), QByteArray::fromStdString(original));
    }

    void saveGraphByEnding() {
        const std::string source = folder().write("in.meta", metaGraph(binaryGraph()));
        const auto graph = formats::loadGraph(source);
        QVERIFY(graph);
        const auto devices = formats::fromDevicesJson(
            R"({"format": "placewright-devices", "version": 1, "name": "d", "devices": [
                {"name": "gpu:0", "kind": "gpu", "memory_bytes": 1, "flops_per_us": 1, "bytes_per_us": 1},
                {"name": "cpu:0", "kind": "cpu", "memory_bytes": 1, "flops_per_us": 1, "bytes_per_us": 1}], "links": []})");
        QVERIFY2(devices, devices ? "" : devices.error().toString().c_str());
        const std::vector<DeviceId> placement = {DeviceId(0), DeviceId(1), DeviceId(0)};
        QVERIFY(formats::saveGraph(**graph, folder().path("placed.meta"), {placement, &*devices, source}));
        const auto back = formats::loadGraph(folder().path("placed.meta"));
        QVERIFY(back);
        QCOMPARE((*back)->op(OpId(1)).device, std::string("cpu:0"));
    }

    void refusals() {
        const std::string source = folder().write("r.pb", binaryGraph());
        const auto graph = formats::loadGraph(source);
        const auto messageOf = [&](const DeviceNames& devices, const std::string& from, const std::string& to) {
            const auto out = exported(**graph, devices, from, to);
            return out ? std::string() : out.error().toString();
        };
        QVERIFY(messageOf({}, "", "x.pb").find("opened from") != std::string::npos);
        QVERIFY(messageOf({}, folder().path("gone.pb"), "x.pb").find("gone.pb") != std::string::npos);
        QVERIFY(messageOf({}, source, "x.meta").find("must end in .pb") != std::string::npos);
        QVERIFY(messageOf({}, folder().write("d.dot", "digraph { a -> b }"), "x.pb").find("no GraphDef") != std::string::npos);
        const std::string other = folder().write("o.pb", node("Relu", "a") + node("Relu", "other") + node("NoOp", "c"));
        QVERIFY(messageOf({}, other, "x.pb").find("another graph") != std::string::npos);
        QVERIFY(messageOf({}, folder().write("f.pb", node("Relu", "a")), "x.pb").find("another graph") != std::string::npos);
        const std::string named = messageOf({"the fast one", "gpu:0", "gpu:0"}, source, "x.pb");
        QVERIFY2(named.find("no spelling") != std::string::npos && named.find("op \"a\"") != std::string::npos, named.c_str());
        QVERIFY(!QFile::exists(QString::fromStdString(folder().path("x.pb"))));
    }
};

QTEST_APPLESS_MAIN(TestTensorflowWrite)
#include "tst_tensorflow_write.moc"
