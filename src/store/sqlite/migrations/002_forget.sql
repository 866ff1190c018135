-- Marks of what went are forgotten some day (Commit::forget), and an idempotency key goes with the mark of its task.
CREATE INDEX keys_task ON keys (task);
-- Tombstones up to here are gone: a reader that stands before it cannot be told what went, and begins anew.
ALTER TABLE meta ADD COLUMN forgotten_pos INTEGER NOT NULL DEFAULT 0;
