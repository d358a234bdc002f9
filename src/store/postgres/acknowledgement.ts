/**
 * What devices say of their messages. The calls of a turn are one statement; one that is about a
 * message which a gateway still has takes its push out of the outbox, in a transaction.
 */

import { sql } from 'drizzle-orm';
import type { Figure } from '../../core/port/figure.ts';
import type { AckItem, TokenHolder } from '../../core/port/inbox.ts';
import type { Store } from '../../core/port/store.ts';
import { pushSteps } from '../noun/push-steps.ts';
import type { Context } from './context.ts';
import { runOn, STATEMENTS } from './dialect.ts';
import { TurnGroup } from './group.ts';
import { inRounds } from './rounds.ts';
import { prepare, type Runner, value } from './statement.ts';

/** Calls that are taken together. */
const CALLS_MAX = 100;
/** Items of one statement, beyond those of one call: their number counts by its square. */
const ITEMS_MAX = 200;

/** What a device says of one message: everything that one call says of it. */
interface Saying {
  id: number;
  isOpened: boolean;
  /** The first of both; null: neither. */
  verdict: 'executed' | 'failed' | null;
  detail: string | null;
}

interface Call {
  holder: TokenHolder;
  items: readonly AckItem[];
  nowMs: number;
}

/** A message of which something new was said, and what was known of it before. */
interface News {
  call: number;
  id: number;
  providerId: number;
  /** Nobody said anything of it yet, or it came back into the inbox. */
  isWaiting: boolean;
  wasReceived: boolean;
  wasOpened: boolean;
  wasDecided: boolean;
  isAtGateway: boolean;
}

/**
 * Notes what devices say. Set once, never unset: an acknowledgement that comes twice or late
 * changes nothing. The calls of which a message still waits for a gateway are left alone unless
 * `takesPushes`.
 */
const acknowledge = prepare<News>(sql`
    WITH said AS MATERIALIZED (
      SELECT * FROM unnest(${value('calls')}::integer[], ${value('deviceIds')}::bigint[],
        ${value('tokenHashes')}::bytea[], ${value('nowMs')}::bigint[], ${value('ids')}::bigint[],
        ${value('opened')}::boolean[], ${value('verdicts')}::text[], ${value('details')}::text[])
        AS s (call, device_id, token_hash, now_ms, id, is_opened, verdict, detail)),
    held AS MATERIALIZED (
      SELECT s.call, s.now_ms, s.is_opened, s.verdict, s.detail, r.id AS recipient_id,
        r.distribution_id, abs(r.inbox) AS provider_id,
        r.received_at_ms IS NULL OR r.is_waiting = 1 AS is_waiting,
        r.received_at_ms IS NOT NULL AS was_received,
        r.opened_at_ms IS NOT NULL AS was_opened,
        r.executed_at_ms IS NOT NULL OR r.refused_at_ms IS NOT NULL AS was_decided,
        r.push_state IS NOT DISTINCT FROM 1 AS is_at_gateway
      FROM said s CROSS JOIN LATERAL (
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
        WHERE ${value('takesPushes')}::boolean
          OR call <> ALL(ARRAY(SELECT call FROM held WHERE is_at_gateway)))))
    SELECT call, distribution_id AS id, provider_id AS "providerId",
      is_waiting AS "isWaiting", was_received AS "wasReceived", was_opened AS "wasOpened",
      was_decided AS "wasDecided",
      is_at_gateway AS "isAtGateway"
    FROM held`);

/** What a call says of each message, all in all. */
function sayingsOf(items: readonly AckItem[]): Saying[] {
  const byId = new Map<number, Saying>();
  for (const { id, state, detail } of items) {
    const said = byId.get(id) ?? { id, isOpened: false, verdict: null, detail: null };
    byId.set(id, said);
    if (state === 'opened') said.isOpened = true;
    else if (state !== 'received' && said.verdict === null) {
      said.verdict = state;
      said.detail = state === 'failed' ? detail : null;
    }
  }
  return [...byId.values()];
}

/** Runs the statement for some calls of different devices; the news of each. */
async function say(runner: Runner, calls: readonly Call[], takesPushes: boolean) {
  const rows = calls.flatMap(({ holder, items, nowMs }, call) =>
    sayingsOf(items).map((saying) => ({ ...saying, holder, call, nowMs })),
  );
  // In the order in which rows are locked everywhere.
  rows.sort((a, b) => a.holder.id - b.holder.id || a.id - b.id);
  const news = await acknowledge.all(runner, {
    calls: rows.map(({ call }) => call),
    deviceIds: rows.map(({ holder }) => holder.id),
    tokenHashes: rows.map(({ holder }) => holder.tokenHash),
    nowMs: rows.map(({ nowMs }) => nowMs),
    ids: rows.map(({ id }) => id),
    opened: rows.map(({ isOpened }) => isOpened),
    verdicts: rows.map(({ verdict }) => verdict),
    details: rows.map(({ detail }) => detail),
    takesPushes,
  });
  const byCall = calls.map((): News[] => []);
  for (const row of news) byCall[row.call]?.push(row);
  return byCall;
}

/** Cuts calls into runs of so many items that one statement finds them among themselves. */
function runsOf(calls: readonly Call[]): Call[][] {
  const runs: Call[][] = [[]];
  let count = 0;
  for (const call of calls) {
    count += call.items.length;
    if (count > ITEMS_MAX && runs.at(-1)?.length !== 0) {
      runs.push([]);
      count = call.items.length;
    }
    runs.at(-1)?.push(call);
  }
  return runs;
}

/** Whatever counts: a write, or the figures of the process for what is saved already. */
interface Counting {
  note(providerId: number, figure: Figure, atMs: number): void;
}

/** The items of a call that changed something, as if they came one after the other; counts them. */
function changesOf({ items, nowMs }: Call, news: readonly News[], figures: Counting): AckItem[] {
  const known = new Map(news.map((row) => [row.id, row]));
  return items.filter(({ id, state }) => {
    const row = known.get(id);
    if (row === undefined) return false;
    const { providerId, isWaiting, wasReceived, wasOpened, wasDecided } = row;
    const isOpening = state === 'opened' && !wasOpened;
    const isVerdict = (state === 'executed' || state === 'failed') && !wasDecided;
    if (!isWaiting && !isOpening && !isVerdict) return false;
    known.set(id, {
      ...row,
      isWaiting: false,
      wasReceived: true,
      wasOpened: wasOpened || isOpening,
      wasDecided: wasDecided || isVerdict,
    });
    if (!wasReceived) figures.note(providerId, 'received', nowMs);
    if (isOpening || isVerdict) figures.note(providerId, state, nowMs);
    return true;
  });
}

const pushes = pushSteps(STATEMENTS);

/** Returns the method of the store. */
export function acknowledger(context: Context): Store['acknowledge'] {
  const { db } = context;

  /** Null: a gateway still has a message that the call is about. */
  async function acknowledgeAll(calls: readonly Call[]): Promise<(AckItem[] | null)[]> {
    const changes: (AckItem[] | null)[] = [];
    for (const run of runsOf(calls)) {
      const news = await say(db.writing, run, false);
      for (const [n, call] of run.entries()) {
        const own = news[n] ?? [];
        const isPlain = own.every(({ isAtGateway }) => !isAtGateway);
        changes.push(isPlain ? changesOf(call, own, context.figures) : null);
      }
    }
    return changes;
  }

  const calls = new TurnGroup<Call, AckItem[] | null>(db, {
    isWrite: true,
    itemsMax: CALLS_MAX,
    run: (asked) => inRounds(asked, ({ holder }) => holder.id, acknowledgeAll),
  });

  /** Who has fetched a message needs no push any more, however long its gateway is stopped. */
  function acknowledgePushed(call: Call): Promise<AckItem[]> {
    const { holder, nowMs } = call;
    return context.write(async (w) => {
      await runOn(w, pushes.lock(call.items.map(({ id }) => id)));
      const [news = []] = await say(w, [call], true);
      const atGateways = news.filter(({ isAtGateway }) => isAtGateway).map(({ id }) => id);
      await runOn(w, pushes.reach(w.notes, holder.id, atGateways, nowMs));
      return changesOf(call, news, w.figures);
    });
  }

  return async (holder, items, nowMs) => {
    if (items.length === 0) return [];
    const call = { holder, items, nowMs };
    return (await calls.ask(call)) ?? acknowledgePushed(call);
  };
}
