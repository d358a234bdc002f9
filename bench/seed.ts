/**
 * Makes a database with many rows in seconds: the product makes the schema, the database computes
 * the rows. Triggers (on SQLite indexes too) are off meanwhile, and the counts that they keep are
 * written as they would have left them.
 */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { SQL } from 'bun';
import { hashKey } from '../src/core/secret.ts';
import type { Bench } from './driver.ts';
import {
  authKey,
  domainHash,
  HWID_END,
  providerCode,
  SCATTER_FACTOR,
  SCATTER_MODULUS,
  type Shape,
} from './shape.ts';

const CHUNK_ROWS = 500_000;

/** A database that is seeded, with its own words. */
interface Target {
  run(sql: string): Promise<unknown>;
  blob(bytes: Uint8Array): string;
  /** A number with zeros before it, and eight digits of it in hexadecimal. */
  padded(sql: string, digits: number): string;
  hex(sql: string): string;
}

/** Makes `dataDir/gatepost.db`. */
export async function seed(bench: Bench, dataDir: string, shape: Shape): Promise<void> {
  bench.addProvider(dataDir);
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
  try {
    // The file may be lost if the machine stops now.
    for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -262144']) {
      db.run(`PRAGMA ${pragma}`);
    }
    const parts = db
      .query<{ type: string; name: string; sql: string }, []>(
        `SELECT type, name, sql FROM sqlite_schema
         WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`,
      )
      .all();
    for (const { type, name } of parts) db.run(`DROP ${type} "${name}"`);
    const target: Target = {
      run: async (sql) => db.run(sql),
      blob: (bytes) => `x'${Buffer.from(bytes).toString('hex')}'`,
      padded: (sql, digits) => `printf('%0${digits}d', ${sql})`,
      hex: (sql) => `printf('%08x', ${sql})`,
    };
    await addRows(target, shape);
    for (const { sql } of parts) db.run(sql);
    checkCounts(db, shape);
  } finally {
    db.close(true);
  }
}

/** Makes a database on a server; answers its URL. */
export async function seedPostgres(bench: Bench, port: number, shape: Shape): Promise<string> {
  const at = { adapter: 'postgres', hostname: '127.0.0.1', port, username: 'bench' } as const;
  const name = `bench${crypto.randomUUID().replaceAll('-', '')}`;
  const server = new SQL({ ...at, password: '', max: 1, database: 'postgres' });
  await server.unsafe(`CREATE DATABASE ${name}`);
  await server.close();
  const url = `postgres://bench@127.0.0.1:${port}/${name}`;
  bench.addProvider(bench.place('none'), 1, { GATEPOST_DATABASE_URL: url });
  const db = new SQL({ ...at, password: '', max: 1, database: name });
  await db.unsafe('SET session_replication_role = replica');
  await addRows(
    {
      run: (sql) => db.unsafe(sql),
      blob: (bytes) => `'\\x${Buffer.from(bytes).toString('hex')}'::bytea`,
      padded: (sql, digits) => `lpad((${sql})::text, ${digits}, '0')`,
      hex: (sql) => `lpad(to_hex(${sql}), 8, '0')`,
    },
    shape,
  );
  await db.unsafe('VACUUM ANALYZE');
  await db.close();
  return url;
}

async function addRows(target: Target, shape: Shape): Promise<void> {
  const { run, blob, padded, hex } = target;
  const { providerCount, linkCount, deviceCount, boundCount = 0 } = shape;
  const nowMs = Date.now();
  for (let n = 1; n <= providerCount; n++) {
    if (n > 1) {
      await run(`INSERT INTO provider (code, name, plan, key_hash, created_at_ms) VALUES
        ('${providerCode(n)}', 'bench', 'enterprise', ${blob(hashKey(authKey(n)))}, ${nowMs})`);
    }
    await run(`INSERT INTO domain (provider_id, domain_hash, domain_name, status, created_at_ms)
      VALUES (${n}, '${domainHash(n)}', 'bench', 10, ${nowMs})`);
  }
  const scattered = `i * ${SCATTER_FACTOR} % ${SCATTER_MODULUS}`;
  const owner = (link: string) => `(${link} - 1) / ${shape.run ?? 1} % ${providerCount} + 1`;
  await inChunks(1, linkCount, (numbers) =>
    run(
      `INSERT INTO install (provider_id, install_code, install_limit, device_count, status, note,
         created_at_ms) ${numbers}
       SELECT ${owner('i')}, 'gp' || ${padded(scattered, 10)}, 100,
         CASE WHEN i % ${linkCount / deviceCount} = 0 THEN 1 ELSE 0 END, 10, 'customer ' || i,
         ${nowMs} - (${linkCount} - i) * 1000
       FROM n`,
    ),
  );
  // They say what load.lua says, and were here today: a known HWID then writes nothing.
  const says = `'android', '16', 'Bench Phone', '1.0', 'BenchApp/1.0'`;
  const columns = 'os, os_version, device_name, app_version, user_agent, last_seen_at_ms';
  await inChunks(1, deviceCount + boundCount, (numbers) =>
    run(
      `INSERT INTO device (hwid, ${columns}, first_seen_at_ms, holder_count) ${numbers}
       SELECT ${hex(scattered)} || '${HWID_END}', ${says}, ${nowMs}, ${nowMs}, 1 FROM n`,
    ),
  );
  const link = `i * ${linkCount / deviceCount}`;
  await inChunks(1, deviceCount, async (numbers) => {
    await run(
      `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
         last_seen_at_ms, after_recipient_id) ${numbers}
       SELECT ${link}, i, ${owner(link)}, ${nowMs}, ${nowMs}, 0 FROM n`,
    );
    await run(
      `INSERT INTO device_provider (device_id, provider_id, ${columns}, slot_count) ${numbers}
       SELECT i, ${owner(link)}, ${says}, ${nowMs}, 1 FROM n`,
    );
  });
  await inChunks(deviceCount + 1, deviceCount + boundCount, async (numbers) => {
    const id = `i % ${providerCount} + 1`;
    await run(
      `INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms) ${numbers}
       SELECT i, ${id}, ${id}, ${nowMs} FROM n`,
    );
    await run(
      `INSERT INTO device_provider (device_id, provider_id, ${columns}, tie_count) ${numbers}
       SELECT i, ${id}, ${says}, ${nowMs}, 1 FROM n`,
    );
  });
  for (const [column, of] of [
    ['domain_count', 'domain'],
    ['install_count', 'install'],
  ]) {
    await run(`UPDATE provider
      SET ${column} = (SELECT count(*) FROM ${of} WHERE provider_id = provider.id)`);
  }
}

async function inChunks(
  from: number,
  to: number,
  add: (numbers: string) => Promise<unknown>,
): Promise<void> {
  for (let first = from; first <= to; first += CHUNK_ROWS) {
    const last = Math.min(to, first + CHUNK_ROWS - 1);
    await add(
      `WITH RECURSIVE n(i) AS (SELECT CAST(${first} AS bigint)
         UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`,
    );
  }
}

/** A benchmark of a database that could not exist would say nothing. */
function checkCounts(db: Database, { linkCount, deviceCount }: Shape): void {
  const found = db
    .query<Record<'links' | 'counted' | 'slots' | 'taken', number>, []>(
      `SELECT (SELECT count(*) FROM install) AS links,
         (SELECT sum(install_count) FROM provider) AS counted,
         (SELECT count(*) FROM install_device) AS slots,
         (SELECT sum(device_count) FROM install) AS taken`,
    )
    .get();
  const isTrue =
    found?.links === linkCount &&
    found.counted === linkCount &&
    found.slots === deviceCount &&
    found.taken === deviceCount;
  if (!isTrue) throw new Error(`the seeded counts do not hold: ${JSON.stringify(found)}`);
}
