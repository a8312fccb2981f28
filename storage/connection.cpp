#include "storage/connection.h"

#include <sqlite3.h>

#include <filesystem>
#include <limits>

namespace pw::storage {

namespace {

/// Another program's transactions take milliseconds; whoever holds the file for longer is reported as Busy.
constexpr int kBusyTimeoutMs = 5000;

ErrorCode codeOf(int sqliteCode) {
    switch (sqliteCode & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorCode::Busy;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return ErrorCode::Parse;
    case SQLITE_READONLY:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: return ErrorCode::Io;
    case SQLITE_CONSTRAINT: return ErrorCode::Invalid;
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM: return ErrorCode::TooLarge;
    default: return ErrorCode::Internal;
    }
}

std::string reasonOf(int sqliteCode, const std::string& detail) {
    switch (sqliteCode & 0xff) {
    case SQLITE_NOTADB: return "is not a Placewright project (not an SQLite database)";
    case SQLITE_CORRUPT: return "the project file is damaged (" + detail + ")";
    case SQLITE_READONLY: return "cannot be written: the file or its folder is read-only";
    case SQLITE_FULL: return "cannot be written: the disk or the file's size limit is full";
    case SQLITE_BUSY: return "is locked by another program";
    case SQLITE_IOERR: return "reading or writing failed (" + detail + "); is the disk full?";
    case SQLITE_CANTOPEN: return "cannot be opened (" + detail + ")";
    default: return detail;
    }
}

Error makeError(sqlite3* database, int code, const std::string& file) {
    const int extended = database ? sqlite3_extended_errcode(database) : code;
    std::string detail = database ? sqlite3_errmsg(database) : sqlite3_errstr(code);
    if ((code & 0xff) == SQLITE_IOERR)
        detail += ", SQLite code " + std::to_string(extended);
    return {codeOf(code), reasonOf(code, detail), file, {}};
}

/// As a URI, because only there SQLite takes `immutable`.
std::string immutableUri(const std::string& path) {
    std::string uri = "file:";
    for (const char c : path) {
        if (c == '?' || c == '#' || c == '%') {
            static constexpr char kHex[] = "0123456789abcdef";
            const auto byte = static_cast<unsigned char>(c);
            uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
        } else {
            uri += c;
        }
    }
    return uri + "?immutable=1";
}

int flagsOf(OpenMode mode) {
    // why: one thread at a time per connection is our rule, so SQLite need not lock
    switch (mode) {
    case OpenMode::ReadOnly: return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY;
    case OpenMode::Immutable: return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    case OpenMode::ReadWrite: return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;
    case OpenMode::Create: return SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    }
    return SQLITE_OPEN_READONLY;
}

} // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

void Statement::noteBind(int code) {
    if (code != SQLITE_OK && m_bindError == SQLITE_OK)
        m_bindError = code;
    ++m_nextParameter;
}

Statement& Statement::bind(std::int64_t value) {
    noteBind(sqlite3_bind_int64(m_statement.get(), m_nextParameter, value));
    return *this;
}

Statement& Statement::bind(double value) {
    noteBind(sqlite3_bind_double(m_statement.get(), m_nextParameter, value));
    return *this;
}

Statement& Statement::bind(std::string_view text) {
    noteBind(sqlite3_bind_text64(m_statement.get(), m_nextParameter, text.empty() ? "" : text.data(), text.size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
}

Statement& Statement::bind(std::span<const std::uint8_t> blob) {
    // why: a null pointer would bind NULL, not an empty blob
    const void* bytes = blob.empty() ? static_cast<const void*>("") : blob.data();
    noteBind(sqlite3_bind_blob64(m_statement.get(), m_nextParameter, bytes, blob.size(), SQLITE_TRANSIENT));
    return *this;
}

Statement& Statement::bindNull() {
    noteBind(sqlite3_bind_null(m_statement.get(), m_nextParameter));
    return *this;
}

Error Statement::error(int code) const {
    return makeError(sqlite3_db_handle(m_statement.get()), code, m_file);
}

Result<bool> Statement::step() {
    if (m_bindError != SQLITE_OK)
        return fail(Error{codeOf(m_bindError), sqlite3_errstr(m_bindError), m_file, {}});
    const int code = sqlite3_step(m_statement.get());
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return fail(error(code));
}

Status Statement::run() {
    while (true) {
        PW_TRY(const bool row, step());
        if (!row)
            break;
    }
    sqlite3_reset(m_statement.get());
    m_nextParameter = 1;
    return {};
}

bool Statement::isNull(int column) const {
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(m_statement.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(m_statement.get(), column);
}

std::string Statement::text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(m_statement.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column));
    return text ? std::string(text, size) : std::string();
}

std::vector<std::uint8_t> Statement::blob(int column) const {
    const auto* bytes = static_cast<const std::uint8_t*>(sqlite3_column_blob(m_statement.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column));
    return bytes ? std::vector<std::uint8_t>(bytes, bytes + size) : std::vector<std::uint8_t>();
}

void Connection::Close::operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, OpenMode mode) {
    // why: absolute, so that no name is special to SQLite (":memory:", "file:...")
    std::error_code ignored;
    const std::string absolute = std::filesystem::absolute(path, ignored).string();
    const std::string name = mode == OpenMode::Immutable ? immutableUri(absolute) : absolute;
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &database, flagsOf(mode), nullptr);
    std::unique_ptr<Connection> connection(new Connection(database, path));
    if (code != SQLITE_OK)
        return fail(makeError(database, code, path));
    sqlite3_extended_result_codes(database, 0);
    sqlite3_busy_timeout(database, kBusyTimeoutMs);
    PW_CHECK(connection->execute("PRAGMA foreign_keys = ON"));
    return connection;
}

Result<Statement> Connection::prepare(std::string_view sql) {
    if (sql.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        return fail(ErrorCode::TooLarge, "statement too long", {}, m_path);
    sqlite3_stmt* statement = nullptr;
    const int code =
        sqlite3_prepare_v2(m_database.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
    if (code != SQLITE_OK)
        return fail(makeError(m_database.get(), code, m_path));
    return Statement(statement, m_path);
}

Status Connection::execute(const std::string& sql) {
    const int code = sqlite3_exec(m_database.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        return fail(makeError(m_database.get(), code, m_path));
    return {};
}

Result<std::int64_t> Connection::queryInteger(std::string_view sql) {
    PW_TRY(Statement statement, prepare(sql));
    PW_TRY(const bool row, statement.step());
    return row ? statement.integer(0) : 0;
}

Result<std::string> Connection::queryText(std::string_view sql) {
    PW_TRY(Statement statement, prepare(sql));
    PW_TRY(const bool row, statement.step());
    return row ? statement.text(0) : std::string();
}

std::int64_t Connection::lastInsertId() const {
    return sqlite3_last_insert_rowid(m_database.get());
}

std::int64_t Connection::changedRows() const {
    return sqlite3_changes64(m_database.get());
}

bool Connection::isReadOnly() const {
    return sqlite3_db_readonly(m_database.get(), "main") == 1;
}

bool Connection::inTransaction() const {
    return sqlite3_get_autocommit(m_database.get()) == 0;
}

Result<Transaction> Transaction::begin(Connection& connection) {
    PW_CHECK(connection.execute("BEGIN IMMEDIATE"));
    return Transaction(connection);
}

Transaction::~Transaction() {
    // why: a full disk makes SQLite roll back by itself, and then there is nothing left to roll back
    if (m_connection && m_connection->inTransaction())
        (void)m_connection->execute("ROLLBACK");
}

Status Transaction::commit() {
    PW_CHECK(m_connection->execute("COMMIT"));
    m_connection = nullptr;
    return {};
}

} // namespace pw::storage
