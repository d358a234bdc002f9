CREATE TABLE `device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hwid` text NOT NULL,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	`first_seen_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL
);

CREATE UNIQUE INDEX `device_hwid_unique` ON `device` (`hwid`);
CREATE TABLE `device_domain` (
	`device_id` integer NOT NULL,
	`domain_id` integer NOT NULL,
	`linked_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `domain_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`domain_id`) REFERENCES `domain`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `device_domain_by_domain` ON `device_domain` (`domain_id`);
CREATE TABLE `device_provider` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `device_provider_by_provider` ON `device_provider` (`provider_id`);
CREATE TABLE `domain` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`domain_hash` text NOT NULL,
	`domain_name` text NOT NULL,
	`status` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "domain_status" CHECK("domain"."status" IN (5, 10))
);

CREATE UNIQUE INDEX `domain_once_per_provider` ON `domain` (`provider_id`,`domain_hash`);
CREATE TABLE `install` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`install_code` text NOT NULL,
	`install_limit` integer NOT NULL,
	`device_count` integer DEFAULT 0 NOT NULL,
	`status` integer NOT NULL,
	`note` text,
	`created_at_ms` integer NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "install_limit_range" CHECK("install"."install_limit" BETWEEN 1 AND 100),
	CONSTRAINT "install_never_over_full" CHECK("install"."device_count" BETWEEN 0 AND "install"."install_limit"),
	CONSTRAINT "install_status" CHECK("install"."status" IN (5, 10))
);

CREATE UNIQUE INDEX `install_install_code_unique` ON `install` (`install_code`);
CREATE INDEX `install_by_provider` ON `install` (`provider_id`);
CREATE TABLE `install_device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`registered_at_ms` integer NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `install_device_by_device` ON `install_device` (`device_id`);
CREATE UNIQUE INDEX `install_device_once` ON `install_device` (`install_id`,`device_id`);
CREATE TABLE `provider` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`code` text NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`key_hash` blob NOT NULL,
	`previous_key_hash` blob,
	`previous_key_until_ms` integer,
	`active_until_ms` integer,
	`suspended_at_ms` integer,
	`install_count_max` integer,
	`install_count` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	CONSTRAINT "provider_plan" CHECK("provider"."plan" IN ('basic', 'pro', 'enterprise')),
	CONSTRAINT "provider_key_hash" CHECK(length("provider"."key_hash") = 32)
);

CREATE UNIQUE INDEX `provider_code_unique` ON `provider` (`code`);