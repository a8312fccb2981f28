#include "storage/project_file.h"

#include "storage/schema.h"
#include "tests/storage/project_fixture.h"

#include <QTest>

#include <filesystem>
#include <set>

using namespace pw;
using namespace pw::storage;
using test::ProjectFolder;

namespace {

std::vector<std::string> column(Connection& connection, const std::string& sql, int index = 0) {
    std::vector<std::string> values;
    auto query = connection.prepare(sql);
    while (query && query->step().value_or(false))
        values.push_back(query->text(index));
    return values;
}

void runSql(const std::string& path, const std::string& sql) {
    const auto connection = Connection::open(path, OpenMode::Create);
    const Status status = (*connection)->execute(sql);
    QVERIFY2(status.has_value(), status ? "" : status.error().toString().c_str());
}

} // namespace

class TestProjectFile : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void newProjectHasTheDocumentedTables() {
        const ProjectFolder folder;
        QVERIFY(openProject(folder.path()).has_value());
        auto connection = *Connection::open(folder.path(), OpenMode::ReadOnly);
        const auto names = column(*connection, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
        const std::set<std::string> all(names.begin(), names.end());
        for (const char* name : {"graph", "device_set", "run", "metric", "placement", "checkpoint", "layout", "note", "tag",
                                 "run_summary", "best_placement"})
            QVERIFY2(all.count(name) == 1, name);
        QCOMPARE(*connection->queryText("PRAGMA journal_mode"), std::string("wal"));
        QCOMPARE(*connection->queryInteger("PRAGMA user_version"), std::int64_t(1));
        QVERIFY(checkIntegrity(folder.path()).has_value());
    }

    /// People query the file by what the README says.
    void readmeNamesEveryColumn() {
        const std::string readme = test::fileContent(PW_STORAGE_README);
        const ProjectFolder folder;
        QVERIFY(openProject(folder.path()).has_value());
        auto connection = *Connection::open(folder.path(), OpenMode::ReadOnly);
        for (const auto& table : column(*connection, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
                                                     "AND name NOT LIKE 'sqlite_%'")) {
            const auto row = readme.find("| `" + table + "` |");
            QVERIFY2(row != std::string::npos, table.c_str());
            const std::string line = readme.substr(row, readme.find('\n', row) - row);
            for (const auto& name : column(*connection, "PRAGMA table_info(" + table + ")", 1))
                QVERIFY2(line.find("`" + name + "`") != std::string::npos, (table + "." + name).c_str());
        }
    }

    void viewsAnswerInPlainSql() {
        const ProjectFolder folder;
        const RepositoryPtr repository = *openProject(folder.path());
        const RowId run = test::addRun(*repository, "mine");
        QVERIFY(repository->setTags(run, {"b", "a"}).has_value());
        auto connection = *Connection::open(folder.path(), OpenMode::ReadOnly);
        QCOMPARE(*connection->queryText("SELECT name || '|' || method || '|' || status || '|' || graph || '|' || devices || "
                                        "'|' || best_step_time_us || '|' || valid || '|' || tags || '|' || sim_model "
                                        "FROM run_summary"),
                 std::string("mine|metis|running|") + test::w1()->name() + "|pair|12.5|1|a,b|links");
        QCOMPARE(*connection->queryText("SELECT run || '|' || device_set || '|' || step_time_us || '|' || "
                                        "substr(hex(devices), 1, 8) FROM best_placement"),
                 std::string("mine|pair|12.5|01000100"));
    }

    void emptyFileBecomesAProject() {
        const ProjectFolder folder;
        test::writeFile(folder.path(), "");
        QVERIFY(openProject(folder.path()).has_value());
        QVERIFY(std::filesystem::file_size(folder.path()) > 0);
    }

    void namesThatAreSpecialToSqliteAreJustNames() {
        const ProjectFolder folder;
        const auto before = std::filesystem::current_path();
        std::filesystem::current_path(std::filesystem::path(folder.path()).parent_path());
        for (const char* name : {":memory:", "file:x?mode=memory", "a b#c%41?d.placewright", "\xc3\xa4.placewright"}) {
            {
                const auto repository = openProject(name);
                QVERIFY2(repository.has_value(), name);
                test::addRun(**repository, "kept");
            }
            QVERIFY2(std::filesystem::is_regular_file(name), name);
            const auto again = openProjectReadOnly(name);
            QVERIFY2(again.has_value(), name);
            QCOMPARE((*again)->runs({})->size(), std::size_t(1));
        }
        std::filesystem::current_path(before);
    }

    void projectOfVersion1Opens() {
        const ProjectFolder folder;
        runSql(folder.path(), test::fileContent(PW_SCHEMA_V1));
        const auto repository = openProject(folder.path());
        QVERIFY2(repository.has_value(), repository ? "" : repository.error().toString().c_str());
        const auto runs = *(*repository)->runs({});
        QCOMPARE(runs.size(), std::size_t(1));
        QCOMPARE(runs[0].name, std::string("old run"));
        QCOMPARE(runs[0].status, RunStatus::Interrupted); // its program is long gone
        QCOMPARE(runs[0].spec.seed, std::uint64_t(9));
        QVERIFY(runs[0].bestStepTimeUs == 4.5);
        QCOMPARE((*repository)->metrics(runs[0].id, 0)->size(), std::size_t(2));
        QVERIFY((*repository)->placement(*runs[0].bestPlacementId).has_value());
        QVERIFY((*repository)->loadGraph(runs[0].graphId).has_value());
        QVERIFY((*repository)->loadDeviceSet(runs[0].deviceSetId).has_value());
        QVERIFY((*repository)->lastCheckpoint(runs[0].id)->has_value());
        QVERIFY(checkIntegrity(folder.path()).has_value());
    }

    void migrationKeepsDataAndAFailingStepLeavesTheVersionBefore() {
        const ProjectFolder folder;
        runSql(folder.path(), test::fileContent(PW_SCHEMA_V1));
        auto connection = *Connection::open(folder.path(), OpenMode::ReadWrite);
        const std::vector<Migration> good = {migrations()[0], {2, "ALTER TABLE run ADD COLUMN colour TEXT DEFAULT 'red'"}};
        QVERIFY(migrate(*connection, good).has_value());
        QVERIFY(migrate(*connection, good).has_value()); // nothing left to do
        QCOMPARE(*connection->queryInteger("PRAGMA user_version"), std::int64_t(2));
        QCOMPARE(*connection->queryText("SELECT name || colour FROM run"), std::string("old runred"));

        std::vector<Migration> bad = good;
        bad.push_back({3, "UPDATE run SET colour = 'blue'; ALTER TABLE nowhere ADD COLUMN x"});
        const Status failed = migrate(*connection, bad);
        QVERIFY(!failed);
        QCOMPARE(failed.error().file, folder.path());
        QCOMPARE(*connection->queryInteger("PRAGMA user_version"), std::int64_t(2));
        QCOMPARE(*connection->queryText("SELECT name || colour FROM run"), std::string("old runred"));
    }

    void projectOfANewerVersionIsLeftAlone() {
        const ProjectFolder folder;
        runSql(folder.path(), test::fileContent(PW_SCHEMA_V1) + "; PRAGMA user_version = 99;");
        const std::string before = test::fileContent(folder.path());
        for (const auto& opened : {openProject(folder.path()), openProjectReadOnly(folder.path())}) {
            QVERIFY(!opened);
            QCOMPARE(opened.error().code, ErrorCode::Unsupported);
            QCOMPARE(opened.error().file, folder.path());
            QVERIFY(opened.error().message.find("newer") != std::string::npos);
        }
        QVERIFY(test::fileContent(folder.path()) == before);
        QCOMPARE(folder.names().size(), std::size_t(1));
    }

    void runsOfDeadProgramsAreInterrupted_data() {
        QTest::addColumn<QByteArray>("change");
        QTest::addColumn<bool>("interrupted");
        QTest::newRow("this program") << QByteArray("owner_pid = owner_pid") << false;
        QTest::newRow("no such process") << QByteArray("owner_pid = 4194305") << true;
        QTest::newRow("id used again") << QByteArray("owner_start = owner_start - 1") << true;
        QTest::newRow("another boot") << QByteArray("owner_boot = 'x'") << true;
        QTest::newRow("no owner") << QByteArray("owner_pid = 0") << true;
    }
    void runsOfDeadProgramsAreInterrupted() {
        QFETCH(QByteArray, change);
        QFETCH(bool, interrupted);
        const RunStatus expected = interrupted ? RunStatus::Interrupted : RunStatus::Running;
        const ProjectFolder folder;
        const RepositoryPtr first = *openProject(folder.path());
        const RowId run = test::addRun(*first, "r");
        auto connection = *Connection::open(folder.path(), OpenMode::ReadWrite);
        QVERIFY(connection->execute("UPDATE run SET " + change.toStdString()).has_value());
        QCOMPARE(first->run(run)->status, expected); // seen without reopening
        const RepositoryPtr second = *openProject(folder.path());
        QCOMPARE(second->run(run)->status, expected);
        QCOMPARE(*connection->queryText("SELECT status FROM run"), std::string(runStatusName(expected)));
    }

    void twoProgramsShareAFile() {
        const ProjectFolder folder;
        const RepositoryPtr first = *openProject(folder.path());
        const RepositoryPtr second = *openProject(folder.path());
        const RowId a = test::addRun(*first, "a");
        const RowId b = test::addRun(*second, "b");
        QVERIFY(a != b);
        QCOMPARE(first->runs({})->size(), std::size_t(2));
        QCOMPARE(second->runs({})->size(), std::size_t(2));
        QCOMPARE(second->metrics(a, 0)->size(), std::size_t(10));
    }

    void readOnlyReadsAndRefusesToWrite() {
        const ProjectFolder folder;
        const RepositoryPtr writer = *openProject(folder.path());
        const RowId run = test::addRun(*writer, "r");
        const RepositoryPtr reader = *openProjectReadOnly(folder.path());
        QCOMPARE(reader->metrics(run, 0)->size(), std::size_t(10));
        const Status refused = reader->setNote(run, "x");
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Io);
        QVERIFY(writer->setNote(run, "seen").has_value());
        QCOMPARE(reader->run(run)->note, std::string("seen"));
        QVERIFY(!openProjectReadOnly(folder.path("nowhere")));
    }

    void savedCopyHasEverything() {
        const ProjectFolder folder;
        const RepositoryPtr repository = *openProject(folder.path());
        const RowId done = test::addRun(*repository, "done");
        QVERIFY(repository->finishRun(done, RunStatus::Done, 1.0, 1, 10, {}).has_value());
        const RowId running = test::addRun(*repository, "running");
        const std::string copy = folder.path("copy.placewright");
        const Status saved = saveProjectAs(*repository, copy);
        QVERIFY2(saved.has_value(), saved ? "" : saved.error().toString().c_str());
        QVERIFY(checkIntegrity(copy).has_value());
        const RepositoryPtr opened = *openProject(copy);
        QCOMPARE(opened->runs({})->size(), std::size_t(2));
        QCOMPARE(opened->run(done)->status, RunStatus::Done);
        QCOMPARE(opened->run(running)->status, RunStatus::Interrupted);
        QCOMPARE(opened->metrics(running, 0)->size(), std::size_t(10));
        QCOMPARE(repository->run(running)->status, RunStatus::Running);
        QVERIFY(repository->setNote(running, "goes on").has_value());
    }

    void savingReplacesAnOldFileAndOnlyThat() {
        const ProjectFolder folder;
        const RepositoryPtr repository = *openProject(folder.path());
        test::addRun(*repository, "new");
        QVERIFY(saveProjectAs(*repository, folder.path()).has_value()); // onto itself
        const std::string target = folder.path("target.placewright");
        {
            const RepositoryPtr other = *openProject(target);
            test::addRun(*other, "old");
            const Status busy = saveProjectAs(*repository, target);
            QVERIFY(!busy);
            QCOMPARE(busy.error().code, ErrorCode::Busy);
            QCOMPARE(busy.error().file, target);
            QCOMPARE((*other->runs({}))[0].name, std::string("old"));
        }
        QVERIFY(saveProjectAs(*repository, target).has_value());
        QCOMPARE((*(*openProject(target))->runs({}))[0].name, std::string("new"));
        for (const auto& name : folder.names())
            QVERIFY2(name.find("saving") == std::string::npos, name.c_str());
        QVERIFY(!saveProjectAs(*repository, folder.path("no/such/folder")));
    }

    /// A WAL that a crash left beside the target must not be poured into the new file.
    void savingOverACrashedProjectDoesNotMixThem() {
        const ProjectFolder folder;
        const std::string target = folder.path("target.placewright");
        {
            const RepositoryPtr other = *openProject(target);
            test::addRun(*other, "old", 2000);
            std::filesystem::copy(target, folder.path("t"));
            std::filesystem::copy(target + "-wal", folder.path("t-wal"));
        }
        std::filesystem::rename(folder.path("t"), target);
        std::filesystem::rename(folder.path("t-wal"), target + "-wal");
        const RepositoryPtr repository = *openProject(folder.path());
        test::addRun(*repository, "new");
        const Status saved = saveProjectAs(*repository, target);
        QVERIFY2(saved.has_value(), saved ? "" : saved.error().toString().c_str());
        QVERIFY(checkIntegrity(target).has_value());
        const auto runs = *(*openProject(target))->runs({});
        QCOMPARE(runs.size(), std::size_t(1));
        QCOMPARE(runs[0].name, std::string("new"));
    }
};

QTEST_APPLESS_MAIN(TestProjectFile)
#include "tst_project_file.moc"
