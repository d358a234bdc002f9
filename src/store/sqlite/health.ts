/** Health of the store, read for monitors and not for requests. */

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../core/port/store.ts';
import { freeBytes } from '../../disk/room.ts';
import type { Context } from './context.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './file/migrate.ts';
import { DATABASE_FILE } from './file/open.ts';

type HealthStore = Pick<Store, 'checkWritable' | 'readStorageFacts' | 'readServerFacts'>;

export function healthStore(context: Context, dataDir: string): HealthStore {
  const { db, writer } = context;
  const schema = db.compile<{ user_version: number }>('PRAGMA user_version');
  /** Writes the value that is there already: SQLite writes the page nevertheless. */
  const touch = db.compile(`PRAGMA application_id = ${APPLICATION_ID}`);
  const size = db.compile<{ bytes: number; freeBytes: number }>(
    `SELECT page_count * page_size AS bytes, freelist_count * page_size AS freeBytes
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  const log = join(dataDir, `${DATABASE_FILE}-wal`);

  return {
    checkWritable: () =>
      writer.run(() => {
        if (schema.get()?.user_version !== SCHEMA_VERSION) return 'schema_changed';
        touch.run();
        return 'ok';
      }),

    readStorageFacts: async () => {
      db.read();
      return {
        ...(size.get() ?? { bytes: 0, freeBytes: 0 }),
        logBytes: statSync(log, { throwIfNoEntry: false })?.size ?? 0,
        diskFreeBytes: freeBytes(dataDir),
      };
    },

    readServerFacts: async () => null,
  };
}
