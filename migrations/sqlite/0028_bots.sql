ALTER TABLE `provider` ADD `rc2_body` text;
ALTER TABLE `provider` ADD `short_codes` integer DEFAULT 0 NOT NULL;