/** What a node says of itself when PostgreSQL is away, or newer, and who is told. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import { makeLog } from '../../src/base/log.ts';
import { isAway, type Store } from '../../src/core/port/store.ts';
import { Outages } from '../../src/monitor/outages.ts';
import { Readiness } from '../../src/monitor/readiness.ts';
import { SCHEMA_VERSION } from '../../src/store/postgres/migrate.ts';
import { describePostgres } from '../support/needs.ts';
import { openPlace } from '../support/place.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { until } from '../support/until.ts';

const NODE = { name: 'one', address: 'http://127.0.0.1:1', version: '1.2.3', startedAtMs: 1 };

describePostgres('a node and its database', () => {
  let server: OwnPostgres;
  let database: TestDatabase;
  let store: Store;
  let lines: string[];
  let readiness: Readiness;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop('fast'));
  beforeEach(async () => {
    database = await freshDatabase(server);
    lines = [];
    const settings = { logFormat: 'human', logLevel: 'info' } as const;
    const log = makeLog(
      settings,
      () => 0,
      (line) => lines.push(line.trim().split(' ')[2] ?? ''),
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
    await store.close();
    await database.drop();
  });

  const reason = async () => (await readiness.problem())?.reason ?? 'ready';

  test('an outage is two lines of the log, however many calls fail, and readiness knows at once', async () => {
    await store.noteNode(NODE);
    expect(await reason()).toBe('ready');
    await server.stop('crash');
    const calls = Array.from({ length: 200 }, () => store.listNodes().catch((fault) => fault));
    const faults = await Promise.all(calls);
    expect(faults.map((fault) => isAway(fault))).not.toContain(false);
    // It held a good answer, which the outage took from it.
    expect(await reason()).toBe('database_unreachable');
    expect(await store.readServerFacts().catch((fault) => isAway(fault))).toBe(true);
    await server.start();
    await until('it is ready again', async () => (await reason()) === 'ready');
    await store.noteNode(NODE);
    expect(await store.listNodes()).toHaveLength(1);
    expect(lines.toSorted()).toEqual([
      ...['database_away', 'database_back', 'not_ready', 'ready_again'],
    ]);
  });

  test('a newer schema ends readiness, unless its programs can work beside this one', async () => {
    const become = (version: number, readableFrom: number) =>
      database.sql`UPDATE gatepost_schema SET version = ${version}, readable_from = ${readableFrom}`;
    const newer = SCHEMA_VERSION + 1;
    await become(newer, SCHEMA_VERSION);
    expect(await store.checkWritable()).toBe('ok');
    await become(newer, newer);
    expect(await store.checkWritable()).toBe('schema_newer');
    expect(await reason()).toBe('schema_newer');
    await become(SCHEMA_VERSION, SCHEMA_VERSION);
    await until('it may go on', async () => (await store.checkWritable()) === 'ok');
  });

  test('a node that was forgotten meanwhile is listed again, and a silent one of its name is not', async () => {
    await database.sql`
      INSERT INTO node (name, address, version, schema, started_at_ms, seen_at_ms)
      VALUES (${NODE.name}, ${NODE.address}, '1.0.0', 1, 1, 1),
        ('two', 'b', '1.0.0', 1, 1, extract(epoch FROM clock_timestamp()) * 1000 - 1800000),
        ('three', 'c', '1.0.0', 1, 1, extract(epoch FROM clock_timestamp()) * 1000 - 3700000)`;
    await store.noteNode(NODE);
    const nodes = (await store.listNodes()) ?? [];
    expect(nodes.map(({ name, version }) => `${name} ${version}`)).toEqual([
      'one 1.2.3',
      'two 1.0.0',
    ]);
    expect(nodes[0]?.silentMs).toBeLessThan(15_000);
    expect(nodes[1]?.silentMs).toBeGreaterThan(1_700_000);
    await database.sql`DELETE FROM node`;
    await store.noteNode(NODE);
    expect(await store.listNodes()).toHaveLength(1);
  });
});
