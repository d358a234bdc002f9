/**
 * Replaces the database. The old file is renamed first, so that a crash leaves a complete one. It
 * takes two locks: `gatepost.lock`, which all processes of this program use, and SQLite's own, for
 * other programs.
 */

import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OperatorError } from '../../../base/operator-error.ts';
import { giveToOwnerOfFolder } from '../../../base/permissions.ts';
import { timeInName } from '../../../core/calendar.ts';
import type { Act } from '../../../core/port/audit.ts';
import { isBusy, takeLock } from '../../../disk/lock.ts';
import { hasRoom, noRoom } from '../../../disk/room.ts';
import { Scratch, syncFolder } from '../../../disk/scratch.ts';
import type { Contents, Replacement, Write } from '../../kind.ts';
import { examineDatabase } from './copy.ts';
import { begun, sound, writerTo } from './inspection.ts';
import { lossOf } from './loss.ts';
import { noteRestoration } from './note.ts';
import { checkDirectory, DATABASE_FILE, isSqlite, LOCK_FILE } from './open.ts';

const COMPANIONS = ['-wal', '-shm', '-journal'] as const;

/** A file in the data directory that may replace the database; no other process can open it. */
export class ReplacementFile implements Replacement {
  readonly #target: string;
  readonly #release: () => void;
  #scratch: Scratch | null = null;
  #output: FileHandle | null = null;

  /** Makes the folder. Throws {@link OperatorError} while the file is open, or a disk's fault. */
  constructor(private readonly dataDir: string) {
    checkDirectory(dataDir, true);
    this.#target = join(dataDir, DATABASE_FILE);
    const release = takeLock(join(dataDir, LOCK_FILE), 'exclusive', 0);
    if (release === null) throw inUse(dataDir);
    this.#release = release;
    try {
      // Other programs, such as SQLite's shell or a replicator, do not take our lock.
      this.#present()?.close();
    } catch (error) {
      release();
      throw error;
    }
  }

  get #file(): string {
    return begun(this.#scratch).file('unpacked');
  }

  async begin(bytes: number): Promise<Write> {
    this.#output = await open(this.beginFile(bytes), 'wx', 0o600);
    return writerTo(this.#output, this.dataDir, bytes);
  }

  /**
   * Returns the path for a file of `bytes` that the caller makes. Throws the errors of
   * {@link begin}.
   */
  beginFile(bytes: number): string {
    if (!hasRoom(this.dataDir, bytes)) throw noRoom(bytes, this.dataDir);
    this.#scratch = new Scratch(this.dataDir);
    return this.#file;
  }

  async contents(): Promise<Contents> {
    await begun(this.#output).sync();
    return sound(() => examineDatabase(this.#file));
  }

  loss(): string | null {
    if (!existsSync(this.#target) || this.#isBlank) return null;
    let present: Database | null = null;
    try {
      present = this.#present();
      return present === null ? 'it cannot be read as a database' : lossOf(present, this.#file);
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      return `it cannot be read (${error.message})`;
    } finally {
      present?.close();
    }
  }

  putInPlace(act: Act, momentMs: number): string | null {
    // First, so that no restored database lacks its entry.
    noteRestoration(this.#file, act, momentMs);
    return this.takePlace(act.atMs);
  }

  /** Puts the file in place unchanged, for {@link putInPlace}. */
  takePlace(nowMs: number): string | null {
    giveToOwnerOfFolder(this.#file);
    const oldName = existsSync(this.#target) ? freeName(this.dataDir, nowMs) : null;
    if (oldName === null) {
      this.#dropCompanions();
      renameSync(this.#file, this.#target);
    } else {
      this.#exchange(oldName);
    }
    syncFolder(this.dataDir);
    return oldName;
  }

  async drop(): Promise<void> {
    try {
      await this.#output?.close();
    } finally {
      this.#scratch?.drop();
      this.#release();
    }
  }

  /** Returns true if the file is empty, which a crash during creation leaves. */
  get #isBlank(): boolean {
    return statSync(this.#target).size === 0 && !existsSync(`${this.#target}-wal`);
  }

  /**
   * Renames the present database (with its companion files if it is unreadable), then the new one.
   */
  #exchange(oldName: string): void {
    let present: Database | null = null;
    try {
      present = this.#present();
      // Writes the log into the file; the lock stays until the new file is in place.
      present?.run('PRAGMA journal_mode = DELETE');
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
      present?.close();
      present = null;
    }
    try {
      linkSync(this.#target, oldName);
      if (present === null) moveCompanions(this.#target, oldName);
      this.#rename(oldName);
    } finally {
      present?.close();
    }
  }

  /** Opens the present database exclusively; null: there is none, or it is not SQLite. */
  #present(): Database | null {
    // SQLite would delete the log beside a file that is not a database.
    if (!existsSync(this.#target) || !isSqlite(this.#target)) return null;
    const db = new Database(this.#target, { readwrite: true, strict: true });
    try {
      // Fails while another process has it open; keeps the lock.
      db.run('PRAGMA locking_mode = EXCLUSIVE');
      db.run('BEGIN EXCLUSIVE');
      db.run('COMMIT');
      return db;
    } catch (error) {
      db.close();
      if (isBusy(error)) throw inUse(this.dataDir);
      const code = error instanceof SQLiteError ? (error.code ?? '') : '';
      if (/^SQLITE_(NOTADB|CORRUPT|IOERR|CANTOPEN|ERROR)/.test(code)) return null;
      throw error;
    }
  }

  /** Renames the new file; undoes the earlier steps if that fails. */
  #rename(oldName: string): void {
    try {
      renameSync(this.#file, this.#target);
    } catch (error) {
      moveCompanions(oldName, this.#target);
      rmSync(oldName, { force: true });
      throw error;
    }
  }

  /** Removes the log of the old database: SQLite would apply it to the new one. */
  #dropCompanions(): void {
    for (const end of COMPANIONS) rmSync(this.#target + end, { force: true });
  }
}

function moveCompanions(from: string, to: string): void {
  for (const end of COMPANIONS) {
    if (existsSync(from + end)) renameSync(from + end, to + end);
  }
}

function inUse(dataDir: string): OperatorError {
  return new OperatorError(
    `the database in ${dataDir} is in use: stop 'gatepost serve' and everything else that has it open`,
    'locked',
  );
}

/** Finds a name like `gatepost-replaced-20261121T030000Z.db`; adds a number if it is taken. */
function freeName(dataDir: string, nowMs: number): string {
  const stem = join(resolve(dataDir), `gatepost-replaced-${timeInName(nowMs)}`);
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${stem}.db` : `${stem}-${n}.db`;
    if (!existsSync(name)) return name;
  }
}
