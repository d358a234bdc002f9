CREATE TABLE `device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hwid` text NOT NULL,
	`token_hash` blob,
	`unproven_from_ms` integer,
	`locale` text,
	`push` text,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	`first_seen_at_ms` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL
);

CREATE UNIQUE INDEX `device_hwid_unique` ON `device` (`hwid`);
CREATE UNIQUE INDEX `device_by_token` ON `device` (`token_hash`) WHERE token_hash IS NOT NULL;
CREATE TABLE `device_domain` (
	`device_id` integer NOT NULL,
	`domain_id` integer NOT NULL,
	`linked_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `domain_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`domain_id`) REFERENCES `domain`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `device_domain_by_domain` ON `device_domain` (`domain_id`,`device_id`);
CREATE TABLE `device_proof` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`is_by_link` integer NOT NULL,
	`from_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `device_proof_by_provider` ON `device_proof` (`provider_id`);
CREATE TABLE `device_provider` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `device_provider_by_provider` ON `device_provider` (`provider_id`);
CREATE TABLE `distribution` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer NOT NULL,
	`notification_type` integer NOT NULL,
	`status` integer NOT NULL,
	`target_os` text,
	`target_hwid` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`due_at_ms` integer NOT NULL,
	`is_scheduled` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`began_at_ms` integer,
	`finished_at_ms` integer,
	`lease_owner` text,
	`lease_until_ms` integer,
	`cursor_source` integer DEFAULT 0 NOT NULL,
	`cursor_id` integer DEFAULT 0 NOT NULL,
	`unbound_count` integer DEFAULT 0 NOT NULL,
	`recipient_count` integer DEFAULT 0 NOT NULL,
	`sent_count` integer DEFAULT 0 NOT NULL,
	`failed_count` integer DEFAULT 0 NOT NULL,
	`expired_at_ms` integer,
	`pruned_at_ms` integer,
	`payload` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "distribution_type" CHECK("distribution"."notification_type" IN (10, 20)),
	CONSTRAINT "distribution_status" CHECK("distribution"."status" IN (5, 6, 10, 20, 30, 40, 100, 110, 120, 130, 140))
);

CREATE INDEX `distribution_by_provider` ON `distribution` (`provider_id`);
CREATE INDEX `distribution_unfinished` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100;
CREATE INDEX `distribution_in_delivery` ON `distribution` (`provider_id`) WHERE status IN (5, 6, 40);
CREATE INDEX `distribution_unchecked` ON `distribution` (`due_at_ms`) WHERE status IN (10, 20);
CREATE INDEX `distribution_to_expire` ON `distribution` (`expires_at_ms`) WHERE expired_at_ms IS NULL;
CREATE INDEX `distribution_to_prune` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NULL;
CREATE INDEX `distribution_unbound` ON `distribution` (`provider_id`,`created_at_ms`) WHERE unbound_count > 0;
CREATE TABLE `distribution_transition` (
	`from_status` integer NOT NULL,
	`to_status` integer NOT NULL,
	PRIMARY KEY(`from_status`, `to_status`)
);

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
	`last_general_at_ms` integer,
	`install_count` integer DEFAULT 0 NOT NULL,
	`created_at_ms` integer NOT NULL,
	CONSTRAINT "provider_plan" CHECK("provider"."plan" IN ('basic', 'pro', 'enterprise')),
	CONSTRAINT "provider_key_hash" CHECK(length("provider"."key_hash") = 32)
);

CREATE UNIQUE INDEX `provider_code_unique` ON `provider` (`code`);
CREATE TABLE `recipient` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`distribution_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`state` integer NOT NULL,
	`is_unbound` integer NOT NULL,
	`is_waiting` integer NOT NULL,
	`queued_at_ms` integer NOT NULL,
	`sent_at_ms` integer,
	`failed_at_ms` integer,
	`expired_at_ms` integer,
	`received_at_ms` integer,
	`opened_at_ms` integer,
	`executed_at_ms` integer,
	`refused_at_ms` integer,
	`detail` text,
	FOREIGN KEY (`distribution_id`) REFERENCES `distribution`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "recipient_state" CHECK("recipient"."state" BETWEEN 1 AND 4)
);

CREATE INDEX `recipient_inbox` ON `recipient` (`device_id`,`id`) WHERE is_waiting = 1;
CREATE UNIQUE INDEX `recipient_once` ON `recipient` (`distribution_id`,`device_id`);