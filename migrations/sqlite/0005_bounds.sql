-- What a provider may keep and send, what is listed of its changes, and who belongs to nobody.

CREATE TABLE `appliance` (
	`id` integer PRIMARY KEY NOT NULL,
	`stranger_count` integer NOT NULL,
	CONSTRAINT "appliance_once" CHECK("appliance"."id" = 1)
);

DROP INDEX `distribution_to_expire`;
CREATE INDEX `distribution_unscheduled` ON `distribution` (`provider_id`,`due_at_ms`) WHERE status < 100 AND is_scheduled = 0;
CREATE INDEX `distribution_pruned` ON `distribution` (`finished_at_ms`) WHERE pruned_at_ms IS NOT NULL;
CREATE INDEX `distribution_to_expire` ON `distribution` (`expires_at_ms`) WHERE expired_at_ms IS NULL AND status >= 100;
ALTER TABLE `provider` ADD `domain_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `kept_bytes` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `ledger_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `sends_from_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `send_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `changes_from_ms` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `change_count` integer DEFAULT 0 NOT NULL;
ALTER TABLE `provider` ADD `unlisted_count` integer DEFAULT 0 NOT NULL;
CREATE INDEX `device_provider_idle` ON `device_provider` (`last_seen_at_ms`) WHERE slot_count = 0 AND tie_count = 0;
CREATE INDEX `domain_by_provider` ON `domain` (`provider_id`);

ALTER TABLE `device` ADD `holder_count` integer DEFAULT 0 NOT NULL;
UPDATE device SET holder_count = h.holders
FROM (SELECT device_id, count(*) AS holders FROM device_provider
      WHERE slot_count + tie_count > 0 GROUP BY device_id) h
WHERE device.id = h.device_id;
CREATE INDEX `device_stranger` ON `device` (`last_seen_at_ms`) WHERE holder_count = 0;
INSERT INTO appliance (id, stranger_count) SELECT 1, count(*) FROM device WHERE holder_count = 0;

-- What distributions said goes with their ledger.
UPDATE distribution SET payload = 'null' WHERE pruned_at_ms IS NOT NULL;
UPDATE provider SET
  domain_count = (SELECT count(*) FROM domain WHERE provider_id = provider.id),
  (kept_bytes, ledger_count) = (
    SELECT coalesce(sum(octet_length(payload) + octet_length(target_hwid) + 200), 0),
      coalesce(sum(recipient_count), 0)
    FROM distribution WHERE provider_id = provider.id AND pruned_at_ms IS NULL);

-- As in 0001: the counts are facts of the tables, not of the program. 200 is KEPT_BYTES_EACH.

CREATE TRIGGER domain_added AFTER INSERT ON domain BEGIN
  UPDATE provider SET domain_count = domain_count + 1 WHERE id = NEW.provider_id;
END;

CREATE TRIGGER domain_removed AFTER DELETE ON domain BEGIN
  UPDATE provider SET domain_count = domain_count - 1 WHERE id = OLD.provider_id;
END;

CREATE TRIGGER domain_stays BEFORE UPDATE OF provider_id ON domain BEGIN
  SELECT RAISE(ABORT, 'a binding never moves to another provider');
END;

CREATE TRIGGER distribution_added AFTER INSERT ON distribution BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes + octet_length(NEW.payload) + octet_length(NEW.target_hwid) + 200
  WHERE id = NEW.provider_id;
END;

CREATE TRIGGER distribution_loaded AFTER UPDATE OF recipient_count ON distribution
WHEN NEW.recipient_count <> OLD.recipient_count BEGIN
  UPDATE provider SET ledger_count = ledger_count + NEW.recipient_count - OLD.recipient_count
  WHERE id = NEW.provider_id;
END;

CREATE TRIGGER distribution_pruned AFTER UPDATE OF pruned_at_ms ON distribution
WHEN OLD.pruned_at_ms IS NULL AND NEW.pruned_at_ms IS NOT NULL BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes - octet_length(OLD.payload) - octet_length(OLD.target_hwid) - 200,
    ledger_count = ledger_count - OLD.recipient_count
  WHERE id = OLD.provider_id;
END;

CREATE TRIGGER distribution_removed AFTER DELETE ON distribution WHEN OLD.pruned_at_ms IS NULL BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes - octet_length(OLD.payload) - octet_length(OLD.target_hwid) - 200,
    ledger_count = ledger_count - OLD.recipient_count
  WHERE id = OLD.provider_id;
END;

CREATE TRIGGER distribution_stays
BEFORE UPDATE OF provider_id, payload, target_hwid ON distribution
WHEN NEW.provider_id <> OLD.provider_id OR NEW.target_hwid <> OLD.target_hwid
  OR (NEW.payload <> OLD.payload AND NEW.pruned_at_ms IS NULL) BEGIN
  SELECT RAISE(ABORT, 'what was sent, to whom and by whom, never changes');
END;

CREATE TRIGGER device_added AFTER INSERT ON device WHEN NEW.holder_count = 0 BEGIN
  UPDATE appliance SET stranger_count = stranger_count + 1;
END;

CREATE TRIGGER device_removed AFTER DELETE ON device WHEN OLD.holder_count = 0 BEGIN
  UPDATE appliance SET stranger_count = stranger_count - 1;
END;

CREATE TRIGGER device_held AFTER UPDATE OF holder_count ON device
WHEN (OLD.holder_count = 0) <> (NEW.holder_count = 0) BEGIN
  UPDATE appliance SET stranger_count = stranger_count + iif(NEW.holder_count = 0, 1, -1);
END;

CREATE TRIGGER device_provider_held AFTER INSERT ON device_provider
WHEN NEW.slot_count + NEW.tie_count > 0 BEGIN
  UPDATE device SET holder_count = holder_count + 1 WHERE id = NEW.device_id;
END;

CREATE TRIGGER device_provider_changed AFTER UPDATE OF slot_count, tie_count ON device_provider
WHEN (OLD.slot_count + OLD.tie_count = 0) <> (NEW.slot_count + NEW.tie_count = 0) BEGIN
  UPDATE device SET holder_count = holder_count + iif(NEW.slot_count + NEW.tie_count = 0, -1, 1)
  WHERE id = NEW.device_id;
END;

CREATE TRIGGER device_provider_left AFTER DELETE ON device_provider
WHEN OLD.slot_count + OLD.tie_count > 0 BEGIN
  UPDATE device SET holder_count = holder_count - 1 WHERE id = OLD.device_id;
END;
