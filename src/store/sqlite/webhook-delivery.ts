/** Deliveries of events to webhooks: those that wait or ended, and those that are to go again. */

import { sql } from 'drizzle-orm';
import { WAITING_COUNT_MAX, wantsKind } from '../../core/event/wanted.ts';
import type { EventKind } from '../../core/port/event.ts';
import type { Delivery, Webhook, WebhookStore } from '../../core/port/webhook.ts';
import type { Context } from './context.ts';
import { value } from './statement.ts';

/** Events that a step of a replay looks at. */
const REPLAY_STEP = 500;

const OF_OWNER = sql`provider_id IS ${value('providerId')}`;

function deliveryStatements({ db }: Context) {
  const columns = sql.raw('e.id AS "eventId", e.kind AS kind, e.at_ms AS "atMs"');
  return {
    waiting: db.prepare<Delivery>(sql`
        SELECT ${columns}, 'waiting' AS state, o.attempt_count AS "attemptCount",
          o.next_at_ms AS "stateAtMs", o.problem AS problem
        FROM destination d CROSS JOIN outbox o ON o.destination_id = d.id
          CROSS JOIN event e ON e.id = o.event_id
        WHERE d.webhook_id = ${value('webhookId')} AND o.event_id < ${value('beforeId')}
        ORDER BY o.event_id DESC LIMIT ${value('countMax')}`),
    ended: db.prepare<Delivery>(sql`
        SELECT ${columns}, iif(r.is_delivered, 'delivered', 'failed') AS state,
          r.attempt_count AS "attemptCount", r.ended_at_ms AS "stateAtMs", r.problem AS problem
        FROM webhook_delivery r CROSS JOIN event e ON e.id = r.event_id
        WHERE r.webhook_id = ${value('webhookId')} AND r.event_id < ${value('beforeId')}
          AND (${value('isDelivered')} IS NULL OR r.is_delivered = ${value('isDelivered')})
        ORDER BY r.event_id DESC LIMIT ${value('countMax')}`),
    destination: db.prepare<{ id: number; waitingCount: number }>(sql`
        SELECT id, waiting_count AS "waitingCount" FROM destination
        WHERE webhook_id = ${value('webhookId')}`),
    event: db.prepare<{ id: number; kind: EventKind }>(sql`
        SELECT id, kind FROM event WHERE id = ${value('eventId')} AND ${OF_OWNER}`),
    eventsSince: db.prepare<{ id: number; kind: EventKind }>(sql`
        SELECT id, kind FROM event
        WHERE ${OF_OWNER} AND id > ${value('afterEventId')} AND at_ms >= ${value('sinceMs')}
        ORDER BY id LIMIT ${REPLAY_STEP}`),
    put: db.prepare(sql`
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id)
        VALUES (${value('destinationId')}, 0, ${value('nowMs')}, ${value('eventId')})
        ON CONFLICT DO NOTHING`),
    dropEnd: db.prepare(sql`
        DELETE FROM webhook_delivery
        WHERE webhook_id = ${value('webhookId')} AND event_id = ${value('eventId')}`),
  };
}

type DeliveryMethods = Pick<WebhookStore, 'listDeliveries' | 'replayEvents'>;

export function deliveryMethods(context: Context): DeliveryMethods {
  const { writer, outbox } = context;
  const on = deliveryStatements(context);

  /** Kept events of the owner that a step looks at, and whether they are to go out again. */
  function replayable(
    { providerId, events }: Webhook,
    which: Parameters<WebhookStore['replayEvents']>[1],
  ): { id: number; isWanted: boolean }[] {
    if ('eventId' in which) {
      return on.event.all({ providerId, ...which }).map(({ id }) => ({ id, isWanted: true }));
    }
    return on.eventsSince
      .all({ providerId, ...which })
      .map(({ id, kind }) => ({ id, isWanted: wantsKind(events, kind) }));
  }

  return {
    listDeliveries: async (webhookId, state, beforeEventId, countMax) => {
      const page = { webhookId, beforeId: beforeEventId ?? Number.MAX_SAFE_INTEGER, countMax };
      const waiting = state === null || state === 'waiting' ? on.waiting.all(page) : [];
      if (state === 'waiting') return waiting;
      const isDelivered = state === null ? null : Number(state === 'delivered');
      const again = new Set(waiting.map(({ eventId }) => eventId));
      const ended = on.ended.all({ ...page, isDelivered });
      return [...waiting, ...ended.filter(({ eventId }) => !again.has(eventId))]
        .sort((a, b) => b.eventId - a.eventId)
        .slice(0, countMax);
    },

    replayEvents: (webhook, which, nowMs) =>
      writer.run(() => {
        const found = replayable(webhook, which);
        const { id: webhookId } = webhook;
        const destination = on.destination.get({ webhookId });
        let room = destination === null ? 0 : WAITING_COUNT_MAX - destination.waitingCount;
        let count = 0;
        for (const { id: eventId, isWanted } of found) {
          if (!isWanted || destination === null) continue;
          if (room === 0) return { count, next: null, isFull: true };
          const added = on.put.run({ destinationId: destination.id, nowMs, eventId });
          if (added === 0) continue;
          on.dropEnd.run({ webhookId, eventId });
          count += 1;
          room -= 1;
        }
        if (count > 0) outbox.raise();
        const isMore = found.length === REPLAY_STEP;
        return { count, next: isMore ? (found.at(-1)?.id ?? null) : null, isFull: false };
      }),
  };
}
