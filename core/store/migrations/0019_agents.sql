-- Version 19: the agents on other hosts, and the tokens with which they join.
CREATE TABLE agents (
  name      TEXT    NOT NULL PRIMARY KEY,
  key       BLOB    NOT NULL UNIQUE,                  -- the SHA-256 of its public key
  version   TEXT    NOT NULL,                         -- that it had last
  creator   TEXT    NOT NULL,                         -- who made its token
  joined_at INTEGER NOT NULL,
  seen_at   INTEGER NOT NULL                          -- 0 when it was never connected
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_tokens (
  id         TEXT    NOT NULL PRIMARY KEY,
  hash       BLOB    NOT NULL,                        -- the SHA-256 of its secret
  name       TEXT    NOT NULL,                        -- of the agent; empty leaves it to that
  creator    TEXT    NOT NULL,
  expires_at INTEGER NOT NULL,
  used_by    BLOB                                     -- the key of the agent that has used it
) STRICT, WITHOUT ROWID;
