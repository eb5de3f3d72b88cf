-- Version 9: the signed links of messages. One key signs them all; those that were used are remembered until they expire.
CREATE TABLE link_key (
  id  INTEGER PRIMARY KEY CHECK (id = 1),
  key BLOB NOT NULL
) STRICT;

CREATE TABLE link_generations (
  trigger    TEXT NOT NULL PRIMARY KEY,               -- '' for all triggers
  generation INTEGER NOT NULL                         -- how often links were revoked
) STRICT, WITHOUT ROWID;

CREATE TABLE links_used (
  nonce      BLOB NOT NULL PRIMARY KEY,
  trigger    TEXT NOT NULL,
  action     TEXT NOT NULL,
  used_at    INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX links_used_expiry ON links_used (expires_at);
