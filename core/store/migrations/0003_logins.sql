-- Who is logged in. A session or token is kept as the SHA-256 of the secret that its holder has.
CREATE TABLE sessions (
  hash       BLOB NOT NULL PRIMARY KEY,
  user       TEXT NOT NULL,
  provider   TEXT NOT NULL,                           -- "basic.ana": the way in which the user logged in
  stamp      BLOB NOT NULL,                           -- of the provider's settings: other settings end the session
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (provider, user, created_at);

CREATE TABLE tokens (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,       -- never given out twice: the log of events names it
  name       TEXT NOT NULL,
  hash       BLOB NOT NULL UNIQUE,
  scope      TEXT NOT NULL CHECK (scope IN ('read', 'write')),
  creator    TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,                        -- 0: never
  used_at    INTEGER NOT NULL
) STRICT;
