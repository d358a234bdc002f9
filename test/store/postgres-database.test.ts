/** The way to PostgreSQL: what becomes of calls when it conflicts, hangs, breaks or is stopped. */

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { StoreAway, WriteFailed } from '../../src/core/port/store.ts';
import { FigureCounter } from '../../src/store/noun/figure-counter.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { TurnGroup } from '../../src/store/postgres/group.ts';
import { onBehalfOf } from '../../src/store/postgres/party.ts';
import { Sealer } from '../../src/store/postgres/sealer.ts';
import { Signals } from '../../src/store/postgres/signals.ts';
import { prepare, type Runner } from '../../src/store/postgres/statement.ts';
import { type Write, write } from '../../src/store/postgres/write.ts';
import { describePostgres } from '../support/needs.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { startRelay } from '../support/relay.ts';
import { until } from '../support/until.ts';

const TABLE = 'CREATE TABLE IF NOT EXISTS tried (id bigint PRIMARY KEY, n bigint CHECK (n < 100))';

const on = {
  echo: prepare<{ n: number }>(sql`SELECT :n::bigint AS n`),
  sleep: prepare(sql`SELECT pg_sleep(:seconds::float8)`),
  add: prepare(sql`INSERT INTO tried (id, n) VALUES (:id, :n)`),
  bump: prepare(sql`UPDATE tried SET n = n + 1 WHERE id = :id`),
  of: prepare<{ n: number }>(sql`SELECT n FROM tried WHERE id = :id`),
  addMany: prepare(sql`
      INSERT INTO tried (id, n)
      SELECT id, n FROM unnest(:ids::bigint[], :ns::bigint[]) AS t (id, n)`),
  pid: prepare<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`),
};

describePostgres('the way to PostgreSQL', () => {
  let server: OwnPostgres;
  const opened: Database[] = [];
  const told: string[] = [];

  beforeAll(async () => {
    server = await startPostgres({ synchronous_commit: 'on' });
    const db = open();
    await db.ask(TABLE, []);
  });
  afterEach(async () => {
    for (const db of opened.splice(0)) await db.close();
    told.length = 0;
  });
  afterAll(() => server.stop('crash'));

  function open(more: { port?: number; statementMs?: number } = {}): Database {
    const { port = server.port, statementMs = 5_000 } = more;
    const db = new Database({
      host: '127.0.0.1',
      port,
      socket: null,
      user: 'postgres',
      database: 'postgres',
      password: () => null,
      tls: null,
      connections: 4,
      isPooled: false,
      node: 'one',
      statementMs,
      onAway: (problem) => told.push(`away: ${problem}`),
      onBack: (_awayMs, refusedCount) => told.push(`back: ${refusedCount}`),
    });
    opened.push(db);
    return db;
  }

  const inTransaction = <T>(db: Database, work: (on: Runner) => Promise<T>) =>
    db.within((call) => db.transaction(work, call));

  function saving<T>(db: Database, work: (w: Write) => Promise<T>): Promise<T> {
    const sealer = new Sealer(db, () => Promise.reject(new Error('nothing is noted here')));
    const parts = { db, figures: new FigureCounter(), sealer, signals: new Signals() };
    return write({ ...parts, observers: {}, statementMs: 5_000 }, work);
  }

  async function rowsFrom(fromId: number, countMax: number): Promise<number> {
    const db = server.connect();
    const rows = await db.unsafe('SELECT id FROM tried WHERE id BETWEEN $1 AND $2', [
      ...[fromId, fromId + countMax - 1],
    ]);
    await db.close();
    return rows.length;
  }

  test('numbers come as numbers, also beyond 32 bits', async () => {
    const db = open();
    expect(await on.echo.get(db, { n: 1_732_000_000_000 })).toEqual({ n: 1_732_000_000_000 });
  });

  test('a statement that takes too long is ended by the server, and no other with it', async () => {
    const db = open({ statementMs: 1_000 });
    const slow = on.sleep.get(db, { seconds: 30 });
    expect(slow).rejects.toThrow('statement timeout');
    expect(await on.echo.get(db, { n: 1 })).toEqual({ n: 1 });
    await slow.catch(() => undefined);
    expect(told).toEqual([]);
  });

  test('a network that goes silent ends each call in time, is told once, and heals', async () => {
    const relay = startRelay(server.port);
    const db = open({ port: relay.port, statementMs: 1_000 });
    await on.echo.get(db, { n: 1 });
    relay.silence(true);
    const calls = Array.from({ length: 20 }, (_, n) => on.echo.get(db, { n }).catch((e) => e));
    const writes = Array.from({ length: 20 }, (_, n) =>
      saving(db, (w) => on.add.run(w, { id: 100 + n, n })).catch((e) => e),
    );
    for (const fault of await Promise.all(calls)) expect(fault).toBeInstanceOf(StoreAway);
    for (const fault of await Promise.all(writes)) expect(fault).toBeInstanceOf(WriteFailed);
    expect(told).toEqual(['away: it does not answer']);
    // Nobody waits for what is known to be away.
    expect(await on.echo.get(db, { n: 1 }).catch((e) => e)).toBeInstanceOf(StoreAway);
    relay.silence(false);
    await until('the database is back', () => told.length === 2);
    expect(await on.echo.get(db, { n: 3 })).toEqual({ n: 3 });
    relay.stop();
  });

  test('connections that are ended are felt by nobody who reads', async () => {
    const db = open();
    const killer = server.connect();
    for (let round = 0; round < 20; round++) {
      const answers = Array.from({ length: 20 }, (_, n) => on.echo.get(db, { n }));
      const [found] = await Promise.all([
        Promise.all(answers),
        killer`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'gatepost/one'`,
      ]);
      expect(found).toEqual(answers.map((_, n) => ({ n })));
    }
    await killer.close();
    expect(told).toEqual([]);
  });

  test('a write that was answered is there after a crash, and what is not saved says so', async () => {
    const db = open();
    const saved: number[] = [];
    let isOver = false;
    let id = 1_000;
    const writer = async () => {
      while (!isOver) {
        const own = id++;
        const fault = await saving(db, (w) => on.add.run(w, { id: own, n: 1 })).then(
          () => null,
          (e) => e,
        );
        if (fault === null) saved.push(own);
        else expect(fault).toBeInstanceOf(WriteFailed);
        if (fault !== null) await Bun.sleep(0);
      }
    };
    const writers = Array.from({ length: 8 }, writer);
    await until('something is saved', () => saved.length > 50);
    await server.stop('crash');
    await until('the outage is told', () => told.length === 1);
    const before = saved.length;
    await server.start();
    await until('writing goes on', () => saved.length > before + 50);
    isOver = true;
    await Promise.all(writers);
    expect(told.map((line) => line.split(':')[0])).toEqual(['away', 'back']);
    const found = await db.ask<{ id: number }>('SELECT id FROM tried WHERE id >= 1000', []);
    const ids = new Set(found.rows.map((row) => row.id));
    expect(saved.filter((own) => !ids.has(own))).toEqual([]);
  });

  test('two writes that wait for each other are both saved', async () => {
    const db = open();
    for (const id of [1, 2]) await saving(db, (w) => on.add.run(w, { id, n: 0 }));
    let atFirst = 0;
    const crossing = (first: number, second: number) =>
      saving(db, async (w) => {
        await on.bump.run(w, { id: first });
        atFirst += 1;
        await until('both hold their first row', () => atFirst >= 2);
        await on.bump.run(w, { id: second });
      });
    // One party alone does not have all connections.
    await Promise.all([
      onBehalfOf('a', String, () => crossing(1, 2)),
      onBehalfOf('b', String, () => crossing(2, 1)),
    ]);
    expect(await on.of.get(db, { id: 1 })).toEqual({ n: 2 });
    expect(await on.of.get(db, { id: 2 })).toEqual({ n: 2 });
  });

  test('a read that lost its connection has no more time in all than another one', async () => {
    const relay = startRelay(server.port);
    const db = open({ port: relay.port, statementMs: 4_000 });
    await on.echo.get(db, { n: 1 });
    const beganMs = performance.now();
    const read = on.sleep.get(db, { seconds: 3.9 }).catch((fault) => fault);
    await Bun.sleep(3_400);
    relay.silence(true);
    relay.drop();
    expect(await read).toBeInstanceOf(StoreAway);
    // Not 3.4 s and then 4.5 s.
    expect(performance.now() - beganMs).toBeLessThan(7_500);
    relay.stop();
  });

  test('a write is answered in time where a proxy has nobody to lead to', async () => {
    const statementMs = 1_000;
    // HAProxy without a leader: it takes connections and closes them.
    const proxy = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { open: (socket) => void socket.end(), data() {} },
    });
    const db = open({ port: proxy.port, statementMs });
    const beganMs = performance.now();
    const saved = saving(db, (w) => on.add.run(w, { id: 70, n: 1 })).catch((fault) => fault);
    expect(await saved).toBeInstanceOf(WriteFailed);
    expect(performance.now() - beganMs).toBeLessThan(3 * statementMs);
    proxy.stop(true);
  });

  test('a write whose connection is lost before the commit is repeated', async () => {
    const db = open();
    let attempts = 0;
    await saving(db, async (w) => {
      attempts += 1;
      await on.add.run(w, { id: 71, n: attempts });
      if (attempts === 1) await w.ask('SELECT pg_terminate_backend(pg_backend_pid())', []);
    });
    expect(attempts).toBe(2);
    expect(await on.of.get(db, { id: 71 })).toMatchObject({ n: 2 });
  });

  test('a write whose connection is lost during the commit is not repeated', async () => {
    const db = open();
    await db.ask('CREATE TABLE fatal (id bigint)', []);
    await db.ask(
      `CREATE FUNCTION end_backend() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`,
      [],
    );
    await db.ask(
      `CREATE CONSTRAINT TRIGGER fatal AFTER INSERT ON fatal DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION end_backend()`,
      [],
    );
    let attempts = 0;
    const [saved] = await Promise.allSettled([
      saving(db, async (w) => {
        attempts += 1;
        await w.ask('INSERT INTO fatal VALUES (1)', []);
      }),
    ]);
    expect(saved).toMatchObject({ status: 'rejected', reason: { name: 'WriteFailed' } });
    expect(attempts).toBe(1);
    await db.ask('DROP TABLE fatal', []);
    await db.ask('DROP FUNCTION end_backend', []);
  });

  test('a write that conflicts each time ends after eight attempts', async () => {
    const db = open();
    let attempts = 0;
    const [saved] = await Promise.allSettled([
      saving(db, async (w) => {
        attempts += 1;
        await w.ask(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`, []);
      }),
    ]);
    expect(saved).toMatchObject({ status: 'rejected', reason: { name: 'WriteFailed' } });
    expect(attempts).toBe(8);
  });

  test('a refusal takes back what it wrote', async () => {
    const db = open();
    const answer = await saving<string>(db, async (w) => {
      await on.add.run(w, { id: 10, n: 1 });
      return w.notes.refuse('refused');
    });
    expect(answer).toBe('refused');
    expect(await on.of.get(db, { id: 10 })).toBeNull();
  });

  test('a queue for transactions is no outage: who waits too long is refused alone', async () => {
    const db = open({ statementMs: 1_500 });
    const asked = Array.from({ length: 12 }, () =>
      inTransaction(db, async (runner) => {
        for (let n = 0; n < 2; n++) await on.sleep.get(runner, { seconds: 0.25 });
      }),
    );
    const settled = await Promise.allSettled(asked);
    const faults = settled.flatMap((it) => (it.status === 'rejected' ? [String(it.reason)] : []));
    expect(new Set(faults)).toEqual(new Set(['StoreBusy: it takes too long']));
    expect(faults.length).toBeLessThan(12);
    expect(told).toEqual([]);
  });

  test('a step that a transaction left behind does not run in the next one', async () => {
    const db = open();
    let late: Promise<unknown> = Promise.resolve();
    await inTransaction(db, async (runner) => {
      late = on.sleep
        .get(runner, { seconds: 0.05 })
        .then(() => on.add.run(runner, { id: 60, n: 1 }))
        .catch((fault) => fault);
    });
    expect(await late).toEqual(new Error('the transaction is over'));
    expect(await on.of.get(db, { id: 60 })).toBeNull();
  });

  test('nor does one beside a step that failed, once all is taken back', async () => {
    const db = open();
    let late: Promise<unknown> = Promise.resolve();
    const failing = inTransaction(db, async (runner) => {
      late = on.sleep
        .get(runner, { seconds: 0.05 })
        .then(() => on.add.run(runner, { id: 61, n: 1 }))
        .catch((fault) => fault);
      throw new Error('a step failed');
    });
    expect(await failing.catch((fault) => fault)).toEqual(new Error('a step failed'));
    expect(await late).toEqual(new Error('the transaction is over'));
    expect(await on.of.get(db, { id: 61 })).toBeNull();
  });

  test('a call has one time in all, however long it waits for those before it', async () => {
    const db = open({ statementMs: 300 });
    let runCount = 0;
    const group = new TurnGroup<number, number>(db, {
      itemsMax: 1,
      inFlightMax: 1,
      run: (items) => {
        runCount += 1;
        return runCount === 1 ? new Promise(() => undefined) : Promise.resolve(items);
      },
    });
    const faults = await Promise.all([1, 2, 3].map((n) => group.ask(n).catch((fault) => fault)));
    expect(faults.map(String)).toEqual(Array(3).fill('StoreBusy: it takes too long'));
    // Those that waited were answered that they failed: they are not to be done later.
    expect(runCount).toBe(1);
  });

  test('a write of many steps has one time in all', async () => {
    const db = open({ statementMs: 1_500 });
    const fault = await saving(db, async (w) => {
      await on.add.run(w, { id: 70, n: 1 });
      for (let n = 0; n < 20; n++) await on.sleep.get(w, { seconds: 0.25 });
    }).catch((reason) => reason);
    expect(String(fault)).toBe('WriteFailed: it takes too long');
    expect(await on.of.get(db, { id: 70 })).toBeNull();
    expect(told).toEqual([]);
  });

  test('an item of a group that breaks a constraint takes no other with it', async () => {
    const db = open();
    const group = new TurnGroup<{ id: number; n: number }, boolean>(db, {
      itemsMax: 64,
      inFlightMax: 2,
      run: async (items) => {
        const ids = items.map(({ id }) => id);
        await on.addMany.run(db.writing, { ids, ns: items.map(({ n }) => n) });
        return items.map(() => true);
      },
    });
    const asked = Array.from({ length: 10 }, (_, at) =>
      group.ask({ id: 20 + at, n: at === 4 ? 100 : at }),
    );
    const settled = await Promise.allSettled(asked);
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(
      Array.from({ length: 10 }, (_, at) => at !== 4),
    );
    expect(await rowsFrom(20, 10)).toBe(9);
  });

  test('what was begun before the close is finished', async () => {
    const db = open();
    const asked = [40, 41, 42].map((id) => saving(db, (w) => on.add.run(w, { id, n: 1 })));
    await db.close();
    await Promise.all(asked);
    expect(await rowsFrom(40, 3)).toBe(3);
  });
});
