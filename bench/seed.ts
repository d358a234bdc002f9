/**
 * Makes a database with many rows in seconds: the product makes the schema, SQLite computes the
 * rows. Indexes and triggers are taken away meanwhile and put back as they were, and the counts
 * that the triggers keep are written as they would have left them.
 */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { hashKey } from '../src/core/secret.ts';
import {
  authKey,
  domainHash,
  providerCode,
  SCATTER_FACTOR,
  SCATTER_MODULUS,
  type Shape,
} from './shape.ts';

const CHUNK_ROWS = 500_000;

/** Makes `dataDir/gatepost.db` with the schema of `executable`. */
export function seed(executable: string, dataDir: string, shape: Shape, nowMs: number): void {
  addFirstProvider(executable, dataDir);
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
    addProviders(db, shape, nowMs);
    addLinks(db, shape, nowMs);
    addDevices(db, shape, nowMs);
    for (const { sql } of parts) db.run(sql);
    checkCounts(db, shape);
  } finally {
    db.close(true);
  }
}

/** The product makes the database, in a process of its own: as long as that lives, it holds it. */
function addFirstProvider(executable: string, dataDir: string): void {
  const identity = ['--name', 'bench', '--code', providerCode(1), '--key', authKey(1)];
  const add = Bun.spawnSync([executable, 'provider', 'add', '--data', dataDir, ...identity]);
  if (add.exitCode !== 0) throw new Error(`no database was made: ${add.stderr.toString()}`);
}

function addProviders(db: Database, shape: Shape, nowMs: number): void {
  const provider = db.prepare(
    `INSERT INTO provider (code, name, plan, key_hash, created_at_ms)
     VALUES (?, 'bench', 'enterprise', ?, ?)`,
  );
  const domain = db.prepare(
    `INSERT INTO domain (provider_id, domain_hash, domain_name, status, created_at_ms)
     VALUES (?, ?, 'bench', 10, ?)`,
  );
  db.transaction(() => {
    for (let n = 1; n <= shape.providerCount; n++) {
      if (n > 1) provider.run(providerCode(n), hashKey(authKey(n)), nowMs);
      domain.run(n, domainHash(n), nowMs);
    }
  })();
  provider.finalize();
  domain.finalize();
  db.run(
    'UPDATE provider SET domain_count = (SELECT count(*) FROM domain WHERE provider_id = provider.id)',
  );
}

function addLinks(db: Database, shape: Shape, nowMs: number): void {
  const { linkCount, deviceCount, providerCount, run } = shape;
  inChunks(linkCount, (first, last) =>
    db.run(
      `INSERT INTO install (provider_id, install_code, install_limit, device_count, status, note,
         created_at_ms)
       WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})
       SELECT (i - 1) / ${run} % ${providerCount} + 1, printf('gp%010d', ${scattered('i')}), 100,
         i % ${linkCount / deviceCount} = 0, 10, 'customer ' || i, ${nowMs} - (${linkCount} - i) * 1000
       FROM n`,
    ),
  );
  db.run(
    `UPDATE provider SET install_count = c FROM
       (SELECT provider_id, count(*) AS c FROM install GROUP BY provider_id) AS links
     WHERE links.provider_id = provider.id`,
  );
}

/** The devices say what `load.lua` says, and were here today: a known HWID then writes nothing. */
function addDevices(db: Database, shape: Shape, nowMs: number): void {
  const { linkCount, deviceCount, providerCount, run } = shape;
  const link = `i * ${linkCount / deviceCount}`;
  const provider = `(${link} - 1) / ${run} % ${providerCount} + 1`;
  inChunks(deviceCount, (first, last) => {
    const numbers = `WITH RECURSIVE n(i) AS
      (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
    db.run(
      `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
         first_seen_at_ms, last_seen_at_ms, holder_count) ${numbers}
       SELECT printf('%08x-0000-4000-8000-000000000000', ${scattered('i')}), 'android', '16',
         'Bench Phone', '1.0', 'BenchApp/1.0', ${nowMs}, ${nowMs}, 1 FROM n`,
    );
    db.run(
      `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
         last_seen_at_ms, after_recipient_id) ${numbers}
       SELECT ${link}, i, ${provider}, ${nowMs}, ${nowMs}, 0 FROM n`,
    );
    db.run(
      `INSERT INTO device_provider (device_id, provider_id, os, os_version, device_name,
         app_version, user_agent, last_seen_at_ms, slot_count) ${numbers}
       SELECT i, ${provider}, 'android', '16', 'Bench Phone', '1.0', 'BenchApp/1.0', ${nowMs}, 1
       FROM n`,
    );
  });
}

const scattered = (i: string) => `${i} * ${SCATTER_FACTOR} % ${SCATTER_MODULUS}`;

function inChunks(count: number, add: (first: number, last: number) => void): void {
  for (let first = 1; first <= count; first += CHUNK_ROWS) {
    add(first, Math.min(count, first + CHUNK_ROWS - 1));
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
