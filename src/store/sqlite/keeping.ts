/**
 * Housekeeping: ledgers, what was sent, and devices that belong to nobody. Always a few at a time,
 * as the writes of others wait meanwhile; a look that finds nothing writes nothing.
 */

import { sql } from 'drizzle-orm';
import type { KeepingStore } from '../../core/port/keeping.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import type { Context } from './context.ts';
import { countSeen } from './known-device.ts';
import { storyStatements } from './slot-end.ts';
import { value } from './statement.ts';

/** Distributions, or rows of a ledger, that a step looks at or deletes: some 5 ms. */
const LOOK_COUNT = 500;
const LEDGER_COUNT = 1_000;
const PRUNE_COUNT = 200;
/** Bytes of payloads that a step frees: the pages of a long text are read to be freed. */
const PRUNE_BYTES = 1024 ** 2;
/** Strangers that a step looks at. */
const STRANGER_COUNT = 100;
/** Devices that a step deletes, each with all that hangs on it. */
const DEVICE_COUNT = 25;

/** Position of a look at what has finished. */
interface FinishedPosition {
  finishedAtMs: number;
  id: number;
}

const FIRST_FINISHED: FinishedPosition = { finishedAtMs: 0, id: 0 };

interface Finished extends FinishedPosition {
  isExpired: number;
  bytes: number;
}

function ledgerStatements({ db }: Context) {
  const finished = value('finishedAtMs');
  return {
    finished: db.prepare<Finished>(sql`
        SELECT id, finished_at_ms AS "finishedAtMs", expires_at_ms <= ${value('nowMs')} AS "isExpired",
          octet_length(payload) AS bytes
        FROM distribution
        WHERE pruned_at_ms IS NULL AND finished_at_ms >= ${finished}
          AND finished_at_ms < ${value('finishedBeforeMs')}
          AND (finished_at_ms > ${finished} OR id > ${value('id')})
        ORDER BY finished_at_ms, id LIMIT ${LOOK_COUNT}`),
    dropRecipients: db.prepare(sql`
        DELETE FROM recipient WHERE id IN (
          SELECT id FROM recipient WHERE distribution_id = ${value('id')}
          LIMIT ${value('countMax')})`),
    /** The payload becomes JSON's null, as a payload is JSON. */
    pruned: db.prepare(sql`
        UPDATE distribution SET pruned_at_ms = ${value('nowMs')}, payload = 'null'
        WHERE id = ${value('id')} AND pruned_at_ms IS NULL`),
    oldest: db.prepare<{ id: number }>(sql`
        SELECT id FROM distribution
        WHERE pruned_at_ms IS NOT NULL AND finished_at_ms < ${value('finishedBeforeMs')}
        ORDER BY finished_at_ms LIMIT 1`),
    forget: db.prepare(sql`
        DELETE FROM distribution WHERE id IN (
          SELECT id FROM distribution
          WHERE pruned_at_ms IS NOT NULL AND finished_at_ms < ${value('finishedBeforeMs')}
          ORDER BY finished_at_ms LIMIT ${LOOK_COUNT})`),
  };
}

interface Visit {
  deviceId: number;
  providerId: number;
  isRegistered: number;
  deviceSeenAtMs: number;
}

const THIS_VISIT = sql`device_id = ${value('deviceId')} AND provider_id = ${value('providerId')}`;
const IS_IDLE_VISIT = sql`slot_count = 0 AND tie_count = 0
  AND last_seen_at_ms < ${value('seenBeforeMs')}`;

function deviceStatements(context: Context) {
  const { db } = context;
  const lastSeen = value('lastSeenAtMs');
  return {
    noteSeen: db.prepare(
      sql`UPDATE device SET last_seen_at_ms = ${value('nowMs')} WHERE id = ${value('id')}`,
    ),
    noteToken: db.prepare(
      sql`UPDATE device_token SET last_seen_at_ms = ${value('nowMs')} WHERE id = ${value('tokenId')}`,
    ),
    places: db.prepare<{ providerId: number; lastSeenAtMs: number }>(sql`
        SELECT provider_id AS "providerId", last_seen_at_ms AS "lastSeenAtMs"
        FROM device_provider WHERE token_id = ${value('tokenId')}`),
    checkIn: db.prepare(sql`
        UPDATE device_provider
        SET checked_in_at_ms = ${value('nowMs')}, last_seen_at_ms = ${value('nowMs')}
        WHERE token_id = ${value('tokenId')}`),
    idleVisits: db.prepare<Visit>(sql`
        SELECT device_id AS "deviceId", provider_id AS "providerId",
          token_id IS NOT NULL AS "isRegistered",
          (SELECT last_seen_at_ms FROM device WHERE id = device_id) AS "deviceSeenAtMs"
        FROM device_provider WHERE ${IS_IDLE_VISIT}
        ORDER BY last_seen_at_ms LIMIT ${value('countMax')}`),
    moveVisit: db.prepare(sql`
        UPDATE device_provider SET last_seen_at_ms = ${value('deviceSeenAtMs')}
        WHERE ${THIS_VISIT}`),
    forgetVisit: db.prepare(sql`DELETE FROM device_provider WHERE ${THIS_VISIT}`),
    strangerCount: db.prepare<{ count: number }>(
      sql`SELECT stranger_count AS count FROM appliance`,
    ),
    strangers: db.prepare<{ id: number; lastSeenAtMs: number; isRegistered: number }>(sql`
        SELECT id, last_seen_at_ms AS "lastSeenAtMs",
          EXISTS (SELECT 1 FROM device_token t WHERE t.device_id = device.id) AS "isRegistered"
        FROM device
        WHERE holder_count = 0 AND last_seen_at_ms >= ${lastSeen}
          AND (last_seen_at_ms > ${lastSeen} OR id > ${value('id')})
        ORDER BY last_seen_at_ms, id LIMIT ${STRANGER_COUNT}`),
    dropRecipients: db.prepare(sql`
        DELETE FROM recipient WHERE id IN (
          SELECT id FROM recipient WHERE device_id = ${value('id')} LIMIT ${value('countMax')})`),
    dropFromStories: storyStatements(context),
    forget: db.prepare(sql`DELETE FROM device WHERE id = ${value('id')}`),
  };
}

/** Position of a look at strangers, those not seen for longest first. */
interface StrangerPosition {
  lastSeenAtMs: number;
  id: number;
  /** The first round: of a surplus, those that registered stay. */
  sparesRegistered: boolean;
}

const FIRST_STRANGER: StrangerPosition = { lastSeenAtMs: 0, id: 0, sparesRegistered: true };

type DeviceKeeping = 'noteSeen' | 'forgetVisits' | 'forgetStrangers';

function deviceKeeping(context: Context): Pick<KeepingStore, DeviceKeeping> {
  const { writer } = context;
  const on = deviceStatements(context);

  /** The next ones that are to go, and where to go on behind them. */
  function toForget(bounds: { seenBeforeMs: number; countMax: number }, after: StrangerPosition) {
    const surplus = (on.strangerCount.get()?.count ?? 0) - bounds.countMax;
    const { lastSeenAtMs: fromMs, id: fromId, sparesRegistered } = after;
    const found = on.strangers.all({ lastSeenAtMs: fromMs, id: fromId });
    const isIdle = (seenAtMs: number) => seenAtMs < bounds.seenBeforeMs;
    const ids: number[] = [];
    const [first] = found;
    if (surplus <= 0 && !(first && isIdle(first.lastSeenAtMs))) return { ids, next: null };
    let next: StrangerPosition | null = after;
    for (const { id, lastSeenAtMs, isRegistered } of found) {
      if (ids.length === DEVICE_COUNT) return { ids, next };
      const isSpared = sparesRegistered && isRegistered === 1;
      if (isIdle(lastSeenAtMs) || (ids.length < surplus && !isSpared)) ids.push(id);
      next = { lastSeenAtMs, id, sparesRegistered };
    }
    if (found.length < STRANGER_COUNT) {
      next = sparesRegistered ? { ...FIRST_STRANGER, sparesRegistered: false } : null;
    }
    return { ids, next };
  }

  return {
    noteSeen: (id, tokenId, nowMs) =>
      writer.run(() => {
        on.noteSeen.run({ id, nowMs });
        for (const { providerId, lastSeenAtMs } of on.places.all({ tokenId })) {
          countSeen(context, providerId, lastSeenAtMs, nowMs);
        }
        on.noteToken.run({ tokenId, nowMs });
        on.checkIn.run({ tokenId, nowMs });
      }),

    forgetVisits: async (seenBeforeMs) => {
      if (on.idleVisits.all({ seenBeforeMs, countMax: 1 }).length === 0) return false;
      return writer.run(() => {
        const visits = on.idleVisits.all({ seenBeforeMs, countMax: DEVICE_COUNT });
        for (const { isRegistered, ...visit } of visits) {
          // A device that shows its token is seen, but not by a provider in particular.
          const isSeen = isRegistered === 1 && visit.deviceSeenAtMs >= seenBeforeMs;
          if (isSeen) on.moveVisit.run(visit);
          else on.forgetVisit.run(visit);
        }
        return visits.length > 0;
      });
    },

    forgetStrangers: async (bounds, after) => {
      const from = positionOf(after, FIRST_STRANGER);
      const strangers = toForget(bounds, from);
      if (strangers.ids.length === 0) return strangers.next && cursorAt(strangers.next);
      return writer.run(() => {
        const found = toForget(bounds, from);
        let rows = 0;
        for (const id of found.ids) {
          for (const drop of [on.dropRecipients, ...on.dropFromStories]) {
            const countMax = LEDGER_COUNT - rows;
            const dropped = drop.run({ id, countMax });
            if (dropped === countMax) return cursorAt(from);
            rows += dropped;
          }
          on.forget.run({ id });
        }
        return found.next && cursorAt(found.next);
      });
    },
  };
}

export function keepingStore(context: Context): KeepingStore {
  const { writer } = context;
  const on = ledgerStatements(context);

  /** Prunes from the beginning of a run; says up to where. */
  function prune(run: readonly Finished[], nowMs: number, from: FinishedPosition) {
    let at = from;
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const { id, finishedAtMs, isExpired, bytes: size } of run) {
      if (isExpired === 1) {
        if (count === PRUNE_COUNT || bytes > PRUNE_BYTES) return at;
        const countMax = LEDGER_COUNT - rows;
        const dropped = on.dropRecipients.run({ id, countMax });
        if (dropped === countMax) return at;
        rows += dropped;
        bytes += size;
        count += on.pruned.run({ id, nowMs });
      }
      at = { finishedAtMs, id };
    }
    return at;
  }

  return {
    ...deviceKeeping(context),

    pruneLedger: async (finishedBeforeMs, nowMs, after) => {
      const from = positionOf(after, FIRST_FINISHED);
      const behind = { ...from, finishedBeforeMs, nowMs };
      const found = on.finished.all(behind);
      const last = found.at(-1);
      if (last === undefined) return null;
      if (found.every(({ isExpired }) => isExpired === 0)) {
        return cursorAt({ finishedAtMs: last.finishedAtMs, id: last.id });
      }
      return writer.run(() => cursorAt(prune(on.finished.all(behind), nowMs, from)));
    },

    forgetDistributions: async (finishedBeforeMs) => {
      if (on.oldest.get({ finishedBeforeMs }) === null) return false;
      return writer.run(() => on.forget.run({ finishedBeforeMs }) > 0);
    },
  };
}
