-- Version 13: how many requests were made to hosts, for what they allow in a time.
CREATE TABLE requests (
  host TEXT NOT NULL PRIMARY KEY,
  doc  TEXT NOT NULL                                  -- budget.Saved
) STRICT, WITHOUT ROWID;
