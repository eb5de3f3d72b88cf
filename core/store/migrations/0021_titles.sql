-- Version 21: the title of the message of each delivery; '' while it is not sent, and for those of before.
ALTER TABLE deliveries ADD COLUMN title TEXT NOT NULL DEFAULT '';
