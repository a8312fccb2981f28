// TorchScript files as programs open them: through the worker process.

#include "core/formats/formats.h"
#include "tests/cli/cli_fixture.h"
#include "tests/learn/torchscript_models.h"

#include <QtTest>

#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>

#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

using namespace pw;
using test::TorchModel;

class TstTorchScriptFile : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    std::string path(const char* name) const { return m_folder.filePath(QString::fromUtf8(name)).toStdString(); }

    static formats::LoadOptions options(std::vector<formats::SampleInput> inputs = {}) {
        formats::LoadOptions options;
        options.workerProgram = PW_CLI;
        options.sampleInputs = std::move(inputs);
        return options;
    }

    static void expectError(const std::string& file, ErrorCode code, std::string_view part) {
        const auto graph = formats::loadGraph(file, options());
        QVERIFY(!graph);
        QVERIFY2(graph.error().code == code && graph.error().message.find(part) != std::string::npos,
                 graph.error().toString().c_str());
        QCOMPARE(graph.error().file, file);
    }

    static bool hasChild(pid_t thread) {
        pid_t child = 0;
        std::ifstream list("/proc/self/task/" + std::to_string(thread) + "/children");
        return static_cast<bool>(list >> child);
    }

    static std::int64_t largestChildBytes() {
        rusage usage = {};
        ::getrusage(RUSAGE_CHILDREN, &usage);
        return std::int64_t{usage.ru_maxrss} * 1024;
    }

private Q_SLOTS:
    void aModelOpensWithShapesAndWarnings() {
        const std::string file = test::writeTorchModel(TorchModel::ConvNet, path("net.pt"));
        const auto graph = formats::loadGraph(file, options({{{2, 3, 16, 16}, "f32"}}));
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().toString().c_str());
        QCOMPARE((*graph)->format(), std::string("torchscript"));
        QCOMPARE((*graph)->name(), std::string("net"));
        QCOMPARE((*graph)->opCount(), std::size_t{7});
        const auto conv = (*graph)->findOp("layer1/0/conv1/conv2d");
        QVERIFY(conv.has_value());
        QCOMPARE((*graph)->scopePath((*graph)->op(*conv).scope), std::string("layer1/0/conv1"));
        QCOMPARE((*graph)->tensor((*graph)->outputs(*conv)[0]).dims, (std::vector<std::int64_t>{2, 8, 8, 8}));

        const auto bare = formats::loadGraph(file, options());
        QVERIFY(bare.has_value());
        QCOMPARE((*bare)->warnings().size(), std::size_t{1});
        QCOMPARE((*bare)->warnings().front().kind, std::string("unknown_shape"));
    }

    void bodiesComeThroughTheHandOver() {
        const std::string file = test::writeTorchModel(TorchModel::Control, path("control.pt"));
        const auto graph = formats::loadGraph(file, options({{{4, 16}, "f32"}}));
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().toString().c_str());
        const auto loop = (*graph)->findOp("Loop");
        QVERIFY(loop.has_value());
        QCOMPARE((*graph)->op(*loop).tripCount, 3.0);
        QCOMPARE((*graph)->op(*loop).bodies.size(), std::size_t{1});
    }

    void whatAModelPrintsIsNotTakenForTheAnswer() {
        const std::string file = test::writeTorchModel(TorchModel::Prints, path("prints.pt"));
        const auto graph = formats::loadGraph(file, options({{{4}, "f32"}}));
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().toString().c_str());
        QCOMPARE((*graph)->opCount(), std::size_t{1});
    }

    void archivesWithoutAProgramAreNamed() {
        expectError(test::writeStateDict(path("weights.pth")), ErrorCode::Unsupported, "state_dict");
        QFile keras(m_folder.filePath(QStringLiteral("model.keras")));
        QVERIFY(keras.open(QIODevice::WriteOnly));
        keras.write(QByteArray::fromHex("504b0304140000000000000000000000000000000000000000000d000000") + "metadata.json{}");
        keras.close();
        expectError(keras.fileName().toStdString(), ErrorCode::Unsupported, "Keras");
    }

    void filesThatAreCutOffOrOverwrittenAreRefused() {
        const std::string file = test::writeTorchModel(TorchModel::Shared, path("whole.pt"));
        QFile whole(QString::fromStdString(file));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        const QByteArray bytes = whole.readAll();
        QFile part(m_folder.filePath(QStringLiteral("part.pt")));
        const auto write = [&part](const QByteArray& content) {
            QVERIFY(part.open(QIODevice::WriteOnly | QIODevice::Truncate));
            part.write(content);
            part.close();
        };
        for (qsizetype size = 64; size < bytes.size(); size += 1 + bytes.size() / 50) {
            write(bytes.left(size));
            expectError(part.fileName().toStdString(), ErrorCode::Parse, "cut off");
        }
        QByteArray damaged = bytes; // the directory still stands, what it points to does not
        damaged.replace(64, bytes.size() / 2, QByteArray(bytes.size() / 2, 'x'));
        write(damaged);
        const auto graph = formats::loadGraph(part.fileName().toStdString(), options());
        QVERIFY(!graph);
        QVERIFY(graph.error().message.find('\n') == std::string::npos);
    }

    void aStopEndsAModelThatNeverDoes() {
        const std::string file = test::writeTorchModel(TorchModel::Endless, path("endless.pt"));
        std::stop_source stop;
        auto withStop = options({{{4}, "f32"}});
        withStop.stop = stop.get_token();
        QElapsedTimer sinceStop;
        const std::jthread stopper([&, opener = ::gettid()] {
            while (!hasChild(opener)) // the worker runs then: it loads LibTorch or is in the model already
                std::this_thread::yield();
            sinceStop.start();
            stop.request_stop();
        });
        const auto graph = formats::loadGraph(file, withStop);
        const qint64 elapsedMs = sinceStop.elapsed();
        QVERIFY(!graph && graph.error().code == ErrorCode::Busy);
        qInfo("stopped within %lld ms", static_cast<long long>(elapsedMs));
        QVERIFY2(elapsedMs < 500, qPrintable(QString::number(elapsedMs))); // kill within 25 ms; the rest is a busy machine
    }

    void aHundredMegabytesOfWeightsOpen() {
        const std::string file = test::writeTorchModel(TorchModel::Wide, path("wide.pt"));
        const qint64 bytes = QFile(QString::fromStdString(file)).size();
        QVERIFY(bytes > 100'000'000);
        QElapsedTimer timer;
        timer.start();
        const auto graph = formats::loadGraph(file, options({{{1, 2500}, "f32"}}));
        QVERIFY2(graph.has_value(), graph ? "" : graph.error().toString().c_str());
        qInfo("%lld bytes opened in %lld ms, child's peak %lld bytes", static_cast<long long>(bytes),
              static_cast<long long>(timer.elapsed()), static_cast<long long>(largestChildBytes()));
        QCOMPARE((*graph)->op(OpId(0)).paramBytes, std::int64_t{(2500 * 2500 + 2500) * 4});
        QVERIFY(largestChildBytes() < 3 * bytes + (400LL << 20)); // LibTorch itself takes 150 MB
        QFile::remove(QString::fromStdString(file));
    }

    void theWorkersMemoryIsLimited() {
        // 8 GB, which many a machine has: the limit refuses them, not the kernel
        const std::string file = test::writeTorchModel(TorchModel::Shared, path("small.pt"));
        const auto graph = formats::loadGraph(file, options({{{std::int64_t{1} << 28, 8}, "f32"}}));
        QVERIFY(!graph && graph.error().code == ErrorCode::Invalid);
        QVERIFY2(graph.error().message.find("described inputs") != std::string::npos, graph.error().message.c_str());
    }

    void aMissingWorkerIsSaid() {
        const std::string file = test::writeTorchModel(TorchModel::Shared, path("shared.pt"));
        auto none = options();
        none.workerProgram = path("nothing-here");
        const auto graph = formats::loadGraph(file, none);
        QVERIFY(!graph && graph.error().code == ErrorCode::External);
        const auto bare = formats::loadGraph(file);
        QVERIFY(!bare && bare.error().code == ErrorCode::Unsupported);
    }

    void theCommandLineOpensIt() {
        test::writeTorchModel(TorchModel::ConvNet, path("cli.pt"));
        const auto run = test::runCli({QStringLiteral("info"), QStringLiteral("cli.pt"), QStringLiteral("--json")},
                                      m_folder.path());
        QVERIFY2(run.exitCode == 0, run.err.constData());
        QVERIFY(run.out.contains("torchscript"));
    }
};

QTEST_APPLESS_MAIN(TstTorchScriptFile)
#include "tst_torchscript_file.moc"
