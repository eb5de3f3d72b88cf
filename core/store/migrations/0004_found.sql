-- Since when the update of a container is known; 0 when it has none.
ALTER TABLE containers ADD COLUMN found_at INTEGER NOT NULL DEFAULT 0;

-- The log tells when that was, or that it was before the log begins.
UPDATE containers SET found_at = coalesce((SELECT min(at) FROM events), checked_at) WHERE json_extract(doc, '$.updateAvailable');
UPDATE containers SET found_at = seen.at FROM (
  SELECT subject, json_extract(doc, '$.container.updateKind.kind') AS kind, json_extract(doc, '$.container.updateKind.remoteValue') AS remote, min(at) AS at
  FROM events WHERE json_extract(doc, '$.container.updateAvailable') GROUP BY 1, 2, 3
) AS seen
WHERE json_extract(containers.doc, '$.updateAvailable') AND seen.subject = containers.watcher || '/' || containers.name
  AND seen.kind = json_extract(containers.doc, '$.updateKind.kind') AND seen.remote = json_extract(containers.doc, '$.updateKind.remoteValue');
