-- Version 8: which delivery asked for an operation; '' for none. It has one at most for each container.
ALTER TABLE operations ADD COLUMN delivery TEXT NOT NULL DEFAULT '';
UPDATE operations SET delivery = coalesce(doc ->> 'delivery', '');
CREATE UNIQUE INDEX operations_delivery ON operations (watcher, name, delivery) WHERE delivery <> '';
