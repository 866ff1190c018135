-- Numbers that stand for words are the enumerators' own (task/task.h, task/event.h, ...): they are never renumbered.
-- Times are milliseconds since 1970; no time, no batch, no parent is NULL. `sum` seals the columns that are read back
-- (sqlite/seal.h), so that a damaged row is an error and never a wrong answer.

-- What is kept so that it need not be counted, and numbers that are never given twice. One row.
CREATE TABLE meta (
  one          INTEGER PRIMARY KEY CHECK (one = 1),
  store_id     TEXT    NOT NULL,            -- Chance: tells this database from another one that was put in its place.
  last_pos     INTEGER NOT NULL DEFAULT 0,  -- Of events and tombstones.
  last_task    INTEGER NOT NULL DEFAULT 0,
  last_session INTEGER NOT NULL DEFAULT 0,
  created_high INTEGER NOT NULL DEFAULT 0,  -- The latest created_at so far,
  clock_back   INTEGER NOT NULL DEFAULT 0,  -- and how far a later task's lay before it at most.
  pending      INTEGER NOT NULL DEFAULT 0,
  running      INTEGER NOT NULL DEFAULT 0,
  completed    INTEGER NOT NULL DEFAULT 0,
  failed       INTEGER NOT NULL DEFAULT 0,
  cancelled    INTEGER NOT NULL DEFAULT 0,
  resumed      INTEGER NOT NULL DEFAULT 0
);
INSERT INTO meta (one, store_id) VALUES (1, lower(hex(randomblob(16))));

-- What changes of a task, and what lists filter by. Rewritten with every commit, so what is long and fixed is not here.
CREATE TABLE tasks (
  n            INTEGER PRIMARY KEY,  -- In the order of their making, never used again: "newest first" is by n.
  id           TEXT    NOT NULL UNIQUE,
  agent        TEXT    NOT NULL,
  model        TEXT    NOT NULL,
  batch        TEXT,
  parent       TEXT,
  priority     INTEGER NOT NULL,
  over_limit   INTEGER NOT NULL,
  created_high INTEGER NOT NULL,            -- meta.created_high when it was made: goes up with n, whatever the clock did.
  owed         INTEGER NOT NULL DEFAULT 0,  -- Notices to a parent that are not taken yet: it does not expire before.
  state        INTEGER NOT NULL,
  phase        INTEGER NOT NULL,
  expires_at   INTEGER,
  version      INTEGER NOT NULL,
  last_seq     INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  queued_at    INTEGER NOT NULL,
  started_at   INTEGER,
  completed_at INTEGER,
  retrieved_at INTEGER,
  reason       TEXT    NOT NULL,
  flags        INTEGER NOT NULL,  -- 1 stopping, 2 interrupting, 4 is_forked.
  turn         INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  run          INTEGER NOT NULL,
  restarts     INTEGER NOT NULL,
  resume_count INTEGER NOT NULL,
  exit_code    INTEGER,
  signal       INTEGER,
  driver_session TEXT  NOT NULL,
  checkpoint   TEXT    NOT NULL,
  asks         TEXT,  -- JSON, and the three below; NULL where there is nothing to say.
  waiting      TEXT,
  progress     TEXT,
  error        TEXT,
  result_sum   INTEGER,  -- Seals results.result.
  sum          INTEGER NOT NULL
);
CREATE INDEX tasks_state   ON tasks (state);
CREATE INDEX tasks_agent   ON tasks (agent);
CREATE INDEX tasks_updated ON tasks (updated_at);
CREATE INDEX tasks_phase   ON tasks (phase) WHERE phase < 2;
CREATE INDEX tasks_batch   ON tasks (batch) WHERE batch IS NOT NULL;
CREATE INDEX tasks_parent  ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_expiry  ON tasks (expires_at) WHERE expires_at IS NOT NULL AND owed = 0;

-- What is fixed when a task is made.
CREATE TABLE launches (
  n          INTEGER PRIMARY KEY,
  session    TEXT    NOT NULL,
  title      TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  launch     TEXT    NOT NULL,  -- JSON.
  sum        INTEGER NOT NULL
);

-- `r` goes up with every result that is stored: the search index reads on from the last one it has.
CREATE TABLE results (
  r      INTEGER PRIMARY KEY AUTOINCREMENT,
  n      INTEGER NOT NULL UNIQUE,
  result TEXT    NOT NULL
);

CREATE TABLE labels (
  key   TEXT    NOT NULL,
  value TEXT    NOT NULL,
  n     INTEGER NOT NULL,
  PRIMARY KEY (key, value, n)
) WITHOUT ROWID;

CREATE TABLE batches (
  id        TEXT    PRIMARY KEY,
  pending   INTEGER NOT NULL,
  running   INTEGER NOT NULL,
  completed INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  resumed   INTEGER NOT NULL
) WITHOUT ROWID;

-- Appended in commit order. A rowid table with an index writes twice as fast as one clustered by (task, seq).
CREATE TABLE events (
  pos  INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  seq  INTEGER NOT NULL,
  type INTEGER NOT NULL,
  at   INTEGER NOT NULL,
  data TEXT    NOT NULL,
  sum  INTEGER NOT NULL
);
CREATE UNIQUE INDEX events_task ON events (task, seq);

CREATE TABLE tombstones (
  pos    INTEGER PRIMARY KEY,
  task   TEXT    NOT NULL UNIQUE,
  parent TEXT,
  why    INTEGER NOT NULL,
  at     INTEGER NOT NULL
);

CREATE TABLE sessions (
  n            INTEGER PRIMARY KEY,
  id           TEXT    NOT NULL UNIQUE,
  task         TEXT,
  origin       TEXT    NOT NULL,
  title        TEXT    NOT NULL,
  created_at   INTEGER NOT NULL,
  last_message INTEGER NOT NULL,
  last_notice  INTEGER NOT NULL
);

-- `m` is session * 2^20 + seq: a session's messages lie together and need no second index.
CREATE TABLE messages (
  m            INTEGER PRIMARY KEY,
  id           TEXT    NOT NULL UNIQUE,
  role         INTEGER NOT NULL,
  turn         INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  completed_at INTEGER,
  interrupted  INTEGER NOT NULL,
  from_seq     INTEGER NOT NULL,  -- The task's events that belong to it: (from_seq, to_seq]; 0: still open.
  to_seq       INTEGER NOT NULL,
  parts        TEXT    NOT NULL,  -- JSON.
  sum          INTEGER NOT NULL
);

CREATE TABLE notices (
  r          INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL UNIQUE,
  session    TEXT,
  seq        INTEGER NOT NULL,
  task       TEXT    NOT NULL,
  turn       INTEGER NOT NULL,
  kind       INTEGER NOT NULL,
  text       TEXT    NOT NULL,
  data       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  taken_at   INTEGER
);
CREATE INDEX notices_session ON notices (session, seq) WHERE session IS NOT NULL;
CREATE INDEX notices_task ON notices (task);

CREATE TABLE keys (
  key         TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  task        TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  json TEXT NOT NULL
) WITHOUT ROWID;

-- Events and messages of tasks and sessions that are gone and had too many to delete in one step: nobody sees them any
-- more, and the writer removes them bit by bit.
CREATE TABLE garbage (
  g       INTEGER PRIMARY KEY,
  task    INTEGER,  -- Whose events; or:
  session INTEGER   -- whose messages.
);
