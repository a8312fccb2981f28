#pragma once

#include "storage/connection.h"

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pw::storage {

/// Reading connections to one file. Every reader takes one of its own, so that the window's page of runs never waits for
/// a job that loads a large graph. Any thread; the pool must outlive what it lends.
class ConnectionPool {
public:
    class Lease {
    public:
        Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
            : m_pool(&pool), m_connection(std::move(connection)) {}
        Lease(Lease&&) noexcept = default;
        Lease& operator=(Lease&&) = delete;
        ~Lease();
        Connection& operator*() const { return *m_connection; }
        Connection* operator->() const { return m_connection.get(); }

    private:
        ConnectionPool* m_pool;
        std::unique_ptr<Connection> m_connection;
    };

    ConnectionPool(std::string path, OpenMode mode) : m_path(std::move(path)), m_mode(mode) {}

    Result<Lease> take();

private:
    static constexpr std::size_t kMaxIdle = 4;

    const std::string m_path;
    const OpenMode m_mode;
    std::mutex m_mutex;
    std::vector<std::unique_ptr<Connection>> m_idle;
};

} // namespace pw::storage
