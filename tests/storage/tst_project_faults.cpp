#include "storage/project_file.h"

#include "core/base/rng.h"
#include "tests/storage/project_fixture.h"

#include <QTest>

#include <csignal>
#include <filesystem>

#include <sys/resource.h>
#include <unistd.h>

using namespace pw;
using namespace pw::storage;
using test::ProjectFolder;

namespace {

/// Files may not grow beyond `bytes` while this lives: a full disk, also for root.
class FileSizeLimit {
public:
    explicit FileSizeLimit(std::uintmax_t bytes) : m_handler(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        rlimit limit = m_before;
        limit.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }

private:
    rlimit m_before{};
    void (*m_handler)(int);
};

/// Root ignores permissions; as nobody they count.
class WithoutRoot {
public:
    WithoutRoot() : m_wasRoot(::geteuid() == 0) {
        if (m_wasRoot)
            m_changed = ::seteuid(65534) == 0;
    }
    ~WithoutRoot() {
        if (m_changed)
            m_restored = ::seteuid(0);
    }
    bool works() const { return m_changed || !m_wasRoot; }

private:
    bool m_wasRoot;
    bool m_changed = false;
    int m_restored = 0;
};

void expectFault(const Error& error, ErrorCode code, const std::string& path) {
    QCOMPARE(error.code, code);
    QCOMPARE(error.file, path);
    QVERIFY(!error.message.empty());
}

/// Everything a program reads from a project. Its only purpose is not to crash.
void readAll(const RunRepository& repository) {
    for (const auto& graph : repository.graphs().value_or(std::vector<GraphRecord>())) {
        (void)repository.loadGraph(graph.id);
        (void)repository.placements(graph.id);
    }
    for (const auto& devices : repository.deviceSets().value_or(std::vector<DeviceSetRecord>()))
        (void)repository.loadDeviceSet(devices.id);
    for (const auto& run : repository.runs({}).value_or(std::vector<RunRecord>())) {
        (void)repository.metrics(run.id, 0);
        (void)repository.lastCheckpoint(run.id);
        (void)repository.policy(run.id);
    }
}

} // namespace

class TestProjectFaults : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void whatIsNoProjectIsRefusedAndLeftAlone() {
        const ProjectFolder folder;
        const auto refuse = [&](const std::string& path, ErrorCode code) {
            const bool there = std::filesystem::is_regular_file(path);
            const std::string before = there ? test::fileContent(path) : std::string();
            const auto opened = openProject(path);
            QVERIFY2(!opened, path.c_str());
            expectFault(opened.error(), code, path);
            QCOMPARE(std::filesystem::is_regular_file(path), there);
            if (there)
                QVERIFY(test::fileContent(path) == before);
        };
        refuse("", ErrorCode::Invalid);
        std::filesystem::create_directory(folder.path("folder"));
        refuse(folder.path("folder"), ErrorCode::Io);
        refuse(folder.path("no/such/p.placewright"), ErrorCode::NotFound);
        refuse("/dev/null", ErrorCode::Invalid);
        test::writeFile(folder.path("text"), "this is not a database, but long enough to have a header of 100 bytes: " +
                                                 std::string(2000, 'x'));
        refuse(folder.path("text"), ErrorCode::Parse);
        test::writeFile(folder.path("short"), "x");
        refuse(folder.path("short"), ErrorCode::Parse);
        {
            auto other = *Connection::open(folder.path("other"), OpenMode::Create);
            QVERIFY(other->execute("CREATE TABLE run (id); INSERT INTO run VALUES (1)").has_value());
        }
        refuse(folder.path("other"), ErrorCode::Parse);
        QVERIFY(!checkIntegrity(folder.path("text")));
        QVERIFY(!checkIntegrity(folder.path("nowhere")));
    }

    void truncatedProjectIsRefusedAtAnyLength() {
        const ProjectFolder folder;
        { test::addRun(**openProject(folder.path()), "r", 500); }
        const std::string whole = test::fileContent(folder.path());
        QVERIFY(whole.size() > 30000);
        for (std::size_t size = 1; size < whole.size(); size += 1777) {
            const std::string path = folder.path("cut");
            test::writeFile(path, whole.substr(0, size));
            const auto opened = openProject(path);
            QVERIFY2(!opened, std::to_string(size).c_str());
            expectFault(opened.error(), ErrorCode::Parse, path);
            QCOMPARE(std::filesystem::file_size(path), size);
        }
    }

    void damagedProjectNeverCrashes() {
        const ProjectFolder folder;
        { test::addRun(**openProject(folder.path()), "r", 300); }
        const std::string whole = test::fileContent(folder.path());
        Rng rng(1);
        int found = 0;
        for (int round = 0; round < 150; ++round) {
            std::string damaged = whole;
            for (int i = 0; i < 30; ++i)
                damaged[rng.below(damaged.size() - 100) + 100] = static_cast<char>(rng.below(256));
            const std::string path = folder.path("bad" + std::to_string(round));
            test::writeFile(path, damaged);
            const auto opened = openProject(path);
            if (opened)
                readAll(**opened);
            found += !checkIntegrity(path);
            const auto reader = openProjectReadOnly(path);
            if (reader)
                readAll(**reader);
        }
        QVERIFY2(found > 75, std::to_string(found).c_str());
    }

    void fullDiskLosesNothingThatWasStored() {
        const ProjectFolder folder;
        const RepositoryPtr repository = *openProject(folder.path());
        const RowId run = test::addRun(*repository, "r", 10);
        std::int64_t stored = 10;
        Status failed;
        {
            const FileSizeLimit limit(std::filesystem::file_size(folder.path() + "-wal") + 200000);
            for (int batch = 0; failed && batch < 10000; ++batch) {
                std::vector<MetricSample> samples;
                for (int i = 1; i <= 50; ++i)
                    samples.push_back({stored + i, 1.0, {{"reward", 0.5}, {"entropy", 0.25}}});
                failed = repository->addMetrics(run, samples);
                if (failed)
                    stored += 50;
            }
            QVERIFY(!failed);
            expectFault(failed.error(), ErrorCode::Io, folder.path());
            QCOMPARE(repository->metrics(run, 0)->size(), std::size_t(stored)); // reading goes on
            QVERIFY(stored > 100);
        }
        QVERIFY(checkIntegrity(folder.path()).has_value());
        // with room again the same project goes on
        QVERIFY(repository->addMetrics(run, std::vector{MetricSample{stored + 1, 1.0, {{"reward", 1.0}}}}).has_value());
        QCOMPARE(repository->metrics(run, 0)->size(), std::size_t(stored + 1));
        QCOMPARE(repository->metrics(run, 0)->back().step, stored + 1);
    }

    void fullDiskWhileClosingLosesNothing() {
        const ProjectFolder folder;
        RowId run = 0;
        {
            RepositoryPtr repository = *openProject(folder.path());
            run = test::addRun(*repository, "r", 5000); // in the WAL
            const FileSizeLimit limit(1000);            // the WAL cannot be folded into the file
            repository.reset();
        }
        QVERIFY(checkIntegrity(folder.path()).has_value());
        QCOMPARE((*openProject(folder.path()))->metrics(run, 0)->size(), std::size_t(5000));
    }

    void fullDiskWhileCreatingLeavesNoFile() {
        const ProjectFolder folder;
        {
            const FileSizeLimit limit(5000);
            const auto opened = openProject(folder.path());
            QVERIFY(!opened);
            expectFault(opened.error(), ErrorCode::Io, folder.path());
        }
        QVERIFY(folder.names().empty());
        QVERIFY(openProject(folder.path()).has_value());
    }

    void fullDiskWhileSavingLeavesTheOldFile() {
        const ProjectFolder folder;
        const std::string target = folder.path("target.placewright");
        { test::addRun(**openProject(target), "old"); }
        const std::string before = test::fileContent(target);
        const RepositoryPtr repository = *openProject(folder.path());
        test::addRun(*repository, "new", 5000);
        {
            const FileSizeLimit limit(20000);
            const Status saved = saveProjectAs(*repository, target);
            QVERIFY(!saved);
            expectFault(saved.error(), ErrorCode::Io, target);
        }
        QVERIFY(test::fileContent(target) == before);
        for (const auto& name : folder.names())
            QVERIFY2(name.find("saving") == std::string::npos, name.c_str());
        QVERIFY(saveProjectAs(*repository, target).has_value());
    }

    void fullDatabaseRollsTheTransactionBack() {
        const ProjectFolder folder;
        auto connection = *Connection::open(folder.path(), OpenMode::Create);
        QVERIFY(connection->execute("CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA max_page_count = 5").has_value());
        {
            auto transaction = Transaction::begin(*connection);
            QVERIFY(transaction.has_value());
            QVERIFY(connection->execute("INSERT INTO t VALUES (2)").has_value());
            const Status full = connection->execute("INSERT INTO t VALUES (zeroblob(100000))");
            QVERIFY(!full);
            expectFault(full.error(), ErrorCode::Io, folder.path());
            QVERIFY(full.error().message.find("full") != std::string::npos);
        }
        QVERIFY(!connection->inTransaction());
        QCOMPARE(*connection->queryInteger("SELECT count(*) FROM t"), std::int64_t(1));
    }

    void readOnlyFileIsReadButNotWritten() {
        const ProjectFolder folder;
        { test::addRun(**openProject(folder.path()), "r"); }
        namespace fs = std::filesystem;
        const fs::path parent = fs::path(folder.path()).parent_path();
        fs::permissions(folder.path(), fs::perms(0444));
        fs::permissions(parent, fs::perms(0555));
        {
            const WithoutRoot nobody;
            if (!nobody.works())
                QSKIP("cannot give up root here");
            const auto writable = openProject(folder.path());
            QVERIFY(!writable);
            expectFault(writable.error(), ErrorCode::Io, folder.path());
            const auto fresh = openProject(folder.path("new.placewright"));
            QVERIFY(!fresh);
            expectFault(fresh.error(), ErrorCode::Io, folder.path("new.placewright"));
            const auto readable = openProjectReadOnly(folder.path());
            QVERIFY2(readable.has_value(), readable ? "" : readable.error().toString().c_str());
            QCOMPARE((*readable)->runs({})->size(), std::size_t(1));
            const Status refused = (*readable)->saveLayout("k", "v");
            QVERIFY(!refused);
            expectFault(refused.error(), ErrorCode::Io, folder.path());
            QVERIFY(checkIntegrity(folder.path()).has_value());
        }
        fs::permissions(parent, fs::perms(0755));
    }

    void lockedProjectIsBusy() {
        const ProjectFolder folder;
        const RepositoryPtr repository = *openProject(folder.path());
        auto other = *Connection::open(folder.path(), OpenMode::ReadWrite);
        auto transaction = Transaction::begin(*other);
        QVERIFY(transaction.has_value());
        const Status refused = repository->saveLayout("k", "v"); // waits for the busy timeout
        QVERIFY(!refused);
        expectFault(refused.error(), ErrorCode::Busy, folder.path());
        QVERIFY(repository->runs({}).has_value()); // readers do not wait
        QVERIFY(transaction->commit().has_value());
        QVERIFY(repository->saveLayout("k", "v").has_value());
    }
};

QTEST_APPLESS_MAIN(TestProjectFaults)
#include "tst_project_faults.moc"
