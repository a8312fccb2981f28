#include "tests/experiment/repository_conformance.h"
#include "tests/storage/project_fixture.h"

#include <QTest>

#include <memory>

class TestSqliteRepository : public pw::test::RepositoryConformance {
    Q_OBJECT

protected:
    pw::RepositoryPtr makeEmpty() override {
        m_folder = std::make_unique<pw::test::ProjectFolder>();
        auto repository = pw::storage::openProject(m_folder->path());
        return repository ? *repository : nullptr;
    }

private Q_SLOTS:
    void everythingIsThereAfterReopening() {
        const pw::test::ProjectFolder folder;
        pw::RowId run = 0;
        {
            const pw::RepositoryPtr repository = *pw::storage::openProject(folder.path());
            run = pw::test::addRun(*repository, "kept");
            QVERIFY(repository->finishRun(run, pw::RunStatus::Done, 1.0, 10, 10, {}).has_value());
            QVERIFY(repository->setTags(run, {"a"}).has_value());
            QVERIFY(repository->saveLayout("k", "v").has_value());
        }
        QCOMPARE(folder.names().size(), std::size_t(1)); // nothing beside a closed project
        const pw::RepositoryPtr repository = *pw::storage::openProject(folder.path());
        const pw::RunRecord record = *repository->run(run);
        QCOMPARE(record.name, std::string("kept"));
        QCOMPARE(record.status, pw::RunStatus::Done);
        QVERIFY(record.bestStepTimeUs == 12.5);
        QCOMPARE(repository->metrics(run, 0)->size(), std::size_t(10));
        QVERIFY((*repository->lastCheckpoint(run))->bytes == std::vector<std::uint8_t>({1, 2, 3}));
        QVERIFY(*repository->loadLayout("k") == "v");
        QCOMPARE(repository->path(), folder.path());
    }

    void placementOf1024DevicesComesBack() {
        const pw::test::ProjectFolder folder;
        const pw::RepositoryPtr repository = *pw::storage::openProject(folder.path());
        std::vector<pw::Device> devices(1024);
        for (std::size_t i = 0; i < devices.size(); ++i) {
            devices[i].name = "d" + std::to_string(i);
            devices[i].kind = "gpu";
        }
        pw::PlacementRecord record;
        record.graphId = *repository->putGraph(*pw::test::w1(), "test");
        record.deviceSetId = *repository->putDeviceSet(*pw::DeviceSet::create("many", devices, {}));
        for (std::size_t i = 0; i < pw::test::w1()->opCount(); ++i)
            record.placement.push_back(pw::DeviceId(1023 - 255 * i % 1024));
        const pw::RowId id = *repository->addPlacement(record);
        QVERIFY(repository->placement(id)->placement == record.placement);
    }

    /// A newer program may write specifications that this one cannot read; its list of runs must not be lost.
    void unreadableSpecDoesNotHideTheOtherRuns() {
        const pw::test::ProjectFolder folder;
        const pw::RepositoryPtr repository = *pw::storage::openProject(folder.path());
        const pw::RowId run = pw::test::addRun(*repository, "odd");
        pw::test::addRun(*repository, "fine");
        auto connection = *pw::storage::Connection::open(folder.path(), pw::storage::OpenMode::ReadWrite);
        QVERIFY(connection->execute("UPDATE run SET spec = '{\"sim_model\": \"later\"}' WHERE name = 'odd'").has_value());
        const auto records = repository->runs({});
        QVERIFY(records.has_value());
        QCOMPARE(records->size(), std::size_t(2));
        QCOMPARE((*records)[1].spec.method, std::string("metis"));
        const auto strict = repository->run(run);
        QVERIFY(!strict);
        QVERIFY(strict.error().toString().find("sim_model") != std::string::npos);
        QCOMPARE(strict.error().file, folder.path());
    }

    void damagedPlacementIsAnErrorThatNamesIt() {
        const pw::test::ProjectFolder folder;
        const pw::RepositoryPtr repository = *pw::storage::openProject(folder.path());
        const pw::RowId run = pw::test::addRun(*repository, "r");
        const pw::RowId placement = *repository->run(run)->bestPlacementId;
        auto connection = *pw::storage::Connection::open(folder.path(), pw::storage::OpenMode::ReadWrite);
        for (const char* blob : {"x'01'", "x''", "x'ffff'"}) {
            QVERIFY(connection->execute(std::string("UPDATE placement SET devices = ") + blob).has_value());
            const auto loaded = repository->placement(placement);
            QVERIFY(!loaded);
            QCOMPARE(loaded.error().code, pw::ErrorCode::Parse);
            QCOMPARE(loaded.error().where, "placement " + std::to_string(placement));
        }
    }

private:
    std::unique_ptr<pw::test::ProjectFolder> m_folder;
};

QTEST_APPLESS_MAIN(TestSqliteRepository)
#include "tst_sqlite_repository.moc"
