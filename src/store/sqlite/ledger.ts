/** The ledger afterwards: what expires, and what the operator sees of it. */

import { sql } from 'drizzle-orm';
import { WHY_BLOCKED } from '../../core/message/push-failure.ts';
import { BLOCKED } from '../../core/message/status.ts';
import type { LedgerRow, LedgerTotals, PushState } from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { DETAIL_COLUMNS, type DetailRow, detailOf } from '../noun/distribution.ts';
import { FINAL, literal } from '../status.ts';
import type { Context } from './context.ts';
import { pushSteps } from './push-steps.ts';
import { value } from './statement.ts';

type LedgerStore = Pick<Store, 'expireRecipients' | 'findDistribution'>;

/** Recipients that a step serves or expires: some 5 ms. */
export const STEP_COUNT = 1_000;

/** Finds where the next recipients after `cursorId` end, a step's worth. */
export function recipientSteps({ db }: Context) {
  const next = db.prepare<{ deviceId: number }>(sql`
      SELECT device_id AS "deviceId" FROM recipient
      WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
      ORDER BY device_id LIMIT ${STEP_COUNT}`);
  return (id: number, cursorId: number) => {
    const batch = next.all({ id, cursorId });
    return { toId: batch.at(-1)?.deviceId ?? cursorId, isDone: batch.length < STEP_COUNT };
  };
}

/** Marks the recipients after `cursorId` expired, a step's worth, as part of a write. */
export function expirySteps(context: Context) {
  const next = recipientSteps(context);
  const expire = context.db.prepare(sql`
      UPDATE recipient SET state = 4, is_waiting = 0, expired_at_ms = ${value('nowMs')}
      WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
        AND device_id <= ${value('toId')} AND (state = 1 OR is_waiting = 1)`);
  return (id: number, cursorId: number, nowMs: number) => {
    const { toId, isDone } = next(id, cursorId);
    return { toId, expiredCount: expire.run({ id, cursorId, toId, nowMs }), isDone };
  };
}

type TotalsRow = Omit<LedgerTotals, 'atGateway'> &
  Record<'pushQueued' | 'pushAccepted' | 'pushFailed', number>;

type MissingRow = Omit<LedgerRow, 'push'> & {
  pushState: PushState | null;
  pushProblem: string | null;
};

interface ToExpire {
  id: number;
  providerId: number;
  cursorId: number;
  /** Pushes that wait yet: of what was blocked alone. */
  waitingCount: number;
}

function keeperStatements({ db }: Context) {
  return {
    /** Blocked messages leave the inboxes at once, whenever they would expire. */
    toExpire: db.prepare<ToExpire>(sql`
        SELECT * FROM (
          SELECT id, provider_id AS "providerId", cursor_id AS "cursorId",
            push_waiting_count AS "waitingCount" FROM distribution
          WHERE status = ${literal(BLOCKED)} AND expired_at_ms IS NULL LIMIT 1)
        UNION ALL
        SELECT * FROM (
          SELECT id, provider_id AS "providerId", cursor_id AS "cursorId",
            push_waiting_count AS "waitingCount" FROM distribution
          WHERE expired_at_ms IS NULL AND expires_at_ms <= ${value('nowMs')} AND status >= ${FINAL}
          ORDER BY expires_at_ms LIMIT 1)
        LIMIT 1`),
    expireMoved: db.prepare(sql`
        UPDATE distribution SET cursor_id = ${value('cursorId')},
          expired_at_ms = ${value('expiredAtMs')} WHERE id = ${value('id')}`),
    detail: db.prepare<DetailRow>(sql`
        SELECT ${DETAIL_COLUMNS} FROM distribution x CROSS JOIN provider p ON p.id = x.provider_id
        WHERE x.id = ${value('id')}`),
    totals: db.prepare<TotalsRow>(sql`
        SELECT count(*) FILTER (WHERE state = 1) AS queued,
          count(*) FILTER (WHERE state = 2) AS sent, count(*) FILTER (WHERE state = 3) AS failed,
          count(*) FILTER (WHERE state = 4) AS expired, count(received_at_ms) AS received,
          count(opened_at_ms) AS opened, count(executed_at_ms) AS executed,
          count(refused_at_ms) AS refused,
          count(*) FILTER (WHERE push_state = 1) AS "pushQueued",
          count(*) FILTER (WHERE push_state = 2) AS "pushAccepted",
          count(*) FILTER (WHERE push_state = 3) AS "pushFailed"
        FROM recipient WHERE distribution_id = ${value('id')}`),
    missing: db.prepare<MissingRow>(sql`
        SELECT d.hwid AS hwid,
          CASE state WHEN 1 THEN 'queued' WHEN 2 THEN 'sent' WHEN 3 THEN 'failed' ELSE 'expired' END
            AS state, r.queued_at_ms AS "queuedAtMs", sent_at_ms AS "sentAtMs",
          failed_at_ms AS "failedAtMs", expired_at_ms AS "expiredAtMs",
          received_at_ms AS "receivedAtMs", opened_at_ms AS "openedAtMs",
          executed_at_ms AS "executedAtMs", refused_at_ms AS "refusedAtMs", detail,
          CASE push_state WHEN 1 THEN 'queued' WHEN 2 THEN 'accepted' WHEN 3 THEN 'failed' END
            AS "pushState", coalesce(r.push_problem, o.problem, t.problem) AS "pushProblem"
        FROM recipient r CROSS JOIN device d ON d.id = r.device_id
          LEFT JOIN outbox o ON o.recipient_id = r.id
          LEFT JOIN destination t ON t.id = o.destination_id
        WHERE distribution_id = ${value('id')} AND received_at_ms IS NULL
        ORDER BY r.device_id LIMIT ${value('countMax')}`),
  };
}

export function ledgerStore(context: Context): LedgerStore {
  const { writer, figures } = context;
  const keeper = keeperStatements(context);
  const expire = expirySteps(context);
  const pushes = pushSteps(context);
  return {
    expireRecipients: async (nowMs) => {
      if (keeper.toExpire.get({ nowMs }) === null) return null;
      return writer.run(() => {
        const found = keeper.toExpire.get({ nowMs });
        if (found === null) return null;
        const { id, providerId, cursorId, waitingCount } = found;
        const { toId, expiredCount, isDone } = expire(id, cursorId, nowMs);
        if (waitingCount > 0) pushes.failRun({ id, cursorId, toId }, WHY_BLOCKED, nowMs);
        keeper.expireMoved.run({ id, cursorId: toId, expiredAtMs: isDone ? nowMs : null });
        figures.note(providerId, 'expired', nowMs, expiredCount);
        return expiredCount;
      });
    },

    findDistribution: async (id, countMax) => {
      const found = keeper.detail.get({ id });
      const totals = keeper.totals.get({ id });
      if (found === null || totals === null) return null;
      const { pushQueued: queued, pushAccepted: accepted, pushFailed: failed, ...inbox } = totals;
      return {
        distribution: detailOf(found),
        totals: { ...inbox, atGateway: { queued, accepted, failed } },
        missing: keeper.missing.all({ id, countMax }).map(({ pushState, pushProblem, ...row }) => ({
          ...row,
          push: pushState && { state: pushState, problem: pushProblem },
        })),
      };
    },
  };
}
