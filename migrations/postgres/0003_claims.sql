-- A registration remembers the link by which it was claimed, and a token when it was last shown. A
-- slot keeps the time at which it was last seen when another slot of its device ends.

ALTER TABLE device_provider
  ADD COLUMN claim_install_id bigint,
  ADD COLUMN seen_apart integer NOT NULL DEFAULT 0;
ALTER TABLE device_token ADD COLUMN last_seen_at_ms bigint NOT NULL DEFAULT 0;

-- Only the device's last call was kept: the token was shown then, or before.
UPDATE device_token t SET last_seen_at_ms = d.last_seen_at_ms
FROM device d WHERE d.id = t.device_id;

-- The link of the device's first slot. A slot that is younger than the registration did not claim
-- it: the one that did is gone.
UPDATE device_provider p SET claim_install_id = (
  SELECT s.install_id FROM install_device s
  WHERE s.id <= p.after_slot_id AND s.id = (
    SELECT min(f.id) FROM install_device f
    WHERE f.device_id = p.device_id AND f.provider_id = p.provider_id))
WHERE p.token_id IS NOT NULL AND p.is_by_link = 1;
