/** Scheduled backups: starts them, logs them, and keeps the last success and failure. */

import { Cron } from 'croner';
import type { Clock } from '../clock.ts';
import { type Log, reasonOf } from '../log.ts';
import { OperatorError } from '../operator-error.ts';

/** A scheduled backup. */
interface Made {
  file: string;
  bytes: number;
  removed: readonly string[];
}

interface BackupJobDeps {
  /** Current settings; `backupAt` is a cron pattern in UTC, or empty: never. */
  settings: { readonly backupAt: string };
  /** Finds the newest backup on disk; null: there is none. May throw. */
  newest(): { file: string; atMs: number; bytes: number } | null;
  /** Makes a backup; null: another process makes it. Throws `OperatorError`. */
  make(nowMs: number, signal: AbortSignal): Promise<Made | null>;
  /** Receives a failure, unless the job was stopped. */
  onFailure(reason: string, atMs: number): Promise<void>;
  clock: Clock;
  log: Log;
}

export interface BackupHistory {
  /** The newest backup; `tookMs` is null if another process, or this one before, made it. */
  lastSuccess: { atMs: number; tookMs: number | null; bytes: number; file: string } | null;
  lastFailure: { atMs: number; reason: string } | null;
}

export interface BackupJob {
  /** History for metrics: the newest backup on disk, and failures since the start. */
  readonly history: Readonly<BackupHistory>;
  /** Returns the time at which the next is due, UTC ms; null: never. */
  nextMs(): number | null;
  /** Makes a backup now, or waits for the one in progress; a failure is logged. */
  run(): Promise<void>;
  /** Applies a schedule that may have changed. */
  reschedule(): void;
  /** Aborts a backup in progress, and starts no further one. */
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
        noteNewest();
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
      if (!stopping.signal.aborted) await report(reason, atMs);
    }
  }

  async function report(reason: string, atMs: number): Promise<void> {
    try {
      await onFailure(reason, atMs);
    } catch (fault) {
      log.error('job_fault', { job: 'backup', reason: reasonOf(fault) });
    }
  }

  /** Notes the newest backup that another process, or this one before a restart, made. */
  function noteNewest(): void {
    try {
      const found = newest();
      if (found === null || found.atMs <= (history.lastSuccess?.atMs ?? 0)) return;
      history.lastSuccess = { ...found, tookMs: null };
    } catch (fault) {
      log.warn('backups_not_seen', { reason: reasonOf(fault) });
    }
  }

  function run(): Promise<void> {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  }

  function reschedule(): void {
    if (settings.backupAt === pattern) return;
    cron?.stop();
    pattern = settings.backupAt;
    cron = pattern === '' ? null : new Cron(pattern, { timezone: 'UTC' }, run);
  }

  noteNewest();
  reschedule();
  return {
    history,
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
