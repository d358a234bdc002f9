/** Messages over several nodes: what they tell each other, and steps that lose their work. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { Store } from '../../src/core/port/store.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { describePostgres } from '../support/needs.ts';
import { placeOf } from '../support/place.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { until } from '../support/until.ts';
import { addDoor, CLOCK, knock, NOW_MS } from './contract/fixture.ts';
import {
  bringTo,
  deliver,
  detailOf,
  deviceId,
  holderOf,
  LEDGER_MAX,
  lease,
  register,
  send,
  statusOf,
  to,
} from './contract/message-fixture.ts';

type Heard = (readonly number[] | 'all')[];

describePostgres('PostgreSQL: messages', () => {
  const closing: (() => Promise<void>)[] = [];
  beforeEach(() => CLOCK.set(NOW_MS));
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function openDatabase(): Promise<TestDatabase> {
    const database = await freshDatabase();
    closing.push(() => database.drop());
    return database;
  }

  async function openNode(database: TestDatabase, isPooled = false): Promise<Store> {
    const options = { dataDir: '', create: false, commitBatchMax: 1024, clock: CLOCK };
    const place = { ...placeOf(database.url), isPooled };
    const store = await openPostgresStore(options, place);
    closing.push(() => store.close());
    return store;
  }

  /** Watches, and hears everybody called at first: what was told before was for nobody. */
  async function listen(store: Store): Promise<Heard> {
    const heard: Heard = [];
    const stop = store.watch((deviceIds) => heard.push(deviceIds));
    closing.push(async () => stop());
    await until('told of everybody', () => heard.includes('all'));
    heard.length = 0;
    return heard;
  }

  const listeners = (database: TestDatabase) => database.sql`
    SELECT pid FROM pg_stat_activity WHERE datname = ${database.name} AND query LIKE 'LISTEN %'`;

  test('a node hears at once whose inboxes another one filled, and of no others', async () => {
    const database = await openDatabase();
    const [store, beside] = [await openNode(database), await openNode(database)];
    const { providerId } = await addDoor(store);
    for (const hwid of ['a', 'b']) await knock(store, hwid);
    const ids = [await deviceId(store, providerId, 'a'), await deviceId(store, providerId, 'b')];
    const [heard, own] = [await listen(store), await listen(beside)];
    await deliver(beside, providerId, to('b'));
    await until('told', () => heard.length > 0);
    expect(heard).toEqual([[ids[1] ?? 0]]);
    const holder = await holderOf(beside, 'a');
    heard.length = 0;
    await register(beside, 'a', undefined, holder);
    await until('told', () => heard.length > 0);
    expect(heard).toEqual([[ids[0] ?? 0]]);
    expect(own).toEqual([]);
  });

  test('who lost the connection listens again, and looks for everybody', async () => {
    const database = await openDatabase();
    const [store, beside] = [await openNode(database), await openNode(database)];
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    const heard = await listen(store);
    const [before] = await listeners(database);
    await database.sql`SELECT pg_terminate_backend(${before.pid})`;
    await until('listening again', async () => {
      CLOCK.advance(1_000);
      const [after] = await listeners(database);
      return after !== undefined && after.pid !== before.pid && heard.includes('all');
    });
    heard.length = 0;
    await deliver(beside, providerId, to('a'));
    const id = await deviceId(store, providerId, 'a');
    await until('told', () => heard.some((ids) => ids !== 'all' && ids.includes(id)));
  });

  test('who hears nothing for long makes sure that it is not deaf', async () => {
    const database = await openDatabase();
    const store = await openNode(database);
    await listen(store);
    const [before] = await listeners(database);
    // It hears itself: nothing is opened anew, however long it is quiet.
    for (let seconds = 0; seconds < 90; seconds++) {
      CLOCK.advance(1_000);
      await until('looked', async () => (await store.findNextDueMs()) === null);
    }
    expect(await listeners(database)).toEqual([before]);
  });

  test('behind a pooler that passes on nothing, messages are looked for', async () => {
    const database = await openDatabase();
    const [store, beside] = [await openNode(database, true), await openNode(database)];
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    const heard: Heard = [];
    const stop = store.watch((deviceIds) => heard.push(deviceIds));
    closing.push(async () => stop());
    await deliver(beside, providerId, to('a'));
    CLOCK.advance(1_000);
    await until('told', () => heard.includes('all'));
    // The connection that heard nothing may still be on its way out.
    await until('deaf', async () => (await listeners(database)).length === 0);
  });

  test('nobody who watches leaves the database alone', async () => {
    const database = await openDatabase();
    const store = await openNode(database);
    const stop = store.watch(() => undefined);
    await until('listening', async () => (await listeners(database)).length > 0);
    stop();
    await until('gone', async () => (await listeners(database)).length === 0);
  });

  test('two steps of the same worker at once count named devices once', async () => {
    const database = await openDatabase();
    const stores = [await openNode(database), await openNode(database)] as const;
    const { providerId } = await addDoor(stores[0]);
    await knock(stores[0], 'a');
    const id = await send(stores[0], providerId, to('a', 'nobody'));
    await bringTo(stores[0], id, 5);
    // The first waits for the provider after it has read where to continue, the second for the
    // first.
    const { loads } = await database.sql.begin(async (tx) => {
      await tx`SELECT id FROM provider WHERE id = ${providerId} FOR UPDATE`;
      const loads = stores.map((store) => store.loadRecipients(lease(id), LEDGER_MAX));
      await until('both wait', async () => {
        const [row] = await tx`
          SELECT count(DISTINCT w.pid)::int AS count
          FROM pg_locks w JOIN pg_locks own ON own.pid = w.pid AND NOT w.granted
          WHERE own.database = (SELECT oid FROM pg_database WHERE datname = ${database.name})`;
        return row.count === 2;
      });
      return { loads };
    });
    expect((await Promise.all(loads)).filter((one) => one !== null)).toHaveLength(1);
    const { recipientCount, failedCount } = (await detailOf(stores[0], id)).distribution;
    expect([recipientCount, failedCount]).toEqual([2, 1]);
  });

  test('what is removed while a step writes its recipients leaves none behind', async () => {
    const database = await openDatabase();
    const store = await openNode(database);
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    const id = await send(store, providerId);
    await bringTo(store, id, 5);
    const { sql } = database;
    const removed = await sql.begin(async (tx) => {
      await tx`DELETE FROM distribution WHERE id = ${id}`;
      const loading = store.loadRecipients(lease(id), LEDGER_MAX);
      await until('waiting', async () => {
        const [row] = await tx`SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted`;
        return row.count > 0;
      });
      return { loading };
    });
    expect(await removed.loading).toBeNull();
    expect(await sql`SELECT id FROM recipient`).toEqual([]);
  });

  test('who lost it while writing recipients takes them back', async () => {
    const database = await openDatabase();
    const store = await openNode(database);
    const { providerId } = await addDoor(store);
    await knock(store, 'a');
    const id = await send(store, providerId);
    await bringTo(store, id, 5);
    const { sql } = database;
    const { loading } = await sql.begin(async (tx) => {
      await tx`UPDATE distribution SET lease_owner = 'another' WHERE id = ${id}`;
      const loading = store.loadRecipients(lease(id), LEDGER_MAX);
      await until('waiting', async () => {
        const [row] = await tx`SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted`;
        return row.count > 0;
      });
      return { loading };
    });
    expect(await loading).toBeNull();
    expect(await sql`SELECT id FROM recipient`).toEqual([]);
    expect(await statusOf(store, id)).toBe(5);
  });
});
