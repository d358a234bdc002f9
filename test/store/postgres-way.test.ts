/** The way to PostgreSQL as operators set it up: TLS, names, passwords, and what doctor finds. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { ImportedLink } from '../../src/core/port/moving.ts';
import type { Store } from '../../src/core/port/store.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { openCore, storeKindOf } from '../../src/parts/open-core.ts';
import { ACT } from '../support/actor.ts';
import { selfSigned, TestAuthority } from '../support/certificate.ts';
import { describePostgres } from '../support/needs.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { addDoor, knock, NOW_MS, removeProvider } from './contract/fixture.ts';

/** As whom PostgreSQL runs here if the tests run as root. */
const NOBODY = 65_534;

describePostgres('the way to PostgreSQL', () => {
  let folder: string;
  let server: OwnPostgres;
  let database: TestDatabase;

  /** A file that both the server and Gatepost may read. */
  function fileOf(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (process.getuid?.() === 0 && name === 'server.key') chownSync(path, NOBODY, NOBODY);
    return path;
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatepost-way-'));
    chmodSync(folder, 0o755);
    const authority = await TestAuthority.create();
    const { cert, key } = await authority.issue(['localhost']);
    fileOf('ca.pem', authority.certificatePem);
    fileOf('other.pem', (await selfSigned('other')).cert);
    const certFile = fileOf('server.pem', cert);
    chmodSync(certFile, 0o644);
    const keyFile = fileOf('server.key', key);
    server = await startPostgres({ ssl: 'on', ssl_cert_file: certFile, ssl_key_file: keyFile });
    database = await freshDatabase(server);
  });
  afterAll(async () => {
    await database.drop();
    await server.stop('fast');
    rmSync(folder, { recursive: true });
  });

  const at = (host: string, query = '') =>
    `postgres://gatepost@${host}:${server.port}/${database.name}${query}`;

  /** Opens the product with these settings, asks it something, and closes it. */
  async function ask(
    env: Record<string, string>,
    look: (store: Store) => Promise<void> = async () => undefined,
  ): Promise<number> {
    const { config } = loadConfig(
      { dataDir: join(folder, 'data') },
      { GATEPOST_CONFIG: 'none', ...env },
    );
    const { store } = await openCore(config, false);
    try {
      const count = (await store.readServerFacts())?.connectionCount ?? 0;
      await look(store);
      return count;
    } finally {
      await store.close();
    }
  }

  const CA = () => ({ GATEPOST_DATABASE_CA_FILE: join(folder, 'ca.pem') });

  describe('TLS', () => {
    test('is spoken where an authority is named, and the name is checked', async () => {
      const env = { GATEPOST_DATABASE_URL: at('localhost'), ...CA() };
      await ask(env, async () => {
        const [row] = await database.sql`
          SELECT bool_and(ssl) AS tls FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
          WHERE application_name LIKE 'gatepost/%'`;
        expect(row?.tls).toBe(true);
      });
    });

    test('with another name is refused, unless the authority alone is to be checked', async () => {
      const env = { GATEPOST_DATABASE_URL: at('127.0.0.1'), ...CA() };
      await expect(ask(env)).rejects.toThrow(/at 127\.0\.0\.1:\d+ refuses/);
      const lax = { ...env, GATEPOST_DATABASE_URL: at('127.0.0.1', '?sslmode=verify-ca') };
      expect(await ask(lax)).toBeGreaterThan(0);
    });

    test.each(['?sslmode=verify-full', '?sslmode=require', '?sslmode=verify-ca'])(
      'by another authority is refused, whatever the environment says of TLS: %s',
      async (query) => {
        const other = { GATEPOST_DATABASE_CA_FILE: join(folder, 'other.pem') };
        process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
        try {
          const env = { GATEPOST_DATABASE_URL: at('localhost', query), ...other };
          await expect(ask(env)).rejects.toThrow(/refuses: self.signed certificate/);
        } finally {
          delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
        }
      },
    );

    test('by no public authority is refused without a file', async () => {
      const env = { GATEPOST_DATABASE_URL: at('localhost', '?sslmode=verify-full') };
      await expect(ask(env)).rejects.toThrow(/refuses: self.signed certificate/);
    });
  });

  test('a file of an authority that is none, or not there', async () => {
    const env = { GATEPOST_DATABASE_URL: at('localhost') };
    const missing = { ...env, GATEPOST_DATABASE_CA_FILE: join(folder, 'no.pem') };
    await expect(ask(missing)).rejects.toThrow('cannot read database.ca_file');
    const wrong = { ...env, GATEPOST_DATABASE_CA_FILE: fileOf('wrong.pem', 'nothing') };
    await expect(ask(wrong)).rejects.toThrow('database.ca_file: ');
  });

  test('a password file that others may read, is empty, or not there', async () => {
    const env = { GATEPOST_DATABASE_URL: at('localhost') };
    const withFile = (path: string) => ask({ ...env, GATEPOST_DATABASE_PASSWORD_FILE: path });
    await expect(withFile(join(folder, 'no'))).rejects.toThrow('database.password_file: ');
    await expect(withFile(fileOf('empty', '\n'))).rejects.toThrow('is empty');
    const open = fileOf('open', 'secret\n');
    chmodSync(open, 0o644);
    await expect(withFile(open)).rejects.toThrow('holds secrets');
    chmodSync(open, 0o600);
    expect(await withFile(open)).toBeGreaterThan(0);
  });

  test('variables of PostgreSQL and of others lead nowhere else', async () => {
    const others = {
      PGHOST: '192.0.2.1',
      PGPORT: '1',
      PGUSER: 'nobody',
      PGDATABASE: 'other',
      PGPASSWORD: 'x',
      DATABASE_URL: 'postgres://nobody@192.0.2.1/other?sslmode=require',
    };
    Object.assign(process.env, others);
    try {
      expect(await ask({ GATEPOST_DATABASE_URL: at('localhost') })).toBeGreaterThan(0);
    } finally {
      for (const name of Object.keys(others)) delete process.env[name];
    }
  });

  test('a role, a database and a server that are not there are one sentence each', async () => {
    const url = (text: string) => ({ GATEPOST_DATABASE_URL: text });
    const { port } = server;
    await expect(ask(url(`postgres://no@localhost:${port}/${database.name}`))).rejects.toThrow(
      `PostgreSQL at localhost:${port} refuses: role "no" does not exist`,
    );
    await expect(ask(url(`postgres://gatepost@localhost:${port}/no`))).rejects.toThrow(
      'database "no" does not exist',
    );
    await expect(ask(url('postgres://gatepost@localhost:1/no'))).rejects.toThrow(
      'PostgreSQL at localhost:1 does not answer',
    );
  });

  describe('doctor', () => {
    const look = (env: Record<string, string>) => {
      const { config } = loadConfig(
        { dataDir: join(folder, 'data') },
        { GATEPOST_CONFIG: 'none', ...env },
      );
      return storeKindOf(config).survey(folder, () => [
        { host: 'sub.example.com', provider: 'Nobody12' },
      ]);
    };

    test('finds what loses data, who serves, and an id that would be given out twice', async () => {
      await database.sql.unsafe(`
        INSERT INTO webhook (id, kind, address, events, scheme, secret, locale, created_at_ms)
          VALUES (70, 'webhook', 'https://example.com', '', 'v1', 's', 'en', 1);
        INSERT INTO node (name, address, version, schema, started_at_ms, seen_at_ms) VALUES
          ('one', 'a', '1.0.0', 1, 1, extract(epoch FROM clock_timestamp()) * 1000),
          ('two', 'b', '1.0.0', 1, 1, extract(epoch FROM clock_timestamp()) * 1000 - 60000)`);
      const { counts, findings, hosts, bytes, names } = await look({
        GATEPOST_DATABASE_URL: at('localhost'),
        GATEPOST_DATABASE_CONNECTIONS: '50',
      });
      const said = findings.map(({ level, what }) => `${level}: ${what}`).join('\n');
      expect(said).toContain('problem: fsync is off');
      expect(said).toContain('problem: synchronous_commit is off');
      expect(said).toContain('warning: it archives no log');
      expect(said).toContain('ok: it is served by one (1.0.0)');
      expect(said).toMatch(/warning: node two has been silent for 6\d s/);
      expect(said).toContain('problem: the next id of webhook is taken');
      const todo =
        findings.find(({ what }) => what.startsWith('the next id of webhook'))?.todo ?? '';
      // Meanwhile others go on: whenever it is followed, no id is given twice.
      await database.sql.unsafe(todo);
      const next = async () =>
        (await database.sql`SELECT nextval('webhook_id_seq')::int AS id`)[0].id;
      expect(await next()).toBe(71);
      await database.sql`SELECT setval('webhook_id_seq', 900)`;
      await database.sql.unsafe(todo);
      expect(await next()).toBeGreaterThan(900);
      await database.sql`ALTER SEQUENCE webhook_id_seq RESTART`;
      expect(hosts).toEqual(['provider_not_found']);
      expect(bytes).toBeGreaterThan(1_000_000);
      expect(counts).toMatchObject({ webhook: 1, provider: 0 });
      expect(names.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['node one', 'node two']);
      await database.sql`DELETE FROM node`;
      await database.sql`DELETE FROM webhook`;
    });

    test('reads which slots name no device, and which limits an import left', async () => {
      const env = { GATEPOST_DATABASE_URL: at('localhost') };
      await ask(env, async (store) => {
        const { providerId } = await addDoor(store);
        await knock(store, 'null');
        const user = {
          id: null,
          installCode: 'anna00000000',
          installLimit: 100,
          status: 5,
          note: '',
          createdAtMs: NOW_MS,
          panelUser: 'marzban:anna',
          slots: [],
          terms: NO_TERMS,
        } satisfies ImportedLink;
        const terms = { installCountMax: 100, updates: false };
        await store.importLink(providerId, user, terms, ACT);
        const seen = { host: 'sub.example.com', kind: 'no_subscription', subject: '200' } as const;
        store.noteSighting(seen, NOW_MS, 2);
        await store.saveFigures();
      });
      expect(await look(env)).toMatchObject({
        junk: [{ hwid: 'null', slotCount: 1 }],
        disabledByImport: [{ code: 'Provide1', count: 1 }],
        sightings: [{ subject: '200', count: 2, lastSeenAtMs: NOW_MS }],
      });
      await ask(env, async (store) => void (await removeProvider(store, 'Provide1')));
    });

    test('counts the connections that all nodes need', async () => {
      const nodes = Array.from({ length: 6 }, (_, n) => ({ name: String(n) }));
      for (const { name } of nodes) {
        await database.sql`
          INSERT INTO node (name, address, version, schema, started_at_ms, seen_at_ms)
          VALUES (${name}, '', '', 1, 1, extract(epoch FROM clock_timestamp()) * 1000)`;
      }
      const env = { GATEPOST_DATABASE_URL: at('localhost') };
      const few = await look(env);
      expect(few.findings.map(({ what }) => what).join()).toMatch(/\d+ of \d+ connections are/);
      const many = await look({ ...env, GATEPOST_DATABASE_CONNECTIONS: '50' });
      expect(many.findings.map(({ what }) => what).join()).toContain(
        '6 nodes with 52 connections each, and 10 to spare, need 322; it takes 297',
      );
      await database.sql`DELETE FROM node`;
    });

    test('reads the rows before the sequence, so that rows that come meanwhile are no fault', async () => {
      // A table is read after a moment in which nodes add rows.
      const { sql } = database;
      let isOver = false;
      const adding = (async () => {
        while (!isOver) {
          await sql`INSERT INTO provider (code, name, key_hash, plan, created_at_ms)
            SELECT 'P' || lpad(nextval('install_id_seq')::text, 7, '0'), 'x', sha256('x'), 'basic', 1
            FROM generate_series(1, 10)`;
        }
      })();
      for (let n = 0; n < 6; n++) {
        const { findings } = await look({ GATEPOST_DATABASE_URL: at('localhost') });
        expect(findings.map(({ what }) => what).join()).not.toContain('the next id');
      }
      isOver = true;
      await adding;
      await sql`DELETE FROM provider`;
    });

    test('names what a pooler keeps a node from setting', async () => {
      const env = { GATEPOST_DATABASE_URL: at('localhost') };
      const of = async (more: Record<string, string>) =>
        (await look({ ...env, ...more })).findings.find(({ what }) => what.includes('the pooler'));
      const found = await of({ GATEPOST_DATABASE_POOLER: 'true' });
      expect(found?.what).toContain('statement_timeout, lock_timeout, idle_in_transaction_session');
      expect(await of({})).toBeUndefined();
      const [advice = ''] = (found?.todo ?? '').split('; then');
      await database.sql.unsafe(advice);
      expect(await of({ GATEPOST_DATABASE_POOLER: 'true' })).toBeUndefined();
      await database.sql.unsafe('ALTER ROLE gatepost RESET ALL');
    });

    test('says so where there is no server, or no Gatepost', async () => {
      const nobody = await look({ GATEPOST_DATABASE_URL: 'postgres://gatepost@localhost:1/no' });
      expect(nobody.findings).toMatchObject([{ level: 'problem' }]);
      expect(nobody.findings[0]?.what).toStartWith('it cannot be asked');
      const url = `postgres://gatepost@localhost:${server.port}/postgres`;
      const empty = await look({ GATEPOST_DATABASE_URL: url });
      expect(empty.findings[0]?.what).toBe('there is no Gatepost in the database');
    });
  });
});
