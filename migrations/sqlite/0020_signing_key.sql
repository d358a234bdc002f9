CREATE TABLE `signing_key` (
	`id` integer PRIMARY KEY NOT NULL,
	`key` blob NOT NULL,
	CONSTRAINT "signing_key_once" CHECK("signing_key"."id" = 1),
	CONSTRAINT "signing_key_length" CHECK(length("signing_key"."key") = 32)
);
--> statement-breakpoint
INSERT INTO `signing_key` (`id`, `key`) VALUES (1, randomblob(32));
