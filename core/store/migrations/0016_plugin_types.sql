-- Version 16: which plugin holds a type, and what plugins said of themselves.
CREATE TABLE type_owners (
  type   TEXT NOT NULL PRIMARY KEY,                   -- as "trigger.lamp"
  bundle TEXT NOT NULL,                               -- name of its file
  key    TEXT NOT NULL                                -- of its publisher; empty when it is not signed
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_descriptions (
  sha256  BLOB NOT NULL PRIMARY KEY,                  -- of the file
  build   TEXT NOT NULL,                              -- of the Dogwatch that it was described to
  said_at INTEGER NOT NULL,
  doc     BLOB NOT NULL
) STRICT, WITHOUT ROWID;
