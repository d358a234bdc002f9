-- A token remembers when its address was registered: what a gateway says of a time before is about
-- the app as it was then.

ALTER TABLE device_token ADD COLUMN push_at_ms bigint;
