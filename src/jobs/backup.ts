/** Scheduled backups: starts and logs them, and notes in the store how they went. */

import { Cron } from 'croner';
import type { Clock } from '../base/clock.ts';
import { type Log, reasonOf } from '../base/log.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { UpkeepStore } from '../core/port/upkeep.ts';

/** A scheduled backup. */
interface Made {
  file: string;
  bytes: number;
  removed: readonly string[];
}

interface BackupJobDeps {
  /** Current settings; `backupAt` is a cron pattern in UTC, or empty: never. */
  settings: { readonly backupAt: string };
  store: UpkeepStore;
  /** Finds the newest backup on disk; null: there is none. May throw. */
  newest(): { file: string; atMs: number; bytes: number } | null;
  /** Makes a backup; null: another process makes it. Throws `OperatorError`. */
  make(nowMs: number, signal: AbortSignal): Promise<Made | null>;
  /** Called after a success or failure was noted. */
  onNoted(): Promise<void>;
  /** Called after a backup was made, and when the settings may have changed. */
  onMade(): void;
  clock: Clock;
  log: Log;
}

export interface BackupJob {
  /** Returns the time at which the next is due, UTC ms; null: never. */
  nextMs(): number | null;
  /**
   * Makes a backup now, or waits for the one in progress. Returns the reason of a failure, which is
   * logged and noted; null: it was made.
   */
  run(): Promise<string | null>;
  /** Applies a schedule that may have changed. */
  reschedule(): Promise<void>;
  /** Aborts a backup in progress, and starts no further one. */
  stop(): Promise<void>;
}

export async function startBackupJob(deps: BackupJobDeps): Promise<BackupJob> {
  const { settings, store, newest, make, onNoted, onMade, clock, log } = deps;
  const stopping = new AbortController();
  let pattern = '';
  let cron: Cron | null = null;
  let running: Promise<string | null> | null = null;

  async function work(): Promise<string | null> {
    const atMs = clock.nowMs();
    try {
      const made = await make(atMs, stopping.signal);
      if (made === null) {
        log.debug('backup_made_elsewhere');
        await noteNewest();
        return null;
      }
      const { file, bytes, removed } = made;
      const tookMs = clock.nowMs() - atMs;
      log.info('backup_made', { file, bytes, took_ms: tookMs, removed: removed.join(' ') });
      await noting(() => store.noteSuccess('backup', { atMs, result: file, bytes, tookMs }));
      onMade();
      return null;
    } catch (fault) {
      const isKnown = fault instanceof OperatorError;
      const reason = isKnown ? fault.message : reasonOf(fault);
      log.error('backup_failed', { reason });
      const code = isKnown ? fault.code : null;
      // A backup that the stop aborts is no failure that the operator must know.
      if (!stopping.signal.aborted) {
        await noting(() => store.noteFailure('backup', { atMs, reason, code }));
      }
      return reason;
    }
  }

  async function noting(note: () => Promise<void>): Promise<void> {
    try {
      await note();
      await onNoted();
    } catch (fault) {
      log.error('job_fault', { job: 'backup', reason: reasonOf(fault) });
    }
  }

  /** Notes the newest backup on disk, if another process made it or the database is older. */
  async function noteNewest(): Promise<void> {
    try {
      const found = newest();
      if (found === null) return;
      const known = (await store.listUpkeep()).find(({ task }) => task === 'backup');
      if (found.atMs <= (known?.success?.atMs ?? 0)) return;
      const { atMs, bytes, file: result } = found;
      await noting(() => store.noteSuccess('backup', { atMs, result, bytes, tookMs: null }));
    } catch (fault) {
      log.warn('backups_not_seen', { reason: reasonOf(fault) });
    }
  }

  function run(): Promise<string | null> {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  }

  async function reschedule(): Promise<void> {
    if (settings.backupAt !== pattern) {
      cron?.stop();
      pattern = settings.backupAt;
      cron =
        pattern === ''
          ? null
          : new Cron(pattern, { timezone: 'UTC' }, async () => {
              await run();
            });
    }
    await noting(() => store.noteSchedule('backup', pattern, clock.nowMs()));
    onMade();
  }

  await noteNewest();
  await reschedule();
  return {
    nextMs: () => cron?.nextRun()?.getTime() ?? null,
    run,
    reschedule,
    stop: async () => {
      cron?.stop();
      stopping.abort();
      await running;
    },
  };
}
