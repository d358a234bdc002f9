-- First phones of slots whose device has several: SQLite's migration 0039.

ALTER TABLE slot_bar ADD COLUMN family text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE slot_bar ADD COLUMN app text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE slot_bar ADD COLUMN model_hash text COLLATE "C" NOT NULL DEFAULT '';

UPDATE install_device s SET doubt_until_ms = -1
FROM device_provider p
WHERE p.device_id = s.device_id AND p.provider_id = s.provider_id AND p.slot_count > 1
  AND NOT EXISTS (
    SELECT 1 FROM slot_phone f WHERE f.install_id = s.install_id AND f.device_id = s.device_id);

CREATE OR REPLACE FUNCTION slot_phone_doubt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE install_device s SET doubt_until_ms = NEW.last_seen_at_ms + 2592000000
  WHERE s.device_id = NEW.device_id AND s.provider_id = NEW.provider_id
    AND s.doubt_until_ms <> -1 AND NOT EXISTS (
      SELECT 1 FROM slot_phone f WHERE f.install_id = s.install_id AND f.device_id = s.device_id);
  RETURN NULL;
END $$;
