/** The store on an embedded SQLite database. */

import { drizzle } from 'drizzle-orm/bun-sqlite';
import type { Store } from '../../core/store.ts';
import type { Context } from './context.ts';
import { deviceStore } from './device.ts';
import { domainStore } from './domain.ts';
import { installStore } from './install.ts';
import { openDatabase } from './open.ts';
import { providerStore } from './provider.ts';
import { finalizeAll } from './statement.ts';
import { GroupWriter } from './writer.ts';

export interface SqliteOptions {
  dataDir: string;
  /** Make or migrate the database if need be; otherwise that is refused. */
  create: boolean;
  /** The most writes in one commit. */
  commitBatchMax: number;
}

/** Opens the store. Throws `OperatorError` with the reason when it cannot. */
export function openSqliteStore({ dataDir, create, commitBatchMax }: SqliteOptions): Store {
  const db = openDatabase(dataDir, create);
  const writer = new GroupWriter(db, commitBatchMax);
  const context: Context = { db, query: drizzle({ client: db }), writer };
  return {
    ...providerStore(context),
    ...installStore(context),
    ...domainStore(context),
    ...deviceStore(context),
    close: async () => {
      await writer.idle();
      finalizeAll(db);
      db.close();
    },
  };
}
