#include "tests/cli/cli_fixture.h"

#include <QJsonArray>
#include <QTest>

using pw::test::CliFolder;
using pw::test::CliRun;
using pw::test::runCli;

namespace {

/// Fails the calling test unless every key is there.
void verifyKeys(const QJsonObject& json, const QStringList& keys) {
    for (const QString& key : keys)
        QVERIFY2(json.contains(key), qPrintable(QStringLiteral("no key ") + key));
}

} // namespace

class TstCli : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void helpOfEveryCommand_data();
    void helpOfEveryCommand();
    void version();
    void info();
    void infoOfCycle();
    void infoCosts();
    void convertThereAndBack();
    void convertWithPlacement();
    void groups();
    void zoo();
    void devices();
    void simulateLinks();
    void simulateReference();
    void simulateRepeatAndTrace();
    void placeEveryMethod_data();
    void placeEveryMethod();
    void placeIsRecorded();
    void compareTable();
    void runsLifeCycle();
    void render();
};

void TstCli::helpOfEveryCommand_data() {
    QTest::addColumn<QStringList>("command");
    for (const char* command : {"", "info", "convert", "groups", "zoo", "zoo list", "zoo emit", "devices", "simulate", "place", "compare",
                                "train", "infer", "runs", "runs list", "render", "demo"})
        QTest::newRow(*command == 0 ? "top" : command)
            << QString::fromLatin1(command).split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

void TstCli::helpOfEveryCommand() {
    QFETCH(QStringList, command);
    const CliRun run = runCli(command + QStringList{QStringLiteral("--help")});
    QCOMPARE(run.exitCode, 0);
    QVERIFY(run.out.contains("Usage") && run.out.size() > 100);
    const bool isFamily = command.isEmpty() || command == QStringList{"zoo"} || command == QStringList{"runs"};
    const qsizetype example = run.out.indexOf("Example");
    QVERIFY2(isFamily || (example >= 0 && run.out.mid(example).count('\n') >= 3), run.out); // the command and its output
    QVERIFY(!run.out.contains("EXAMPLE")); // a place that was never filled in
}

void TstCli::version() {
    const CliRun run = runCli({QStringLiteral("--version")});
    QCOMPARE(run.exitCode, 0);
    QVERIFY(run.out.startsWith("placewright-cli "));
}

void TstCli::info() {
    const CliFolder folder;
    const CliRun run = folder.run({"info", "w1.graph.json", "--json"});
    QCOMPARE(run.exitCode, 0);
    const QJsonObject json = run.json();
    verifyKeys(json, {"name", "format", "ops", "ops_total", "tensors", "edges", "edges_distinct", "control_edges", "depth",
                      "cyclic", "op_types", "parameter_bytes", "flops", "scopes", "devices", "warnings"});
    QCOMPARE(json["ops"].toInt(), 6);
    QCOMPARE(json["edges"].toInt(), 8);
    QCOMPARE(json["depth"].toInt(), 3);
    QCOMPARE(json["cyclic"].toBool(), false);
    QVERIFY(folder.run({"info", "w1.graph.json"}).out.contains("ops          6"));
}

void TstCli::infoOfCycle() {
    const CliFolder folder;
    const CliRun run = folder.run({"info", "cycle.graph.json", "--json"});
    QCOMPARE(run.exitCode, 0);
    QVERIFY(run.json()["cyclic"].toBool());
    QVERIFY(run.json()["depth"].isNull());
}

void TstCli::infoCosts() {
    const CliRun run = runCli({"info", "zoo:inception_v3", "--costs", "--json"});
    QCOMPARE(run.exitCode, 0);
    const QJsonObject costs = run.json()["costs"].toObject();
    verifyKeys(costs, {"by_type", "unknown", "measured"});
    QVERIFY(costs["by_type"].toObject()["Conv2D"].toObject()["cost_us"].toDouble() > 0.0);
}

void TstCli::convertThereAndBack() {
    const CliFolder folder;
    QCOMPARE(folder.run({"convert", "zoo:rnnlm?level=L0&steps=3", "a.graph.json", "--json"}).exitCode, 0);
    QCOMPARE(folder.run({"convert", "a.graph.json", "b.dot"}).exitCode, 0);
    const QJsonObject zoo = folder.run({"info", "zoo:rnnlm?level=L0&steps=3", "--json"}).json();
    const QJsonObject json = folder.run({"info", "a.graph.json", "--json"}).json();
    const QJsonObject dot = folder.run({"info", "b.dot", "--json"}).json();
    QCOMPARE(json["hash"], zoo["hash"]);
    for (const char* key : {"ops", "edges_distinct", "depth"}) {
        QCOMPARE(json[QLatin1String(key)], zoo[QLatin1String(key)]);
        QCOMPARE(dot[QLatin1String(key)], zoo[QLatin1String(key)]);
    }
}

void TstCli::convertWithPlacement() {
    const CliFolder folder;
    QCOMPARE(folder.run({"convert", "w1.graph.json", "placed.graph.json", "-p", "w1.csv", "-d", "three.devices.json"}).exitCode, 0);
    const QJsonObject devices = folder.run({"info", "placed.graph.json", "--json"}).json()["devices"].toObject();
    QCOMPARE(devices["gpu:0"].toInt(), 3);
    QCOMPARE(devices["gpu:1"].toInt(), 2);
    QCOMPARE(devices["gpu:2"].toInt(), 1);
}

void TstCli::groups() {
    const CliFolder folder;
    const QStringList command = {"groups", "zoo:chain?n=40", "--json"};
    const CliRun made = folder.run(command + QStringList{"--groups", "7", "-o", "g.csv"});
    QCOMPARE(made.exitCode, 0);
    verifyKeys(made.json(), {"name", "ops", "groups", "arcs", "turned_arcs", "report", "table", "file"});
    QCOMPARE(made.json()["groups"].toInt(), 7);
    QCOMPARE(made.json()["table"].toArray().size(), 7);
    QVERIFY(folder.read("g.csv").startsWith("op,group\n"));
    // The file gives the same groups back, without any merging.
    const CliRun read = folder.run(command + QStringList{"--groups", "0", "--group-file", "g.csv"});
    QCOMPARE(read.json()["groups"].toInt(), 7);
    QCOMPARE(read.json()["ops"].toInt(), made.json()["ops"].toInt());
    const auto opsOf = [](const CliRun& run) {
        QMap<QString, int> ops;
        for (const QJsonValue& group : run.json()["table"].toArray())
            ops[group["name"].toString()] = group["ops"].toInt();
        return ops;
    };
    QCOMPARE(opsOf(read), opsOf(made));
    QCOMPARE(folder.run(command + QStringList{"--group-file", "nowhere.csv"}).exitCode, 2);
}

void TstCli::zoo() {
    const CliFolder folder;
    const QJsonArray list = runCli({"zoo", "list", "--json"}).json()["workloads"].toArray();
    QVERIFY(list.size() >= 2);
    const CliRun emit = folder.run({"zoo", "emit", "inception_v3", "batch=32", "-o", "i.graph.json", "--json"});
    QCOMPARE(emit.exitCode, 0);
    verifyKeys(emit.json(), {"name", "ops", "edges", "parameter_bytes", "flops"});
    QCOMPARE(folder.run({"info", "i.graph.json", "--json"}).json()["ops"], emit.json()["ops"]);
}

void TstCli::devices() {
    const QJsonArray presets = runCli({"devices", "--json"}).json()["presets"].toArray();
    QCOMPARE(presets.size(), 7);
    const QJsonObject k80 = runCli({"devices", "show", "2xK80", "--json"}).json();
    verifyKeys(k80, {"devices", "links"});
    QCOMPARE(k80["links"].toArray().size(), 2);
    QCOMPARE(k80["links"].toArray()[0].toObject()["bytes_per_us"].toDouble(), 7600.0);
}

void TstCli::simulateLinks() {
    const CliFolder folder;
    const CliRun run = folder.run({"simulate", "w1.graph.json", "-d", "three.devices.json", "-p", "w1.csv", "--json"});
    QCOMPARE(run.exitCode, 0);
    const QJsonObject json = run.json();
    verifyKeys(json, {"step_time_us", "valid", "invalid_reason", "peak_bytes", "busy_us", "transfer_bytes", "critical_path",
                      "lower_bound_us"});
    QCOMPARE(json["step_time_us"].toDouble(), 332.1);
    QCOMPARE(json["peak_bytes"].toArray()[1].toInt(), 843600);
    const QJsonArray path = json["critical_path"].toArray();
    QVERIFY(path.last().toObject().contains("op"));
    QCOMPARE(path.last().toObject()["end_us"].toDouble(), 332.1);
}

void TstCli::simulateReference() {
    const CliFolder folder;
    const CliRun run = folder.run(
        {"simulate", "w1.graph.json", "-d", "three.devices.json", "-p", "w1.csv", "--model", "reference", "--json"});
    QCOMPARE(run.exitCode, 0);
    QCOMPARE(run.json()["step_time_us"].toDouble(), 291.0);
}

void TstCli::simulateRepeatAndTrace() {
    const CliFolder folder;
    const CliRun run = folder.run({"simulate", "w1.graph.json", "-d", "three.devices.json", "-p", "w1.csv", "--repeat", "100",
                                   "--trace", "trace.json", "--json"});
    QCOMPARE(run.exitCode, 0);
    QVERIFY(run.json()["ops_per_s"].toDouble() > 0.0);
    const QByteArray trace = folder.read("trace.json");
    QVERIFY(trace.contains("\"traceEvents\"") && trace.contains("\"name\":\"f\""));
}

void TstCli::placeEveryMethod_data() {
    QTest::addColumn<QString>("method");
    for (const char* method : {"single", "random", "round_robin", "contiguous", "metis", "local_search"})
        QTest::newRow(method) << QString::fromLatin1(method);
}

void TstCli::placeEveryMethod() {
    QFETCH(QString, method);
    const CliFolder folder;
    const QString graph = QStringLiteral("zoo:inception_v3");
    const CliRun run = folder.run({"place", graph, "-d", "2xK80", "-m", method, "--budget-evals", "200", "-o",
                                   "p.placement.json", "--json"});
    QCOMPARE(run.exitCode, 0);
    const QJsonObject json = run.json();
    verifyKeys(json, {"method", "step_time_us", "valid", "evaluations", "seconds", "lower_bound_us", "peak_bytes", "placement"});
    QVERIFY(json["step_time_us"].toDouble() >= json["lower_bound_us"].toDouble());
    QCOMPARE(json["placement"].toString(), QStringLiteral("p.placement.json"));
    const CliRun simulated = folder.run({"simulate", graph, "-d", "2xK80", "-p", "p.placement.json", "--json"});
    QCOMPARE(simulated.json()["step_time_us"].toDouble(), json["step_time_us"].toDouble());
}

void TstCli::placeIsRecorded() {
    const CliFolder folder;
    for (int seed = 1; seed <= 2; ++seed)
        QCOMPARE(folder.run({"place", "w1.graph.json", "-d", "three.devices.json", "-m", "random", "--seed",
                             QString::number(seed), "--project", "p.placewright"}).exitCode, 0);
    const QJsonArray runs = folder.run({"runs", "list", "--project", "p.placewright", "--json"}).json()["runs"].toArray();
    QCOMPARE(runs.size(), 2);
    QCOMPARE(runs[0].toObject()["status"].toString(), QStringLiteral("done"));
}

void TstCli::compareTable() {
    const CliFolder folder;
    const CliRun run = folder.run({"compare", "zoo:inception_v3", "-d", "2xK80", "-m", "single,random,local_search", "--seeds", "2",
                                   "--budget-evals", "300", "--csv", "t.csv", "--latex", "t.tex", "--json"});
    QCOMPARE(run.exitCode, 0);
    const QJsonArray rows = run.json()["rows"].toArray();
    QCOMPARE(rows.size(), 3);
    double best = 1e300;
    for (const auto& row : rows) {
        verifyKeys(row.toObject(), {"graph", "method", "step_time_us", "evaluations", "seconds", "valid", "vs_best", "vs_lower_bound"});
        const QJsonObject time = row.toObject()["step_time_us"].toObject();
        QVERIFY(time["min"].toDouble() <= time["mean"].toDouble() && time["mean"].toDouble() <= time["max"].toDouble());
        best = std::min(best, row.toObject()["vs_best"].toDouble());
    }
    QCOMPARE(best, 1.0);
    QCOMPARE(folder.read("t.csv").count('\n'), 4);
    QVERIFY(folder.read("t.tex").contains("local\\_search"));
}

void TstCli::runsLifeCycle() {
    const CliFolder folder;
    const QStringList project = {"--project", "p.placewright"};
    QCOMPARE(folder.run(QStringList{"place", "w1.graph.json", "-d", "three.devices.json", "-m", "local_search"} + project).exitCode, 0);
    QCOMPARE(folder.run(QStringList{"runs", "tag", "last", "good", "first"} + project).exitCode, 0);
    QCOMPARE(folder.run(QStringList{"runs", "note", "last", "worth keeping"} + project).exitCode, 0);
    const QJsonObject shown = folder.run(QStringList{"runs", "show", "last", "--json"} + project).json();
    QCOMPARE(shown["tags"].toArray().size(), 2);
    QCOMPARE(shown["note"].toString(), QStringLiteral("worth keeping"));
    QVERIFY(folder.run(QStringList{"runs", "metrics", "last"} + project).out.startsWith("step,seconds,key,value\n"));
    QCOMPARE(folder.run(QStringList{"runs", "export", "last", "--placement", "best.placement.json"} + project).exitCode, 0);
    const CliRun simulated = folder.run({"simulate", "w1.graph.json", "-d", "three.devices.json", "-p", "best.placement.json", "--json"});
    QCOMPARE(simulated.json()["step_time_us"].toDouble(), shown["best_step_time_us"].toDouble());
    QCOMPARE(folder.run(QStringList{"runs", "delete", "last"} + project).exitCode, 0);
    QCOMPARE(folder.run(QStringList{"runs", "list", "--json"} + project).json()["runs"].toArray().size(), 0);
}

void TstCli::render() {
    const CliFolder folder;
    const CliRun png = folder.run({"render", "w1.graph.json", "-p", "w1.csv", "-d", "three.devices.json", "--size", "640x480", "-o",
                                   "g.png", "--json"});
    if (png.exitCode == 2 && png.json()["error"].toObject()["code"].toString() == QLatin1String("unsupported"))
        QSKIP("built without pictures");
    QCOMPARE(png.exitCode, 0);
    verifyKeys(png.json(), {"file", "width", "height"});
    QVERIFY(folder.read("g.png").startsWith("\x89PNG"));
    QCOMPARE(folder.run({"render", "w1.graph.json", "-o", "g.svg"}).exitCode, 0);
    QVERIFY(folder.read("g.svg").contains("<svg"));
    QCOMPARE(folder.run({"render", "cycle.graph.json", "-o", "c.png"}).exitCode, 0);
}

QTEST_GUILESS_MAIN(TstCli)
#include "tst_cli.moc"
