/** The outcomes of attempts: noted in one commit with what follows from them. */

import { sql } from 'drizzle-orm';
import { gatewayStopped } from '../../core/event/happenings.ts';
import { WHY_EXPIRED } from '../../core/message/push-failure.ts';
import {
  type DestinationHealth,
  type DestinationKind,
  type OutboxStore,
  type Settlement,
  WAIT_MAX_MS,
} from '../../core/port/outbox.ts';
import { AT_GATEWAYS } from '../status.ts';
import type { Context } from './context.ts';
import * as pushes from './push-steps.ts';
import { nextRun } from './recipient-steps.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

type SettlementStore = Pick<OutboxStore, 'settleDispatches' | 'endHandedOver'>;

/** Distributions that a step ends for which nothing waits any more. */
const END_COUNT = 200;
/** Recipients of one whose pushes end at a time, as it is too late for them. */
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

interface DestinationRow {
  kind: DestinationKind;
  webhookId: number | null;
  leaseOwner: string | null;
  stoppedAtMs: number | null;
}

type Of<O extends Settlement['outcome']> = Extract<Settlement, { outcome: O }>;

const ALL = sql`o.id = ANY(${value('ids')}::bigint[])`;

const on = {
  exists: prepare<{ id: number }>(sql`SELECT id FROM destination WHERE id = ${value('id')}`),
  distributions: prepare<{ distributionId: number }>(sql`
      SELECT DISTINCT r.distribution_id AS "distributionId"
      FROM outbox o JOIN recipient r ON r.id = o.recipient_id WHERE ${ALL}`),
  rows: prepare<Row>(sql`
      SELECT o.id AS id, o.destination_id AS "destinationId", o.queued_at_ms AS "queuedAtMs",
        o.attempt_count AS "attemptCount", o.recipient_id AS "recipientId",
        r.distribution_id AS "distributionId", o.event_id AS "eventId"
      FROM outbox o LEFT JOIN recipient r ON r.id = o.recipient_id WHERE ${ALL}`),
  holdDestination: prepare<DestinationRow>(sql`
      SELECT kind, webhook_id AS "webhookId", lease_owner AS "leaseOwner",
        stopped_at_ms AS "stoppedAtMs"
      FROM destination WHERE id = ${value('id')} FOR NO KEY UPDATE`),
  health: prepare(sql`
      UPDATE destination SET failure_count = ${value('failureCount')},
        failing_since_ms = ${value('failingSinceMs')}, retry_at_ms = ${value('retryAtMs')},
        stopped_at_ms = ${value('stoppedAtMs')}, problem = ${value('problem')},
        lease_until_ms = ${value('leaseUntilMs')}
      WHERE id = ${value('id')}`),
  retry: prepare(sql`
      UPDATE outbox o SET next_at_ms = u.next_at_ms, attempt_count = o.attempt_count + u.counted,
        problem = u.problem
      FROM unnest(${value('ids')}::bigint[], ${value('nextAtMs')}::bigint[],
        ${value('problems')}::text[], ${value('counted')}::integer[])
        u (id, next_at_ms, problem, counted)
      WHERE o.id = u.id`),
  holdTokens: prepare(sql`
      SELECT id FROM device_token WHERE id = ANY(${value('tokenIds')}::bigint[])
      ORDER BY id FOR NO KEY UPDATE`),
  dropAddresses: prepare(sql`
      UPDATE device_token t SET push = NULL, push_dropped_at_ms = ${value('nowMs')},
        push_dropped_why = u.problem
      FROM unnest(${value('tokenIds')}::bigint[], ${value('addresses')}::text[],
        ${value('problems')}::text[], ${value('asOf')}::bigint[]) u (id, push, problem, as_of_ms)
      WHERE t.id = u.id AND t.push = u.push AND coalesce(t.push_at_ms <= u.as_of_ms, true)`),
  remove: prepare(sql`DELETE FROM outbox o WHERE ${ALL}`),
  deliveries: prepare(sql`
      INSERT INTO webhook_delivery
        (webhook_id, event_id, is_delivered, attempt_count, ended_at_ms, problem)
      SELECT ${value('webhookId')}::bigint, event_id, is_delivered, attempt_count,
        ${value('nowMs')}::bigint, problem
      FROM unnest(${value('eventIds')}::bigint[], ${value('delivered')}::integer[],
        ${value('attempts')}::bigint[], ${value('problems')}::text[])
        u (event_id, is_delivered, attempt_count, problem)
      ORDER BY event_id
      ON CONFLICT (webhook_id, event_id) DO UPDATE SET is_delivered = excluded.is_delivered,
        attempt_count = excluded.attempt_count, ended_at_ms = excluded.ended_at_ms,
        problem = excluded.problem`),
};

const ending = {
  awaitingNone: prepare<{ id: number }>(sql`
      SELECT id FROM distribution WHERE ${AT_GATEWAYS} AND push_waiting_count = 0
      ORDER BY id LIMIT ${END_COUNT}`),
  late: prepare<{ id: number }>(sql`
      SELECT id FROM distribution WHERE ${AT_GATEWAYS} AND expires_at_ms <= ${value('nowMs')}
      ORDER BY expires_at_ms, id LIMIT 1`),
  isIdle: prepare<{ id: number }>(sql`
      SELECT id FROM distribution
      WHERE id = ${value('id')} AND ${AT_GATEWAYS} AND push_waiting_count = 0`),
  cursor: prepare<{ cursorId: number }>(sql`
      SELECT cursor_id AS "cursorId" FROM distribution
      WHERE id = ${value('id')} AND ${AT_GATEWAYS} AND expires_at_ms <= ${value('nowMs')}`),
  moved: prepare(sql`
      UPDATE distribution SET cursor_id = ${value('cursorId')}
      WHERE id = ${value('id')} AND ${AT_GATEWAYS}`),
};

/** Tokens lose addresses that are dead, unless they have another one by now. */
async function dropAddresses(w: Write, dead: readonly Of<'dead'>[], nowMs: number): Promise<void> {
  if (dead.length === 0) return;
  const tokenIds = dead.map(({ tokenId }) => tokenId);
  await on.holdTokens.run(w, { tokenIds });
  const addresses = dead.map(({ push }) => JSON.stringify(push));
  const problems = dead.map(({ problem }) => problem);
  const asOf = dead.map(({ asOfMs }) => asOfMs);
  await on.dropAddresses.run(w, { tokenIds, addresses, problems, asOf, nowMs });
}

/** The dispatches that are still there. The distributions of pushes are held. */
async function rowsOf(w: Write, settlements: readonly Settlement[]): Promise<Map<number, Row>> {
  if (settlements.length === 0) return new Map();
  const ids = settlements.map(({ id }) => id);
  await pushes.hold(w, await on.distributions.all(w, { ids }));
  return new Map((await on.rows.all(w, { ids })).map((row) => [row.id, row]));
}

function waitingPush({ recipientId, distributionId, ...row }: Row): pushes.WaitingPush | null {
  if (recipientId === null || distributionId === null) return null;
  return { ...row, recipientId, distributionId };
}

/** Notes what became of pushes that are tried no more. */
async function settlePushes(
  w: Write,
  settled: readonly { push: pushes.WaitingPush; settlement: Settlement }[],
  nowMs: number,
): Promise<void> {
  const fates: pushes.Fate[] = [];
  const moot: pushes.WaitingPush[] = [];
  for (const { push, settlement } of settled) {
    if (settlement.outcome === 'accepted') fates.push(pushes.accepted(push));
    else if (settlement.outcome === 'moot') moot.push(push);
    else fates.push(pushes.failed(push, settlement.problem));
  }
  const tally: pushes.PushTally = new Map();
  fates.push(...(await pushes.reconsider(w, moot, nowMs)));
  await pushes.leave(w, fates, tally, nowMs);
  await pushes.close(w, tally, nowMs);
}

/** Notes the end of events at a webhook. */
async function settleEvents(
  w: Write,
  webhookId: number,
  settled: readonly { row: Row; settlement: Settlement }[],
  nowMs: number,
): Promise<void> {
  if (settled.length === 0) return;
  await on.remove.run(w, { ids: settled.map(({ row }) => row.id) });
  await on.deliveries.run(w, {
    webhookId,
    eventIds: settled.map(({ row }) => row.eventId),
    delivered: settled.map(({ settlement }) => Number(settlement.outcome === 'accepted')),
    attempts: settled.map(({ row }) => row.attemptCount + 1),
    problems: settled.map(({ settlement }) =>
      'problem' in settlement ? settlement.problem : null,
    ),
    nowMs,
  });
}

/** Puts off what is tried again. */
async function putOff(
  w: Write,
  kind: DestinationKind,
  retries: readonly Of<'retry' | 'wait'>[],
  nowMs: number,
): Promise<void> {
  if (retries.length === 0) return;
  const latestMs = nowMs + WAIT_MAX_MS[kind];
  await on.retry.run(w, {
    ids: retries.map(({ id }) => id),
    nextAtMs: retries.map(({ nextAtMs }) => Math.min(nextAtMs, latestMs)),
    problems: retries.map(({ problem }) => problem),
    counted: retries.map(({ outcome }) => Number(outcome === 'retry')),
  });
}

async function noteHealth(
  w: Write,
  id: number,
  health: DestinationHealth,
  leaseUntilMs: number,
): Promise<void> {
  const { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem } = health;
  const noted = { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem };
  await on.health.run(w, { id, leaseUntilMs, ...noted });
}

/** Each of a kind. The first of a dispatch that is settled twice counts. */
function sorted(settlements: readonly Settlement[], rows: Map<number, Row>) {
  const retries: Of<'retry' | 'wait'>[] = [];
  const settledPushes: { push: pushes.WaitingPush; settlement: Settlement }[] = [];
  const settledEvents: { row: Row; settlement: Settlement }[] = [];
  for (const settlement of settlements) {
    const row = rows.get(settlement.id);
    if (row === undefined) continue;
    rows.delete(settlement.id);
    const push = waitingPush(row);
    if (settlement.outcome === 'retry' || settlement.outcome === 'wait') retries.push(settlement);
    else if (push !== null) settledPushes.push({ push, settlement });
    else settledEvents.push({ row, settlement });
  }
  return { retries, settledPushes, settledEvents };
}

/** A step of ending what is over while gateways have it. */
async function endNext(w: Write, id: number, nowMs: number): Promise<void> {
  await pushes.hold(w, [{ distributionId: id }]);
  const found = await ending.cursor.get(w, { id, nowMs });
  if (found === null) return;
  const { cursorId } = found;
  const { toId, isDone } = await nextRun(w, { id, cursorId, countMax: END_STEP_COUNT });
  await pushes.failRun(w, { id, cursorId, toId }, WHY_EXPIRED, nowMs);
  await ending.moved.run(w, { id, cursorId: toId });
  // Its last push ended it already, unless the counts are wrong: it would be late for ever.
  if (isDone) await pushes.end(w, id, nowMs);
}

export function settlementStore(context: Context): SettlementStore {
  const { db } = context;
  return {
    settleDispatches: (lease, settlements, health, disables) =>
      context.write(async (w) => {
        const { destinationId: id, owner, nowMs, leaseMs } = lease;
        if ((await on.exists.get(w, { id })) === null) return false;
        const dead = settlements.filter((one) => one.outcome === 'dead');
        await dropAddresses(w, dead, nowMs);
        const found = sorted(settlements, await rowsOf(w, settlements));
        await settlePushes(w, found.settledPushes, nowMs);
        const destination = await on.holdDestination.get(w, { id });
        if (destination === null) return w.refuse(false);
        const { kind, webhookId, leaseOwner, stoppedAtMs } = destination;
        await putOff(w, kind, found.retries, nowMs);
        if (webhookId !== null) {
          await settleEvents(w, webhookId, found.settledEvents, nowMs);
          if (disables !== null) await w.events.disableWebhook(webhookId, disables, nowMs);
        }
        if (leaseOwner !== owner) return false;
        await noteHealth(w, id, health, context.storeNowMs() + leaseMs);
        if (health.stoppedAtMs !== null && stoppedAtMs === null) {
          w.events.note(null, nowMs, () => gatewayStopped(kind, health.problem ?? ''));
        }
        return true;
      }),

    endHandedOver: async (nowMs) => {
      const [idle, late] = await Promise.all([
        ending.awaitingNone.all(db),
        ending.late.get(db, { nowMs }),
      ]);
      if (idle.length === 0 && late === null) return false;
      return context.write(async (w) => {
        await pushes.hold(
          w,
          idle.map(({ id }) => ({ distributionId: id })),
        );
        for (const { id } of idle) {
          if ((await ending.isIdle.get(w, { id })) !== null) await pushes.end(w, id, nowMs);
        }
        if (late !== null) await endNext(w, late.id, nowMs);
        return true;
      });
    },
  };
}
