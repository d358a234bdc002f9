/**
 * The file of an empty database of SQLite. It is made once for a run (`TEST_EMPTY` names it), else
 * once for a process: to make the schema takes ten times as long as to open a database.
 */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

let bytes: Promise<Uint8Array> | null = null;

export function emptyDatabase(): Promise<Uint8Array> {
  bytes ??= made();
  return bytes;
}

async function made(): Promise<Uint8Array> {
  const file = process.env['TEST_EMPTY'];
  if (file !== undefined) return readFileSync(file);
  const dataDir = mkdtempSync(join(tmpdir(), 'gatepost-empty-'));
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
  await store.close();
  const made = readFileSync(join(dataDir, DATABASE_FILE));
  rmSync(dataDir, { recursive: true });
  return made;
}

/**
 * Makes the data that whoever opens them would make. A folder that is there stays as it is, as does
 * what another user would own.
 */
export async function prepareData(dataDir: string): Promise<void> {
  const parent = statSync(dirname(dataDir), { throwIfNoEntry: false });
  if (existsSync(dataDir) || parent?.uid !== process.getuid?.()) return;
  const empty = await emptyDatabase();
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(join(dataDir, DATABASE_FILE), empty, { mode: 0o600 });
}
