#include "core/learn/learn_loader.h"

#include <QtTest>

using namespace pw;
using namespace pw::learn;

/// Through the door, as the programs use it. One process loads the library once, so the order of the tests matters.
class TestLearnLoader : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void nothingIsLoadedBeforeItIsAskedFor() { QVERIFY(!isLoaded()); }

#ifdef PW_LEARN_LIBRARY
    void loadsOnceAndSaysWhatItIs() {
        qputenv("PLACEWRIGHT_LEARN_LIBRARY", PW_LEARN_LIBRARY);
        chooseBlasCore();
        const auto library = load();
        QVERIFY2(library.has_value(), library ? "" : library.error().toString().c_str());
        QVERIFY(isLoaded());
        QCOMPARE(load().value(), *library);
        const auto info = (*library)->localInfo(true);
        QVERIFY(!info.torchVersion.empty());
        QVERIFY(info.gflops > 0.0);
        QCOMPARE(info.devices.front().name, std::string("cpu"));
        qInfo("LibTorch %s, %s, core %s, %.0f GFLOP/s on one thread", info.torchVersion.c_str(), info.blas.c_str(),
              info.core.c_str(), info.gflops);
    }

    void theKernelInUseIsRight() { QCOMPARE(runBlasCheck(), 0); }

    void methodsAreKnownByName() {
        const auto* library = load().value();
        QVERIFY(!library->parameters("placeto").empty());
        QVERIFY(library->parameters("nothing").empty());
        JobContext context;
        TrainSpec spec;
        spec.method = "nothing";
        QVERIFY(!library->train(spec, {}, context));
    }

    void garbageIsNoPolicy() { QVERIFY(!load().value()->inspect(Bytes(1000, 0xff))); }
#else
    void withoutLibTorchItSaysSo() {
        const auto library = load();
        QVERIFY(!library);
        QVERIFY(library.error().code == ErrorCode::Unsupported);
    }
#endif

    void thePlacerHasItsName() { QCOMPARE(makePlacetoPlacer()->name(), std::string("placeto")); }
};

QTEST_APPLESS_MAIN(TestLearnLoader)
#include "tst_learn_loader.moc"
