/**
 * Files in the making. Their maker holds a lock for as long as it lives, which the system lets go
 * however it ends: so the leftovers of a killed one differ from files that are being worked on.
 */

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { takeLock } from './lock.ts';

/** The use of a file in the making: a copy of the database, a backup, a database again. */
type Kind = 'copy' | 'part' | 'unpacked';

const NAME = /^(\.gatepost-[0-9a-f]{12})\.(?:lock|copy|part|unpacked)(?:-journal|-wal|-shm)?$/;
/** Names that version 0.2.0 gave, with that of the backup; it made them without a lock. */
const OLD_NAME = /^\.(.+)\.[0-9a-f]{12}\.(?:copy|part)(?:-journal)?$/;
/** Longest wait for a lock that somebody else looks at, ms. */
const LOCK_WAIT_MS = 5_000;

/** A place for files in the making in a folder. */
export class Scratch {
  readonly #folder: string;
  readonly #stem: string;
  readonly #release: () => void;

  /** Throws when the folder takes no files. */
  constructor(folder: string) {
    this.#folder = resolve(folder);
    for (;;) {
      const stem = `.gatepost-${randomBytes(6).toString('hex')}`;
      const lock = join(this.#folder, `${stem}.lock`);
      const release = takeLock(lock, 'exclusive', LOCK_WAIT_MS);
      // Somebody clearing up saw it before it was locked, and has removed it.
      if (release !== null && existsSync(lock)) {
        this.#stem = stem;
        this.#release = release;
        return;
      }
      release?.();
    }
  }

  /** Path of a file that is about to be made. */
  file(kind: Kind): string {
    return join(this.#folder, `${this.#stem}.${kind}`);
  }

  /** Removes all of them, but for those that have got another name by then. */
  drop(): void {
    removeAll(this.#folder, this.#stem);
    this.#release();
  }
}

/**
 * Removes the leftovers of killed processes from a folder; `isTarget` names the backups of which it
 * takes leftovers of version 0.2.0 too. A file that cannot be removed stays: callers have other
 * work to do.
 */
export function removeLeftovers(folder: string, isTarget: (name: string) => boolean): void {
  const names = filesIn(folder);
  const old = names.filter((name) => isTarget(OLD_NAME.exec(name)?.[1] ?? ''));
  for (const name of old) asFarAsPossible(() => rmSync(join(folder, name), { force: true }));
  const stems = new Set(names.flatMap((name) => NAME.exec(name)?.[1] ?? []));
  for (const stem of stems) asFarAsPossible(() => removeUnlessHeld(folder, stem));
}

/** Names of regular files: a link may lead to a file of somebody else's. */
function filesIn(folder: string): string[] {
  try {
    const all = readdirSync(folder, { withFileTypes: true });
    return all.filter((one) => one.isFile()).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Runs `work`, which may fail: a disk may be read-only, a file somebody else's. */
function asFarAsPossible(work: () => void): void {
  try {
    work();
  } catch {
    // The next one to come along may be able to.
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

/** Removes the files of one maker, the lock last: without it the others would seem left. */
function removeAll(folder: string, stem: string): void {
  const names = filesIn(folder).filter((name) => NAME.exec(name)?.[1] === stem);
  const isLock = (name: string) => Number(name === `${stem}.lock`);
  for (const name of names.sort((a, b) => isLock(a) - isLock(b))) {
    rmSync(join(folder, name), { force: true });
  }
}

/** Puts a folder on disk: only then has a renamed file its name for good. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
