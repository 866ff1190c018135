-- Tasks that ask a person something are found without a look at the others. `asks` is NULL but for tasks at work that asked
-- in this turn, so the index is small and most commits do not touch it.
CREATE INDEX tasks_asks ON tasks (n) WHERE asks IS NOT NULL;
