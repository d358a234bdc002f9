/** The outcomes of attempts: saved in one commit together with their consequences. */

import { gatewayStopped } from '../../core/event/happenings.ts';
import { WHY_EXPIRED } from '../../core/message/push-failure.ts';
import {
  type DestinationHealth,
  type DestinationKind,
  type OutboxStore,
  type Settlement,
  WAIT_MAX_MS,
} from '../../core/port/outbox.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, sql } from '../statement-text.ts';
import { AT_GATEWAYS } from '../status.ts';
import { accepted, failed, type PushEnd, pushSteps, type WaitingPush } from './push-steps.ts';
import { recipientRuns } from './recipient-steps.ts';

type SettlementNoun = Pick<OutboxStore, 'settleDispatches' | 'endHandedOver'>;

/** Distributions without a waiting push that a step ends. */
const END_COUNT = 200;
/** Recipients of an expired distribution whose pushes a step ends. */
const END_STEP_COUNT = 1_000;

interface Row {
  id: number;
  destinationId: number;
  queuedAtMs: number;
  attemptCount: number;
  recipientId: number | null;
  distributionId: number | null;
  eventId: number | null;
}

type Of<O extends Settlement['outcome']> = Extract<Settlement, { outcome: O }>;

interface SettledEvent {
  row: Row;
  settlement: Settlement;
}

const RETRY = { id: 'bigint', nextAtMs: 'bigint', counted: 'bigint', problem: 'text' } as const;
const DEAD = { id: 'bigint', push: 'text', problem: 'text', asOfMs: 'bigint' } as const;
const DELIVERY = {
  eventId: 'bigint',
  isDelivered: 'bigint',
  attemptCount: 'bigint',
  problem: 'text',
} as const;

function settleStatements({ prepare, lockOnly, locked, among, join, rows }: Backend) {
  return {
    distributions: prepare(sql`
        SELECT DISTINCT ${columns({ r: 'recipient' }, 'r.distributionId AS id')}
        FROM outbox o ${join} recipient r ON r.id = o.recipient_id WHERE o.id ${among('ids')}`),
    rows: prepare(sql`
        SELECT ${columns(
          { o: 'outbox', r: 'recipient?' },
          `o.id, o.destinationId, o.queuedAtMs, o.attemptCount, o.recipientId,
              r.distributionId, o.eventId`,
        )}
        FROM outbox o LEFT JOIN recipient r ON r.id = o.recipient_id WHERE o.id ${among('ids')}`),
    lockDestination: prepare(sql`
        SELECT ${columns('destination', 'kind, webhookId, leaseOwner, stoppedAtMs')}
        FROM destination WHERE id = :id ${locked}`),
    /** Those of the webhooks that hear of the end of this one. */
    lockWithOthers: lockOnly(sql`
        SELECT d.id FROM destination d WHERE d.id = :id OR d.webhook_id IN (
          SELECT o.id FROM destination own JOIN webhook w ON w.id = own.webhook_id
            JOIN webhook o ON o.provider_id IS NOT DISTINCT FROM w.provider_id
          WHERE own.id = :id)
        ORDER BY d.id ${locked}`),
    saveHealth: prepare(sql`
        UPDATE destination SET ${assignments(
          'destination',
          `failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem, leaseUntilMs`,
        )}
        WHERE id = :id`),
    retry: prepare(sql`
        UPDATE outbox AS o SET next_at_ms = u."nextAtMs",
          attempt_count = o.attempt_count + u.counted, problem = u.problem
        FROM ${rows('retries', RETRY)} u WHERE o.id = u.id`),
    dropAddresses: prepare(sql`
        UPDATE device_token AS t SET push = NULL, push_dropped_at_ms = :nowMs,
          push_dropped_why = u.problem
        FROM ${rows('dead', DEAD)} u
        WHERE t.id = u.id AND t.push = u.push AND coalesce(t.push_at_ms <= u."asOfMs", true)`),
    remove: prepare(sql`
        DELETE FROM outbox WHERE id ${among('ids')}`),
    addDeliveries: prepare(sql`
        INSERT INTO webhook_delivery
          (webhook_id, event_id, is_delivered, attempt_count, ended_at_ms, problem)
        SELECT CAST(:webhookId AS bigint), u."eventId", u."isDelivered", u."attemptCount",
          CAST(:nowMs AS bigint), u.problem
        FROM ${rows('deliveries', DELIVERY)} u WHERE true ORDER BY u."eventId"
        ON CONFLICT (webhook_id, event_id) DO UPDATE SET is_delivered = excluded.is_delivered,
          attempt_count = excluded.attempt_count, ended_at_ms = excluded.ended_at_ms,
          problem = excluded.problem`),
  };
}

function endStatements({ prepare, among }: Backend) {
  const awaitsNone = sql`${AT_GATEWAYS} AND push_waiting_count = 0`;
  const isLate = sql`${AT_GATEWAYS} AND expires_at_ms <= :nowMs`;
  return {
    awaitingNone: prepare(sql`
        SELECT ${columns('distribution', 'id')}
        FROM distribution WHERE ${awaitsNone} ORDER BY id LIMIT ${END_COUNT}`),
    stillAwaitingNone: prepare(sql`
        SELECT ${columns('distribution', 'id')}
        FROM distribution WHERE id ${among('ids')} AND ${awaitsNone} ORDER BY id`),
    late: prepare(sql`
        SELECT ${columns('distribution', 'id')}
        FROM distribution WHERE ${isLate} ORDER BY expires_at_ms, id LIMIT 1`),
    stillLate: prepare(sql`
        SELECT ${columns('distribution', 'cursorId')}
        FROM distribution WHERE id = :id AND ${isLate}`),
    moved: prepare(sql`
        UPDATE distribution SET cursor_id = :cursorId WHERE id = :id AND ${AT_GATEWAYS}`),
  };
}

function pushOf({ recipientId, distributionId, ...row }: Row): WaitingPush | null {
  if (recipientId === null || distributionId === null) return null;
  return { ...row, recipientId, distributionId };
}

/** Sorts settlements of dispatches by kind. Ignores all but the first for a dispatch. */
function sorted(settlements: readonly Settlement[], rows: Map<number, Row>) {
  const retries: Of<'retry' | 'wait'>[] = [];
  const pushEnds: PushEnd[] = [];
  const moot: WaitingPush[] = [];
  const events: SettledEvent[] = [];
  for (const settlement of settlements) {
    const row = rows.get(settlement.id);
    if (row === undefined) continue;
    rows.delete(settlement.id);
    const push = pushOf(row);
    if (settlement.outcome === 'retry' || settlement.outcome === 'wait') retries.push(settlement);
    else if (push === null) events.push({ row, settlement });
    else if (settlement.outcome === 'accepted') pushEnds.push(accepted(push));
    else if (settlement.outcome === 'moot') moot.push(push);
    else pushEnds.push(failed(push, settlement.problem));
  }
  return { retries, pushEnds, moot, events };
}

/** Saves the consequences of attempts at a destination. */
function settleSteps(backend: Backend) {
  const on = settleStatements(backend);
  const pushes = pushSteps(backend);

  return {
    on,

    /** Removes dead addresses of tokens, unless the token has another address meanwhile. */
    *dropAddresses(dead: readonly Of<'dead'>[], nowMs: number): Step<void> {
      if (dead.length === 0) return;
      const all = dead.map(({ tokenId: id, push, problem, asOfMs }) => {
        return { id, push: JSON.stringify(push), problem, asOfMs };
      });
      yield* backend.lockRows({ device_token: all.map(({ id }) => id) });
      yield* on.dropAddresses.run({ dead: JSON.stringify(all), nowMs });
    },

    /** Finds the dispatches that still exist; locks the distributions of pushes. */
    *find(settlements: readonly Settlement[]): Step<Map<number, Row>> {
      if (settlements.length === 0) return new Map();
      const ids = settlements.map(({ id }) => id);
      yield* pushes.lock((yield* on.distributions.all({ ids })).map(({ id }) => id));
      return new Map((yield* on.rows.all({ ids })).map((row) => [row.id, row]));
    },

    *endPushes(
      notes: Notes,
      ends: readonly PushEnd[],
      moot: readonly WaitingPush[],
      nowMs: number,
    ) {
      yield* pushes.close(
        notes,
        [...ends, ...(yield* pushes.reconsider(notes, moot, nowMs))],
        nowMs,
      );
    },

    *endEvents(webhookId: number, events: readonly SettledEvent[], nowMs: number): Step<void> {
      if (events.length === 0) return;
      const deliveries = events.map(({ row, settlement }) => ({
        eventId: row.eventId,
        isDelivered: Number(settlement.outcome === 'accepted'),
        attemptCount: row.attemptCount + 1,
        problem: 'problem' in settlement ? settlement.problem : null,
      }));
      yield* on.remove.run({ ids: events.map(({ row }) => row.id) });
      yield* on.addDeliveries.run({ webhookId, nowMs, deliveries: JSON.stringify(deliveries) });
    },

    *retryLater(kind: DestinationKind, retries: readonly Of<'retry' | 'wait'>[], nowMs: number) {
      if (retries.length === 0) return;
      const latestMs = nowMs + WAIT_MAX_MS[kind];
      const all = retries.map(({ id, nextAtMs, outcome, problem }) => ({
        id,
        nextAtMs: Math.min(nextAtMs, latestMs),
        counted: Number(outcome === 'retry'),
        problem,
      }));
      yield* on.retry.run({ retries: JSON.stringify(all) });
    },

    *saveHealth(id: number, health: DestinationHealth, leaseUntilMs: number): Step<void> {
      const { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem } = health;
      const noted = { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem };
      yield* on.saveHealth.run({ id, leaseUntilMs, ...noted });
    },
  };
}

export function settlementNoun(backend: Backend): SettlementNoun {
  const { on, ...steps } = settleSteps(backend);
  const ending = endStatements(backend);
  const pushes = pushSteps(backend);
  const nextRun = recipientRuns(backend);

  /** Ends pushes of an expired distribution that waits for gateways, one step of them. */
  function* endNext(notes: Notes, id: number, nowMs: number): Step<void> {
    yield* pushes.lock([id]);
    const found = yield* ending.stillLate.get({ id, nowMs });
    if (found === null) return;
    const { run, isDone } = yield* nextRun(id, found.cursorId, END_STEP_COUNT);
    yield* pushes.failRun(notes, run, WHY_EXPIRED, nowMs);
    yield* ending.moved.run({ id, cursorId: run.toId });
    // Its last push has ended it already, unless the counts are wrong: then it would never end.
    if (isDone) yield* pushes.end(notes, id, nowMs);
  }

  return {
    settleDispatches: (lease, settlements, health, disables) =>
      backend.write(function* (notes) {
        const { destinationId: id, owner, nowMs, leaseMs } = lease;
        const dead = settlements.filter((one) => one.outcome === 'dead');
        yield* steps.dropAddresses(dead, nowMs);
        const found = sorted(settlements, yield* steps.find(settlements));
        yield* steps.endPushes(notes, found.pushEnds, found.moot, nowMs);
        if (disables !== null) yield* on.lockWithOthers.run({ id });
        const destination = yield* on.lockDestination.get({ id });
        if (destination === null) return notes.refuse(false);
        const { kind, webhookId, leaseOwner, stoppedAtMs } = destination;
        yield* steps.retryLater(kind, found.retries, nowMs);
        if (webhookId !== null) {
          yield* steps.endEvents(webhookId, found.events, nowMs);
          if (disables !== null) yield* notes.disableWebhook(webhookId, disables, nowMs);
        }
        if (leaseOwner !== owner) return false;
        yield* steps.saveHealth(id, health, backend.storeNowMs() + leaseMs);
        if (health.stoppedAtMs !== null && stoppedAtMs === null) {
          notes.event(null, nowMs, () => gatewayStopped(kind, health.problem ?? ''));
        }
        return true;
      }),

    endHandedOver: async (nowMs) => {
      const [idle, late] = await backend.read(() =>
        backend.together([() => ending.awaitingNone.all(), () => ending.late.get({ nowMs })]),
      );
      if (idle.length === 0 && late === null) return false;
      return backend.write(function* (notes) {
        const ids = idle.map(({ id }) => id);
        yield* pushes.lock(ids);
        for (const { id } of yield* ending.stillAwaitingNone.all({ ids })) {
          yield* pushes.end(notes, id, nowMs);
        }
        if (late !== null) yield* endNext(notes, late.id, nowMs);
        return true;
      });
    },
  };
}
