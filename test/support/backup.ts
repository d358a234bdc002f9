/** A small appliance's data with a backup of it, for tests of backups. */

import { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Encrypter } from 'age-encryption';
import { type Manifest, writeContainer } from '../../src/backup/container.ts';
import { backupTools } from '../../src/backup/tools.ts';
import { DATABASE_FILE } from '../../src/store/sqlite/file/open.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { addProvider } from '../store/contract/fixture.ts';
import { freshFolder } from './app.ts';
import { prepareData } from './empty-database.ts';

export const NOW_MS = Date.UTC(2026, 10, 21, 3, 30, 0);

export const { makeBackup, verifyBackup, restoreBackup } = backupTools(SQLITE);

export interface Backed {
  folder: string;
  dataDir: string;
  file: string;
}

/** By passphrase: a folder as {@link backedUp} fills it. */
const filled = new Map<string | null, Promise<string>>();

/** Data with two providers, and `file`, a backup of it. Made once for a process, and copied. */
export async function backedUp(passphrase: string | null = null): Promise<Backed> {
  const from = filled.get(passphrase) ?? fill(passphrase);
  filled.set(passphrase, from);
  const folder = freshFolder();
  cpSync(await from, folder, { recursive: true });
  return { folder, ...namesIn(folder) };
}

async function fill(passphrase: string | null): Promise<string> {
  const folder = freshFolder();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { dataDir, file } = namesIn(folder);
  await addProviders(dataDir, 2);
  await makeBackup({ dataDir, file, passphrase, replaces: false, nowMs: NOW_MS });
  return folder;
}

const namesIn = (folder: string) => ({
  dataDir: join(folder, 'data'),
  file: join(folder, 'one.backup'),
});

/** Changes the database in the ordinary way, and closes it. */
export async function addProviders(dataDir: string, count: number): Promise<void> {
  await prepareData(dataDir);
  const store = await openSqliteStore({ dataDir, create: true, commitBatchMax: 1 });
  const { length } = await store.listProviders();
  for (let n = 0; n < count; n++) await addProvider(store, `CODE${1000 + length + n}`);
  await store.close();
}

export function providerCount(file: string): number {
  const db = new Database(file, { readonly: true });
  try {
    return db.query<{ n: number }, []>('SELECT count(*) AS n FROM provider').get()?.n ?? -1;
  } finally {
    db.close();
  }
}

/** Every file below a folder with a hash of its bytes. */
export function fingerprint(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true }).map(String).sort();
  return Object.fromEntries(
    names
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => {
        const bytes = readFileSync(join(folder, name));
        return [name, createHash('sha256').update(bytes).digest('hex')];
      }),
  );
}

/** Encrypted like a backup, but with a key that is quickly derived, for tests that read often. */
export async function quicklyEncrypted(plain: Uint8Array, passphrase: string): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(2);
  return encrypter.encrypt(plain);
}

/**
 * A backup with right checksums of the database as `change` and then `edit` leave it. Its manifest
 * says what `more` says; `stream` is what is packed instead of the database.
 */
export async function forged(
  { folder, dataDir, file }: Backed,
  {
    change = () => undefined,
    edit = (bytes) => bytes,
    more = {},
    stream,
  }: {
    change?: (db: Database) => void;
    edit?: (bytes: Buffer) => Uint8Array;
    more?: Partial<Manifest>;
    stream?: AsyncIterable<Uint8Array>;
  },
): Promise<string> {
  const copy = join(folder, 'copy.db');
  const target = join(folder, 'forged.backup');
  rmSync(target, { force: true });
  copyFileSync(join(dataDir, DATABASE_FILE), copy);
  const db = new Database(copy);
  change(db);
  db.close();
  const bytes = edit(readFileSync(copy));
  rmSync(copy);
  const manifest = {
    ...(await verifyBackup({ dataDir, file, passphrase: null })),
    database_bytes: bytes.length,
    database_sha256: createHash('sha256').update(bytes).digest('hex'),
    ...more,
  };
  await writeContainer(target, manifest, stream ?? pieces(bytes), null);
  return target;
}

async function* pieces(bytes: Uint8Array) {
  yield bytes;
}
