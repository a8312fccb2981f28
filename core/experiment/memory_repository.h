#pragma once

#include "core/experiment/run_repository.h"

#include <memory>

namespace pw {

/// A project that lives as long as the object: for programs without a file and for tests of what uses the port.
/// Keeps the same contract as the SQLite one. Any thread.
class MemoryRepository final : public RunRepository {
public:
    MemoryRepository();
    ~MemoryRepository() override;

    /// From now on, `writes` more calls that write succeed and every later one fails with `error`: a disk that fills up.
    void failWritesAfter(int writes, Error error);
    /// Number of successful addMetrics calls, to see batching.
    std::size_t metricBatches() const;

    Result<RowId> putGraph(const OpGraph& graph, const std::string& source) override;
    Result<std::vector<GraphRecord>> graphs() const override;
    Result<GraphPtr> loadGraph(RowId id) const override;
    Result<RowId> putDeviceSet(const DeviceSet& devices) override;
    Result<std::vector<DeviceSetRecord>> deviceSets() const override;
    Result<DeviceSet> loadDeviceSet(RowId id) const override;

    Result<RowId> startRun(const RunSpec& spec, const std::string& name, RowId graphId, RowId deviceSetId) override;
    Status addMetrics(RowId run, std::span<const MetricSample> samples) override;
    Result<RowId> addPlacement(const PlacementRecord& placement) override;
    Status setBestPlacement(RowId run, RowId placement) override;
    Status addCheckpoint(RowId run, const CheckpointRecord& checkpoint) override;
    Status setPolicy(RowId run, std::span<const std::uint8_t> policy) override;
    Status finishRun(RowId run, RunStatus status, double seconds, std::int64_t evaluations, std::int64_t steps,
                     const std::string& error) override;
    Status reopenRun(RowId run, std::int64_t step) override;
    Status setSpec(RowId run, const RunSpec& spec) override;

    Result<std::vector<RunRecord>> runs(const RunFilter& filter) const override;
    Result<RunRecord> run(RowId id) const override;
    Result<std::vector<MetricSample>> metrics(RowId run, std::int64_t fromStep) const override;
    Result<std::vector<PlacementRecord>> placements(RowId graphId) const override;
    Result<PlacementRecord> placement(RowId id) const override;
    Result<std::optional<CheckpointRecord>> lastCheckpoint(RowId run) const override;
    Result<std::vector<std::uint8_t>> policy(RowId run) const override;

    Status setTags(RowId run, const std::vector<std::string>& tags) override;
    Status setNote(RowId run, const std::string& note) override;
    Status deleteRun(RowId run) override;

    Result<std::optional<std::string>> loadLayout(const std::string& key) const override;
    Status saveLayout(const std::string& key, const std::string& value) override;

    std::string path() const override; ///< empty

private:
    struct Content;
    std::unique_ptr<Content> m_content;
};

} // namespace pw
