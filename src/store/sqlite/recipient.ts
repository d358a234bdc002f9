/** Recipients: written into the ledger and served, always a few at a time. */

import { sql } from 'drizzle-orm';
import { LOAD, LOAD_FROM, SENDING } from '../../core/message/status.ts';
import type { Lease, ServeOutcome } from '../../core/port/distribution.ts';
import type { PushGateway } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import { inRange, linked, targetRanges } from '../noun/targets.ts';
import type { Context } from './context.ts';
import { DIALECT, runNow, sqliteStatements } from './dialect.ts';
import { HELD, held, RENEWED_UNTIL } from './lane.ts';
import { expirySteps, STEP_COUNT } from './ledger.ts';
import { pushSteps } from './push-steps.ts';
import { once, value } from './statement.ts';

type RecipientStore = Pick<Store, 'loadRecipients' | 'sendRecipients'>;

/** Recipients whose waiting messages are counted at a time. */
const SERVE_COUNT = 50;
/** Recipients that a step serves where each may get a push. */
const PUSH_STEP_COUNT = 300;
/** Number of waiting rows looked at after which a step ends. */
const SERVE_ROWS = 20_000;
/** State of a recipient whose message is still to be sent. */
const QUEUED = 1;
/** Statuses in which recipients are written, and served, for `json_each`. */
const LOADING = JSON.stringify([LOAD, LOAD_FROM]);
const SERVING = JSON.stringify([SENDING]);
/** Cursor of a distribution by HWID whose recipients are written. */
const NAMED_LOADED = 1;

interface InHand {
  providerId: number;
  targetOs: string | null;
  targetHwid: string;
  source: number;
  cursorId: number;
  reachesUnbound: number;
  expiresAtMs: number;
}

const TO_SEND = sql`distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
  AND device_id <= ${value('toId')} AND state = 1`;

/** Messages that may wait for a device, and gateways that may be asked to push. */
interface ServeBounds {
  waitingMax: number;
  gateways: readonly PushGateway[];
}

function workerStatements({ db }: Context) {
  return {
    inHand: db.prepare<InHand>(sql`
        SELECT provider_id AS "providerId", target_os AS "targetOs", target_hwid AS "targetHwid",
          cursor_source AS source, cursor_id AS "cursorId",
          reaches_unbound AS "reachesUnbound",
          expires_at_ms AS "expiresAtMs"
        FROM distribution
        WHERE ${HELD} AND status IN (SELECT value FROM json_each(${value('statuses')}))`),
    loadRange: db.prepare(sql`
        INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms)
        SELECT ${value('id')}, p.device_id, 1, p.provider_id, 0, ${value('nowMs')} FROM ${inRange(DIALECT)}
        ON CONFLICT DO NOTHING`),
    /**
     * A named device that is not the provider's any more fails, unless the message may reach it:
     * then it lies in its inbox of nobody.
     */
    loadHwid: db.prepare(sql`
        INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting,
          queued_at_ms, failed_at_ms, detail)
        SELECT ${value('id')}, d.id, iif(d.linked OR ${value('reachesUnbound')}, 1, 3),
          iif(d.linked OR NOT ${value('reachesUnbound')}, d.provider, -d.provider), 0, ${value('nowMs')},
          iif(d.linked OR ${value('reachesUnbound')}, NULL, ${value('nowMs')}),
          iif(d.linked OR ${value('reachesUnbound')}, NULL, 'not linked to the provider any more')
        FROM (SELECT y.id AS id, o.id AS provider, ${linked(DIALECT, 'y.id', 'o.id')} AS linked
              FROM device y CROSS JOIN provider o ON o.id = ${value('providerId')}
              WHERE y.hwid = ${value('hwid')}) d
        WHERE true ON CONFLICT DO NOTHING`),
    /** Saves with every step of loading where it continues, and the number of recipients. */
    loaded: db.prepare(sql`
        UPDATE distribution
        SET cursor_source = ${value('source')}, cursor_id = ${value('cursorId')},
          recipient_count = recipient_count + ${value('added')},
          failed_count = failed_count + ${value('failed')},
          lease_until_ms = ${RENEWED_UNTIL}
        WHERE id = ${value('id')}`),
    ledgerOf: db.prepare<{ count: number }>(sql`
        SELECT ledger_count AS count FROM provider WHERE id = ${value('providerId')}`),
    failedOf: db.prepare<{ count: number }>(sql`
        SELECT count(*) AS count FROM recipient
        WHERE distribution_id = ${value('id')} AND state = 3`),
    /** The next recipients, with how much waits for each from the same provider. */
    nextToServe: db.prepare<{ deviceId: number; state: number; waitingCount: number }>(sql`
        SELECT r.device_id AS "deviceId", r.state AS state, iif(r.state = ${QUEUED},
            (SELECT count(*) FROM (
              SELECT 1 FROM recipient w
              WHERE w.device_id = r.device_id AND w.is_waiting = 1 AND w.inbox = r.inbox
              LIMIT ${once('waitingMax')})), 0) AS "waitingCount"
        FROM recipient r
        WHERE r.distribution_id = ${once('id')} AND r.device_id > ${once('cursorId')}
        ORDER BY r.device_id LIMIT ${SERVE_COUNT}`),
    /** An inbox that is full takes no more: the other messages there are older. */
    refuse: db.prepare(sql`
        UPDATE recipient
        SET state = 3, failed_at_ms = ${value('nowMs')}, detail = ${value('detail')}
        WHERE distribution_id = ${value('id')} AND device_id = ${value('deviceId')}
          AND state = ${QUEUED}`),
    send: db.prepare(sql`
        UPDATE recipient SET state = 2, is_waiting = 1, sent_at_ms = ${value('nowMs')}
        WHERE ${TO_SEND}`),
    sendAndPush: db.prepare(sql`
        UPDATE recipient SET state = 2, is_waiting = 1, sent_at_ms = ${value('nowMs')},
          push_state = (SELECT 1 FROM outbox o WHERE o.recipient_id = recipient.id)
        WHERE ${TO_SEND}`),
    sent: db.prepare(sql`
        UPDATE distribution
        SET cursor_id = ${value('cursorId')}, sent_count = sent_count + ${value('sent')},
          failed_count = failed_count + ${value('failed')},
          push_waiting_count = push_waiting_count + ${value('queued')},
          lease_until_ms = ${RENEWED_UNTIL}
        WHERE id = ${value('id')}`),
    /** Devices that were forgotten since loading have no row any more, but were recipients. */
    settled: db.prepare<{ sentCount: number; failedCount: number; waitingCount: number }>(sql`
        UPDATE distribution SET failed_count = recipient_count - sent_count - push_waiting_count
        WHERE id = ${value('id')}
        RETURNING sent_count AS "sentCount", failed_count AS "failedCount",
          push_waiting_count AS "waitingCount"`),
    /** Out of the lane: no later message of the provider waits for a gateway. */
    handOver: db.prepare(sql`
        UPDATE distribution
        SET handed_over_at_ms = ${value('nowMs')}, lease_owner = NULL, cursor_id = 0
        WHERE id = ${value('id')}`),
  };
}

/** The steps of recipients, each to be called within a write. */
export function recipientSteps(context: Context) {
  const { figures, events, clock } = context;
  const on = workerStatements(context);
  const expiry = expirySteps(context);
  const nextRange = targetRanges(sqliteStatements(context.db));
  const pushes = pushSteps(context);

  /** All at once: there are five at most. Devices that are not known any more only count. */
  function loadNamed(id: number, work: InHand, nowMs: number): { added: number; failed: number } {
    const { providerId, reachesUnbound } = work;
    const hwids = work.targetHwid.split(',');
    let found = 0;
    const all = { id, providerId, reachesUnbound, nowMs };
    for (const hwid of hwids) found += on.loadHwid.run({ ...all, hwid });
    const failed = (on.failedOf.get({ id })?.count ?? 0) + hwids.length - found;
    return { added: hwids.length, failed };
  }

  /** A run of recipients: whose inboxes are full, and whom the message reaches. */
  function nextToServe(id: number, cursorId: number, { waitingMax, gateways }: ServeBounds) {
    const countMax = gateways.length === 0 ? STEP_COUNT : PUSH_STEP_COUNT;
    const run = { toId: cursorId, full: [] as number[], deviceIds: [] as number[], isDone: false };
    for (let count = 0, rows = 0; count < countMax && rows < SERVE_ROWS; ) {
      const batch = on.nextToServe.all({ id, cursorId: run.toId, waitingMax });
      for (const { deviceId, state, waitingCount } of batch) {
        run.toId = deviceId;
        rows += waitingCount;
        if (state !== QUEUED) continue;
        (waitingCount >= waitingMax ? run.full : run.deviceIds).push(deviceId);
      }
      count += batch.length;
      if (batch.length < SERVE_COUNT) return { ...run, isDone: true };
    }
    return run;
  }

  function serveNext({ id, nowMs }: Lease, cursorId: number, bounds: ServeBounds) {
    const { waitingMax, gateways } = bounds;
    const { toId, full, deviceIds, isDone } = nextToServe(id, cursorId, bounds);
    const detail = `${waitingMax} messages of the provider wait for the device already`;
    for (const deviceId of full) on.refuse.run({ id, deviceId, nowMs, detail });
    const queued = pushes.queue({ id, cursorId, toId }, gateways, nowMs);
    const send = queued > 0 ? on.sendAndPush : on.send;
    const sent = send.run({ id, cursorId, toId, nowMs }) - queued;
    return { toId, deviceIds, sent, queued, failed: full.length, isDone };
  }

  function expireNext(id: number, cursorId: number, nowMs: number): ReturnType<typeof serveNext> {
    const { toId, expiredCount, isDone } = expiry(id, cursorId, nowMs);
    return { toId, deviceIds: [], sent: 0, queued: 0, failed: expiredCount, isDone };
  }

  /** The end of serving, after the last recipient. */
  function outcomeOf(id: number, nowMs: number): ServeOutcome {
    const settled = on.settled.get({ id });
    if (settled === null) return null;
    const { waitingCount, ...counts } = settled;
    if (waitingCount > 0) on.handOver.run({ id, nowMs });
    return { ...counts, isHandedOver: waitingCount > 0 };
  }

  /** Notes for the provider how many rows its ledgers have by now. */
  function tellLedger(providerId: number, limit: number, nowMs: number): void {
    if (!events.isWanted(providerId, 'quota.reached')) return;
    const used = on.ledgerOf.get({ providerId })?.count ?? 0;
    events.noteQuota(providerId, 'ledger_rows', { used, limit }, nowMs);
  }

  return {
    load(lease: Lease, ledgerRowsMax: number): { isDone: boolean } | null {
      const { id, nowMs } = lease;
      const work = on.inHand.get({ ...lease, statuses: LOADING });
      if (work === null) return null;
      const { providerId, targetOs, source, cursorId } = work;
      if (targetOs === null) {
        // Counted once, even if the worker dies before it can say that it is done.
        if (cursorId === NAMED_LOADED) return { isDone: true };
        const counts = loadNamed(id, work, nowMs);
        figures.note(providerId, 'recipients', nowMs, counts.added);
        figures.note(providerId, 'failed', nowMs, counts.failed);
        on.loaded.run({ ...held(lease, clock), source, cursorId: NAMED_LOADED, ...counts });
        tellLedger(providerId, ledgerRowsMax, nowMs);
        return { isDone: true };
      }
      const found = runNow(nextRange(providerId, targetOs.split(','), { source, id: cursorId }));
      if (found === null) return { isDone: true };
      const added = on.loadRange.run({ id, providerId, nowMs, ...found.range });
      const at = { source: found.next.source, cursorId: found.next.id };
      on.loaded.run({ ...held(lease, clock), ...at, added, failed: 0 });
      tellLedger(providerId, ledgerRowsMax, nowMs);
      figures.note(providerId, 'recipients', nowMs, added);
      return { isDone: false };
    },

    send(lease: Lease, bounds: ServeBounds): { deviceIds: number[]; outcome: ServeOutcome } | null {
      const { id, nowMs } = lease;
      const work = on.inHand.get({ ...lease, statuses: SERVING });
      if (work === null) return null;
      const { providerId, cursorId, expiresAtMs } = work;
      const isLate = expiresAtMs <= nowMs;
      const served = isLate ? expireNext(id, cursorId, nowMs) : serveNext(lease, cursorId, bounds);
      const { toId, deviceIds, sent, queued, failed, isDone } = served;
      on.sent.run({ ...held(lease, clock), cursorId: toId, sent, queued, failed });
      figures.note(providerId, 'delivered', nowMs, sent);
      figures.note(providerId, isLate ? 'expired' : 'failed', nowMs, failed);
      return { deviceIds, outcome: isDone ? outcomeOf(id, nowMs) : null };
    },
  };
}

export function recipientStore(context: Context): RecipientStore {
  const { writer } = context;
  const steps = recipientSteps(context);
  return {
    loadRecipients: (lease, ledgerRowsMax) => writer.run(() => steps.load(lease, ledgerRowsMax)),
    sendRecipients: (lease, waitingMax, gateways) =>
      writer.run(() => steps.send(lease, { waitingMax, gateways })),
  };
}
