/** The ledger after delivery: recipients expire, and the operator reads it. */

import { WHY_BLOCKED } from '../../core/message/push-failure.ts';
import { BLOCKED } from '../../core/message/status.ts';
import type { LedgerRow, LedgerTotals, PushState } from '../../core/port/ledger.ts';
import type { Store } from '../../core/port/store.ts';
import type { Backend, Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { FINAL, literal } from '../status.ts';
import { detailsOn } from './distribution.ts';
import type { Run } from './push-queue.ts';
import { pushSteps } from './push-steps.ts';
import { recipientRuns, StepSize } from './recipient-steps.ts';
import { shared } from './shared.ts';

type LedgerNoun = Pick<Store, 'expireRecipients' | 'findDistribution'>;

type TotalsRow = Omit<LedgerTotals, 'atGateway'> &
  Record<'pushQueued' | 'pushAccepted' | 'pushFailed', number>;

/** Columns that count rows of ledgers. */
export const TOTAL_COLUMNS = values<TotalsRow>({
  queued: sql`count(*) FILTER (WHERE state = 1)`,
  sent: sql`count(*) FILTER (WHERE state = 2)`,
  failed: sql`count(*) FILTER (WHERE state = 3)`,
  expired: sql`count(*) FILTER (WHERE state = 4)`,
  received: sql`count(received_at_ms)`,
  opened: sql`count(opened_at_ms)`,
  executed: sql`count(executed_at_ms)`,
  refused: sql`count(refused_at_ms)`,
  carried: sql`count(carried_at_ms)`,
  pushQueued: sql`count(*) FILTER (WHERE push_state = 1)`,
  pushAccepted: sql`count(*) FILTER (WHERE push_state = 2)`,
  pushFailed: sql`count(*) FILTER (WHERE push_state = 3)`,
});

export function totalsOf(row: TotalsRow): LedgerTotals {
  const { pushQueued: queued, pushAccepted: accepted, pushFailed: failed, ...inbox } = row;
  return { ...inbox, atGateway: { queued, accepted, failed } };
}

type MissingRow = Omit<LedgerRow, 'push'> & {
  pushState: PushState | null;
  pushProblem: string | null;
};

/** Columns of a row `r` of a ledger and its device `d`. */
export const LEDGER_COLUMNS = sql`${columns(
  { d: 'device', r: 'recipient' },
  `d.hwid, r.queuedAtMs, r.sentAtMs, r.failedAtMs, r.expiredAtMs, r.receivedAtMs, r.openedAtMs,
    r.executedAtMs, r.refusedAtMs, r.detail, r.carriedAtMs, r.carried`,
)}, ${values<Pick<MissingRow, 'state' | 'pushState'>>({
  state: sql`CASE r.state WHEN 1 THEN 'queued' WHEN 2 THEN 'sent' WHEN 3 THEN 'failed'
    ELSE 'expired' END`,
  pushState: sql`CASE push_state WHEN 1 THEN 'queued' WHEN 2 THEN 'accepted'
    WHEN 3 THEN 'failed' END`,
})}`;

const IS_BLOCKED = sql`status = ${literal(BLOCKED)} AND expired_at_ms IS NULL`;
const IS_LATE = sql`expired_at_ms IS NULL AND expires_at_ms <= :nowMs AND status >= ${FINAL}`;

function ledgerStatements(backend: Backend) {
  const { prepare } = backend;
  return {
    /** Blocked messages are removed from inboxes at once, whenever they would expire. */
    toExpire: prepare(sql`
        SELECT ${values<{ id: number | null }>({
          id: sql`coalesce((SELECT id FROM distribution WHERE ${IS_BLOCKED} ORDER BY id LIMIT 1),
          (SELECT id FROM distribution WHERE ${IS_LATE}
           ORDER BY expires_at_ms, id LIMIT 1))`,
        })}`),
    lock: prepare(sql`
        SELECT ${columns('distribution', 'providerId, cursorId, pushWaitingCount AS waitingCount')}
        FROM distribution WHERE id = :id AND (${IS_BLOCKED} OR ${IS_LATE}) ${backend.locked}`),
    moved: prepare(sql`
        UPDATE distribution SET cursor_id = :cursorId,
          expired_at_ms = :expiredAtMs WHERE id = :id`),
    detail: detailsOn(backend)(sql`WHERE x.id = :id`),
    totals: prepare(sql`
        SELECT ${TOTAL_COLUMNS} FROM recipient WHERE distribution_id = :id`),
    missing: prepare(sql`
        SELECT ${LEDGER_COLUMNS}, ${values<{ pushProblem: MissingRow['pushProblem'] }>({
          pushProblem: sql`coalesce(r.push_problem, o.problem, t.problem)`,
        })}
        FROM recipient r ${backend.join} device d ON d.id = r.device_id
          LEFT JOIN outbox o ON o.recipient_id = r.id
          LEFT JOIN destination t ON t.id = o.destination_id
        WHERE distribution_id = :id AND received_at_ms IS NULL
        ORDER BY r.device_id LIMIT :countMax`),
  };
}

/** Returns the step that marks recipients expired; its write has locked their distribution. */
export const recipientExpiry = shared((statements: Statements) => {
  const nextRun = recipientRuns(statements);
  const expire = statements.prepare(sql`
      UPDATE recipient SET state = 4, is_waiting = 0, expired_at_ms = :nowMs
      WHERE distribution_id = :id AND device_id > :cursorId
        AND device_id <= :toId AND (state = 1 OR is_waiting = 1)`);
  return function* (
    from: { id: number; cursorId: number; countMax: number },
    nowMs: number,
  ): Step<{ run: Run; expiredCount: number; isDone: boolean }> {
    const { run, isDone } = yield* nextRun(from.id, from.cursorId, from.countMax);
    return { run, expiredCount: yield* expire.run({ ...run, nowMs }), isDone };
  };
});

export function ledgerNoun(backend: Backend): LedgerNoun {
  const on = ledgerStatements(backend);
  const expireNext = recipientExpiry(backend);
  const pushes = pushSteps(backend);
  const size = new StepSize(backend);

  return {
    expireRecipients: async (nowMs) => {
      const id = (await backend.read(() => on.toExpire.get({ nowMs })))?.id ?? null;
      if (id === null) return null;
      const expire = () =>
        backend.write(function* (notes) {
          const found = yield* on.lock.get({ id, nowMs });
          // Another process was faster: there may be others.
          if (found === null) return 0;
          const { providerId, cursorId, waitingCount } = found;
          const countMax = size.countBehind(cursorId);
          const { run, expiredCount, isDone } = yield* expireNext(
            { id, cursorId, countMax },
            nowMs,
          );
          if (waitingCount > 0) yield* pushes.failRun(notes, run, WHY_BLOCKED, nowMs);
          yield* on.moved.run({ id, cursorId: run.toId, expiredAtMs: isDone ? nowMs : null });
          notes.figure(providerId, 'expired', nowMs, expiredCount);
          return expiredCount;
        });
      return size.timed(expire);
    },

    findDistribution: async (id, countMax) =>
      backend.read(function* () {
        const [found, totals, missing] = yield* backend.together([
          () => on.detail.get({ id }),
          () => on.totals.get({ id }),
          () => on.missing.all({ id, countMax }),
        ]);
        if (found === null || totals === null) return null;
        return {
          distribution: found,
          totals: totalsOf(totals),
          missing: missing.map(({ pushState, pushProblem, ...row }) => ({
            ...row,
            push: pushState && { state: pushState, problem: pushProblem },
          })),
        };
      }),
  };
}
