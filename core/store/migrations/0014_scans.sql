-- Version 13: what scanners found in images, and how the images of updates compare.
CREATE TABLE scans (
  image      TEXT NOT NULL PRIMARY KEY,               -- its digest and platform
  scanned_at INTEGER NOT NULL,
  body       BLOB NOT NULL                            -- the report, as bodies of the registry cache are stored
) STRICT, WITHOUT ROWID;
CREATE TABLE comparisons (
  images      TEXT NOT NULL PRIMARY KEY,              -- repository, platform, digest and new version
  compared_at INTEGER NOT NULL,
  doc         TEXT NOT NULL CHECK (json_valid(doc))
) STRICT, WITHOUT ROWID;
