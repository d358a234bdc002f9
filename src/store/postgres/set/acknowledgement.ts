/**
 * Acknowledgements of a turn in one statement; the noun takes those with a push to end. By
 * bench/sets.ts one of 32 costs 67 us of processor time, PostgreSQL's included; by the noun 253 us.
 */

import type { AckItem, TokenHolder } from '../../../core/port/inbox.ts';
import type { Store } from '../../../core/port/store.ts';
import type { FigureCounter } from '../../noun/figure-counter.ts';
import { sql } from '../../statement-text.ts';
import { runInRounds } from '../dialect.ts';
import { TurnGroup } from '../group.ts';
import { prepare, type Runner, tableOf } from '../statement.ts';
import type { Context } from '../write.ts';

/** Calls of one statement, and items to which the last call adds up to as many as it has. */
const CALLS_MAX = 100;
const ITEMS_MAX = 100;

/** All that a call reports of one message; the first verdict, or null. */
interface Report extends Pick<AckItem, 'id' | 'detail'> {
  isOpened: boolean;
  verdict: 'executed' | 'failed' | null;
}

interface Call {
  holder: TokenHolder;
  items: readonly AckItem[];
  nowMs: number;
}

/** A message whose record a call changes, as it was before. */
interface Known {
  call: number;
  id: number;
  providerId: number;
  /** No acknowledgement has arrived yet, or the message is in the inbox again. */
  isWaiting: boolean;
  wasReceived: boolean;
  wasOpened: boolean;
  wasDecided: boolean;
  isAtGateway: boolean;
}

const REPORTS = tableOf('s', {
  call: 'integer',
  deviceId: 'bigint',
  tokenHash: 'bytea',
  nowMs: 'bigint',
  id: 'bigint',
  isOpened: 'boolean',
  verdict: 'text',
  detail: 'text',
});

/** Records reports, each time once, except of calls with a message that waits for a gateway. */
const acknowledge = prepare<Known>(sql`
    WITH report AS MATERIALIZED (
      SELECT * FROM ${REPORTS.from}),
    held AS MATERIALIZED (
      SELECT s.call, s.now_ms, s.is_opened, s.verdict, s.detail, r.id AS recipient_id,
        r.distribution_id, abs(r.inbox) AS provider_id,
        r.received_at_ms IS NULL OR r.is_waiting = 1 AS is_waiting,
        r.received_at_ms IS NOT NULL AS was_received,
        r.opened_at_ms IS NOT NULL AS was_opened,
        r.executed_at_ms IS NOT NULL OR r.refused_at_ms IS NOT NULL AS was_decided,
        r.push_state IS NOT DISTINCT FROM 1 AS is_at_gateway
      FROM report s CROSS JOIN LATERAL (
        SELECT * FROM recipient
        WHERE distribution_id = s.id AND device_id = s.device_id AND sent_at_ms IS NOT NULL
          AND (received_at_ms IS NULL OR is_waiting = 1
            OR s.is_opened AND opened_at_ms IS NULL
            OR s.verdict IS NOT NULL AND executed_at_ms IS NULL AND refused_at_ms IS NULL)
          AND EXISTS (SELECT 1 FROM device_token t
            WHERE t.token_hash = s.token_hash AND t.device_id = s.device_id
              AND CASE WHEN inbox < 0 THEN t.nobody_after_distribution_id < s.id
                ELSE EXISTS (SELECT 1 FROM device_provider p
                  WHERE p.device_id = s.device_id AND p.provider_id = inbox
                    AND p.token_id = t.id AND p.after_recipient_id < recipient.id OFFSET 0) END
            OFFSET 0)
        LIMIT 1 FOR NO KEY UPDATE) r),
    changed AS (
      UPDATE recipient r SET is_waiting = 0,
        (received_at_ms, opened_at_ms, executed_at_ms, refused_at_ms, detail) = (
          SELECT coalesce(r.received_at_ms, h.now_ms),
            coalesce(r.opened_at_ms, CASE WHEN h.is_opened THEN h.now_ms END),
            CASE WHEN h.verdict = 'executed' AND NOT h.was_decided THEN h.now_ms
              ELSE r.executed_at_ms END,
            CASE WHEN h.verdict = 'failed' AND NOT h.was_decided THEN h.now_ms
              ELSE r.refused_at_ms END,
            CASE WHEN h.verdict = 'failed' AND NOT h.was_decided THEN h.detail ELSE r.detail END
          FROM held h WHERE h.recipient_id = r.id)
      WHERE r.id = ANY(ARRAY(
        SELECT recipient_id FROM held
        WHERE call <> ALL(ARRAY(SELECT call FROM held WHERE is_at_gateway)))))
    SELECT call, distribution_id AS id, provider_id AS "providerId",
      is_waiting AS "isWaiting", was_received AS "wasReceived", was_opened AS "wasOpened",
      was_decided AS "wasDecided",
      is_at_gateway AS "isAtGateway"
    FROM held`);

/** Merges the items of a call by message. */
function reportsOf(items: readonly AckItem[]): Report[] {
  const byId = new Map<number, Report>();
  for (const { id, state, detail } of items) {
    const report = byId.get(id) ?? { id, isOpened: false, verdict: null, detail: null };
    byId.set(id, report);
    if (state === 'opened') report.isOpened = true;
    else if (state !== 'received' && report.verdict === null) {
      report.verdict = state;
      report.detail = state === 'failed' ? detail : null;
    }
  }
  return [...byId.values()];
}

/** Returns the items of a call that changed a record, as if they came one by one; counts them. */
function changesOf({ items, nowMs }: Call, rows: readonly Known[], figures: FigureCounter) {
  const known = new Map(rows.map((row) => [row.id, row]));
  return items.filter(({ id, state }) => {
    const row = known.get(id);
    if (row === undefined) return false;
    const { providerId, isWaiting, wasReceived, wasOpened, wasDecided } = row;
    const isOpening = state === 'opened' && !wasOpened;
    const isVerdict = (state === 'executed' || state === 'failed') && !wasDecided;
    if (!isWaiting && !isOpening && !isVerdict) return false;
    Object.assign(row, { isWaiting: false, wasReceived: true });
    Object.assign(row, { wasOpened: wasOpened || isOpening, wasDecided: wasDecided || isVerdict });
    if (!wasReceived) figures.note(providerId, 'received', nowMs);
    if (isOpening || isVerdict) figures.note(providerId, state, nowMs);
    return true;
  });
}

type Own = Pick<Store, 'acknowledge'>;

export function acknowledgementsInGroups({ db, figures }: Context, noun: Own): Own {
  /** Records the calls of different devices; null: the noun handles the call. */
  async function record(on: Runner, calls: readonly Call[]): Promise<(AckItem[] | null)[]> {
    const rows = calls.flatMap(({ holder, items, nowMs }, call) =>
      reportsOf(items).map((report) => {
        return { ...report, call, deviceId: holder.id, tokenHash: holder.tokenHash, nowMs };
      }),
    );
    // In the order of locks.
    rows.sort((a, b) => a.deviceId - b.deviceId || a.id - b.id);
    const known = await acknowledge.all(on, REPORTS.of(rows));
    const byCall = Map.groupBy(known, ({ call }) => call);
    return calls.map((call, n) => {
      const own = byCall.get(n) ?? [];
      return own.some(({ isAtGateway }) => isAtGateway) ? null : changesOf(call, own, figures);
    });
  }

  const calls = new TurnGroup<Call, AckItem[] | null>(db, {
    isWrite: true,
    itemsMax: CALLS_MAX,
    // The cost of a statement grows with the square of its items.
    sizes: { of: ({ items: { length } }) => length, max: ITEMS_MAX },
    run: (asked) => runInRounds(db.writing, asked, ({ holder }) => holder.id, record),
  });

  return {
    acknowledge: async (holder, items, nowMs) => {
      if (items.length === 0) return [];
      const changed = await calls.ask({ holder, items, nowMs });
      return changed ?? noun.acknowledge(holder, items, nowMs);
    },
  };
}
