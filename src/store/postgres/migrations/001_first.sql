-- Every number is a bigint and every text a bytea (values.h). Numbers that stand for words are the enumerators' own
-- (task/task.h, task/event.h, ...): they are never renumbered. Times are milliseconds since 1970; no time, no batch, no
-- parent is NULL. What guards against damage is PostgreSQL's own: `initdb --data-checksums`.

-- What is kept so that it need not be counted, and numbers that are never given twice. One row, which every transaction
-- that writes locks first: so positions have no gaps and readers never see a later one before an earlier one.
CREATE TABLE meta (
  one           bigint PRIMARY KEY CHECK (one = 1),
  schema        bigint NOT NULL,
  last_pos      bigint NOT NULL DEFAULT 0,  -- Of events and tombstones.
  last_task     bigint NOT NULL DEFAULT 0,
  last_session  bigint NOT NULL DEFAULT 0,
  forgotten_pos bigint NOT NULL DEFAULT 0,  -- Tombstones up to here are gone.
  pending       bigint NOT NULL DEFAULT 0,
  running       bigint NOT NULL DEFAULT 0,
  completed     bigint NOT NULL DEFAULT 0,
  failed        bigint NOT NULL DEFAULT 0,
  cancelled     bigint NOT NULL DEFAULT 0,
  resumed       bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);
INSERT INTO meta (one, schema) VALUES (1, 0);

-- Who writes. `commits` goes up with each transaction: after a lost connection it tells whether the last one was stored.
-- Whoever takes the database over deletes the row, and what its server sends afterwards is refused.
CREATE TABLE servers (
  id      bytea  PRIMARY KEY,  -- New at every start.
  place   bytea  NOT NULL,     -- The data folder's own: its next start may take over at once.
  host    bytea  NOT NULL,
  pid     bigint NOT NULL,
  beat    bigint NOT NULL,     -- When it was last heard, by this database's clock.
  commits bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

-- What changes of a task, and what lists filter by.
CREATE TABLE tasks (
  n              bigint PRIMARY KEY,  -- In the order of their making, never used again: "newest first" is by n.
  id             bytea  NOT NULL UNIQUE,
  session        bytea  NOT NULL,
  created_at     bigint NOT NULL,
  agent          bytea  NOT NULL,
  model          bytea  NOT NULL,
  batch          bytea,
  parent         bytea,
  priority       bigint NOT NULL,
  over_limit     bigint NOT NULL,
  owed           bigint NOT NULL DEFAULT 0,  -- Notices to a parent that are not taken yet: it does not expire before.
  state          bigint NOT NULL,
  phase          bigint NOT NULL,
  band           bigint NOT NULL,  -- Where it stands in a list for people (band_of).
  waits_for      bigint,           -- What `waiting_for` shows: 0 and up an AskKind, 16 and up a WaitKind.
  expires_at     bigint,
  version        bigint NOT NULL,
  last_seq       bigint NOT NULL,
  updated_at     bigint NOT NULL,
  queued_at      bigint NOT NULL,
  started_at     bigint,
  completed_at   bigint,
  retrieved_at   bigint,
  reason         bytea  NOT NULL,
  flags          bigint NOT NULL,  -- 1 stopping, 2 interrupting, 4 is_forked, 8 pinned, 16 archived, 32 renamed.
  turn           bigint NOT NULL,
  attempt        bigint NOT NULL,
  run            bigint NOT NULL,
  restarts       bigint NOT NULL,
  resume_count   bigint NOT NULL,
  exit_code      bigint,
  signal         bigint,
  driver_session bytea  NOT NULL,
  checkpoint     bytea  NOT NULL,
  asks           bytea,  -- JSON, and the three below; NULL where there is nothing to say.
  waiting        bytea,
  progress       bytea,
  error          bytea,
  result_sum     bigint  -- A hash of results.result: whether it has to be written again.
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX tasks_state    ON tasks (state, n);
CREATE INDEX tasks_band     ON tasks (band, n DESC);
CREATE INDEX tasks_agent    ON tasks (agent, n);
CREATE INDEX tasks_updated  ON tasks (updated_at, n);
CREATE INDEX tasks_created  ON tasks (created_at);
CREATE INDEX tasks_phase    ON tasks (phase, n) WHERE phase < 2;
CREATE INDEX tasks_batch    ON tasks (batch, n) WHERE batch IS NOT NULL;
CREATE INDEX tasks_parent   ON tasks (parent, n) WHERE parent IS NOT NULL;
CREATE INDEX tasks_expiry   ON tasks (expires_at, n) WHERE expires_at IS NOT NULL AND owed = 0;
CREATE INDEX tasks_waits    ON tasks (waits_for, n) WHERE waits_for IS NOT NULL;
CREATE INDEX tasks_unseen   ON tasks (n) WHERE state = 3 AND retrieved_at IS NULL;
CREATE INDEX tasks_pinned   ON tasks (n) WHERE (flags & 8) <> 0;
CREATE INDEX tasks_archived ON tasks (n) WHERE (flags & 16) <> 0;

-- What is fixed when a task is made, but for an edit.
CREATE TABLE launches (
  n      bigint PRIMARY KEY,
  title  bytea  NOT NULL,
  launch bytea  NOT NULL  -- JSON.
);

CREATE TABLE results (
  n      bigint PRIMARY KEY,
  result bytea  NOT NULL
);

CREATE TABLE labels (
  key   bytea  NOT NULL,
  value bytea  NOT NULL,
  n     bigint NOT NULL,
  PRIMARY KEY (n, key)
);
CREATE INDEX labels_value ON labels (key, value, n);

CREATE TABLE batches (
  id        bytea  PRIMARY KEY,
  pending   bigint NOT NULL,
  running   bigint NOT NULL,
  completed bigint NOT NULL,
  failed    bigint NOT NULL,
  cancelled bigint NOT NULL,
  resumed   bigint NOT NULL
);

CREATE TABLE events (
  pos  bigint PRIMARY KEY,
  task bigint NOT NULL,
  seq  bigint NOT NULL,
  type bigint NOT NULL,
  at   bigint NOT NULL,
  data bytea  NOT NULL
);
CREATE UNIQUE INDEX events_task ON events (task, seq);

CREATE TABLE tombstones (
  pos    bigint PRIMARY KEY,
  task   bytea  NOT NULL UNIQUE,
  parent bytea,
  why    bigint NOT NULL,
  at     bigint NOT NULL
);

CREATE TABLE sessions (
  n            bigint PRIMARY KEY,
  id           bytea  NOT NULL UNIQUE,
  task         bytea,
  origin       bytea  NOT NULL,
  title        bytea  NOT NULL,
  created_at   bigint NOT NULL,
  last_message bigint NOT NULL,
  last_notice  bigint NOT NULL
);

CREATE TABLE messages (
  session      bigint NOT NULL,
  seq          bigint NOT NULL,
  id           bytea  NOT NULL UNIQUE,
  role         bigint NOT NULL,
  turn         bigint NOT NULL,
  created_at   bigint NOT NULL,
  completed_at bigint,
  interrupted  bigint NOT NULL,
  from_seq     bigint NOT NULL,  -- The task's events that belong to it: (from_seq, to_seq]; 0: still open.
  to_seq       bigint NOT NULL,
  parts        bytea  NOT NULL,  -- JSON.
  PRIMARY KEY (session, seq)
);

CREATE TABLE notices (
  id         bytea  PRIMARY KEY,
  session    bytea,
  seq        bigint NOT NULL,
  task       bytea  NOT NULL,
  turn       bigint NOT NULL,
  kind       bigint NOT NULL,
  text       bytea  NOT NULL,
  data       bytea  NOT NULL,
  created_at bigint NOT NULL,
  taken_at   bigint
);
CREATE INDEX notices_session ON notices (session, seq) WHERE session IS NOT NULL;
CREATE INDEX notices_task ON notices (task);

CREATE TABLE keys (
  key         bytea PRIMARY KEY,
  fingerprint bytea NOT NULL,
  task        bytea NOT NULL
);
CREATE INDEX keys_task ON keys (task);

CREATE TABLE settings (
  name bytea PRIMARY KEY,
  json bytea NOT NULL
);

-- One row a call of a model. It stays when its task is removed, and has nothing of the task's content.
CREATE TABLE usage (
  u           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at          bigint NOT NULL,
  task        bytea  NOT NULL,
  turn        bigint NOT NULL,
  provider    bytea  NOT NULL,
  model       bytea  NOT NULL,
  agent       bytea  NOT NULL,
  folder      bytea  NOT NULL,
  input       bigint NOT NULL,
  output      bigint NOT NULL,
  cache_read  bigint NOT NULL,
  cache_write bigint NOT NULL,
  cost        bigint,            -- In billionths of a dollar; NULL: not known.
  source      bigint NOT NULL,
  priced_at   bytea  NOT NULL
);
CREATE INDEX usage_at ON usage (at, u);

-- The search index: the grams of a task's texts (store/search_text.h). It is filled behind the commits; a search looks
-- through the tasks of `unindexed` itself. `version` tells whether a task has changed since it was read.
CREATE TABLE searched (
  n     bigint PRIMARY KEY,
  grams bytea[] NOT NULL
);
CREATE INDEX searched_grams ON searched USING gin (grams);
CREATE TABLE unindexed (
  n       bigint PRIMARY KEY,
  version bigint NOT NULL
);

-- Events and messages of tasks and sessions that are gone and had too many to delete in one step: nobody sees them any
-- more, and the housekeeper removes them bit by bit.
CREATE TABLE garbage (
  g       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task    bigint,  -- Whose events; or:
  session bigint   -- whose messages.
);
