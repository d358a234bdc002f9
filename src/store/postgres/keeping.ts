/**
 * Housekeeping: ledgers, what was sent, and devices that belong to nobody. Always a few at a time;
 * a look that finds nothing writes nothing. Nodes do it beside each other: what another one has in
 * hand is left to it.
 */

import { sql } from 'drizzle-orm';
import type { FinishedCursor, KeepingStore } from '../../core/port/keeping.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import type { Context } from './context.ts';
import { prepare, value } from './statement.ts';
import { strangerKeeping } from './stranger.ts';

type LedgerKeeping = Pick<KeepingStore, 'pruneLedger' | 'forgetDistributions'>;

/** Distributions, or rows of a ledger, that a step looks at or deletes. */
const LOOK_COUNT = 500;
const LEDGER_COUNT = 2_000;
const PRUNE_COUNT = 200;
/** Bytes of payloads that a step frees. */
const PRUNE_BYTES = 1024 ** 2;

/** Position of a look at what has finished. */
interface FinishedPosition {
  finishedAtMs: number;
  id: number;
}

const FIRST_FINISHED: FinishedPosition = { finishedAtMs: 0, id: 0 };

interface Finished extends FinishedPosition {
  providerId: number;
  isExpired: boolean;
  bytes: number;
}

/** The distributions of a step, and where the next one goes on. */
interface Step {
  expired: Finished[];
  next: FinishedPosition;
}

const ALL = sql`id = ANY(${value('ids')}::bigint[])`;

const on = {
  finished: prepare<Finished>(sql`
      SELECT id, provider_id AS "providerId", finished_at_ms AS "finishedAtMs",
        expires_at_ms <= ${value('nowMs')} AS "isExpired", octet_length(payload) AS bytes
      FROM distribution
      WHERE pruned_at_ms IS NULL AND finished_at_ms < ${value('finishedBeforeMs')}
        AND (finished_at_ms, id) > (${value('finishedAtMs')}::bigint, ${value('id')}::bigint)
      ORDER BY finished_at_ms, id LIMIT ${LOOK_COUNT}`),
  holdDistributions: prepare(sql`
      SELECT id FROM distribution WHERE ${ALL} ORDER BY id FOR NO KEY UPDATE`),
  dropRecipients: prepare(sql`
      DELETE FROM recipient WHERE id = ANY(ARRAY(
        SELECT id FROM recipient
        WHERE distribution_id = ANY(${value('ids')}::bigint[])
        LIMIT ${LEDGER_COUNT} FOR UPDATE SKIP LOCKED))`),
  holdProviders: prepare(sql`
      SELECT id FROM provider WHERE ${ALL} ORDER BY id FOR NO KEY UPDATE`),
  /** The payload becomes JSON's null, as a payload is JSON. */
  pruned: prepare(sql`
      UPDATE distribution x SET pruned_at_ms = ${value('nowMs')}, payload = 'null'
      WHERE ${ALL} AND pruned_at_ms IS NULL
        AND NOT EXISTS (SELECT 1 FROM recipient r WHERE r.distribution_id = x.id)`),
  oldest: prepare<{ id: number }>(sql`
      SELECT id FROM distribution
      WHERE pruned_at_ms IS NOT NULL AND finished_at_ms < ${value('finishedBeforeMs')}
      ORDER BY finished_at_ms LIMIT 1`),
  forget: prepare(sql`
      DELETE FROM distribution WHERE id = ANY(ARRAY(
        SELECT id FROM distribution
        WHERE pruned_at_ms IS NOT NULL AND finished_at_ms < ${value('finishedBeforeMs')}
        ORDER BY finished_at_ms, id LIMIT ${LOOK_COUNT} FOR UPDATE SKIP LOCKED))`),
};

/** As much of a run as one step takes. */
function stepOf(run: readonly Finished[], from: FinishedPosition): Step {
  const expired: Finished[] = [];
  let next = from;
  let bytes = 0;
  for (const row of run) {
    if (row.isExpired) {
      if (expired.length === PRUNE_COUNT || bytes > PRUNE_BYTES) break;
      expired.push(row);
      bytes += row.bytes;
    }
    next = { finishedAtMs: row.finishedAtMs, id: row.id };
  }
  return { expired, next };
}

function ledgerKeeping({ db, write }: Context): LedgerKeeping {
  return {
    pruneLedger: async (finishedBeforeMs, nowMs, after) => {
      const from = positionOf(after, FIRST_FINISHED);
      const found = await on.finished.all(db, { ...from, finishedBeforeMs, nowMs });
      if (found.length === 0) return null;
      const { expired, next } = stepOf(found, from);
      const ids = expired.map(({ id }) => id);
      if (ids.length === 0) return cursorAt<FinishedCursor>(next);
      const isRest = await write(async (w) => {
        await on.holdDistributions.run(w, { ids });
        return (await on.dropRecipients.run(w, { ids })) === LEDGER_COUNT;
      });
      if (isRest) return cursorAt<FinishedCursor>(from);
      // Counted at their providers, which are locked before them.
      await write(async (w) => {
        await on.holdProviders.run(w, { ids: expired.map(({ providerId }) => providerId) });
        await on.pruned.run(w, { ids, nowMs });
      });
      return cursorAt<FinishedCursor>(next);
    },

    forgetDistributions: async (finishedBeforeMs) => {
      if ((await on.oldest.get(db, { finishedBeforeMs })) === null) return false;
      return write(async (w) => (await on.forget.run(w, { finishedBeforeMs })) > 0);
    },
  };
}

export function keepingStore(context: Context): KeepingStore {
  return { ...ledgerKeeping(context), ...strangerKeeping(context) };
}
