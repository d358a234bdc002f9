/** Restoring a backup: everything is checked before anything is replaced. */

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Actor } from '../core/audit.ts';
import { OperatorError } from '../operator-error.ts';
import { examineDatabase } from '../store/sqlite/copy.ts';
import { asDiskFault, syncFolder } from '../store/sqlite/disk.ts';
import { SCHEMA_VERSION } from '../store/sqlite/migrate.ts';
import { noteInFile } from '../store/sqlite/note.ts';
import { refuseOpenData } from '../store/sqlite/open.ts';
import { DatabasePlace } from '../store/sqlite/replace.ts';
import { DamagedBackup, kindOf, type Manifest, readContainer } from './container.ts';

/** What a restore unpacks to, in the data directory, before it is good. */
const UNPACKED_NAME = /^\.gatepost-[0-9a-f]{12}\.unpacked(?:-journal|-wal|-shm)?$/;
const unpackedName = () => `.gatepost-${randomBytes(6).toString('hex')}.unpacked`;

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
 * Unpacks beside the backup, and removes that. Throws `OperatorError` with what is wrong.
 */
export async function verifyBackup(file: string, passphrase: string | null): Promise<Manifest> {
  await kindOf(file);
  const unpacked = join(dirname(resolve(file)), unpackedName());
  try {
    return await unpack(file, passphrase, unpacked);
  } catch (fault) {
    throw asDiskFault(fault, dirname(unpacked));
  } finally {
    removeDatabase(unpacked);
  }
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
  const unpacked = join(resolve(order.dataDir), unpackedName());
  try {
    // What an interrupted restore left; nobody else is at it.
    for (const name of readdirSync(order.dataDir)) {
      if (UNPACKED_NAME.test(name)) rmSync(join(order.dataDir, name), { force: true });
    }
    const manifest = await unpack(order.file, order.passphrase, unpacked);
    const loss = order.isForced ? null : place.wouldLose(unpacked);
    if (loss !== null) {
      throw new OperatorError(
        `the database in ${order.dataDir} would be replaced, and ${loss}; --force does it and keeps the old one under another name`,
      );
    }
    // Before it is put in place: there is no restored database without its entry.
    const moment = new Date(manifest.created_at_ms).toISOString();
    const act = { actor: order.actor, atMs: order.nowMs };
    noteInFile(unpacked, act, { action: 'database.restore', object: { moment } });
    const kept = freeName(order.dataDir, order.nowMs);
    const wasTaken = place.fill(unpacked, kept);
    syncFolder(order.dataDir);
    return { manifest, kept: wasTaken ? kept : null };
  } catch (fault) {
    throw asDiskFault(fault, order.dataDir);
  } finally {
    removeDatabase(unpacked);
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

async function unpack(file: string, passphrase: string | null, target: string): Promise<Manifest> {
  const output = await open(target, 'wx', 0o600);
  let manifest: Manifest;
  try {
    manifest = await readContainer(file, passphrase, (chunk) => output.writeFile(chunk));
    await output.sync();
  } finally {
    await output.close();
  }
  if (manifest.schema > SCHEMA_VERSION) {
    throw new OperatorError(
      `${file} has schema ${manifest.schema}, this program knows up to ${SCHEMA_VERSION}: use a newer gatepost`,
    );
  }
  checkContents(file, target, manifest);
  return manifest;
}

function checkContents(file: string, unpacked: string, manifest: Manifest): void {
  try {
    const { schema, rows } = examineDatabase(unpacked);
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

function removeDatabase(file: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(file + end, { force: true });
}
