/** Where a test's data are, so that another process opens them too: a folder, or a database. */

import { hostname } from 'node:os';
import type { Store } from '../../src/core/port/store.ts';
import type { StoreOptions } from '../../src/store/kind.ts';
import type { DatabaseOptions } from '../../src/store/postgres/database-options.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

export interface Place {
  dataDir: string;
  /** The database of a PostgreSQL; null: it is a file in that folder. */
  databaseUrl: string | null;
}

/** The kind of store that the appliances of this run have. */
export const STORE: 'sqlite' | 'postgres' =
  process.env['TEST_STORE'] === 'postgres' ? 'postgres' : 'sqlite';

/** The connections of a store whose own calls race. */
export const CONNECTIONS = 4;
/**
 * Those of a store for one short test. PostgreSQL starts a process for each: with four, such tests
 * take 1.4 times the processor time.
 */
export const FEW_CONNECTIONS = 2;

/** Opens the store there. The caller closes it. */
export function openPlace(
  { dataDir, databaseUrl }: Place,
  { connections, ...more }: Partial<StoreOptions> & { connections?: number } = {},
): Promise<Store> {
  const options = { dataDir, create: false, commitBatchMax: 1024, ...more };
  if (databaseUrl === null) return openSqliteStore(options);
  return openPostgresStore(options, placeOf(databaseUrl, connections));
}

/** The way to a database of the tests. */
export function placeOf(url: string, connections = CONNECTIONS): DatabaseOptions {
  const { hostname: host, port, username: user, pathname } = new URL(url);
  return {
    host,
    port: Number(port),
    socket: null,
    user,
    database: pathname.slice(1),
    password: () => null,
    tls: null,
    connections,
    statementMs: 10_000,
    isPooled: false,
    set: process.env['STORE_SET'] !== 'off',
    node: hostname(),
  };
}
