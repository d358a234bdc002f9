/**
 * Temporary files. Their process holds a lock, which the system releases when it ends: so leftovers
 * of a killed process differ from files in use.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { takeLock } from './lock.ts';

/** A copy of the database, a backup, or a database from a backup. */
type Kind = 'copy' | 'part' | 'unpacked';

const NAME = /^(\.gatepost-[0-9a-f]{12})\.(?:lock|copy|part|unpacked)(?:-journal|-wal|-shm)?$/;
/** Names of version 0.2.0, with that of the backup; it used no lock. */
const OLD_NAME = /^\.(.+)\.[0-9a-f]{12}\.(?:copy|part)(?:-journal)?$/;
/** Longest wait for a lock that another process is checking, ms. */
const LOCK_WAIT_MS = 5_000;

/** Temporary files of this process in a folder. */
export class Scratch {
  readonly #folder: string;
  readonly #stem: string;
  readonly #release: () => void;

  /** Throws if the folder is not writable. */
  constructor(folder: string) {
    this.#folder = resolve(folder);
    for (;;) {
      const stem = `.gatepost-${randomBytes(6).toString('hex')}`;
      const lock = join(this.#folder, `${stem}.lock`);
      const release = takeLock(lock, 'exclusive', LOCK_WAIT_MS);
      // Another process may have removed the file before it was locked.
      if (release !== null && existsSync(lock)) {
        this.#stem = stem;
        this.#release = release;
        return;
      }
      release?.();
    }
  }

  /** Returns the path of a file to make. */
  file(kind: Kind): string {
    return join(this.#folder, `${this.#stem}.${kind}`);
  }

  /** Deletes all of them, except renamed ones. */
  drop(): void {
    removeAll(this.#folder, this.#stem);
    this.#release();
  }
}

/**
 * Deletes the leftovers of killed processes in a folder, also those of version 0.2.0 for backups
 * that are `isTarget`. Ignores files that cannot be deleted.
 */
export function removeLeftovers(folder: string, isTarget: (name: string) => boolean): void {
  const names = filesIn(folder);
  const old = names.filter((name) => isTarget(OLD_NAME.exec(name)?.[1] ?? ''));
  for (const name of old) attempt(() => rmSync(join(folder, name), { force: true }));
  const stems = new Set(names.flatMap((name) => NAME.exec(name)?.[1] ?? []));
  for (const stem of stems) attempt(() => removeUnlessHeld(folder, stem));
}

/** Lists regular files: a link may lead to a file of another user. */
function filesIn(folder: string): string[] {
  try {
    const all = readdirSync(folder, { withFileTypes: true });
    return all.filter((one) => one.isFile()).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Runs `work` and ignores a fault: a disk may be read-only, a file of another user. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // A later attempt may succeed.
  }
}

function removeUnlessHeld(folder: string, stem: string): void {
  const lock = `${stem}.lock`;
  const isLocked = filesIn(folder).includes(lock);
  const release = isLocked ? takeLock(join(folder, lock), 'exclusive', 0) : () => undefined;
  if (release === null) return;
  try {
    removeAll(folder, stem);
  } finally {
    release();
  }
}

/**
 * Deletes the files of a process, the lock last: without it the others would look like leftovers.
 */
function removeAll(folder: string, stem: string): void {
  const names = filesIn(folder).filter((name) => NAME.exec(name)?.[1] === stem);
  const isLock = (name: string) => Number(name === `${stem}.lock`);
  for (const name of names.sort((a, b) => isLock(a) - isLock(b))) {
    rmSync(join(folder, name), { force: true });
  }
}

/** Syncs a folder to disk, which makes renames in it durable. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
