CREATE TABLE `upkeep` (
	`task` text PRIMARY KEY NOT NULL,
	`schedule` text NOT NULL,
	`scheduled_at_ms` integer NOT NULL,
	`succeeded_at_ms` integer,
	`result` text,
	`bytes` integer,
	`took_ms` integer,
	`failed_at_ms` integer,
	`reason` text,
	`code` text,
	`is_failing` integer NOT NULL,
	`failing_since_ms` integer,
	`failure_count` integer NOT NULL,
	CONSTRAINT "upkeep_is_failing" CHECK("upkeep"."is_failing" IN (0, 1))
);
