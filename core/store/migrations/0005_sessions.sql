-- When a session was used last, and whether it outlives the browser that has it.
ALTER TABLE sessions ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN kept INTEGER NOT NULL DEFAULT 1;
UPDATE sessions SET used_at = created_at;
