/** Deliveries of events to webhooks: waiting and ended ones, and their replay. */

import { PHONE_COUNT } from '../../core/event/happenings.ts';
import { WAITING_COUNT_MAX, wantsKind } from '../../core/event/wanted.ts';
import { FOLDED_EVENT, type StoredEvent } from '../../core/port/event.ts';
import type { Delivery, Webhook, WebhookStore } from '../../core/port/webhook.ts';
import type { Backend, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { IS_OWNERS, ofOwner } from './owner.ts';

/** Events that a step of a replay reads. */
const REPLAY_STEP = 500;

interface Found {
  id: number;
  kind: StoredEvent['kind'];
  /** 1: it waits in the webhook's queue already. */
  isWaiting: number;
}

/** Matches the data of refusals by phone; quotes in values of JSON are escaped. */
const OF_PHONE = sql.raw(`'%"${PHONE_COUNT}":%'`);

/** Locks the destination of a webhook, and so its queue. */
export const queueLock = (backend: Backend) =>
  backend.prepare(sql`
      SELECT ${columns('destination', 'id, waitingCount')} FROM destination
      WHERE webhook_id = :webhookId ${backend.locked}`);

function statements(backend: Backend) {
  const { prepare, join } = backend;
  const own = ofOwner(backend);
  const isWaiting = values<{ isWaiting: number }>({
    isWaiting: sql`CAST(EXISTS (
      SELECT 1 FROM outbox o
      WHERE o.event_id = e.id AND o.destination_id = :destinationId) AS integer)`,
  });
  return {
    /** Lists waiting and ended deliveries in one statement, so of one moment. */
    list: prepare(sql`
        SELECT ${values<Delivery>({
          eventId: sql`"eventId"`,
          kind: sql`kind`,
          atMs: sql`"atMs"`,
          state: sql`state`,
          attemptCount: sql`"attemptCount"`,
          stateAtMs: sql`"stateAtMs"`,
          problem: sql`problem`,
        })} FROM (
          SELECT * FROM (
            SELECT e.id AS "eventId", e.kind AS kind, e.at_ms AS "atMs", 'waiting' AS state,
              o.attempt_count AS "attemptCount", o.next_at_ms AS "stateAtMs", o.problem AS problem
              FROM destination d ${join} outbox o ON o.destination_id = d.id
              ${join} event e ON e.id = o.event_id
            WHERE :listsWaiting = 1 AND d.webhook_id = :webhookId AND o.event_id < :beforeId
            ORDER BY o.event_id DESC LIMIT :countMax) waiting
          UNION ALL
          SELECT * FROM (
            SELECT e.id, e.kind, e.at_ms,
              CASE WHEN r.is_delivered = 1 THEN 'delivered' ELSE 'failed' END, r.attempt_count,
              r.ended_at_ms, r.problem
            FROM webhook_delivery r ${join} event e ON e.id = r.event_id
            WHERE r.webhook_id = :webhookId AND r.event_id < :beforeId
              AND r.is_delivered ${backend.among('ended')}
            ORDER BY r.event_id DESC LIMIT :countMax) ended) deliveries
        ORDER BY "eventId" DESC LIMIT :countMax`),
    event: own`
        SELECT ${columns({ e: 'event' }, 'e.id, e.kind')}, ${isWaiting} FROM event e
        WHERE e.id = :eventId AND ${IS_OWNERS}`,
    eventsSince: own`
        SELECT ${columns({ e: 'event' }, 'e.id, e.kind')}, ${isWaiting},
          ${values<{ isOfPhone: number }>({
            isOfPhone: sql`CASE WHEN e.data LIKE ${OF_PHONE} THEN 1 ELSE 0 END`,
          })}
        FROM event e
        WHERE ${IS_OWNERS} AND e.id > :afterEventId AND e.at_ms >= :sinceMs
        ORDER BY e.id LIMIT ${REPLAY_STEP}`,
    lockQueue: queueLock(backend),
    /** Leaves out an event that was deleted meanwhile. */
    put: prepare(sql`
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, event_id)
        SELECT CAST(:destinationId AS bigint), 0, CAST(:nowMs AS bigint), e.id
        FROM event e WHERE e.id ${backend.among('eventIds')} ORDER BY e.id ${backend.keyLocked('e')}
        ON CONFLICT DO NOTHING RETURNING ${columns('outbox', 'eventId!')}`),
    dropEnds: prepare(sql`
        DELETE FROM webhook_delivery
        WHERE webhook_id = :webhookId AND event_id ${backend.among('eventIds')}`),
  };
}

/** Values of `is_delivered` for each state. */
const ENDED: Readonly<Record<Delivery['state'] | 'all', readonly number[]>> = {
  waiting: [],
  delivered: [1],
  failed: [0],
  all: [0, 1],
};

type DeliveryMethods = Pick<WebhookStore, 'listDeliveries' | 'replayEvents'>;

export function deliveryMethods(backend: Backend): DeliveryMethods {
  const on = statements(backend);

  /** Lists stored events of the owner, and whether the replay includes each. */
  function* replayable(
    { providerId, events, target }: Webhook,
    which: Parameters<WebhookStore['replayEvents']>[1],
    destinationId: number,
  ): Step<(Found & { isWanted: boolean })[]> {
    const values = { providerId, destinationId, ...which };
    if ('eventId' in which) {
      const found = yield* on.event(providerId).all(values);
      return found.map((event) => ({ ...event, isWanted: true }));
    }
    const found = yield* on.eventsSince(providerId).all(values);
    const isChat = target.kind === 'telegram';
    // Refusals are stored twice, by phone and by link; a sum is of one receiver.
    const isForIt = ({ kind, isOfPhone }: (typeof found)[number]) =>
      kind !== FOLDED_EVENT && (kind !== 'link.refused' || (isOfPhone === 1) === isChat);
    return found.map((event) => ({
      ...event,
      isWanted: isForIt(event) && wantsKind(events, event.kind),
    }));
  }

  return {
    listDeliveries: async (webhookId, state, beforeEventId, countMax) =>
      backend.read(() =>
        on.list.all({
          webhookId,
          countMax,
          beforeId: beforeEventId ?? Number.MAX_SAFE_INTEGER,
          listsWaiting: Number(state === null || state === 'waiting'),
          ended: ENDED[state ?? 'all'],
        }),
      ),

    replayEvents: (webhook, which, nowMs) =>
      backend.write(function* (notes) {
        const { id: webhookId } = webhook;
        const destination = yield* on.lockQueue.get({ webhookId });
        if (destination === null) return { count: 0, next: null, isFull: false };
        const { id: destinationId, waitingCount } = destination;
        const found = yield* replayable(webhook, which, destinationId);
        const { eventIds, isFull } = fitting(found, WAITING_COUNT_MAX - waitingCount);
        const put = yield* on.put.all({ destinationId, nowMs, eventIds });
        if (put.length > 0) {
          const putIds = put.map(({ eventId }) => eventId);
          yield* on.dropEnds.run({ webhookId, eventIds: putIds });
          notes.outbox();
        }
        const isMore = !isFull && found.length === REPLAY_STEP;
        return { count: put.length, next: isMore ? (found.at(-1)?.id ?? null) : null, isFull };
      }),
  };
}

/** Lists the events to add to the queue while it has room. */
export function fitting(found: readonly (Found & { isWanted: boolean })[], room: number) {
  const eventIds: number[] = [];
  for (const { id, isWanted, isWaiting } of found) {
    if (!isWanted) continue;
    if (eventIds.length >= room) return { eventIds, isFull: true };
    if (isWaiting === 0) eventIds.push(id);
  }
  return { eventIds, isFull: false };
}
