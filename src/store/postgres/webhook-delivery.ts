/** Deliveries of events to webhooks: those that wait or ended, and those that are to go again. */

import { sql } from 'drizzle-orm';
import { WAITING_COUNT_MAX, wantsKind } from '../../core/event/wanted.ts';
import type { EventKind } from '../../core/port/event.ts';
import type { Delivery, Webhook, WebhookStore } from '../../core/port/webhook.ts';
import type { Context } from './context.ts';
import { ofOwner } from './owner.ts';
import { prepare, type Runner, value } from './statement.ts';

/** Events that a step of a replay looks at. */
const REPLAY_STEP = 500;

/** The destination of a webhook: whoever locks it has its queue. */
export const lockQueue = prepare<{ id: number; waitingCount: number }>(sql`
    SELECT id, waiting_count AS "waitingCount" FROM destination
    WHERE webhook_id = ${value('webhookId')} FOR NO KEY UPDATE`);

const IS_WAITING = sql`EXISTS (
  SELECT 1 FROM outbox o
  WHERE o.event_id = e.id AND o.destination_id = ${value('destinationId')}) AS "isWaiting"`;

interface Found {
  id: number;
  kind: EventKind;
  /** It is on its way to the webhook already. */
  isWaiting: boolean;
}

const on = {
  /** Those that wait and those that ended, of one moment. */
  list: prepare<Delivery>(sql`
      SELECT * FROM (
        (SELECT e.id AS "eventId", e.kind AS kind, e.at_ms AS "atMs", 'waiting' AS state,
          o.attempt_count AS "attemptCount", o.next_at_ms AS "stateAtMs", o.problem AS problem
        FROM destination d JOIN outbox o ON o.destination_id = d.id
          JOIN event e ON e.id = o.event_id
        WHERE ${value('listsWaiting')} AND d.webhook_id = ${value('webhookId')}
          AND o.event_id < ${value('beforeId')}
        ORDER BY o.event_id DESC LIMIT ${value('countMax')})
        UNION ALL
        (SELECT e.id, e.kind, e.at_ms,
          CASE WHEN r.is_delivered = 1 THEN 'delivered' ELSE 'failed' END, r.attempt_count,
          r.ended_at_ms, r.problem
        FROM webhook_delivery r JOIN event e ON e.id = r.event_id
        WHERE r.webhook_id = ${value('webhookId')} AND r.event_id < ${value('beforeId')}
          AND r.is_delivered = ANY(${value('ended')}::integer[])
        ORDER BY r.event_id DESC LIMIT ${value('countMax')})) deliveries
      ORDER BY "eventId" DESC LIMIT ${value('countMax')}`),
  event: ofOwner<Found>(
    (isOwners) => sql`
      SELECT e.id AS id, e.kind AS kind, ${IS_WAITING} FROM event e
      WHERE e.id = ${value('eventId')} AND ${isOwners}`,
  ),
  eventsSince: ofOwner<Found>(
    (isOwners) => sql`
      SELECT e.id AS id, e.kind AS kind, ${IS_WAITING} FROM event e
      WHERE ${isOwners} AND e.id > ${value('afterEventId')} AND e.at_ms >= ${value('sinceMs')}
      ORDER BY e.id LIMIT ${REPLAY_STEP}`,
  ),
  /** An event that is gone by now is left out. */
  put: prepare<{ eventId: number }>(sql`
      INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id)
      SELECT ${value('destinationId')}::bigint, 0, ${value('nowMs')}::bigint, e.id FROM event e
      WHERE e.id = ANY(${value('eventIds')}::bigint[])
      ORDER BY e.id FOR KEY SHARE
      ON CONFLICT DO NOTHING RETURNING event_id AS "eventId"`),
  dropEnds: prepare(sql`
      DELETE FROM webhook_delivery
      WHERE webhook_id = ${value('webhookId')}
        AND event_id = ANY(${value('eventIds')}::bigint[])`),
};

/** What has the state, of what ended: 1 delivered, 0 failed. */
const ENDED: Readonly<Record<Delivery['state'] | 'all', readonly number[]>> = {
  waiting: [],
  delivered: [1],
  failed: [0],
  all: [0, 1],
};

type DeliveryMethods = Pick<WebhookStore, 'listDeliveries' | 'replayEvents'>;

export function deliveryMethods({ db, write }: Context): DeliveryMethods {
  return {
    listDeliveries: (webhookId, state, beforeEventId, countMax) =>
      on.list.all(db, {
        webhookId,
        countMax,
        beforeId: beforeEventId ?? Number.MAX_SAFE_INTEGER,
        listsWaiting: state === null || state === 'waiting',
        ended: ENDED[state ?? 'all'],
      }),

    replayEvents: (webhook, which, nowMs) =>
      write(async (w) => {
        const { id: webhookId } = webhook;
        const destination = await lockQueue.get(w, { webhookId });
        if (destination === null) return { count: 0, next: null, isFull: false };
        const { id: destinationId, waitingCount } = destination;
        const found = await replayable(w, webhook, which, destinationId);
        const room = WAITING_COUNT_MAX - waitingCount;
        const { eventIds, isFull } = fitting(found, room);
        const put = await on.put.all(w, { destinationId, nowMs, eventIds });
        if (put.length > 0) {
          const putIds = put.map(({ eventId }) => eventId);
          await on.dropEnds.run(w, { webhookId, eventIds: putIds });
          w.raiseOutbox();
        }
        const isMore = !isFull && found.length === REPLAY_STEP;
        return { count: put.length, next: isMore ? (found.at(-1)?.id ?? null) : null, isFull };
      }),
  };
}

/** Kept events of the owner that a step looks at, and whether they are to go out again. */
async function replayable(
  runner: Runner,
  { providerId, events }: Webhook,
  which: Parameters<WebhookStore['replayEvents']>[1],
  destinationId: number,
): Promise<(Found & { isWanted: boolean })[]> {
  if ('eventId' in which) {
    const found = await on.event(providerId).all(runner, { providerId, destinationId, ...which });
    return found.map((event) => ({ ...event, isWanted: true }));
  }
  const found = await on
    .eventsSince(providerId)
    .all(runner, { providerId, destinationId, ...which });
  return found.map((event) => ({ ...event, isWanted: wantsKind(events, event.kind) }));
}

/** Those that are to be put into the queue while there is room, and whether that ended. */
function fitting(found: readonly (Found & { isWanted: boolean })[], room: number) {
  const eventIds: number[] = [];
  for (const { id, isWanted, isWaiting } of found) {
    if (!isWanted) continue;
    if (eventIds.length >= room) return { eventIds, isFull: true };
    if (!isWaiting) eventIds.push(id);
  }
  return { eventIds, isFull: false };
}
