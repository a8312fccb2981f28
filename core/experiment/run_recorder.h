#pragma once

#include "core/experiment/run_repository.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace pw {

/// Writes one run into a repository while it runs. The run's thread hands over samples and placements without waiting for
/// the disk; a thread of the recorder's own writes them, so that nothing stays unwritten for a second even when the next
/// episode takes minutes. The first failure of the repository sticks and is told once through `onFailure`.
///
/// All methods: any thread, but close() once and last. Without a repository everything is dropped.
class RunRecorder {
public:
    RunRecorder(RepositoryPtr repository, RowId run, std::function<void()> onFailure);
    ~RunRecorder();
    RunRecorder(const RunRecorder&) = delete;
    RunRecorder& operator=(const RunRecorder&) = delete;

    void addSample(MetricSample sample);
    /// Newest best placement of problem `index`, written at most every two seconds; that of problem 0 is the run's best.
    void setBest(std::size_t index, PlacementRecord best);
    /// Writes everything pending, then the checkpoint, before it returns: a checkpoint never runs ahead of its samples.
    void addCheckpoint(const CheckpointRecord& checkpoint);
    /// Ends the thread and writes what is pending. The first error, if there was one.
    Status close();

private:
    struct Pending {
        std::vector<MetricSample> samples;
        std::map<std::size_t, PlacementRecord> best;
        bool empty() const { return samples.empty() && best.empty(); }
    };

    void writeLoop(std::stop_token stop);
    void flush(bool alsoBest);
    Status write(const Pending& pending);
    void noteFailure(const Status& status);

    const RepositoryPtr m_repository;
    const RowId m_run;
    const std::function<void()> m_onFailure;
    std::mutex m_writeMutex; ///< held while writing, so that batches keep their order; taken before m_mutex
    std::mutex m_mutex;      ///< guards what follows
    std::condition_variable_any m_wake;
    Pending m_pending;
    Status m_status;
    std::jthread m_thread;
};

} // namespace pw
