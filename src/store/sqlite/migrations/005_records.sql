-- What people keep of their tasks: flags has 8 pinned, 16 archived, 32 renamed. Few tasks have one of them, so the indexes are
-- small and most commits do not touch them.
CREATE INDEX tasks_pinned   ON tasks (n) WHERE flags & 8;
CREATE INDEX tasks_archived ON tasks (n) WHERE flags & 16;
-- The search index has the title of the launch: those that were given another one are looked through by a search itself.
CREATE INDEX tasks_renamed  ON tasks (n) WHERE flags & 32;

-- One row a call of a model. It stays when its task is removed, and has nothing of the task's content.
CREATE TABLE usage (
  u           INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  task        TEXT    NOT NULL,
  turn        INTEGER NOT NULL,
  provider    TEXT    NOT NULL,
  model       TEXT    NOT NULL,
  agent       TEXT    NOT NULL,
  folder      TEXT    NOT NULL,
  input       INTEGER NOT NULL,
  output      INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost        INTEGER,            -- In billionths of a dollar; NULL: not known.
  source      INTEGER NOT NULL,
  priced_at   TEXT    NOT NULL,
  sum         INTEGER NOT NULL
);
CREATE INDEX usage_at ON usage (at);
