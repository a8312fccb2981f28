#include "core/jobs/job.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace pw {

struct Job::Shared {
    std::string name;
    Function function;
    EndHook onEnd;
    std::stop_source stop;
    std::stop_source abort;
    mutable std::mutex mutex;
    std::condition_variable ended;
    std::optional<Progress> progress;
    std::optional<JobEnd> end;
    std::thread thread;
    std::atomic<bool> returned = false; ///< the thread's last act: joining it does not wait
};

namespace {

/// Threads whose owner went away. They hold no reference to it, so they only have to be joined before main returns.
/// Those that have returned are joined on the way, because each keeps its stack until then.
class Reaper {
public:
    void add(std::shared_ptr<Job::Shared> job) {
        std::vector<std::shared_ptr<Job::Shared>> done;
        {
            const std::lock_guard lock(m_mutex);
            m_jobs.push_back(std::move(job));
            const auto firstDone = std::partition(m_jobs.begin(), m_jobs.end(),
                                                  [](const auto& other) { return !other->returned.load(); });
            done.assign(std::make_move_iterator(firstDone), std::make_move_iterator(m_jobs.end()));
            m_jobs.erase(firstDone, m_jobs.end());
        }
        join(done);
    }
    void joinAll() {
        std::vector<std::shared_ptr<Job::Shared>> jobs;
        {
            const std::lock_guard lock(m_mutex);
            jobs.swap(m_jobs);
        }
        join(jobs);
    }
    ~Reaper() { joinAll(); }

private:
    static void join(const std::vector<std::shared_ptr<Job::Shared>>& jobs) {
        for (const auto& job : jobs)
            job->thread.join();
    }

    std::mutex m_mutex;
    std::vector<std::shared_ptr<Job::Shared>> m_jobs;
};

Reaper& reaper() {
    static Reaper instance;
    return instance;
}

Status runGuarded(const Job::Function& function, JobContext& context) {
    try {
        return function(context);
    } catch (const std::exception& e) {
        return fail(ErrorCode::Internal, e.what());
    } catch (...) {
        return fail(ErrorCode::Internal, "unknown exception");
    }
}

JobEnd endOf(Status status, const JobContext& context) {
    if (context.abortRequested())
        return {JobOutcome::Aborted, std::nullopt};
    if (!status)
        return {JobOutcome::Failed, std::move(status).error()};
    return {context.stopRequested() ? JobOutcome::Stopped : JobOutcome::Succeeded, std::nullopt};
}

} // namespace

Job::Job(std::string name, Function function, EndHook onEnd) : m_shared(std::make_shared<Shared>()) {
    reaper(); // why: constructed before any job, so destroyed after the last one
    m_shared->name = std::move(name);
    m_shared->function = std::move(function);
    m_shared->onEnd = std::move(onEnd);
    m_shared->thread = std::thread([shared = m_shared] {
        JobContext context(shared->stop.get_token(), shared->abort.get_token(), [&shared](const Progress& progress) {
            const std::lock_guard lock(shared->mutex);
            shared->progress = progress;
        });
        Status status = runGuarded(shared->function, context);
        shared->function = nullptr; // why: what it captured must not outlive the run
        {
            const std::lock_guard lock(shared->mutex);
            shared->end = endOf(std::move(status), context);
        }
        shared->ended.notify_all();
        if (shared->onEnd)
            std::exchange(shared->onEnd, nullptr)();
        shared->returned = true;
    });
}

Job::Job(Job&&) noexcept = default;

Job& Job::operator=(Job&& other) noexcept {
    if (this != &other) {
        release();
        m_shared = std::move(other.m_shared);
    }
    return *this;
}

Job::~Job() {
    release();
}

void Job::release() {
    if (!m_shared)
        return;
    abort();
    reaper().add(std::move(m_shared));
}

const std::string& Job::name() const {
    return m_shared->name;
}

void Job::requestStop() {
    m_shared->stop.request_stop();
}

void Job::abort() {
    m_shared->abort.request_stop();
}

std::optional<Progress> Job::takeProgress() {
    const std::lock_guard lock(m_shared->mutex);
    return std::exchange(m_shared->progress, std::nullopt);
}

std::optional<JobEnd> Job::end() const {
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->end;
}

JobEnd Job::wait() {
    std::unique_lock lock(m_shared->mutex);
    m_shared->ended.wait(lock, [this] { return m_shared->end.has_value(); });
    return *m_shared->end;
}

void joinAllJobs() {
    reaper().joinAll();
}

} // namespace pw
