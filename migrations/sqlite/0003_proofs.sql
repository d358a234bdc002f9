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