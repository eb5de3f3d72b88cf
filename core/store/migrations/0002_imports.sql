-- What other programs had stored is imported once.
CREATE TABLE imports (
  source      TEXT NOT NULL PRIMARY KEY,              -- "wud.json"
  imported_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A store that is in use already has nothing to learn from them.
INSERT INTO imports (source, imported_at) SELECT 'wud.json', at FROM events ORDER BY id LIMIT 1;

-- The updates that they had told people of; see delivery.Told.
CREATE TABLE told (
  id        INTEGER PRIMARY KEY,
  container TEXT NOT NULL,
  subject   TEXT NOT NULL,
  tag       TEXT NOT NULL,
  remote    TEXT NOT NULL,
  told_at   INTEGER NOT NULL
) STRICT;
