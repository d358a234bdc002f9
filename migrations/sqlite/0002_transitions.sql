-- The law of core/distribution.ts, said to the database: any other change of status is refused,
-- whoever asks for it. A test compares the two.

INSERT INTO distribution_transition (from_status, to_status) VALUES
  (10, 20), (10, 130), (10, 140),
  (20, 30), (20, 5), (20, 130), (20, 140),
  (30, 20), (30, 130), (30, 140),
  (5, 6), (5, 40), (5, 140),
  (6, 40), (6, 140),
  (40, 100), (40, 110), (40, 120), (40, 140);

CREATE TRIGGER distribution_created BEFORE INSERT ON distribution WHEN NEW.status <> 10 BEGIN
  SELECT RAISE(ABORT, 'a distribution begins as 10 Created');
END;

CREATE TRIGGER distribution_moved BEFORE UPDATE OF status ON distribution
WHEN NEW.status <> OLD.status AND NOT EXISTS (
  SELECT 1 FROM distribution_transition
  WHERE from_status = OLD.status AND to_status = NEW.status
) BEGIN
  SELECT RAISE(ABORT, 'no such transition between statuses of a distribution');
END;
