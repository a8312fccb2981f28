#include "core/experiment/run_recorder.h"

#include "core/base/clock.h"

#include <chrono>

namespace pw {

namespace {

/// Half of what may be lost (one second), so that a slow disk has the other half.
constexpr std::chrono::milliseconds kFlushInterval{500};
/// A placement of 50,000 ops is a row of 100 kB, and early in a run almost every episode finds a better one.
constexpr double kBestIntervalSeconds = 2.0;

} // namespace

RunRecorder::RunRecorder(RepositoryPtr repository, RowId run, std::function<void()> onFailure)
    : m_repository(std::move(repository))
    , m_run(run)
    , m_onFailure(std::move(onFailure)) {
    if (m_repository)
        m_thread = std::jthread([this](std::stop_token stop) { writeLoop(std::move(stop)); });
}

RunRecorder::~RunRecorder() = default;

void RunRecorder::addSample(MetricSample sample) {
    if (!m_repository)
        return;
    {
        const std::lock_guard lock(m_mutex);
        m_pending.samples.push_back(std::move(sample));
    }
    m_wake.notify_one();
}

void RunRecorder::setBest(std::size_t index, PlacementRecord best) {
    if (!m_repository)
        return;
    {
        const std::lock_guard lock(m_mutex);
        m_pending.best.insert_or_assign(index, std::move(best));
    }
    m_wake.notify_one();
}

void RunRecorder::addCheckpoint(const CheckpointRecord& checkpoint) {
    if (!m_repository)
        return;
    flush(true);
    const std::lock_guard writing(m_writeMutex);
    {
        const std::lock_guard lock(m_mutex);
        if (!m_status)
            return;
    }
    noteFailure(m_repository->addCheckpoint(m_run, checkpoint));
}

Status RunRecorder::close() {
    if (!m_repository)
        return {};
    m_thread.request_stop();
    m_thread.join();
    flush(true);
    const std::lock_guard lock(m_mutex);
    return m_status;
}

void RunRecorder::writeLoop(std::stop_token stop) {
    Stopwatch sinceBest;
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, stop, [this] { return !m_pending.empty(); });
            // why: collect a batch; only the end of the run cuts it short
            m_wake.wait_for(lock, stop, kFlushInterval, [] { return false; });
        }
        const bool alsoBest = sinceBest.seconds() >= kBestIntervalSeconds;
        flush(alsoBest);
        if (alsoBest)
            sinceBest.restart();
    }
}

void RunRecorder::flush(bool alsoBest) {
    const std::lock_guard writing(m_writeMutex);
    Pending pending;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_status)
            return;
        pending.samples.swap(m_pending.samples);
        if (alsoBest)
            pending.best.swap(m_pending.best);
    }
    noteFailure(write(pending));
}

Status RunRecorder::write(const Pending& pending) {
    if (!pending.samples.empty())
        PW_CHECK(m_repository->addMetrics(m_run, pending.samples));
    for (const auto& [index, best] : pending.best) {
        PW_TRY(const RowId placement, m_repository->addPlacement(best));
        if (index == 0)
            PW_CHECK(m_repository->setBestPlacement(m_run, placement));
    }
    return {};
}

void RunRecorder::noteFailure(const Status& status) {
    if (status)
        return;
    {
        const std::lock_guard lock(m_mutex);
        m_status = status;
    }
    m_onFailure();
}

} // namespace pw
