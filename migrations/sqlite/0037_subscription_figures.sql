CREATE TABLE `subscription_figures` (
	`install_id` integer PRIMARY KEY NOT NULL,
	`provider_id` integer NOT NULL,
	`ends_at_ms` integer,
	`total_bytes` integer,
	`used_bytes` integer,
	`read_at_ms` integer NOT NULL,
	`source` text NOT NULL,
	`since_ms` integer NOT NULL,
	`period_ends_at_ms` integer,
	`period_total_bytes` integer,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "subscription_figures_source" CHECK("subscription_figures"."source" IN ('proxy', 'panel'))
);

CREATE INDEX `subscription_figures_by_end` ON `subscription_figures` (`provider_id`,`ends_at_ms`);
CREATE INDEX `subscription_figures_by_time` ON `subscription_figures` (`read_at_ms`);
ALTER TABLE `provider` ADD `subscription_figures` integer DEFAULT 0 NOT NULL;