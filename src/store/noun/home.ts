/** Moves the home link of a device, in writes that see the device on another link. */

import { type Home, movesHome } from '../../core/ride/home.ts';
import type { Backend, Step } from '../backend.ts';
import { sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';

/**
 * Returns the step that moves the home of a device, if it may move, to a link where it has a slot.
 * A node of 0.10.0 that runs beside newer ones admits devices without a home; this step gives them
 * one.
 */
export const homeSteps = shared(({ prepare, greatest, leastMs }: Backend) => {
  const ofPair = sql`device_id = :deviceId AND provider_id = :providerId`;
  const slotSeen = sql`(SELECT ${greatest(
    sql.raw('s.last_seen_at_ms'),
    sql.raw('p.checked_in_at_ms'),
  )} FROM install_device s WHERE s.install_id = p.home_install_id AND s.device_id = p.device_id)`;
  const away = prepare(sql`
      SELECT ${values<{
        seenAtMs: (Pick<Home, 'seenAtMs'> & { isRegistered: number })['seenAtMs'];
        isRegistered: (Pick<Home, 'seenAtMs'> & { isRegistered: number })['isRegistered'];
      }>({
        seenAtMs: sql`coalesce(p.home_left_at_ms, ${slotSeen}, 0)`,
        isRegistered: sql`CAST(p.token_id IS NOT NULL
          AND p.claim_install_id IS NOT NULL AS integer)`,
      })}
      FROM device_provider p WHERE ${ofPair} AND p.home_install_id IS DISTINCT FROM :installId`);
  const move = prepare(sql`
      UPDATE device_provider SET home_install_id = :installId, home_left_at_ms = NULL,
        home_moved_at_ms = :nowMs
      WHERE ${ofPair}`);

  return function* (
    key: { deviceId: number; providerId: number; installId: number },
    nowMs: number,
  ): Step<void> {
    const home = yield* away.get(key);
    if (home === null) return;
    const isRegistered = home.isRegistered === 1;
    if (!movesHome({ ...home, isRegistered }, leastMs(nowMs))) return;
    yield* move.run({ ...key, nowMs });
  };
});
