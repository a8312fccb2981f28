// Runs: their rows, metrics, checkpoints, policies, tags and notes.

#include "storage/sqlite_repository.h"

#include "core/base/clock.h"
#include "core/base/text.h"

#include <algorithm>
#include <cmath>

namespace pw::storage {

namespace {

constexpr const char* kRunColumns =
    "SELECT run.id, run.name, run.spec, run.status, run.graph_id, run.device_set_id, run.started_at, run.seconds, "
    "run.evaluations, run.steps, placement.step_time_us, placement.valid, run.best_placement_id, run.error, "
    "note.text, run.owner_pid, run.owner_start, run.owner_boot, run.kind, run.method, graph.name "
    "FROM run JOIN graph ON graph.id = run.graph_id "
    "LEFT JOIN placement ON placement.id = run.best_placement_id LEFT JOIN note ON note.run_id = run.id ";

constexpr const char* kRunFilter =
    "WHERE (?1 IS NULL OR run.graph_id = ?1) AND (?2 = '' OR instr(lower(run.name), ?2) OR "
    "instr(lower(run.method), ?2) OR instr(lower(graph.name), ?2) OR instr(lower(note.text), ?2) OR "
    "EXISTS (SELECT 1 FROM tag WHERE tag.run_id = run.id AND instr(lower(tag.tag), ?2))) "
    "ORDER BY run.id DESC LIMIT ?3 OFFSET ?4";

Result<std::vector<std::string>> tagsOf(Connection& connection, RowId run) {
    PW_TRY(Statement query, connection.prepare("SELECT tag FROM tag WHERE run_id = ?1 ORDER BY tag"));
    query.bind(run);
    std::vector<std::string> tags;
    while (true) {
        PW_TRY(const bool row, query.step());
        if (!row)
            return tags;
        tags.push_back(query.text(0));
    }
}

Status insertSamples(Connection& connection, RowId run, std::span<const MetricSample> samples) {
    PW_TRY(Statement clear, connection.prepare("DELETE FROM metric WHERE run_id = ?1 AND step = ?2"));
    PW_TRY(Statement insert, connection.prepare("INSERT INTO metric (run_id, step, key, seconds, value) "
                                                "VALUES (?1, ?2, ?3, ?4, ?5)"));
    for (const MetricSample& sample : samples) {
        PW_CHECK(clear.bind(run).bind(sample.step).run());
        for (const auto& [key, value] : sample.values) {
            if (!std::isnan(value)) // why: SQLite has no NaN, it would become NULL
                PW_CHECK(insert.bind(run).bind(sample.step).bind(key).bind(sample.seconds).bind(value).run());
        }
    }
    return {};
}

} // namespace

Result<RowId> SqliteRepository::startRun(const RunSpec& spec, const std::string& name, RowId graphId,
                                         RowId deviceSetId) {
    return write([&](Connection& connection) -> Result<RowId> {
        PW_CHECK(checkExists(connection, "graph", graphId));
        PW_CHECK(checkExists(connection, "device_set", deviceSetId));
        PW_TRY(Statement insert,
               connection.prepare("INSERT INTO run (name, kind, method, spec, spec_hash, status, graph_id, "
                                  "device_set_id, started_at, owner_pid, owner_start, owner_boot) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8, ?9, ?10, ?11)"));
        PW_CHECK(insert.bind(name)
                     .bind(spec.kind)
                     .bind(spec.method)
                     .bind(spec.toJson())
                     .bind(spec.hash())
                     .bind(graphId)
                     .bind(deviceSetId)
                     .bind(unixTimeSeconds())
                     .bind(m_owner.pid)
                     .bind(m_owner.startTicks)
                     .bind(m_owner.boot)
                     .run());
        return connection.lastInsertId();
    });
}

Status SqliteRepository::addMetrics(RowId run, std::span<const MetricSample> samples) {
    double seconds = 0.0;
    std::int64_t steps = 0;
    std::int64_t evaluations = 0;
    for (const MetricSample& sample : samples) {
        seconds = std::max(seconds, sample.seconds);
        steps = std::max(steps, sample.step);
        if (const auto found = sample.values.find("evaluations"); found != sample.values.end())
            evaluations = std::max(evaluations, static_cast<std::int64_t>(found->second));
    }
    return write([&](Connection& connection) -> Status {
        PW_CHECK(checkExists(connection, "run", run));
        PW_CHECK(insertSamples(connection, run, samples));
        PW_TRY(Statement update,
               connection.prepare("UPDATE run SET seconds = max(seconds, ?2), steps = max(steps, ?3), "
                                  "evaluations = max(evaluations, ?4) WHERE id = ?1"));
        return update.bind(run).bind(seconds).bind(steps).bind(evaluations).run();
    });
}

Status SqliteRepository::setBestPlacement(RowId run, RowId placement) {
    return write([&](Connection& connection) -> Status {
        PW_CHECK(checkExists(connection, "run", run));
        PW_CHECK(checkExists(connection, "placement", placement));
        PW_TRY(Statement update, connection.prepare("UPDATE run SET best_placement_id = ?2 WHERE id = ?1"));
        return update.bind(run).bind(placement).run();
    });
}

Status SqliteRepository::addCheckpoint(RowId run, const CheckpointRecord& checkpoint) {
    return write([&](Connection& connection) -> Status {
        PW_CHECK(checkExists(connection, "run", run));
        PW_TRY(Statement insert, connection.prepare("INSERT OR REPLACE INTO checkpoint (run_id, step, created_at, bytes) "
                                                    "VALUES (?1, ?2, ?3, ?4)"));
        PW_CHECK(insert.bind(run).bind(checkpoint.step).bind(unixTimeSeconds()).bind(checkpoint.bytes).run());
        PW_TRY(Statement prune,
               connection.prepare("DELETE FROM checkpoint WHERE run_id = ?1 AND step NOT IN "
                                  "(SELECT step FROM checkpoint WHERE run_id = ?1 ORDER BY step DESC LIMIT 2)"));
        return prune.bind(run).run();
    });
}

Status SqliteRepository::setPolicy(RowId run, std::span<const std::uint8_t> policy) {
    return write([&](Connection& connection) -> Status {
        PW_CHECK(checkExists(connection, "run", run));
        PW_TRY(Statement insert,
               connection.prepare("INSERT OR REPLACE INTO policy (run_id, bytes) VALUES (?1, ?2)"));
        return insert.bind(run).bind(policy).run();
    });
}

Status SqliteRepository::finishRun(RowId run, RunStatus status, double seconds, std::int64_t evaluations,
                                   std::int64_t steps, const std::string& error) {
    return write([&](Connection& connection) -> Status {
        PW_TRY(Statement update, connection.prepare("UPDATE run SET status = ?2, seconds = ?3, evaluations = ?4, "
                                                    "steps = ?5, error = ?6 WHERE id = ?1"));
        PW_CHECK(update.bind(run)
                     .bind(runStatusName(status))
                     .bind(seconds)
                     .bind(evaluations)
                     .bind(steps)
                     .bind(error)
                     .run());
        return connection.changedRows() == 0 ? Status(missing("run", run)) : Status();
    });
}

Status SqliteRepository::reopenRun(RowId run, std::int64_t step) {
    return write([&](Connection& connection) -> Status {
        PW_CHECK(checkExists(connection, "run", run));
        for (const char* table : {"metric", "checkpoint"}) {
            PW_TRY(Statement drop, connection.prepare(std::string("DELETE FROM ") + table +
                                                      " WHERE run_id = ?1 AND step > ?2"));
            PW_CHECK(drop.bind(run).bind(step).run());
        }
        PW_TRY(Statement update,
               connection.prepare("UPDATE run SET status = 'running', error = '', steps = min(steps, ?2), "
                                  "seconds = coalesce((SELECT max(seconds) FROM metric WHERE run_id = ?1), 0), "
                                  "evaluations = coalesce((SELECT CAST(max(value) AS INTEGER) FROM metric "
                                  "WHERE run_id = ?1 AND key = 'evaluations'), 0), "
                                  "owner_pid = ?3, owner_start = ?4, owner_boot = ?5 WHERE id = ?1"));
        return update.bind(run).bind(step).bind(m_owner.pid).bind(m_owner.startTicks).bind(m_owner.boot).run();
    });
}

Status SqliteRepository::setSpec(RowId run, const RunSpec& spec) {
    return write([&](Connection& connection) -> Status {
        PW_TRY(Statement update, connection.prepare("UPDATE run SET kind = ?2, method = ?3, spec = ?4, spec_hash = ?5 "
                                                    "WHERE id = ?1"));
        PW_CHECK(update.bind(run).bind(spec.kind).bind(spec.method).bind(spec.toJson()).bind(spec.hash()).run());
        return connection.changedRows() == 0 ? Status(missing("run", run)) : Status();
    });
}

/// `strict`: an unreadable specification is an error; a list shows such a run with its method alone.
Result<RunRecord> SqliteRepository::runOf(Connection& connection, const Statement& row, bool strict) const {
    RunRecord record;
    record.id = row.integer(0);
    record.name = row.text(1);
    auto spec = RunSpec::fromJson(row.text(2));
    if (!spec && strict)
        return fail(ErrorCode::Parse, spec.error().toString(), "run " + std::to_string(record.id), m_path);
    if (spec) {
        record.spec = std::move(*spec);
    } else {
        record.spec.kind = row.text(18);
        record.spec.method = row.text(19);
        record.spec.graphName = row.text(20);
    }
    record.status = runStatusFromName(row.text(3)).value_or(RunStatus::Failed);
    const Owner owner{row.integer(15), row.integer(16), row.text(17)};
    if (record.status == RunStatus::Running && !isAlive(owner))
        record.status = RunStatus::Interrupted; // why: its program may have died while ours had the file open
    record.graphId = row.integer(4);
    record.deviceSetId = row.integer(5);
    record.startedAt = row.integer(6);
    record.seconds = row.real(7);
    record.evaluations = row.integer(8);
    record.steps = row.integer(9);
    if (!row.isNull(12)) {
        record.bestStepTimeUs = row.real(10);
        record.valid = row.integer(11) != 0;
        record.bestPlacementId = row.integer(12);
    }
    record.error = row.text(13);
    record.note = row.text(14);
    PW_TRY(record.tags, tagsOf(connection, record.id));
    return record;
}

Result<std::vector<RunRecord>> SqliteRepository::runs(const RunFilter& filter) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare(std::string(kRunColumns) + kRunFilter));
    query.bind(filter.graphId)
        .bind(text::toLower(filter.text))
        .bind(filter.limit ? static_cast<std::int64_t>(*filter.limit) : -1)
        .bind(static_cast<std::int64_t>(filter.offset.value_or(0)));
    std::vector<RunRecord> records;
    while (true) {
        PW_TRY(const bool row, query.step());
        if (!row)
            return records;
        PW_TRY(RunRecord record, runOf(*reader, query, false));
        records.push_back(std::move(record));
    }
}

Result<RunRecord> SqliteRepository::run(RowId id) const {
    PW_TRY(auto reader, m_readers.take());
    PW_TRY(Statement query, reader->prepare(std::string(kRunColumns) + "WHERE run.id = ?1"));
    PW_TRY(const bool found, query.bind(id).step());
    if (!found)
        return missing("run", id);
    return runOf(*reader, query, true);
}

Result<std::vector<MetricSample>> SqliteRepository::metrics(RowId run, std::int64_t fromStep) const {
    PW_TRY(auto reader, m_readers.take());
    PW_CHECK(checkExists(*reader, "run", run));
    PW_TRY(Statement query, reader->prepare("SELECT step, seconds, key, value FROM metric "
                                            "WHERE run_id = ?1 AND step >= ?2 ORDER BY step, key"));
    query.bind(run).bind(fromStep);
    std::vector<MetricSample> samples;
    while (true) {
        PW_TRY(const bool row, query.step());
        if (!row)
            return samples;
        const std::int64_t step = query.integer(0);
        if (samples.empty() || samples.back().step != step)
            samples.push_back({step, query.real(1), {}});
        samples.back().values.emplace_hint(samples.back().values.end(), query.text(2), query.real(3));
    }
}

Result<std::optional<CheckpointRecord>> SqliteRepository::lastCheckpoint(RowId run) const {
    PW_TRY(auto reader, m_readers.take());
    PW_CHECK(checkExists(*reader, "run", run));
    PW_TRY(Statement query,
           reader->prepare("SELECT step, bytes FROM checkpoint WHERE run_id = ?1 ORDER BY step DESC LIMIT 1"));
    PW_TRY(const bool found, query.bind(run).step());
    if (!found)
        return std::optional<CheckpointRecord>();
    return std::optional(CheckpointRecord{query.integer(0), query.blob(1)});
}

Result<std::vector<std::uint8_t>> SqliteRepository::policy(RowId run) const {
    PW_TRY(auto reader, m_readers.take());
    PW_CHECK(checkExists(*reader, "run", run));
    PW_TRY(Statement query, reader->prepare("SELECT bytes FROM policy WHERE run_id = ?1"));
    PW_TRY(const bool found, query.bind(run).step());
    if (!found)
        return missing("policy of run", run);
    return query.blob(0);
}

Status SqliteRepository::setTags(RowId run, const std::vector<std::string>& tags) {
    return write([&](Connection& connection) -> Status {
        PW_CHECK(checkExists(connection, "run", run));
        PW_TRY(Statement clear, connection.prepare("DELETE FROM tag WHERE run_id = ?1"));
        PW_CHECK(clear.bind(run).run());
        PW_TRY(Statement insert, connection.prepare("INSERT OR IGNORE INTO tag (run_id, tag) VALUES (?1, ?2)"));
        for (const auto& tag : tags)
            PW_CHECK(insert.bind(run).bind(tag).run());
        return {};
    });
}

Status SqliteRepository::setNote(RowId run, const std::string& note) {
    return write([&](Connection& connection) -> Status {
        PW_CHECK(checkExists(connection, "run", run));
        PW_TRY(Statement insert, connection.prepare("INSERT OR REPLACE INTO note (run_id, text) VALUES (?1, ?2)"));
        return insert.bind(run).bind(note).run();
    });
}

Status SqliteRepository::deleteRun(RowId run) {
    return write([&](Connection& connection) -> Status {
        PW_TRY(Statement drop, connection.prepare("DELETE FROM run WHERE id = ?1"));
        PW_CHECK(drop.bind(run).run());
        return connection.changedRows() == 0 ? Status(missing("run", run)) : Status();
    });
}

} // namespace pw::storage
