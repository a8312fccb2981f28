#include "tests/cli/cli_fixture.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTest>

using pw::test::CliFolder;
using pw::test::CliRun;

/// Every kind of bad input: exit code 2, one clear message that names file, place and reason, never a crash or a hang.
class TstCliErrors : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void badInput_data();
    void badInput();
    void usageErrorsAsJson();
    void otherGraphsPlacement();
    void overMemoryIsAnHonestNo();
    void newerProject();
    void outputThatDoesNotArrive();
    void adversarialFiles_data();
    void adversarialFiles();
    void realFilesOpen_data();
    void realFilesOpen();
};

void TstCliErrors::badInput_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("named"); ///< what the message must name

    const auto row = [](const char* name, const QStringList& arguments, const char* named) {
        QTest::newRow(name) << arguments << QString::fromLatin1(named);
    };
    row("missing file", {"info", "nowhere.onnx"}, "nowhere.onnx");
    row("empty file", {"info", "empty.onnx"}, "empty.onnx");
    row("folder", {"info", "."}, ".");
    row("text", {"info", "text.txt"}, "text.txt");
    row("truncated json", {"info", "truncated.graph.json"}, "truncated.graph.json");
    row("negative bytes", {"info", "negative.graph.json"}, "op \"a\" output 0");
    row("unknown input", {"info", "dangling.graph.json"}, "nobody");
    row("newer graph version", {"info", "newer.graph.json"}, "version");
    row("deep nesting", {"info", "deep.json"}, "deep.json");
    row("bad dim", {"info", "w1.graph.json", "--dim", "batch=zero"}, "batch=zero");
    row("cycle simulated", {"simulate", "cycle.graph.json", "-d", "2xK80", "-p", "w1.csv"}, "cycle");
    row("cycle placed", {"place", "cycle.graph.json", "-d", "2xK80", "-m", "single"}, "x");
    row("no devices", {"place", "w1.graph.json", "-d", "none.devices.json", "-m", "single"}, "none.devices.json");
    row("unknown preset", {"place", "w1.graph.json", "-d", "3xK80", "-m", "single"}, "2xK80");
    row("unknown method", {"place", "w1.graph.json", "-d", "2xK80", "-m", "magic"}, "local_search");
    row("unknown parameter", {"place", "w1.graph.json", "-d", "2xK80", "-m", "local_search", "--set", "speed=9"}, "speed");
    row("unknown model", {"place", "w1.graph.json", "-d", "2xK80", "-m", "single", "--model", "exact"}, "exact");
    row("heterogeneous reference", {"place", "w1.graph.json", "-d", "CPU+1xP100", "-m", "single", "--model", "reference"}, "the kind is gpu instead of cpu");
    row("unknown device name", {"simulate", "w1.graph.json", "-d", "2xK80", "-p", "elsewhere.csv"}, "tpu:9");
    row("unknown workload", {"info", "zoo:alexnet"}, "alexnet");
    row("unknown workload key", {"info", "zoo:rnnlm?wings=2"}, "wings");
    row("workload out of range", {"info", "zoo:rnnlm?layers=-1"}, "layers");
    row("unwritable output", {"zoo", "emit", "chain", "-o", "no/such/folder/c.graph.json"}, "no/such/folder");
    row("unknown ending", {"convert", "w1.graph.json", "w1.xyz"}, "w1.xyz");
    row("ONNX of a workload", {"convert", "zoo:chain", "chain.onnx"}, "chain.onnx: ONNX models are written by putting devices into");
    row("time without a placement", {"render", "w1.graph.json", "--by", "time", "-o", "g.png"}, "--placement and --devices");
    row("not a project", {"runs", "list", "--project", "text.txt"}, "text.txt");
    row("no project", {"runs", "list"}, "--project");
    row("no project", {"runs", "show", "7", "--project", "fresh.placewright"}, "fresh.placewright");
    row("no policy", {"infer", "w1.graph.json", "-d", "2xK80", "--policy", "nowhere.policy"}, "nowhere.policy");
    row("bundled policy", {"infer", "w1.graph.json", "-d", "2xK80", "--policy", "bundled"}, "bundled");
    row("train without budget", {"train", "placeto", "-g", "w1.graph.json", "-d", "2xK80", "--project", "f.placewright"}, "budget");
    row("train without project", {"train", "placeto", "-g", "w1.graph.json", "-d", "2xK80", "--episodes", "1"}, "--project");
    row("negative seed", {"place", "w1.graph.json", "-d", "2xK80", "-m", "random", "--seed", "-1"}, "'-1'");
    row("seed beyond 64 bits", {"place", "w1.graph.json", "-d", "2xK80", "-m", "random", "--seed", "18446744073709551616"},
        "18446744073709551616");
    row("negative groups", {"place", "w1.graph.json", "-d", "2xK80", "-m", "single", "--groups", "-3"}, "'-3'");
    row("seconds that are no number", {"place", "w1.graph.json", "-d", "2xK80", "-m", "single", "--budget-seconds", "nan"}, "nan");
    row("negative flops", {"info", "flops.graph.json"}, "flops");
    row("link that never ends", {"place", "w1.graph.json", "-d", "slow.devices.json", "-m", "single"}, "slow.devices.json");
    row("cycle names its file", {"place", "cycle.graph.json", "-d", "2xK80", "-m", "single"}, "cycle.graph.json");
    row("control characters", {"info", "two\nlines.onnx"}, "two\\nlines.onnx");
    row("bad size", {"render", "w1.graph.json", "--size", "huge", "-o", "g.png"}, "huge");
}

void TstCliErrors::badInput() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, named);
    const CliFolder folder;
    folder.write("empty.onnx", "");
    folder.write("text.txt", "this is no model\n");
    folder.write("truncated.graph.json", folder.read("w1.graph.json").left(200));
    folder.write("negative.graph.json",
                 R"({"format":"placewright-graph","version":1,"ops":[{"name":"a","type":"T","outputs":[{"bytes":-5}]}]})");
    folder.write("dangling.graph.json",
                 R"({"format":"placewright-graph","version":1,"ops":[{"name":"a","type":"T","inputs":["nobody"]}]})");
    folder.write("newer.graph.json", R"({"format":"placewright-graph","version":99,"ops":[]})");
    folder.write("deep.json", QByteArray(200000, '['));
    folder.write("flops.graph.json",
                 R"({"format":"placewright-graph","version":1,"ops":[{"name":"a","type":"T","flops":-5}]})");
    folder.write("slow.devices.json", R"({"format":"placewright-devices","version":1,"name":"slow","devices":[
        {"name":"gpu:0","kind":"gpu","flops_per_us":1e6,"bytes_per_us":1e5},{"name":"gpu:1","kind":"gpu","flops_per_us":1e6,"bytes_per_us":1e5}],
        "links":[{"from":"gpu:0","to":"gpu:1","bytes_per_us":1e-300,"latency_us":1}]})");
    folder.write("none.devices.json", R"({"format":"placewright-devices","version":1,"name":"none","devices":[],"links":[]})");
    folder.write("elsewhere.csv", "op,device\na,tpu:9\nb,tpu:9\nc,tpu:9\nd,tpu:9\ne,tpu:9\nf,tpu:9\n");

    const CliRun run = folder.run(arguments);
    QCOMPARE(run.exitCode, 2);
    QVERIFY2(run.err.contains(named.toUtf8()), run.err.constData());
    QVERIFY(run.err.startsWith("placewright-cli: error: "));
    QCOMPARE(run.err.count('\n'), 1);

    const CliRun asJson = folder.run(arguments + QStringList{"--json"});
    QCOMPARE(asJson.exitCode, 2);
    const QJsonObject error = asJson.json()["error"].toObject();
    for (const char* key : {"code", "message", "file", "where"})
        QVERIFY2(error.contains(QLatin1String(key)), asJson.out.constData());
}

void TstCliErrors::usageErrorsAsJson() {
    const CliFolder folder;
    for (const QStringList& arguments : {QStringList{}, QStringList{"fly"}, QStringList{"info"}, QStringList{"info", "--wings"}}) {
        QCOMPARE(folder.run(arguments).exitCode, 2);
        const CliRun run = folder.run(QStringList{"--json"} + arguments);
        QCOMPARE(run.exitCode, 2);
        QVERIFY(run.json().contains("error"));
    }
}

void TstCliErrors::otherGraphsPlacement() {
    const CliFolder folder;
    QCOMPARE(folder.run({"place", "zoo:chain", "-d", "2xK80", "-m", "single", "-o", "chain.placement.json"}).exitCode, 0);
    const CliRun run = folder.run({"simulate", "w1.graph.json", "-d", "2xK80", "-p", "chain.placement.json"});
    QCOMPARE(run.exitCode, 2);
    QVERIFY2(run.err.contains("chain.placement.json") || run.err.contains("op"), run.err.constData());
}

void TstCliErrors::overMemoryIsAnHonestNo() {
    const CliFolder folder;
    folder.write("small.devices.json", R"({"format":"placewright-devices","version":1,"name":"small","devices":[
        {"name":"gpu:0","kind":"gpu","memory_bytes":1000,"flops_per_us":1e6,"bytes_per_us":1e5,"launch_us":1}],"links":[]})");
    folder.write("zero.csv", "op,device\na,gpu:0\nb,gpu:0\nc,gpu:0\nd,gpu:0\ne,gpu:0\nf,gpu:0\n");
    const CliRun run = folder.run({"simulate", "w1.graph.json", "-d", "small.devices.json", "-p", "zero.csv", "--json"});
    QCOMPARE(run.exitCode, 1);
    QCOMPARE(run.json()["valid"].toBool(), false);
    QVERIFY(run.json()["invalid_reason"].toString().contains("gpu:0"));
    QCOMPARE(folder.run({"place", "w1.graph.json", "-d", "small.devices.json", "-m", "local_search", "--json"}).exitCode, 1);
}

void TstCliErrors::newerProject() {
    const CliFolder folder;
    QCOMPARE(folder.run({"place", "w1.graph.json", "-d", "2xK80", "-m", "single", "--project", "p.placewright"}).exitCode, 0);
    QByteArray file = folder.read("p.placewright");
    QVERIFY(file.startsWith("SQLite format 3"));
    file[60] = 0, file[61] = 0, file[62] = 3, file[63] = char(0xe7); // user_version 999, big-endian at offset 60
    folder.write("p.placewright", file);
    const CliRun run = folder.run({"runs", "list", "--project", "p.placewright", "--json"});
    QCOMPARE(run.exitCode, 2);
    QCOMPARE(run.json()["error"].toObject()["code"].toString(), QStringLiteral("unsupported"));
    QCOMPARE(folder.read("p.placewright"), file);
}

void TstCliErrors::outputThatDoesNotArrive() {
    if (!QFileInfo::exists(QStringLiteral("/dev/full")))
        QSKIP("no /dev/full here");
    QProcess process;
    process.setStandardOutputFile(QStringLiteral("/dev/full"));
    process.start(QStringLiteral(PW_CLI), {"devices"});
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitCode(), 2);
    QVERIFY(process.readAllStandardError().contains("standard output"));
}

void TstCliErrors::adversarialFiles_data() {
    QTest::addColumn<QString>("file");
    for (const char* folder : {"/adversarial", "/tf", "/tfjs", "/json"}) {
        for (const QFileInfo& file : QDir(QStringLiteral(PW_SHARED_DATA) + QLatin1String(folder)).entryInfoList(QDir::Files))
            QTest::newRow(qPrintable(file.fileName())) << file.absoluteFilePath();
    }
    if (!QFileInfo::exists(QStringLiteral(PW_SHARED_DATA)))
        QTest::newRow("no data folder") << QString();
}

void TstCliErrors::adversarialFiles() {
    QFETCH(QString, file);
    if (file.isEmpty())
        QSKIP("the folder with real graphs is not here");
    const CliRun run = pw::test::runCli({"info", file, "--json"});
    QVERIFY2(run.exitCode == 0 || run.exitCode == 2, run.err.constData());
    QVERIFY(!run.json().isEmpty());
    if (run.exitCode == 2)
        QVERIFY(!run.json()["error"].toObject()["message"].toString().isEmpty());
}

void TstCliErrors::realFilesOpen_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QJsonObject>("expected");
    QFile file(QStringLiteral(PW_SHARED_DATA "/EXPECTED.json"));
    if (!file.open(QIODevice::ReadOnly)) {
        QTest::newRow("no data folder") << QString() << QJsonObject();
        return;
    }
    for (const auto& entry : QJsonDocument::fromJson(file.readAll()).object()["files"].toArray()) {
        const QJsonObject expected = entry.toObject();
        const QString format = expected["format"].toString();
        if ((format.startsWith(QLatin1String("onnx")) || format == QLatin1String("graphviz DOT")) && expected.contains("nodes"))
            QTest::newRow(qPrintable(expected["file"].toString())) << expected["file"].toString() << expected;
    }
}

void TstCliErrors::realFilesOpen() {
    QFETCH(QString, file);
    QFETCH(QJsonObject, expected);
    if (file.isEmpty())
        QSKIP("the folder with real graphs is not here");
    const CliRun run = pw::test::runCli({"info", QStringLiteral(PW_SHARED_DATA "/") + file, "--json"});
    QCOMPARE(run.exitCode, 0);
    const QJsonObject json = run.json();
    QCOMPARE(json["ops"], expected["nodes"]);
    QCOMPARE(json["edges"], expected["edges"]);
    QCOMPARE(json["edges_distinct"], expected["edges_distinct"]);
    QCOMPARE(json["depth"], expected["depth"]);
    if (expected.contains("nodes_total"))
        QCOMPARE(json["ops_total"], expected["nodes_total"]);
    if (expected.contains("weights_bytes"))
        QCOMPARE(json["parameter_bytes"], expected["weights_bytes"]);
    if (expected.contains("op_histogram"))
        QCOMPARE(json["op_types"].toObject(), expected["op_histogram"].toObject());
}

QTEST_GUILESS_MAIN(TstCliErrors)
#include "tst_cli_errors.moc"
