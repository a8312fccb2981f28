#include "storage/project_file.h"

#include "storage/schema.h"
#include "storage/sqlite_repository.h"

#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace pw::storage {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kSmallestPage = 512; ///< of an SQLite database, bytes

enum class FileState { Missing, Empty, Filled };

/// What stands at `path`, without opening it as a database.
Result<FileState> stateOf(const std::string& path) {
    if (path.empty())
        return fail(ErrorCode::Invalid, "a project needs a file name");
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status))
        return fail(ErrorCode::Io, "is a folder, not a project file", {}, path);
    if (!fs::exists(status)) {
        const fs::path folder = fs::absolute(path, error).parent_path();
        if (!fs::is_directory(folder, error))
            return fail(ErrorCode::NotFound, "its folder " + folder.string() + " does not exist", {}, path);
        return FileState::Missing;
    }
    if (!fs::is_regular_file(status))
        return fail(ErrorCode::Invalid, "is not a regular file", {}, path);
    const auto size = fs::file_size(path, error);
    if (error)
        return fail(ErrorCode::Io, error.message(), {}, path);
    if (size > 0 && size < kSmallestPage) // why: SQLite takes such a file for an empty database and would overwrite it
        return fail(ErrorCode::Parse, "is not a Placewright project (too short)", {}, path);
    return size == 0 ? FileState::Empty : FileState::Filled;
}

bool hasWal(const std::string& path) {
    std::error_code ignored;
    const auto size = fs::file_size(path + "-wal", ignored);
    return !ignored && size > 0;
}

/// Opens for reading. A project that was closed properly has no WAL, and then it can be read without making files
/// beside it, which read-only media do not allow.
Result<OpenMode> readableMode(const std::string& path) {
    for (const OpenMode mode : {OpenMode::ReadOnly, OpenMode::Immutable}) {
        PW_TRY(const auto connection, Connection::open(path, mode));
        const auto tables = connection->queryInteger("SELECT count(*) FROM sqlite_master");
        if (tables)
            return mode;
        if (mode == OpenMode::Immutable || tables.error().code != ErrorCode::Io || hasWal(path))
            return fail(tables.error());
    }
    return OpenMode::Immutable;
}

/// Is there a project that this program understands? Leaves no trace on disk.
Status checkProject(const std::string& path) {
    const bool wal = hasWal(path);
    PW_TRY(const auto connection, Connection::open(path, wal ? OpenMode::ReadOnly : OpenMode::Immutable));
    PW_CHECK(checkSchema(*connection, migrations()));
    if (wal)
        return {}; // its pages may lie there
    PW_TRY(const std::int64_t pages, connection->queryInteger("PRAGMA page_count"));
    PW_TRY(const std::int64_t pageSize, connection->queryInteger("PRAGMA page_size"));
    std::error_code error;
    if (static_cast<std::uintmax_t>(pages * pageSize) > fs::file_size(path, error))
        return fail(ErrorCode::Parse, "the project file is damaged (its end is missing)", {}, path);
    return {};
}

Status prepareForWriting(Connection& connection) {
    if (connection.isReadOnly())
        return fail(ErrorCode::Io, "cannot be written: the file or its folder is read-only", {}, connection.path());
    PW_TRY(const std::string journal, connection.queryText("PRAGMA journal_mode = WAL"));
    // why: NORMAL loses nothing in a crash of the program, with a WAL nor in a crash of the machine corrupts the file;
    // without a WAL (file systems without shared memory) only FULL promises that
    PW_CHECK(connection.execute(journal == "wal" ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL"));
    PW_CHECK(connection.execute("PRAGMA journal_size_limit = 67108864"));
    return migrate(connection, migrations());
}

void removeProject(const std::string& path) {
    std::error_code ignored;
    for (const char* ending : {"", "-wal", "-shm", "-journal"})
        fs::remove(path + ending, ignored);
}

Status syncToDisk(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return fail(ErrorCode::Io, "cannot be opened", {}, path);
    const bool synced = ::fsync(descriptor) == 0;
    ::close(descriptor);
    if (!synced)
        return fail(ErrorCode::Io, "cannot be written to the disk", {}, path);
    return {};
}

/// The copy of a project in a file of its own. No run goes on in it.
Status copyInto(const std::string& source, const std::string& target) {
    {
        PW_TRY(const auto connection, Connection::open(source, OpenMode::ReadOnly));
        PW_TRY(Statement vacuum, connection->prepare("VACUUM INTO ?1"));
        PW_CHECK(vacuum.bind(target).run());
    }
    {
        PW_TRY(const auto connection, Connection::open(target, OpenMode::ReadWrite));
        PW_CHECK(connection->execute("UPDATE run SET status = 'interrupted' WHERE status = 'running'"));
    }
    return syncToDisk(target); // why: VACUUM INTO does not
}

/// Replacing a file whose WAL lies beside it would pour that WAL into the new file. A WAL left by a crash is folded in;
/// one that stays belongs to a program that has the file open.
Status settleTarget(const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(path + "-wal", ignored))
        return {};
    if (auto connection = Connection::open(path, OpenMode::ReadWrite))
        (void)(*connection)->queryInteger("PRAGMA wal_checkpoint(TRUNCATE)");
    if (fs::exists(path + "-wal", ignored))
        return fail(ErrorCode::Busy, "is open in another program", {}, path);
    return {};
}

} // namespace

Result<RepositoryPtr> openProject(const std::string& path) {
    PW_TRY(const FileState state, stateOf(path));
    if (state == FileState::Filled)
        PW_CHECK(checkProject(path));
    const auto openWritable = [&]() -> Result<std::shared_ptr<SqliteRepository>> {
        const OpenMode mode = state == FileState::Filled ? OpenMode::ReadWrite : OpenMode::Create;
        PW_TRY(auto connection, Connection::open(path, mode));
        PW_CHECK(prepareForWriting(*connection));
        auto repository = std::make_shared<SqliteRepository>(path, std::move(connection), OpenMode::ReadOnly);
        PW_CHECK(repository->markInterruptedRuns());
        return repository;
    };
    auto repository = openWritable();
    if (!repository) {
        if (state == FileState::Missing)
            removeProject(path);
        return fail(std::move(repository).error());
    }
    return RepositoryPtr(std::move(*repository));
}

Result<RepositoryPtr> openProjectReadOnly(const std::string& path) {
    PW_TRY(const FileState state, stateOf(path));
    if (state == FileState::Missing)
        return fail(ErrorCode::NotFound, "there is no such file", {}, path);
    if (state == FileState::Empty)
        return fail(ErrorCode::Parse, "is empty", {}, path);
    PW_TRY(const OpenMode mode, readableMode(path));
    PW_TRY(const auto connection, Connection::open(path, mode));
    PW_CHECK(checkSchema(*connection, migrations()));
    PW_TRY(const std::int64_t version, connection->queryInteger("PRAGMA user_version"));
    if (version < schemaVersion(migrations())) {
        return fail(ErrorCode::Unsupported, "is of an older version, which has to be opened for writing once", {},
                    path);
    }
    return RepositoryPtr(std::make_shared<SqliteRepository>(path, nullptr, mode));
}

Status saveProjectAs(const RunRepository& repository, const std::string& path) {
    if (dynamic_cast<const SqliteRepository*>(&repository) == nullptr)
        return fail(ErrorCode::Unsupported, "only a project that is a file can be saved as another", {}, path);
    PW_TRY(const FileState state, stateOf(path));
    std::error_code ignored;
    if (state != FileState::Missing && fs::equivalent(repository.path(), path, ignored))
        return {};
    const std::string temporary = path + ".saving-" + std::to_string(::getpid());
    removeProject(temporary);
    Status status = copyInto(repository.path(), temporary);
    if (status && state != FileState::Missing)
        status = settleTarget(path);
    if (status) {
        std::error_code error;
        fs::rename(temporary, path, error);
        if (error)
            status = fail(ErrorCode::Io, error.message());
    }
    if (!status) {
        removeProject(temporary);
        Error error = std::move(status).error();
        error.file = path;
        return fail(std::move(error));
    }
    return syncToDisk(fs::absolute(path, ignored).parent_path().string());
}

Status checkIntegrity(const std::string& path) {
    PW_TRY(const FileState state, stateOf(path));
    if (state == FileState::Missing)
        return fail(ErrorCode::NotFound, "there is no such file", {}, path);
    PW_TRY(const OpenMode mode, readableMode(path));
    PW_TRY(const auto connection, Connection::open(path, mode));
    PW_TRY(Statement check, connection->prepare("PRAGMA integrity_check(10)"));
    std::string findings;
    while (true) {
        PW_TRY(const bool row, check.step());
        if (!row)
            break;
        if (check.text(0) != "ok")
            findings += (findings.empty() ? "" : "; ") + check.text(0);
    }
    PW_TRY(Statement keys, connection->prepare("PRAGMA foreign_key_check"));
    PW_TRY(const bool dangling, keys.step());
    if (dangling)
        findings += (findings.empty() ? "" : "; ") + ("a row of table " + keys.text(0) + " refers to nothing");
    if (!findings.empty())
        return fail(ErrorCode::Parse, "the project file is damaged: " + findings, {}, path);
    return {};
}

} // namespace pw::storage
