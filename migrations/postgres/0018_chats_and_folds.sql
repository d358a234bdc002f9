-- What chats show, and events that are told in one sum: SQLite's migration 0026.

ALTER TABLE webhook ADD COLUMN shows text COLLATE "C";
ALTER TABLE destination ADD COLUMN fold text COLLATE "C";
ALTER TABLE destination ADD COLUMN fold_until_ms bigint;
CREATE INDEX destination_folding ON destination (fold_until_ms, id) WHERE fold_until_ms IS NOT NULL;
CREATE INDEX webhook_off ON webhook (disabled_at_ms, id) WHERE disabled_at_ms IS NOT NULL;
