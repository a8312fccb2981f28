#include "storage/schema.h"

namespace pw::storage {

namespace {

// Documented for people in README.md; keep both alike.
// why no STRICT tables: Python's sqlite3 on older systems could not open the file.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE graph (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  ops INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  json TEXT NOT NULL
);
CREATE TABLE device_set (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  devices INTEGER NOT NULL,
  json TEXT NOT NULL
);
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  method TEXT NOT NULL,
  spec TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'stopped', 'failed', 'interrupted')),
  graph_id INTEGER NOT NULL REFERENCES graph(id),
  device_set_id INTEGER NOT NULL REFERENCES device_set(id),
  started_at INTEGER NOT NULL,
  seconds REAL NOT NULL DEFAULT 0,
  evaluations INTEGER NOT NULL DEFAULT 0,
  steps INTEGER NOT NULL DEFAULT 0,
  best_placement_id INTEGER REFERENCES placement(id) ON DELETE SET NULL,
  error TEXT NOT NULL DEFAULT '',
  owner_pid INTEGER NOT NULL DEFAULT 0,
  owner_start INTEGER NOT NULL DEFAULT 0,
  owner_boot TEXT NOT NULL DEFAULT ''
);
CREATE INDEX run_graph ON run(graph_id);
CREATE TABLE metric (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  key TEXT NOT NULL,
  seconds REAL NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (run_id, step, key)
) WITHOUT ROWID;
CREATE TABLE placement (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER REFERENCES run(id) ON DELETE CASCADE,
  graph_id INTEGER NOT NULL REFERENCES graph(id),
  device_set_id INTEGER NOT NULL REFERENCES device_set(id),
  name TEXT NOT NULL,
  method TEXT NOT NULL,
  step_time_us REAL NOT NULL,
  valid INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  devices BLOB NOT NULL
);
CREATE INDEX placement_run ON placement(run_id);
CREATE INDEX placement_graph ON placement(graph_id);
CREATE TABLE checkpoint (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (run_id, step)
);
CREATE TABLE policy (
  run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  bytes BLOB NOT NULL
);
CREATE TABLE tag (
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run_id, tag)
) WITHOUT ROWID;
CREATE TABLE note (
  run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  text TEXT NOT NULL
);
CREATE TABLE layout (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
CREATE VIEW run_summary AS
SELECT run.id, run.name, run.kind, run.method, run.status,
       graph.name AS graph, graph.ops, device_set.name AS devices,
       json_extract(run.spec, '$.sim_model') AS sim_model, json_extract(run.spec, '$.seed') AS seed,
       run.started_at, run.seconds, run.evaluations, run.steps,
       placement.step_time_us AS best_step_time_us, coalesce(placement.valid, 0) AS valid,
       (SELECT group_concat(tag, ',') FROM tag WHERE tag.run_id = run.id) AS tags,
       note.text AS note, run.error, run.spec_hash
FROM run
JOIN graph ON graph.id = run.graph_id
JOIN device_set ON device_set.id = run.device_set_id
LEFT JOIN placement ON placement.id = run.best_placement_id
LEFT JOIN note ON note.run_id = run.id;
CREATE VIEW best_placement AS
SELECT run.id AS run_id, run.name AS run, run.method, graph.name AS graph, device_set.name AS device_set,
       placement.id AS placement_id, placement.step_time_us, placement.valid, placement.created_at, placement.devices
FROM run
JOIN placement ON placement.id = run.best_placement_id
JOIN graph ON graph.id = placement.graph_id
JOIN device_set ON device_set.id = placement.device_set_id;
)sql";

constexpr Migration kMigrations[] = {{1, kVersion1}};

} // namespace

std::span<const Migration> migrations() {
    return kMigrations;
}

Status checkSchema(Connection& connection, std::span<const Migration> steps) {
    PW_TRY(const std::int64_t tables, connection.queryInteger("SELECT count(*) FROM sqlite_master"));
    PW_TRY(const std::int64_t application, connection.queryInteger("PRAGMA application_id"));
    PW_TRY(const std::int64_t version, connection.queryInteger("PRAGMA user_version"));
    if (tables == 0 && application == 0 && version == 0)
        return {};
    if (application != kApplicationId)
        return fail(ErrorCode::Parse, "is an SQLite database of another program", {}, connection.path());
    if (version > schemaVersion(steps)) {
        return fail(ErrorCode::Unsupported,
                    "was written by a newer Placewright (project version " + std::to_string(version) +
                        ", this program knows up to " + std::to_string(schemaVersion(steps)) + ")",
                    {}, connection.path());
    }
    return {};
}

Status migrate(Connection& connection, std::span<const Migration> steps) {
    for (const Migration& step : steps) {
        PW_TRY(const std::int64_t before, connection.queryInteger("PRAGMA user_version"));
        if (before >= step.version)
            continue;
        PW_TRY(Transaction transaction, Transaction::begin(connection));
        // why again: another program may have migrated while this one waited for the lock
        PW_TRY(const std::int64_t version, connection.queryInteger("PRAGMA user_version"));
        if (version >= step.version)
            continue;
        PW_CHECK(connection.execute(step.sql));
        PW_CHECK(connection.execute("PRAGMA user_version = " + std::to_string(step.version)));
        PW_CHECK(connection.execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
        PW_CHECK(transaction.commit());
    }
    return {};
}

} // namespace pw::storage
