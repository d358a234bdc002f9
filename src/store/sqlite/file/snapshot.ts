/** Snapshots of the database, held unencrypted but out of others' reach until they are packed. */

import type { Database } from 'bun:sqlite';
import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../../base/operator-error.ts';
import { isReadOnly } from '../../../disk/fault.ts';
import { freeBytes, mib, SPARE_BYTES } from '../../../disk/room.ts';
import { Scratch } from '../../../disk/scratch.ts';
import type { Snapshot } from '../../kind.ts';
import {
  asDamage,
  contentsOf,
  copyBytesMax,
  copyDatabase,
  copyIntoMemory,
  openToExamine,
} from './copy.ts';
import { DATABASE_FILE, schemaIn } from './open.ts';

const READ_BYTES = 64 * 1024;
/** Part of free memory that a snapshot may use. */
const MEMORY_PART = 0.5;

/**
 * Takes a snapshot while servers run. It is a file in the data directory, like the database, that
 * has lost its name when this returns; or it is in memory, if the disk is not writable or too full.
 * Blocks while it copies. Throws `OperatorError`, or a disk error.
 */
export function takeSnapshot(dataDir: string): Snapshot {
  if (schemaIn(join(dataDir, DATABASE_FILE)) === 0) {
    throw new OperatorError(`there is no Gatepost database in ${dataDir}`, 'database_missing');
  }
  try {
    const hasRoom = freeBytes(dataDir) >= copyBytesMax(dataDir) + SPARE_BYTES;
    const isForDisk = hasRoom && !isReadOnly(dataDir);
    return isForDisk ? snapshotOnDisk(dataDir) : snapshotInMemory(dataDir);
  } catch (fault) {
    throw asDamage(fault, dataDir);
  }
}

function snapshotInMemory(dataDir: string): Snapshot {
  const bytesMax = copyBytesMax(dataDir);
  // Of the machine, and of the container of this process.
  const free = Math.min(freemem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  if (bytesMax > free * MEMORY_PART) {
    throw new OperatorError(
      `no space left on the disk of ${dataDir}, or it takes no writes, and ${mib(bytesMax)} MiB are too much for memory: the database cannot be copied`,
      'disk_full',
    );
  }
  const { bytes, contents } = copyIntoMemory(dataDir);
  return {
    bytes: bytes.length,
    contents,
    read: (signal) => pieces(signal, async (at) => bytes.subarray(at, at + READ_BYTES)),
    drop: () => undefined,
  };
}

function snapshotOnDisk(dataDir: string): Snapshot {
  const { db, fd } = copyWithoutName(dataDir);
  const drop = () => {
    db.close();
    closeSync(fd);
  };
  try {
    return {
      contents: contentsOf(db),
      bytes: fstatSync(fd).size,
      read: (signal) => pieces(signal, (at) => readAt(fd, at)),
      drop,
    };
  } catch (fault) {
    drop();
    throw fault;
  }
}

/** Copies into a file without a name: the system removes it, however this process ends. */
function copyWithoutName(dataDir: string): { db: Database; fd: number } {
  const scratch = new Scratch(dataDir);
  try {
    const file = scratch.file('copy');
    copyDatabase(dataDir, file);
    return { db: openToExamine(file), fd: openSync(file, 'r') };
  } finally {
    scratch.drop();
  }
}

/** Reads a piece. A stream of node:fs would close the descriptor when it is abandoned. */
function readAt(fd: number, at: number): Promise<Uint8Array> {
  const piece = Buffer.allocUnsafeSlow(READ_BYTES);
  return new Promise((resolve, reject) => {
    read(fd, piece, 0, READ_BYTES, at, (fault, count) => {
      if (fault) reject(fault);
      else resolve(piece.subarray(0, count));
    });
  });
}

async function* pieces(
  signal: AbortSignal | undefined,
  take: (at: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; ; ) {
    signal?.throwIfAborted();
    const piece = await take(at);
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}
