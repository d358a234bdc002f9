/** The due dispatches of a destination, and the messages of pushes. */

import { BLOCKED } from '../../core/message/status.ts';
import {
  dueRanges,
  eventDispatch,
  type PushRow,
  pushDispatch,
} from '../../core/outbox/dispatch.ts';
import type { Dispatch, OutboxStore } from '../../core/port/outbox.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { reader } from './push-queue.ts';

type DispatchNoun = Pick<OutboxStore, 'listDispatches' | 'findPushMessage'>;

const DISPATCH = columns({ o: 'outbox' }, 'o.id, o.nextAtMs, o.queuedAtMs, o.attemptCount');

export function dispatchNoun(backend: Backend): DispatchNoun {
  const { prepare, once, join, fence, leastMs } = backend;
  const behind = sql`o.destination_id = ${once('destinationId')}
    AND (o.next_at_ms, o.id) > (${once('afterMs')}, ${once('afterId')})
    AND o.next_at_ms <= ${once('toMs')} ORDER BY o.next_at_ms, o.id LIMIT ${once('countMax')}`;
  const on = {
    destination: prepare(sql`
        SELECT ${columns('destination', 'kind, origin')} FROM destination WHERE id = :id`),
    pushes: prepare(sql`
        SELECT ${values<
          Omit<PushRow, 'isBlocked' | 'expiresAtMs' | 'tokenId' | 'push' | 'pushAtMs' | 'locale'>
        >({
          id: sql`q.id`,
          nextAtMs: sql`q."nextAtMs"`,
          queuedAtMs: sql`q."queuedAtMs"`,
          attemptCount: sql`q."attemptCount"`,
          distributionId: sql`q."distributionId"`,
          deviceId: sql`q."deviceId"`,
        })},
          ${columns(
            { x: 'distribution', t: 'device_token?' },
            'x.status, x.expiresAtMs, t.id AS tokenId, t.push, t.pushAtMs, t.locale',
          )}
        FROM (SELECT ${DISPATCH}, ${columns({ r: 'recipient' }, 'r.distributionId, r.deviceId')},
                ${reader(backend)} AS reader
              FROM outbox o ${join} recipient r ON r.id = o.recipient_id WHERE ${behind} ${fence}) q
          ${join} distribution x ON x.id = q."distributionId"
          LEFT JOIN device_token t ON t.id = q.reader
        ORDER BY q."nextAtMs", q.id`),
    events: prepare(sql`
        SELECT ${DISPATCH}, ${columns(
          { e: 'event' },
          'e.id AS eventId, e.kind AS eventKind, e.providerId, e.atMs, e.data',
        )}
        FROM outbox o ${join} event e ON e.id = o.event_id WHERE ${behind}`),
    message: prepare(sql`
        SELECT ${columns(
          'distribution',
          'id, providerId, notificationType, createdAtMs, expiresAtMs, payload',
        )}
        FROM distribution WHERE id = :id`),
  };
  return {
    listDispatches: async (destinationId, nowMs, countMax, after) =>
      backend.read(function* () {
        const to = yield* on.destination.get({ id: destinationId });
        if (to === null) return [];
        const isGateway = to.kind !== 'webhook' && to.kind !== 'telegram';
        const found: Dispatch[] = [];
        for (const range of dueRanges(to.kind, nowMs, after)) {
          const wanted = { destinationId, ...range, countMax: countMax - found.length };
          if (wanted.countMax === 0) break;
          if (isGateway) {
            for (const { status, ...row } of yield* on.pushes.all(wanted)) {
              found.push(
                pushDispatch({ ...row, isBlocked: status === BLOCKED }, to, leastMs(nowMs)),
              );
            }
          } else found.push(...(yield* on.events.all(wanted)).map(eventDispatch));
        }
        return found;
      }),

    findPushMessage: async (id) => {
      const found = await backend.read(() => on.message.get({ id }));
      return found && { ...found, payload: JSON.parse(found.payload) };
    },
  };
}
