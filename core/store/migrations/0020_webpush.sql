-- Version 20: the browsers that users have subscribed for Web Push, and the key that signs messages to them.
CREATE TABLE webpush_key (
  id  INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  key BLOB    NOT NULL                                -- the private key for VAPID: a scalar of P-256
) STRICT;

CREATE TABLE webpush_devices (
  id         TEXT    NOT NULL PRIMARY KEY,            -- a hash of the endpoint
  user       TEXT    NOT NULL,                        -- who subscribed it
  name       TEXT    NOT NULL,                        -- browser and system, as the browser named them
  endpoint   TEXT    NOT NULL,
  p256dh     TEXT    NOT NULL,
  auth       TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  sent_at    INTEGER NOT NULL DEFAULT 0,              -- of the last message that its push service took; 0 for none
  error      TEXT    NOT NULL DEFAULT ''              -- of the last message, if its push service did not take it
) STRICT, WITHOUT ROWID;

CREATE TABLE webpush_sent (
  delivery TEXT    NOT NULL,                          -- the idempotency key of a message
  device   TEXT    NOT NULL,
  sent_at  INTEGER NOT NULL,
  PRIMARY KEY (delivery, device)
) STRICT, WITHOUT ROWID;
