-- Reaching out: an outbox of pushes and events, destinations with a queue each, webhooks. A
-- distribution that waits for gateways alone is in no lane of its provider any more.

CREATE TABLE `destination` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`origin` text NOT NULL,
	`webhook_id` integer,
	`waiting_count` integer DEFAULT 0 NOT NULL,
	`lease_owner` text,
	`lease_until_ms` integer,
	`failure_count` integer DEFAULT 0 NOT NULL,
	`failing_since_ms` integer,
	`retry_at_ms` integer DEFAULT 0 NOT NULL,
	`stopped_at_ms` integer,
	`problem` text,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhook`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "destination_kind" CHECK("destination"."kind" IN ('fcm', 'apns', 'webpush', 'webhook', 'telegram'))
);

CREATE UNIQUE INDEX `destination_of_gateway` ON `destination` (`kind`,`origin`) WHERE webhook_id IS NULL;
CREATE UNIQUE INDEX `destination_of_webhook` ON `destination` (`webhook_id`) WHERE webhook_id IS NOT NULL;
CREATE INDEX `destination_waiting` ON `destination` (`id`) WHERE waiting_count > 0;
CREATE TABLE `event` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`kind` text NOT NULL,
	`at_ms` integer NOT NULL,
	`data` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE INDEX `event_by_provider` ON `event` (`provider_id`,`id`);
CREATE INDEX `event_by_time` ON `event` (`at_ms`);
CREATE TABLE `notice` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`subject` text NOT NULL,
	`mark` text NOT NULL,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade
);

CREATE UNIQUE INDEX `notice_of_provider` ON `notice` (`provider_id`,`subject`) WHERE provider_id IS NOT NULL;
CREATE UNIQUE INDEX `notice_of_appliance` ON `notice` (`subject`) WHERE provider_id IS NULL;
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`destination_id` integer NOT NULL,
	`next_at_ms` integer NOT NULL,
	`queued_at_ms` integer NOT NULL,
	`attempt_count` integer DEFAULT 0 NOT NULL,
	`recipient_id` integer,
	`event_id` integer,
	`problem` text,
	FOREIGN KEY (`destination_id`) REFERENCES `destination`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`recipient_id`) REFERENCES `recipient`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`event_id`) REFERENCES `event`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "outbox_one_thing" CHECK(("outbox"."recipient_id" IS NULL) <> ("outbox"."event_id" IS NULL))
);

CREATE INDEX `outbox_due` ON `outbox` (`destination_id`,`next_at_ms`,`id`);
CREATE UNIQUE INDEX `outbox_push` ON `outbox` (`recipient_id`) WHERE recipient_id IS NOT NULL;
CREATE INDEX `outbox_of_webhook` ON `outbox` (`destination_id`,`event_id`) WHERE event_id IS NOT NULL;
CREATE UNIQUE INDEX `outbox_event` ON `outbox` (`event_id`,`destination_id`) WHERE event_id IS NOT NULL;
CREATE TABLE `webhook` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`provider_id` integer,
	`kind` text NOT NULL,
	`address` text NOT NULL,
	`events` text NOT NULL,
	`scheme` text NOT NULL,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_until_ms` integer,
	`locale` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`disabled_at_ms` integer,
	`disabled_why` text,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "webhook_kind" CHECK("webhook"."kind" IN ('webhook', 'telegram')),
	CONSTRAINT "webhook_disabled" CHECK(("webhook"."disabled_at_ms" IS NULL) = ("webhook"."disabled_why" IS NULL))
);

CREATE INDEX `webhook_by_provider` ON `webhook` (`provider_id`,`id`);
CREATE INDEX `webhook_rotated` ON `webhook` (`previous_until_ms`) WHERE previous_until_ms IS NOT NULL;
CREATE TABLE `webhook_delivery` (
	`webhook_id` integer NOT NULL,
	`event_id` integer NOT NULL,
	`is_delivered` integer NOT NULL,
	`attempt_count` integer NOT NULL,
	`ended_at_ms` integer NOT NULL,
	`problem` text,
	PRIMARY KEY(`webhook_id`, `event_id`),
	FOREIGN KEY (`webhook_id`) REFERENCES `webhook`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`event_id`) REFERENCES `event`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;

CREATE INDEX `webhook_delivery_by_event` ON `webhook_delivery` (`event_id`);
DROP INDEX `distribution_unfinished`;
DROP INDEX `distribution_unscheduled`;
DROP INDEX `distribution_in_delivery`;
ALTER TABLE `distribution` ADD `handed_over_at_ms` integer;
ALTER TABLE `distribution` ADD `push_waiting_count` integer DEFAULT 0 NOT NULL;
CREATE INDEX `distribution_at_gateways` ON `distribution` (`expires_at_ms`) WHERE status = 40 AND handed_over_at_ms IS NOT NULL;
CREATE INDEX `distribution_awaits_none` ON `distribution` (`id`) WHERE status = 40 AND handed_over_at_ms IS NOT NULL AND push_waiting_count = 0;
CREATE INDEX `distribution_unfinished` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100 AND handed_over_at_ms IS NULL;
CREATE INDEX `distribution_unscheduled` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100 AND handed_over_at_ms IS NULL AND due_at_ms = created_at_ms;
CREATE INDEX `distribution_in_delivery` ON `distribution` (`provider_id`) WHERE status IN (5, 6, 40) AND handed_over_at_ms IS NULL;
ALTER TABLE `device_token` ADD `push_dropped_at_ms` integer;
ALTER TABLE `device_token` ADD `push_dropped_why` text;
ALTER TABLE `install_refusal` ADD `day` integer DEFAULT 0 NOT NULL;
ALTER TABLE `install_refusal` ADD `day_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `recipient` ADD `push_state` integer;
ALTER TABLE `recipient` ADD `pushed_at_ms` integer;
ALTER TABLE `recipient` ADD `push_problem` text;

CREATE TRIGGER outbox_added AFTER INSERT ON outbox BEGIN
  UPDATE destination SET waiting_count = waiting_count + 1 WHERE id = NEW.destination_id;
END;

CREATE TRIGGER outbox_removed AFTER DELETE ON outbox BEGIN
  UPDATE destination SET waiting_count = waiting_count - 1 WHERE id = OLD.destination_id;
END;

CREATE TRIGGER outbox_stays BEFORE UPDATE OF destination_id, recipient_id, event_id ON outbox BEGIN
  SELECT RAISE(ABORT, 'a dispatch stays with its destination');
END;

-- A recipient that is forgotten is waited for no longer.
CREATE TRIGGER recipient_at_gateway_removed AFTER DELETE ON recipient WHEN OLD.push_state = 1 BEGIN
  UPDATE distribution SET push_waiting_count = push_waiting_count - 1
  WHERE id = OLD.distribution_id;
END;
