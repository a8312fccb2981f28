#include "tests/cli/cli_fixture.h"
#include "tests/formats/published_examples.h"

#include <QFileInfo>
#include <QJsonArray>
#include <QTest>

using pw::test::CliFolder;
using pw::test::CliRun;

/// Published workloads on the devices that their own files carry.
class TstCliWorkloads : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void init();
    void splitsAreSimulated();
    void workloadsArePlaced();
    void devicesAreShown();
    void filesWithoutDevices();
    void publishedSplits();

private:
    CliFolder m_folder;
};

void TstCliWorkloads::init() {
    QByteArray workload = pw::test::kWorkload;
    m_folder.write("w.json", workload.replace("\"maxSizePerFPGA\": 1000.0", "\"maxSizePerFPGA\": 1e6"));
    m_folder.write("split.json", pw::test::kSplit);
    m_folder.write("tasks.json", pw::test::kDagBench);
    m_folder.write("graph.txt", pw::test::kPipeDream);
}

/// 2.25 ms on the accelerator, 0.5 ms over the link, 3 ms on the CPU, 0.25 ms back, 4 ms on the accelerator.
void TstCliWorkloads::splitsAreSimulated() {
    const CliRun run = m_folder.run({"simulate", "w.json", "--devices", "file", "--placement", "split.json", "--json"});
    QVERIFY2(run.exitCode == 0, run.err);
    QCOMPARE(run.json()["step_time_us"].toDouble(), 10000.0);
    QVERIFY(run.json()["valid"].toBool());
}

void TstCliWorkloads::workloadsArePlaced() {
    for (const char* file : {"w.json", "tasks.json"}) {
        const CliRun run = m_folder.run({"place", file, "--devices", "file", "--method", "local_search", "--json"});
        QVERIFY2(run.exitCode == 0, run.err);
        QCOMPARE(run.json()["peak_bytes"].toArray().size(), 3);
        QVERIFY(run.json()["valid"].toBool());
        QVERIFY(run.json()["step_time_us"].toDouble() > 0.0);
    }
}

void TstCliWorkloads::devicesAreShown() {
    const CliRun run = m_folder.run({"devices", "show", "w.json"});
    QVERIFY2(run.exitCode == 0, run.err);
    QVERIFY(run.out.contains("acc:1") && run.out.contains("cpu:0"));
}

void TstCliWorkloads::filesWithoutDevices() {
    const CliRun profile = m_folder.run({"place", "graph.txt", "--devices", "file", "--method", "single"});
    QCOMPARE(profile.exitCode, 2);
    QVERIFY2(profile.err.contains("graph.txt: carries no device set"), profile.err);
    const CliRun zoo = m_folder.run({"place", "zoo:chain", "--devices", "file", "--method", "single"});
    QCOMPARE(zoo.exitCode, 2);
    QVERIFY2(zoo.err.contains("there is no graph file to take a device set from"), zoo.err);
}

void TstCliWorkloads::publishedSplits() {
    const QString shared = PW_SHARED_DATA "/placement/dnn-partitioning/";
    if (!QFileInfo::exists(shared))
        QSKIP("the shared data folder is not here");
    for (const char* split :
         {"reference-splits/LayerGraphs.bert24_inference.dp.json", "human-experts/bert24_inference_expert.json"}) {
        const CliRun run = m_folder.run({"simulate", shared + "throughput-inputs/LayerGraphs/bert24_inference.json",
                                         "--devices", "file", "--placement", shared + split, "--json"});
        QVERIFY2(run.exitCode == 0, run.err);
        QVERIFY(run.json()["valid"].toBool());
        // One sample runs through the devices one after the other: all work, and a little to move.
        QVERIFY(run.json()["step_time_us"].toDouble() > 92406.0 && run.json()["step_time_us"].toDouble() < 92600.0);
    }
}

QTEST_GUILESS_MAIN(TstCliWorkloads)
#include "tst_cli_workloads.moc"
