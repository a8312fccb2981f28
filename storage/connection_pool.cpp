#include "storage/connection_pool.h"

namespace pw::storage {

Result<ConnectionPool::Lease> ConnectionPool::take() {
    {
        const std::lock_guard lock(m_mutex);
        if (!m_idle.empty()) {
            std::unique_ptr<Connection> connection = std::move(m_idle.back());
            m_idle.pop_back();
            return Lease(*this, std::move(connection));
        }
    }
    PW_TRY(std::unique_ptr<Connection> connection, Connection::open(m_path, m_mode));
    return Lease(*this, std::move(connection));
}

ConnectionPool::Lease::~Lease() {
    if (!m_connection)
        return;
    const std::lock_guard lock(m_pool->m_mutex);
    if (m_pool->m_idle.size() < kMaxIdle)
        m_pool->m_idle.push_back(std::move(m_connection));
}

} // namespace pw::storage
