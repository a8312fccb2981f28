#pragma once

#include "core/base/rng.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>

namespace pw {

/// Where a job stands. Overwritten, never queued.
struct Progress {
    std::string stage;      ///< "train", "layout": a stable word, translated by the UI
    double fraction = -1.0; ///< 0..1, negative while unknown
    double rate = 0.0;      ///< items per second of `unit`, 0 while unknown
    std::string unit;       ///< what rate counts: "episode", "evaluation"
    double etaSeconds = -1.0;
    double bestStepTimeUs = -1.0; ///< best valid step time so far, negative while there is none
};

/// What running code sees of its job: two stop signals, progress, a seed.
///
/// requestStop asks to finish the current step and keep the best result; abort asks to drop everything and return soon
/// (within 100 ms). A job function looks at both. All methods may be called from the job's thread and its children.
class JobContext {
public:
    using ProgressSink = std::function<void(const Progress&)>;

    /// A context that is never stopped and drops progress: for tests and simple command lines.
    JobContext() = default;
    JobContext(std::stop_token stop, std::stop_token abort, ProgressSink sink)
        : m_stop(std::move(stop)), m_abort(std::move(abort)), m_sink(std::move(sink)) {}

    /// True after requestStop or abort: leave the loop.
    bool stopRequested() const { return m_stop.stop_requested() || m_abort.stop_requested(); }
    /// True after abort only: results are not wanted.
    bool abortRequested() const { return m_abort.stop_requested(); }

    /// The two signals themselves, to hand them on (std::stop_callback, a context for a part of the job).
    const std::stop_token& stopToken() const { return m_stop; }
    const std::stop_token& abortToken() const { return m_abort; }

    void report(const Progress& progress) const {
        if (m_sink)
            m_sink(progress);
    }

private:
    std::stop_token m_stop;
    std::stop_token m_abort;
    ProgressSink m_sink;
};

} // namespace pw
