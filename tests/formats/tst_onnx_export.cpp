// Devices written into copies of ONNX models: nothing else changes.

#include "core/formats/formats.h"
#include "core/graph/graph_builder.h"
#include "tests/formats/onnx_wire.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pw;
using namespace pw::test;

namespace {

DeviceSet twoGpus() {
    return DeviceSet::create("two", {{"gpu:0", "gpu", "", 0, 1.0, 1.0, 0.0}, {"gpu:1", "gpu", "", 0, 1.0, 1.0, 0.0}},
                             {})
        .value();
}

std::vector<DeviceId> alternating(const OpGraph& graph) {
    std::vector<DeviceId> placement;
    for (std::size_t i = 0; i < graph.opCount(); ++i)
        placement.emplace_back(i / 3 % 2);
    return placement;
}

std::uint64_t varintAt(std::string_view bytes, std::size_t& at) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < bytes.size(); shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes[at++]);
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

enum class Level { Model, Graph, Node };

/// A model without the entries that hold devices, by a reader of its own.
std::string withoutDevices(std::string_view bytes, Level level = Level::Model) {
    std::string out;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t start = at;
        const std::uint64_t tag = varintAt(bytes, at);
        const auto wireType = tag & 7U;
        std::uint64_t length = wireType == 1 ? 8 : wireType == 5 ? 4 : 0;
        if (wireType == 0 || wireType == 2)
            length = varintAt(bytes, at) * (wireType == 2 ? 1U : 0U);
        const std::string_view payload = bytes.substr(at, length);
        at += length;
        const auto field = static_cast<unsigned>(tag >> 3);
        if (level == Level::Model && field == 7)
            out += wire::bytes(7, withoutDevices(payload, Level::Graph));
        else if (level == Level::Graph && field == 1)
            out += wire::bytes(1, withoutDevices(payload, Level::Node));
        else if (level != Level::Node || field != 9 || !payload.starts_with("\x0a\x09layer_ann"))
            out += bytes.substr(start, at - start);
    }
    return out;
}

std::string entry(std::string_view key, std::string_view value) {
    return wire::bytes(9, wire::bytes(1, key) + wire::bytes(2, value));
}

/// Two nodes in a chain; `more` stands at the end of the first one.
std::string twoNodes(const std::string& more) {
    return wire::model(wire::bytes(1, wire::node("Relu", {"x"}, {"y"}, "first", more)) +
                       wire::bytes(1, wire::node("Relu", {"y"}, {"z"}, "second")) + wire::bytes(2, "g"));
}

GraphPtr opened(const std::string& path) {
    formats::LoadOptions options;
    options.inferShapes = false;
    auto graph = formats::loadGraph(path, options);
    if (!graph)
        qWarning("%s", graph.error().toString().c_str());
    return graph ? *graph : nullptr;
}

} // namespace

class TestOnnxExport : public QObject {
    Q_OBJECT

    TempFolder m_folder;

    Error saveError(const OpGraph& graph, const std::string& source, const std::string& path = "refused.onnx") {
        const Status saved = formats::saveGraph(graph, m_folder.path(path), {{}, nullptr, source});
        return saved ? Error() : saved.error();
    }

private Q_SLOTS:
    void corpus_data() {
        QTest::addColumn<QString>("path");
        if (!std::filesystem::exists(PW_SHARED_DATA "/onnx"))
            QSKIP("the shared data folder is not here");
        for (const auto& file : std::filesystem::recursive_directory_iterator(PW_SHARED_DATA "/onnx")) {
            if (file.path().extension() == ".onnx")
                QTest::newRow(file.path().filename().c_str()) << QString::fromStdString(file.path().string());
        }
    }
    void corpus() {
        QFETCH(QString, path);
        const std::string source = path.toStdString();
        const GraphPtr graph = opened(source);
        QVERIFY(graph);
        const DeviceSet devices = twoGpus();
        const auto placement = alternating(*graph);
        const std::string copy = m_folder.path("copy.onnx");
        const Status saved = formats::saveGraph(*graph, copy, {placement, &devices, source});
        QVERIFY2(saved, saved ? "" : saved.error().toString().c_str());
        const std::string original = TempFolder::read(source);
        const std::string written = TempFolder::read(copy);
        QVERIFY(written.size() > original.size());
        QVERIFY(withoutDevices(written) == original);
        const GraphPtr back = opened(copy);
        QVERIFY(back);
        QCOMPARE(back->hash(), graph->hash());
        for (std::size_t i = 0; i < back->opCount(); ++i)
            QCOMPARE(back->op(OpId(i)).device, devices.device(placement[i]).name);
        // Written again as it is, not a byte changes; without devices it is the original.
        const std::string again = m_folder.path("again.onnx");
        QVERIFY(formats::saveGraph(*back, again, {{}, nullptr, copy}));
        QVERIFY(TempFolder::read(again) == written);
        QVERIFY(formats::saveGraph(*graph, again, {{}, nullptr, copy}));
        QVERIFY(TempFolder::read(again) == original);
    }

    void otherEntriesAndUnknownFieldsStay() {
        const std::string unknown = wire::bytes(10, "newer") + wire::number(77, 5);
        const std::string source =
            m_folder.write("m.onnx", twoNodes(entry("a", "1") + entry("layer_ann", "old") + entry("b", "2") + unknown));
        const GraphPtr graph = opened(source);
        QCOMPARE(graph->op(OpId(0)).device, std::string("old"));
        QCOMPARE(graph->op(OpId(1)).device, std::string());
        const DeviceSet devices = twoGpus();
        const auto placement = placementOf({1, 0});
        QVERIFY(formats::saveGraph(*graph, m_folder.path("out.onnx"), {placement, &devices, source}));
        const std::string expected = wire::model(
            wire::bytes(1, wire::node("Relu", {"x"}, {"y"}, "first",
                                      entry("a", "1") + entry("layer_ann", "gpu:1") + entry("b", "2") + unknown)) +
            wire::bytes(1, wire::node("Relu", {"y"}, {"z"}, "second", entry("layer_ann", "gpu:0"))) +
            wire::bytes(2, "g"));
        QCOMPARE(TempFolder::read(m_folder.path("out.onnx")), expected);
        // Onto itself.
        QVERIFY(formats::saveGraph(*graph, source, {placement, &devices, source}));
        QCOMPARE(TempFolder::read(source), expected);
    }

    /// A new entry stands in front of the fields with higher numbers, and of two old ones the one that counts is
    /// replaced.
    void placeOfTheEntry() {
        const DeviceSet devices = twoGpus();
        const auto placement = placementOf({0, 0});
        std::string source = m_folder.write("m.onnx", twoNodes(wire::bytes(10, "newer")));
        QVERIFY(formats::saveGraph(*opened(source), m_folder.path("out.onnx"), {placement, &devices, source}));
        QVERIFY(
            TempFolder::read(m_folder.path("out.onnx")).find(entry("layer_ann", "gpu:0") + wire::bytes(10, "newer")) !=
            std::string::npos);
        source =
            m_folder.write("m.onnx", twoNodes(entry("layer_ann", "x") + entry("b", "2") + entry("layer_ann", "y")));
        QCOMPARE(opened(source)->op(OpId(0)).device, std::string("y"));
        QVERIFY(formats::saveGraph(*opened(source), m_folder.path("out.onnx"), {placement, &devices, source}));
        QVERIFY(TempFolder::read(m_folder.path("out.onnx")).find(entry("b", "2") + entry("layer_ann", "gpu:0")) !=
                std::string::npos);
    }

    void whatCannotBeWrittenIsSaid() {
        const std::string source = m_folder.write("m.onnx", twoNodes({}));
        const GraphPtr graph = opened(source);
        QVERIFY(saveError(*graph, "").message.find("opened from") != std::string::npos);
        QVERIFY(saveError(*graph, m_folder.path("none.onnx")).code == ErrorCode::NotFound);
        const std::string dot = m_folder.write("g.dot", "digraph { a -> b }");
        QVERIFY(saveError(*graph, dot).code == ErrorCode::Unsupported);
        QCOMPARE(saveError(*graph, dot).file, dot);
        const Error fewer = saveError(*test::graph("a:1 -> b:1 -> c:1"), source);
        QVERIFY(fewer.message.find("another graph") != std::string::npos);
        QCOMPARE(fewer.file, source);
        // A node renamed since, and one more.
        const std::string changed =
            m_folder.write("changed.onnx", wire::model(wire::bytes(1, wire::node("Relu", {"x"}, {"y"}, "first")) +
                                                       wire::bytes(1, wire::node("Relu", {"y"}, {"z"}, "third"))));
        QVERIFY(saveError(*graph, changed).message.find("\"third\"") != std::string::npos);
        const std::string longer =
            m_folder.write("longer.onnx", wire::model(wire::bytes(1, wire::node("Relu", {"x"}, {"y"}, "first")) +
                                                      wire::bytes(1, wire::node("Relu", {"y"}, {"z"}, "second")) +
                                                      wire::bytes(1, wire::node("Relu", {"z"}, {"u"}, "third"))));
        QVERIFY(saveError(*graph, longer).message.find("3 nodes") != std::string::npos);
        QVERIFY(!std::filesystem::exists(m_folder.path("refused.onnx")));
    }

    void cutAnywhereEndsWithAReason() {
        const std::string whole = twoNodes(entry("layer_ann", "old"));
        const GraphPtr graph = opened(m_folder.write("m.onnx", whole));
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const std::string source = m_folder.write("cut.onnx", std::string_view(whole).substr(0, length));
            const Status saved = formats::saveGraph(*graph, m_folder.path("out2.onnx"), {{}, nullptr, source});
            QVERIFY(saved || !saved.error().message.empty());
        }
    }

    /// Weights are copied in the file, not through memory.
    void weightsAreNotHeldInMemory() {
        const std::int64_t weightBytes = std::int64_t{256} << 20;
        const std::string head = wire::tensor("w", 1, {weightBytes / 4}) + wire::varint((9U << 3U) | 2U) +
                                 wire::varint(static_cast<std::uint64_t>(weightBytes));
        const std::string node = wire::bytes(1, wire::node("Relu", {"w"}, {"y"}, "n"));
        const std::uint64_t tensorSize = head.size() + static_cast<std::uint64_t>(weightBytes);
        const std::string tensorHead = wire::varint((5U << 3U) | 2U) + wire::varint(tensorSize) + head;
        const std::string tail = wire::bytes(1, wire::node("Relu", {"y"}, {"z"}, "after"));
        const std::uint64_t graphSize =
            node.size() + tensorHead.size() + static_cast<std::uint64_t>(weightBytes) + tail.size();
        const std::string start =
            wire::number(1, 8) + wire::varint((7U << 3U) | 2U) + wire::varint(graphSize) + node + tensorHead;
        const TempFolder disk(TempFolder::Place::Disk);
        const std::string source = disk.write("big.onnx", start);
        const auto holeEnd = static_cast<std::int64_t>(start.size()) + weightBytes;
        const int fd = ::open(source.c_str(), O_WRONLY | O_CLOEXEC);
        QVERIFY(::ftruncate(fd, holeEnd) == 0);
        const std::string end = tail + wire::bytes(8, wire::bytes(1, "") + wire::number(2, 13));
        QCOMPARE(::pwrite(fd, end.data(), end.size(), holeEnd), static_cast<ssize_t>(end.size()));
        ::close(fd);

        const GraphPtr graph = opened(source);
        QVERIFY(graph);
        const DeviceSet devices = twoGpus();
        const auto placement = placementOf({0, 1});
        const qint64 before = peakKilobytes();
        QVERIFY(formats::saveGraph(*graph, disk.path("copy.onnx"), {placement, &devices, source}));
        QVERIFY2(peakKilobytes() - before < 16 * 1024, "the weights went through memory");
        const GraphPtr back = opened(disk.path("copy.onnx"));
        QVERIFY(back);
        QCOMPARE(back->op(OpId(1)).device, std::string("gpu:1"));
        QCOMPARE(back->op(OpId(0)).paramBytes, weightBytes);
    }

private:
    static qint64 peakKilobytes() {
        QFile status("/proc/self/status");
        if (!status.open(QIODevice::ReadOnly))
            return 0;
        for (const QByteArray& line : status.readAll().split('\n')) {
            if (line.startsWith("VmHWM:"))
                return line.mid(6).simplified().split(' ').first().toLongLong();
        }
        return 0;
    }
};

QTEST_APPLESS_MAIN(TestOnnxExport)
#include "tst_onnx_export.moc"
