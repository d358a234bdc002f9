/** Serves recipients, a step at a time: from then on the message is in their inboxes. */

import { counted } from '../../core/counted.ts';
import { SENDING } from '../../core/message/status.ts';
import type { DistributionType, Lease, ServeOutcome } from '../../core/port/distribution.ts';
import type { PushGateway } from '../../core/port/registration.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { HELD, held } from './lane.ts';
import { recipientExpiry } from './ledger.ts';
import { pushSteps } from './push-steps.ts';
import { shared } from './shared.ts';

/** Recipients whose waiting messages are counted first. */
const FIRST_COUNT = 50;
/** Recipients that a step serves if each may get a push. */
const PUSH_STEP_COUNT = 300;
/** Waiting messages counted after which a step ends. */
const SERVE_ROWS = 20_000;
export interface Work {
  providerId: number;
  targetOs: string | null;
  targetHwid: string;
  source: number;
  cursorId: number;
  /** The operating system of `cursorId` while a segment loads. */
  os: string | null;
  segment: string | null;
  beganAtMs: number | null;
  reachesUnbound: number;
  expiresAtMs: number;
  type: DistributionType;
  /** The notification that it corrects; null: none. */
  replacesId: number | null;
}

/** Recipients in a row, with a full inbox and with room. */
interface Batch {
  toId: number | null;
  count: number;
  /** Messages that wait for all of them. */
  rows: number;
  /** Ids, comma-separated; null: none. */
  full: string | null;
  open: string | null;
}

/** Selects the work of a lease in one of some statuses. */
export const selectWork = ({ among }: Backend) => sql`
  SELECT ${columns(
    'distribution',
    `providerId, targetOs, targetHwid, cursorSource AS source, cursorId,
    cursorOs AS os, segment, beganAtMs,
    reachesUnbound, expiresAtMs, notificationType AS type, replacesId`,
  )}
  FROM distribution WHERE ${HELD} AND status ${among('statuses')}`;

function serveStatements(backend: Backend) {
  const { prepare, once, among } = backend;
  const toSend = sql`distribution_id = :id AND device_id > :cursorId
    AND device_id <= :toId AND state = 1`;
  return {
    lock: prepare(sql`${selectWork(backend)} ${backend.locked}`),
    /**
     * Finds the next recipients, with the number of messages from the provider that wait for each.
     */
    next: prepare(sql`
        SELECT ${values<{
          toId: Batch['toId'];
          count: Batch['count'];
          rows: Batch['rows'];
          full: Batch['full'];
          open: Batch['open'];
        }>({
          toId: sql`max(device_id)`,
          count: sql`count(*)`,
          rows: sql`CAST(coalesce(sum(waiting), 0) AS bigint)`,
          full: sql`string_agg(CAST(device_id AS text), ',') FILTER (WHERE waiting >= :waitingMax)`,
          open: sql`string_agg(CAST(device_id AS text), ',') FILTER (WHERE waiting < :waitingMax)`,
        })} FROM (
          SELECT r.device_id, CASE WHEN r.state = 1 THEN (SELECT count(*) FROM (
                SELECT 1 FROM recipient w
                WHERE w.device_id = r.device_id AND w.is_waiting = 1 AND w.inbox = r.inbox
                LIMIT ${once('waitingMax')}) waiting) END AS waiting
          FROM recipient r
          WHERE r.distribution_id = ${once('id')} AND r.device_id > ${once('cursorId')}
          ORDER BY r.device_id LIMIT ${once('countMax')}) batch`),
    /** A full inbox takes no more: older messages fill it. */
    refuse: prepare(sql`
        UPDATE recipient SET state = 3, failed_at_ms = :nowMs, detail = :detail
        WHERE distribution_id = :id AND device_id ${among('deviceIds')} AND state = 1`),
    send: prepare(sql`
        UPDATE recipient SET state = 2, is_waiting = 1, sent_at_ms = :nowMs WHERE ${toSend}`),
    sendAndPush: prepare(sql`
        UPDATE recipient SET state = 2, is_waiting = 1, sent_at_ms = :nowMs,
          push_state = (SELECT 1 FROM outbox o WHERE o.recipient_id = recipient.id)
        WHERE ${toSend}`),
    sent: prepare(sql`
        UPDATE distribution SET cursor_id = :toId, sent_count = sent_count + :sent,
          failed_count = failed_count + :failed, push_waiting_count = push_waiting_count + :queued,
          lease_until_ms = :untilMs
        WHERE id = :id`),
    /** Devices that were deleted since loading have no row any more, but were recipients. */
    settled: prepare(sql`
        UPDATE distribution SET failed_count = recipient_count - sent_count - push_waiting_count
        WHERE id = :id RETURNING ${columns(
          'distribution',
          'sentCount, failedCount, pushWaitingCount AS waitingCount',
        )}`),
    /**
     * Takes it out of the lane, so that later messages of the provider do not wait for a gateway.
     */
    handOver: prepare(sql`
        UPDATE distribution SET handed_over_at_ms = :nowMs, lease_owner = NULL, cursor_id = 0
        WHERE id = :id`),
  };
}

interface ServeBounds {
  /** Recipients of the step. */
  countMax: number;
  /** Messages that may wait for a device. */
  waitingMax: number;
  /** Gateways that may send pushes. */
  gateways: readonly PushGateway[];
}

const idsOf = (list: string | null) => (list === null ? [] : list.split(',').map(Number));

/** Returns the step that serves the next recipients of a distribution that is locked. */
const recipientBatches = shared((backend: Backend) => {
  const on = serveStatements(backend);
  const pushes = pushSteps(backend);
  /** Recipients whose messages one statement counts: each may have many more than earlier ones. */
  const serveCount = backend.stepCountMax / 10;

  /** Finds a run of recipients, not larger than a step may be. */
  function* nextToServe(id: number, cursorId: number, bounds: ServeBounds) {
    const { waitingMax, gateways, countMax } = bounds;
    const stepMax = gateways.length === 0 ? countMax : Math.min(countMax, PUSH_STEP_COUNT);
    const run = { toId: cursorId, full: [] as number[], deviceIds: [] as number[], isDone: false };
    for (let count = 0, rows = 0; count < stepMax && rows < SERVE_ROWS; ) {
      // As many as would fill the step if their inboxes are as full as the earlier ones.
      const each = count === 0 ? SERVE_ROWS / FIRST_COUNT : Math.max(1, rows / count);
      const room = Math.ceil((SERVE_ROWS - rows) / each);
      const batchMax = Math.min(Math.max(room, FIRST_COUNT), serveCount, stepMax - count);
      const from = { id, cursorId: run.toId, countMax: batchMax };
      const batch = yield* on.next.get({ ...from, waitingMax });
      run.toId = batch?.toId ?? run.toId;
      run.full.push(...idsOf(batch?.full ?? null));
      run.deviceIds.push(...idsOf(batch?.open ?? null));
      rows += batch?.rows ?? 0;
      count += batch?.count ?? 0;
      if ((batch?.count ?? 0) < batchMax) return { ...run, isDone: true };
    }
    return run;
  }

  return function* serveNext(
    notes: Notes,
    { id, nowMs }: Pick<Lease, 'id' | 'nowMs'>,
    cursorId: number,
    bounds: ServeBounds,
  ) {
    const { waitingMax, gateways } = bounds;
    const { toId, full, deviceIds, isDone } = yield* nextToServe(id, cursorId, bounds);
    const detail = `${counted(waitingMax, 'message of the provider waits', 'messages of the provider wait')} for the device already`;
    if (full.length > 0) yield* on.refuse.run({ id, deviceIds: full, nowMs, detail });
    const queued = yield* pushes.queue(notes, { id, cursorId, toId }, gateways, nowMs);
    const send = queued > 0 ? on.sendAndPush : on.send;
    const sent = (yield* send.run({ id, cursorId, toId, nowMs })) - queued;
    return { toId, deviceIds, sent, queued, failed: full.length, isDone };
  };
});

/** Returns the step that serves what was just written into a ledger; it has locked it. */
export const newRecipientServing = shared((backend: Backend) => {
  const serveNext = recipientBatches(backend);
  return function* (
    notes: Notes,
    of: Pick<Lease, 'id' | 'nowMs'>,
    bounds: Omit<ServeBounds, 'countMax'>,
  ): Step<{ deviceIds: number[]; sent: number; queued: number; failed: number }> {
    const all = { deviceIds: [] as number[], sent: 0, queued: 0, failed: 0 };
    for (let cursorId = 0; ; ) {
      const batch = { ...bounds, countMax: backend.stepCountMax };
      const { deviceIds, isDone, toId, ...counts } = yield* serveNext(notes, of, cursorId, batch);
      all.deviceIds.push(...deviceIds);
      all.sent += counts.sent;
      all.queued += counts.queued;
      all.failed += counts.failed;
      if (isDone) return all;
      cursorId = toId;
    }
  };
});

/** Returns the step that serves the next recipients; null: the lease was lost. */
export const recipientServing = shared((backend: Backend) => {
  const on = serveStatements(backend);
  const serveNext = recipientBatches(backend);
  const expireNext = recipientExpiry(backend);

  function* expire({ id, nowMs }: Lease, cursorId: number, countMax: number) {
    const { run, expiredCount, isDone } = yield* expireNext({ id, cursorId, countMax }, nowMs);
    return { toId: run.toId, deviceIds: [], sent: 0, queued: 0, failed: expiredCount, isDone };
  }

  /** Ends serving after the last recipient. */
  function* finish(id: number, nowMs: number): Step<ServeOutcome> {
    const settled = yield* on.settled.get({ id });
    if (settled === null) return null;
    const { waitingCount, ...counts } = settled;
    if (waitingCount > 0) yield* on.handOver.run({ id, nowMs });
    return { ...counts, isHandedOver: waitingCount > 0 };
  }

  return function* send(
    notes: Notes,
    lease: Lease,
    bounds: Omit<ServeBounds, 'countMax'>,
    countBehind: (cursorId: number) => number,
  ): Step<{ deviceIds: number[]; outcome: ServeOutcome } | null> {
    const { id, owner, nowMs } = lease;
    const work = yield* on.lock.get({ id, owner, statuses: [SENDING] });
    if (work === null) return null;
    const { providerId, cursorId, expiresAtMs, replacesId } = work;
    const isLate = expiresAtMs <= backend.leastMs(nowMs);
    const countMax = countBehind(cursorId);
    // A correction is silent: the devices already had the push of the corrected message.
    const gateways = replacesId === null ? bounds.gateways : [];
    const served = isLate
      ? yield* expire(lease, cursorId, countMax)
      : yield* serveNext(notes, lease, cursorId, { ...bounds, gateways, countMax });
    const { toId, deviceIds, sent, queued, failed, isDone } = served;
    const { untilMs } = held(backend, lease);
    yield* on.sent.run({ id, toId, sent, queued, failed, untilMs });
    notes.changed(deviceIds);
    notes.figure(providerId, 'delivered', nowMs, sent);
    notes.figure(providerId, isLate ? 'expired' : 'failed', nowMs, failed);
    return { deviceIds, outcome: isDone ? yield* finish(id, nowMs) : null };
  };
});
