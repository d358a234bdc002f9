CREATE TABLE `steady_time` (
	`name` text PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL,
	`ran_ms` integer NOT NULL,
	`leap` text,
	`spent` text NOT NULL
);
