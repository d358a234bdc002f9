/** The rows of `seed.ts` on PostgreSQL: the product makes the schema, the server the rows. */

import { SQL } from 'bun';
import { hashKey } from '../src/core/secret.ts';
import {
  authKey,
  domainHash,
  providerCode,
  SCATTER_FACTOR,
  SCATTER_MODULUS,
  type Shape,
} from './shape.ts';

let made = 0;

/** Makes a database on the server at `port`; answers its URL. */
export async function seedPostgres(
  executable: string,
  port: number,
  shape: Shape,
  nowMs: number,
): Promise<string> {
  made += 1;
  const name = `bench${made}`;
  const at = { hostname: '127.0.0.1', port, username: 'bench', password: '', max: 1 };
  const server = new SQL({ adapter: 'postgres', ...at, database: 'postgres' });
  await server.unsafe(`CREATE DATABASE ${name}`);
  await server.close();
  const url = `postgres://bench@127.0.0.1:${port}/${name}`;
  addFirstProvider(executable, url);
  const db = new SQL({ adapter: 'postgres', ...at, database: name });
  await addRows(db, shape, nowMs);
  await db.close();
  return url;
}

function addFirstProvider(executable: string, url: string): void {
  const identity = ['--name', 'bench', '--code', providerCode(1), '--key', authKey(1)];
  const add = Bun.spawnSync([executable, 'provider', 'add', ...identity], {
    env: { PATH: process.env['PATH'] ?? '', GATEPOST_CONFIG: 'none', GATEPOST_DATABASE_URL: url },
  });
  if (add.exitCode !== 0) throw new Error(`no database was made: ${add.stderr.toString()}`);
}

async function addRows(db: SQL, shape: Shape, nowMs: number): Promise<void> {
  const { providerCount, linkCount, deviceCount, run } = shape;
  for (let n = 1; n <= providerCount; n++) {
    if (n > 1) {
      await db`INSERT INTO provider (code, name, plan, key_hash, created_at_ms)
        VALUES (${providerCode(n)}, 'bench', 'enterprise', ${hashKey(authKey(n))}, ${nowMs})`;
    }
    await db`INSERT INTO domain (provider_id, domain_hash, domain_name, status, created_at_ms)
      VALUES (${n}, ${domainHash(n)}, 'bench', 10, ${nowMs})`;
  }
  const scattered = (i: string) => `${i} * ${SCATTER_FACTOR}::bigint % ${SCATTER_MODULUS}`;
  await db.unsafe(
    `INSERT INTO install (provider_id, install_code, install_limit, status, note, created_at_ms)
     SELECT (i - 1) / ${run} % ${providerCount} + 1, 'gp' || lpad((${scattered('i')})::text, 10, '0'),
       100, 10, 'customer ' || i, ${nowMs} - (${linkCount} - i) * 1000
     FROM generate_series(1, ${linkCount}) AS n(i) ORDER BY i`,
  );
  await db.unsafe(
    `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
       first_seen_at_ms, last_seen_at_ms)
     SELECT lpad(to_hex(${scattered('i')}), 8, '0') || '-0000-4000-8000-000000000000', 'android', '16',
       'Bench Phone', '1.0', 'BenchApp/1.0', ${nowMs}, ${nowMs}
     FROM generate_series(1, ${deviceCount}) AS n(i) ORDER BY i`,
  );
  // The next one joins them: without their numbers it would compare each with each.
  await db.unsafe('ANALYZE');
  await db.unsafe(
    `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
       last_seen_at_ms, after_recipient_id)
     SELECT l.id, i, l.provider_id, ${nowMs}, ${nowMs}, 0
     FROM generate_series(1, ${deviceCount}) AS n(i)
     JOIN install l ON l.id = i * ${linkCount / deviceCount}`,
  );
  // Triggers made these rows with the first slot; what a device says comes with it.
  await db.unsafe(
    `UPDATE device_provider SET os = 'android', os_version = '16', device_name = 'Bench Phone',
       app_version = '1.0', user_agent = 'BenchApp/1.0', last_seen_at_ms = ${nowMs}`,
  );
  await db.unsafe('VACUUM ANALYZE');
}
