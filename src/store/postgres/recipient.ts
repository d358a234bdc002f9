/** Recipients: written into the ledger and served, always a step at a time. */

import { sql } from 'drizzle-orm';
import { LOAD, LOAD_FROM, SENDING } from '../../core/message/status.ts';
import type { Lease, ServeOutcome } from '../../core/port/distribution.ts';
import type { PushGateway } from '../../core/port/registration.ts';
import type { Store } from '../../core/port/store.ts';
import { inRange, linked, targetRanges } from '../noun/targets.ts';
import type { Context } from './context.ts';
import { DIALECT, runOn, STATEMENTS } from './dialect.ts';
import { HELD, held } from './lane.ts';
import { expireNext } from './ledger.ts';
import { queue } from './push-queue.ts';
import { StepSize } from './recipient-steps.ts';
import { prepare, value } from './statement.ts';

import type { Write } from './write.ts';

type RecipientStore = Pick<Store, 'loadRecipients' | 'sendRecipients'>;

/** Recipients whose waiting messages are counted at a time: the first, and the most. */
const FIRST_COUNT = 50;
const SERVE_COUNT = 2_000;
/** Recipients that a step serves where each may get a push. */
const PUSH_STEP_COUNT = 300;
/** Number of waiting rows looked at after which a step ends. */
const SERVE_ROWS = 20_000;
/** Statuses in which recipients are written, and served. */
const LOADING = [LOAD, LOAD_FROM];
const SERVING = [SENDING];
/** Cursor of a distribution by HWID whose recipients are written. */
const NAMED_LOADED = 1;

interface InHand {
  providerId: number;
  targetOs: string | null;
  targetHwid: string;
  source: number;
  cursorId: number;
  reachesUnbound: boolean;
  expiresAtMs: number;
}

interface Loaded {
  source: number;
  cursorId: number;
  added: number;
  failed: number;
}

/** Recipients in a row: whose inboxes are full, and whom the message reaches. */
interface Batch {
  toId: number | null;
  count: number;
  /** Waiting messages of them all. */
  rows: number;
  /** Ids, comma-separated; null: none. */
  full: string | null;
  open: string | null;
}

const IN_HAND = sql`${HELD} AND status = ANY(${value('statuses')}::integer[])`;
const TO_SEND = sql`distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
  AND device_id <= ${value('toId')} AND state = 1`;

const WORK = sql.raw(`provider_id AS "providerId", target_os AS "targetOs",
  target_hwid AS "targetHwid", cursor_source AS source, cursor_id AS "cursorId",
  reaches_unbound = 1 AS "reachesUnbound", expires_at_ms AS "expiresAtMs"`);

const nextRange = targetRanges(STATEMENTS);

const on = {
  find: prepare<InHand>(sql`SELECT ${WORK} FROM distribution WHERE ${IN_HAND}`),
  hold: prepare<InHand>(sql`
      SELECT ${WORK} FROM distribution WHERE ${IN_HAND} FOR NO KEY UPDATE`),
  holdProvider: prepare(sql`
      SELECT id FROM provider WHERE id = ${value('providerId')} FOR NO KEY UPDATE`),
  loadRange: prepare(sql`
      INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting, queued_at_ms)
      SELECT ${value('id')}::bigint, p.device_id, 1, p.provider_id, 0, ${value('nowMs')}::bigint
      FROM ${inRange(DIALECT)} ORDER BY p.device_id
      ON CONFLICT DO NOTHING`),
  /**
   * A named device that is not the provider's any more fails, unless the message may reach it:
   * then it lies in its inbox of nobody.
   */
  loadHwid: prepare(sql`
      INSERT INTO recipient (distribution_id, device_id, state, inbox, is_waiting,
        queued_at_ms, failed_at_ms, detail)
      SELECT ${value('id')}::bigint, d.id, CASE WHEN d.is_served THEN 1 ELSE 3 END,
        CASE WHEN d.linked OR NOT d.is_served THEN d.provider ELSE -d.provider END, 0,
        ${value('nowMs')}::bigint,
        CASE WHEN d.is_served THEN NULL ELSE ${value('nowMs')}::bigint END,
        CASE WHEN d.is_served THEN NULL ELSE 'not linked to the provider any more' END
      FROM (SELECT e.*, e.linked OR ${value('reachesUnbound')}::boolean AS is_served
            FROM (SELECT y.id AS id, o.id AS provider, ${linked(DIALECT, 'y.id', 'o.id')} AS linked
                  FROM device y CROSS JOIN provider o
                  WHERE o.id = ${value('providerId')} AND y.hwid = ${value('hwid')}) e) d
      ON CONFLICT DO NOTHING`),
  failedOf: prepare<{ count: number }>(sql`
      SELECT count(*) AS count FROM recipient
      WHERE distribution_id = ${value('id')} AND state = 3`),
  /**
   * Saves with every step of loading where it continues, and the number of recipients, if nobody
   * else moved it meanwhile.
   */
  loaded: prepare(sql`
      UPDATE distribution
      SET cursor_source = ${value('source')}, cursor_id = ${value('cursorId')},
        recipient_count = recipient_count + ${value('added')}::bigint,
        failed_count = failed_count + ${value('failed')}::bigint,
        lease_until_ms = ${value('untilMs')}
      WHERE ${IN_HAND} AND cursor_source = ${value('fromSource')}
        AND cursor_id = ${value('fromId')}`),
  ledgerOf: prepare<{ count: number }>(sql`
      SELECT ledger_count AS count FROM provider WHERE id = ${value('providerId')}`),
  /** The next recipients, with how much waits for each from the same provider. */
  next: prepare<Batch>(sql`
      SELECT max(device_id) AS "toId", count(*) AS count,
        coalesce(sum(waiting), 0)::bigint AS rows,
        string_agg(device_id::text, ',') FILTER (WHERE waiting >= ${value('waitingMax')}) AS full,
        string_agg(device_id::text, ',') FILTER (WHERE waiting < ${value('waitingMax')}) AS open
      FROM (
        SELECT r.device_id, CASE WHEN r.state = 1 THEN
            (SELECT count(*) FROM (
              SELECT 1 FROM recipient w
              WHERE w.device_id = r.device_id AND w.is_waiting = 1 AND w.inbox = r.inbox
              LIMIT ${value('waitingMax')}) waiting) END AS waiting
        FROM recipient r
        WHERE r.distribution_id = ${value('id')} AND r.device_id > ${value('cursorId')}
        ORDER BY r.device_id LIMIT ${value('countMax')}) batch`),
  /** An inbox that is full takes no more: the other messages there are older. */
  refuse: prepare(sql`
      UPDATE recipient
      SET state = 3, failed_at_ms = ${value('nowMs')}, detail = ${value('detail')}
      WHERE distribution_id = ${value('id')} AND device_id = ANY(${value('deviceIds')}::bigint[])
        AND state = 1`),
  send: prepare(sql`
      UPDATE recipient SET state = 2, is_waiting = 1, sent_at_ms = ${value('nowMs')}
      WHERE ${TO_SEND}`),
  sendAndPush: prepare(sql`
      UPDATE recipient SET state = 2, is_waiting = 1, sent_at_ms = ${value('nowMs')},
        push_state = (SELECT 1 FROM outbox o WHERE o.recipient_id = recipient.id)
      WHERE ${TO_SEND}`),
  sent: prepare(sql`
      UPDATE distribution
      SET cursor_id = ${value('toId')}, sent_count = sent_count + ${value('sent')}::bigint,
        failed_count = failed_count + ${value('failed')}::bigint,
        push_waiting_count = push_waiting_count + ${value('queued')}::bigint,
        lease_until_ms = ${value('untilMs')}
      WHERE id = ${value('id')}`),
  /** Devices that were forgotten since loading have no row any more, but were recipients. */
  settled: prepare<{ sentCount: number; failedCount: number; waitingCount: number }>(sql`
      UPDATE distribution SET failed_count = recipient_count - sent_count - push_waiting_count
      WHERE id = ${value('id')}
      RETURNING sent_count AS "sentCount", failed_count AS "failedCount",
        push_waiting_count AS "waitingCount"`),
  /** Out of the lane: no later message of the provider waits for a gateway. */
  handOver: prepare(sql`
      UPDATE distribution
      SET handed_over_at_ms = ${value('nowMs')}, lease_owner = NULL, cursor_id = 0
      WHERE id = ${value('id')}`),
};

/** All at once: there are five at most. Devices that are not known any more only count. */
async function loadNamed(w: Write, work: InHand, id: number, nowMs: number): Promise<Loaded> {
  const { providerId, reachesUnbound, source } = work;
  const hwids = work.targetHwid.split(',');
  const all = { id, providerId, reachesUnbound, nowMs };
  const adding = hwids.map((hwid) => on.loadHwid.run(w, { ...all, hwid }));
  const [failedRows, ...added] = await Promise.all([on.failedOf.get(w, { id }), ...adding]);
  const found = added.reduce((sum, count) => sum + count, 0);
  const failed = (failedRows?.count ?? 0) + hwids.length - found;
  return { source, cursorId: NAMED_LOADED, added: hwids.length, failed };
}

async function loadNext(
  w: Write,
  work: InHand,
  { id, nowMs }: Lease,
  countMax: number,
): Promise<Loaded | null> {
  const { providerId, targetOs, source, cursorId } = work;
  // Counted once, even if the worker dies before it can say that it is done.
  if (targetOs === null) return cursorId === 0 ? loadNamed(w, work, id, nowMs) : null;
  const from = { source, id: cursorId };
  const systems = targetOs.split(',');
  const found = await runOn(w, nextRange(providerId, systems, from, countMax));
  if (found === null) return null;
  const added = await on.loadRange.run(w, { id, providerId, nowMs, ...found.range });
  return { source: found.next.source, cursorId: found.next.id, added, failed: 0 };
}

async function tellLedger(w: Write, providerId: number, limit: number, nowMs: number) {
  if (!(await w.events.isWanted(providerId, 'quota.reached'))) return;
  const used = (await on.ledgerOf.get(w, { providerId }))?.count ?? 0;
  w.events.noteQuota(providerId, 'ledger_rows', { used, limit }, nowMs);
}

interface ServeBounds {
  /** Recipients of the step. */
  countMax: number;
  /** Messages that may wait for a device. */
  waitingMax: number;
  /** Gateways that may be asked to push. */
  gateways: readonly PushGateway[];
}

const idsOf = (list: string | null) => (list === null ? [] : list.split(',').map(Number));

/** A run of recipients, no longer than a step may take. */
async function nextToServe(w: Write, id: number, cursorId: number, bounds: ServeBounds) {
  const { waitingMax, gateways, countMax } = bounds;
  const stepMax = gateways.length === 0 ? countMax : Math.min(countMax, PUSH_STEP_COUNT);
  const run = { toId: cursorId, full: [] as number[], deviceIds: [] as number[], isDone: false };
  for (let count = 0, rows = 0; count < stepMax && rows < SERVE_ROWS; ) {
    // As many as would fill the step if their inboxes are like those before.
    const each = count === 0 ? SERVE_ROWS / FIRST_COUNT : Math.max(1, rows / count);
    const room = Math.ceil((SERVE_ROWS - rows) / each);
    const batchMax = Math.min(Math.max(room, FIRST_COUNT), SERVE_COUNT, stepMax - count);
    const from = { id, cursorId: run.toId, countMax: batchMax };
    const batch = await on.next.get(w, { ...from, waitingMax });
    run.toId = batch?.toId ?? run.toId;
    run.full.push(...idsOf(batch?.full ?? null));
    run.deviceIds.push(...idsOf(batch?.open ?? null));
    rows += batch?.rows ?? 0;
    count += batch?.count ?? 0;
    if ((batch?.count ?? 0) < batchMax) return { ...run, isDone: true };
  }
  return run;
}

async function serveNext(w: Write, { id, nowMs }: Lease, cursorId: number, bounds: ServeBounds) {
  const { waitingMax, gateways } = bounds;
  const { toId, full, deviceIds, isDone } = await nextToServe(w, id, cursorId, bounds);
  const detail = `${waitingMax} messages of the provider wait for the device already`;
  if (full.length > 0) await on.refuse.run(w, { id, deviceIds: full, nowMs, detail });
  const queued = await queue(w, { id, cursorId, toId }, gateways, nowMs);
  const send = queued > 0 ? on.sendAndPush : on.send;
  const sent = (await send.run(w, { id, cursorId, toId, nowMs })) - queued;
  return { toId, deviceIds, sent, queued, failed: full.length, isDone };
}

async function expire(w: Write, { id, nowMs }: Lease, cursorId: number, countMax: number) {
  const run = { id, cursorId, countMax, nowMs };
  const { toId, expiredCount, isDone } = await expireNext(w, run);
  return { toId, deviceIds: [], sent: 0, queued: 0, failed: expiredCount, isDone };
}

async function outcomeOf(w: Write, id: number, nowMs: number): Promise<ServeOutcome> {
  const settled = await on.settled.get(w, { id });
  if (settled === null) return null;
  const { waitingCount, ...counts } = settled;
  if (waitingCount > 0) await on.handOver.run(w, { id, nowMs });
  return { ...counts, isHandedOver: waitingCount > 0 };
}

/** The steps of recipients, each to be called within a write. */
export function recipientSteps(context: Context, size: StepSize) {
  /**
   * The provider's row, which counts, is held at the end alone: so many rows take a while to write,
   * and until then nobody else waits for them.
   */
  async function load(w: Write, lease: Lease, ledgerRowsMax: number) {
    const { id, owner, nowMs } = lease;
    const mine = { id, owner, statuses: LOADING };
    const work = await on.find.get(w, mine);
    if (work === null) return null;
    const loaded = await loadNext(w, work, lease, size.countBehind(work.cursorId));
    if (loaded === null) return { isDone: true };
    const { providerId, source: fromSource, cursorId: fromId } = work;
    const { untilMs } = held(context, lease);
    const [, saved] = await Promise.all([
      on.holdProvider.run(w, { providerId }),
      on.loaded.run(w, { ...mine, ...loaded, fromSource, fromId, untilMs }),
    ]);
    if (saved === 0) return w.refuse(null);
    w.figures.note(providerId, 'recipients', nowMs, loaded.added);
    w.figures.note(providerId, 'failed', nowMs, loaded.failed);
    await tellLedger(w, providerId, ledgerRowsMax, nowMs);
    return { isDone: work.targetOs === null };
  }

  async function send(w: Write, lease: Lease, bounds: Omit<ServeBounds, 'countMax'>) {
    const { id, owner, nowMs } = lease;
    const work = await on.hold.get(w, { id, owner, statuses: SERVING });
    if (work === null) return null;
    const { providerId, cursorId, expiresAtMs } = work;
    const isLate = expiresAtMs <= nowMs;
    const countMax = size.countBehind(cursorId);
    const served = isLate
      ? await expire(w, lease, cursorId, countMax)
      : await serveNext(w, lease, cursorId, { ...bounds, countMax });
    const { toId, deviceIds, sent, queued, failed, isDone } = served;
    const { untilMs } = held(context, lease);
    await on.sent.run(w, { id, toId, sent, queued, failed, untilMs });
    w.notify(deviceIds);
    w.figures.note(providerId, 'delivered', nowMs, sent);
    w.figures.note(providerId, isLate ? 'expired' : 'failed', nowMs, failed);
    return { deviceIds, outcome: isDone ? await outcomeOf(w, id, nowMs) : null };
  }

  return { load, send };
}

export function recipientStore(context: Context): RecipientStore {
  const size = new StepSize();
  const { load, send } = recipientSteps(context, size);
  return {
    loadRecipients: (lease, ledgerRowsMax) =>
      size.timed(() => context.write((w) => load(w, lease, ledgerRowsMax))),
    sendRecipients: (lease, waitingMax, gateways) =>
      size.timed(() => context.write((w) => send(w, lease, { waitingMax, gateways }))),
  };
}
