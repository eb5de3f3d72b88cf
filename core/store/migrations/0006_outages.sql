-- Version 6: which engines could not be reached last is found without reading the whole log.
CREATE INDEX events_outages ON events (subject, id) WHERE type IN ('watcher.failed', 'watcher.recovered');
