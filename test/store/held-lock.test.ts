/** Locks that other processes hold: which fault callers get, and who is named. */

import { Database as File } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { failureOf } from '../../src/cli/refusal.ts';
import { isAway, isBusy, type Store, StoreBusy, WriteFailed } from '../../src/core/port/store.ts';
import { describeLock } from '../../src/disk/lock-holder.ts';
import { makeLog, reasonOf } from '../../src/log.ts';
import { Outages } from '../../src/monitor/outages.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { prepare } from '../../src/store/postgres/statement.ts';
import { ACT } from '../support/actor.ts';
import { freshPlace } from '../support/app.ts';
import { holdDatabase } from '../support/held-database.ts';
import { describePostgres } from '../support/needs.ts';
import { openPlace, STORE } from '../support/place.ts';
import { type Postgres, sharedPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { faultOf } from '../support/writer-database.ts';
import { addProvider } from './contract/fixture.ts';

const nameOf = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim();

type Place = Awaited<ReturnType<typeof freshPlace>>;

describe('a database that another process holds', () => {
  let at: Place;
  let store: Store;
  const lines: string[] = [];

  beforeAll(async () => {
    at = await freshPlace();
    const settings = { logFormat: 'human', logLevel: 'info' } as const;
    const log = makeLog(
      settings,
      () => 0,
      (line) => lines.push(line),
    );
    const { onAway, onTrouble } = new Outages(log);
    store = await openPlace(at.place, { onAway, onTrouble });
  });
  afterAll(async () => {
    await store.close();
    await at.drop();
  });

  test('a write fails as busy, which names the holder; the log has it once, without a stack', async () => {
    await addProvider(store, 'Provide1');
    const looked = { dataDir: at.place.dataDir, database: at.database };
    const held = await holdDatabase(looked);
    const whose = STORE === 'sqlite' ? `(${nameOf(held.pid)})` : 'of PostgreSQL (another/node)';
    const write = () => store.updateProvider('Provide1', { name: 'other' }, ACT);
    const faults = await Promise.all([write(), write()].map(faultOf));
    expect((await store.findProvider('Provide1'))?.name).not.toBe('other');
    await held.release();
    for (const fault of faults) {
      expect(fault).toBeInstanceOf(WriteFailed);
      expect([isBusy(fault), isAway(fault)]).toEqual([true, true]);
      expect(reasonOf(fault)).toContain(`process ${held.pid} ${whose} holds`);
      expect(reasonOf(fault)).not.toContain('\n    at ');
    }
    expect(failureOf(faults[0])).toMatchObject({
      code: 'locked',
      message: expect.stringMatching(
        /^database is busy: .* holds (its|a) lock; try again in a moment$/,
      ),
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`warn database_busy problem="`);
    expect(lines[0]).toContain(`process ${held.pid} `);
    await write();
    expect((await store.findProvider('Provide1'))?.name).toBe('other');
  });
});

describe.skipIf(STORE !== 'sqlite')('SQLite', () => {
  test('names a process that is stopped, and one that has the file for itself', async () => {
    const at = await freshPlace();
    const { dataDir } = at.place;
    const file = join(dataDir, 'gatepost.db');
    const held = await holdDatabase({ dataDir, database: null });
    const who = `process ${held.pid} (${nameOf(held.pid)}`;
    expect(describeLock(file)).toBe(`${who}) holds its lock`);
    process.kill(held.pid, 'SIGSTOP');
    await until('it stops', () => describeLock(file) === `${who}, stopped) holds its lock`);
    await held.release();
    expect(describeLock(file)).toBe('another process holds its lock');
    rmSync(dataDir, { recursive: true });
  });

  test('does not open a file that another process has for itself, in one sentence', async () => {
    const at = await freshPlace();
    const { dataDir } = at.place;
    const own = new File(join(dataDir, 'gatepost.db'));
    own.run('PRAGMA locking_mode = EXCLUSIVE');
    own.query('SELECT count(*) FROM provider').get();
    const opened = await faultOf(openPlace(at.place));
    own.close();
    expect(failureOf(opened)).toMatchObject({
      code: 'locked',
      message: 'database is busy: another process holds its lock; try again in a moment',
    });
    rmSync(dataDir, { recursive: true });
  });
});

describePostgres('PostgreSQL', () => {
  let server: Postgres;
  const away: string[] = [];
  const troubles: string[] = [];
  const bump = prepare(sql`UPDATE held SET n = n + 1 WHERE id = :id`);
  const read = prepare<{ n: number }>(sql`SELECT n FROM held WHERE id = :id`);
  const sleep = prepare(sql`SELECT pg_sleep(:seconds::float8)`);

  beforeAll(async () => {
    server = await sharedPostgres();
  });

  function open(statementMs: number): Database {
    return new Database({
      ...{ host: '127.0.0.1', port: server.port, socket: null, user: 'postgres' },
      ...{ database: 'postgres', password: () => null, tls: null, isPooled: false, node: 'one' },
      ...{ statementMs, connections: 2 },
      onAway: (problem) => away.push(problem),
      onTrouble: (_, problem) => troubles.push(problem),
    });
  }

  test('statements that all wait on one connection are no outage, and reads go on', async () => {
    const db = open(2_000);
    await db.ask('CREATE TABLE IF NOT EXISTS held (id bigint PRIMARY KEY, n bigint)', []);
    await db.ask('INSERT INTO held VALUES (1, 1) ON CONFLICT DO NOTHING', []);
    const holder = await server.connect().reserve();
    await holder.unsafe('BEGIN');
    await holder.unsafe('UPDATE held SET n = 5 WHERE id = 1');
    const writes = Array.from({ length: 8 }, () => faultOf(bump.run(db.writing, { id: 1 })));
    const found = await read.get(db, { id: 1 });
    const faults = await Promise.all(writes);
    await holder.unsafe('ROLLBACK');
    holder.release();
    expect(found?.n).toBe(1);
    expect(faults.filter((fault) => !isBusy(fault))).toEqual([]);
    expect(away).toEqual([]);
    expect(troubles).toHaveLength(1);
    expect(troubles[0]).toStartWith('canceling statement due to lock timeout; process ');
    expect(troubles[0]).toMatch(/\(postgres, idle in transaction for \d+ s\) holds a lock$/);
    await bump.run(db.writing, { id: 1 });
    await db.close();
  });

  test('a statement that takes too long is busy as well', async () => {
    const db = open(200);
    const fault = await faultOf(sleep.get(db, { seconds: 30 }));
    expect(fault).toBeInstanceOf(StoreBusy);
    expect(String(fault)).toContain('canceling statement due to statement timeout');
    expect(away).toEqual([]);
    await db.close();
  });
});
