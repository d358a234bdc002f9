/** Health of the store, for monitors. */

import type { HealthStore, ServerFacts, Unfitness } from '../../core/port/health.ts';
import { isAway, WriteFailed } from '../../core/port/store.ts';
import { sql } from '../statement-text.ts';
import { banOf, MARKS, type Marks } from './migrate.ts';
import type { Self } from './node.ts';
import { prepare } from './statement.ts';
import type { Context } from './write.ts';

/** Most difference of clocks at which leases are safe, ms. */
const CLOCK_OFF_MS = 2_000;
/** Silence after which a node counts as away: each writes every 5 s, ms. */
const SILENT_MS = 15_000;
/** Most entries of the audit log that are counted. */
const AUDIT_COUNT_MAX = 10_000;

const on = {
  /** Fails if nothing can be changed, also while this process is no node. */
  touch: prepare<Marks>(sql`
      WITH touched AS (
        UPDATE node SET seen_at_ms = :nowMs WHERE id = :id RETURNING 1)
      SELECT ${MARKS} FROM gatepost_schema`),
  bytes: prepare<{ bytes: number }>(sql`
      SELECT pg_database_size(current_database()) AS bytes`),
  server: prepare<Omit<ServerFacts, 'clockOffsetMs'>>(sql`
      SELECT
        (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())
          AS "connectionCount",
        current_setting('max_connections')::bigint AS "connectionCountMax",
        (SELECT count(*) FROM (SELECT FROM audit_pending LIMIT ${AUDIT_COUNT_MAX}) waiting)
          AS "auditPendingCount",
        (SELECT count(*) FROM node WHERE seen_at_ms >= :nowMs::bigint - ${SILENT_MS})
          AS "nodeCount"`),
};

export function healthStore(
  { db, storeNowMs }: Context,
  self: Self,
): Omit<HealthStore, 'readQueueFacts'> {
  async function touch(): Promise<'ok' | Unfitness> {
    const row = await on.touch.get(db.writing, { id: self.nodeId ?? 0, nowMs: storeNowMs() });
    const ban = banOf(row);
    if (ban !== null) {
      db.ban(ban);
      return ban;
    }
    return Math.abs(self.clock.offsetMs) > CLOCK_OFF_MS ? 'clock_off' : 'ok';
  }

  return {
    checkWritable: async () => {
      try {
        const found = await touch();
        // Other calls may have met an error that one small write does not meet.
        if (db.outage === null) return found;
      } catch (fault) {
        if (!isAway(fault)) throw fault;
        if (db.outage === null) return 'database_unreachable';
      }
      const { reason, problem } = db.outage;
      if (reason === null) throw new WriteFailed(problem);
      return reason;
    },

    // The server has its own monitoring of log and disk.
    readStorageFacts: async () => ({
      bytes: (await on.bytes.get(db))?.bytes ?? null,
      freeBytes: null,
      logBytes: null,
      diskFreeBytes: null,
    }),

    readServerFacts: async () => {
      const facts = await on.server.get(db, { nowMs: storeNowMs() });
      return facts && { ...facts, clockOffsetMs: self.clock.offsetMs };
    },
  };
}
