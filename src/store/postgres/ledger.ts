/** The ledger afterwards: what expires, and what the operator sees of it. */

import { sql } from 'drizzle-orm';
import { WHY_BLOCKED } from '../../core/message/push-failure.ts';
import { BLOCKED } from '../../core/message/status.ts';
import type { LedgerRow, LedgerTotals, PushState } from '../../core/port/distribution.ts';
import type { Store } from '../../core/port/store.ts';
import { DETAIL_COLUMNS, type DetailRow, detailOf } from '../noun/distribution.ts';
import { FINAL, literal } from '../status.ts';
import type { Context } from './context.ts';
import { failRun } from './push-steps.ts';
import { nextRun, StepSize } from './recipient-steps.ts';
import { prepare, type Runner, value } from './statement.ts';
import type { Write } from './write.ts';

type LedgerStore = Pick<Store, 'expireRecipients' | 'findDistribution'>;

type TotalsRow = Omit<LedgerTotals, 'atGateway'> &
  Record<'pushQueued' | 'pushAccepted' | 'pushFailed', number>;

type MissingRow = Omit<LedgerRow, 'push'> & {
  pushState: PushState | null;
  pushProblem: string | null;
};

interface ToExpire {
  providerId: number;
  cursorId: number;
  /** Pushes that wait yet: of what was blocked alone. */
  waitingCount: number;
}

const IS_BLOCKED = sql`status = ${literal(BLOCKED)} AND expired_at_ms IS NULL`;
const IS_LATE = sql`expired_at_ms IS NULL AND expires_at_ms <= ${value('nowMs')}
  AND status >= ${FINAL}`;

const on = {
  /** Blocked messages leave the inboxes at once, whenever they would expire. */
  toExpire: prepare<{ id: number | null }>(sql`
      SELECT coalesce(
        (SELECT id FROM distribution WHERE ${IS_BLOCKED} ORDER BY id LIMIT 1),
        (SELECT id FROM distribution WHERE ${IS_LATE} ORDER BY expires_at_ms, id LIMIT 1)) AS id`),
  hold: prepare<ToExpire>(sql`
      SELECT provider_id AS "providerId", cursor_id AS "cursorId",
        push_waiting_count AS "waitingCount"
      FROM distribution WHERE id = ${value('id')} AND (${IS_BLOCKED} OR ${IS_LATE})
      FOR NO KEY UPDATE`),
  expire: prepare(sql`
      UPDATE recipient SET state = 4, is_waiting = 0, expired_at_ms = ${value('nowMs')}
      WHERE distribution_id = ${value('id')} AND device_id > ${value('cursorId')}
        AND device_id <= ${value('toId')} AND (state = 1 OR is_waiting = 1)`),
  moved: prepare(sql`
      UPDATE distribution SET cursor_id = ${value('cursorId')},
        expired_at_ms = ${value('expiredAtMs')} WHERE id = ${value('id')}`),
  detail: prepare<DetailRow>(sql`
      SELECT ${DETAIL_COLUMNS} FROM distribution x JOIN provider p ON p.id = x.provider_id
      WHERE x.id = ${value('id')}`),
  totals: prepare<TotalsRow>(sql`
      SELECT count(*) FILTER (WHERE state = 1) AS queued,
        count(*) FILTER (WHERE state = 2) AS sent, count(*) FILTER (WHERE state = 3) AS failed,
        count(*) FILTER (WHERE state = 4) AS expired, count(received_at_ms) AS received,
        count(opened_at_ms) AS opened, count(executed_at_ms) AS executed,
        count(refused_at_ms) AS refused,
        count(*) FILTER (WHERE push_state = 1) AS "pushQueued",
        count(*) FILTER (WHERE push_state = 2) AS "pushAccepted",
        count(*) FILTER (WHERE push_state = 3) AS "pushFailed"
      FROM recipient WHERE distribution_id = ${value('id')}`),
  missing: prepare<MissingRow>(sql`
      SELECT d.hwid AS hwid,
        CASE state WHEN 1 THEN 'queued' WHEN 2 THEN 'sent' WHEN 3 THEN 'failed' ELSE 'expired' END
          AS state, r.queued_at_ms AS "queuedAtMs", sent_at_ms AS "sentAtMs",
        failed_at_ms AS "failedAtMs", expired_at_ms AS "expiredAtMs",
        received_at_ms AS "receivedAtMs", opened_at_ms AS "openedAtMs",
        executed_at_ms AS "executedAtMs", refused_at_ms AS "refusedAtMs", detail,
        CASE push_state WHEN 1 THEN 'queued' WHEN 2 THEN 'accepted' WHEN 3 THEN 'failed' END
          AS "pushState", coalesce(r.push_problem, o.problem, t.problem) AS "pushProblem"
      FROM recipient r JOIN device d ON d.id = r.device_id
        LEFT JOIN outbox o ON o.recipient_id = r.id
        LEFT JOIN destination t ON t.id = o.destination_id
      WHERE distribution_id = ${value('id')} AND received_at_ms IS NULL
      ORDER BY r.device_id LIMIT ${value('countMax')}`),
};

/**
 * Marks `countMax` recipients after `cursorId` expired, as part of a write that holds their
 * distribution.
 */
export async function expireNext(
  w: Runner,
  { nowMs, ...run }: { id: number; cursorId: number; countMax: number; nowMs: number },
): Promise<{ toId: number; expiredCount: number; isDone: boolean }> {
  const { id, cursorId } = run;
  const { toId, isDone } = await nextRun(w, run);
  return { toId, expiredCount: await on.expire.run(w, { id, cursorId, toId, nowMs }), isDone };
}

export function ledgerStore(context: Context): LedgerStore {
  const { db } = context;
  const size = new StepSize();
  return {
    expireRecipients: async (nowMs) => {
      const id = (await on.toExpire.get(db, { nowMs }))?.id ?? null;
      if (id === null) return null;
      const expire = async (w: Write) => {
        const found = await on.hold.get(w, { id, nowMs });
        // Somebody else was quicker: there may be others.
        if (found === null) return 0;
        const { providerId, cursorId, waitingCount } = found;
        const countMax = size.countBehind(cursorId);
        const run = { id, cursorId, countMax, nowMs };
        const { toId, expiredCount, isDone } = await expireNext(w, run);
        if (waitingCount > 0) await failRun(w, { id, cursorId, toId }, WHY_BLOCKED, nowMs);
        const expiredAtMs = isDone ? nowMs : null;
        await on.moved.run(w, { id, cursorId: toId, expiredAtMs });
        w.figures.note(providerId, 'expired', nowMs, expiredCount);
        return expiredCount;
      };
      return size.timed(() => context.write(expire));
    },

    findDistribution: async (id, countMax) => {
      const [distribution, totals, missing] = await Promise.all([
        on.detail.get(db, { id }),
        on.totals.get(db, { id }),
        on.missing.all(db, { id, countMax }),
      ]);
      if (distribution === null || totals === null) return null;
      const { pushQueued: queued, pushAccepted: accepted, pushFailed: failed, ...inbox } = totals;
      return {
        distribution: detailOf(distribution),
        totals: { ...inbox, atGateway: { queued, accepted, failed } },
        missing: missing.map(({ pushState, pushProblem, ...row }) => ({
          ...row,
          push: pushState && { state: pushState, problem: pushProblem },
        })),
      };
    },
  };
}
