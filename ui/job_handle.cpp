#include "ui/job_handle.h"

#include <QMetaObject>

#include <mutex>

namespace pw::ui {

namespace {
constexpr int kDrainIntervalMs = 33;
}

/// Lets the worker's last act reach the handle without keeping it alive: the handle clears `target` when it goes.
struct JobHandle::Bridge {
    std::mutex mutex;
    JobHandle* target = nullptr;

    void wake() {
        const std::lock_guard lock(mutex);
        if (target)
            QMetaObject::invokeMethod(target, [handle = target] { handle->poll(); }, Qt::QueuedConnection);
    }
};

JobHandle::JobHandle(const QString& title, Job::Function function, QObject* parent)
    : QObject(parent), m_title(title), m_bridge(std::make_shared<Bridge>()) {
    m_bridge->target = this;
    m_timer.setInterval(kDrainIntervalMs);
    connect(&m_timer, &QTimer::timeout, this, &JobHandle::poll);
    m_timer.start();
    m_job = std::make_unique<Job>(title.toStdString(), std::move(function), [bridge = m_bridge] { bridge->wake(); });
}

JobHandle::~JobHandle() {
    const std::lock_guard lock(m_bridge->mutex);
    m_bridge->target = nullptr;
}

void JobHandle::requestStop() {
    m_stopRequested = true;
    m_job->requestStop();
}

void JobHandle::abort() {
    m_stopRequested = true;
    m_job->abort();
}

void JobHandle::poll() {
    if (m_ended)
        return;
    const auto end = m_job->end(); // why first: what the job left before its end is drained below
    if (auto progress = m_job->takeProgress()) {
        m_progress = std::move(*progress);
        Q_EMIT progressed(m_progress);
    }
    Q_EMIT drain();
    if (!end)
        return;
    m_ended = true;
    m_timer.stop();
    Q_EMIT finished(*end);
}

} // namespace pw::ui
