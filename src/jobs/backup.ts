/** Backups by the clock: the ring, the lines in the log, and the history of the last ones. */

import { Cron } from 'croner';
import type { Clock } from '../clock.ts';
import { type Log, reasonOf } from '../log.ts';
import { OperatorError } from '../operator-error.ts';

/** A backup that a ring made. */
export interface Made {
  file: string;
  bytes: number;
  removed: readonly string[];
}

interface BackupJobDeps {
  /** Settings as they are now; `backupAt` is a cron pattern in UTC, or empty: never. */
  settings: { readonly backupAt: string };
  /** Finds the newest that lies there already; null: there is none. May throw. */
  newest(): { file: string; atMs: number; bytes: number } | null;
  /** Makes one; null: another process does it. Throws `OperatorError`. */
  make(nowMs: number, signal: AbortSignal): Promise<Made | null>;
  /** Hears of one that failed, unless that is because the job was stopped. */
  onFailure(reason: string, atMs: number): Promise<void>;
  clock: Clock;
  log: Log;
}

export interface BackupHistory {
  /** Newest good one; `tookMs` is null if another process, or an earlier run of this, made it. */
  lastSuccess: { atMs: number; tookMs: number | null; bytes: number; file: string } | null;
  lastFailure: { atMs: number; reason: string } | null;
}

export interface BackupJob {
  /** History for metrics: the last good one also before the start, failures since then. */
  readonly history: Readonly<BackupHistory>;
  /** Time at which the next is due, UTC ms; null: never. */
  nextMs(): number | null;
  /** Makes one now; a failure is logged and remembered. */
  ring(): Promise<void>;
  /** Takes up settings that may have changed. */
  reschedule(): void;
  /** Ends one that is being made, and rings no more. */
  stop(): Promise<void>;
}

export function startBackupJob(deps: BackupJobDeps): BackupJob {
  const { settings, newest, make, onFailure, clock, log } = deps;
  const history: BackupHistory = { lastSuccess: null, lastFailure: null };
  const stopping = new AbortController();
  let pattern = '';
  let cron: Cron | null = null;
  let running: Promise<void> | null = null;

  async function work(): Promise<void> {
    const atMs = clock.nowMs();
    try {
      const made = await make(atMs, stopping.signal);
      if (made === null) {
        log.debug('backup_made_elsewhere');
        lookAround();
        return;
      }
      const { file, bytes, removed } = made;
      const tookMs = clock.nowMs() - atMs;
      history.lastSuccess = { atMs, tookMs, bytes, file };
      log.info('backup_made', { file, bytes, took_ms: tookMs, removed: removed.join(' ') });
    } catch (fault) {
      const reason = fault instanceof OperatorError ? fault.message : reasonOf(fault);
      history.lastFailure = { atMs, reason };
      log.error('backup_failed', { reason });
      if (!stopping.signal.aborted) await tell(reason, atMs);
    }
  }

  async function tell(reason: string, atMs: number): Promise<void> {
    try {
      await onFailure(reason, atMs);
    } catch (fault) {
      log.error('job_fault', { job: 'backup', reason: reasonOf(fault) });
    }
  }

  /** Finds the age of the last one, after a restart and beside another server. */
  function lookAround(): void {
    try {
      const found = newest();
      if (found === null || found.atMs <= (history.lastSuccess?.atMs ?? 0)) return;
      history.lastSuccess = { ...found, tookMs: null };
    } catch (fault) {
      log.warn('backups_not_seen', { reason: reasonOf(fault) });
    }
  }

  function ring(): Promise<void> {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  }

  function reschedule(): void {
    if (settings.backupAt === pattern) return;
    cron?.stop();
    pattern = settings.backupAt;
    cron = pattern === '' ? null : new Cron(pattern, { timezone: 'UTC' }, ring);
  }

  lookAround();
  reschedule();
  return {
    history,
    nextMs: () => cron?.nextRun()?.getTime() ?? null,
    ring,
    reschedule,
    stop: async () => {
      cron?.stop();
      stopping.abort();
      await running;
    },
  };
}
