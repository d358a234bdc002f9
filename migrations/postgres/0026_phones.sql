-- Phones that send one HWID: SQLite's migration 0034.

CREATE TABLE slot_phone (
  install_id bigint NOT NULL REFERENCES install (id) ON DELETE CASCADE,
  device_id bigint NOT NULL REFERENCES device (id) ON DELETE CASCADE,
  number integer NOT NULL,
  door text COLLATE "C" NOT NULL,
  family text COLLATE "C" NOT NULL,
  app text COLLATE "C" NOT NULL,
  model_hash text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  first_seen_at_ms bigint NOT NULL,
  last_seen_at_ms bigint NOT NULL,
  own_device_id bigint REFERENCES device (id) ON DELETE SET NULL,
  told_at_ms bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (install_id, device_id, number),
  CONSTRAINT slot_phone_state
    CHECK (state IN ('first', 'pending', 'hint', 'certain', 'ignored'))
);

CREATE INDEX slot_phone_by_device ON slot_phone (device_id, install_id, number);
CREATE INDEX slot_phone_by_own_device
  ON slot_phone (own_device_id, install_id, device_id, number)
  WHERE own_device_id IS NOT NULL;
CREATE INDEX slot_phone_by_time
  ON slot_phone (last_seen_at_ms, install_id, device_id, number);
CREATE INDEX slot_phone_certain ON slot_phone (install_id, device_id, number)
  WHERE state = 'certain';

ALTER TABLE install ADD COLUMN same_phone_hours integer;
ALTER TABLE install ADD COLUMN copied_hwid text COLLATE "C";
ALTER TABLE install ADD COLUMN has_phones integer NOT NULL DEFAULT 0;
ALTER TABLE provider ADD COLUMN same_phone_hours integer;
ALTER TABLE provider ADD COLUMN copied_hwid text COLLATE "C";
ALTER TABLE provider ADD COLUMN copied_day integer NOT NULL DEFAULT 0;
ALTER TABLE provider ADD COLUMN copied_count integer NOT NULL DEFAULT 0;
ALTER TABLE install_device ADD COLUMN doubt_until_ms bigint NOT NULL DEFAULT 0;

CREATE FUNCTION slot_phone_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM slot_phone WHERE install_id = OLD.install_id AND device_id = OLD.device_id
    AND own_device_id IS NULL;
  RETURN NULL;
END $$;

CREATE TRIGGER slot_phone_left AFTER DELETE ON install_device
FOR EACH ROW EXECUTE FUNCTION slot_phone_left();

CREATE FUNCTION slot_phone_doubt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE install_device s SET doubt_until_ms = NEW.last_seen_at_ms + 2592000000
  WHERE s.device_id = NEW.device_id AND s.provider_id = NEW.provider_id AND NOT EXISTS (
    SELECT 1 FROM slot_phone f WHERE f.install_id = s.install_id AND f.device_id = s.device_id);
  RETURN NULL;
END $$;

CREATE TRIGGER slot_phone_doubt AFTER UPDATE OF os, device_name ON device_provider
FOR EACH ROW
WHEN (NEW.slot_count > 0 AND (NEW.os <> OLD.os OR NEW.device_name <> OLD.device_name))
EXECUTE FUNCTION slot_phone_doubt();
