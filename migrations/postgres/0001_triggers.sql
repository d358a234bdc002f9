-- The counts are facts of the tables, not of the program: whoever adds or removes a row, they hold.
-- Together with the CHECK install_never_over_full they make an over-filled link impossible. The
-- names and the words are those of SQLite's triggers.

-- What belongs somewhere for good. 23000: a mistake of the program, as a CHECK that fails is.

CREATE FUNCTION gatepost_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = '23000';
END $$;

CREATE TRIGGER install_stays BEFORE UPDATE OF provider_id ON install
FOR EACH ROW EXECUTE FUNCTION gatepost_refuse('a link never moves to another provider');

CREATE TRIGGER domain_stays BEFORE UPDATE OF provider_id ON domain
FOR EACH ROW EXECUTE FUNCTION gatepost_refuse('a binding never moves to another provider');

CREATE TRIGGER install_device_stays
BEFORE UPDATE OF install_id, device_id, provider_id ON install_device
FOR EACH ROW EXECUTE FUNCTION gatepost_refuse('a slot never moves to another link or device');

CREATE TRIGGER device_domain_stays
BEFORE UPDATE OF device_id, domain_id, provider_id ON device_domain
FOR EACH ROW EXECUTE FUNCTION gatepost_refuse('a tie never moves to another device or binding');

CREATE TRIGGER slot_end_stays BEFORE UPDATE OF install_id, provider_id ON slot_end
FOR EACH ROW EXECUTE FUNCTION gatepost_refuse('the end of a slot stays with its link');

CREATE TRIGGER outbox_stays BEFORE UPDATE OF destination_id, recipient_id, event_id ON outbox
FOR EACH ROW EXECUTE FUNCTION gatepost_refuse('a dispatch stays with its destination');

CREATE TRIGGER distribution_stays
BEFORE UPDATE OF provider_id, payload, target_hwid ON distribution
FOR EACH ROW WHEN (NEW.provider_id <> OLD.provider_id OR NEW.target_hwid <> OLD.target_hwid
  OR (NEW.payload <> OLD.payload AND NEW.pruned_at_ms IS NULL))
EXECUTE FUNCTION gatepost_refuse('what was sent, to whom and by whom, never changes');

-- The law of core/message/status.ts, said to the database: any other change of status is refused,
-- whoever asks for it. A test compares the two.

CREATE TRIGGER distribution_created BEFORE INSERT ON distribution
FOR EACH ROW WHEN (NEW.status <> 10)
EXECUTE FUNCTION gatepost_refuse('a distribution begins as 10 Created');

CREATE FUNCTION distribution_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT 1 FROM distribution_transition
    WHERE from_status = OLD.status AND to_status = NEW.status
  ) THEN
    RAISE EXCEPTION USING ERRCODE = '23000',
      MESSAGE = 'no such transition between statuses of a distribution';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER distribution_moved BEFORE UPDATE OF status ON distribution
FOR EACH ROW WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION distribution_moved();

-- Counts of a provider: a statement at a time. Row by row, each would look through all versions of
-- the one row that the statement made before (20,000 took minutes instead of milliseconds).

CREATE FUNCTION install_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider p SET install_count = p.install_count + r.count
  FROM (SELECT provider_id AS id, count(*) AS count FROM changed GROUP BY provider_id ORDER BY provider_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER install_added AFTER INSERT ON install REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION install_added();

CREATE FUNCTION install_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider p SET install_count = p.install_count - r.count
  FROM (SELECT provider_id AS id, count(*) AS count FROM changed GROUP BY provider_id ORDER BY provider_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER install_removed AFTER DELETE ON install REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION install_removed();

CREATE FUNCTION domain_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider p SET domain_count = p.domain_count + r.count
  FROM (SELECT provider_id AS id, count(*) AS count FROM changed GROUP BY provider_id ORDER BY provider_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER domain_added AFTER INSERT ON domain REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION domain_added();

CREATE FUNCTION domain_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider p SET domain_count = p.domain_count - r.count
  FROM (SELECT provider_id AS id, count(*) AS count FROM changed GROUP BY provider_id ORDER BY provider_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER domain_removed AFTER DELETE ON domain REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION domain_removed();

CREATE FUNCTION slot_end_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider p SET slot_end_count = p.slot_end_count + r.count
  FROM (SELECT provider_id AS id, count(*) AS count FROM changed GROUP BY provider_id ORDER BY provider_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER slot_end_added AFTER INSERT ON slot_end REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION slot_end_added();

CREATE FUNCTION slot_end_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider p SET slot_end_count = p.slot_end_count - r.count
  FROM (SELECT provider_id AS id, count(*) AS count FROM changed GROUP BY provider_id ORDER BY provider_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER slot_end_removed AFTER DELETE ON slot_end REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION slot_end_removed();

-- What a provider keeps of its distributions. 200 is KEPT_BYTES_EACH.

CREATE FUNCTION distribution_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes + octet_length(NEW.payload) + octet_length(NEW.target_hwid) + 200
  WHERE id = NEW.provider_id;
  RETURN NULL;
END $$;

CREATE TRIGGER distribution_added AFTER INSERT ON distribution
FOR EACH ROW EXECUTE FUNCTION distribution_added();

CREATE FUNCTION distribution_loaded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider SET ledger_count = ledger_count + NEW.recipient_count - OLD.recipient_count
  WHERE id = NEW.provider_id;
  RETURN NULL;
END $$;

CREATE TRIGGER distribution_loaded AFTER UPDATE OF recipient_count ON distribution
FOR EACH ROW WHEN (NEW.recipient_count <> OLD.recipient_count)
EXECUTE FUNCTION distribution_loaded();

CREATE FUNCTION distribution_let_go() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE provider
  SET kept_bytes = kept_bytes - octet_length(OLD.payload) - octet_length(OLD.target_hwid) - 200,
    ledger_count = ledger_count - OLD.recipient_count
  WHERE id = OLD.provider_id;
  RETURN NULL;
END $$;

CREATE TRIGGER distribution_pruned AFTER UPDATE OF pruned_at_ms ON distribution
FOR EACH ROW WHEN (OLD.pruned_at_ms IS NULL AND NEW.pruned_at_ms IS NOT NULL)
EXECUTE FUNCTION distribution_let_go();

CREATE TRIGGER distribution_removed AFTER DELETE ON distribution
FOR EACH ROW WHEN (OLD.pruned_at_ms IS NULL) EXECUTE FUNCTION distribution_let_go();

-- Slots and ties: of a link, of a device at a provider, and from there of the device.

-- Newcomers come many to a statement, which may say of a device that is new what is true of it then.
-- So what comes in is not added to a count: the count becomes the number of rows, under the lock of
-- the device. Whatever is looked for in a table here is found by an index, also by a plan that was
-- made while the table was empty.

CREATE FUNCTION install_device_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE install i SET device_count = i.device_count
    + (SELECT count(*) FROM changed c WHERE c.install_id = i.id)
  WHERE i.id = ANY (ARRAY(SELECT install_id FROM changed));
  PERFORM id FROM device WHERE id = ANY (ARRAY(SELECT device_id FROM changed))
  ORDER BY hwid FOR NO KEY UPDATE;
  INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name, app_version,
    user_agent, last_seen_at_ms, slot_count)
  SELECT x.device_id, x.provider_id, '', '', '', '', '', x.at_ms, x.count FROM (
    SELECT c.device_id, c.provider_id, min(c.registered_at_ms) AS at_ms,
      (SELECT count(*) FROM install_device s
       WHERE s.device_id = c.device_id AND s.provider_id = c.provider_id) AS count,
      (SELECT p.slot_count FROM device_provider p
       WHERE p.device_id = c.device_id AND p.provider_id = c.provider_id) AS counted
    FROM changed c GROUP BY c.device_id, c.provider_id
  ) x
  WHERE x.counted IS DISTINCT FROM x.count
  ON CONFLICT (device_id, provider_id) DO UPDATE SET slot_count = excluded.slot_count;
  RETURN NULL;
END $$;

CREATE TRIGGER install_device_added AFTER INSERT ON install_device REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION install_device_added();

CREATE FUNCTION install_device_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE install SET device_count = device_count - 1 WHERE id = OLD.install_id;
  UPDATE device_provider SET slot_count = slot_count - 1
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
  RETURN NULL;
END $$;

CREATE TRIGGER install_device_removed AFTER DELETE ON install_device
FOR EACH ROW EXECUTE FUNCTION install_device_removed();

CREATE FUNCTION device_domain_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO device_provider AS p (device_id, provider_id, os, os_version, device_name,
    app_version, user_agent, last_seen_at_ms, tie_count)
  VALUES (NEW.device_id, NEW.provider_id, '', '', '', '', '', NEW.linked_at_ms, 1)
  ON CONFLICT (device_id, provider_id) DO UPDATE SET tie_count = p.tie_count + 1;
  RETURN NULL;
END $$;

CREATE TRIGGER device_domain_added AFTER INSERT ON device_domain
FOR EACH ROW EXECUTE FUNCTION device_domain_added();

CREATE FUNCTION device_domain_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE device_provider SET tie_count = tie_count - 1
  WHERE device_id = OLD.device_id AND provider_id = OLD.provider_id;
  RETURN NULL;
END $$;

CREATE TRIGGER device_domain_removed AFTER DELETE ON device_domain
FOR EACH ROW EXECUTE FUNCTION device_domain_removed();

CREATE FUNCTION device_held() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM changed WHERE slot_count + tie_count > 0) THEN
    RETURN NULL;
  END IF;
  PERFORM id FROM device WHERE id = ANY (ARRAY(SELECT device_id FROM changed))
  ORDER BY hwid FOR NO KEY UPDATE;
  UPDATE device d SET holder_count = (SELECT count(*) FROM device_provider p
    WHERE p.device_id = d.id AND p.slot_count + p.tie_count > 0)
  WHERE d.id = ANY (ARRAY(SELECT device_id FROM changed))
    AND d.holder_count <> (SELECT count(*) FROM device_provider p
      WHERE p.device_id = d.id AND p.slot_count + p.tie_count > 0);
  RETURN NULL;
END $$;

CREATE FUNCTION device_left() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE device SET holder_count = holder_count - 1 WHERE id = OLD.device_id;
  RETURN NULL;
END $$;

CREATE TRIGGER device_provider_held AFTER INSERT ON device_provider
REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION device_held();

CREATE FUNCTION device_provider_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE device
  SET holder_count = holder_count + CASE WHEN NEW.slot_count + NEW.tie_count = 0 THEN -1 ELSE 1 END
  WHERE id = NEW.device_id;
  RETURN NULL;
END $$;

CREATE TRIGGER device_provider_changed AFTER UPDATE OF slot_count, tie_count ON device_provider
FOR EACH ROW WHEN ((OLD.slot_count + OLD.tie_count = 0) <> (NEW.slot_count + NEW.tie_count = 0))
EXECUTE FUNCTION device_provider_changed();

CREATE TRIGGER device_provider_left AFTER DELETE ON device_provider
FOR EACH ROW WHEN (OLD.slot_count + OLD.tie_count > 0) EXECUTE FUNCTION device_left();

-- A token that lost its last place at a provider is dead. The place of nobody goes with it, unless
-- it was all that the token was registered for. Two places may be lost at once: the second looks
-- when the first is gone, and none is taken meanwhile.

CREATE FUNCTION place_lost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM device_token WHERE id = OLD.token_id AND stands_alone = 0 FOR UPDATE;
  IF FOUND THEN
    DELETE FROM device_token WHERE id = OLD.token_id AND stands_alone = 0
      AND NOT EXISTS (SELECT 1 FROM device_provider WHERE token_id = OLD.token_id);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER device_provider_place_lost AFTER UPDATE OF token_id ON device_provider
FOR EACH ROW WHEN (OLD.token_id IS NOT NULL AND OLD.token_id IS DISTINCT FROM NEW.token_id)
EXECUTE FUNCTION place_lost();

CREATE TRIGGER device_provider_removed AFTER DELETE ON device_provider
FOR EACH ROW WHEN (OLD.token_id IS NOT NULL) EXECUTE FUNCTION place_lost();

-- The queue of a destination, a statement at a time as well.

CREATE FUNCTION outbox_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE destination p SET waiting_count = p.waiting_count + r.count
  FROM (SELECT destination_id AS id, count(*) AS count FROM changed GROUP BY destination_id ORDER BY destination_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER outbox_added AFTER INSERT ON outbox REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION outbox_added();

CREATE FUNCTION outbox_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE destination p SET waiting_count = p.waiting_count - r.count
  FROM (SELECT destination_id AS id, count(*) AS count FROM changed GROUP BY destination_id ORDER BY destination_id) r
  WHERE p.id = r.id;
  RETURN NULL;
END $$;

CREATE TRIGGER outbox_removed AFTER DELETE ON outbox REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION outbox_removed();

-- A recipient that is forgotten is waited for no longer, and its push goes with it: `push_state` is
-- 1 for as long as there is one.

CREATE FUNCTION recipient_at_gateway_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM changed WHERE push_state = 1) THEN
    DELETE FROM outbox
    WHERE recipient_id = ANY (ARRAY(SELECT id FROM changed WHERE push_state = 1));
    UPDATE distribution x SET push_waiting_count = x.push_waiting_count - r.count
    FROM (
      SELECT distribution_id AS id, count(*) AS count FROM changed WHERE push_state = 1
      GROUP BY distribution_id ORDER BY distribution_id
    ) r
    WHERE x.id = r.id;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER recipient_at_gateway_removed AFTER DELETE ON recipient
REFERENCING OLD TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION recipient_at_gateway_removed();
