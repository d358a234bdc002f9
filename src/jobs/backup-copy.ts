/** Copies of backups elsewhere: runs the command after a backup, and notes how it went. */

import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import type { UpkeepStore } from '../core/port/upkeep.ts';

interface CopyDeps {
  settings: { readonly backupAfter: readonly string[] };
  store: UpkeepStore;
  /** Returns the reason of a failure (null: none), and what only the log may have. */
  copy(file: string, signal: AbortSignal): Promise<{ reason: string | null; errors: string }>;
  /** Called after a success or failure was noted. */
  onNoted(): Promise<void>;
  clock: Clock;
  log: Log;
}

export interface BackupCopies {
  /**
   * Copies the newest backup unless that was tried. Begins at once, or after the copy in progress.
   * Returns when none is left.
   */
  catchUp(): Promise<void>;
  /** Aborts a copy in progress. */
  stop(): Promise<void>;
}

export function makeBackupCopies(deps: CopyDeps): BackupCopies {
  const { settings, store, copy, onNoted, clock, log } = deps;
  const stopping = new AbortController();
  let running: Promise<void> | null = null;

  /** Returns the file of the last backup if no copy of it was tried. */
  async function next(): Promise<string | null> {
    if (settings.backupAfter.length === 0 || stopping.signal.aborted) return null;
    const rows = await store.listUpkeep();
    const made = rows.find(({ task }) => task === 'backup')?.success;
    const last = rows.find(({ task }) => task === 'copy');
    if (!made || made.result === last?.success?.result) return null;
    // An older one may have failed while this one was made.
    const isTried = (last?.failure?.atMs ?? 0) >= made.atMs + (made.tookMs ?? 0);
    return isTried ? null : made.result;
  }

  async function work(): Promise<void> {
    try {
      const schedule = settings.backupAfter.length === 0 ? '' : 'backup.after';
      await store.noteSchedule('copy', schedule, clock.nowMs());
      for (let file = await next(); file !== null; file = await next()) await copyOne(file);
    } catch (fault) {
      log.error('job_fault', { job: 'backup-copy', reason: reasonOf(fault) });
    }
  }

  async function copyOne(file: string): Promise<void> {
    const atMs = clock.nowMs();
    const { reason, errors } = await copy(file, stopping.signal);
    // The next start copies it.
    if (stopping.signal.aborted) return;
    const tookMs = clock.nowMs() - atMs;
    const facts = { file, took_ms: tookMs, stderr: errors.trim() };
    if (reason === null) {
      log.info('backup_copied', facts);
      await store.noteSuccess('copy', { atMs, result: file, bytes: null, tookMs });
    } else {
      log.error('backup_copy_failed', { ...facts, reason });
      await store.noteFailure('copy', { atMs, reason, code: null });
    }
    await onNoted();
  }

  return {
    catchUp: () => {
      // After the last look of a run in progress there may be a newer one.
      running = (running ?? Promise.resolve()).then(work);
      return running;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
