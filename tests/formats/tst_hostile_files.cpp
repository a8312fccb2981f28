// Every reader against every standard way to spoil a small valid file of its format: it must return, soon, and whatever
// it opens must be fit for statistics, costs and writing.

#include "tests/formats/hostile_files.h"
#include "tests/formats/temp_file.h"
#include "tests/fuzz/fuzz_targets.h"

#include <QDirIterator>
#include <QProcess>
#include <QtTest>

#include <ctime>
#include <exception>

using namespace pw;

namespace {

/// Messages whose text form the seeds of binary formats have.
QString messageOf(const QString& target) {
    static const QMap<QString, QString> kMessages = {
        {"onnx", "pw_onnx.proto pw.onnx.ModelProto"},
        {"onnx_devices", "pw_onnx.proto pw.onnx.ModelProto"},
        {"tf_graph_def", "pw_tensorflow.proto pw.tensorflow.GraphDef"},
        {"tf_meta_graph", "pw_tensorflow.proto pw.tensorflow.MetaGraphDef"},
        {"tf_saved_model", "pw_tensorflow.proto pw.tensorflow.SavedModel"},
        {"tf_cost_graph", "pw_tensorflow.proto pw.tensorflow.CostGraphDef"},
        {"tf_edits", "pw_tensorflow.proto pw.tensorflow.GraphDef"},
        {"profile", "pw_tf_stats.proto pw.tensorflow.stats.RunMetadata"}};
    return kMessages.value(target);
}

/// A seed as the reader takes it: protobuf text is encoded first.
std::string contentOf(const QString& target, const QString& path) {
    const QString message = messageOf(target);
    if (message.isEmpty() || !path.endsWith(".txt"))
        return test::TempFolder::read(path.toStdString());
    QProcess protoc;
    protoc.setStandardInputFile(path);
    protoc.start(PW_PROTOC,
                 {"--proto_path=" PW_PROTO_FOLDER, "--encode=" + message.section(' ', 1), message.section(' ', 0, 0)});
    return protoc.waitForFinished() && protoc.exitCode() == 0 ? protoc.readAllStandardOutput().toStdString()
                                                              : std::string();
}

/// A row per seed; those of `without` are left out.
void addSeeds(const QString& without) {
    QTest::addColumn<QString>("target");
    QTest::addColumn<QString>("seed");
    QDirIterator seeds(PW_FUZZ_SEEDS, QDir::Files, QDirIterator::Subdirectories);
    while (seeds.hasNext()) {
        const QString seed = seeds.next();
        const QString target = seed.section('/', -2, -2);
        if (target != without)
            QTest::newRow(qPrintable(seed.section('/', -2))) << target << seed;
    }
}

/// Processor time, which does not depend on what else the machine does.
double cpuSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

} // namespace

class TestHostileFiles : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everySeedOpens_data() { addSeeds({}); }
    void everySeedOpens() {
        QFETCH(QString, target);
        QFETCH(QString, seed);
        const auto said = test::fuzzOnce(target.toStdString(), m_folder.write("seed", contentOf(target, seed)));
        QVERIFY2(said, "there is no such reader");
        QVERIFY2(*said, *said ? "" : said->error().toString().c_str());
    }

    void everyReaderReturns_data() { addSeeds("any_graph"); } // its files are those of the others
    void everyReaderReturns() {
        QFETCH(QString, target);
        QFETCH(QString, seed);
        const std::string valid = contentOf(target, seed);
        QVERIFY2(!valid.empty(), "the seed cannot be read");
        const std::string reader = target.toStdString();
        std::string problem;
        double slowest = 0.0;
        std::size_t variants = 0;
        test::forEachHostileVariant(valid, [&](const std::string& content, const std::string& what) {
            const std::string path = m_folder.write("hostile", content);
            const double before = cpuSeconds();
            try {
                if (!test::fuzzOnce(reader, path))
                    problem = "there is no such reader";
            } catch (const std::exception& error) {
                problem = what + ": " + error.what();
            }
            const double seconds = cpuSeconds() - before;
            slowest = std::max(slowest, seconds);
            ++variants;
            if (seconds > kMaxSeconds)
                problem = what + ": took " + std::to_string(seconds) + " s";
            return problem.empty();
        });
        QVERIFY2(problem.empty(), problem.c_str());
        qInfo("%zu variants, the slowest took %.1f ms", variants, slowest * 1e3);
    }

private:
    static constexpr double kMaxSeconds = 2.0;

    test::TempFolder m_folder;
};

QTEST_GUILESS_MAIN(TestHostileFiles)
#include "tst_hostile_files.moc"
