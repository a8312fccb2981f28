#pragma once

#include "core/experiment/run_repository.h"
#include "storage/connection_pool.h"
#include "storage/owner.h"

#include <memory>
#include <mutex>
#include <type_traits>

namespace pw::storage {

/// The port over one project file. One writing connection behind a mutex, a pool of reading ones: a reader never waits
/// for a writer (WAL) nor for another reader. Made by openProject().
class SqliteRepository final : public RunRepository {
public:
    /// `writer` is null for a project opened for reading. Readers open in `readMode`.
    SqliteRepository(std::string path, std::unique_ptr<Connection> writer, OpenMode readMode);

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

    std::string path() const override { return m_path; }

    /// Runs whose program is gone become interrupted. For openProject().
    Status markInterruptedRuns();

private:
    /// `function(Connection&)` in one transaction of the writer, committed if it succeeds.
    template<class Function>
    auto write(const Function& function) -> std::invoke_result_t<Function, Connection&> {
        const std::lock_guard lock(m_writeMutex);
        if (!m_writer)
            return fail(ErrorCode::Io, "the project is open for reading only", {}, m_path);
        PW_TRY(Transaction transaction, Transaction::begin(*m_writer));
        auto result = function(*m_writer);
        if (result)
            PW_CHECK(transaction.commit());
        return result;
    }

    tl::unexpected<Error> missing(const char* what, RowId id) const;
    Status checkExists(Connection& connection, const char* table, RowId id) const;
    Result<std::optional<RowId>> idOfHash(const char* table, const std::string& hash) const;
    Status checkFits(Connection& connection, const PlacementRecord& placement) const;
    Result<PlacementRecord> placementOf(const Statement& row) const;
    Result<RunRecord> runOf(Connection& connection, const Statement& row, bool strict) const;

    const std::string m_path;
    const Owner m_owner;
    std::mutex m_writeMutex;
    std::unique_ptr<Connection> m_writer; ///< before the pool, so that it closes last and folds the WAL in
    mutable ConnectionPool m_readers;
};

} // namespace pw::storage
