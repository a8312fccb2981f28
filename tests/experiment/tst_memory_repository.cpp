#include "tests/experiment/repository_conformance.h"

#include "core/experiment/memory_repository.h"

#include "tests/support/graph_dsl.h"

#include <QTest>

class TestMemoryRepository : public pw::test::RepositoryConformance {
    Q_OBJECT

protected:
    pw::RepositoryPtr makeEmpty() override { return std::make_shared<pw::MemoryRepository>(); }

private Q_SLOTS:
    void failsWhenTold() {
        pw::MemoryRepository repository;
        repository.failWritesAfter(1, {pw::ErrorCode::Io, "disk full", "p", {}});
        QVERIFY(repository.saveLayout("a", "1").has_value());
        const pw::Status second = repository.saveLayout("a", "2");
        QVERIFY(!second);
        QCOMPARE(second.error().toString(), std::string("p: disk full"));
        QVERIFY(*repository.loadLayout("a") == "1");
    }
};

QTEST_APPLESS_MAIN(TestMemoryRepository)
#include "tst_memory_repository.moc"
