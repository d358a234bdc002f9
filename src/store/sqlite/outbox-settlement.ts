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
import { recipientSteps } from './ledger.ts';
import { type PushTally, pushSteps } from './push-steps.ts';
import { once, value } from './statement.ts';

type SettlementStore = Pick<OutboxStore, 'settleDispatches' | 'endHandedOver'>;

/** Distributions that a step ends for which nothing waits any more. */
const END_COUNT = 200;

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

function statements({ db }: Context) {
  return {
    destination: db.prepare<DestinationRow>(sql`
        SELECT kind, webhook_id AS "webhookId", lease_owner AS "leaseOwner",
          stopped_at_ms AS "stoppedAtMs"
        FROM destination WHERE id = ${value('id')}`),
    health: db.prepare(sql`
        UPDATE destination SET failure_count = ${value('failureCount')},
          failing_since_ms = ${value('failingSinceMs')}, retry_at_ms = ${value('retryAtMs')},
          stopped_at_ms = ${value('stoppedAtMs')}, problem = ${value('problem')},
          lease_until_ms = ${value('leaseUntilMs')}
        WHERE id = ${value('id')}`),
    find: db.prepare<Row>(sql`
        SELECT o.id AS id, o.destination_id AS "destinationId", o.queued_at_ms AS "queuedAtMs",
          o.attempt_count AS "attemptCount", o.recipient_id AS "recipientId",
          r.distribution_id AS "distributionId", o.event_id AS "eventId"
        FROM outbox o LEFT JOIN recipient r ON r.id = o.recipient_id
        WHERE o.id = ${once('id')}`),
    retry: db.prepare(sql`
        UPDATE outbox SET next_at_ms = ${value('nextAtMs')}, attempt_count = attempt_count + ${value('counted')},
          problem = ${value('problem')}
        WHERE id = ${value('id')}`),
    dropAddress: db.prepare(sql`
        UPDATE device_token SET push = NULL, push_dropped_at_ms = ${value('nowMs')},
          push_dropped_why = ${value('problem')}
        WHERE id = ${value('tokenId')} AND push = ${value('push')}
          AND coalesce(push_at_ms <= ${value('asOfMs')}, 1)`),
    remove: db.prepare(sql`DELETE FROM outbox WHERE id = ${value('id')}`),
    delivery: db.prepare(sql`
        INSERT INTO webhook_delivery
          (webhook_id, event_id, is_delivered, attempt_count, ended_at_ms, problem)
        VALUES (${value('webhookId')}, ${value('eventId')}, ${value('isDelivered')},
          ${value('attemptCount')}, ${value('nowMs')}, ${value('problem')})
        ON CONFLICT DO UPDATE SET is_delivered = excluded.is_delivered,
          attempt_count = excluded.attempt_count, ended_at_ms = excluded.ended_at_ms,
          problem = excluded.problem`),
  };
}

function endStatements({ db }: Context) {
  return {
    awaitingNone: db.prepare<{ id: number }>(sql`
        SELECT id FROM distribution WHERE ${AT_GATEWAYS} AND push_waiting_count = 0
        LIMIT ${END_COUNT}`),
    late: db.prepare<{ id: number; cursorId: number }>(sql`
        SELECT id, cursor_id AS "cursorId" FROM distribution
        WHERE ${AT_GATEWAYS} AND expires_at_ms <= ${value('nowMs')}
        ORDER BY expires_at_ms LIMIT 1`),
    moved: db.prepare(sql`
        UPDATE distribution SET cursor_id = ${value('cursorId')}
        WHERE id = ${value('id')} AND ${AT_GATEWAYS}`),
  };
}

export function settlementStore(context: Context): SettlementStore {
  const { writer, clock, events } = context;
  const on = { ...statements(context), ...endStatements(context) };
  const pushes = pushSteps(context);
  const nextRun = recipientSteps(context);

  function settlePush(
    row: Row & { recipientId: number; distributionId: number },
    settlement: Exclude<Settlement, { outcome: 'retry' | 'wait' }>,
    tally: PushTally,
    nowMs: number,
  ): void {
    if (settlement.outcome === 'accepted') pushes.accept(row, tally, nowMs);
    else if (settlement.outcome === 'moot') pushes.reconsider(row, tally, nowMs);
    else pushes.fail(row, tally, settlement.problem, nowMs);
  }

  function settle(
    destination: DestinationRow,
    settlement: Settlement,
    tally: PushTally,
    nowMs: number,
  ): void {
    const { id, outcome } = settlement;
    if (outcome === 'dead') {
      const { tokenId, problem, asOfMs } = settlement;
      const push = JSON.stringify(settlement.push);
      on.dropAddress.run({ tokenId, problem, push, asOfMs, nowMs });
    }
    const row = on.find.get({ id });
    if (row === null) return;
    if (settlement.outcome === 'retry' || settlement.outcome === 'wait') {
      const nextAtMs = Math.min(settlement.nextAtMs, nowMs + WAIT_MAX_MS[destination.kind]);
      const counted = outcome === 'retry' ? 1 : 0;
      on.retry.run({ id, nextAtMs, counted, problem: settlement.problem });
      return;
    }
    const { recipientId, distributionId, eventId } = row;
    if (recipientId !== null && distributionId !== null) {
      settlePush({ ...row, recipientId, distributionId }, settlement, tally, nowMs);
      return;
    }
    on.remove.run({ id });
    on.delivery.run({
      webhookId: destination.webhookId,
      eventId,
      isDelivered: outcome === 'accepted' ? 1 : 0,
      attemptCount: row.attemptCount + 1,
      nowMs,
      problem: 'problem' in settlement ? settlement.problem : null,
    });
  }

  return {
    settleDispatches: (lease, settlements, health, disables) =>
      writer.run(() => {
        const { destinationId, owner, nowMs, leaseMs } = lease;
        const destination = on.destination.get({ id: destinationId });
        if (destination === null) return false;
        const tally: PushTally = new Map();
        for (const settlement of settlements) settle(destination, settlement, tally, nowMs);
        pushes.close(tally, nowMs);
        if (disables !== null && destination.webhookId !== null) {
          events.disableWebhook(destination.webhookId, disables, nowMs);
        }
        if (destination.leaseOwner !== owner) return false;
        noteHealth(destinationId, health, clock.nowMs() + leaseMs);
        if (health.stoppedAtMs !== null && destination.stoppedAtMs === null) {
          events.note(null, nowMs, () => gatewayStopped(destination.kind, health.problem ?? ''));
        }
        return true;
      }),

    endHandedOver: async (nowMs) => {
      if (on.awaitingNone.get() === null && on.late.get({ nowMs }) === null) return false;
      return writer.run(() => {
        const ended = on.awaitingNone.all();
        for (const { id } of ended) pushes.end(id, nowMs);
        const late = on.late.get({ nowMs });
        if (late !== null) endNext(late.id, late.cursorId, nowMs);
        return ended.length > 0 || late !== null;
      });
    },
  };

  function noteHealth(id: number, health: DestinationHealth, leaseUntilMs: number): void {
    const { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem } = health;
    const noted = { failureCount, failingSinceMs, retryAtMs, stoppedAtMs, problem };
    on.health.run({ id, leaseUntilMs, ...noted });
  }

  /** A step of ending what is over while gateways have it. */
  function endNext(id: number, cursorId: number, nowMs: number): void {
    const { toId, isDone } = nextRun(id, cursorId);
    pushes.failRun({ id, cursorId, toId }, WHY_EXPIRED, nowMs);
    on.moved.run({ id, cursorId: toId });
    // Its last push ended it already, unless the counts are wrong: it would be late for ever.
    if (isDone) pushes.end(id, nowMs);
  }
}
