ALTER TABLE `provider` ADD `rc2_body` integer;
ALTER TABLE `provider` ADD `short_codes` integer DEFAULT 0 NOT NULL;