-- What a device says, its slots and ties, its registration and its inbox belong to it at a provider.
-- Proofs by time become orders of ids. Written by hand: tables are made anew in one pass each.

-- Messages that are still to be read: all that marks are made of. The inbox of those that were
-- addressed to unbound devices is below 0.
CREATE TABLE `__open` AS
  SELECT r.id, r.device_id, iif(r.is_unbound, -x.provider_id, x.provider_id) AS inbox,
    r.queued_at_ms, x.id AS distribution_id, x.created_at_ms
  FROM recipient r CROSS JOIN distribution x ON x.id = r.distribution_id
  WHERE r.is_waiting = 1 OR r.state = 1;
CREATE INDEX `__open_by_device` ON `__open` (device_id, inbox);

-- For a time, the newest distribution that had been accepted before.
CREATE TABLE `__accepted` AS
  SELECT created_at_ms, max(id) OVER (ORDER BY created_at_ms) AS newest_id FROM distribution;
CREATE INDEX `__accepted_by_time` ON `__accepted` (created_at_ms, newest_id);

CREATE TABLE `device_token` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`device_id` integer NOT NULL,
	`token_hash` blob NOT NULL,
	`locale` text,
	`push` text,
	`stands_alone` integer NOT NULL,
	`nobody_after_distribution_id` integer,
	`nobody_after_recipient_id` integer,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "device_token_marks" CHECK(("device_token"."nobody_after_distribution_id" IS NULL) = ("device_token"."nobody_after_recipient_id" IS NULL)),
	CONSTRAINT "device_token_stands" CHECK("device_token"."stands_alone" = 0 OR "device_token"."nobody_after_distribution_id" IS NOT NULL)
);

-- What the old token may read, the new one may: a mark is below the first message after its time.
INSERT INTO device_token (device_id, token_hash, locale, push, stands_alone,
  nobody_after_distribution_id, nobody_after_recipient_id)
SELECT d.id, d.token_hash, d.locale, d.push,
  NOT EXISTS (SELECT 1 FROM device_proof f WHERE f.device_id = d.id),
  coalesce(
    (SELECT min(o.distribution_id) - 1 FROM `__open` o
     WHERE o.device_id = d.id AND o.inbox < 0 AND o.created_at_ms >= d.unproven_from_ms),
    (SELECT newest_id FROM `__accepted` WHERE created_at_ms < d.unproven_from_ms
     ORDER BY created_at_ms DESC, newest_id DESC LIMIT 1),
    0),
  coalesce(
    (SELECT min(o.id) - 1 FROM `__open` o
     WHERE o.device_id = d.id AND o.inbox < 0 AND o.created_at_ms >= d.unproven_from_ms),
    (SELECT max(o.id) FROM `__open` o WHERE o.device_id = d.id AND o.inbox < 0),
    0)
FROM device d WHERE d.token_hash IS NOT NULL;

CREATE UNIQUE INDEX `device_token_token_hash_unique` ON `device_token` (`token_hash`);
CREATE INDEX `device_token_by_device` ON `device_token` (`device_id`);
CREATE UNIQUE INDEX `device_token_of_nobody` ON `device_token` (`device_id`) WHERE nobody_after_distribution_id IS NOT NULL;

CREATE TABLE `__new_install_device` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`install_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`registered_at_ms` integer NOT NULL,
	`after_recipient_id` integer NOT NULL,
	FOREIGN KEY (`install_id`) REFERENCES `install`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade
);

-- No id is given twice: marks are ids.
INSERT INTO sqlite_sequence (name, seq)
SELECT '__new_' || name, seq FROM sqlite_sequence WHERE name IN ('install_device', 'recipient');

INSERT INTO `__new_install_device`
SELECT s.id, s.install_id, s.device_id, i.provider_id, s.registered_at_ms,
  coalesce(
    (SELECT min(o.id) - 1 FROM `__open` o
     WHERE o.device_id = s.device_id AND o.inbox = i.provider_id
       AND o.queued_at_ms >= s.registered_at_ms),
    (SELECT max(o.id) FROM `__open` o WHERE o.device_id = s.device_id AND o.inbox = i.provider_id),
    0)
FROM install_device s CROSS JOIN install i ON i.id = s.install_id ORDER BY s.id;
DROP TABLE `install_device`;
ALTER TABLE `__new_install_device` RENAME TO `install_device`;
CREATE UNIQUE INDEX `install_device_once` ON `install_device` (`install_id`,`device_id`);
CREATE INDEX `install_device_by_device` ON `install_device` (`device_id`,`provider_id`,`id`);

CREATE TABLE `__new_device_domain` (
	`device_id` integer NOT NULL,
	`domain_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`linked_at_ms` integer NOT NULL,
	PRIMARY KEY(`device_id`, `domain_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`domain_id`) REFERENCES `domain`(`id`) ON UPDATE no action ON DELETE cascade
);

-- Of one provider's bindings a device keeps its ties to 16: the active ones first, then the newest.
INSERT INTO `__new_device_domain`
SELECT device_id, domain_id, provider_id, linked_at_ms
FROM (SELECT b.device_id, b.domain_id, m.provider_id, b.linked_at_ms, b.rowid AS place,
        row_number() OVER (PARTITION BY b.device_id, m.provider_id
          ORDER BY m.status DESC, b.rowid DESC) AS rank
      FROM device_domain b CROSS JOIN domain m ON m.id = b.domain_id)
WHERE rank <= 16 ORDER BY place;
DROP TABLE `device_domain`;
ALTER TABLE `__new_device_domain` RENAME TO `device_domain`;
CREATE INDEX `device_domain_by_domain` ON `device_domain` (`domain_id`,`device_id`);
CREATE INDEX `device_domain_by_provider` ON `device_domain` (`device_id`,`provider_id`);

CREATE TABLE `__new_device_provider` (
	`device_id` integer NOT NULL,
	`provider_id` integer NOT NULL,
	`os` text NOT NULL,
	`os_version` text NOT NULL,
	`device_name` text NOT NULL,
	`app_version` text NOT NULL,
	`user_agent` text NOT NULL,
	`last_seen_at_ms` integer NOT NULL,
	`slot_count` integer DEFAULT 0 NOT NULL,
	`tie_count` integer DEFAULT 0 NOT NULL,
	`token_id` integer,
	`is_by_link` integer DEFAULT 0 NOT NULL,
	`after_recipient_id` integer DEFAULT 0 NOT NULL,
	`after_slot_id` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`device_id`, `provider_id`),
	FOREIGN KEY (`device_id`) REFERENCES `device`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`provider_id`) REFERENCES `provider`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`token_id`) REFERENCES `device_token`(`id`) ON UPDATE no action ON DELETE set null
);

-- A provider that merely saw a device, and has it on no link or binding, gets no facts.
INSERT INTO `__new_device_provider`
SELECT k.device_id, k.provider_id,
  iif(k.belongs, d.os, ''), iif(k.belongs, d.os_version, ''), iif(k.belongs, d.device_name, ''),
  iif(k.belongs, d.app_version, ''), iif(k.belongs, d.user_agent, ''),
  coalesce(v.last_seen_at_ms, d.last_seen_at_ms), k.slots, k.ties,
  iif(f.provider_id IS NULL, NULL, t.id), coalesce(f.is_by_link, 0),
  iif(f.provider_id IS NULL, 0, coalesce(
    (SELECT min(o.id) - 1 FROM `__open` o WHERE o.device_id = k.device_id
       AND o.inbox = k.provider_id AND o.queued_at_ms >= f.from_ms),
    (SELECT max(o.id) FROM `__open` o
     WHERE o.device_id = k.device_id AND o.inbox = k.provider_id),
    0)),
  iif(f.provider_id IS NULL, 0, coalesce(
    (SELECT max(s.id) FROM install_device s WHERE s.device_id = k.device_id
       AND s.provider_id = k.provider_id AND s.registered_at_ms <= f.from_ms),
    0))
FROM (SELECT device_id, provider_id, sum(slots) AS slots, sum(ties) AS ties,
        max(belongs) AS belongs
      FROM (SELECT device_id, provider_id, 1 AS slots, 0 AS ties, 1 AS belongs FROM install_device
            UNION ALL SELECT device_id, provider_id, 0, 1, 1 FROM device_domain
            UNION ALL SELECT device_id, provider_id, 0, 0, 1 FROM device_proof
            UNION ALL SELECT device_id, provider_id, 0, 0, 0 FROM device_provider)
      GROUP BY device_id, provider_id) k
  CROSS JOIN device d ON d.id = k.device_id
  LEFT JOIN device_provider v ON v.device_id = k.device_id AND v.provider_id = k.provider_id
  LEFT JOIN device_proof f ON f.device_id = k.device_id AND f.provider_id = k.provider_id
  LEFT JOIN device_token t ON t.device_id = k.device_id;
DROP TABLE `device_proof`;
DROP TABLE `device_provider`;
ALTER TABLE `__new_device_provider` RENAME TO `device_provider`;
CREATE INDEX `device_provider_by_os` ON `device_provider` (`provider_id`,`os`,`device_id`);
CREATE INDEX `device_provider_by_token` ON `device_provider` (`token_id`) WHERE token_id IS NOT NULL;

DROP INDEX `device_by_token`;
ALTER TABLE `device` DROP COLUMN `token_hash`;
ALTER TABLE `device` DROP COLUMN `unproven_from_ms`;
ALTER TABLE `device` DROP COLUMN `locale`;
ALTER TABLE `device` DROP COLUMN `push`;

CREATE TABLE `__new_recipient` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`distribution_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`state` integer NOT NULL,
	`inbox` integer NOT NULL,
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
	CONSTRAINT "recipient_state" CHECK("__new_recipient"."state" BETWEEN 1 AND 4),
	CONSTRAINT "recipient_inbox_of" CHECK("__new_recipient"."inbox" <> 0)
);

INSERT INTO `__new_recipient`
SELECT r.id, r.distribution_id, r.device_id, r.state,
  iif(r.is_unbound, -x.provider_id, x.provider_id), r.is_waiting, r.queued_at_ms, r.sent_at_ms,
  r.failed_at_ms, r.expired_at_ms, r.received_at_ms, r.opened_at_ms, r.executed_at_ms,
  r.refused_at_ms, r.detail
FROM recipient r CROSS JOIN distribution x ON x.id = r.distribution_id ORDER BY r.id;
DROP TABLE `recipient`;
ALTER TABLE `__new_recipient` RENAME TO `recipient`;
CREATE INDEX `recipient_inbox` ON `recipient` (`device_id`,`is_waiting`,`inbox`);
CREATE UNIQUE INDEX `recipient_once` ON `recipient` (`distribution_id`,`device_id`);

-- Devices are found in another order now. Whoever is in the ledger already stays there once.
UPDATE distribution SET cursor_source = 0, cursor_id = 0
WHERE status IN (5, 6) AND target_os IS NOT NULL;
CREATE INDEX `distribution_blocked` ON `distribution` (`id`) WHERE status = 140 AND expired_at_ms IS NULL;
-- What was blocked leaves the inboxes from the first recipient on.
UPDATE distribution SET cursor_id = 0 WHERE status = 140 AND expired_at_ms IS NULL;

DROP TABLE `__open`;
DROP TABLE `__accepted`;

-- As in 0001, and the counts of a device at a provider.
CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, slot_count)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.registered_at_ms, 1)
  ON CONFLICT DO UPDATE SET slot_count = slot_count + 1;
END;

CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1 WHERE id = OLD.install_id;
  UPDATE device_provider SET slot_count = slot_count - 1
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
END;

CREATE TRIGGER install_device_stays
BEFORE UPDATE OF install_id, device_id, provider_id ON install_device BEGIN
  SELECT RAISE(ABORT, 'a slot never moves to another link or device');
END;

CREATE TRIGGER device_domain_added AFTER INSERT ON device_domain BEGIN
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, tie_count)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.linked_at_ms, 1)
  ON CONFLICT DO UPDATE SET tie_count = tie_count + 1;
END;

CREATE TRIGGER device_domain_removed AFTER DELETE ON device_domain BEGIN
  UPDATE device_provider SET tie_count = tie_count - 1
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
END;

CREATE TRIGGER device_domain_stays
BEFORE UPDATE OF device_id, domain_id, provider_id ON device_domain BEGIN
  SELECT RAISE(ABORT, 'a tie never moves to another device or binding');
END;

-- A token that lost its last place at a provider is dead. The place of nobody goes with it, unless
-- it was all that the token was registered for.
CREATE TRIGGER device_provider_place_lost AFTER UPDATE OF token_id ON device_provider
WHEN OLD.token_id IS NOT NULL AND OLD.token_id IS NOT NEW.token_id BEGIN
  DELETE FROM device_token WHERE id = OLD.token_id AND stands_alone = 0
    AND NOT EXISTS (SELECT 1 FROM device_provider WHERE token_id = OLD.token_id);
END;

CREATE TRIGGER device_provider_removed AFTER DELETE ON device_provider
WHEN OLD.token_id IS NOT NULL BEGIN
  DELETE FROM device_token WHERE id = OLD.token_id AND stands_alone = 0
    AND NOT EXISTS (SELECT 1 FROM device_provider WHERE token_id = OLD.token_id);
END;
