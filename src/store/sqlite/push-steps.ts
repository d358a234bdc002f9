/**
 * Pushes as parts of writes: put into the outbox along with the message, taken out once a gateway
 * has answered for good, or when nobody needs it to any more. The counts of the distribution go
 * along, and it ends with its last push.
 */

import { sql } from 'drizzle-orm';
import { type PushStanding, whyPushFailed } from '../../core/message/push-failure.ts';
import { endOf } from '../../core/message/status.ts';
import { UNPROVEN_COUNT } from '../../core/outbox/circuit.ts';
import { destinationOf, type GatewayKey } from '../../core/outbox/destination.ts';
import { KNOWN_SERVICES_MAX, PUSH_SERVICES_MAX } from '../../core/port/outbox.ts';
import type { PushAddress, PushGateway } from '../../core/port/registration.ts';
import { linkedRow } from '../noun/targets.ts';
import { AT_GATEWAYS } from '../status.ts';
import type { Context } from './context.ts';
import { DIALECT } from './dialect.ts';
import { endNoter } from './distribution-end.ts';
import { once, value } from './statement.ts';

/** The token that reads the message of ledger row `r`. */
export const READER = sql`iif(r.inbox > 0,
  (SELECT p.token_id FROM device_provider p
   WHERE p.device_id = r.device_id AND p.provider_id = r.inbox AND p.after_recipient_id < r.id
     AND ${linkedRow(DIALECT)}),
  (SELECT n.id FROM device_token n
   WHERE n.device_id = r.device_id AND n.nobody_after_distribution_id < r.distribution_id
     AND n.nobody_after_recipient_id < r.id))`;

/** `push_state` of a recipient; null: no gateway has anything to do with it. */
const WAITS = 1;
const ACCEPTED = 2;
const FAILED = 3;

/** Pushes that follow a device to another address at once; more do once it is their turn. */
const MOVED_COUNT = 100;

/** A run of a distribution's recipients, by their devices. */
interface Run {
  id: number;
  cursorId: number;
  toId: number;
}

const IN_RUN = sql`r.distribution_id = ${once('id')} AND r.device_id > ${once('cursorId')}
  AND r.device_id <= ${once('toId')}`;

/** A push in the outbox. */
export interface WaitingPush {
  id: number;
  recipientId: number;
  distributionId: number;
  destinationId: number;
  queuedAtMs: number;
}

/** Pushes that ended well, and that did not. */
interface Ended {
  sent: number;
  failed: number;
}

/** Those of each distribution. */
export type PushTally = Map<number, Ended>;

function queueStatements({ db }: Context) {
  return {
    addressed: db.prepare<{ recipientId: number; gateway: PushGateway; endpoint: string | null }>(
      sql`
        SELECT r.id AS "recipientId", t.push ->> '$.gateway' AS gateway,
          iif(t.push ->> '$.gateway' = 'webpush', t.push ->> '$.token.endpoint', NULL) AS endpoint
        FROM recipient r CROSS JOIN device_token t ON t.id = ${READER}
        WHERE ${IN_RUN} AND r.state = 1 AND t.push IS NOT NULL
          AND t.push ->> '$.gateway' IN (SELECT value FROM json_each(${once('gateways')}))`,
    ),
    destination: db.prepare<{ id: number }>(sql`
        SELECT id FROM destination
        WHERE kind = ${value('kind')} AND origin = ${value('origin')} AND webhook_id IS NULL`),
    serviceCount: db.prepare<{ count: number; unprovenCount: number }>(sql`
        SELECT count(*) AS count, count(*) FILTER (WHERE failure_count > 0) AS "unprovenCount"
        FROM destination WHERE kind = 'webpush' AND webhook_id IS NULL`),
    addDestination: db.prepare(sql`
        INSERT INTO destination (kind, origin, failure_count)
        VALUES (${value('kind')}, ${value('origin')}, ${value('failureCount')})`),
    add: db.prepare(sql`
        INSERT INTO outbox (destination_id, next_at_ms, queued_at_ms, recipient_id)
        VALUES (${value('destinationId')}, 0, ${value('queuedAtMs')}, ${value('recipientId')})`),
  };
}

function endStatements({ db }: Context) {
  return {
    remove: db.prepare(sql`DELETE FROM outbox WHERE id = ${value('id')}`),
    mark: db.prepare(sql`
        UPDATE recipient SET push_state = ${value('pushState')}, pushed_at_ms = ${value('nowMs')},
          push_problem = ${value('problem')}
        WHERE id = ${value('recipientId')}`),
    standing: db.prepare<PushStanding>(sql`
        SELECT x.status AS status, x.expires_at_ms AS "expiresAtMs", o.problem AS problem,
          t.push AS push, t.push_dropped_at_ms AS "droppedAtMs", t.push_dropped_why AS "droppedWhy"
        FROM outbox o CROSS JOIN recipient r ON r.id = o.recipient_id
          CROSS JOIN distribution x ON x.id = r.distribution_id
          LEFT JOIN device_token t ON t.id = ${READER}
        WHERE o.id = ${once('id')}`),
    ofRecipient: db.prepare<WaitingPush>(sql`
        SELECT o.id AS id, r.id AS "recipientId", r.distribution_id AS "distributionId",
          o.destination_id AS "destinationId", o.queued_at_ms AS "queuedAtMs"
        FROM recipient r CROSS JOIN outbox o ON o.recipient_id = r.id
        WHERE r.distribution_id = ${once('distributionId')}
          AND r.device_id = ${once('deviceId')}`),
    ofDevice: db.prepare<WaitingPush>(sql`
        SELECT o.id AS id, r.id AS "recipientId", r.distribution_id AS "distributionId",
          o.destination_id AS "destinationId", o.queued_at_ms AS "queuedAtMs"
        FROM recipient r CROSS JOIN outbox o ON o.recipient_id = r.id
        WHERE r.device_id = ${once('deviceId')} AND r.is_waiting = 1 AND r.push_state = ${WAITS}
        ORDER BY r.id LIMIT ${MOVED_COUNT}`),
    failRun: db.prepare(sql`
        UPDATE recipient AS r SET push_state = ${FAILED}, pushed_at_ms = ${value('nowMs')},
          push_problem = ${value('why')} || coalesce(': ' ||
            (SELECT o.problem FROM outbox o WHERE o.recipient_id = r.id), '')
        WHERE ${IN_RUN} AND r.push_state = ${WAITS}`),
    removeRun: db.prepare(sql`
        DELETE FROM outbox WHERE recipient_id IN (
          SELECT r.id FROM recipient r WHERE ${IN_RUN} AND r.push_state = ${FAILED})`),
    counted: db.prepare<{
      providerId: number;
      waitingCount: number;
    }>(sql`
        UPDATE distribution
        SET push_waiting_count = push_waiting_count - ${value('sent')} - ${value('failed')},
          sent_count = sent_count + ${value('sent')},
          failed_count = failed_count + ${value('failed')}
        WHERE id = ${value('id')}
        RETURNING provider_id AS "providerId", push_waiting_count AS "waitingCount"`),
    counts: db.prepare<{ recipientCount: number; sentCount: number }>(sql`
        SELECT recipient_count AS "recipientCount", sent_count AS "sentCount"
        FROM distribution WHERE id = ${value('id')}`),
    end: db.prepare(sql`
        UPDATE distribution SET status = ${value('status')}, finished_at_ms = ${value('nowMs')},
          failed_count = ${value('failedCount')}, cursor_id = 0
        WHERE id = ${value('id')} AND ${AT_GATEWAYS}`),
  };
}

/** Steps of pushes, each to be called within a write. */
export function pushSteps(context: Context) {
  const { figures, outbox } = context;
  const on = { ...queueStatements(context), ...endStatements(context) };
  const noteEnd = endNoter(context);

  function isFullOfServices(): boolean {
    const { count, unprovenCount } = on.serviceCount.get() ?? { count: 0, unprovenCount: 0 };
    return unprovenCount >= PUSH_SERVICES_MAX || count >= KNOWN_SERVICES_MAX;
  }

  /** The destination of an address; null: there are as many push services as may be. */
  function destinationId(key: GatewayKey): number | null {
    const known = on.destination.get({ ...key });
    if (known !== null) return known.id;
    const isFull = key.kind === 'webpush' && isFullOfServices();
    // Any device can name a push service: one that is new has to prove itself, among the failing.
    const failureCount = key.kind === 'webpush' ? UNPROVEN_COUNT : 0;
    return isFull ? null : on.addDestination.insert({ ...key, failureCount });
  }

  /**
   * Puts in pushes for those of a run who are to get the message and whose token has an address for
   * one of the gateways; says how many.
   */
  function queue(run: Run, gateways: readonly PushGateway[], nowMs: number): number {
    if (gateways.length === 0) return 0;
    const ids = new Map<string, number | null>();
    let count = 0;
    for (const { recipientId, gateway, endpoint } of on.addressed.all({
      ...run,
      gateways: JSON.stringify(gateways),
    })) {
      const token = gateway === 'webpush' ? { endpoint: endpoint ?? '', keys: {} } : '';
      const key = destinationOf({ gateway, token });
      if (key === null) continue;
      const name = `${key.kind} ${key.origin}`;
      if (!ids.has(name)) ids.set(name, destinationId(key));
      const id = ids.get(name) ?? null;
      if (id === null) continue;
      on.add.run({ destinationId: id, recipientId, queuedAtMs: nowMs });
      count += 1;
    }
    if (count > 0) outbox.raise();
    return count;
  }

  function leave(
    push: WaitingPush,
    tally: PushTally,
    as: { pushState: number | null; problem: string | null },
    nowMs: number,
  ): void {
    on.remove.run({ id: push.id });
    on.mark.run({ recipientId: push.recipientId, nowMs, ...as });
    add(tally, push.distributionId, as.pushState === FAILED ? { failed: 1 } : { sent: 1 });
  }

  const accept = (push: WaitingPush, tally: PushTally, nowMs: number) =>
    leave(push, tally, { pushState: ACCEPTED, problem: null }, nowMs);
  const fail = (push: WaitingPush, tally: PushTally, problem: string, nowMs: number) =>
    leave(push, tally, { pushState: FAILED, problem }, nowMs);
  /** The device has the message without a gateway. */
  const reach = (push: WaitingPush, tally: PushTally, nowMs: number) =>
    leave(push, tally, { pushState: null, problem: null }, nowMs);

  /** Looks again at a push that is not needed where it is. */
  function reconsider(push: WaitingPush, tally: PushTally, nowMs: number): void {
    const now = on.standing.get({ id: push.id });
    if (now === null) return;
    const why = whyPushFailed(push, now, nowMs);
    if (why !== null) {
      fail(push, tally, why, nowMs);
      return;
    }
    const key = now.push && destinationOf(JSON.parse(now.push) as PushAddress);
    const id = key ? destinationId(key) : null;
    if (id === null) reach(push, tally, nowMs);
    else if (id !== push.destinationId) {
      on.remove.run({ id: push.id });
      // As old as it is: a device that goes on moving would keep it waiting for ever.
      const { recipientId, queuedAtMs } = push;
      on.add.run({ destinationId: id, recipientId, queuedAtMs });
      outbox.raise();
    }
  }

  /** Ends a distribution that waits for gateways alone; others are their worker's. */
  function end(id: number, nowMs: number): void {
    const counts = on.counts.get({ id });
    if (counts === null) return;
    // Devices that were forgotten meanwhile have no row any more, but were recipients.
    const failedCount = counts.recipientCount - counts.sentCount;
    const status = endOf(counts.sentCount, failedCount);
    if (on.end.run({ id, status, failedCount, nowMs }) > 0) noteEnd(id, nowMs);
  }

  /** Lets what waits for a device follow it to another address, also from a stopped gateway. */
  function follow(deviceId: number, nowMs: number): void {
    const tally: PushTally = new Map();
    for (const push of on.ofDevice.all({ deviceId })) reconsider(push, tally, nowMs);
    close(tally, nowMs);
  }

  /** Counts what ended at each distribution, and ends those that wait for nothing any more. */
  function close(tally: PushTally, nowMs: number): void {
    for (const [id, ended] of tally) count(id, ended, nowMs);
  }

  function count(id: number, { sent, failed }: Ended, nowMs: number): void {
    const left = on.counted.get({ id, sent, failed });
    if (left === null) return;
    figures.note(left.providerId, 'delivered', nowMs, sent);
    figures.note(left.providerId, 'failed', nowMs, failed);
    if (left.waitingCount === 0) end(id, nowMs);
  }

  return {
    queue,
    accept,
    fail,
    reach,
    reconsider,
    follow,
    close,
    end,

    /** The push that waits for one device; null: none does. */
    pushOf: (distributionId: number, deviceId: number): WaitingPush | null =>
      on.ofRecipient.get({ distributionId, deviceId }),

    /** Fails all pushes of a run that wait; `why` goes before the last problem of each. */
    failRun(run: Run, why: string, nowMs: number): void {
      const failed = on.failRun.run({ ...run, why, nowMs });
      if (failed === 0) return;
      on.removeRun.run({ ...run });
      count(run.id, { sent: 0, failed }, nowMs);
    },
  };
}

function add(tally: PushTally, id: number, more: Partial<Ended>): void {
  const { sent, failed } = tally.get(id) ?? { sent: 0, failed: 0 };
  tally.set(id, { sent: sent + (more.sent ?? 0), failed: failed + (more.failed ?? 0) });
}
