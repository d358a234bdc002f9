/**
 * Pushes as parts of writes: taken out of the outbox once a gateway has answered for good, or when
 * nobody needs it to any more. The counts of the distribution go along, and it ends with its last
 * push. Whoever takes a push out holds its distribution first: what is read of it then stays.
 */

import { sql } from 'drizzle-orm';
import { type PushStanding, whyPushFailed, withProblem } from '../../core/message/push-failure.ts';
import { endOf } from '../../core/message/status.ts';
import { destinationOf, type GatewayKey } from '../../core/outbox/destination.ts';
import type { PushAddress } from '../../core/port/registration.ts';
import { AT_GATEWAYS } from '../status.ts';
import { noteDistributionEnd } from './distribution-end.ts';
import {
  destinationsOf,
  IN_RUN,
  type NewPush,
  nameOf,
  put,
  READER,
  type Run,
} from './push-queue.ts';
import { prepare, value } from './statement.ts';
import type { Write } from './write.ts';

/** `push_state` of a recipient; null: no gateway has anything to do with it. */
const WAITS = 1;
const ACCEPTED = 2;
const FAILED = 3;

/** Pushes that follow a device to another address at once; more do once it is their turn. */
const MOVED_COUNT = 100;

/** A push in the outbox. */
export interface WaitingPush extends NewPush {
  id: number;
  distributionId: number;
}

/** What a push is left as. */
export interface Fate {
  push: WaitingPush;
  pushState: number | null;
  problem: string | null;
}

/** Pushes that ended well, and that did not. */
interface Ended {
  sent: number;
  failed: number;
}

/** Those of each distribution. */
export type PushTally = Map<number, Ended>;

const WAITING = sql.raw(`o.id AS id, r.id AS "recipientId", r.distribution_id AS "distributionId",
  o.destination_id AS "destinationId", o.queued_at_ms AS "queuedAtMs"`);

const ALL = sql`id = ANY(${value('ids')}::bigint[])`;

const on = {
  holdDistributions: prepare(sql`
      SELECT id FROM distribution WHERE ${ALL} ORDER BY id FOR NO KEY UPDATE`),
  holdRecipients: prepare(sql`
      SELECT id FROM recipient WHERE ${ALL} ORDER BY id FOR NO KEY UPDATE`),
  holdDestinations: prepare(sql`
      SELECT id FROM destination WHERE ${ALL} ORDER BY id FOR NO KEY UPDATE`),
  remove: prepare<{ id: number }>(sql`DELETE FROM outbox WHERE ${ALL} RETURNING id`),
  mark: prepare(sql`
      UPDATE recipient r SET push_state = u.push_state, pushed_at_ms = ${value('nowMs')},
        push_problem = u.problem
      FROM unnest(${value('recipientIds')}::bigint[], ${value('states')}::integer[],
        ${value('problems')}::text[]) u (id, push_state, problem)
      WHERE r.id = u.id`),
  /** OFFSET: the reader is found first. */
  standing: prepare<PushStanding & { id: number }>(sql`
      SELECT q.id AS id, x.status AS status, x.expires_at_ms AS "expiresAtMs", q.problem AS problem,
        t.push AS push, t.push_dropped_at_ms AS "droppedAtMs", t.push_dropped_why AS "droppedWhy"
      FROM (SELECT o.id AS id, o.problem AS problem, r.distribution_id AS distribution_id,
              ${READER} AS reader
            FROM outbox o JOIN recipient r ON r.id = o.recipient_id
            WHERE o.id = ANY(${value('ids')}::bigint[]) OFFSET 0) q
        JOIN distribution x ON x.id = q.distribution_id
        LEFT JOIN device_token t ON t.id = q.reader`),
  ofRecipients: prepare<WaitingPush>(sql`
      SELECT ${WAITING} FROM recipient r JOIN outbox o ON o.recipient_id = r.id
      WHERE r.distribution_id = ANY(${value('distributionIds')}::bigint[])
        AND r.device_id = ${value('deviceId')}
      ORDER BY r.id`),
  ofDevice: prepare<WaitingPush>(sql`
      SELECT ${WAITING} FROM recipient r JOIN outbox o ON o.recipient_id = r.id
      WHERE r.device_id = ${value('deviceId')} AND r.is_waiting = 1 AND r.push_state = ${WAITS}
      ORDER BY r.id LIMIT ${MOVED_COUNT}`),
  ofRun: prepare<WaitingPush & { problem: string | null }>(sql`
      SELECT ${WAITING}, o.problem AS problem
      FROM recipient r JOIN outbox o ON o.recipient_id = r.id
      WHERE ${IN_RUN} AND r.push_state = ${WAITS}
      ORDER BY r.id`),
  counted: prepare<{ providerId: number; waitingCount: number }>(sql`
      UPDATE distribution
      SET push_waiting_count = push_waiting_count - ${value('ended')}::bigint,
        sent_count = sent_count + ${value('sent')}::bigint,
        failed_count = failed_count + ${value('failed')}::bigint
      WHERE id = ${value('id')}
      RETURNING provider_id AS "providerId", push_waiting_count AS "waitingCount"`),
  counts: prepare<{ recipientCount: number; sentCount: number }>(sql`
      SELECT recipient_count AS "recipientCount", sent_count AS "sentCount"
      FROM distribution WHERE id = ${value('id')}`),
  end: prepare(sql`
      UPDATE distribution SET status = ${value('status')}, finished_at_ms = ${value('nowMs')},
        failed_count = ${value('failedCount')}, cursor_id = 0
      WHERE id = ${value('id')} AND ${AT_GATEWAYS}`),
};

export const accepted = (push: WaitingPush): Fate => ({ push, pushState: ACCEPTED, problem: null });
export const failed = (push: WaitingPush, problem: string): Fate => ({
  ...{ push, pushState: FAILED, problem },
});
/** The device has the message without a gateway. */
export const reached = (push: WaitingPush): Fate => ({ push, pushState: null, problem: null });

/** Holds distributions until the end of the write. */
export async function hold(w: Write, pushes: readonly { distributionId: number }[]): Promise<void> {
  const ids = [...new Set(pushes.map(({ distributionId }) => distributionId))];
  if (ids.length > 0) await on.holdDistributions.run(w, { ids });
}

/** The pushes that wait for a device, of some distributions. */
export const waitingFor = (w: Write, deviceId: number, distributionIds: readonly number[]) =>
  on.ofRecipients.all(w, { deviceId, distributionIds });

/** Takes pushes out that are there. Their distributions are held, and so they still are. */
export async function leave(
  w: Write,
  fates: readonly Fate[],
  tally: PushTally,
  nowMs: number,
): Promise<void> {
  if (fates.length === 0) return;
  const recipientIds = fates.map(({ push }) => push.recipientId);
  const destinationIds = fates.map(({ push }) => push.destinationId);
  // One right behind the other, without waiting for answers.
  await Promise.all([
    on.holdRecipients.run(w, { ids: recipientIds }),
    holdDestinations(w, destinationIds),
    on.remove.run(w, { ids: fates.map(({ push }) => push.id) }),
    on.mark.run(w, {
      recipientIds,
      states: fates.map(({ pushState }) => pushState),
      problems: fates.map(({ problem }) => problem),
      nowMs,
    }),
  ]);
  for (const { push, pushState } of fates) count(tally, push, pushState !== FAILED);
}

async function holdDestinations(w: Write, ids: readonly number[]): Promise<void> {
  await on.holdDestinations.run(w, { ids: [...new Set(ids)] });
}

/**
 * Looks again at pushes that are not needed where they are, and moves those that are elsewhere;
 * says what becomes of the others. Their distributions are held.
 */
export async function reconsider(
  w: Write,
  pushes: readonly WaitingPush[],
  nowMs: number,
): Promise<Fate[]> {
  if (pushes.length === 0) return [];
  const fates: Fate[] = [];
  const elsewhere: { push: WaitingPush; key: GatewayKey }[] = [];
  const rows = await on.standing.all(w, { ids: pushes.map(({ id }) => id) });
  const standings = new Map(rows.map((row) => [row.id, row]));
  for (const push of pushes) {
    const now = standings.get(push.id);
    if (now === undefined) continue;
    const why = whyPushFailed(push, now, nowMs);
    const key = now.push && destinationOf(JSON.parse(now.push) as PushAddress);
    if (why !== null) fates.push(failed(push, why));
    else if (key) elsewhere.push({ push, key });
    else fates.push(reached(push));
  }
  const ids = await destinationsOf(
    w,
    elsewhere.map(({ key }) => key),
  );
  const moved: { from: WaitingPush; to: NewPush }[] = [];
  for (const { push, key } of elsewhere) {
    const id = ids.get(nameOf(key));
    if (id === undefined) fates.push(reached(push));
    // As old as it is: a device that goes on moving would keep it waiting for ever.
    else if (id !== push.destinationId) {
      moved.push({ from: push, to: { ...push, destinationId: id } });
    }
  }
  if (moved.length > 0) {
    const ends = moved.flatMap(({ from, to }) => [from.destinationId, to.destinationId]);
    await holdDestinations(w, ends);
    await on.remove.run(w, { ids: moved.map(({ from }) => from.id) });
  }
  await put(
    w,
    moved.map(({ to }) => to),
  );
  return fates;
}

/** Ends a distribution that waits for gateways alone; others are their worker's. */
export async function end(w: Write, id: number, nowMs: number): Promise<void> {
  const counts = await on.counts.get(w, { id });
  if (counts === null) return;
  // Devices that were forgotten meanwhile have no row any more, but were recipients.
  const failedCount = counts.recipientCount - counts.sentCount;
  const status = endOf(counts.sentCount, failedCount);
  if ((await on.end.run(w, { id, status, failedCount, nowMs })) === 0) return;
  await noteDistributionEnd(w, [id], nowMs);
}

/** Lets what waits for a device follow it to another address, also from a stopped gateway. */
export async function follow(w: Write, deviceId: number, nowMs: number): Promise<void> {
  const waiting = await on.ofDevice.all(w, { deviceId });
  if (waiting.length === 0) return;
  await hold(w, waiting);
  const tally: PushTally = new Map();
  await leave(w, await reconsider(w, waiting, nowMs), tally, nowMs);
  await close(w, tally, nowMs);
}

/** Counts what ended at each distribution, and ends those that wait for nothing any more. */
export async function close(w: Write, tally: PushTally, nowMs: number): Promise<void> {
  for (const [id, { sent, failed }] of tally) {
    const left = await on.counted.get(w, { id, sent, failed, ended: sent + failed });
    if (left === null) continue;
    w.figures.note(left.providerId, 'delivered', nowMs, sent);
    w.figures.note(left.providerId, 'failed', nowMs, failed);
    if (left.waitingCount === 0) await end(w, id, nowMs);
  }
}

/**
 * Fails all pushes of a run that wait; `why` goes before the last problem of each. Its distribution
 * is held.
 */
export async function failRun(w: Write, run: Run, why: string, nowMs: number): Promise<void> {
  const waiting = await on.ofRun.all(w, { ...run });
  const tally: PushTally = new Map();
  const fates = waiting.map(({ problem, ...push }) => failed(push, withProblem(why, problem)));
  await leave(w, fates, tally, nowMs);
  await close(w, tally, nowMs);
}

function count(tally: PushTally, { distributionId }: WaitingPush, isSent: boolean): void {
  const ended = tally.get(distributionId) ?? { sent: 0, failed: 0 };
  if (isSent) ended.sent += 1;
  else ended.failed += 1;
  tally.set(distributionId, ended);
}
