/** Restoring a backup: everything is checked before anything is replaced. */

import { existsSync, mkdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Actor } from '../core/port/audit.ts';
import { asDiskFault, syncFolder } from '../disk/fault.ts';
import { hasRoom, noRoom, RoomWatch } from '../disk/room.ts';
import { removeLeftovers, Scratch } from '../disk/scratch.ts';
import { OperatorError } from '../operator-error.ts';
import { type Contents, Examination, examineDatabase, NO_LOG } from '../store/sqlite/file/copy.ts';
import { refuseNewer } from '../store/sqlite/file/migrate.ts';
import { noteRestoration } from '../store/sqlite/file/note.ts';
import { refuseOpenData } from '../store/sqlite/file/open.ts';
import { DatabasePlace } from '../store/sqlite/file/replace.ts';
import { DamagedBackup, kindOf, type Manifest, readContainer, type Write } from './container.ts';

export interface RestoreOrder {
  dataDir: string;
  file: string;
  passphrase: string | null;
  /** Replace a database that holds what the backup does not. Never one in use. */
  isForced: boolean;
  /** Who restores, for the audit log of the restored database. */
  actor: Actor;
  nowMs: number;
}

export interface RestoreResult {
  manifest: Manifest;
  /** Where the database is that was replaced; null: there was none. */
  kept: string | null;
}

/**
 * Reads a backup to its end and checks it: checksums, structure, references, schema, row counts.
 * The unpacked file lies in the data directory, or, where that is not to be had, beside the backup
 * or among the system's temporary files, and never has a name: nothing is left however this ends.
 * Throws `OperatorError` with what is wrong.
 */
export async function verifyBackup(
  dataDir: string,
  file: string,
  passphrase: string | null,
): Promise<Manifest> {
  await kindOf(file);
  const own = [dataDir, dirname(resolve(file))];
  for (const folder of own) removeLeftovers(folder, () => false);
  const folders = [...own, tmpdir()];
  let unpacked: Nameless | null = null;
  try {
    const manifest = await readContainer(file, passphrase, async (promised) => {
      refuseNewer(file, promised.schema);
      unpacked = await openSomewhere(folders, promised.database_bytes);
      return writerTo(unpacked.output, unpacked.folder, promised.database_bytes);
    });
    const { output, examination } = unpacked as unknown as Nameless;
    // A log could not lie beside a file without a name.
    await output.write(NO_LOG.bytes, 0, NO_LOG.bytes.length, NO_LOG.at);
    checkContents(file, manifest, () => examination.contents());
    return manifest;
  } catch (fault) {
    throw asDiskFault(fault, ...folders);
  } finally {
    await (unpacked as Nameless | null)?.close();
  }
}

/** A file that lost its name when it was empty: what is written then only this process has. */
class Nameless {
  constructor(
    readonly folder: string,
    readonly output: FileHandle,
    readonly examination: Examination,
  ) {}

  static async in(folder: string): Promise<Nameless> {
    const scratch = new Scratch(folder);
    try {
      const file = scratch.file('unpacked');
      const output = await open(file, 'wx', 0o600);
      return new Nameless(folder, output, new Examination(file));
    } finally {
      scratch.drop();
    }
  }

  async close(): Promise<void> {
    this.examination.close();
    await this.output.close();
  }
}

/** In the first of `folders` that takes it and has room. Throws `OperatorError` if none has. */
async function openSomewhere(folders: readonly string[], bytes: number): Promise<Nameless> {
  for (const folder of folders) {
    if (!hasRoom(folder, bytes)) continue;
    try {
      return await Nameless.in(folder);
    } catch {
      // Read-only, or somebody else's: the next one may do.
    }
  }
  throw noRoom(bytes, ...folders.filter((folder) => existsSync(folder)));
}

/** Where the database of a backup goes; never so much that the disk is full. */
function writerTo(output: FileHandle, folder: string, bytes: number): Write {
  const watch = new RoomWatch(folder, bytes);
  return async (chunk) => {
    await output.writeFile(chunk);
    watch.wrote(chunk.length);
  };
}

/**
 * Puts the database of a backup in the place of the one in `dataDir`, after checking all of it.
 * Throws `OperatorError` and leaves everything as it was, when the backup is damaged or newer than
 * the program, the database is in use, or it holds what the backup does not.
 */
export async function restoreBackup(order: RestoreOrder): Promise<RestoreResult> {
  await kindOf(order.file);
  refuseOpenData(order.dataDir, true);
  makeDirectory(order.dataDir);
  const place = takePlace(order.dataDir);
  removeLeftovers(order.dataDir, () => false);
  let scratch: Scratch | null = null;
  try {
    scratch = new Scratch(order.dataDir);
    const unpacked = scratch.file('unpacked');
    const manifest = await unpack(order, unpacked);
    const loss = order.isForced ? null : place.wouldLose(unpacked);
    if (loss !== null) {
      throw new OperatorError(
        `the database in ${order.dataDir} would be replaced, and ${loss}; --force does it and keeps the old one under another name`,
      );
    }
    // Before it is put in place: there is no restored database without its entry.
    const act = { actor: order.actor, atMs: order.nowMs };
    noteRestoration(unpacked, act, manifest.created_at_ms);
    const kept = freeName(order.dataDir, order.nowMs);
    const wasTaken = place.fill(unpacked, kept);
    syncFolder(order.dataDir);
    return { manifest, kept: wasTaken ? kept : null };
  } catch (fault) {
    throw asDiskFault(fault, order.dataDir);
  } finally {
    scratch?.drop();
    place.release();
  }
}

function takePlace(dataDir: string): DatabasePlace {
  try {
    return new DatabasePlace(dataDir);
  } catch (fault) {
    throw asDiskFault(fault, dataDir);
  }
}

async function unpack(
  { file, passphrase, dataDir }: RestoreOrder,
  target: string,
): Promise<Manifest> {
  const output = await open(target, 'wx', 0o600);
  try {
    const manifest = await readContainer(file, passphrase, (promised) => {
      refuseNewer(file, promised.schema);
      const bytes = promised.database_bytes;
      if (!hasRoom(dataDir, bytes)) throw noRoom(bytes, dataDir);
      return writerTo(output, dataDir, bytes);
    });
    await output.sync();
    checkContents(file, manifest, () => examineDatabase(target));
    return manifest;
  } finally {
    await output.close();
  }
}

function checkContents(file: string, manifest: Manifest, examine: () => Contents): void {
  try {
    const { schema, rows } = examine();
    if (schema !== manifest.schema) throw new OperatorError(`the schema is ${schema}`);
    const tables = new Set([...Object.keys(rows), ...Object.keys(manifest.rows)]);
    const other = [...tables].find((table) => rows[table] !== manifest.rows[table]);
    if (other !== undefined) {
      throw new OperatorError(
        `${other} has ${rows[other]} rows, ${manifest.rows[other]} were backed up`,
      );
    }
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : String(fault);
    throw new DamagedBackup(`${file} cannot be used: ${detail}`);
  }
}

function makeDirectory(dataDir: string): void {
  if (existsSync(dataDir)) return;
  if (!existsSync(dirname(resolve(dataDir)))) {
    throw new OperatorError(`cannot create ${dataDir}: its parent does not exist`);
  }
  mkdirSync(dataDir, { mode: 0o700 });
}

/** `gatepost-replaced-20261121T030000Z.db`, with a number when the second is taken. */
function freeName(dataDir: string, nowMs: number): string {
  const stem = join(resolve(dataDir), `gatepost-replaced-${timeInName(nowMs)}`);
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${stem}.db` : `${stem}-${n}.db`;
    if (!existsSync(name)) return name;
  }
}

/** An instant in file names, UTC to the second: they sort by it. */
export function timeInName(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}
