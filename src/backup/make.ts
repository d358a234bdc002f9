/** Makes a backup: copies, checks, packs, reads back, and then gives the file its name. */

import { createHash } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { refuseOpenData } from '../base/permissions.ts';
import { VERSION } from '../base/version.ts';
import { asDiskFault } from '../disk/fault.ts';
import { giveName, nameTaken } from '../disk/give-name.ts';
import { removeLeftovers, Scratch } from '../disk/scratch.ts';
import type { DatabaseFile, Snapshot } from '../store/kind.ts';
import { FORMAT, kindOf, type Manifest, readContainer, writeContainer } from './container.ts';

export interface BackupOrder {
  dataDir: string;
  file: string;
  /** The passphrase; null: not encrypted. */
  passphrase: string | null;
  /** Replaces `file` if it is a backup. */
  replaces: boolean;
  /** Time in the manifest, UTC ms. */
  nowMs: number;
  /** Aborts; no file is left. */
  signal?: AbortSignal;
}

interface BackupResult {
  file: string;
  bytes: number;
  isEncrypted: boolean;
  manifest: Manifest;
}

/**
 * Makes a backup; servers may run. The file gets its name after it was read back and compared. A
 * failure leaves no file, and an older one unchanged. Throws `OperatorError`. Blocks the process
 * while it copies.
 */
export async function makeBackup(
  database: DatabaseFile,
  order: BackupOrder,
): Promise<BackupResult> {
  const file = resolve(order.file);
  let snapshot: Snapshot | null = null;
  let scratch: Scratch | null = null;
  try {
    refuseOpenData(order.dataDir);
    await checkTarget(file, order);
    removeLeftovers(order.dataDir, () => false);
    removeLeftovers(dirname(file), (target) => target === basename(file));
    snapshot = database.takeSnapshot(order.dataDir);
    // Lets pending signals in: the copy blocked.
    await new Promise((done) => setImmediate(done));
    order.signal?.throwIfAborted();
    const manifest = await describe(snapshot, order);
    scratch = new Scratch(dirname(file));
    const packed = scratch.file('part');
    await writeContainer(packed, manifest, snapshot.read(order.signal), order.passphrase);
    snapshot.drop();
    snapshot = null;
    await compare(packed, order.passphrase, manifest);
    order.signal?.throwIfAborted();
    giveName(packed, file, order.replaces);
    const isEncrypted = order.passphrase !== null;
    return { file, bytes: statSync(file).size, isEncrypted, manifest };
  } catch (fault) {
    if (order.signal?.aborted) throw new OperatorError('the backup was interrupted', 'interrupted');
    throw asDiskFault(fault, dirname(file), order.dataDir);
  } finally {
    snapshot?.drop();
    scratch?.drop();
  }
}

async function checkTarget(file: string, { dataDir, replaces }: BackupOrder): Promise<void> {
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperatorError(`the directory ${folder} does not exist`);
  }
  const isOfData = existsSync(dataDir) && realpathSync(folder) === realpathSync(dataDir);
  if (isOfData && basename(file).startsWith('gatepost.')) {
    throw new OperatorError(`${file} is a file name that Gatepost uses itself: choose another`);
  }
  const present = statSync(file, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (!present.isFile())
    throw new OperatorError(`${file} is not a regular file: choose another name`);
  if (!replaces) throw nameTaken(file);
  // Throws for a file that is no backup.
  await kindOf(file);
}

async function describe(
  { contents, bytes, read }: Snapshot,
  { nowMs, signal }: BackupOrder,
): Promise<Manifest> {
  const hash = createHash('sha256');
  for await (const chunk of read(signal)) hash.update(chunk);
  return {
    format: FORMAT,
    gatepost: VERSION,
    schema: contents.schema,
    created_at_ms: nowMs,
    database_bytes: bytes,
    database_sha256: hash.digest('hex'),
    rows: contents.rows,
  };
}

async function compare(packed: string, passphrase: string | null, made: Manifest): Promise<void> {
  const found = await readContainer(packed, passphrase, () => () => undefined);
  if (!Bun.deepEquals(found, made)) {
    throw new OperatorError('the backup could not be read back: check the disk');
  }
}
