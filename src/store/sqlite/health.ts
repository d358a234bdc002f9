/** How the store is: what is asked of it by a monitor, not by a request. */

import { statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { QueueFacts, Store } from '../../core/store.ts';
import { type Context, value } from './context.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './migrate.ts';
import { DATABASE_FILE } from './open.ts';
import { raw } from './raw.ts';
import { prepare } from './statement.ts';
import { FINAL, IN_DELIVERY } from './status.ts';

type HealthStore = Pick<Store, 'checkWritable' | 'storageFacts' | 'queueFacts'>;

function statements({ db }: Context) {
  return {
    schema: db.compile<{ user_version: number }>('PRAGMA user_version'),
    /** Writes what is there already: SQLite writes the page all the same. */
    touch: db.compile(`PRAGMA application_id = ${APPLICATION_ID}`),
    pageCount: db.compile<{ page_count: number }>('PRAGMA page_count'),
    freeCount: db.compile<{ freelist_count: number }>('PRAGMA freelist_count'),
    pageSize: db.compile<{ page_size: number }>('PRAGMA page_size'),
    /** Over the index of what has not ended, whatever the number of distributions. */
    queue: prepare(
      db,
      raw<QueueFacts>(sql`
        SELECT count(*) FILTER (WHERE is_due) AS "dueCount",
          count(*) FILTER (WHERE NOT is_due) AS "scheduledCount",
          min(due_at_ms) FILTER (WHERE is_due) AS "oldestDueAtMs",
          coalesce(sum(recipient_count - sent_count - failed_count)
            FILTER (WHERE status IN ${IN_DELIVERY}), 0) AS "recipientCount"
        FROM (SELECT status, due_at_ms, recipient_count, sent_count, failed_count,
                due_at_ms <= ${value('nowMs')} OR is_scheduled = 0 OR status IN ${IN_DELIVERY}
                  AS is_due
              FROM distribution WHERE status < ${FINAL})`),
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

    storageFacts: async () => {
      // One snapshot, and one lock for the three of them.
      db.read();
      const pageBytes = on.pageSize.get()?.page_size ?? 0;
      const disk = statfsSync(dataDir);
      return {
        bytes: (on.pageCount.get()?.page_count ?? 0) * pageBytes,
        freeBytes: (on.freeCount.get()?.freelist_count ?? 0) * pageBytes,
        logBytes: statSync(log, { throwIfNoEntry: false })?.size ?? 0,
        // What is left to a program without special rights.
        diskFreeBytes: disk.bavail * disk.bsize,
      };
    },

    queueFacts: async (nowMs) => {
      const found = on.queue.get({ nowMs });
      if (found === null) throw new Error('a query of sums has no row');
      return found;
    },
  };
}
