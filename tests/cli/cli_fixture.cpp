#include "tests/cli/cli_fixture.h"

#include <QFile>
#include <QJsonDocument>
#include <QProcess>

namespace pw::test {

QJsonObject CliRun::json() const {
    return QJsonDocument::fromJson(out).object();
}

CliRun runCli(const QStringList& arguments, const QString& folder) {
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(QStringLiteral(PW_CLI), arguments);
    CliRun run;
    if (!process.waitForFinished(120000)) {
        process.kill();
        process.waitForFinished();
    } else if (process.exitStatus() == QProcess::NormalExit) {
        run.exitCode = process.exitCode();
    }
    run.out = process.readAllStandardOutput();
    run.err = process.readAllStandardError();
    return run;
}

CliFolder::CliFolder() {
    write(QStringLiteral("w1.graph.json"), R"({ "format": "placewright-graph", "version": 1, "name": "W1", "ops": [
      { "name": "a", "type": "Op", "cost_us": 100, "outputs": [{"bytes": 760000}] },
      { "name": "b", "type": "Op", "inputs": ["a"], "cost_us": 30, "outputs": [{"bytes": 76000}] },
      { "name": "c", "type": "Op", "inputs": ["a"], "cost_us": 40, "outputs": [{"bytes": 152000}] },
      { "name": "d", "type": "Op", "inputs": ["a"], "cost_us": 20, "outputs": [{"bytes": 7600}] },
      { "name": "e", "type": "Op", "inputs": ["a"], "cost_us": 10, "outputs": [{"bytes": 0}] },
      { "name": "f", "type": "Op", "inputs": ["b", "c", "d", "e"], "cost_us": 5, "outputs": [{"bytes": 1000}] } ] })");
    QByteArray devices = R"({ "format": "placewright-devices", "version": 1, "name": "three", "devices": [)";
    QByteArray links;
    for (int i = 0; i < 3; ++i) {
        devices += QByteArray(i > 0 ? "," : "") + R"({"name": "gpu:)" + QByteArray::number(i) +
                   R"(", "kind": "gpu", "model": "test", "flops_per_us": 1e6, "bytes_per_us": 1e5, "launch_us": 5.7})";
        for (int j = 0; j < 3; ++j) {
            if (i != j) {
                links += QByteArray(links.isEmpty() ? "" : ",") + R"({"from": "gpu:)" + QByteArray::number(i) +
                         R"(", "to": "gpu:)" + QByteArray::number(j) + R"(", "bytes_per_us": 7600, "latency_us": 25})";
            }
        }
    }
    write(QStringLiteral("three.devices.json"), devices + R"(], "links": [)" + links + "] }");
    write(QStringLiteral("w1.csv"), "op,device\na,gpu:0\nb,gpu:1\nc,gpu:2\nd,gpu:1\ne,gpu:0\nf,gpu:0\n");
    write(QStringLiteral("cycle.graph.json"), R"({ "format": "placewright-graph", "version": 1, "name": "loop", "ops": [
      { "name": "x", "type": "Op", "inputs": ["y"], "cost_us": 1, "outputs": [{"bytes": 8}] },
      { "name": "y", "type": "Op", "inputs": ["x"], "cost_us": 1, "outputs": [{"bytes": 8}] } ] })");
}

void CliFolder::write(const QString& name, const QByteArray& content) const {
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("cannot write %s", qPrintable(name));
}

QByteArray CliFolder::read(const QString& name) const {
    QFile file(path(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace pw::test
