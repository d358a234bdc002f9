-- First phones of slots whose device has several, and the traits of further phones that are barred.

ALTER TABLE `slot_bar` ADD `family` text DEFAULT '' NOT NULL;
ALTER TABLE `slot_bar` ADD `app` text DEFAULT '' NOT NULL;
ALTER TABLE `slot_bar` ADD `model_hash` text DEFAULT '' NOT NULL;

-- The facts of a device with several slots may be those of any of them: core/copied-hwid.ts.
UPDATE install_device SET doubt_until_ms = -1
WHERE (device_id, provider_id) IN (
    SELECT device_id, provider_id FROM device_provider WHERE slot_count > 1)
  AND NOT EXISTS (SELECT 1 FROM slot_phone f WHERE f.install_id = install_device.install_id
    AND f.device_id = install_device.device_id);

DROP TRIGGER slot_phone_doubt;
CREATE TRIGGER slot_phone_doubt AFTER UPDATE OF os, device_name ON device_provider
WHEN NEW.slot_count > 0 AND (NEW.os <> OLD.os OR NEW.device_name <> OLD.device_name) BEGIN
  UPDATE install_device SET doubt_until_ms = NEW.last_seen_at_ms + 2592000000
  WHERE device_id = NEW.device_id AND provider_id = NEW.provider_id AND doubt_until_ms <> -1
    AND NOT EXISTS (
      SELECT 1 FROM slot_phone f WHERE f.install_id = install_device.install_id
        AND f.device_id = install_device.device_id);
END;
