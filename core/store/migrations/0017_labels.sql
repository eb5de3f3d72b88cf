-- Version 17: of which labels the image is the origin is known once the watcher lists the container again.
UPDATE containers SET doc = json_set(doc, '$.imageLabels', json_array('*')) WHERE json_extract(doc, '$.labels') IS NOT NULL;
