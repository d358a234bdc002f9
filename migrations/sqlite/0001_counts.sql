-- The counts are facts of the tables, not of the program: whoever adds or removes a row, they hold.
-- Together with the CHECK install_never_over_full they make an over-filled link impossible.

CREATE TRIGGER install_device_added AFTER INSERT ON install_device BEGIN
  UPDATE install SET device_count = device_count + 1 WHERE id = NEW.install_id;
END;

CREATE TRIGGER install_device_removed AFTER DELETE ON install_device BEGIN
  UPDATE install SET device_count = device_count - 1 WHERE id = OLD.install_id;
END;

CREATE TRIGGER install_device_stays BEFORE UPDATE OF install_id, device_id ON install_device BEGIN
  SELECT RAISE(ABORT, 'a slot never moves to another link or device');
END;

CREATE TRIGGER install_added AFTER INSERT ON install BEGIN
  UPDATE provider SET install_count = install_count + 1 WHERE id = NEW.provider_id;
END;

CREATE TRIGGER install_removed AFTER DELETE ON install BEGIN
  UPDATE provider SET install_count = install_count - 1 WHERE id = OLD.provider_id;
END;

CREATE TRIGGER install_stays BEFORE UPDATE OF provider_id ON install BEGIN
  SELECT RAISE(ABORT, 'a link never moves to another provider');
END;
