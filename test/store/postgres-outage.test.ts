/** Outages of PostgreSQL, by what calls meet: told once, shown by readiness, over when they end. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { SQL } from 'bun';
import { systemClock } from '../../src/clock.ts';
import { isAway, type Store, WriteFailed } from '../../src/core/port/store.ts';
import { makeLog } from '../../src/log.ts';
import { Outages } from '../../src/monitor/outages.ts';
import { Readiness } from '../../src/monitor/readiness.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { poolOptions } from '../../src/store/postgres/database-options.ts';
import { TurnGroup } from '../../src/store/postgres/group.ts';
import { SCHEMA_VERSION } from '../../src/store/postgres/migrate.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { openPlace, placeOf } from '../support/place.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { startRelay } from '../support/relay.ts';
import { MAY_MOUNT, mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { addProvider, installDraft } from './contract/fixture.ts';

/** As whom PostgreSQL runs if the tests run as root. */
const NOBODY = 65_534;
const CONNECTIONS_MAX = 20;

describePostgres('an outage of PostgreSQL', () => {
  let server: OwnPostgres;
  let database: TestDatabase;
  let store: Store;
  let readiness: Readiness;
  let lines: string[];
  const opened: Database[] = [];

  beforeAll(async () => {
    server = await startPostgres({
      max_connections: String(CONNECTIONS_MAX),
      superuser_reserved_connections: '5',
    });
  }, 60_000);
  afterAll(() => server.stop('crash'));
  beforeEach(async () => {
    database = await freshDatabase(server);
    lines = [];
    const log = makeLog(
      { logFormat: 'human', logLevel: 'info' },
      () => 0,
      (line) => lines.push(line.trim().split(' ').slice(2).join(' ')),
    );
    const outages = new Outages(log);
    const { onAway, onBack } = outages;
    const place = { dataDir: '', databaseUrl: database.url };
    store = await openPlace(place, { clock: systemClock, onAway, onBack });
    readiness = new Readiness(store, systemClock, log);
    outages.onChange = () => readiness.askAgain();
    readiness.serving();
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close();
    await reload('ALTER SYSTEM RESET ALL');
    await store.close();
    await database.drop();
  });

  const told = () => lines.map((line) => line.split(' ')[0]);

  /** Waits until the store has looked so often whether the outage is over. */
  async function looks(pattern: string, count: number): Promise<void> {
    const seen = new Set<number>();
    await until(`it looked ${count} times`, async () => {
      const rows = await database.sql`
        SELECT extract(epoch FROM query_start)::float8 AS at FROM pg_stat_activity
        WHERE query LIKE ${pattern} AND pid <> pg_backend_pid()`;
      for (const { at } of rows) seen.add(at);
      return seen.size >= count;
    });
  }

  /** Faults of so many calls at the same time, each of which has to fail. */
  async function faultsOf(count: number, call: (n: number) => Promise<unknown>) {
    const settled = await Promise.allSettled(Array.from({ length: count }, (_, n) => call(n)));
    const faults = settled.flatMap((it) => (it.status === 'rejected' ? [it.reason] : []));
    expect(faults).toHaveLength(count);
    return faults;
  }

  /** Every write says that it failed, and none makes a line of the log. */
  function expectQuiet(faults: readonly unknown[]): void {
    expect(faults.filter((fault) => !(fault instanceof WriteFailed))).toEqual([]);
    expect(faults.filter((fault) => !isAway(fault))).toEqual([]);
  }

  async function reload(statement: string): Promise<void> {
    await database.sql.unsafe(statement);
    await database.sql`SELECT pg_reload_conf()`;
  }

  async function expectEnd(call: () => Promise<unknown>): Promise<void> {
    await until('it is ready again', async () => (await readiness.problem()) === null);
    await call();
    expect(told().toSorted()).toEqual([
      ...['database_away', 'database_back', 'not_ready', 'ready_again'],
    ]);
  }

  test('a server that takes no writes', async () => {
    await reload('ALTER SYSTEM SET default_transaction_read_only = on');
    // Each in a transaction.
    expectQuiet(await faultsOf(20, (n) => addProvider(store, `Provid${10 + n}`)));
    expect((await readiness.problem())?.reason).toBe('database_read_only');
    await looks('%transaction_read_only%', 4);
    expectQuiet(await faultsOf(20, (n) => addProvider(store, `Provid${10 + n}`)));
    expect(told()).toEqual(['database_away', 'not_ready']);
    await reload('ALTER SYSTEM RESET default_transaction_read_only');
    await expectEnd(() => addProvider(store, 'Provide1'));
  });

  test('connections are taken by others: reads go on, writes are told of once', async () => {
    const { id } = await addProvider(store, 'Provide1');
    // All are given back: those of reads are taken again, then all others by others.
    await database.sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name LIKE 'gatepost/%'`;
    expect(await store.listProviders()).toHaveLength(1);
    const options = { ...poolOptions(placeOf(database.url), 1), connection: {} };
    const others: SQL[] = [];
    await until('no connection is left', async () => {
      const other = new SQL(options);
      others.push(other);
      return await other`SELECT 1`.then(
        () => false,
        () => true,
      );
    });
    expectQuiet(await faultsOf(5, (n) => addProvider(store, `Provid${10 + n}`)));
    expect(await readiness.problem()).toMatchObject({ reason: 'database_not_writable' });
    await looks('%transaction_read_only%', 4);
    expectQuiet(await faultsOf(20, (n) => addProvider(store, `Provid${10 + n}`)));
    expect(await store.listProviders()).toHaveLength(1);
    expect(await store.addInstall(installDraft(id), ACT)).toMatchObject({ id: 1 });
    expect(told()).toEqual(['database_away', 'not_ready']);
    expect(lines[0]).toContain('remaining connection slots');
    for (const other of others) await other.close({ timeout: 0 });
    await expectEnd(() => addProvider(store, 'Provide2'));
  });

  test('a role that is let in no more', async () => {
    const { id } = await addProvider(store, 'Provide1');
    await database.sql.unsafe('ALTER ROLE gatepost NOLOGIN');
    try {
      await database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name LIKE 'gatepost/%'`;
      await until('calls fail', () =>
        store.addInstall(installDraft(id), ACT).then(
          () => false,
          () => true,
        ),
      );
      expectQuiet(await faultsOf(20, () => store.addInstall(installDraft(id), ACT)));
      expect(await readiness.problem()).toEqual({
        reason: 'database_not_writable',
        detail: 'role "gatepost" is not permitted to log in',
      });
      expect(told()).toEqual(['database_away', 'not_ready']);
    } finally {
      await database.sql.unsafe('ALTER ROLE gatepost LOGIN');
    }
    await expectEnd(() => store.addInstall(installDraft(id), ACT));
  });

  test.skipIf(!MAY_MOUNT)('a disk that is full: reads go on, writes are told of once', async () => {
    const { id } = await addProvider(store, 'Provide1');
    const disk = mountSmallDisk(8, `uid=${NOBODY}`);
    if (disk === null) throw new Error('no disk was mounted');
    chmodSync(dirname(disk.folder), 0o755);
    try {
      await database.sql.unsafe(`CREATE TABLESPACE small LOCATION '${disk.folder}'`);
      await database.sql.unsafe('ALTER TABLE install SET TABLESPACE small');
      await database.sql.unsafe('GRANT CREATE ON TABLESPACE small TO gatepost');
      await reload("ALTER SYSTEM SET temp_tablespaces = 'small'");
      disk.fill();
      let n = 0;
      const add = () => {
        n += 1;
        const installCode = `Code${10_000_000 + n}`;
        return store.addInstall(installDraft(id, { installCode, note: 'x'.repeat(255) }), ACT);
      };
      await until('a write fails', () =>
        add().then(
          () => false,
          () => true,
        ),
      );
      await looks('%gatepost_room%', 3);
      expectQuiet(await faultsOf(20, add));
      expect((await readiness.problem())?.detail).toEndWith('No space left on device');
      expect(await store.listProviders()).toHaveLength(1);
      expect(told()).toEqual(['database_away', 'not_ready']);
      disk.clear();
      await expectEnd(add);
    } finally {
      await reload('ALTER SYSTEM RESET temp_tablespaces');
      await database.sql.unsafe('ALTER TABLE install SET TABLESPACE pg_default');
      await database.sql.unsafe('DROP TABLESPACE small');
      disk.unmount();
    }
  });

  test('one connection of several is cut: its write fails, whoever reads feels nothing', async () => {
    const relay = startRelay(server.port);
    const heard: string[] = [];
    const db = new Database({
      ...placeOf(database.url),
      ...{ port: relay.port, connections: 6, onAway: (problem) => heard.push(problem) },
    });
    opened.push(db);
    await db.ask('SELECT 1', []);
    let runCount = 0;
    const group = new TurnGroup<number, number>(db, {
      ...{ itemsMax: 64, underWayMax: 2, isWrite: true },
      run: async (items) => {
        runCount += 1;
        await db.writing.ask('SELECT pg_sleep(5)', []);
        return items;
      },
    });
    // The server goes on with what was cut off, and notices at its end.
    const cut: number[] = [];
    for (let round = 0; round < 3; round++) {
      runCount = 0;
      const writes = Promise.allSettled([1, 2, 3].map((n) => group.ask(n)));
      const reads = Array.from({ length: 59 }, (_, n) =>
        db.ask<{ n: number }>('SELECT $1::bigint AS n, pg_sleep(0.01)', [n]),
      );
      const at = await until('the write is under way', async () => {
        const rows: { client_port: number }[] = await database.sql`
          SELECT client_port FROM pg_stat_activity
          WHERE query LIKE 'SELECT pg_sleep(5)%' AND state = 'active'`;
        return rows.map((row) => row.client_port).find((port) => !cut.includes(port));
      });
      cut.push(at);
      relay.drop(at);
      const found = await Promise.all(reads);
      expect(found.map(({ rows }) => rows[0]?.n)).toEqual(reads.map((_, n) => n));
      const faults = (await writes).map((it) => (it.status === 'rejected' ? it.reason : null));
      expectQuiet(faults);
      // Whether it was saved is unknown: it is not done again for each caller.
      expect(runCount).toBe(1);
    }
    expect(heard).toEqual([]);
    relay.stop();
  });

  test('grouped writes that wait for too long, or are too many, are writes that failed', async () => {
    const group = new TurnGroup<number, number>(
      { callMs: 100, onClose: () => undefined },
      { itemsMax: 1, underWayMax: 1, isWrite: true, run: () => new Promise(() => undefined) },
    );
    const faults = await faultsOf(4_010, (n) => group.ask(n));
    expectQuiet(faults);
  });

  test('a server that does not answer yet is waited for, with one line, until the signal', async () => {
    const heard: string[] = [];
    const stopping = new AbortController();
    const waiting = {
      signal: stopping.signal,
      onWaiting: (problem: string) => heard.push(problem),
    };
    const open = (more: object) => openPlace({ dataDir: '', databaseUrl: database.url }, more);
    await server.stop('crash');
    const given = open({ waiting }).catch((fault) => fault);
    const opening = open({ waiting: { ...waiting, signal: new AbortController().signal } });
    await until('both are told of', () => heard.length === 2);
    // Who asks but a moment gives up meanwhile: a command.
    expect(String(await open({}).catch((fault) => fault))).toContain('does not answer');
    expect(heard).toEqual(['Failed to connect', 'Failed to connect']);
    stopping.abort();
    expect(String(await given)).toContain('does not answer');
    await server.start();
    await (await opening).close();
  });

  test('a database that a newer program changed is written by no older one', async () => {
    const { id } = await addProvider(store, 'Provide1');
    const stopWatching = store.watch(() => undefined);
    const become = (readableFrom: number) =>
      database.sql`UPDATE gatepost_schema SET readable_from = ${readableFrom}`;
    await become(SCHEMA_VERSION + 1);
    await database.sql`SELECT pg_notify('gatepost', 'schema')`;
    await until('it is told of', () => told().includes('database_away'));
    expectQuiet(await faultsOf(20, () => store.addInstall(installDraft(id), ACT)));
    expectQuiet(await faultsOf(20, (n) => addProvider(store, `Provid${10 + n}`)));
    expect(isAway(await store.listProviders().catch((fault) => fault))).toBe(true);
    expect((await readiness.problem())?.reason).toBe('schema_newer');
    const [rows] = await database.sql`SELECT count(*)::int AS count FROM install`;
    expect(rows.count).toBe(0);
    await become(SCHEMA_VERSION);
    await expectEnd(() => store.addInstall(installDraft(id), ACT));
    await database.sql`UPDATE gatepost_schema SET move = 'left'`;
    await until('it is told of again', () => told().length > 4);
    expectQuiet(await faultsOf(20, () => store.addInstall(installDraft(id), ACT)));
    expect((await readiness.problem())?.reason).toBe('database_moved');
    await database.sql`UPDATE gatepost_schema SET move = NULL`;
    await until('it is ready again', async () => (await readiness.problem()) === null);
    stopWatching();
  });
});
