/** Makes a database with many devices in seconds: Gatepost makes the schema, SQLite the rows. */

import { Database } from 'bun:sqlite';
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';

export const AUTH_KEY = 'messaging-bench-key-000000000000';
export const providerCode = (n: number): string => `BENCH${String(n).padStart(3, '0')}`;
export const DEVICES_PER_LINK = 10;

const CHUNK_ROWS = 100_000;

export interface Shape {
  /** Over all providers, which have equal parts. */
  deviceCount: number;
  /** Providers 1 to this; the first is there already. */
  providerCount: number;
}

/** Half of the devices are on links, half came in through a binding; all of them run Android. */
export function seedDevices(dataDir: string, shape: Shape, nowMs: number): void {
  const { deviceCount, providerCount } = shape;
  const file = join(dataDir, 'gatepost.db');
  const db = new Database(file, { strict: true });
  try {
    // The file may be lost if the machine stops now.
    db.run('PRAGMA synchronous = OFF');
    addProviders(db, providerCount, nowMs);
    const linkCount = Math.ceil(deviceCount / 2 / DEVICES_PER_LINK);
    const onLinks = linkCount * DEVICES_PER_LINK;
    inChunks(linkCount, (numbers) =>
      db.run(
        `INSERT INTO install (provider_id, install_code, install_limit, status, note, created_at_ms)
         ${numbers} SELECT i % ${providerCount} + 1, printf('gp%010d', i), 100, 10,
           'customer ' || i, ${nowMs} FROM n`,
      ),
    );
    // HWIDs in no order, as they are in life.
    inChunks(deviceCount, (numbers) =>
      db.run(
        `INSERT INTO device (hwid, os, os_version, device_name, app_version, user_agent,
           first_seen_at_ms, last_seen_at_ms)
         ${numbers} SELECT printf('%08x-0000-4000-8000-%012x', i * 1000003 % 4294967291, i),
           'android', '16', 'Bench Phone', '1.0', 'BenchApp/1.0', ${nowMs}, ${nowMs} FROM n`,
      ),
    );
    // Devices come to a link at different times: those of one link do not lie side by side.
    inChunks(onLinks, (numbers) =>
      db.run(
        `INSERT INTO install_device (install_id, device_id, provider_id, registered_at_ms,
           last_seen_at_ms, after_recipient_id)
         ${numbers} SELECT l.id, n.i, l.provider_id, ${nowMs}, ${nowMs}, 0
         FROM n JOIN install l ON l.id = (n.i - 1) % ${linkCount} + 1`,
      ),
    );
    db.run(
      `INSERT INTO device_domain (device_id, domain_id, provider_id, linked_at_ms)
       SELECT id, id % ${providerCount} + 1, id % ${providerCount} + 1, ${nowMs}
       FROM device WHERE id > ${onLinks}`,
    );
    // Triggers made these rows with the first slot or binding; what a device says comes with it.
    db.run(
      `UPDATE device_provider SET (os, os_version, device_name, app_version, user_agent) =
         (SELECT os, os_version, device_name, app_version, user_agent FROM device
          WHERE id = device_id)`,
    );
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    db.close(true);
  }
  // Otherwise the first fsync of the server pays for all of this.
  const fd = openSync(file, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}

/** All have the key of the first. */
function addProviders(db: Database, providerCount: number, nowMs: number): void {
  const add = db.prepare(
    `INSERT INTO provider (code, name, plan, key_hash, created_at_ms)
     SELECT ?, 'bench', 'enterprise', key_hash, created_at_ms FROM provider WHERE id = 1`,
  );
  for (let n = 2; n <= providerCount; n++) add.run(providerCode(n));
  add.finalize();
  db.run(
    `INSERT INTO domain (provider_id, domain_hash, domain_name, status, created_at_ms)
     SELECT id, '${'a'.repeat(64)}', 'bench', 10, ${nowMs} FROM provider`,
  );
}

function inChunks(count: number, add: (numbers: string) => void): void {
  for (let first = 1; first <= count; first += CHUNK_ROWS) {
    const last = Math.min(count, first + CHUNK_ROWS - 1);
    add(`WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`);
  }
}
