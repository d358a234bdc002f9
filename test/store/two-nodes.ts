/** A fresh database of PostgreSQL for each test of a file, and stores that are nodes on it. */

import { afterEach, beforeEach, expect } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import { openPlace } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { CLOCK } from './contract/fixture.ts';

/** Counts that triggers keep, of rows that do not have as many. */
const UNTRUE = `
  SELECT 'link' AS of, id FROM install i WHERE device_count <>
    (SELECT count(*) FROM install_device s WHERE s.install_id = i.id)
  UNION ALL
  SELECT 'links', id FROM provider o WHERE install_count <>
    (SELECT count(*) FROM install i WHERE i.provider_id = o.id)
  UNION ALL
  SELECT 'ends', id FROM provider o WHERE slot_end_count <>
    (SELECT count(*) FROM slot_end e WHERE e.provider_id = o.id)
  UNION ALL
  SELECT 'slots', device_id FROM device_provider p WHERE slot_count <>
    (SELECT count(*) FROM install_device s
     WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id)
  UNION ALL
  SELECT 'holders', id FROM device d WHERE holder_count <>
    (SELECT count(*) FROM device_provider p
     WHERE p.device_id = d.id AND p.slot_count + p.tie_count > 0)`;

/** For a `describe`: what a test finds at its time. After each, counts hold and none deadlocked. */
export function useNodes(): { database: TestDatabase; store: Store; open(): Promise<Store> } {
  let database: TestDatabase;
  let store: Store;
  let nodes: Store[] = [];
  let deadlocksBefore: number;
  /** Counts those of connections that have ended: others may report theirs later. */
  const deadlockCount = async (): Promise<number> => {
    const [row] = await database.sql.unsafe(
      `SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = '${database.name}'`,
    );
    return row.count;
  };
  const open = async () => {
    const opened = await openPlace({ dataDir: '', databaseUrl: database.url }, { clock: CLOCK });
    nodes.push(opened);
    return opened;
  };
  beforeEach(async () => {
    database = await freshDatabase();
    nodes = [];
    deadlocksBefore = await deadlockCount();
    store = await open();
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    expect(Array.from(await database.sql.unsafe(UNTRUE))).toEqual([]);
    // A database serves several tests. The fault is that of the test in which the count grew.
    expect(await deadlockCount()).toBe(deadlocksBefore);
    await database.drop();
  });
  return {
    get database() {
      return database;
    },
    get store() {
      return store;
    },
    open,
  };
}
