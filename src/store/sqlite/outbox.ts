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
import type { Context } from './context.ts';
import { settlementStore } from './outbox-settlement.ts';
import { READER } from './push-steps.ts';
import { once, value } from './statement.ts';

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

const OF_KINDS = sql`d.kind IN (SELECT value FROM json_each(${once('kinds')}))`;

/** Something waits at `d`, and its webhook wants to be told. */
const IS_OPEN = sql`d.waiting_count > 0 AND NOT EXISTS (
  SELECT 1 FROM webhook w WHERE w.id = d.webhook_id AND w.disabled_at_ms IS NOT NULL)`;

/** When `d` may be tried although it was stopped; 0: it was not. */
const STOPPED_UNTIL = sql`coalesce(d.stopped_at_ms + ${sql.raw(String(STOPPED_MS))}, 0)`;

/** Nothing forbids to try `d` by now. */
const MAY_BE_TRIED = sql`(${STOPPED_UNTIL} <= ${once('nowMs')}
  AND (d.retry_at_ms <= ${once('nowMs')} OR d.retry_at_ms > ${once('nowMs')} + ${WAIT_MAX}))`;

const IS_HELD_UP = sql`(d.stopped_at_ms IS NOT NULL OR d.retry_at_ms > ${once('nowMs')})`;

const HAS_DUE = sql`(${FIRST_DUE} <= ${once('nowMs')}
  OR ${LAST_DUE} > ${once('nowMs')} + ${WAIT_MAX})`;

/** A lease further ahead than any lease lasts is from before the clock was set back. */
const IS_FREE = sql`(d.lease_owner IS NULL OR d.lease_until_ms <= ${once('clockMs')}
  OR d.lease_until_ms > ${once('clockMs')} + ${once('leaseMs')})`;

/** When `d` was served last, as the end of its lease has it; 0: never, or nobody knows. */
const SERVED_AT = sql`iif(d.lease_until_ms > ${once('clockMs')} + ${once('leaseMs')},
  0, coalesce(d.lease_until_ms, 0))`;

const DESTINATION = sql.raw(`d.id AS id, d.kind AS kind, d.origin AS origin,
  d.webhook_id AS "webhookId", d.waiting_count AS "waitingCount",
  d.failure_count AS "failureCount", d.failing_since_ms AS "failingSinceMs",
  d.retry_at_ms AS "retryAtMs", d.stopped_at_ms AS "stoppedAtMs", d.problem AS problem`);

function holdStatements({ db }: Context) {
  const claimable = (which: SQL) =>
    db.prepare<Destination & { servedAtMs: number }>(sql`
        SELECT ${DESTINATION}, ${SERVED_AT} AS "servedAtMs" FROM destination d
        WHERE ${IS_OPEN} AND ${OF_KINDS} AND ${which} AND ${IS_FREE} AND ${MAY_BE_TRIED}
          AND d.id NOT IN (SELECT value FROM json_each(${once('except')})) AND ${HAS_DUE}
        ORDER BY ${SERVED_AT}, d.id LIMIT ${once('countMax')}`);
  return {
    failing: claimable(sql`d.failure_count > 0`),
    healthy: claimable(sql`d.failure_count = 0`),
    hold: db.prepare(sql`
        UPDATE destination SET lease_owner = ${value('owner')},
          lease_until_ms = ${value('clockMs')} + ${value('leaseMs')}
        WHERE id = ${value('id')}`),
    releaseAll: db.prepare(sql`
        UPDATE destination SET lease_owner = NULL WHERE lease_owner = ${value('owner')}`),
    release: db.prepare(sql`
        UPDATE destination SET lease_owner = NULL
        WHERE id = ${value('id')} AND lease_owner = ${value('owner')}`),
    hasten: db.prepare(sql`
        UPDATE outbox SET next_at_ms = 0 WHERE id IN (
          SELECT id FROM outbox WHERE destination_id = ${value('id')} AND next_at_ms > 0
          ORDER BY next_at_ms, id LIMIT ${value('countMax')})`),
    next: db.prepare<{ nextAtMs: number | null }>(sql`
        SELECT min(max(${STOPPED_UNTIL},
          iif(d.retry_at_ms > ${once('nowMs')} + ${WAIT_MAX}, 0, d.retry_at_ms),
          iif(${LAST_DUE} > ${once('nowMs')} + ${WAIT_MAX}, 0, ${FIRST_DUE}))) AS "nextAtMs"
        FROM destination d WHERE ${IS_OPEN} AND ${OF_KINDS}`),
    isHeldUp: db.prepare<{ id: number }>(sql`
        SELECT d.id AS id FROM destination d WHERE ${OF_KINDS} AND ${IS_HELD_UP} LIMIT 1`),
    resume: db.prepare(sql`
        UPDATE destination AS d SET stopped_at_ms = NULL, retry_at_ms = 0
        WHERE ${OF_KINDS} AND ${IS_HELD_UP}`),
  };
}

function listStatements({ db }: Context) {
  const dispatch = sql.raw(`o.id AS id, o.next_at_ms AS "nextAtMs",
    o.queued_at_ms AS "queuedAtMs", o.attempt_count AS "attemptCount"`);
  const behind = sql`o.destination_id = ${once('destinationId')}
    AND (o.next_at_ms, o.id) > (${once('afterMs')}, ${once('afterId')})
    AND o.next_at_ms <= ${once('toMs')}
    ORDER BY o.next_at_ms, o.id LIMIT ${once('countMax')}`;
  return {
    destination: db.prepare<{ kind: DestinationKind; origin: string }>(sql`
        SELECT kind, origin FROM destination WHERE id = ${value('id')}`),
    pushes: db.prepare<Omit<PushRow, 'isBlocked'> & { status: number }>(sql`
        SELECT ${dispatch}, r.distribution_id AS "distributionId", r.device_id AS "deviceId",
          x.status AS status, x.expires_at_ms AS "expiresAtMs",
          t.id AS "tokenId", t.push AS push, t.push_at_ms AS "pushAtMs", t.locale AS locale
        FROM outbox o CROSS JOIN recipient r ON r.id = o.recipient_id
          CROSS JOIN distribution x ON x.id = r.distribution_id
          LEFT JOIN device_token t ON t.id = ${READER}
        WHERE ${behind}`),
    events: db.prepare<EventRow>(sql`
        SELECT ${dispatch}, e.id AS "eventId", e.kind AS "eventKind",
          e.provider_id AS "providerId", e.at_ms AS "atMs", e.data AS data
        FROM outbox o CROSS JOIN event e ON e.id = o.event_id
        WHERE ${behind}`),
    message: db.prepare<Omit<PushMessage, 'payload'> & { payload: string }>(sql`
        SELECT id, notification_type AS "notificationType", created_at_ms AS "createdAtMs",
          expires_at_ms AS "expiresAtMs", payload
        FROM distribution WHERE id = ${value('id')}`),
  };
}

function keeperStatements({ db }: Context) {
  const forgettable = sql`kind = 'webpush' AND webhook_id IS NULL AND waiting_count = 0
    AND (lease_owner IS NULL OR lease_until_ms <= ${value('clockMs')})
    AND (failure_count > 0 OR lease_until_ms <= ${value('clockMs')} - ${KNOWN_MS})`;
  return {
    list: db.prepare<Destination>(sql`
        SELECT ${DESTINATION} FROM destination d
        WHERE ${OF_KINDS} AND (d.waiting_count > 0 OR d.problem IS NOT NULL)
        ORDER BY d.waiting_count DESC, d.id LIMIT ${once('countMax')}`),
    totals: db.prepare<OutboxTotals>(sql`
        SELECT d.kind AS kind, count(*) AS "destinationCount",
          sum(d.waiting_count) AS "waitingCount",
          min((SELECT queued_at_ms FROM outbox WHERE id = (SELECT min(id) FROM (
            SELECT o.id AS id FROM outbox o WHERE o.destination_id = d.id
            ORDER BY o.next_at_ms, o.id LIMIT ${once('oldestOf')})))) AS "oldestQueuedAtMs",
          count(d.failing_since_ms) AS "failingCount",
          count(*) FILTER (WHERE d.stopped_at_ms IS NOT NULL) AS "stoppedCount"
        FROM destination d GROUP BY d.kind`),
    forgettable: db.prepare<{ id: number }>(sql`
        SELECT id FROM destination WHERE ${forgettable} LIMIT 1`),
    forget: db.prepare(sql`
        DELETE FROM destination WHERE id IN (
          SELECT id FROM destination WHERE ${forgettable} LIMIT ${FORGET_COUNT})`),
  };
}

export function outboxStore(context: Context): OutboxStore {
  const { writer, clock, outbox } = context;
  const on = { ...holdStatements(context), ...keeperStatements(context) };
  const list = listStatements(context);

  function claimable(
    ...[lease, kinds, countMax, failingMax, except]: Parameters<OutboxStore['claimDestinations']>
  ): Destination[] {
    const which = { kinds: JSON.stringify(kinds), except: JSON.stringify(except) };
    const by = { ...lease, ...which, clockMs: clock.nowMs() };
    const found = [
      ...on.healthy.all({ ...by, countMax }),
      ...on.failing.all({ ...by, countMax: Math.min(failingMax, countMax) }),
    ];
    // Neither kind takes the last places for ever.
    found.sort((a, b) => a.servedAtMs - b.servedAtMs || a.id - b.id);
    return found.slice(0, countMax).map(({ servedAtMs: _, ...destination }) => destination);
  }

  return {
    ...settlementStore(context),

    claimDestinations: async (lease, ...wanted) => {
      // Looking costs no write: an idle worker leaves the disk alone.
      if (claimable(lease, ...wanted).length === 0) return [];
      return writer.run(() => {
        const found = claimable(lease, ...wanted);
        const clockMs = clock.nowMs();
        for (const { id } of found) on.hold.run({ ...lease, clockMs, id });
        return found;
      });
    },

    listDispatches: async (destinationId, nowMs, countMax, after) => {
      const to = list.destination.get({ id: destinationId });
      if (to === null) return [];
      const isGateway = to.kind !== 'webhook' && to.kind !== 'telegram';
      const found: Dispatch[] = [];
      for (const range of dueRanges(to.kind, nowMs, after)) {
        const wanted = { destinationId, ...range, countMax: countMax - found.length };
        if (wanted.countMax === 0) break;
        found.push(
          ...(isGateway
            ? list.pushes
                .all(wanted)
                .map(({ status, ...row }) =>
                  pushDispatch({ ...row, isBlocked: status === BLOCKED }, to, nowMs),
                )
            : list.events.all(wanted).map(eventDispatch)),
        );
      }
      return found;
    },

    findPushMessage: async (id) => {
      const found = list.message.get({ id });
      return found && { ...found, payload: JSON.parse(found.payload) };
    },

    releaseDestinations: (owner, id) =>
      writer.run(() => {
        if (id === null) on.releaseAll.run({ owner });
        else on.release.run({ owner, id });
      }),

    hastenDispatches: (id, countMax) =>
      writer.run(() => {
        const count = on.hasten.run({ id, countMax });
        if (count > 0) outbox.raise();
        return count;
      }),

    findNextDispatchMs: async (kinds) =>
      on.next.get({ kinds: JSON.stringify(kinds), nowMs: clock.nowMs() })?.nextAtMs ?? null,

    resumeDestinations: async (kinds) => {
      const of = { kinds: JSON.stringify(kinds), nowMs: clock.nowMs() };
      if (on.isHeldUp.get(of) === null) return 0;
      return writer.run(() => {
        const count = on.resume.run(of);
        if (count > 0) outbox.raise();
        return count;
      });
    },

    listDestinations: async (kinds, countMax) =>
      on.list.all({ kinds: JSON.stringify(kinds), countMax }),

    readOutboxTotals: async () => on.totals.all({ oldestOf: OLDEST_OF }),

    forgetDestinations: async () => {
      if (on.forgettable.get({ clockMs: clock.nowMs() }) === null) return false;
      return writer.run(() => on.forget.run({ clockMs: clock.nowMs() }) > 0);
    },
  };
}
