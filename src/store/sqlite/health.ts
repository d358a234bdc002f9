/** Health of the store, read for monitors and not for requests. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../core/port/store.ts';
import { freeBytes } from '../../disk/room.ts';
import type { Context } from './context.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './file/migrate.ts';
import { DATABASE_FILE } from './file/open.ts';

type HealthStore = Pick<Store, 'checkWritable' | 'readStorageFacts' | 'readServerFacts'>;

function statements({ db }: Context) {
  return {
    schema: db.compile<{ user_version: number }>('PRAGMA user_version'),
    /** Writes the present value: SQLite writes the page nevertheless. */
    touch: db.compile(`PRAGMA application_id = ${APPLICATION_ID}`),
    pageCount: db.compile<{ page_count: number }>('PRAGMA page_count'),
    freeCount: db.compile<{ freelist_count: number }>('PRAGMA freelist_count'),
    pageSize: db.compile<{ page_size: number }>('PRAGMA page_size'),
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
      // One snapshot, and so one lock, for all three.
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
  };
}
