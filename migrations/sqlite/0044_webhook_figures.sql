-- When a key first used its right, and if the events of a webhook have figures of subscriptions.

ALTER TABLE `provider_key` ADD `first_used_at_ms` integer;
ALTER TABLE `webhook` ADD `figures` integer DEFAULT 0 NOT NULL;
