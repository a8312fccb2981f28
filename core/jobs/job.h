#pragma once

#include "core/base/result.h"
#include "core/jobs/job_context.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pw {

/// How a job ended.
enum class JobOutcome {
    Succeeded,
    Stopped, ///< requestStop was honoured, the result is kept
    Failed,  ///< see error
    Aborted, ///< results dropped
};

struct JobEnd {
    JobOutcome outcome = JobOutcome::Succeeded;
    std::optional<Error> error; ///< set when Failed
};

/// One function on one thread of its own.
///
/// Verbs (any thread, none blocks): requestStop, abort, progress, end. The destructor aborts and hands the thread to a
/// reaper, so that the owner (the GUI thread) never waits; `joinAllJobs()` waits for reaped threads at the end of main.
/// The function gets its own copy of everything it touches; results travel through objects it shares (Mailbox).
/// A function that throws ends as Failed with ErrorCode::Internal.
class Job {
public:
    using Function = std::function<Status(JobContext&)>;
    /// Called once on the worker thread as its very last act; must not block (the GUI posts itself an empty event).
    using EndHook = std::function<void()>;

    /// Starts at once.
    Job(std::string name, Function function, EndHook onEnd = {});
    ~Job();
    Job(Job&&) noexcept;
    Job& operator=(Job&&) noexcept;

    const std::string& name() const;
    void requestStop();
    void abort();
    /// Newest progress, nothing if unchanged since the last call.
    std::optional<Progress> takeProgress();
    /// Set once the function has returned.
    std::optional<JobEnd> end() const;
    /// Blocks until the function has returned. For command lines and tests, never the GUI thread.
    JobEnd wait();

    struct Shared; ///< private to job.cpp

private:
    std::shared_ptr<Shared> m_shared;
    void release();
};

/// Waits for every job whose handle was destroyed while it ran. Call at the end of main.
void joinAllJobs();

} // namespace pw
