/** Queues pushes in the write that puts their message into inboxes. */

import { UNPROVEN_COUNT } from '../../core/outbox/circuit.ts';
import { destinationOf, type GatewayKey } from '../../core/outbox/destination.ts';
import { KNOWN_SERVICES_MAX, PUSH_SERVICES_MAX } from '../../core/port/outbox.ts';
import type { PushAddress, PushGateway } from '../../core/port/registration.ts';
import type { Dialect, Notes, Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';
import { linkedRow } from './targets.ts';

/** The token that reads the message of ledger row `r`. */
export const reader = (dialect: Dialect) => sql`CASE WHEN r.inbox > 0 THEN
  (SELECT p.token_id FROM device_provider p
   WHERE p.device_id = r.device_id AND p.provider_id = r.inbox AND p.after_recipient_id < r.id
     AND ${linkedRow(dialect)})
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
export const inRun = ({ once }: Dialect) => sql`r.distribution_id = ${once('id')}
  AND r.device_id > ${once('cursorId')} AND r.device_id <= ${once('toId')}`;

/** A push to queue. */
export interface NewPush {
  destinationId: number;
  recipientId: number;
  queuedAtMs: number;
}

interface KnownDestination extends GatewayKey {
  id: number;
}

const KEYS = { kind: 'text', origin: 'text' } as const;
const PUSH = { destinationId: 'bigint', recipientId: 'bigint', queuedAtMs: 'bigint' } as const;
const IS_SERVICE = sql`kind = 'webpush' AND webhook_id IS NULL`;

function queueStatements(statements: Statements) {
  const { prepare, join, fence, rows } = statements;
  return {
    /** An address is JSON text that the database does not parse. */
    addressed: prepare(sql`
        SELECT ${values<{ recipientId: number }>({ recipientId: sql`q.id` })},
          ${columns(
            { t: 'device_token' },
            't.push!',
          )} FROM (SELECT r.id AS id, r.device_id AS device_id, ${reader(statements)} AS reader
              FROM recipient r WHERE ${inRun(statements)} AND r.state = 1 ${fence}) q
          ${join} device_token t ON t.id = q.reader
        WHERE t.push IS NOT NULL ORDER BY q.device_id`),
    destinations: prepare(sql`
        SELECT ${values<KnownDestination>({
          id: sql`d.id`,
          kind: sql`d.kind`,
          origin: sql`d.origin`,
        })}
        FROM ${rows('keys', KEYS)} u ${join} destination d
          ON d.kind = u.kind AND d.origin = u.origin AND d.webhook_id IS NULL`),
    /** Push services are the first of the rows; those above the limits are left out. */
    addDestinations: prepare(sql`
        INSERT INTO destination (kind, origin, failure_count)
        SELECT u.kind, u.origin, u."failureCount"
        FROM ${rows('keys', { ...KEYS, failureCount: 'bigint' })} u
        WHERE u.kind <> 'webpush' OR u.n < (
          SELECT ${statements.least(
            sql`${PUSH_SERVICES_MAX} - count(*) FILTER (WHERE failure_count > 0)`,
            sql`${KNOWN_SERVICES_MAX} - count(*)`,
          )} FROM destination WHERE ${IS_SERVICE})
        ORDER BY u.kind, u.origin ON CONFLICT DO NOTHING`),
    /** In the order of the destinations' ids, because every write locks them in that order. */
    put: prepare(sql`
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, recipient_id)
        SELECT u."destinationId", 0, u."queuedAtMs", u."recipientId"
        FROM ${rows('pushes', PUSH)} u ORDER BY u."destinationId", u.n`),
  };
}

export const gatewayName = ({ kind, origin }: GatewayKey) => `${kind} ${origin}`;

/** Steps that queue pushes. */
export const pushQueue = shared((statements: Statements) => {
  const on = queueStatements(statements);

  function* findAll(keys: readonly GatewayKey[]): Step<Map<string, number>> {
    const known = yield* on.destinations.all({ keys: JSON.stringify(keys) });
    return new Map(known.map((row) => [gatewayName(row), row.id]));
  }

  /**
   * Finds or adds destinations by {@link gatewayName}, for each key; none for a push service above
   * the limits.
   */
  function* destinationsOf(keys: readonly GatewayKey[]): Step<Map<string, number>> {
    const wanted = [...new Map(keys.map((key) => [gatewayName(key), key])).values()];
    if (wanted.length === 0) return new Map();
    const known = yield* findAll(wanted);
    const missing = wanted.filter((key) => !known.has(gatewayName(key)));
    if (missing.length === 0) return known;
    const isService = ({ kind }: GatewayKey) => kind === 'webpush';
    const sorted = missing.sort((a, b) => Number(isService(b)) - Number(isService(a)));
    const added = sorted.map(({ kind, origin }) => {
      // Any device can name a push service: a new one counts as failing until it accepts a push.
      return { kind, origin, failureCount: kind === 'webpush' ? UNPROVEN_COUNT : 0 };
    });
    yield* on.addDestinations.run({ keys: JSON.stringify(added) });
    // Also finds those that another write has added meanwhile.
    return yield* findAll(wanted);
  }

  function* put(notes: Notes, pushes: readonly NewPush[]): Step<void> {
    if (pushes.length === 0) return;
    yield* on.put.run({ pushes: JSON.stringify(pushes) });
    notes.outbox();
  }

  /**
   * Queues pushes for the recipients of a run with an address at a gateway; returns their number.
   */
  function* queue(
    notes: Notes,
    run: Run,
    gateways: readonly PushGateway[],
    nowMs: number,
  ): Step<number> {
    if (gateways.length === 0) return 0;
    const addressed: { recipientId: number; key: GatewayKey }[] = [];
    for (const { recipientId, push } of yield* on.addressed.all({ ...run })) {
      const address = JSON.parse(push) as PushAddress;
      const key = gateways.includes(address.gateway) ? destinationOf(address) : null;
      if (key !== null) addressed.push({ recipientId, key });
    }
    const ids = yield* destinationsOf(addressed.map(({ key }) => key));
    const found = addressed.flatMap(({ recipientId, key }) => {
      const destinationId = ids.get(gatewayName(key));
      return destinationId === undefined ? [] : [{ destinationId, recipientId, queuedAtMs: nowMs }];
    });
    yield* put(notes, found);
    return found.length;
  }

  return { destinationsOf, put, queue };
});
