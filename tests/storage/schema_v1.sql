-- A project as version 1 writes it, with one run. Never edited: it stands for the files that people have.
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
INSERT INTO graph VALUES (1, 'old', 'cafe', 'old.json', 2, 1700000000,
  '{"format": "placewright-graph", "version": 1, "name": "old", "ops": [{"name": "a", "type": "MatMul", "cost_us": 1, "outputs": [{"bytes": 4}]}, {"name": "b", "type": "Relu", "inputs": ["a"], "cost_us": 2}]}');
INSERT INTO device_set VALUES (1, 'old pair', 'beef', 2,
  '{"format": "placewright-devices", "version": 1, "name": "old pair", "devices": [{"name": "gpu:0", "kind": "gpu", "memory_bytes": 1000, "flops_per_us": 1.0, "bytes_per_us": 1.0, "launch_us": 0}, {"name": "gpu:1", "kind": "gpu", "memory_bytes": 1000, "flops_per_us": 1.0, "bytes_per_us": 1.0, "launch_us": 0}], "links": [{"from": "gpu:0", "to": "gpu:1", "bytes_per_us": 1.0, "latency_us": 0}]}');
INSERT INTO run (id, name, kind, method, spec, spec_hash, status, graph_id, device_set_id, started_at, seconds, evaluations,
  steps, owner_pid, owner_start, owner_boot)
VALUES (1, 'old run', 'train', 'placeto', '{"kind": "train", "method": "placeto", "seed": 9}', 'f00d', 'running', 1, 1,
  1700000000, 2.5, 20, 2, 1234, 5678, 'a boot of long ago');
INSERT INTO placement VALUES (1, 1, 1, 1, 'placeto', 'placeto', 4.5, 1, 1700000001, x'00000100');
UPDATE run SET best_placement_id = 1;
INSERT INTO metric VALUES (1, 1, 'reward', 0.5, -1.0), (1, 2, 'reward', 1.0, 0.25);
INSERT INTO checkpoint VALUES (1, 2, 1700000002, x'0102');
INSERT INTO tag VALUES (1, 'paper');
PRAGMA user_version = 1;
PRAGMA application_id = 1347899466;
