ALTER TABLE `install` ADD `same_phone` text;
ALTER TABLE `install` ADD `has_hashes` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `same_phone` text;
