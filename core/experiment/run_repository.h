#pragma once

// The port behind which storage hides: everything a project file keeps. Core and ui see only this.

#include "core/base/result.h"
#include "core/experiment/run_spec.h"
#include "core/sim/simulator.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pw {

enum class RunStatus { Running, Done, Stopped, Failed, Interrupted };
const char* runStatusName(RunStatus status); ///< "running", "done", "stopped", "failed", "interrupted"
std::optional<RunStatus> runStatusFromName(std::string_view name);

using RowId = std::int64_t; ///< of a table of the project; positive

struct GraphRecord {
    RowId id = 0;
    std::string name;
    std::string hash;
    std::string source; ///< path or "zoo:..."
    std::size_t ops = 0;
    std::int64_t createdAt = 0; ///< seconds since the Unix epoch
};

struct DeviceSetRecord {
    RowId id = 0;
    std::string name;
    std::string hash;
    std::size_t devices = 0;
};

/// One line of the runs table.
struct RunRecord {
    RowId id = 0;
    std::string name;
    RunSpec spec;
    RunStatus status = RunStatus::Running;
    RowId graphId = 0; ///< the first graph
    RowId deviceSetId = 0;
    std::int64_t startedAt = 0;
    double seconds = 0.0;
    std::int64_t evaluations = 0;
    std::int64_t steps = 0; ///< episodes, or samples recorded
    std::optional<double> bestStepTimeUs;
    bool valid = false;
    std::optional<RowId> bestPlacementId;
    std::string error;
    std::vector<std::string> tags;
    std::string note;
};

struct MetricSample {
    std::int64_t step = 0;
    double seconds = 0.0;
    std::map<std::string, double> values; ///< "step_time_us", "best_step_time_us", "reward", "entropy", ...

    bool operator==(const MetricSample&) const = default;
};

struct PlacementRecord {
    RowId id = 0;
    std::optional<RowId> runId;
    RowId graphId = 0;
    RowId deviceSetId = 0;
    std::string name;
    std::string method; ///< "manual" for hand-made ones
    double stepTimeUs = 0.0;
    bool valid = false;
    OpPlacement placement;
    std::int64_t createdAt = 0;
};

struct CheckpointRecord {
    std::int64_t step = 0;
    std::vector<std::uint8_t> bytes;
};

struct RunFilter {
    std::string text; ///< matches name, method, graph, tags, note
    std::optional<RowId> graphId;
    std::optional<std::size_t> offset;
    std::optional<std::size_t> limit;
};

/// All methods: any thread (the implementation serialises writers), errors never lose what was stored before.
/// One writing program per file at a time is expected, several readers are fine. An id that is not there is NotFound.
/// Two implementations keep this contract, checked by one conformance test: storage/ and memory_repository.h.
class RunRepository {
public:
    virtual ~RunRepository() = default;

    virtual Result<RowId> putGraph(const OpGraph& graph, const std::string& source) = 0; ///< existing hash: its id
    virtual Result<std::vector<GraphRecord>> graphs() const = 0;
    virtual Result<GraphPtr> loadGraph(RowId id) const = 0;
    virtual Result<RowId> putDeviceSet(const DeviceSet& devices) = 0; ///< existing hash: its id
    virtual Result<std::vector<DeviceSetRecord>> deviceSets() const = 0;
    virtual Result<DeviceSet> loadDeviceSet(RowId id) const = 0;

    virtual Result<RowId> startRun(const RunSpec& spec, const std::string& name, RowId graphId, RowId deviceSetId) = 0;
    /// One transaction. A sample replaces what its step had; NaN values, and samples without others, are left out. Moves the
    /// run's seconds, steps and evaluations (value "evaluations") forward, so that a run that dies has them.
    virtual Status addMetrics(RowId run, std::span<const MetricSample> samples) = 0;
    /// Invalid unless it has a device of the set for every op of the graph. `id` and `createdAt` are filled in.
    virtual Result<RowId> addPlacement(const PlacementRecord& placement) = 0;
    virtual Status setBestPlacement(RowId run, RowId placement) = 0;
    virtual Status addCheckpoint(RowId run, const CheckpointRecord& checkpoint) = 0; ///< keeps the last two of a run
    virtual Status setPolicy(RowId run, std::span<const std::uint8_t> policy) = 0;
    virtual Status finishRun(RowId run, RunStatus status, double seconds, std::int64_t evaluations,
                             std::int64_t steps, const std::string& error) = 0;
    /// For resuming: status back to running, samples and checkpoints after `step` dropped, seconds, steps and evaluations
    /// back to those of the samples that stay.
    virtual Status reopenRun(RowId run, std::int64_t step) = 0;
    /// For resuming with other limits.
    virtual Status setSpec(RowId run, const RunSpec& spec) = 0;

    /// Newest first.
    virtual Result<std::vector<RunRecord>> runs(const RunFilter& filter) const = 0;
    virtual Result<RunRecord> run(RowId id) const = 0;
    virtual Result<std::vector<MetricSample>> metrics(RowId run, std::int64_t fromStep) const = 0;
    /// Of one graph, newest first.
    virtual Result<std::vector<PlacementRecord>> placements(RowId graphId) const = 0;
    virtual Result<PlacementRecord> placement(RowId id) const = 0;
    virtual Result<std::optional<CheckpointRecord>> lastCheckpoint(RowId run) const = 0;
    virtual Result<std::vector<std::uint8_t>> policy(RowId run) const = 0; ///< NotFound if the run has none

    virtual Status setTags(RowId run, const std::vector<std::string>& tags) = 0; ///< replaces; kept sorted, each once
    virtual Status setNote(RowId run, const std::string& note) = 0;
    virtual Status deleteRun(RowId run) = 0; ///< with its metrics, checkpoints, policy and placements

    /// Small named values of the project (window state, layout cache); nothing if absent.
    virtual Result<std::optional<std::string>> loadLayout(const std::string& key) const = 0;
    virtual Status saveLayout(const std::string& key, const std::string& value) = 0;

    virtual std::string path() const = 0; ///< of the project file
};

using RepositoryPtr = std::shared_ptr<RunRepository>;

/// What every implementation asks of a placement it is to keep: a device of the set for every op of the graph.
Status checkPlacement(const PlacementRecord& placement, std::size_t ops, std::size_t devices);

} // namespace pw
