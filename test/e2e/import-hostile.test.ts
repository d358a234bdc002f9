/**
 * Databases and APIs of panels that a stranger made to hold an import for ever or to fill the
 * memory. A new one is a row of the table.
 */

import { afterEach, expect, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf, peakMibOf, startImport, writeEndless } from '../support/panel-import.ts';
import { writeSqlite } from '../support/panel-tables.ts';
import { temporaryFolder } from '../support/process.ts';
import { IS_LONG } from '../support/scale.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const MIB = 1024 ** 2;
/** The cap of each row; a process may have that much more before it is seen. */
const CAP_MIB = 300;
const OVERSHOOT_MIB = 700;
let panel: ReturnType<typeof Bun.serve> | null = null;
afterEach(async () => {
  await panel?.stop(true);
  panel = null;
});

/** Writes a SQLite file by statements. */
const database =
  (...statements: string[]) =>
  (file: string) => {
    const db = writeSqlite(file, []);
    for (const statement of statements) db.run(statement);
    db.close();
  };

/** More than the cap: nothing may hold all of it. */
const ENDLESS_BYTES = IS_LONG ? 900e6 : 400e6;
const endless = (text: string) => (file: string) => writeEndless(file, text, ENDLESS_BYTES);

let answerCount = 0;

/** Serves a body for each path of an API. */
const api = (body: () => string) => () => {
  panel = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(body()) });
};

const PG = '-- PostgreSQL database dump\n';
const USERS = 'CREATE TABLE users (id, username, status, note)';
const NESTED = Array.from(
  { length: 30 },
  (_, n) => `CREATE VIEW v${n + 1} AS SELECT a.id, a.username FROM v${n} a, v${n} b`,
);
const COUNT = 'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)';

interface Hostile {
  name: string;
  panel?: string;
  /** Makes the file, or starts the API. */
  make(file: string): void;
  /** The end of the sentence; null: it is imported. */
  says: string | null;
}

const HOSTILE: Hostile[] = [
  {
    name: 'a view that never yields',
    make: database(`CREATE VIEW users AS ${COUNT} SELECT id, 'x' AS username FROM n WHERE id < 0`),
    says: 'it has no table users',
  },
  {
    name: 'nested views',
    make: database(
      "CREATE VIEW v0 AS SELECT 1 AS id, 'x' AS username",
      ...NESTED,
      'CREATE VIEW users AS SELECT * FROM v30',
    ),
    says: 'it has no table users',
  },
  {
    name: 'a table that is none',
    make: database('CREATE VIRTUAL TABLE users USING fts5(username, status)'),
    says: 'it has no table users',
  },
  {
    name: 'a column that computes',
    make: database(
      'CREATE TABLE users (id, username, status, note AS (hex(zeroblob(20000000))))',
      "INSERT INTO users (id, username, status) VALUES (1, 'anna', 'active')",
    ),
    says: null,
  },
  {
    name: 'a value of 17 MiB',
    make: database(USERS, `INSERT INTO users (note) VALUES (zeroblob(${17 * MIB}))`),
    says: 'has a value of more than 16 MiB in users',
  },
  {
    name: 'a text of more than the memory',
    make: endless(PG),
    says: 'it has no table users',
  },
  {
    name: 'COPY that never ends',
    make: endless(`${PG}COPY public.users (id, username) FROM stdin;\n1\t`),
    says: 'has a row of more than 16 MiB',
  },
  {
    name: 'INSERT that never ends',
    make: endless(`${PG}INSERT INTO users (username) VALUES ('`),
    says: 'has a row of more than 16 MiB',
  },
  {
    name: 'a definition that never ends',
    make: endless(`${PG}CREATE TABLE users ((((`),
    says: 'has a row of more than 16 MiB',
  },
  {
    name: 'brackets in a value',
    panel: '3x-ui',
    make: database(
      'CREATE TABLE inbounds (settings)',
      `INSERT INTO inbounds VALUES (replace(hex(zeroblob(${5 * MIB})), '0', '['))`,
    ),
    says: `takes more than ${CAP_MIB} MiB of memory to read (--memory allows more)`,
  },
  {
    name: '60 MB of brackets from an API',
    panel: 'hiddify',
    make: api(() => '['.repeat(60e6)),
    says: 'its answer to /api/v2/admin/me/ must not nest deeper than 32 levels',
  },
  {
    name: '60 MB of small values from an API',
    panel: 'hiddify',
    make: api(() => `[${'[],'.repeat(20e6)}[]]`),
    says: 'its answer to /api/v2/admin/me/ must not hold more than 5000000 values',
  },
  {
    name: 'users without end from an API',
    panel: 'marzban',
    make: api(() => {
      answerCount += 1;
      // Each page begins with the last user of the one before.
      const users = [answerCount - 1, answerCount].map((n) => ({
        username: `user${n}`,
        note: 'x'.repeat(MIB),
      }));
      return JSON.stringify({ username: 'a', is_sudo: true, users, total: 1e9 });
    }),
    says: `takes more than ${CAP_MIB} MiB of memory to read (--memory allows more)`,
  },
];

test.each(HOSTILE.map((row) => [row.name, row] as const))(
  '%s',
  async (_, { panel: kind = 'marzban', make, says }) => {
    const file = join(temporaryFolder(), 'panel');
    make(file);
    const key = join(temporaryFolder(), 'key');
    writeFileSync(key, 'token\n', { mode: 0o600 });
    const from = panel && ['--from', `http://127.0.0.1:${panel.port}`, '--key-file', key];
    const words = [...(from ?? [file]), '--panel', kind, '--rate', '9999'];
    const { child, ended, tmp } = await startImport([...words, '--memory', String(CAP_MIB)]);
    let peakMib = 0;
    const look = setInterval(() => {
      const pids = [child.pid, ...childrenOf(child.pid)];
      peakMib = Math.max(peakMib, ...pids.map(peakMibOf));
    }, 20);
    const { stdout, stderr, exitCode } = await ended.finally(() => clearInterval(look));
    if (says === null) {
      expect({ stderr, ...JSON.parse(stdout) }).toMatchObject({ stderr: '', users: 1 });
    } else {
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
      // Progress may stand before it.
      const last = stderr.trim().split('\n').at(-1) ?? '';
      expect(JSON.parse(last).error.message).toEndWith(says);
    }
    expect(readdirSync(tmp)).toEqual([]);
    expect(peakMib).toBeLessThan(CAP_MIB + OVERSHOOT_MIB);
  },
);
