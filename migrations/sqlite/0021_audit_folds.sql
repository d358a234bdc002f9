CREATE TABLE `audit_fold` (
	`provider` text NOT NULL,
	`action` text NOT NULL,
	`from_ms` integer NOT NULL,
	`deed_count` integer NOT NULL,
	`fold` text NOT NULL,
	PRIMARY KEY(`provider`, `action`)
);

ALTER TABLE `provider` ADD `alone_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `audit_day` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `change_day_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `alone_day_count` integer DEFAULT 0 NOT NULL;