#include "tests/cli/cli_fixture.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QJsonArray>
#include <QProcess>
#include <QTest>

#include <csignal>

using pw::test::CliFolder;
using pw::test::CliRun;

namespace {

const QStringList kProject = {"--project", "p.placewright"};

QStringList trainArguments(const QStringList& more) {
    return QStringList{"train", "placeto", "-g", "zoo:layered?n=60", "-d", "2xK80", "--groups", "20"} + kProject + more;
}

} // namespace

/// Training, inference and what a killed training leaves, through the command line.
class TstCliLearning : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void trainThenInfer();
    void killedTrainingResumes();
    void controlCKeepsTheBest();
    void localDevices();
    void absentDevice();
    void opensOnnxThenLoadsTorch();
    void demo();

private:
    /// Starts a training run and waits until its first checkpoint can be resumed.
    void startTraining(const CliFolder& folder, QProcess& process);
};

void TstCliLearning::trainThenInfer() {
    const CliFolder folder;
    const CliRun trained = folder.run(trainArguments({"--episodes", "5", "--json"}));
    QCOMPARE(trained.exitCode, 0);
    for (const char* key : {"run", "episodes", "best_step_time_us", "policy"})
        QVERIFY(trained.json().contains(QLatin1String(key)));
    QCOMPARE(trained.json()["episodes"].toInt(), 5);
    const QJsonObject metrics = folder.run(QStringList{"runs", "metrics", "last", "--json"} + kProject).json();
    const QJsonArray samples = metrics["samples"].toArray();
    QCOMPARE(samples.size(), 5);
    for (const char* key : {"reward", "step_time_us", "best_step_time_us", "entropy", "grad_norm"})
        QVERIFY2(samples[0].toObject()["values"].toObject().contains(QLatin1String(key)), key);

    const CliRun inferred = folder.run(QStringList{"infer", "zoo:layered?n=80&seed=5", "-d", "2xK80", "--groups", "25", "--policy",
                                                   "last", "--polish", "0.2", "--json"} + kProject);
    QCOMPARE(inferred.exitCode, 0);
    QVERIFY(inferred.json()["confidence"].toDouble() >= 0.5);
    QVERIFY(inferred.json()["step_time_us"].toDouble() <= inferred.json()["zero_shot_step_time_us"].toDouble());

    QCOMPARE(folder.run(QStringList{"runs", "export", "last", "--policy", "p.policy"} + kProject).exitCode, 0);
    QCOMPARE(folder.run({"infer", "zoo:layered?n=80", "-d", "2xK80", "--groups", "25", "--policy", "p.policy"}).exitCode, 0);
    const CliRun wrongCount = folder.run({"infer", "zoo:layered?n=80", "-d", "4xK80", "--groups", "25", "--policy", "p.policy", "--json"});
    QCOMPARE(wrongCount.exitCode, 2);
    QVERIFY(wrongCount.json()["error"].toObject()["message"].toString().contains("device"));
}

void TstCliLearning::startTraining(const CliFolder& folder, QProcess& process) {
    process.setWorkingDirectory(folder.root());
    process.start(QStringLiteral(PW_CLI), trainArguments({"--budget-seconds", "100", "--quiet"}));
    QVERIFY(process.waitForStarted());
    QElapsedTimer timer;
    timer.start();
    // The first checkpoint comes within ten seconds; polling through the project is what a second program does.
    while (timer.elapsed() < 60000) {
        QVERIFY(!process.waitForFinished(300));
        const CliRun metrics = folder.run(QStringList{"runs", "metrics", "last"} + kProject);
        if (timer.elapsed() > 12000 && metrics.out.count('\n') > 20)
            return;
    }
    QFAIL("no samples within a minute");
}

void TstCliLearning::killedTrainingResumes() {
    const CliFolder folder;
    QProcess process;
    startTraining(folder, process);
    process.kill();
    QVERIFY(process.waitForFinished());

    const QJsonObject killed = folder.run(QStringList{"runs", "show", "last", "--json"} + kProject).json();
    QCOMPARE(killed["status"].toString(), QStringLiteral("interrupted"));
    const int before = folder.run(QStringList{"runs", "metrics", "last", "--json"} + kProject).json()["samples"].toArray().size();
    const CliRun resumed = folder.run(QStringList{"train", "placeto", "--resume", "last", "--episodes", QString::number(before + 30), "--json"} + kProject);
    QCOMPARE(resumed.exitCode, 0);
    QCOMPARE(resumed.json()["episodes"].toInt(), before + 30);
    const QJsonArray samples = folder.run(QStringList{"runs", "metrics", "last", "--json"} + kProject).json()["samples"].toArray();
    QCOMPARE(samples.size(), before + 30); // no episode twice, none missing
    QCOMPARE(folder.run(QStringList{"runs", "show", "last", "--json"} + kProject).json()["status"].toString(), QStringLiteral("done"));
}

void TstCliLearning::controlCKeepsTheBest() {
    const CliFolder folder;
    QProcess process;
    startTraining(folder, process);
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
    QVERIFY(process.waitForFinished(5000));
    QCOMPARE(process.exitCode(), 130);
    const QJsonObject stopped = folder.run(QStringList{"runs", "show", "last", "--json"} + kProject).json();
    QCOMPARE(stopped["status"].toString(), QStringLiteral("stopped"));
    QVERIFY(stopped["best_step_time_us"].toDouble() > 0.0);
}

void TstCliLearning::localDevices() {
    const CliRun run = pw::test::runCli({"devices", "local", "--json"});
    QCOMPARE(run.exitCode, 0);
    const QJsonObject local = run.json()["local"].toObject();
    for (const char* key : {"blas", "core", "gflops", "cuda"})
        QVERIFY(local.contains(QLatin1String(key)));
    QVERIFY(local["gflops"].toDouble() > 1.0);
    QCOMPARE(run.json()["devices"].toArray()[0].toObject()["name"].toString(), QStringLiteral("cpu"));
}

void TstCliLearning::absentDevice() {
    const CliFolder folder;
    const CliRun run = folder.run(trainArguments({"--episodes", "1", "--device", "cuda:7", "--json"}));
    QCOMPARE(run.exitCode, 2);
    QVERIFY(run.json()["error"].toObject()["message"].toString().contains("cuda:7"));
}

/// Both sides know a message called ModelProto; registered twice it would kill the process.
void TstCliLearning::opensOnnxThenLoadsTorch() {
    const QString model = QStringLiteral(PW_SHARED_DATA "/onnx/sdp.onnx");
    if (!QFileInfo::exists(model))
        QSKIP("the folder with real graphs is not here");
    const CliFolder folder;
    const CliRun run = folder.run(QStringList{"train", "placeto", "-g", model, "-d", "2xK80", "--episodes", "1"} + kProject);
    QCOMPARE(run.exitCode, 0);
}

void TstCliLearning::demo() {
    const CliFolder folder;
    const CliRun run = folder.run({"demo", "--seconds", "6", "--out", "d", "--json"});
    QCOMPARE(run.exitCode, 0);
    QCOMPARE(run.json()["table"].toArray().size(), 3);
    const QJsonArray files = run.json()["files"].toArray();
    QVERIFY(files.size() >= 4);
    for (const auto& file : files)
        QVERIFY2(QFileInfo(folder.path(file.toString())).size() > 0, qPrintable(file.toString()));
}

QTEST_GUILESS_MAIN(TstCliLearning)
#include "tst_cli_learning.moc"
