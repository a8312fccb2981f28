// Recognition, foreign files, placements, device sets, reading and writing of files.

#include "core/formats/formats.h"
#include "tests/formats/temp_file.h"
#include "tests/support/graph_dsl.h"

#include <QtTest>

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace pw;
using namespace pw::test;
using formats::FileKind;

namespace {

DeviceSet twoGpus() {
    return DeviceSet::create(
               "two", {{"gpu:0", "gpu", "K\"80", 12000000000, 4.1e6, 240000, 5.7}, {"gpu:1", "gpu", "", 0, 0.1, 1, 0}},
               {{DeviceId(0), DeviceId(1), 7600, 25, "pcie"}, {DeviceId(1), DeviceId(0), 7600, 25, "pcie"}})
        .value();
}

} // namespace

class TestFiles : public QObject {
    Q_OBJECT

    TempFolder m_folder;

    Error graphError(const std::string& path) {
        const auto graph = formats::loadGraph(path);
        return graph ? Error{ErrorCode::Internal, "opened", {}, {}} : graph.error();
    }

private Q_SLOTS:
    void kinds() {
        const auto kind = [&](std::string_view content) {
            return formats::sniff(m_folder.write("x", content)).value();
        };
        QCOMPARE(kind("/* c */ strict digraph \"x\" {}"), FileKind::Graph);
        QCOMPARE(kind("// c\n# line\ngraph{a}"), FileKind::Graph);
        QCOMPARE(kind("ir_version: 3\ngraph {\n"), FileKind::Graph);
        QCOMPARE(kind("{\"format\" : \"placewright-graph\"}"), FileKind::Graph);
        QCOMPARE(kind("\xef\xbb\xbf{\"version\": 1, \"format\":\"placewright-placement\"}"), FileKind::Placement);
        QCOMPARE(kind("{\"format\": \"placewright-devices\"}"), FileKind::DeviceSet);
        QCOMPARE(kind("op,device\na,b\n"), FileKind::Placement);
        QCOMPARE(kind(std::string_view("SQLite format 3\0abc", 19)), FileKind::Project);
        QCOMPARE(kind(""), FileKind::Unknown);
        QCOMPARE(kind("hello"), FileKind::Unknown);
        QCOMPARE(kind("graphite"), FileKind::Unknown);
        QVERIFY(formats::sniff("/nonexistent").error().code == ErrorCode::NotFound);
        QVERIFY(formats::sniff("/").error().code == ErrorCode::Io);
        QVERIFY(formats::sniff("/dev/null").error().code == ErrorCode::Io);
        const std::string pipe = m_folder.path("pipe");
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        QVERIFY(formats::loadGraph(pipe).error().code == ErrorCode::Io); // and does not wait for a writer
    }

    void foreignFilesAreNamed_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* file, const char* says) { QTest::newRow(file) << file << says; };
        row("adversarial/git_lfs_pointer.onnx", "git lfs pull");
        row("adversarial/tensor_not_model.pb", "no format that this program knows");
        row("adversarial/triton_config.pbtxt", "Triton");
    }
    void foreignFilesAreNamed() {
        QFETCH(QString, file);
        QFETCH(QString, says);
        const std::string path = PW_SHARED_DATA "/" + file.toStdString();
        if (!std::filesystem::exists(path))
            QSKIP("the shared data folder is not here");
        const Error error = graphError(path);
        QVERIFY(error.code == ErrorCode::Unsupported || error.code == ErrorCode::Parse);
        QVERIFY2(QString::fromStdString(error.message).contains(says), error.toString().c_str());
        QCOMPARE(error.file, path);
    }

    /// Nothing in the shared folder crashes; what is no graph of ours is refused with a reason.
    void everySharedFileEndsWell() {
        if (!std::filesystem::exists(PW_SHARED_DATA))
            QSKIP("the shared data folder is not here");
        int refused = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(PW_SHARED_DATA)) {
            if (!entry.is_regular_file())
                continue;
            const auto graph = formats::loadGraph(entry.path().string());
            QVERIFY(graph || !graph.error().message.empty());
            refused += graph ? 0 : 1;
        }
        QVERIFY(refused > 20);
    }

    void webPagesAndArchives() {
        QVERIFY(graphError(m_folder.write("a.onnx", "<!DOCTYPE html><html>")).message.find("web page") !=
                std::string::npos);
        QVERIFY(graphError(m_folder.write("a.pt", std::string_view("PK\x03\x04\0\0", 6))).message.find("ZIP") !=
                std::string::npos);
        QVERIFY(graphError(m_folder.write("a.onnx", "garbage")).message.find("not an ONNX model") != std::string::npos);
        QVERIFY(graphError(m_folder.write("a.dot", "")).message.find("empty") != std::string::npos);
        QVERIFY(graphError(m_folder.write("p.csv", "op,device\na,b")).message.find("a placement") != std::string::npos);
    }

    void placementRoundTrips() {
        const GraphPtr graph = w2();
        const DeviceSet devices = twoGpus();
        const auto placement = placementOf({0, 1, 0, 1, 1});
        auto file = formats::makePlacementFile(*graph, devices, placement, "metis", 18446744073709551615ULL);
        file.pinned = {"q"};
        for (const char* name : {"p.placement.json", "p.csv"}) {
            QVERIFY(formats::savePlacement(file, m_folder.path(name)));
            const auto back = formats::loadPlacement(m_folder.path(name));
            QVERIFY2(back, back ? "" : back.error().toString().c_str());
            std::vector<Warning> warnings;
            QCOMPARE(formats::applyPlacement(*back, *graph, devices, warnings).value(), placement);
            QVERIFY(warnings.empty());
        }
        const auto back = formats::loadPlacement(m_folder.path("p.placement.json")).value();
        QCOMPARE(back.method, std::string("metis"));
        QCOMPARE(back.seed, 18446744073709551615ULL);
        QCOMPARE(back.graphHash, graph->hash());
        QCOMPARE(back.pinned, std::vector<std::string>{"q"});
    }

    void placementsHaveKnownEndings() {
        const formats::PlacementFile file;
        for (const char* name : {"p.xyz", "p", "p.json.txt"}) {
            const Status saved = formats::savePlacement(file, m_folder.path(name));
            QVERIFY(!saved && saved.error().code == ErrorCode::Unsupported);
            QVERIFY(saved.error().message.find(".placement.json") != std::string::npos);
            QVERIFY(!std::filesystem::exists(m_folder.path(name)));
        }
        QVERIFY(formats::savePlacement(file, m_folder.path("P.JSON")));
    }

    void placementRules() {
        const GraphPtr graph = w2();
        const DeviceSet devices = twoGpus();
        std::vector<Warning> warnings;
        formats::PlacementFile file;
        file.assignment = {{"p", "gpu:1"}};
        const auto incomplete = formats::applyPlacement(file, *graph, devices, warnings);
        QVERIFY(!incomplete && incomplete.error().where == "op \"q\"");
        file.defaultDevice = "gpu:0";
        QCOMPARE(formats::applyPlacement(file, *graph, devices, warnings).value(), placementOf({1, 0, 0, 0, 0}));
        QVERIFY(warnings.empty());
        file.graphHash = "other";
        file.assignment["stranger"] = "gpu:1";
        QVERIFY(formats::applyPlacement(file, *graph, devices, warnings));
        QCOMPARE(warnings.size(), std::size_t{1});
        QCOMPARE(warnings[0].kind, std::string("other_graph"));
        QVERIFY(warnings[0].detail.find("1 of 2") != std::string::npos);
        file.assignment = {{"stranger", "gpu:1"}};
        QVERIFY(!formats::applyPlacement(file, *graph, devices, warnings));
        file.assignment = {{"p", "tpu:0"}};
        const auto unknown = formats::applyPlacement(file, *graph, devices, warnings);
        QVERIFY(!unknown && unknown.error().message.find("gpu:0, gpu:1") != std::string::npos);
    }

    void csvQuotesAndErrors() {
        const auto csv = [&](std::string_view text) { return formats::loadPlacement(m_folder.write("x.csv", text)); };
        const auto quoted = csv("op,device\r\n\"a,\"\"b\"\"\nc\",gpu:0\r\n\nplain,gpu:1");
        QVERIFY2(quoted, quoted ? "" : quoted.error().toString().c_str());
        QCOMPARE(quoted->assignment.at("a,\"b\"\nc"), std::string("gpu:0"));
        QCOMPARE(quoted->assignment.at("plain"), std::string("gpu:1"));
        QCOMPARE(csv("op,device\na,b\nc\n").error().where, std::string("line 3"));
        QCOMPARE(csv("a,b\na,c\n").error().where, std::string("line 2"));
        QVERIFY(!csv("a,\"b"));
        QVERIFY(!csv(""));
        QVERIFY(!csv(std::string_view("a,b\0", 4)));
    }

    void deviceSetRoundTrips() {
        const DeviceSet devices = twoGpus();
        QVERIFY(formats::saveDeviceSet(devices, m_folder.path("d.devices.json")));
        const auto back = formats::loadDeviceSet(m_folder.path("d.devices.json"));
        QVERIFY2(back, back ? "" : back.error().toString().c_str());
        QVERIFY(std::equal(back->devices().begin(), back->devices().end(), devices.devices().begin(),
                           devices.devices().end()));
        QVERIFY(std::equal(back->links().begin(), back->links().end(), devices.links().begin(), devices.links().end()));
        QCOMPARE(back->hash(), devices.hash());
        const auto wrong = formats::fromDevicesJson(
            R"({"format": "placewright-devices", "devices": [{"name": "a"}], "links": [{"from": "a", "to": "b", "bytes_per_us": 1}]})");
        QCOMPARE(wrong.error().where, std::string("links[0].to"));
        QCOMPARE(formats::fromDevicesJson(
                     R"({"format": "placewright-devices", "devices": [{"name": "a", "flops_per_us": "x"}]})")
                     .error()
                     .where,
                 std::string("devices[0].flops_per_us"));
    }

    void readingIsLimited() {
        const std::string path = m_folder.write("ten", "0123456789");
        QCOMPARE(formats::readFile(path, 10).value(), std::string("0123456789"));
        QVERIFY(formats::readFile(path, 9).error().code == ErrorCode::TooLarge);
    }

    void writingReplacesOrLeavesTheOldFile() {
        const std::string path = m_folder.write("file", "old");
        ::chmod(path.c_str(), 0640);
        QVERIFY(formats::writeFileAtomically(path, "new"));
        QCOMPARE(TempFolder::read(path), std::string("new"));
        struct stat info = {};
        ::stat(path.c_str(), &info);
        QCOMPARE(int(info.st_mode & 0777U), 0640);

        const std::string link = m_folder.path("link");
        std::filesystem::create_symlink(path, link);
        QVERIFY(formats::writeFileAtomically(link, "through"));
        QVERIFY(std::filesystem::is_symlink(link));
        QCOMPARE(TempFolder::read(path), std::string("through"));

        // A limit of file size stands for a full disk; root is not stopped by permissions.
        rlimit old = {};
        ::getrlimit(RLIMIT_FSIZE, &old);
        const auto handler = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit small = {1000, old.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        const Status status = formats::writeFileAtomically(path, std::string(5000, 'x'));
        ::setrlimit(RLIMIT_FSIZE, &old);
        std::signal(SIGXFSZ, handler);
        QVERIFY(!status && status.error().code == ErrorCode::Io && !status.error().message.empty());
        QCOMPARE(status.error().file, path);
        QCOMPARE(TempFolder::read(path), std::string("through"));
        for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
            QVERIFY2(entry.path().extension() != ".tmp", entry.path().c_str());
        QVERIFY(formats::writeFileAtomically(m_folder.path("no/such/folder"), "x").error().code == ErrorCode::NotFound);
        QVERIFY(formats::writeFileAtomically("/", "x").error().code == ErrorCode::Io);
    }
};

QTEST_APPLESS_MAIN(TestFiles)
#include "tst_files.moc"
