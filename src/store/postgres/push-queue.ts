/** Pushes are put into the outbox, as part of the write that puts the message into inboxes. */

import { sql } from 'drizzle-orm';
import { UNPROVEN_COUNT } from '../../core/outbox/circuit.ts';
import { destinationOf, type GatewayKey } from '../../core/outbox/destination.ts';
import { KNOWN_SERVICES_MAX, PUSH_SERVICES_MAX } from '../../core/port/outbox.ts';
import type { PushAddress, PushGateway } from '../../core/port/registration.ts';
import { linkedRow } from '../noun/targets.ts';
import { DIALECT } from './dialect.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** The token that reads the message of ledger row `r`. */
export const READER = sql`CASE WHEN r.inbox > 0 THEN
  (SELECT p.token_id FROM device_provider p
   WHERE p.device_id = r.device_id AND p.provider_id = r.inbox AND p.after_recipient_id < r.id
     AND ${linkedRow(DIALECT)})
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

/** A destination that is there. */
interface Known extends GatewayKey {
  id: number;
}

const NO_SERVICES = { count: 0, unprovenCount: 0 };

const on = {
  /** An address is JSON that the database does not look into. OFFSET: the reader is found first. */
  addressed: prepare<{ recipientId: number; push: string }>(sql`
      SELECT q.id AS "recipientId", t.push AS push
      FROM (SELECT r.id AS id, r.device_id AS device_id, ${READER} AS reader FROM recipient r
            WHERE ${IN_RUN} AND r.state = 1 OFFSET 0) q
        JOIN device_token t ON t.id = q.reader
      WHERE t.push IS NOT NULL ORDER BY q.device_id`),
  destinations: prepare<Known>(sql`
      SELECT d.id AS id, d.kind AS kind, d.origin AS origin
      FROM unnest(${value('kinds')}::text[], ${value('origins')}::text[]) u (kind, origin)
        JOIN destination d
          ON d.kind = u.kind AND d.origin = u.origin AND d.webhook_id IS NULL`),
  serviceCount: prepare<{ count: number; unprovenCount: number }>(sql`
      SELECT count(*) AS count, count(*) FILTER (WHERE failure_count > 0) AS "unprovenCount"
      FROM destination WHERE kind = 'webpush' AND webhook_id IS NULL`),
  addDestinations: prepare(sql`
      INSERT INTO destination (kind, origin, failure_count)
      SELECT kind, origin, failure_count
      FROM unnest(${value('kinds')}::text[], ${value('origins')}::text[],
        ${value('failureCounts')}::bigint[]) u (kind, origin, failure_count)
      ORDER BY kind, origin ON CONFLICT DO NOTHING`),
  /** Destinations in the order of their ids, as everybody locks them. */
  put: prepare(sql`
      INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, recipient_id)
      SELECT destination_id, 0, queued_at_ms, recipient_id
      FROM unnest(${value('destinationIds')}::bigint[], ${value('queuedAtMs')}::bigint[],
          ${value('recipientIds')}::bigint[])
        WITH ORDINALITY u (destination_id, queued_at_ms, recipient_id, place)
      ORDER BY destination_id, place`),
};

/** Push services that may be added. */
async function roomForServices(w: Write): Promise<number> {
  const { count, unprovenCount } = (await on.serviceCount.get(w)) ?? NO_SERVICES;
  return Math.max(0, Math.min(PUSH_SERVICES_MAX - unprovenCount, KNOWN_SERVICES_MAX - count));
}

/** Makes destinations, of push services no more than may be. */
async function addDestinations(w: Write, keys: readonly GatewayKey[]): Promise<void> {
  const gateways = keys.filter(({ kind }) => kind !== 'webpush');
  const services = keys.filter(({ kind }) => kind === 'webpush');
  const room = services.length === 0 ? 0 : await roomForServices(w);
  const added = [...gateways, ...services.slice(0, room)];
  if (added.length === 0) return;
  await on.addDestinations.run(w, {
    ...columnsOf(added),
    // Any device can name a push service: one that is new has to prove itself, among the failing.
    failureCounts: added.map(({ kind }) => (kind === 'webpush' ? UNPROVEN_COUNT : 0)),
  });
}

/**
 * Finds the destinations of addresses by {@link nameOf} their keys, and makes those that are not
 * there; of a push service that is one too many there is none.
 */
export async function destinationsOf(
  w: Write,
  keys: readonly GatewayKey[],
): Promise<Map<string, number>> {
  const wanted = [...new Map(keys.map((key) => [nameOf(key), key])).values()];
  if (wanted.length === 0) return new Map();
  const look = async () => {
    const known = await on.destinations.all(w, columnsOf(wanted));
    return new Map(known.map((row) => [nameOf(row), row.id]));
  };
  const known = await look();
  const missing = wanted.filter((key) => !known.has(nameOf(key)));
  if (missing.length === 0) return known;
  await w.inTurn(() => addDestinations(w, missing));
  // Also what another write added, which was quicker.
  return look();
}

export const nameOf = ({ kind, origin }: GatewayKey) => `${kind} ${origin}`;

const columnsOf = (keys: readonly GatewayKey[]) => ({
  kinds: keys.map(({ kind }) => kind),
  origins: keys.map(({ origin }) => origin),
});

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
  const addressed: { recipientId: number; key: GatewayKey }[] = [];
  for (const { recipientId, push } of await on.addressed.all(w, { ...run })) {
    const address = JSON.parse(push) as PushAddress;
    const key = gateways.includes(address.gateway) ? destinationOf(address) : null;
    if (key !== null) addressed.push({ recipientId, key });
  }
  const ids = await destinationsOf(
    w,
    addressed.map(({ key }) => key),
  );
  const found: NewPush[] = [];
  for (const { recipientId, key } of addressed) {
    const id = ids.get(nameOf(key));
    if (id !== undefined) found.push({ destinationId: id, recipientId, queuedAtMs: nowMs });
  }
  await put(w, found);
  return found.length;
}
