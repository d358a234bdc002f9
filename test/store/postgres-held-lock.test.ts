/** Statements that another session holds up: they are busy, and no outage begins. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { isBusy, StoreBusy } from '../../src/core/port/store.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { prepare } from '../../src/store/postgres/statement.ts';
import { describePostgres } from '../support/needs.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { faultOf } from '../support/writer-database.ts';

describePostgres('locks of other sessions', () => {
  let database: TestDatabase;
  const away: string[] = [];
  const troubles: string[] = [];
  const bump = prepare(sql`UPDATE held SET n = n + 1 WHERE id = :id`);
  const read = prepare<{ n: number }>(sql`SELECT n FROM held WHERE id = :id`);
  const sleep = prepare(sql`SELECT pg_sleep(:seconds::float8)`);

  beforeAll(async () => {
    database = await bareDatabase();
  });
  afterAll(() => database.drop());

  function open(statementMs: number): Database {
    return new Database({
      host: '127.0.0.1',
      port: database.port,
      socket: null,
      user: 'postgres',
      database: database.name,
      password: () => null,
      tls: null,
      isPooled: false,
      node: 'one',
      statementMs,
      connections: 2,
      onAway: (problem) => away.push(problem),
      onTrouble: (_, problem) => troubles.push(problem),
    });
  }

  test('statements that all wait on one connection are no outage, and reads go on', async () => {
    const db = open(2_000);
    await db.ask('CREATE TABLE held (id bigint PRIMARY KEY, n bigint)', []);
    await db.ask('INSERT INTO held VALUES (1, 1)', []);
    const holder = await database.sql.reserve();
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
