/** Health of the store: asked by a monitor, not by a request. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type SQL, sql } from 'drizzle-orm';
import type { QueueFacts } from '../../core/port/health.ts';
import type { Store } from '../../core/port/store.ts';
import { nextTurn } from '../../core/turn.ts';
import { freeBytes } from '../../disk/room.ts';
import { IN_DELIVERY, IN_LANE, unscheduled } from '../status.ts';
import type { Connection } from './connection.ts';
import type { Context } from './context.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './file/migrate.ts';
import { DATABASE_FILE } from './file/open.ts';
import { value } from './statement.ts';

type HealthStore = Pick<
  Store,
  'checkWritable' | 'readStorageFacts' | 'readServerFacts' | 'readQueueFacts'
>;

/** Distributions that are counted before everybody else has a turn: some 2 ms. */
const QUEUE_STEP = 2_000;

interface QueueCursor {
  providerId: number;
  dueAtMs: number;
  id: number;
}

/** A step along the index of what has not ended, and where it ends; null: with the last. */
function queueStatements(db: Connection, after: SQL) {
  const rows = sql`FROM distribution WHERE ${IN_LANE} AND ${after}
    ORDER BY provider_id, due_at_ms, id`;
  return {
    facts: db.prepare<QueueFacts>(sql`
        SELECT count(*) FILTER (WHERE is_due) AS "dueCount",
          count(*) FILTER (WHERE NOT is_due) AS "scheduledCount",
          min(due_at_ms) FILTER (WHERE is_due) AS "oldestDueAtMs",
          coalesce(sum(recipient_count - sent_count - failed_count)
            FILTER (WHERE status IN ${IN_DELIVERY}), 0) AS "recipientCount"
        FROM (SELECT status, due_at_ms, recipient_count, sent_count, failed_count,
                due_at_ms <= ${value('nowMs')} OR ${unscheduled()}
                  OR status IN ${IN_DELIVERY} AS is_due
              ${rows} LIMIT ${QUEUE_STEP})`),
    end: db.prepare<QueueCursor>(sql`
        SELECT provider_id AS "providerId", due_at_ms AS "dueAtMs", id
        ${rows} LIMIT 1 OFFSET ${QUEUE_STEP - 1}`),
  };
}

type QueueStatements = ReturnType<typeof queueStatements>;

function statements({ db }: Context) {
  return {
    schema: db.compile<{ user_version: number }>('PRAGMA user_version'),
    /** Writes what is there already: SQLite writes the page all the same. */
    touch: db.compile(`PRAGMA application_id = ${APPLICATION_ID}`),
    pageCount: db.compile<{ page_count: number }>('PRAGMA page_count'),
    freeCount: db.compile<{ freelist_count: number }>('PRAGMA freelist_count'),
    pageSize: db.compile<{ page_size: number }>('PRAGMA page_size'),
    inGroup: queueStatements(
      db,
      sql`provider_id = ${value('providerId')}
      AND due_at_ms = ${value('dueAtMs')} AND id > ${value('id')}`,
    ),
    behindGroup: queueStatements(
      db,
      sql`(provider_id, due_at_ms)
      > (${value('providerId')}, ${value('dueAtMs')})`,
    ),
  };
}

export function healthStore(context: Context, dataDir: string): HealthStore {
  const { db, writer } = context;
  const on = statements(context);
  const log = join(dataDir, `${DATABASE_FILE}-wal`);

  return {
    checkWritable: () =>
      writer.run(() => {
        if (on.schema.get()?.user_version !== SCHEMA_VERSION) return 'schema_changed';
        on.touch.run();
        return 'ok';
      }),

    readStorageFacts: async () => {
      // One snapshot, and one lock for the three of them.
      db.read();
      const pageBytes = on.pageSize.get()?.page_size ?? 0;
      return {
        bytes: (on.pageCount.get()?.page_count ?? 0) * pageBytes,
        freeBytes: (on.freeCount.get()?.freelist_count ?? 0) * pageBytes,
        logBytes: statSync(log, { throwIfNoEntry: false })?.size ?? 0,
        diskFreeBytes: freeBytes(dataDir),
      };
    },

    readServerFacts: async () => null,

    readQueueFacts: async (nowMs) => {
      const facts: QueueFacts = {
        ...{ dueCount: 0, scheduledCount: 0, recipientCount: 0 },
        oldestDueAtMs: null,
      };
      let at: QueueCursor = { providerId: 0, dueAtMs: 0, id: 0 };
      // Many may be due at the same time: first the rest of those, then what is behind them.
      for (let isInGroup = true; ; await nextTurn()) {
        const step: QueueStatements = isInGroup ? on.inGroup : on.behindGroup;
        const found = step.facts.get({ nowMs, ...at });
        if (found === null) throw new Error('a query of sums has no row');
        facts.dueCount += found.dueCount;
        facts.scheduledCount += found.scheduledCount;
        facts.recipientCount += found.recipientCount;
        facts.oldestDueAtMs = earlier(facts.oldestDueAtMs, found.oldestDueAtMs);
        const end: QueueCursor | null = step.end.get({ ...at });
        if (end === null && !isInGroup) break;
        isInGroup = end !== null;
        at = end ?? at;
      }
      return facts;
    },
  };
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
