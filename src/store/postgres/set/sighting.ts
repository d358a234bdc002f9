/**
 * Devices that show their tokens, those of a turn in one statement. By bench/sets.ts one of 32
 * costs 61 us of processor time, PostgreSQL's included; alone 715 us.
 */

import type { Store } from '../../../core/port/store.ts';
import { isFirstOfDay } from '../../noun/known-device.ts';
import { sql } from '../../statement-text.ts';
import { runInRounds } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';

/** Devices of one statement. */
const SEEN_MAX = 200;

const SIGHTINGS = tableOf('k', { deviceId: 'bigint', tokenId: 'bigint', nowMs: 'bigint' });
type Sighting = Record<'deviceId' | 'tokenId' | 'nowMs', number>;

/** Records sightings of different devices. */
const noteAll = prepare<{ n: number; providerId: number; seenBeforeMs: number }>(sql`
    WITH sighting AS MATERIALIZED (
      SELECT k.*, d.hwid FROM ${SIGHTINGS.from}
        CROSS JOIN LATERAL (SELECT hwid FROM device WHERE id = k.device_id LIMIT 1) d
      ORDER BY d.hwid),
    held AS MATERIALIZED (
      SELECT s.* FROM sighting s CROSS JOIN LATERAL (
        SELECT 1 FROM device WHERE id = s.device_id LIMIT 1 FOR NO KEY UPDATE) d),
    seen AS (
      UPDATE device d SET last_seen_at_ms =
        (SELECT h.now_ms FROM held h WHERE h.device_id = d.id)
      WHERE d.id = ANY(ARRAY(SELECT device_id FROM held))),
    shown AS (
      UPDATE device_token t SET last_seen_at_ms =
        (SELECT h.now_ms FROM held h WHERE h.token_id = t.id)
      WHERE t.id = ANY(ARRAY(SELECT token_id FROM held))),
    places AS MATERIALIZED (
      SELECT h.n, h.now_ms, p.device_id, p.provider_id, p.last_seen_at_ms
      FROM held h CROSS JOIN LATERAL (
        SELECT * FROM device_provider WHERE token_id = h.token_id OFFSET 0
        FOR NO KEY UPDATE) p),
    checked_in AS (
      UPDATE device_provider p SET (checked_in_at_ms, last_seen_at_ms) =
        (SELECT h.now_ms, h.now_ms FROM held h WHERE h.token_id = p.token_id)
      WHERE p.token_id = ANY(ARRAY(SELECT token_id FROM held))
        AND EXISTS (SELECT 1 FROM places c
          WHERE c.device_id = p.device_id AND c.provider_id = p.provider_id))
    SELECT n::integer AS n, provider_id AS "providerId", last_seen_at_ms AS "seenBeforeMs"
    FROM places`);

export function sightingsInGroups({ db, figures }: Context): Pick<Store, 'noteSeen'> {
  async function note(on: Runner, sightings: readonly Sighting[]): Promise<undefined[]> {
    for (const { n, providerId, seenBeforeMs } of await noteAll.all(on, SIGHTINGS.of(sightings))) {
      const nowMs = sightings[n - 1]?.nowMs ?? 0;
      if (isFirstOfDay(seenBeforeMs, nowMs)) figures.note(providerId, 'seen', nowMs);
    }
    return sightings.map(() => undefined);
  }

  const sightings = new TurnGroup<Sighting, undefined>(db, {
    isWrite: true,
    itemsMax: SEEN_MAX,
    run: (asked) => runInRounds(db.writing, asked, ({ deviceId }) => deviceId, note),
  });
  return { noteSeen: (deviceId, tokenId, nowMs) => sightings.ask({ deviceId, tokenId, nowMs }) };
}
