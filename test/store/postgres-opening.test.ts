/** The beginning of a node, which waits for its database, and the end that a newer one makes. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { isAway, type Store } from '../../src/core/port/store.ts';
import { SCHEMA_VERSION } from '../../src/store/postgres/migrate.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { openPlace } from '../support/place.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres-data.ts';
import { until } from '../support/until.ts';
import { expectQuiet, faultsOf, WatchedStore } from '../support/watched-store.ts';
import { addProvider, linkDraft } from './contract/fixture.ts';

describePostgres('a node and its database', () => {
  let server: OwnPostgres;
  let watched: WatchedStore;
  let database: TestDatabase;
  let store: Store;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop('crash'));
  beforeEach(async () => {
    watched = await WatchedStore.open(server);
    ({ database, store } = watched);
  });
  afterEach(() => watched.close());

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
    // A command asks for some seconds, and gives up.
    const command = open({}).catch((fault) => fault);
    await until('both are told of', () => heard.length === 2);
    expect(String(await command)).toContain('does not answer');
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
    await until('it is told of', () => watched.told().includes('database_away'));
    expectQuiet(await faultsOf(20, () => store.addLink(linkDraft(id), ACT)));
    expectQuiet(await faultsOf(20, (n) => addProvider(store, `Provid${10 + n}`)));
    expect(isAway(await store.listProviders().catch((fault) => fault))).toBe(true);
    expect((await watched.readiness.problem())?.reason).toBe('schema_newer');
    const [rows] = await database.sql`SELECT count(*)::int AS count FROM install`;
    expect(rows.count).toBe(0);
    await become(SCHEMA_VERSION);
    await watched.expectEnd(() => store.addLink(linkDraft(id), ACT));
    await database.sql`UPDATE gatepost_schema SET move = 'left'`;
    await until('it is told of again', () => watched.told().length > 4);
    expectQuiet(await faultsOf(20, () => store.addLink(linkDraft(id), ACT)));
    expect((await watched.readiness.problem())?.reason).toBe('database_moved');
    await database.sql`UPDATE gatepost_schema SET move = NULL`;
    await until('it is ready again', async () => (await watched.readiness.problem()) === null);
    stopWatching();
  });
});
