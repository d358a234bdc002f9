/** Devices that are seen, or were not for long: their visits, and who belongs to nobody. */

import { sql } from 'drizzle-orm';
import type { KeepingStore, StrangerCursor } from '../../core/port/keeping.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import type { Context } from './context.ts';
import { dropRecipients } from './forgetting.ts';
import { TurnGroup } from './group.ts';
import { countSeen } from './known-device.ts';
import { inRounds } from './rounds.ts';
import { storySteps } from './slot-end.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

type StrangerKeeping = Pick<KeepingStore, 'noteSeen' | 'forgetVisits' | 'forgetStrangers'>;

/** Devices that one statement sees. */
const SEEN_MAX = 200;
/** Strangers that a step looks at. */
const STRANGER_COUNT = 100;
/** Devices that a step deletes, each with all that hangs on it, and rows of theirs. */
const DEVICE_COUNT = 25;
const ROW_COUNT = 2_000;
/** Visits that a step deletes. */
const VISIT_COUNT = 100;

interface Sighting {
  deviceId: number;
  tokenId: number;
  nowMs: number;
}

interface Visit {
  deviceId: number;
  providerId: number;
}

const IS_IDLE_VISIT = sql`p.slot_count = 0 AND p.tie_count = 0
  AND p.last_seen_at_ms < ${value('seenBeforeMs')}`;
const THESE_VISITS = sql`
  unnest(${value('deviceIds')}::bigint[], ${value('providerIds')}::bigint[])
    AS v (device_id, provider_id)`;

const seeing = {
  /** Of different devices. */
  note: prepare<{ n: number; providerId: number; seenBeforeMs: number }>(sql`
      WITH said AS MATERIALIZED (
        SELECT k.*, d.hwid FROM unnest(${value('deviceIds')}::bigint[],
            ${value('tokenIds')}::bigint[], ${value('nowMs')}::bigint[])
            WITH ORDINALITY AS k (device_id, token_id, now_ms, n)
          CROSS JOIN LATERAL (SELECT hwid FROM device WHERE id = k.device_id LIMIT 1) d
        ORDER BY d.hwid),
      held AS MATERIALIZED (
        SELECT s.* FROM said s CROSS JOIN LATERAL (
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
      FROM places`),
};

const visits = {
  idle: prepare<Visit>(sql`
      SELECT p.device_id AS "deviceId", p.provider_id AS "providerId" FROM device_provider p
      WHERE ${IS_IDLE_VISIT}
      ORDER BY p.last_seen_at_ms, p.device_id, p.provider_id LIMIT ${value('countMax')}`),
  hold: prepare<{ id: number }>(sql`
      SELECT id FROM device WHERE id = ANY(${value('deviceIds')}::bigint[])
      ORDER BY hwid FOR NO KEY UPDATE`),
  /** A device that shows its token is seen, but not by a provider in particular. */
  move: prepare(sql`
      UPDATE device_provider p SET last_seen_at_ms = d.last_seen_at_ms
      FROM ${THESE_VISITS} JOIN device d ON d.id = v.device_id
      WHERE p.device_id = v.device_id AND p.provider_id = v.provider_id AND ${IS_IDLE_VISIT}
        AND p.token_id IS NOT NULL AND d.last_seen_at_ms >= ${value('seenBeforeMs')}`),
  forget: prepare(sql`
      DELETE FROM device_provider p USING ${THESE_VISITS}
      WHERE p.device_id = v.device_id AND p.provider_id = v.provider_id AND ${IS_IDLE_VISIT}`),
};

interface Stranger {
  id: number;
  lastSeenAtMs: number;
  isRegistered: boolean;
}

const strangers = {
  /** How many there are beyond a number, as far as that is worth knowing. */
  surplus: prepare<{ count: number }>(sql`
      SELECT count(*) AS count FROM (
        SELECT 1 FROM device WHERE holder_count = 0
        OFFSET ${value('countMax')} LIMIT ${value('surplusMax')}) AS beyond`),
  next: prepare<Stranger>(sql`
      SELECT id, last_seen_at_ms AS "lastSeenAtMs",
        EXISTS (SELECT 1 FROM device_token t WHERE t.device_id = device.id) AS "isRegistered"
      FROM device
      WHERE holder_count = 0
        AND (last_seen_at_ms, id) > (${value('lastSeenAtMs')}::bigint, ${value('id')}::bigint)
      ORDER BY last_seen_at_ms, id LIMIT ${STRANGER_COUNT}`),
  /** Those that are strangers still, and were not seen meanwhile. */
  hold: prepare<{ id: number }>(sql`
      SELECT d.id FROM device d
        JOIN unnest(${value('ids')}::bigint[], ${value('seenAtMs')}::bigint[])
          AS k (id, seen_at_ms) ON k.id = d.id
      WHERE d.holder_count = 0 AND d.last_seen_at_ms = k.seen_at_ms
      ORDER BY d.hwid FOR UPDATE OF d SKIP LOCKED`),
  forget: prepare(sql`
      DELETE FROM device WHERE id = ANY(${value('ids')}::bigint[]) AND holder_count = 0`),
};

/** Strangers beyond the bound that are counted at most; those behind them have their turn later. */
const SURPLUS_MAX = 100_000;

/** Position of a look at strangers, those not seen for longest first. */
interface StrangerPosition {
  lastSeenAtMs: number;
  id: number;
  /** The first round: of a surplus, those that registered stay. */
  sparesRegistered: boolean;
  /** Strangers that are too many; null: that is to be counted. */
  surplus: number | null;
}

const FIRST_STRANGER: StrangerPosition = {
  ...{ lastSeenAtMs: 0, id: 0, sparesRegistered: true, surplus: null },
};

/** Of those that were found, the ones that are to go, and where to go on behind them. */
function toForget(
  found: readonly Stranger[],
  seenBeforeMs: number,
  surplus: number,
  from: StrangerPosition,
) {
  const { sparesRegistered } = from;
  const isIdle = (seenAtMs: number) => seenAtMs < seenBeforeMs;
  const gone: Stranger[] = [];
  const [first] = found;
  if (surplus <= 0 && !(first && isIdle(first.lastSeenAtMs))) return { gone, next: null };
  const after = (at: Pick<StrangerPosition, 'lastSeenAtMs' | 'id'>, spares = sparesRegistered) => ({
    ...{ lastSeenAtMs: at.lastSeenAtMs, id: at.id, sparesRegistered: spares },
    surplus: Math.max(0, surplus - gone.length),
  });
  let at: Pick<StrangerPosition, 'lastSeenAtMs' | 'id'> = from;
  for (const stranger of found) {
    if (gone.length === DEVICE_COUNT) return { gone, next: after(at) };
    const isSpared = sparesRegistered && stranger.isRegistered;
    const isTooMany = gone.length < surplus && !isSpared;
    if (isIdle(stranger.lastSeenAtMs) || isTooMany) gone.push(stranger);
    at = stranger;
  }
  if (found.length === STRANGER_COUNT) return { gone, next: after(at) };
  return { gone, next: sparesRegistered ? after(FIRST_STRANGER, false) : null };
}

/** Deletes strangers with what hangs on them. False: a step was not enough for all of it. */
async function forget(w: Write, gone: readonly Stranger[]): Promise<boolean> {
  const held = await strangers.hold.all(w, {
    ids: gone.map(({ id }) => id),
    seenAtMs: gone.map(({ lastSeenAtMs }) => lastSeenAtMs),
  });
  const ids = held.map(({ id }) => id);
  if ((await dropRecipients(w, ids, ROW_COUNT)) === ROW_COUNT) return false;
  let left = ROW_COUNT;
  for (const id of ids) {
    for (const step of storySteps) {
      const dropped = await step.run(w, { id, countMax: left });
      if (dropped === left) return false;
      left -= dropped;
    }
  }
  await strangers.forget.run(w, { ids });
  return true;
}

export function strangerKeeping(context: Context): StrangerKeeping {
  const { db, write } = context;

  async function see(sightings: readonly Sighting[]): Promise<undefined[]> {
    const places = await seeing.note.all(db.writing, {
      deviceIds: sightings.map(({ deviceId }) => deviceId),
      tokenIds: sightings.map(({ tokenId }) => tokenId),
      nowMs: sightings.map(({ nowMs }) => nowMs),
    });
    for (const { n, providerId, seenBeforeMs } of places) {
      countSeen(context, providerId, seenBeforeMs, sightings[n - 1]?.nowMs ?? 0);
    }
    return sightings.map(() => undefined);
  }

  const sightings = new TurnGroup<Sighting, undefined>(db, {
    isWrite: true,
    itemsMax: SEEN_MAX,
    run: (asked) => inRounds(asked, ({ deviceId }) => deviceId, see),
  });

  async function surplusOf(countMax: number): Promise<number> {
    const found = await strangers.surplus.get(db, { countMax, surplusMax: SURPLUS_MAX });
    return found?.count ?? 0;
  }

  return {
    noteSeen: (deviceId, tokenId, nowMs) => sightings.ask({ deviceId, tokenId, nowMs }),

    forgetVisits: async (seenBeforeMs) => {
      const found = await visits.idle.all(db, { seenBeforeMs, countMax: VISIT_COUNT });
      if (found.length === 0) return false;
      const these = {
        deviceIds: found.map(({ deviceId }) => deviceId),
        providerIds: found.map(({ providerId }) => providerId),
        seenBeforeMs,
      };
      await write(async (w) => {
        await visits.hold.run(w, { deviceIds: these.deviceIds });
        await visits.move.run(w, these);
        await visits.forget.run(w, these);
      });
      return true;
    },

    forgetStrangers: async ({ seenBeforeMs, countMax }, cursor) => {
      const from = positionOf(cursor, FIRST_STRANGER);
      const { lastSeenAtMs, id } = from;
      const surplus = from.surplus ?? (await surplusOf(countMax));
      const found = await strangers.next.all(db, { lastSeenAtMs, id });
      const { gone, next } = toForget(found, seenBeforeMs, surplus, from);
      const isAll = gone.length === 0 || (await write((w) => forget(w, gone)));
      const then = isAll ? next : { ...from, surplus };
      return then && cursorAt<StrangerCursor>(then);
    },
  };
}
