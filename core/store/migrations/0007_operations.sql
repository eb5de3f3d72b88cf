-- Version 7: what is carried out on containers, and the steps of each.
CREATE TABLE operations (
  id         TEXT NOT NULL PRIMARY KEY,               -- sorts by the time of creation
  kind       TEXT NOT NULL CHECK (kind IN ('update', 'rollback')),
  watcher    TEXT NOT NULL,
  name       TEXT NOT NULL,
  offer      TEXT NOT NULL,                           -- the text form of the update.Key; '' for a rollback
  state      TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'rolled-back', 'failed', 'cancelled')),
  updated_at INTEGER NOT NULL,
  doc        TEXT NOT NULL CHECK (json_valid(doc))    -- the operation without its steps
) STRICT, WITHOUT ROWID;
-- A container never has two that have not ended.
CREATE UNIQUE INDEX operations_open ON operations (watcher, name) WHERE state IN ('queued', 'running');
CREATE INDEX operations_container ON operations (watcher, name, id);

CREATE TABLE operation_steps (
  operation TEXT NOT NULL REFERENCES operations (id),
  number    INTEGER NOT NULL,                         -- from 0, in the order in which they began
  doc       TEXT NOT NULL CHECK (json_valid(doc)),
  PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID;
