CREATE TABLE `ended_token` (
	`token_hash` blob PRIMARY KEY NOT NULL,
	`why` text NOT NULL,
	`ended_at_ms` integer NOT NULL,
	CONSTRAINT "ended_token_why" CHECK("ended_token"."why" IN ('slot_freed', 'link_ended', 'link_replaced'))
);

CREATE INDEX `ended_token_by_time` ON `ended_token` (`ended_at_ms`);
ALTER TABLE `device_provider` ADD `claim_ended_at_ms` integer;
ALTER TABLE `device_token` ADD `ended` text;
CREATE INDEX `device_token_to_tell` ON `device_token` (`id`) WHERE ended IS NOT NULL;