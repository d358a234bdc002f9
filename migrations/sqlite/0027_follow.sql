CREATE TABLE `follow` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`host` text NOT NULL,
	`source` text NOT NULL,
	`hash_key` blob NOT NULL,
	`view` text,
	`claimed_at_ms` integer NOT NULL,
	`next_at_ms` integer NOT NULL,
	`lease` text,
	`lease_until_ms` integer DEFAULT 0 NOT NULL,
	`passed_at_ms` integer,
	`took_ms` integer,
	`user_count` integer DEFAULT 0 NOT NULL,
	`added_count` integer DEFAULT 0 NOT NULL,
	`changed_count` integer DEFAULT 0 NOT NULL,
	`gone_count` integer DEFAULT 0 NOT NULL,
	`missing_count` integer DEFAULT 0 NOT NULL,
	`problem` text,
	`reason` text,
	`failed_at_ms` integer,
	`failing_since_ms` integer,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`held_missing_count` integer,
	`held_known_count` integer,
	`held_view` text,
	`is_accepted` integer DEFAULT 0 NOT NULL
);

CREATE UNIQUE INDEX `follow_host_unique` ON `follow` (`host`);
CREATE TABLE `followed_user` (
	`follow_id` integer NOT NULL,
	`user_hash` blob NOT NULL,
	`key_hash` blob NOT NULL,
	`state` text NOT NULL,
	`panel_limit` integer,
	`ends_at_ms` integer,
	`note` text,
	`missed_count` integer DEFAULT 0 NOT NULL,
	`is_over` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`follow_id`, `user_hash`),
	FOREIGN KEY (`follow_id`) REFERENCES `follow`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "followed_user_is_over" CHECK("followed_user"."is_over" IN (0, 1))
);

CREATE INDEX `followed_user_by_key` ON `followed_user` (`key_hash`,`follow_id`);