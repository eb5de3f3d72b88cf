-- Times are Unix milliseconds, 0 when not known.

-- What reads and filters need is kept in memory; only identity has columns of its own.
CREATE TABLE containers (
  id         TEXT NOT NULL PRIMARY KEY,
  watcher    TEXT NOT NULL,
  name       TEXT NOT NULL,
  first_seen INTEGER NOT NULL,
  checked_at INTEGER NOT NULL,                        -- check.at, which doc leaves out: it moves with every check
  repos      TEXT NOT NULL CHECK (json_valid(repos)), -- the engine's repository digests, which the API form leaves out
  doc        TEXT NOT NULL CHECK (json_valid(doc)),   -- the container as the API shows it
  UNIQUE (watcher, name)
) STRICT;

CREATE TABLE events (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,          -- never given out twice, whatever is pruned
  at      INTEGER NOT NULL,
  type    TEXT NOT NULL,
  subject TEXT NOT NULL,
  run     TEXT NOT NULL,
  doc     TEXT NOT NULL CHECK (json_valid(doc))
) STRICT;

CREATE TABLE cursors (
  reader TEXT NOT NULL PRIMARY KEY,
  event  INTEGER NOT NULL                             -- the last event it has dealt with
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  trigger     TEXT NOT NULL,
  subject     TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  event       INTEGER NOT NULL,
  run         TEXT NOT NULL,
  batch       INTEGER NOT NULL,
  containers  TEXT NOT NULL CHECK (json_valid(containers)),
  state       TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'failed', 'skipped')),
  attempts    INTEGER NOT NULL,
  next_at     INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  error       TEXT NOT NULL,
  payload     BLOB NOT NULL,                          -- emptied once nothing can be sent from it again
  UNIQUE (trigger, subject, fingerprint)              -- what has been planned is not planned twice
) STRICT;
CREATE INDEX deliveries_due ON deliveries (trigger, next_at, id) WHERE state = 'pending';
CREATE INDEX deliveries_sending ON deliveries (id) WHERE state = 'sending';

CREATE TABLE plugins (
  name       TEXT NOT NULL PRIMARY KEY,
  sha256     BLOB NOT NULL,
  trusted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE registry_cache (
  key       TEXT NOT NULL PRIMARY KEY,
  validator TEXT NOT NULL,
  used_at   INTEGER NOT NULL,
  size      INTEGER NOT NULL,                         -- bytes of body as stored
  body      BLOB NOT NULL
) STRICT;
CREATE INDEX registry_cache_used ON registry_cache (used_at, size);
