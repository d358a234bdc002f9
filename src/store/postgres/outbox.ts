/** The outbox: destinations are got hold of, what is due at them is listed, and looked after. */

import { type SQL, sql } from 'drizzle-orm';
import { BLOCKED } from '../../core/message/status.ts';
import {
  dueRanges,
  type EventRow,
  eventDispatch,
  type PushRow,
  pushDispatch,
} from '../../core/outbox/dispatch.ts';
import {
  type Destination,
  type DestinationKind,
  type Dispatch,
  type OutboxStore,
  type OutboxTotals,
  type PushMessage,
  STOPPED_MS,
  WAIT_MAX_MS,
} from '../../core/port/outbox.ts';
import { literal } from '../status.ts';
import type { Context } from './context.ts';
import { settlementStore } from './outbox-settlement.ts';
import { READER } from './push-queue.ts';
import { prepare, value } from './statement.ts';

/** Dispatches of a destination among which the oldest is looked for: those tried first. */
const OLDEST_OF = 1_000;
/**
 * Time for which a push service that took its last push stays known without another, ms: those that
 * somebody makes up keep out new ones at most.
 */
const KNOWN_MS = sql.raw(String(7 * 86_400_000));
/** Push services that a step forgets. */
const FORGET_COUNT = 200;

/** Longest wait at `d`, ms: a time further ahead is from before a clock was set back. */
const WAIT_MAX = sql`CASE d.kind ${sql.join(
  Object.entries(WAIT_MAX_MS).map(([kind, ms]) => sql.raw(`WHEN '${kind}' THEN ${ms}`)),
  sql` `,
)} END`;

/** When something at destination `d` is due first, and last. */
const FIRST_DUE = sql`(SELECT min(o.next_at_ms) FROM outbox o WHERE o.destination_id = d.id)`;
const LAST_DUE = sql`(SELECT max(o.next_at_ms) FROM outbox o WHERE o.destination_id = d.id)`;

const NOW = sql`${value('nowMs')}::bigint`;
const OF_KINDS = sql`d.kind = ANY(${value('kinds')}::text[])`;

/** Something waits at `d`, and its webhook wants to be told. */
const IS_OPEN = sql`d.waiting_count > 0 AND NOT EXISTS (
  SELECT 1 FROM webhook w WHERE w.id = d.webhook_id AND w.disabled_at_ms IS NOT NULL)`;

/** When `d` may be tried although it was stopped; 0: it was not. */
const STOPPED_UNTIL = sql`coalesce(d.stopped_at_ms + ${sql.raw(String(STOPPED_MS))}, 0)`;

/** Nothing forbids to try `d` by now. */
const MAY_BE_TRIED = sql`(${STOPPED_UNTIL} <= ${NOW}
  AND (d.retry_at_ms <= ${NOW} OR d.retry_at_ms > ${NOW} + ${WAIT_MAX}))`;

const IS_HELD_UP = sql`(d.stopped_at_ms IS NOT NULL OR d.retry_at_ms > ${NOW})`;

const HAS_DUE = sql`(${FIRST_DUE} <= ${NOW} OR ${LAST_DUE} > ${NOW} + ${WAIT_MAX})`;

/** A lease further ahead than any lease lasts is from before the clock was set back. */
const IS_FREE = sql`(d.lease_owner IS NULL OR d.lease_until_ms <= ${value('clockMs')}
  OR d.lease_until_ms > ${value('untilMs')})`;

/** When `d` was served last, as the end of its lease has it; 0: never, or nobody knows. */
const SERVED_AT = sql`CASE WHEN d.lease_until_ms > ${value('untilMs')} THEN 0
  ELSE coalesce(d.lease_until_ms, 0) END`;

const DESTINATION = sql.raw(`d.id AS id, d.kind AS kind, d.origin AS origin,
  d.webhook_id AS "webhookId", d.waiting_count AS "waitingCount",
  d.failure_count AS "failureCount", d.failing_since_ms AS "failingSinceMs",
  d.retry_at_ms AS "retryAtMs", d.stopped_at_ms AS "stoppedAtMs", d.problem AS problem`);

const claimable = (which: SQL) =>
  prepare<{ id: number; servedAtMs: number }>(sql`
      SELECT d.id AS id, ${SERVED_AT} AS "servedAtMs" FROM destination d
      WHERE ${IS_OPEN} AND ${OF_KINDS} AND ${which} AND ${IS_FREE} AND ${MAY_BE_TRIED}
        AND d.id <> ALL(${value('except')}::bigint[]) AND ${HAS_DUE}
      ORDER BY 2, d.id LIMIT ${value('countMax')}`);

const on = {
  failing: claimable(sql`d.failure_count > 0`),
  healthy: claimable(sql`d.failure_count = 0`),
  /** Its row is held for moments by whoever puts something in: that is waited for. */
  hold: prepare<Destination>(sql`
      WITH taken AS MATERIALIZED (
        SELECT d.id FROM destination d
        WHERE d.id = ANY(${value('ids')}::bigint[]) AND d.waiting_count > 0
          AND ${IS_FREE} AND ${MAY_BE_TRIED}
        ORDER BY d.id FOR NO KEY UPDATE)
      UPDATE destination d
      SET lease_owner = ${value('owner')}, lease_until_ms = ${value('untilMs')}
      FROM taken WHERE d.id = taken.id
      RETURNING ${DESTINATION}`),
  releaseAll: prepare(sql`
      UPDATE destination SET lease_owner = NULL WHERE lease_owner = ${value('owner')}`),
  release: prepare(sql`
      UPDATE destination SET lease_owner = NULL
      WHERE id = ${value('id')} AND lease_owner = ${value('owner')}`),
  hasten: prepare(sql`
      UPDATE outbox SET next_at_ms = 0 WHERE id IN (
        SELECT id FROM outbox WHERE destination_id = ${value('id')} AND next_at_ms > 0
        ORDER BY next_at_ms, id LIMIT ${value('countMax')} FOR NO KEY UPDATE)`),
  next: prepare<{ nextAtMs: number | null }>(sql`
      SELECT min(greatest(${STOPPED_UNTIL},
        CASE WHEN d.retry_at_ms > ${NOW} + ${WAIT_MAX} THEN 0 ELSE d.retry_at_ms END,
        CASE WHEN ${LAST_DUE} > ${NOW} + ${WAIT_MAX} THEN 0 ELSE ${FIRST_DUE} END)) AS "nextAtMs"
      FROM destination d WHERE ${IS_OPEN} AND ${OF_KINDS}`),
  isHeldUp: prepare<{ id: number }>(sql`
      SELECT d.id AS id FROM destination d WHERE ${OF_KINDS} AND ${IS_HELD_UP} LIMIT 1`),
  resume: prepare(sql`
      UPDATE destination AS d SET stopped_at_ms = NULL, retry_at_ms = 0
      WHERE d.id IN (SELECT d.id FROM destination d WHERE ${OF_KINDS} AND ${IS_HELD_UP}
        ORDER BY d.id FOR NO KEY UPDATE)`),
  list: prepare<Destination>(sql`
      SELECT ${DESTINATION} FROM destination d
      WHERE ${OF_KINDS} AND (d.waiting_count > 0 OR d.problem IS NOT NULL)
      ORDER BY d.waiting_count DESC, d.id LIMIT ${value('countMax')}`),
  totals: prepare<OutboxTotals>(sql`
      SELECT d.kind AS kind, count(*) AS "destinationCount",
        sum(d.waiting_count)::bigint AS "waitingCount",
        min((SELECT queued_at_ms FROM outbox WHERE id = (SELECT min(id) FROM (
          SELECT o.id AS id FROM outbox o WHERE o.destination_id = d.id
          ORDER BY o.next_at_ms, o.id LIMIT ${OLDEST_OF}) first))) AS "oldestQueuedAtMs",
        count(d.failing_since_ms) AS "failingCount",
        count(*) FILTER (WHERE d.stopped_at_ms IS NOT NULL) AS "stoppedCount"
      FROM destination d GROUP BY d.kind`),
};

const FORGETTABLE = sql`kind = 'webpush' AND webhook_id IS NULL AND waiting_count = 0
  AND (lease_owner IS NULL OR lease_until_ms <= ${value('clockMs')})
  AND (failure_count > 0 OR lease_until_ms <= ${value('clockMs')}::bigint - ${KNOWN_MS})`;

const forgetting = {
  look: prepare<{ id: number }>(sql`SELECT id FROM destination WHERE ${FORGETTABLE} LIMIT 1`),
  /** Looked at again once it is held: a push may have come meanwhile. */
  forget: prepare(sql`
      DELETE FROM destination WHERE id IN (
        SELECT id FROM destination WHERE ${FORGETTABLE} ORDER BY id LIMIT ${FORGET_COUNT}
        FOR UPDATE) AND waiting_count = 0`),
};

const DISPATCH = sql.raw(`o.id AS id, o.next_at_ms AS "nextAtMs",
  o.queued_at_ms AS "queuedAtMs", o.attempt_count AS "attemptCount"`);
const BEHIND = sql`o.destination_id = ${value('destinationId')}
  AND (o.next_at_ms, o.id) > (${value('afterMs')}::bigint, ${value('afterId')}::bigint)
  AND o.next_at_ms <= ${value('toMs')}
  ORDER BY o.next_at_ms, o.id LIMIT ${value('countMax')}`;

const listing = {
  destination: prepare<{ kind: DestinationKind; origin: string }>(sql`
      SELECT kind, origin FROM destination WHERE id = ${value('id')}`),
  pushes: prepare<PushRow>(sql`
      SELECT q.id AS id, q."nextAtMs", q."queuedAtMs", q."attemptCount", q."distributionId",
        q."deviceId", x.status = ${literal(BLOCKED)} AS "isBlocked",
        x.expires_at_ms AS "expiresAtMs", t.id AS "tokenId", t.push AS push,
        t.push_at_ms AS "pushAtMs", t.locale AS locale
      FROM (SELECT ${DISPATCH}, r.distribution_id AS "distributionId", r.device_id AS "deviceId",
              ${READER} AS reader
            FROM outbox o JOIN recipient r ON r.id = o.recipient_id
            WHERE ${BEHIND}) q
        JOIN distribution x ON x.id = q."distributionId"
        LEFT JOIN device_token t ON t.id = q.reader
      ORDER BY q."nextAtMs", q.id`),
  events: prepare<EventRow>(sql`
      SELECT ${DISPATCH}, e.id AS "eventId", e.kind AS "eventKind",
        e.provider_id AS "providerId", e.at_ms AS "atMs", e.data AS data
      FROM outbox o JOIN event e ON e.id = o.event_id
      WHERE ${BEHIND}`),
  message: prepare<Omit<PushMessage, 'payload'> & { payload: string }>(sql`
      SELECT id, notification_type AS "notificationType", created_at_ms AS "createdAtMs",
        expires_at_ms AS "expiresAtMs", payload
      FROM distribution WHERE id = ${value('id')}`),
};

export function outboxStore(context: Context): OutboxStore {
  const { db, clock } = context;

  /** Destinations to get hold of, in turn; neither kind takes the last places for ever. */
  async function inTurn(
    ...[lease, kinds, countMax, failingMax, except]: Parameters<OutboxStore['claimDestinations']>
  ): Promise<number[]> {
    const by = { ...heldUntil(lease.leaseMs), nowMs: lease.nowMs, kinds, except };
    const [healthy, failing] = await Promise.all([
      on.healthy.all(db, { ...by, countMax }),
      on.failing.all(db, { ...by, countMax: Math.min(failingMax, countMax) }),
    ]);
    const found = [...healthy, ...failing];
    found.sort((a, b) => a.servedAtMs - b.servedAtMs || a.id - b.id);
    return found.slice(0, countMax).map(({ id }) => id);
  }

  function heldUntil(leaseMs: number) {
    const clockMs = context.storeNowMs();
    return { clockMs, untilMs: clockMs + leaseMs };
  }

  return {
    ...settlementStore(context),

    claimDestinations: async (lease, ...wanted) => {
      const { owner, nowMs, leaseMs } = lease;
      const [kinds, countMax, failingMax, except] = wanted;
      const lost: number[] = [];
      for (;;) {
        // Looking costs no write: an idle worker leaves the disk alone.
        const not = [...except, ...lost];
        const ids = await inTurn(lease, kinds, countMax, failingMax, not);
        if (ids.length === 0) return [];
        const hold = { owner, nowMs, ids, ...heldUntil(leaseMs) };
        const got = await on.hold.all(db.writing, hold);
        if (got.length > 0) return got.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
        // Others were quicker with all of these: there may be more.
        lost.push(...ids);
      }
    },

    listDispatches: async (destinationId, nowMs, countMax, after) => {
      const to = await listing.destination.get(db, { id: destinationId });
      if (to === null) return [];
      const isGateway = to.kind !== 'webhook' && to.kind !== 'telegram';
      const found: Dispatch[] = [];
      for (const range of dueRanges(to.kind, nowMs, after)) {
        const wanted = { destinationId, ...range, countMax: countMax - found.length };
        if (wanted.countMax === 0) break;
        found.push(
          ...(isGateway
            ? (await listing.pushes.all(db, wanted)).map((row) => pushDispatch(row, to, nowMs))
            : (await listing.events.all(db, wanted)).map(eventDispatch)),
        );
      }
      return found;
    },

    findPushMessage: async (id) => {
      const found = await listing.message.get(db, { id });
      return found && { ...found, payload: JSON.parse(found.payload) };
    },

    releaseDestinations: async (owner, id) => {
      if (id === null) await on.releaseAll.run(db.writing, { owner });
      else await on.release.run(db.writing, { owner, id });
    },

    hastenDispatches: (id, countMax) =>
      context.write(async (w) => {
        const count = await on.hasten.run(w, { id, countMax });
        if (count > 0) w.raiseOutbox();
        return count;
      }),

    findNextDispatchMs: async (kinds) =>
      (await on.next.get(db, { kinds, nowMs: clock.nowMs() }))?.nextAtMs ?? null,

    resumeDestinations: async (kinds) => {
      const of = { kinds, nowMs: clock.nowMs() };
      if ((await on.isHeldUp.get(db, of)) === null) return 0;
      return context.write(async (w) => {
        const count = await on.resume.run(w, of);
        if (count > 0) w.raiseOutbox();
        return count;
      });
    },

    listDestinations: (kinds, countMax) => on.list.all(db, { kinds, countMax }),

    readOutboxTotals: () => on.totals.all(db),

    forgetDestinations: async () => {
      const of = { clockMs: context.storeNowMs() };
      if ((await forgetting.look.get(db, of)) === null) return false;
      return (await forgetting.forget.run(db.writing, of)) > 0;
    },
  };
}
