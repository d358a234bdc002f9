/** The making of a backup: copy, check, pack, read back, and only then give it its name. */

import { createHash } from 'node:crypto';
import { existsSync, linkSync, realpathSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { asDiskFault } from '../disk/fault.ts';
import { removeLeftovers, Scratch, syncFolder } from '../disk/scratch.ts';
import { OperatorError } from '../operator-error.ts';
import { refuseOpenData } from '../permissions.ts';
import type { DatabaseFile, Snapshot } from '../store/kind.ts';
import { VERSION } from '../version.ts';
import { FORMAT, kindOf, type Manifest, readContainer, writeContainer } from './container.ts';

export interface BackupOrder {
  dataDir: string;
  /** File to make. */
  file: string;
  /** Passphrase to encrypt with; null: not encrypted. */
  passphrase: string | null;
  /** Permission to replace `file` if it is a backup already. */
  replaces: boolean;
  /** Moment that the manifest gives, UTC ms. */
  nowMs: number;
  /** Interruption: the making then gives up and leaves nothing behind. */
  signal?: AbortSignal;
}

interface BackupResult {
  file: string;
  bytes: number;
  isEncrypted: boolean;
  manifest: Manifest;
}

/**
 * Makes one backup beside running servers. The file gets its name only after it has been read back
 * and compared; when anything fails, nothing is left and an older file of that name is as it was.
 * Throws `OperatorError`. Blocks while it copies, so it belongs in a process of its own.
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
    await turnOfTheLoop(order.signal);
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
    throw new OperatorError(`${file} would be one of the appliance's own files: choose another`);
  }
  const present = statSync(file, { throwIfNoEntry: false });
  if (present === undefined) return;
  if (!present.isFile()) throw new OperatorError(`${file} is not a file: name one to be made`);
  if (!replaces)
    throw new OperatorError(`${file} exists: choose another name, or --force`, 'file_exists');
  // A file of another kind is never replaced.
  await kindOf(file);
}

/** Lets signals in that came while the copy blocked. Throws when one was an interruption. */
async function turnOfTheLoop(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((done) => setImmediate(done));
  signal?.throwIfAborted();
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

async function compare(packed: string, passphrase: string | null, meant: Manifest): Promise<void> {
  const found = await readContainer(packed, passphrase, () => () => undefined);
  if (!Bun.deepEquals(found, meant)) {
    throw new OperatorError('what was written could not be read back: is the disk good?');
  }
}

/** Takes the name only if it is free, unless an older backup may be replaced. */
function giveName(packed: string, file: string, replaces: boolean): void {
  if (replaces) {
    renameSync(packed, file);
  } else {
    try {
      linkSync(packed, file);
    } catch (error) {
      if (existsSync(file)) {
        throw new OperatorError(`${file} exists: choose another name, or --force`, 'file_exists');
      }
      throw error;
    }
  }
  syncFolder(dirname(file));
}
