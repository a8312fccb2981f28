#include "storage/sqlite_repository.h"

namespace pw::storage {

SqliteRepository::SqliteRepository(std::string path, std::unique_ptr<Connection> writer, OpenMode readMode)
    : m_path(std::move(path))
    , m_owner(thisProcess())
    , m_writer(std::move(writer))
    , m_readers(m_path, readMode) {}

tl::unexpected<Error> SqliteRepository::missing(const char* what, RowId id) const {
    return fail(ErrorCode::NotFound, std::string("there is no ") + what + " " + std::to_string(id), {}, m_path);
}

Status SqliteRepository::checkExists(Connection& connection, const char* table, RowId id) const {
    PW_TRY(Statement query, connection.prepare(std::string("SELECT 1 FROM ") + table + " WHERE id = ?1"));
    PW_TRY(const bool found, query.bind(id).step());
    if (!found)
        return missing(table, id);
    return {};
}

Result<std::optional<RowId>> SqliteRepository::idOfHash(const char* table, const std::string& hash) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare(std::string("SELECT id FROM ") + table + " WHERE hash = ?1"));
    PW_TRY(const bool found, query.bind(hash).step());
    return found ? std::optional(query.integer(0)) : std::nullopt;
}

Status SqliteRepository::markInterruptedRuns() {
    return write([](Connection& connection) -> Status {
        PW_TRY(Statement query, connection.prepare("SELECT id, owner_pid, owner_start, owner_boot FROM run "
                                                   "WHERE status = 'running'"));
        std::vector<RowId> dead;
        while (true) {
            PW_TRY(const bool row, query.step());
            if (!row)
                break;
            if (!isAlive({query.integer(1), query.integer(2), query.text(3)}))
                dead.push_back(query.integer(0));
        }
        PW_TRY(Statement update, connection.prepare("UPDATE run SET status = 'interrupted' WHERE id = ?1"));
        for (const RowId run : dead)
            PW_CHECK(update.bind(run).run());
        return {};
    });
}

Result<std::optional<std::string>> SqliteRepository::loadLayout(const std::string& key) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare("SELECT value FROM layout WHERE key = ?1"));
    PW_TRY(const bool found, query.bind(key).step());
    return found ? std::optional(query.text(0)) : std::nullopt;
}

Status SqliteRepository::saveLayout(const std::string& key, const std::string& value) {
    return write([&](Connection& connection) -> Status {
        PW_TRY(Statement insert, connection.prepare("INSERT INTO layout (key, value) VALUES (?1, ?2) "
                                                    "ON CONFLICT (key) DO UPDATE SET value = excluded.value"));
        return insert.bind(key).bind(value).run();
    });
}

} // namespace pw::storage
