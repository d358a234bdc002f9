-- When a key first used its right, and if the events of a webhook have figures of subscriptions.

ALTER TABLE provider_key ADD COLUMN first_used_at_ms bigint;
ALTER TABLE webhook ADD COLUMN figures integer NOT NULL DEFAULT 0;
