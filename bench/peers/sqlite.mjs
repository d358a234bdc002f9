/** Settings, schema, rows and statements of the two peers on SQLite. */

import { providers, rows, schema } from './data.mjs';

/** Write-ahead log, and each commit on the disk before it is answered: as Gatepost. */
export const PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON'];

export const CREATE = schema({
  id: 'INTEGER PRIMARY KEY',
  text: 'TEXT',
  bytes: 'BLOB',
  int: 'INTEGER',
});

export const FILL = rows({
  numbers: (n) =>
    `(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})
      SELECT i FROM n)`,
  pad: (value) => `printf('gp%010d', ${value})`,
  hex: (value) => `printf('%08x-0000-4000-8000-000000000000', ${value})`,
});

export const ADD_PROVIDER =
  'INSERT INTO provider (id, code, key_hash, domain_hash) VALUES (?, ?, ?, ?)';

export const STATEMENTS = {
  keyHash: 'SELECT id, key_hash FROM provider WHERE code = ?',
  link: `SELECT id, install_code, install_limit, device_count, status, note, created_at_ms
    FROM install WHERE id = ? AND provider_id = ?`,
  admission: `SELECT provider.code, install.status, install.install_limit, install.device_count
    FROM install
    JOIN provider ON provider.id = install.provider_id
    JOIN device ON device.hwid = ?
    JOIN install_device ON install_device.install_id = install.id
      AND install_device.device_id = device.id
    WHERE install.install_code = ? AND provider.domain_hash = ?`,
  addLink: `INSERT INTO install
      (provider_id, install_code, install_limit, device_count, status, note, created_at_ms)
    VALUES (?, ?, ?, 0, 10, ?, ?)`,
};

/** Makes the database; `execute` runs a text, `add` the statement that adds a provider. */
export function fill(execute, add) {
  for (const sql of CREATE) execute(sql);
  for (const { id, code, keyHash, domainHash } of providers) add(id, code, keyHash, domainHash);
  for (const sql of FILL) execute(sql);
}
