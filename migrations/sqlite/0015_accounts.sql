CREATE TABLE `account` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`name` text NOT NULL,
	`password_hash` text,
	`totp_secret` blob,
	`totp_since_ms` integer,
	`totp_step` integer DEFAULT 0 NOT NULL,
	`recovery` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`signed_in_at_ms` integer,
	CONSTRAINT "account_totp" CHECK("account"."totp_since_ms" IS NULL OR "account"."totp_secret" IS NOT NULL)
);

CREATE UNIQUE INDEX `account_name_unique` ON `account` (`name`);
CREATE TABLE `account_role` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`provider_id` integer,
	`role` text NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "account_role_place" CHECK(("account_role"."provider_id" IS NULL) = ("account_role"."role" IN ('operator', 'observer'))),
	CONSTRAINT "account_role_known" CHECK("account_role"."role" IN ('operator', 'observer', 'owner', 'sender', 'support', 'reader'))
);

CREATE UNIQUE INDEX `account_role_at_provider` ON `account_role` (`account_id`,`provider_id`) WHERE provider_id IS NOT NULL;
CREATE UNIQUE INDEX `account_role_at_appliance` ON `account_role` (`account_id`) WHERE provider_id IS NULL;
CREATE INDEX `account_role_by_provider` ON `account_role` (`provider_id`);
CREATE TABLE `device_mix` (
	`provider_id` integer NOT NULL,
	`day` integer NOT NULL,
	`os` text NOT NULL,
	`app` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`provider_id`, `day`, `os`, `app`),
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE TABLE `job` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`kind` text NOT NULL,
	`params` text NOT NULL,
	`actor` text NOT NULL,
	`state` text NOT NULL,
	`after_id` integer DEFAULT 0 NOT NULL,
	`total_count` integer DEFAULT 0 NOT NULL,
	`seen_count` integer DEFAULT 0 NOT NULL,
	`changed_count` integer DEFAULT 0 NOT NULL,
	`result` text,
	`created_at_ms` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	`ended_at_ms` integer,
	`lease` text,
	`lease_until_ms` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "job_state" CHECK("job"."state" IN ('waiting', 'running', 'done', 'cancelled', 'failed'))
);

CREATE INDEX `job_by_provider` ON `job` (`provider_id`,`id`);
CREATE INDEX `job_by_due` ON `job` (`due_at_ms`) WHERE state IN ('waiting', 'running');
CREATE INDEX `job_by_end` ON `job` (`ended_at_ms`) WHERE ended_at_ms IS NOT NULL;
CREATE TABLE `one_time` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`secret_hash` blob NOT NULL,
	`kind` text NOT NULL,
	`account_id` integer,
	`provider_id` integer,
	`role` text,
	`until_ms` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "one_time_secret" CHECK(length("one_time"."secret_hash") = 32)
);

CREATE UNIQUE INDEX `one_time_secret_hash_unique` ON `one_time` (`secret_hash`);
CREATE INDEX `one_time_by_account` ON `one_time` (`account_id`);
CREATE INDEX `one_time_by_provider` ON `one_time` (`provider_id`);
CREATE INDEX `one_time_by_end` ON `one_time` (`until_ms`);
CREATE TABLE `passkey` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` integer NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` blob NOT NULL,
	`sign_count` integer NOT NULL,
	`transports` text NOT NULL,
	`name` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`used_at_ms` integer,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE UNIQUE INDEX `passkey_credential_id_unique` ON `passkey` (`credential_id`);
CREATE INDEX `passkey_by_account` ON `passkey` (`account_id`);
CREATE TABLE `provider_key` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`key_hash` blob NOT NULL,
	`name` text NOT NULL,
	`scope` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`until_ms` integer,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "provider_key_hash_length" CHECK(length("provider_key"."key_hash") = 32),
	CONSTRAINT "provider_key_scope" CHECK("provider_key"."scope" IN ('read', 'links', 'send'))
);

CREATE UNIQUE INDEX `provider_key_by_hash` ON `provider_key` (`provider_id`,`key_hash`);
CREATE TABLE `session` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`token_hash` blob NOT NULL,
	`account_id` integer,
	`provider_id` integer,
	`key_hash` blob,
	`method` text NOT NULL,
	`client` text NOT NULL,
	`agent` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`seen_at_ms` integer NOT NULL,
	`until_ms` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "session_token" CHECK(length("session"."token_hash") = 32),
	CONSTRAINT "session_of_one" CHECK(("session"."account_id" IS NULL) = ("session"."provider_id" IS NOT NULL AND "session"."key_hash" IS NOT NULL))
);

CREATE UNIQUE INDEX `session_token_hash_unique` ON `session` (`token_hash`);
CREATE INDEX `session_by_account` ON `session` (`account_id`);
CREATE INDEX `session_by_provider` ON `session` (`provider_id`);
CREATE INDEX `session_by_end` ON `session` (`until_ms`);