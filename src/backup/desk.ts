/**
 * Backups on the operator's pages: lists, makes and verifies them, and prepares copies for a
 * download.
 */

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errorIn } from '../base/operator-error.ts';
import { makeOwnFolder } from '../base/permissions.ts';
import type { UpkeepStore } from '../core/port/upkeep.ts';
import { failureOf, upkeepOf } from '../core/upkeep.ts';
import {
  backupFolder,
  momentOf,
  type RunBackup,
  type ShelfSettings,
  scheduledBackups,
} from './shelf.ts';

/** The most backups that are shown, the newest first. */
const SHOWN_MAX = 100;
/** The time for which a copy can be downloaded, ms. */
const COPY_LIFE_MS = 600_000;
/** The time limit of a copy or a verification, ms. */
const WORK_TIME_MAX_MS = 1_800_000;
const COPIES_FOLDER = 'downloads';

interface DeskSettings extends ShelfSettings {
  readonly backupAfter: readonly string[];
  readonly backupAt: string;
}

interface Job {
  nextMs(): number | null;
  run(): Promise<string | null>;
}

interface Ended {
  exitCode: number | null;
  printed: string;
  complaint: string;
}

interface DeskParts {
  settings: DeskSettings;
  job: Job;
  store: Pick<UpkeepStore, 'listUpkeep'>;
  /** Makes a backup in another process. */
  copy: RunBackup;
  /** Runs a command of this program with the server's settings. */
  command(words: readonly string[], signal: AbortSignal): Promise<Ended>;
  stopping: AbortSignal;
}

/** An encrypted copy of the database that one session may download. */
interface Copy {
  file: string;
  bytes: number;
  sessionId: number;
  untilMs: number;
}

export class BackupDesk {
  readonly #parts: DeskParts;
  #isBusy = false;
  #copy: Copy | null = null;
  #end: ReturnType<typeof setTimeout> | undefined;

  /** Deletes copies that a killed process left. */
  constructor(parts: DeskParts) {
    this.#parts = parts;
    rmSync(this.#folder(), { recursive: true, force: true });
    parts.stopping.addEventListener('abort', () => this.#drop());
  }

  async list() {
    const { job, settings, store } = this.#parts;
    const { backupAt, backupKeep, backupPassphrase, backupPassphraseFile } = settings;
    const upkeep = await store.listUpkeep();
    const copied = upkeepOf(upkeep, 'copy');
    const folder = backupFolder(settings);
    const names = scheduledBackups(folder).slice(0, SHOWN_MAX);
    const files = await Promise.all(
      names.map(async (name) => {
        const found = await stat(join(folder, name)).catch(() => null);
        return { name, atMs: momentOf(name), bytes: found?.size ?? null };
      }),
    );
    return {
      folder,
      files,
      schedule: backupAt,
      keep: backupKeep,
      nextMs: job.nextMs(),
      isEncrypted: backupPassphrase !== '' || backupPassphraseFile !== '',
      lastFailure: failureOf(upkeepOf(upkeep, 'backup')),
      copies:
        settings.backupAfter.length === 0
          ? null
          : { lastMs: copied?.success?.atMs ?? null, lastFailure: failureOf(copied) },
    };
  }

  /** Makes a backup like a scheduled one. Returns the reason of a failure; null: it was made. */
  async make(): Promise<string | null> {
    return this.#parts.job.run();
  }

  /**
   * Verifies a backup by its name. Returns its problem (null: none), `not_found`, or `busy` while
   * other work runs.
   */
  async verify(name: string): Promise<{ problem: string | null } | 'not_found' | 'busy'> {
    const folder = backupFolder(this.#parts.settings);
    if (!scheduledBackups(folder).includes(name)) return 'not_found';
    return this.#alone(async (signal) => {
      const words = ['restore', join(folder, name), '--verify', '--json'];
      const { complaint, exitCode } = await this.#parts.command(words, signal);
      return { problem: exitCode === 0 ? null : errorIn(complaint).message };
    });
  }

  /**
   * Makes an encrypted copy of the database, which one session may download for ten minutes.
   * Replaces an earlier copy. `note` records the copy before it can be downloaded. Returns `busy`
   * while other work runs. Throws `OperatorError` if it fails, and leaves no file.
   */
  async prepare(
    passphrase: string,
    sessionId: number,
    nowMs: number,
    note: () => Promise<void>,
  ): Promise<{ bytes: number } | 'busy'> {
    return this.#alone(async (signal) => {
      this.#drop();
      const folder = this.#folder();
      makeOwnFolder(folder);
      const file = join(folder, `${randomBytes(12).toString('hex')}.backup`);
      const { dataDir } = this.#parts.settings;
      const { bytes } = await this.#parts
        .copy(file, dataDir, passphrase, signal)
        .then(async (made) => {
          await note();
          return made;
        })
        .catch((fault: unknown) => {
          this.#drop();
          throw fault;
        });
      this.#copy = { file, bytes, sessionId, untilMs: nowMs + COPY_LIFE_MS };
      this.#end = setTimeout(() => this.#drop(), COPY_LIFE_MS);
      this.#end.unref();
      return { bytes };
    });
  }

  /** Returns the copy of a session; null: there is none, or its time is over. */
  copyOf(sessionId: number, nowMs: number): { file: string; bytes: number } | null {
    const copy = this.#copy;
    if (copy?.sessionId !== sessionId || nowMs >= copy.untilMs) return null;
    return { file: copy.file, bytes: copy.bytes };
  }

  #folder(): string {
    return join(this.#parts.settings.dataDir, COPIES_FOLDER);
  }

  #drop(): void {
    clearTimeout(this.#end);
    this.#copy = null;
    rmSync(this.#folder(), { recursive: true, force: true });
  }

  async #alone<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | 'busy'> {
    if (this.#isBusy) return 'busy';
    this.#isBusy = true;
    const { stopping } = this.#parts;
    try {
      return await work(AbortSignal.any([stopping, AbortSignal.timeout(WORK_TIME_MAX_MS)]));
    } finally {
      this.#isBusy = false;
    }
  }
}
