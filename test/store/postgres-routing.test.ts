/**
 * Each answer belongs to its question: over one connection and many, prepared and new, long and
 * short, in transactions and out of them, while statements fail, are cancelled, and connections are
 * ended. An answer that goes to another question would show one provider the links of another.
 *
 * ROUTING_SECONDS=60 bun test test/store/postgres-routing.test.ts runs it longer, ROUTING_SEED=n
 * otherwise. Whoever takes a new Bun runs it for minutes.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { SQL } from 'bun';
import { StoreAway, WriteFailed } from '../../src/core/port/store.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { poolOptions } from '../../src/store/postgres/database-options.ts';
import type { Bound, Runner } from '../../src/store/postgres/statement.ts';
import { describePostgres } from '../support/needs.ts';
import { placeOf } from '../support/place.ts';
import { bareDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { Random } from '../support/random.ts';
import { scaleOf } from '../support/scale.ts';
import { PATIENCE_MS } from '../support/until.ts';

const SECONDS = scaleOf('ROUTING_SECONDS', { short: 2, long: 20 });
const SEED = Number(process.env['ROUTING_SEED'] ?? 7);
const ASKERS = 48;
/** Between two ends of connections, and between two cancels, ms. */
const KILL_PAUSE_MS = 120;

/** What is done to statements here: they are cancelled, or end with their connection. */
const DONE_TO_IT = /^(?:57014|57P01|57P05|08\w{3}|25P02|25P03)$|^ERR_POSTGRES_/;

interface Asked {
  /** No two questions have the same. */
  mark: number;
  random: Random;
  on: Runner;
  /** A transaction of the asker's own. */
  transaction<T>(work: (on: Runner) => Promise<T>): Promise<T>;
}

/** What came of a question: null if it was the right answer, else what it was. */
type Question = (asked: Asked) => Promise<unknown>;

/** Settles with what is wrong with an answer; null: it is the one that was to come. */
const same = (answer: unknown, wanted: unknown) =>
  Bun.deepEquals(answer, wanted) ? null : { answer, wanted };

const QUESTIONS: Record<string, Question> = {
  'a number and a text': async ({ mark, on }) => {
    const { rows } = await on.ask('SELECT $1::bigint AS n, $2::text AS t', [mark, `t${mark}`]);
    return same(rows, [{ n: mark, t: `t${mark}` }]);
  },
  'other columns': async ({ mark, on }) => {
    const { rows } = await on.ask(
      'SELECT $1::text AS a, $2::boolean AS b, NULL::text AS c, $3::float8 AS d',
      [`${mark}`, mark % 2 === 0, mark / 4],
    );
    return same(rows, [{ a: `${mark}`, b: mark % 2 === 0, c: null, d: mark / 4 }]);
  },
  'no rows': async ({ mark, on }) => {
    const { rows, count } = await on.ask('SELECT $1::bigint AS n WHERE false', [mark]);
    return same({ rows, count }, { rows: [], count: 0 });
  },
  'many rows': async ({ mark, random, on }) => {
    const length = random.int(1, 400);
    const { rows } = await on.ask(
      `SELECT g::integer AS g, $1::bigint AS n, repeat('x', 100) AS fill
       FROM generate_series(1, $2::integer) g`,
      [mark, length],
    );
    const fill = 'x'.repeat(100);
    return same(
      rows,
      Array.from({ length }, (_, g) => ({ g: g + 1, n: mark, fill })),
    );
  },
  'a text that nobody asked before': async ({ mark, on }) => {
    const { rows } = await on.ask(`SELECT ${mark}::bigint AS n${mark}, $1::bigint AS n`, [mark]);
    return same(rows, [{ [`n${mark}`]: mark, n: mark }]);
  },
  arrays: async ({ mark, random, on }) => {
    const length = random.int(0, 130);
    const numbers = Array.from({ length }, (_, i) => (i % 7 === 3 ? null : mark + i));
    const texts = numbers.map((number) => (number === null ? null : `é"{${number}},`));
    const { rows } = await on.ask(
      `SELECT o::integer AS o, n, t
       FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS given (n, t, o)`,
      [numbers, texts],
    );
    return same(
      rows,
      numbers.map((n, i) => ({ o: i + 1, n, t: texts[i] })),
    );
  },
  bytes: async ({ mark, on }) => {
    const bytes = new Uint8Array(32).fill(mark % 256);
    new DataView(bytes.buffer).setUint32(0, mark);
    const { rows } = await on.ask<{ b: Uint8Array }>('SELECT $1::bytea AS b', [bytes]);
    return same(
      rows.map(({ b }) => Buffer.from(b).toString('hex')),
      [Buffer.from(bytes).toString('hex')],
    );
  },
  'what cannot be': async ({ mark, on }) => {
    const fault = await failureOf(on.ask('SELECT $1::text::bigint AS n', [`no${mark}`]));
    if (!/22P02/.test(stateOf(fault))) throw fault;
    const says = fault instanceof Error ? fault.message : '';
    return says.includes(`"no${mark}"`) ? null : { says, wanted: mark };
  },
  'a row that is there': async ({ mark, on }) => {
    const fault = await failureOf(
      on.ask('INSERT INTO taken (n) SELECT 1 WHERE $1::bigint > 0', [mark]),
    );
    if (stateOf(fault) !== '23505') throw fault;
    return null;
  },
  'a row of its own': async ({ mark, on }) => {
    const { rows } = await on.ask('INSERT INTO taken (n) VALUES ($1) RETURNING n', [mark]);
    return same(rows, [{ n: mark }]);
  },
  'a transaction': async ({ mark, transaction }) =>
    transaction(async (on) => {
      await on.ask("SELECT set_config('gatepost.mark', $1, true)", [`${mark}`]);
      const answers = await Promise.all([
        on.ask("SELECT current_setting('gatepost.mark') AS m", []),
        on.ask('SELECT $1::bigint AS n', [mark]),
        on.ask("SELECT current_setting('gatepost.mark') AS m, $1::text AS t", ['x']),
      ]);
      return same(
        answers.map(({ rows }) => rows),
        [[{ m: `${mark}` }], [{ n: mark }], [{ m: `${mark}`, t: 'x' }]],
      );
    }),
  'a transaction that fails': async ({ mark, transaction }) => {
    const fault = await failureOf(
      transaction(async (on) => {
        await on.ask('INSERT INTO taken (n) VALUES ($1)', [-mark]);
        return on.ask('SELECT $1::bigint / 0', [mark]);
      }),
    );
    if (stateOf(fault) !== '22012') throw fault;
    return null;
  },
};

/** The fault that was to come. Nothing that came instead is an answer. */
async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    await asked;
  } catch (fault) {
    return fault;
  }
  throw new Error('it was answered');
}

function stateOf(fault: unknown): string {
  if (typeof fault !== 'object' || fault === null) return '';
  const { errno, code } = fault as { errno?: unknown; code?: unknown };
  return String(errno ?? code ?? '');
}

const isDoneToIt = (fault: unknown) =>
  fault instanceof StoreAway || fault instanceof WriteFailed || DONE_TO_IT.test(stateOf(fault));

class Fuzz {
  right = 0;
  lost = 0;
  readonly problems: string[] = [];
  readonly #endMs = performance.now() + SECONDS * 1000;
  #mark = 1;

  get isOver(): boolean {
    return performance.now() > this.#endMs || this.problems.length > 20;
  }

  async ask(asker: number, way: Omit<Asked, 'mark' | 'random'>): Promise<void> {
    const random = new Random(SEED * 1000 + asker);
    const names = Object.keys(QUESTIONS);
    while (!this.isOver) {
      // Now and then many at once, so that they share a connection.
      const together = Array.from({ length: random.chance(0.2) ? random.int(2, 16) : 1 }, () =>
        this.#askOne(random.pick(names), { ...way, random, mark: ++this.#mark }),
      );
      await Promise.all(together);
    }
  }

  async #askOne(name: string, asked: Asked): Promise<void> {
    let timer: Timer | undefined;
    const hung = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve('nothing came'), PATIENCE_MS);
    });
    try {
      const wrong = await Promise.race([QUESTIONS[name]?.(asked), hung]);
      if (wrong === null) this.right += 1;
      else this.problems.push(`${name}: ${JSON.stringify(wrong)}`);
    } catch (fault) {
      if (isDoneToIt(fault)) this.lost += 1;
      else this.problems.push(`${name}: ${stateOf(fault)} ${fault}`);
    } finally {
      clearTimeout(timer);
    }
  }
}

describePostgres('routing', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await bareDatabase();
    await database.sql`CREATE TABLE taken (n bigint PRIMARY KEY)`;
    await database.sql`INSERT INTO taken (n) VALUES (1)`;
    await database.sql.unsafe('GRANT ALL ON taken TO PUBLIC');
  });
  afterAll(() => database.drop());

  /** Cancels or ends what is at work on the database, one at a time. */
  async function disturb(fuzz: Fuzz, how: readonly string[]): Promise<number> {
    const random = new Random(SEED);
    let times = 0;
    for (; !fuzz.isOver; times++) {
      await Bun.sleep(random.int(1, 2 * KILL_PAUSE_MS));
      await database.sql.unsafe(
        `SELECT ${random.pick(how)}(pid) FROM (
           SELECT pid FROM pg_stat_activity WHERE datname = current_database()
             AND pid <> pg_backend_pid() ORDER BY state = 'active' DESC, random() LIMIT 1) found`,
      );
    }
    return times;
  }

  async function run(
    wayOf: (asker: number) => Omit<Asked, 'mark' | 'random'>,
    how: readonly string[],
  ): Promise<void> {
    await database.sql`DELETE FROM taken WHERE n <> 1`;
    const fuzz = new Fuzz();
    const disturbing = how.length > 0 ? disturb(fuzz, how) : 0;
    await Promise.all(Array.from({ length: ASKERS }, (_, asker) => fuzz.ask(asker, wayOf(asker))));
    const times = await disturbing;
    expect(fuzz.problems).toEqual([]);
    const [left] = await database.sql`SELECT count(*)::integer AS count FROM taken WHERE n < 0`;
    expect(left).toEqual({ count: 0 });
    console.log(`${fuzz.right} answers, ${fuzz.lost} lost to ${times} disturbances`);
    expect(fuzz.right).toBeGreaterThan(100);
  }

  test.each([
    ['left in peace', 1, []],
    ['over one connection', 2, ['pg_cancel_backend', 'pg_terminate_backend']],
    ['over several connections', 6, ['pg_cancel_backend', 'pg_terminate_backend']],
  ] as const)('through the store, %s', async (_, connections, how) => {
    const options = { ...placeOf(database.url), connections: Math.max(2, connections) };
    const db = new Database(options);
    try {
      await run(
        () => ({ on: db, transaction: (work) => db.within((call) => db.transaction(work, call)) }),
        how,
      );
    } finally {
      await db.close();
    }
  });

  test('through the driver, with questions that their asker takes back', async () => {
    const pool = new SQL(poolOptions(placeOf(database.url), 4));
    const random = new Random(SEED + 1);
    const runnerOf = (sql: Pick<SQL, 'unsafe'>): Runner => ({
      ask: async <Row>(text: string, params: readonly Bound[]) => {
        const query = sql.unsafe(text, params as Bound[]).execute();
        if (random.chance(0.02)) query.cancel();
        const rows = (await query) as Record<string, unknown>[] & { count: number };
        const plain = Array.from(rows, (row) =>
          Object.fromEntries(
            Object.entries(row).map(([name, value]) => [
              name,
              typeof value === 'bigint' ? Number(value) : value,
            ]),
          ),
        );
        return { rows: plain as Row[], count: rows.count };
      },
    });
    const transaction = <T>(work: (on: Runner) => Promise<T>) =>
      pool.begin((sql) => work(runnerOf(sql))) as Promise<T>;
    try {
      await run(() => ({ on: runnerOf(pool), transaction }), ['pg_terminate_backend']);
    } finally {
      await pool.close({ timeout: 0 });
    }
  });
});
