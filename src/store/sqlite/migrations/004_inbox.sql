-- Failed tasks whose result nobody has read yet are what needs a person: they are found without a look at the others. 3 is `failed`.
CREATE INDEX tasks_unseen ON tasks (n) WHERE state = 3 AND retrieved_at IS NULL;
