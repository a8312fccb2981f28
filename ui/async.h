#pragma once

#include "ui/job_handle.h"

#include <QPointer>

#include <deque>
#include <functional>
#include <optional>
#include <utility>

namespace pw::ui {

/// Runs `work` on a job of its own and calls `done` on the GUI thread with what it returned; an aborted job calls nothing.
/// The handle belongs to `parent` and deletes itself after the end.
template<class T>
JobHandle* runAsync(QObject* parent, const QString& title, std::function<Result<T>(JobContext&)> work,
                    std::function<void(Result<T>)> done) {
    auto result = std::make_shared<std::optional<Result<T>>>();
    auto* handle = new JobHandle(
        title,
        [result, work = std::move(work)](JobContext& context) -> Status {
            result->emplace(work(context));
            if (!result->value())
                return fail(result->value().error());
            return {};
        },
        parent);
    QObject::connect(handle, &JobHandle::finished, parent, [result, handle, done = std::move(done)](const JobEnd& end) {
        handle->deleteLater();
        if (end.outcome == JobOutcome::Aborted)
            return;
        if (result->has_value())
            done(std::move(result->value()));
        else
            done(fail(end.error.value_or(Error{ErrorCode::Internal, "the job ended without a result", {}, {}})));
    });
    return handle;
}

/// A place for requests of which only the newest counts (simulate, compile, price a move): a new one drops the old one.
class LatestJob {
public:
    explicit LatestJob(QObject* owner) : m_owner(owner) {}
    ~LatestJob() { cancel(); }
    LatestJob(const LatestJob&) = delete;
    LatestJob& operator=(const LatestJob&) = delete;

    template<class T>
    void start(const QString& title, std::function<Result<T>(JobContext&)> work, std::function<void(Result<T>)> done) {
        cancel();
        m_current = runAsync<T>(m_owner, title, std::move(work), std::move(done));
    }
    void cancel() {
        if (!m_current)
            return;
        m_current->disconnect(m_owner);
        m_current->abort();
        m_current->deleteLater();
        m_current = nullptr;
    }
    bool isRunning() const { return m_current && m_current->isRunning(); }

private:
    QObject* m_owner;
    QPointer<JobHandle> m_current;
};

/// Requests that must happen in order (writes to the project): one at a time, none dropped.
class SerialJobs {
public:
    using Step = std::function<Status()>;
    using Done = std::function<void(const Status&)>;

    explicit SerialJobs(QObject* owner) : m_owner(owner) {}
    void enqueue(const QString& title, Step step, Done done = {}) {
        m_queue.push_back({title, std::move(step), std::move(done)});
        if (!m_running)
            next();
    }
    bool isIdle() const { return !m_running && m_queue.empty(); }

private:
    struct Entry {
        QString title;
        Step step;
        Done done;
    };
    void next() {
        if (m_queue.empty())
            return;
        m_running = true;
        Entry entry = std::move(m_queue.front());
        m_queue.pop_front();
        auto* handle = new JobHandle(entry.title, [step = entry.step](JobContext&) { return step(); }, m_owner);
        QObject::connect(handle, &JobHandle::finished, m_owner, [this, handle, done = entry.done](const JobEnd& end) {
            handle->deleteLater();
            m_running = false;
            if (done)
                done(end.error ? Status(fail(*end.error)) : Status());
            if (!m_running)
                next();
        });
    }

    QObject* m_owner;
    std::deque<Entry> m_queue;
    bool m_running = false;
};

} // namespace pw::ui
