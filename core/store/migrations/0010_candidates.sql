-- Version 10: the newer versions that the last check found for a container, by which its update is decided again.
CREATE TABLE candidates (
  subject TEXT NOT NULL PRIMARY KEY,                  -- watcher/name: a recreated container keeps them
  doc     TEXT NOT NULL CHECK (json_valid(doc))
) STRICT, WITHOUT ROWID;
