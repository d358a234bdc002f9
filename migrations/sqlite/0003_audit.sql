CREATE TABLE `audit` (
	`last_number` integer PRIMARY KEY NOT NULL,
	`at_ms` integer NOT NULL,
	`prev_hash` blob NOT NULL,
	`hash` blob NOT NULL,
	`entries` text NOT NULL,
	CONSTRAINT "audit_hashes" CHECK(length("audit"."prev_hash") = 32 AND length("audit"."hash") = 32)
);

CREATE TABLE `audit_anchor` (
	`id` integer PRIMARY KEY NOT NULL,
	`last_number` integer NOT NULL,
	`hash` blob NOT NULL,
	`until_ms` integer NOT NULL,
	CONSTRAINT "audit_anchor_once" CHECK("audit_anchor"."id" = 1)
);
