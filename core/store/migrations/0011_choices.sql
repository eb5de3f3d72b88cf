-- Version 11: what users decided about updates.
CREATE TABLE choices (
  subject   TEXT NOT NULL,                            -- watcher/name: a recreated container keeps them
  version   TEXT NOT NULL,                            -- the tag or the digest; '' for all versions
  offer     TEXT NOT NULL,                            -- the text form of the update.Key; '' for all versions
  kind      TEXT NOT NULL CHECK (kind IN ('skip', 'snooze', 'approve')),
  until     INTEGER NOT NULL,                         -- 0: no end of its own
  actor     TEXT NOT NULL,
  chosen_at INTEGER NOT NULL,
  PRIMARY KEY (subject, version)
) STRICT, WITHOUT ROWID;
