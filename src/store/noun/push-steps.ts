/**
 * Pushes as parts of writes. A push leaves the outbox after a gateway's final answer, or when it is
 * no longer needed. Its distribution, locked first, is counted in the same commit and ends with its
 * last push.
 */

import { whyPushFailed, withProblem } from '../../core/message/push-failure.ts';
import { endOf } from '../../core/message/status.ts';
import { destinationOf, type GatewayKey } from '../../core/outbox/destination.ts';
import type { PushAddress } from '../../core/port/registration.ts';
import type { Backend, Notes, Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { AT_GATEWAYS } from '../status.ts';
import { distributionEnds } from './distribution-end.ts';
import { gatewayName, inRun, type NewPush, pushQueue, type Run, reader } from './push-queue.ts';
import { shared } from './shared.ts';

/** `push_state` of a recipient; null: it has no push. */
const WAITS = 1;
const ACCEPTED = 2;
const FAILED = 3;

/** Pushes that follow a device to another address at once; the others follow when they are due. */
const MOVED_COUNT = 100;

/** A push in the outbox. */
export interface WaitingPush extends NewPush {
  id: number;
  distributionId: number;
}

/** Messages that a device has fetched. */
interface Fetched {
  deviceId: number;
  distributionIds: readonly number[];
}

/** The end of a push. */
export interface PushEnd {
  push: WaitingPush;
  pushState: number | null;
  problem: string | null;
}

export const accepted = (push: WaitingPush): PushEnd => ({
  push,
  pushState: ACCEPTED,
  problem: null,
});
export const failed = (push: WaitingPush, problem: string): PushEnd => ({
  push,
  pushState: FAILED,
  problem,
});
/** The device got the message without a gateway. */
const reached = (push: WaitingPush): PushEnd => ({ push, pushState: null, problem: null });

const WAITING = columns(
  { o: 'outbox', r: 'recipient' },
  'o.id, r.id AS recipientId, r.distributionId, o.destinationId, o.queuedAtMs',
);
const END = { id: 'bigint', pushState: 'bigint', problem: 'text' } as const;

function pushStatements(statements: Statements) {
  const { prepare, among, once, join, fence } = statements;
  return {
    remove: prepare(sql`
        DELETE FROM outbox WHERE id ${among('ids')}`),
    mark: prepare(sql`
        UPDATE recipient AS r SET push_state = u."pushState", pushed_at_ms = :nowMs,
          push_problem = u.problem
        FROM ${statements.rows('ends', END)} u WHERE r.id = u.id`),
    standing: prepare(sql`
        SELECT ${values<{ id: number; problem: string | null }>({
          id: sql`q.id`,
          problem: sql`q.problem`,
        })},
          ${columns({ x: 'distribution' }, 'x.status, x.expiresAtMs')}, ${columns(
            { t: 'device_token?' },
            't.push, t.pushDroppedAtMs AS droppedAtMs, t.pushDroppedWhy AS droppedWhy',
          )}
        FROM (SELECT o.id AS id, o.problem AS problem, r.distribution_id AS distribution_id,
                ${reader(statements)} AS reader
              FROM outbox o ${join} recipient r ON r.id = o.recipient_id
              WHERE o.id ${among('ids')} ${fence}) q
          ${join} distribution x ON x.id = q.distribution_id
          LEFT JOIN device_token t ON t.id = q.reader`),
    ofRecipients: prepare(sql`
        SELECT ${WAITING} FROM recipient r ${join} outbox o ON o.recipient_id = r.id
        WHERE r.distribution_id ${among('distributionIds')} AND r.device_id = ${once('deviceId')}
        ORDER BY r.id`),
    ofDevice: prepare(sql`
        SELECT ${WAITING} FROM recipient r ${join} outbox o ON o.recipient_id = r.id
        WHERE r.device_id = ${once('deviceId')} AND r.is_waiting = 1 AND r.push_state = ${WAITS}
        ORDER BY r.id LIMIT ${MOVED_COUNT}`),
    ofRun: prepare(sql`
        SELECT ${WAITING}, ${columns({ o: 'outbox' }, 'o.problem')}
        FROM recipient r ${join} outbox o ON o.recipient_id = r.id
        WHERE ${inRun(statements)} AND r.push_state = ${WAITS} ORDER BY r.id`),
    counted: prepare(sql`
        UPDATE distribution SET push_waiting_count = push_waiting_count - :ended,
          sent_count = sent_count + :sent, failed_count = failed_count + :failed
        WHERE id = :id
        RETURNING ${columns('distribution', 'providerId, pushWaitingCount AS waitingCount')}`),
    counts: prepare(sql`
        SELECT ${columns('distribution', 'recipientCount, sentCount')}
        FROM distribution WHERE id = :id`),
    end: prepare(sql`
        UPDATE distribution SET status = :status, finished_at_ms = :nowMs,
          failed_count = :failedCount, cursor_id = 0
        WHERE id = :id AND ${AT_GATEWAYS}`),
  };
}

/** Steps of pushes, each part of a write that has locked their distributions. */
export const pushSteps = shared((statements: Backend) => {
  const on = pushStatements(statements);
  const { destinationsOf, put, queue } = pushQueue(statements);
  const noteEnds = distributionEnds(statements);

  /** Locks distributions until the end of the write. */
  const lock = (ids: readonly number[]) => statements.lockRows({ distribution: [...new Set(ids)] });
  const lockDestinations = (ids: readonly number[]) =>
    statements.lockRows({ destination: [...new Set(ids)] });

  /** Removes pushes from the outbox and counts them; the last one ends its distribution. */
  function* close(notes: Notes, ends: readonly PushEnd[], nowMs: number): Step<void> {
    if (ends.length === 0) return;
    const marks = ends.map(({ push, pushState, problem }) => {
      return { id: push.recipientId, pushState, problem };
    });
    yield* statements.together([
      () => statements.lockRows({ recipient: marks.map(({ id }) => id) }),
      () => lockDestinations(ends.map(({ push }) => push.destinationId)),
      () => on.remove.run({ ids: ends.map(({ push }) => push.id) }),
      () => on.mark.run({ ends: JSON.stringify(marks), nowMs }),
    ]);
    for (const [id, own] of Map.groupBy(ends, ({ push }) => push.distributionId)) {
      const failed = own.filter(({ pushState }) => pushState === FAILED).length;
      const sent = own.length - failed;
      const left = yield* on.counted.get({ id, sent, failed, ended: own.length });
      if (left === null) continue;
      notes.figure(left.providerId, 'delivered', nowMs, sent);
      notes.figure(left.providerId, 'failed', nowMs, failed);
      if (left.waitingCount === 0) yield* end(notes, id, nowMs);
    }
  }

  /** Ends a distribution that waits for gateways only; a worker ends the others. */
  function* end(notes: Notes, id: number, nowMs: number): Step<void> {
    const counts = yield* on.counts.get({ id });
    if (counts === null) return;
    // Devices that were deleted meanwhile have no row any more, but were recipients.
    const failedCount = counts.recipientCount - counts.sentCount;
    const status = endOf(counts.sentCount, failedCount);
    if ((yield* on.end.run({ id, status, failedCount, nowMs })) === 0) return;
    yield* noteEnds(notes, [id], nowMs);
  }

  /** Moves pushes whose device has another address; returns the ends of the others. */
  function* reconsider(
    notes: Notes,
    pushes: readonly WaitingPush[],
    nowMs: number,
  ): Step<PushEnd[]> {
    if (pushes.length === 0) return [];
    const ends: PushEnd[] = [];
    const elsewhere: { push: WaitingPush; key: GatewayKey }[] = [];
    const rows = yield* on.standing.all({ ids: pushes.map(({ id }) => id) });
    const standings = new Map(rows.map((row) => [row.id, row]));
    for (const push of pushes) {
      const now = standings.get(push.id);
      if (now === undefined) continue;
      const why = whyPushFailed(push, now, statements.leastMs(nowMs));
      const key = now.push && destinationOf(JSON.parse(now.push) as PushAddress);
      if (why !== null) ends.push(failed(push, why));
      else if (key) elsewhere.push({ push, key });
      else ends.push(reached(push));
    }
    const ids = yield* destinationsOf(elsewhere.map(({ key }) => key));
    const moved: { from: WaitingPush; to: NewPush }[] = [];
    for (const { push, key } of elsewhere) {
      const destinationId = ids.get(gatewayName(key));
      const { recipientId, queuedAtMs } = push;
      if (destinationId === undefined) ends.push(reached(push));
      // It keeps its time: else a device that moves again and again would keep it waiting for ever.
      else if (destinationId !== push.destinationId) {
        moved.push({ from: push, to: { destinationId, recipientId, queuedAtMs } });
      }
    }
    if (moved.length > 0) {
      yield* lockDestinations(
        moved.flatMap(({ from, to }) => [from.destinationId, to.destinationId]),
      );
      yield* on.remove.run({ ids: moved.map(({ from }) => from.id) });
    }
    yield* put(
      notes,
      moved.map(({ to }) => to),
    );
    return ends;
  }

  return {
    queue,
    lock,
    close,
    end,
    reconsider,

    /** Removes the pushes of messages that devices have fetched. */
    *reach(notes: Notes, fetched: readonly Fetched[], nowMs: number): Step<void> {
      const waiting: WaitingPush[] = [];
      for (const { deviceId, distributionIds } of fetched) {
        waiting.push(...(yield* on.ofRecipients.all({ deviceId, distributionIds })));
      }
      yield* close(notes, waiting.map(reached), nowMs);
    },

    /** Moves the waiting pushes of a device to its new address, also from a stopped gateway. */
    *follow(notes: Notes, deviceId: number, nowMs: number): Step<void> {
      const waiting = yield* on.ofDevice.all({ deviceId });
      if (waiting.length === 0) return;
      yield* lock(waiting.map(({ distributionId }) => distributionId));
      yield* close(notes, yield* reconsider(notes, waiting, nowMs), nowMs);
    },

    /** Fails all waiting pushes of a run; `why` precedes the last problem of each. */
    *failRun(notes: Notes, run: Run, why: string, nowMs: number): Step<void> {
      const waiting = yield* on.ofRun.all({ ...run });
      const ends = waiting.map(({ problem, ...push }) => failed(push, withProblem(why, problem)));
      yield* close(notes, ends, nowMs);
    },
  };
});
