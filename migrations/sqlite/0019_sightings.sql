CREATE TABLE `sighting` (
	`host` text NOT NULL,
	`kind` text NOT NULL,
	`subject` text NOT NULL,
	`seen_count` integer NOT NULL,
	`first_seen_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	PRIMARY KEY(`host`, `kind`, `subject`)
);

CREATE INDEX `sighting_by_time` ON `sighting` (`last_seen_at_ms`);