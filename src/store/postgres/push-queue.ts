/** Pushes are put into the outbox, as part of the write that puts the message into inboxes. */

import { sql } from 'drizzle-orm';
import { UNPROVEN_COUNT } from '../../core/outbox/circuit.ts';
import { destinationOf, type GatewayKey } from '../../core/outbox/destination.ts';
import { KNOWN_SERVICES_MAX, PUSH_SERVICES_MAX } from '../../core/port/outbox.ts';
import type { PushAddress, PushGateway } from '../../core/port/registration.ts';
import { prepare, value } from './statement.ts';
import { LINKED } from './targets.ts';
import type { Write } from './write.ts';

/** The token that reads the message of ledger row `r`. */
export const READER = sql`CASE WHEN r.inbox > 0 THEN
  (SELECT p.token_id FROM device_provider p
   WHERE p.device_id = r.device_id AND p.provider_id = r.inbox AND p.after_recipient_id < r.id
     AND ${LINKED})
  ELSE (SELECT n.id FROM device_token n
   WHERE n.device_id = r.device_id AND n.nobody_after_distribution_id < r.distribution_id
     AND n.nobody_after_recipient_id < r.id) END`;

/** A run of a distribution's recipients, by their devices. */
export interface Run {
  id: number;
  cursorId: number;
  toId: number;
}

/** Condition: ledger row `r` is in the run. */
export const IN_RUN = sql`r.distribution_id = ${value('id')} AND r.device_id > ${value('cursorId')}
  AND r.device_id <= ${value('toId')}`;

/** A push that is to wait. */
export interface NewPush {
  destinationId: number;
  recipientId: number;
  queuedAtMs: number;
}

const on = {
  /** An address is JSON that the database does not look into. OFFSET: the reader is found first. */
  addressed: prepare<{ recipientId: number; push: string }>(sql`
      SELECT q.id AS "recipientId", t.push AS push
      FROM (SELECT r.id AS id, r.device_id AS device_id, ${READER} AS reader FROM recipient r
            WHERE ${IN_RUN} AND r.state = 1 OFFSET 0) q
        JOIN device_token t ON t.id = q.reader
      WHERE t.push IS NOT NULL ORDER BY q.device_id`),
  destination: prepare<{ id: number }>(sql`
      SELECT id FROM destination
      WHERE kind = ${value('kind')} AND origin = ${value('origin')} AND webhook_id IS NULL`),
  serviceCount: prepare<{ count: number; unprovenCount: number }>(sql`
      SELECT count(*) AS count, count(*) FILTER (WHERE failure_count > 0) AS "unprovenCount"
      FROM destination WHERE kind = 'webpush' AND webhook_id IS NULL`),
  addDestination: prepare<{ id: number }>(sql`
      INSERT INTO destination (kind, origin, failure_count)
      VALUES (${value('kind')}, ${value('origin')}, ${value('failureCount')})
      ON CONFLICT DO NOTHING RETURNING id`),
  /** Destinations in the order of their ids, as everybody locks them. */
  put: prepare(sql`
      INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, recipient_id)
      SELECT destination_id, 0, queued_at_ms, recipient_id
      FROM unnest(${value('destinationIds')}::bigint[], ${value('queuedAtMs')}::bigint[],
          ${value('recipientIds')}::bigint[])
        WITH ORDINALITY u (destination_id, queued_at_ms, recipient_id, place)
      ORDER BY destination_id, place`),
};

async function isFullOfServices(w: Write): Promise<boolean> {
  const counts = await on.serviceCount.get(w);
  if (counts === null) return false;
  return counts.unprovenCount >= PUSH_SERVICES_MAX || counts.count >= KNOWN_SERVICES_MAX;
}

/** The destination of an address; null: there are as many push services as may be. */
async function destinationId(w: Write, key: GatewayKey): Promise<number | null> {
  const known = await on.destination.get(w, { ...key });
  if (known !== null) return known.id;
  if (key.kind === 'webpush' && (await isFullOfServices(w))) return null;
  // Any device can name a push service: one that is new has to prove itself, among the failing.
  const failureCount = key.kind === 'webpush' ? UNPROVEN_COUNT : 0;
  const added = await on.addDestination.get(w, { ...key, failureCount });
  // Another write was quicker, and has committed it by now.
  return (added ?? (await on.destination.get(w, { ...key })))?.id ?? null;
}

/** Returns the function that finds, or makes, the destination of an address; each once a write. */
export function destinationFinder(w: Write) {
  const ids = new Map<string, number | null>();
  return async (key: GatewayKey): Promise<number | null> => {
    const name = `${key.kind} ${key.origin}`;
    if (!ids.has(name)) ids.set(name, await destinationId(w, key));
    return ids.get(name) ?? null;
  };
}

/** Puts pushes into the outbox. */
export async function put(w: Write, pushes: readonly NewPush[]): Promise<void> {
  if (pushes.length === 0) return;
  await on.put.run(w, {
    destinationIds: pushes.map((push) => push.destinationId),
    queuedAtMs: pushes.map((push) => push.queuedAtMs),
    recipientIds: pushes.map((push) => push.recipientId),
  });
  w.raiseOutbox();
}

/**
 * Puts in pushes for those of a run who are to get the message and whose token has an address for
 * one of the gateways; says how many.
 */
export async function queue(
  w: Write,
  run: Run,
  gateways: readonly PushGateway[],
  nowMs: number,
): Promise<number> {
  if (gateways.length === 0) return 0;
  const idOf = destinationFinder(w);
  const found: NewPush[] = [];
  for (const { recipientId, push } of await on.addressed.all(w, { ...run })) {
    const address = JSON.parse(push) as PushAddress;
    const key = gateways.includes(address.gateway) ? destinationOf(address) : null;
    const id = key && (await idOf(key));
    if (id !== null) found.push({ destinationId: id, recipientId, queuedAtMs: nowMs });
  }
  await put(w, found);
  return found.length;
}
