// What a graph comes with on the command line: profiles, sample inputs, placements in all forms, Ctrl-C.

#include "tests/cli/cli_fixture.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <QJsonArray>
#include <QProcess>
#include <QTest>

#include <csignal>
#include <sys/types.h>
#include <unistd.h>

using pw::test::CliFolder;
using pw::test::CliRun;

namespace {

QStringList words(const char* line) {
    return QString::fromLatin1(line).split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

} // namespace

class TstCliInputs : public QObject {
    Q_OBJECT

    CliFolder m_folder;
    CliRun run(const char* line) { return m_folder.run(words(line)); }

private Q_SLOTS:
    void initTestCase() {
        m_folder.write(QStringLiteral("times.csv"),
                       "op,us,device_kind\na,7,gpu\nb,8,gpu\n/c_kernel_time,9,gpu\nzz,100\n");
        m_folder.write(QStringLiteral("other.csv"), "op,us\nnothing,1\n");
        m_folder.write(QStringLiteral("map.json"), R"({"a": 0, "b": 1, "c": 2, "d": 1, "": 0})");
    }

    void profileInInfo() {
        const CliRun info = run("info w1.graph.json --costs --profile times.csv --json");
        QCOMPARE(info.exitCode, 0);
        QVERIFY2(info.err.contains("profile: 3 of 6 ops matched (24.0 us of 124.0 us); not in the graph: zz (1)"),
                 info.err.constData());
        const QJsonArray profiles = info.json()[QStringLiteral("profiles")].toArray();
        QCOMPARE(profiles.size(), 1);
        const QJsonObject profile = profiles[0].toObject();
        QCOMPARE(profile[QStringLiteral("file")].toString(), QStringLiteral("times.csv"));
        QCOMPARE(profile[QStringLiteral("format")].toString(), QStringLiteral("CSV"));
        QCOMPARE(profile[QStringLiteral("ops_matched")].toInt(), 3);
        QCOMPARE(profile[QStringLiteral("ops_without_time")].toInt(), 3);
        QCOMPARE(profile[QStringLiteral("unmatched")].toArray(), QJsonArray{QStringLiteral("zz")});
        QVERIFY(!run("info w1.graph.json --json").json().contains(QStringLiteral("profiles")));
        QVERIFY(run("info w1.graph.json --profile times.csv --quiet").err.isEmpty());
    }

    void profileChangesTheStep() {
        const auto stepUs = [this](const char* line) {
            return run(line).json()[QStringLiteral("step_time_us")].toDouble();
        };
        m_folder.write(QStringLiteral("all0.csv"), "op,device\na,gpu:0\nb,gpu:0\nc,gpu:0\nd,gpu:0\ne,gpu:0\nf,gpu:0\n");
        QCOMPARE(stepUs("simulate w1.graph.json -d three.devices.json -p all0.csv --json") -
                     stepUs("simulate w1.graph.json -d three.devices.json -p all0.csv --profile times.csv --json"),
                 170.0 - 24.0);
    }

    void profileIsTakenEverywhere_data() {
        QTest::addColumn<QString>("line");
        for (const char* line :
             {"place w1.graph.json -d three.devices.json -m single",
              "compare w1.graph.json -d three.devices.json -m single", "convert w1.graph.json out.graph.json"})
            QTest::newRow(line) << QString::fromLatin1(line);
    }
    void profileIsTakenEverywhere() {
        QFETCH(QString, line);
        const CliRun done = run(qPrintable(line + QStringLiteral(" --profile times.csv")));
        QCOMPARE(done.exitCode, 0);
        QVERIFY(done.err.contains("profile: 3 of 6 ops matched"));
        const CliRun refused = run(qPrintable(line + QStringLiteral(" --profile other.csv --json")));
        QCOMPARE(refused.exitCode, 2);
        QCOMPARE(refused.json()[QStringLiteral("error")].toObject()[QStringLiteral("file")].toString(),
                 QStringLiteral("other.csv"));
    }

    void inputsAreChecked() {
        QCOMPARE(run("info w1.graph.json --input 1x3x224x224:f32 --input scalar:i64").exitCode, 0);
        for (const char* bad : {"info w1.graph.json --input 1x3x:f32", "info w1.graph.json --input 1x-3",
                                "info w1.graph.json --input 1x3:float99", "info w1.graph.json --input 0x3"}) {
            const CliRun refused = run(bad);
            QCOMPARE(refused.exitCode, 2);
            QVERIFY2(refused.err.contains("--input"), refused.err.constData());
        }
    }

    void placementsInOtherForms() {
        const auto stepUs = [this](const char* file) {
            return m_folder
                .run(words("simulate w1.graph.json -d three.devices.json --json -p") << QString::fromLatin1(file))
                .json()[QStringLiteral("step_time_us")]
                .toDouble();
        };
        const double expected = stepUs("w1.csv");
        QVERIFY(expected > 0.0);
        QCOMPARE(stepUs("map.json"), expected);
        for (const char* out : {"o.placement.json", "o.csv", "o.tf.csv", "o.device_map.json", "o.ort.json"}) {
            const CliRun written =
                m_folder.run(words("convert w1.graph.json")
                             << QString::fromLatin1(out) << words("--placement w1.csv -d three.devices.json"));
            QVERIFY2(written.exitCode == 0, written.err.constData());
            QCOMPARE(stepUs(out), expected);
        }
        QVERIFY(m_folder.read(QStringLiteral("o.tf.csv")).contains("b,/job:localhost/replica:0/task:0/device:GPU:1"));
        QVERIFY(m_folder.read(QStringLiteral("o.ort.json")).contains("CUDAExecutionProvider"));
        QCOMPARE(run("convert w1.graph.json o2.csv").exitCode, 2);
    }

    void devicesOfTheFileAsPlacement() {
        QCOMPARE(run("convert w1.graph.json placed.graph.json --placement w1.csv -d three.devices.json").exitCode, 0);
        const CliRun own = run("simulate placed.graph.json -d three.devices.json -p file --json");
        const CliRun given = run("simulate w1.graph.json -d three.devices.json -p w1.csv --json");
        QCOMPARE(own.exitCode, 0);
        QCOMPARE(own.json()[QStringLiteral("step_time_us")], given.json()[QStringLiteral("step_time_us")]);
        const CliRun none = run("simulate w1.graph.json -d three.devices.json -p file --json");
        QCOMPARE(none.exitCode, 2);
        QCOMPARE(none.json()[QStringLiteral("error")].toObject()[QStringLiteral("file")].toString(),
                 QStringLiteral("w1.graph.json"));
    }

    void placementObjectOfPlace() {
        const QJsonObject placement = run("place w1.graph.json -d three.devices.json -m single --json")
                                          .json()[QStringLiteral("placement")]
                                          .toObject();
        QCOMPARE(placement[QStringLiteral("format")].toString(), QStringLiteral("placewright-placement"));
        QCOMPARE(placement[QStringLiteral("assignment")].toObject().size(), 6);
    }

    void runsNeedsAProject() {
        const CliRun missing = run("runs list --project missing.placewright --json");
        QCOMPARE(missing.exitCode, 2);
        QCOMPARE(missing.json()[QStringLiteral("error")].toObject()[QStringLiteral("code")].toString(),
                 QStringLiteral("not_found"));
        QVERIFY(!QFileInfo::exists(m_folder.path(QStringLiteral("missing.placewright"))));
    }

    void runsOfAReadOnlyProject() {
        QCOMPARE(run("place w1.graph.json -d three.devices.json -m single --project p.placewright").exitCode, 0);
        const QString path = m_folder.path(QStringLiteral("p.placewright"));
        QVERIFY(QFile::setPermissions(path, QFile::ReadOwner | QFile::ReadGroup));
        const CliRun list = run("runs list --project p.placewright --json");
        QVERIFY2(list.exitCode == 0, list.err + list.out);
        QCOMPARE(list.json()[QStringLiteral("runs")].toArray().size(), 1);
        const CliRun noRun = run("runs show 7 --project p.placewright");
        QCOMPARE(noRun.exitCode, 2);
        QVERIFY(noRun.err.contains("7"));
        if (::geteuid() == 0)
            QSKIP("the superuser may write everything");
        QCOMPARE(run("runs note 1 text --project p.placewright").exitCode, 2);
    }

    void helpNamesWhatThereIs() {
        const QByteArray place = run("place --help").out;
        QVERIFY2(place.contains("expert") && place.contains("local_search"), place.constData());
        QVERIFY(run("compare --help").out.contains("expert"));
        const QByteArray convert = run("convert --help").out;
        for (const char* ending : {".graph.json", ".dot", ".gv", ".graphml", ".onnx", ".pb", ".pbtxt", ".meta"})
            QVERIFY2(convert.contains(ending), ending);
    }

    void tinyCostsThroughDot() {
        m_folder.write(QStringLiteral("tiny.graph.json"), R"({"format": "placewright-graph", "version": 1, "name": "t",
            "ops": [{"name": "a", "type": "Relu", "cost_us": 6.444025536378226e-05, "outputs": [{"bytes": 4}]}]})");
        QCOMPARE(run("convert tiny.graph.json tiny.dot").exitCode, 0);
        const CliRun back = run("convert tiny.dot back.graph.json");
        QVERIFY2(back.exitCode == 0, back.err.constData());
        QFile file(m_folder.path(QStringLiteral("back.graph.json")));
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(file.readAll().contains("6.444025536378226e-05"));
    }

    void timeColours() {
        const CliRun time = run("render w1.graph.json --by time -p w1.csv -d three.devices.json -o time.png");
        QVERIFY2(time.exitCode == 0, time.err.constData());
        QVERIFY(QFileInfo(m_folder.path(QStringLiteral("time.png"))).size() > 1000);
    }

    void ctrlCIsFelt_data() {
        QTest::addColumn<QString>("line");
        QTest::newRow("simulate") << QStringLiteral(
            "simulate w1.graph.json -d three.devices.json -p w1.csv --repeat 1000000000");
        QTest::newRow("info") << QStringLiteral("info zoo:chain?n=1000000");
        QTest::newRow("emit") << QStringLiteral("zoo emit chain n=1000000 -o big.graph.json");
    }
    void ctrlCIsFelt() {
        QFETCH(QString, line);
        QProcess process;
        process.setWorkingDirectory(m_folder.root());
        process.start(QStringLiteral(PW_CLI), line.split(QLatin1Char(' ')));
        QVERIFY(process.waitForStarted());
        QVERIFY(!process.waitForFinished(200)); // it is at work
        QElapsedTimer watch;
        watch.start();
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        QVERIFY(process.waitForFinished(20000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 130);
        QVERIFY2(watch.elapsed() < 2000, qPrintable(QString::number(watch.elapsed()))); // 0.1 s on a machine of its own
    }
};

QTEST_GUILESS_MAIN(TstCliInputs)
#include "tst_cli_inputs.moc"
