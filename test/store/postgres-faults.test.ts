/**
 * The kinds of PostgreSQL's errors, as a caller meets them: some writes are repeated and saved,
 * some say that nothing was saved, some begin an outage, and a broken rule stays the caller's own
 * fault.
 */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import type { SQL } from 'bun';
import { sql } from 'drizzle-orm';
import { WriteFailed } from '../../src/core/port/store.ts';
import { FigureCounter } from '../../src/store/noun/figure-counter.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { Sealer } from '../../src/store/postgres/sealer.ts';
import { Signals } from '../../src/store/postgres/signals.ts';
import { prepare } from '../../src/store/postgres/statement.ts';
import { write } from '../../src/store/postgres/write.ts';
import { describePostgres } from '../support/needs.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

/** Fails in this way so many times; a sequence counts also the attempts that were undone. */
const FAIL = `
  CREATE SEQUENCE attempt;
  CREATE TABLE saved (id integer);
  CREATE FUNCTION fail(state text, broken text, times integer) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF nextval('attempt') <= times THEN
      RAISE EXCEPTION 'made by the test' USING ERRCODE = state, CONSTRAINT = broken;
    END IF;
  END $$`;

const on = {
  save: prepare(sql`INSERT INTO saved VALUES (1)`),
  fail: prepare(sql`SELECT fail(:state, :broken, CAST(:times AS integer))`),
};
const EVER = 1_000;

describePostgres('an error of PostgreSQL', () => {
  let server: OwnPostgres;
  let db: Database;
  let admin: SQL;
  let told: string[];

  beforeAll(async () => {
    server = await startPostgres();
    const first = server.connect();
    await first.unsafe(FAIL).simple();
    await first.close();
  });
  afterAll(() => server.stop('crash'));
  afterEach(async () => {
    await db.close();
    await admin.close();
  });

  beforeEach(async () => {
    told = [];
    db = new Database({
      host: '127.0.0.1',
      port: server.port,
      socket: null,
      user: 'postgres',
      database: 'postgres',
      password: () => null,
      tls: null,
      connections: 2,
      isPooled: false,
      node: 'one',
      statementMs: 5_000,
      onAway: (problem) => told.push(problem),
      onBack: () => told.push('back'),
    });
    admin = server.connect();
    await admin.unsafe("TRUNCATE saved; SELECT setval('attempt', 1, false)").simple();
  });

  /** Writes, with an error behind the row; returns the fault, the rows, and why it was repeated. */
  async function meet(state: string, broken: string, times: number) {
    const sealer = new Sealer(db, () => Promise.reject(new Error('nothing is noted here')));
    const repeats: string[] = [];
    const parts = { db, figures: new FigureCounter(), sealer, signals: new Signals() };
    const observers = { onRetry: (reason: string) => repeats.push(reason) };
    const fault = await write({ ...parts, observers, statementMs: 5_000 }, async (w) => {
      await on.save.run(w);
      await on.fail.all(w, { state, broken, times });
    }).then(
      () => null,
      (thrown) => thrown,
    );
    const [row] = await admin`SELECT count(*)::integer AS count FROM saved`;
    return { fault, rows: row.count, repeats };
  }

  test.each([
    ['a conflict', '40001', '', '40001'],
    ['a deadlock', '40P01', '', '40P01'],
    ['an id of a link that was taken meanwhile', '23505', 'install_pkey', '40001'],
    ['a code that was taken meanwhile', '23505', 'install_install_code_unique', '40001'],
    ['an id of a domain that was taken meanwhile', '23505', 'domain_pkey', '40001'],
    ['a connection that broke', '08006', '', 'connection'],
    ['a connection that an administrator ended', '57P01', '', 'connection'],
  ])('%s: the write is repeated and saved, once', async (_, state, broken, reason) => {
    expect(await meet(state, broken, 2)).toEqual({
      fault: null,
      rows: 1,
      repeats: [reason, reason],
    });
    expect(told).toEqual([]);
  });

  test.each([
    ['a deadline of a statement', '57014'],
    ['a lock that another one holds', '55P03'],
    ['a damaged table', 'XX001'],
  ])('%s: nothing is saved, and it is no outage', async (_, state) => {
    const { fault, rows, repeats } = await meet(state, '', EVER);
    expect(fault).toBeInstanceOf(WriteFailed);
    expect({ rows, repeats, told }).toEqual({ rows: 0, repeats: [], told: [] });
  });

  test.each([
    ['no disk space', '53100'],
    ['no memory', '53200'],
    ['a limit of the server', '53400'],
    ['a disk that fails', '58030'],
    ['no connection left', '53300'],
    ['a role that is let in no more', '28000'],
    ['a database that is gone', '3D000'],
  ])('%s: nothing is saved, and it is an outage', async (_, state) => {
    const { fault, rows } = await meet(state, '', EVER);
    expect(fault).toBeInstanceOf(WriteFailed);
    expect(rows).toBe(0);
    expect(told).toEqual(['made by the test']);
  });

  test('a disk with room for a probe alone: one outage, until no write failed for seconds', async () => {
    const probes = new Set<number>();
    await until('it looked three times', async () => {
      const { fault } = await meet('53100', '', EVER);
      expect(fault).toBeInstanceOf(WriteFailed);
      const rows = await admin`
        SELECT extract(epoch FROM query_start)::float8 AS at FROM pg_stat_activity
        WHERE query LIKE '%gatepost_room%' AND pid <> pg_backend_pid()`;
      for (const { at } of rows) probes.add(at);
      return probes.size >= 3;
    });
    expect(told).toEqual(['made by the test']);
    await until('it is over', () => told.length > 1);
    expect(told).toEqual(['made by the test', 'back']);
  });

  test('a server that takes no writes: an outage of its own name', async () => {
    expect((await meet('25006', '', EVER)).fault).toBeInstanceOf(WriteFailed);
    expect(told).toEqual(['it takes no writes']);
  });

  test.each([
    ['a unique value of another table', '23505', 'webhook_pkey'],
    ['a rule of a table', '23514', 'install_never_over_full'],
    ['a mistake in a statement', '42601', ''],
    ['a division by zero', '22012', ''],
    ['an error that a trigger raises', 'P0001', ''],
  ])('%s: the caller gets the fault itself', async (_, state, broken) => {
    const { fault, rows, repeats } = await meet(state, broken, EVER);
    expect(fault).not.toBeInstanceOf(WriteFailed);
    expect(fault).toMatchObject({ errno: state });
    expect({ rows, repeats, told }).toEqual({ rows: 0, repeats: [], told: [] });
  });
});
