/**
 * Deletion of ledgers and distributions, a few rows at a time. A step that finds nothing writes
 * nothing. Rows that another node is deleting are left to that node.
 */

import type { FinishedCursor, KeepingStore } from '../../core/port/keeping.ts';
import type { Backend } from '../backend.ts';
import { cursorAt, positionOf } from '../cursor.ts';
import { columns, sql, values } from '../statement-text.ts';

type LedgerKeeping = Pick<KeepingStore, 'pruneLedger' | 'forgetDistributions'>;

/** Distributions, and rows of ledgers, that a step reads or deletes: some 5 ms on SQLite. */
const READ_COUNT = 500;
const LEDGER_COUNT = 1_000;
const PRUNE_COUNT = 200;
/**
 * Bytes of payloads that a step deletes: the database reads the pages of a long text to free them.
 */
const PRUNE_BYTES = 1024 ** 2;

/** Position among the finished distributions. */
interface FinishedPosition {
  finishedAtMs: number;
  id: number;
}

const FIRST_FINISHED: FinishedPosition = { finishedAtMs: 0, id: 0 };

interface Finished extends FinishedPosition {
  providerId: number;
  isExpired: number;
  bytes: number;
}

/** Returns the expired distributions that one step prunes, and the position after it. */
function stepOf(run: readonly Finished[], from: FinishedPosition) {
  const expired: Finished[] = [];
  let next = from;
  let bytes = 0;
  for (const row of run) {
    if (row.isExpired === 1) {
      if (expired.length === PRUNE_COUNT || bytes > PRUNE_BYTES) break;
      expired.push(row);
      bytes += row.bytes;
    }
    next = { finishedAtMs: row.finishedAtMs, id: row.id };
  }
  return { expired, next };
}

export function ledgerKeepingNoun(backend: Backend): LedgerKeeping {
  const { prepare, among, deletableUnlessBusy } = backend;
  const isPruned = sql`pruned_at_ms IS NOT NULL AND finished_at_ms < :finishedBeforeMs`;
  const on = {
    finished: prepare(sql`
        SELECT ${columns('distribution', 'id, providerId, finishedAtMs!')},
          ${values<{ isExpired: Finished['isExpired']; bytes: Finished['bytes'] }>({
            isExpired: sql`CAST(expires_at_ms <= :nowMs AS integer)`,
            bytes: sql`octet_length(payload)`,
          })}
        FROM distribution WHERE pruned_at_ms IS NULL AND finished_at_ms >= :finishedAtMs
          AND finished_at_ms < :finishedBeforeMs AND (finished_at_ms > :finishedAtMs OR id > :id)
        ORDER BY finished_at_ms, id LIMIT ${READ_COUNT}`),
    recipients: prepare(sql`
        SELECT ${columns('recipient', 'id')} FROM recipient WHERE distribution_id ${among('ids')}
        LIMIT ${LEDGER_COUNT} ${deletableUnlessBusy}`),
    dropRecipients: prepare(sql`
        DELETE FROM recipient WHERE id ${among('ids')}`),
    /**
     * The payload becomes JSON null, because the column holds JSON; a segment stays one, of all.
     */
    prune: prepare(sql`
        UPDATE distribution SET pruned_at_ms = :nowMs, payload = 'null',
          segment = CASE WHEN segment IS NOT NULL THEN '{}' END
        WHERE id ${among('ids')} AND pruned_at_ms IS NULL AND NOT EXISTS (
          SELECT 1 FROM recipient r WHERE r.distribution_id = distribution.id)`),
    oldest: prepare(sql`
        SELECT ${columns('distribution', 'id')}
        FROM distribution WHERE ${isPruned} ORDER BY finished_at_ms LIMIT 1`),
    pruned: prepare(sql`
        SELECT ${columns('distribution', 'id')} FROM distribution WHERE ${isPruned}
        ORDER BY finished_at_ms, id LIMIT ${READ_COUNT} ${deletableUnlessBusy}`),
    forget: prepare(sql`
        DELETE FROM distribution WHERE id ${among('ids')}`),
  };
  const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

  return {
    pruneLedger: async (finishedBeforeMs, nowMs, after) => {
      const from = positionOf(after, FIRST_FINISHED);
      const of = { ...from, finishedBeforeMs, nowMs };
      const found = await backend.read(() => on.finished.all(of));
      if (found.length === 0) return null;
      const { expired, next } = stepOf(found, from);
      if (expired.length === 0) return cursorAt<FinishedCursor>(next);
      const ids = idsOf(expired);
      const isRest = await backend.write(function* () {
        yield* backend.lockRows({ distribution: ids });
        const rows = yield* on.recipients.all({ ids });
        yield* on.dropRecipients.run({ ids: idsOf(rows) });
        return rows.length === LEDGER_COUNT;
      });
      if (isRest) return cursorAt<FinishedCursor>(from);
      // Their providers count them and are locked first.
      await backend.write(function* () {
        const owners = expired.map(({ providerId }) => providerId);
        yield* backend.lockRows({ provider: owners });
        yield* on.prune.run({ ids, nowMs });
      });
      return cursorAt<FinishedCursor>(next);
    },

    forgetDistributions: async (finishedBeforeMs) => {
      const oldest = await backend.read(() => on.oldest.get({ finishedBeforeMs }));
      if (oldest === null) return false;
      return backend.write(function* () {
        const ids = idsOf(yield* on.pruned.all({ finishedBeforeMs }));
        yield* on.forget.run({ ids });
        return ids.length > 0;
      });
    },
  };
}
