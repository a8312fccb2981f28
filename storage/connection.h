#pragma once

// The SQLite C API behind three small classes. sqlite3.h is included by connection.cpp alone.

#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace pw::storage {

/// A prepared statement. Values are bound in order; a failed bind is reported by the next step. Not thread-safe; must
/// not outlive its connection.
class Statement {
public:
    Statement& bind(std::int64_t value);
    Statement& bind(double value);
    Statement& bind(std::string_view text);
    Statement& bind(const char* text) { return bind(std::string_view(text)); }
    Statement& bind(std::span<const std::uint8_t> blob);
    Statement& bindNull();
    Statement& bind(const std::optional<std::int64_t>& value) { return value ? bind(*value) : bindNull(); }

    /// True = a row is there, false = done.
    Result<bool> step();
    /// Runs to the end and makes ready for the next values.
    Status run();

    /// Columns of the current row, from 0.
    bool isNull(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::vector<std::uint8_t> blob(int column) const;

private:
    friend class Connection;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    Statement(sqlite3_stmt* statement, std::string file) : m_statement(statement), m_file(std::move(file)) {}
    Error error(int code) const;
    void noteBind(int code);

    std::unique_ptr<sqlite3_stmt, Finalize> m_statement;
    std::string m_file;
    int m_nextParameter = 1;
    int m_bindError = 0;
};

enum class OpenMode {
    ReadOnly,
    Immutable, ///< for media where SQLite can make no files beside the project; nobody may write it meanwhile
    ReadWrite,
    Create, ///< read and write, made if missing
};

/// One open handle to a file. One thread at a time.
class Connection {
public:
    static Result<std::unique_ptr<Connection>> open(const std::string& path, OpenMode mode);

    const std::string& path() const { return m_path; }
    Result<Statement> prepare(std::string_view sql);
    /// Several statements separated by ';', without parameters or rows.
    Status execute(const std::string& sql);
    /// First column of the first row.
    Result<std::int64_t> queryInteger(std::string_view sql);
    Result<std::string> queryText(std::string_view sql);
    std::int64_t lastInsertId() const;
    std::int64_t changedRows() const; ///< by the last INSERT, UPDATE or DELETE
    bool isReadOnly() const;
    bool inTransaction() const;

private:
    struct Close {
        void operator()(sqlite3* database) const;
    };
    Connection(sqlite3* database, std::string path) : m_database(database), m_path(std::move(path)) {}

    std::unique_ptr<sqlite3, Close> m_database;
    std::string m_path;
};

/// BEGIN IMMEDIATE; rolled back unless committed.
class Transaction {
public:
    static Result<Transaction> begin(Connection& connection);
    ~Transaction();
    Transaction(Transaction&& other) noexcept : m_connection(std::exchange(other.m_connection, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;

    Status commit();

private:
    explicit Transaction(Connection& connection) : m_connection(&connection) {}
    Connection* m_connection;
};

} // namespace pw::storage
