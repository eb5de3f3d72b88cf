-- Version 15: repositories that webhooks have said to be pushed to, until they are checked.
CREATE TABLE pushed (
  host    TEXT    NOT NULL,                           -- empty when the delivery did not say it
  name    TEXT    NOT NULL,
  project INTEGER NOT NULL CHECK (project IN (0, 1)), -- whether all repositories below the name are meant
  PRIMARY KEY (host, name, project)
) STRICT, WITHOUT ROWID;
