-- A registration remembers the link by which it was claimed, and a token when it was last shown. A
-- slot keeps the time at which it was last seen when another slot of its device ends.

ALTER TABLE `device_provider` ADD `claim_install_id` integer;
ALTER TABLE `device_provider` ADD `seen_apart` integer DEFAULT 0 NOT NULL;
ALTER TABLE `device_token` ADD `last_seen_at_ms` integer DEFAULT 0 NOT NULL;

-- Only the device's last call was kept: the token was shown then, or before.
UPDATE device_token SET last_seen_at_ms = coalesce(
  (SELECT d.last_seen_at_ms FROM device d WHERE d.id = device_token.device_id), 0);

-- The link of the device's first slot. A slot that is younger than the registration did not claim
-- it: the one that did is gone.
UPDATE device_provider SET claim_install_id = (
  SELECT s.install_id FROM install_device s
  WHERE s.id <= device_provider.after_slot_id AND s.id = (
    SELECT min(f.id) FROM install_device f
    WHERE f.device_id = device_provider.device_id
      AND f.provider_id = device_provider.provider_id))
WHERE token_id IS NOT NULL AND is_by_link = 1;
