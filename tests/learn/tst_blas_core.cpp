#include "core/learn/blas_core.h"
#include "core/learn/learn_loader.h"

#include <QtTest>

using namespace pw::learn;

class TestBlasCore : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theCheckRunsOncePerProcessorAndCore() {
        QTemporaryDir folder;
        const std::string cache = (folder.path() + "/a/b/blas-core").toStdString();
        int checks = 0;
        const auto good = [&checks](const std::string&) { return ++checks > 0; };
        QCOMPARE(checkedBlasCore("SKYLAKEX", "cpu one", cache, good), std::string("SKYLAKEX"));
        QCOMPARE(checkedBlasCore("SKYLAKEX", "cpu one", cache, good), std::string("SKYLAKEX"));
        QCOMPARE(checks, 1);
        QCOMPARE(checkedBlasCore("SKYLAKEX", "cpu two", cache, good), std::string("SKYLAKEX"));
        QCOMPARE(checkedBlasCore("COOPERLAKE", "cpu one", cache, good), std::string("COOPERLAKE"));
        QCOMPARE(checks, 3);
        QCOMPARE(checkedBlasCore("SKYLAKEX", "cpu one", cache, good), std::string("SKYLAKEX"));
        QCOMPARE(checks, 3);
    }

    void aWrongKernelFallsBack() {
        const auto onlyHaswell = [](const std::string& core) { return core == "HASWELL"; };
        const auto none = [](const std::string&) { return false; };
        QCOMPARE(checkedBlasCore("COOPERLAKE", "cpu", "", onlyHaswell), std::string("HASWELL"));
        QCOMPARE(checkedBlasCore("COOPERLAKE", "cpu", "", none), std::string());
        QCOMPARE(checkedBlasCore("HASWELL", "cpu", "", none), std::string());
    }

    void aFallbackIsRememberedToo() {
        QTemporaryDir folder;
        const std::string cache = (folder.path() + "/blas-core").toStdString();
        checkedBlasCore("HASWELL", "cpu", cache, [](const std::string&) { return false; });
        bool checked = false;
        QCOMPARE(checkedBlasCore("HASWELL", "cpu", cache, [&checked](const std::string&) { return checked = true; }), std::string());
        QVERIFY(!checked);
    }

    void nonsenseInTheCacheIsNotUsed() {
        QTemporaryDir folder;
        QFile file(folder.path() + "/blas-core");
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("cpu\tHASWELL\tPENTIUM\n");
        file.close();
        QCOMPARE(checkedBlasCore("HASWELL", "cpu", file.fileName().toStdString(), [](const std::string&) { return true; }),
                 std::string("HASWELL"));
    }

    void theUsersChoiceStands() {
        qputenv("OPENBLAS_CORETYPE", "NEHALEM");
        QCOMPARE(chooseBlasCore(), std::string("NEHALEM"));
        QCOMPARE(qgetenv("OPENBLAS_CORETYPE"), QByteArray("NEHALEM"));
    }

    void otherwiseItFollowsTheProcessor() {
        qunsetenv("OPENBLAS_CORETYPE");
        QCOMPARE(chooseBlasCore(), blasCoreForCpu());
        QCOMPARE(qgetenv("OPENBLAS_CORETYPE").toStdString(), blasCoreForCpu());
        qunsetenv("OPENBLAS_CORETYPE");
    }
};

QTEST_APPLESS_MAIN(TestBlasCore)
#include "tst_blas_core.moc"
