/** The outbox: claims of destinations, and their maintenance. */

import {
  type OutboxStore,
  type OutboxTotals,
  STOPPED_MS,
  WAIT_MAX_MS,
} from '../../core/port/outbox.ts';
import type { Backend, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { LEASE_SLACK_MS } from '../status.ts';
import { dispatchNoun } from './dispatch.ts';
import { settlementNoun } from './settlement.ts';

/** Dispatches of a destination among which the oldest is searched: those due first. */
const OLDEST_OF = 1_000;
/** Time for which a push service stays known after it accepted a push, ms. */
const KNOWN_MS = sql.raw(String(7 * 86_400_000));
/** Push services that a step deletes. */
const FORGET_COUNT = 200;

/** Longest wait at `d`, ms: a time further ahead was set before a clock was set back. */
const WAIT_MAX = sql`CASE d.kind ${sql.join(
  Object.entries(WAIT_MAX_MS).map(([kind, ms]) => sql.raw(`WHEN '${kind}' THEN ${ms}`)),
  sql` `,
)} END`;

/** When the first, and the last, dispatch at destination `d` is due. */
const FIRST_DUE = sql`(SELECT min(o.next_at_ms) FROM outbox o WHERE o.destination_id = d.id)`;
const LAST_DUE = sql`(SELECT max(o.next_at_ms) FROM outbox o WHERE o.destination_id = d.id)`;

/** True if dispatches wait at `d` and its webhook is not disabled. */
const IS_OPEN = sql`d.waiting_count > 0 AND NOT EXISTS (
  SELECT 1 FROM webhook w WHERE w.id = d.webhook_id AND w.disabled_at_ms IS NOT NULL)`;

/** When a stopped `d` may be tried again; 0: it is not stopped. */
const STOPPED_UNTIL = sql`coalesce(d.stopped_at_ms + ${sql.raw(String(STOPPED_MS))}, 0)`;

const DESTINATION = columns(
  { d: 'destination' },
  `d.id, d.kind, d.origin, d.webhookId, d.waitingCount, d.failureCount,
  d.failingSinceMs, d.retryAtMs, d.stoppedAtMs, d.problem`,
);

function conditions({ once, among }: Backend) {
  const now = sql`CAST(${once('nowMs')} AS bigint)`;
  const latest = sql`${now} + ${WAIT_MAX}`;
  return {
    latest,
    ofKinds: sql`d.kind ${among('kinds', 'text')}`,
    mayBeTried: sql`(${STOPPED_UNTIL} <= ${now}
      AND (d.retry_at_ms <= ${now} OR d.retry_at_ms > ${latest}))`,
    isHeldUp: sql`(d.stopped_at_ms IS NOT NULL OR d.retry_at_ms > ${now})`,
    hasDue: sql`(${FIRST_DUE} <= ${now} OR ${LAST_DUE} > ${latest})`,
    /** A lease that ends later than any lease can was made before the clock was set back. */
    isFree: sql`(d.lease_owner IS NULL OR d.lease_until_ms <= ${once('clockMs')}
      OR d.lease_until_ms > CAST(${once('untilMs')} AS bigint) + ${LEASE_SLACK_MS})`,
    /** When `d` was last served, derived from the end of its lease; 0: never, or unknown. */
    servedAt: sql`CASE WHEN d.lease_until_ms > ${once('untilMs')} THEN 0
      ELSE coalesce(d.lease_until_ms, 0) END`,
  };
}

function claimStatements(backend: Backend) {
  const { prepare, among, once, locked } = backend;
  const { ofKinds, mayBeTried, isFree, servedAt, hasDue } = conditions(backend);
  const claimable = (which: string) =>
    prepare(sql`
        SELECT ${columns({ d: 'destination' }, 'd.id')},
          ${values<{ servedAtMs: number }>({ servedAtMs: servedAt })}
        FROM destination d
        WHERE ${IS_OPEN} AND ${ofKinds} AND ${sql.raw(which)} AND ${isFree} AND ${mayBeTried}
          AND NOT (d.id ${among('except')}) AND ${hasDue}
        ORDER BY 2, d.id LIMIT ${once('countMax')}`);
  return {
    failing: claimable('d.failure_count > 0'),
    healthy: claimable('d.failure_count = 0'),
    /** Waits for the row, which a write that queues a dispatch locks briefly. */
    lock: prepare(sql`
        SELECT ${DESTINATION} FROM destination d
        WHERE d.id ${among('ids')} AND d.waiting_count > 0 AND ${isFree} AND ${mayBeTried}
        ORDER BY d.id ${locked}`),
    hold: prepare(sql`
        UPDATE destination SET lease_owner = :owner, lease_until_ms = :untilMs
        WHERE id ${among('ids')}`),
    releaseAll: prepare(sql`
        UPDATE destination SET lease_owner = NULL WHERE lease_owner = :owner`),
    release: prepare(sql`
        UPDATE destination SET lease_owner = NULL WHERE id = :id AND lease_owner = :owner`),
  };
}

function keepStatements(backend: Backend) {
  const { prepare, once, locked } = backend;
  const { ofKinds, isHeldUp, latest } = conditions(backend);
  const isForgettable = sql`kind = 'webpush' AND webhook_id IS NULL AND waiting_count = 0
    AND (lease_owner IS NULL OR lease_until_ms <= :clockMs) AND (failure_count > 0
      OR lease_until_ms <= CAST(:clockMs AS bigint) - ${KNOWN_MS})`;
  return {
    hasten: prepare(sql`
        UPDATE outbox SET next_at_ms = 0 WHERE id IN (
          SELECT id FROM outbox WHERE destination_id = :id AND next_at_ms > 0
          ORDER BY next_at_ms, id LIMIT :countMax ${locked})`),
    next: prepare(sql`
        SELECT ${values<{ nextAtMs: number | null }>({
          nextAtMs: sql`min(${backend.greatest(
            STOPPED_UNTIL,
            backend.greatest(
              sql`CASE WHEN d.retry_at_ms > ${latest} THEN 0 ELSE d.retry_at_ms END`,
              sql`CASE WHEN ${LAST_DUE} > ${latest} THEN 0 ELSE ${FIRST_DUE} END`,
            ),
          )})`,
        })} FROM destination d WHERE ${IS_OPEN} AND ${ofKinds}`),
    heldUp: prepare(sql`
        SELECT ${columns({ d: 'destination' }, 'd.id')}
        FROM destination d WHERE ${ofKinds} AND ${isHeldUp} LIMIT 1`),
    resume: prepare(sql`
        UPDATE destination SET stopped_at_ms = NULL, retry_at_ms = 0
        WHERE id IN (SELECT d.id FROM destination d WHERE ${ofKinds} AND ${isHeldUp}
          ORDER BY d.id ${locked})`),
    list: prepare(sql`
        SELECT ${DESTINATION} FROM destination d
        WHERE ${ofKinds} AND (d.waiting_count > 0 OR d.problem IS NOT NULL)
        ORDER BY d.waiting_count DESC, d.id LIMIT ${once('countMax')}`),
    totals: prepare(sql`
        SELECT ${columns({ d: 'destination' }, 'd.kind')}, ${values<{
          destinationCount: OutboxTotals['destinationCount'];
          waitingCount: OutboxTotals['waitingCount'];
          oldestQueuedAtMs: OutboxTotals['oldestQueuedAtMs'];
          failingCount: OutboxTotals['failingCount'];
          stoppedCount: OutboxTotals['stoppedCount'];
        }>({
          destinationCount: sql`count(*)`,
          waitingCount: sql`CAST(sum(d.waiting_count) AS bigint)`,
          oldestQueuedAtMs: sql`min((
            SELECT queued_at_ms FROM outbox WHERE id = (SELECT min(id) FROM (
            SELECT o.id AS id FROM outbox o WHERE o.destination_id = d.id
            ORDER BY o.next_at_ms, o.id LIMIT ${OLDEST_OF}) first)))`,
          failingCount: sql`count(d.failing_since_ms)`,
          stoppedCount: sql`count(*) FILTER (WHERE d.stopped_at_ms IS NOT NULL)`,
        })} FROM destination d GROUP BY d.kind`),
    forgettable: prepare(sql`
        SELECT ${columns('destination', 'id')} FROM destination WHERE ${isForgettable} LIMIT 1`),
    /** Checked again under the lock: a push may have been queued meanwhile. */
    forget: prepare(sql`
        DELETE FROM destination WHERE waiting_count = 0 AND id IN (
          SELECT id FROM destination WHERE ${isForgettable} ORDER BY id LIMIT ${FORGET_COUNT}
          ${backend.deletableUnlessBusy})`),
  };
}

export function outboxNoun(backend: Backend): OutboxStore {
  const on = { ...claimStatements(backend), ...keepStatements(backend) };
  /** This machine's time, by which dispatches are due. */
  const nowMs = () => backend.storeNowMs() - backend.storeMs(0);

  function heldUntil(leaseMs: number) {
    const clockMs = backend.storeNowMs();
    return { clockMs, untilMs: clockMs + leaseMs };
  }

  /** Finds destinations to claim, least recently served first; some of them are failing ones. */
  function* claimable(
    ...[lease, kinds, countMax, failingMax, except]: Parameters<OutboxStore['claimDestinations']>
  ): Step<number[]> {
    const by = { nowMs: lease.nowMs, ...heldUntil(lease.leaseMs), kinds, except };
    const [healthy, failing] = yield* backend.together([
      () => on.healthy.all({ ...by, countMax }),
      () => on.failing.all({ ...by, countMax: Math.min(failingMax, countMax) }),
    ]);
    const found = [...healthy, ...failing];
    found.sort((a, b) => a.servedAtMs - b.servedAtMs || a.id - b.id);
    return found.slice(0, countMax).map(({ id }) => id);
  }

  return {
    ...settlementNoun(backend),
    ...dispatchNoun(backend),

    claimDestinations: async (lease, kinds, countMax, failingMax, except) => {
      const lost: number[] = [];
      for (;;) {
        const not = [...except, ...lost];
        // A read first: an idle worker does not write.
        const ids = await backend.read(() => claimable(lease, kinds, countMax, failingMax, not));
        if (ids.length === 0) return [];
        const got = await backend.write(function* () {
          const by = { owner: lease.owner, nowMs: lease.nowMs, ...heldUntil(lease.leaseMs) };
          const free = yield* on.lock.all({ ...by, ids });
          if (free.length > 0) yield* on.hold.run({ ...by, ids: free.map(({ id }) => id) });
          return free;
        });
        if (got.length > 0) return got.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
        // Other workers claimed all of these first: there may be more.
        lost.push(...ids);
      }
    },

    releaseDestinations: async (owner, id) => {
      await backend.change(() =>
        id === null ? on.releaseAll.run({ owner }) : on.release.run({ owner, id }),
      );
    },

    hastenDispatches: (id, countMax) =>
      backend.write(function* (notes) {
        const count = yield* on.hasten.run({ id, countMax });
        if (count > 0) notes.outbox();
        return count;
      }),

    findNextDispatchMs: async (kinds) =>
      (await backend.read(() => on.next.get({ kinds, nowMs: nowMs() })))?.nextAtMs ?? null,

    resumeDestinations: async (kinds) => {
      const of = { kinds, nowMs: nowMs() };
      if ((await backend.read(() => on.heldUp.get(of))) === null) return 0;
      return backend.write(function* (notes) {
        const count = yield* on.resume.run(of);
        if (count > 0) notes.outbox();
        return count;
      });
    },

    listDestinations: async (kinds, countMax) =>
      backend.read(() => on.list.all({ kinds, countMax })),

    readOutboxTotals: async () => backend.read(() => on.totals.all()),

    forgetDestinations: async () => {
      const of = { clockMs: backend.storeNowMs() };
      if ((await backend.read(() => on.forgettable.get(of))) === null) return false;
      return (await backend.change(() => on.forget.run(of))) > 0;
    },
  };
}
