-- Version 18: the images of plans that were shown, so that a request to update can name one of them.
CREATE TABLE planned (
  subject    TEXT NOT NULL,                           -- the container, as watcher/name
  reference  TEXT NOT NULL,                           -- the image with its tag
  digest     TEXT NOT NULL,                           -- what the registry said the tag is
  planned_at INTEGER NOT NULL,
  PRIMARY KEY (subject, reference, digest)
) STRICT, WITHOUT ROWID;
