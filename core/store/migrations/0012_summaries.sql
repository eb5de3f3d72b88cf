-- Version 12: until when the summaries of triggers have come.
CREATE TABLE summaries (
  trigger TEXT NOT NULL PRIMARY KEY,
  due     INTEGER NOT NULL,                           -- when the last one was due
  event   INTEGER NOT NULL                            -- the last event that it took into account
) STRICT, WITHOUT ROWID;
