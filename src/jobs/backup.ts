/** Backups by the clock: rings, tells the log, and remembers how the last ones went. */

import { Cron } from 'croner';
import type { Clock } from '../clock.ts';
import { type Log, reasonOf } from '../log.ts';
import { OperatorError } from '../operator-error.ts';

/** What is made at a ring; null when another process does it. */
export interface Made {
  file: string;
  bytes: number;
  removed: readonly string[];
}

export interface BackupJobDeps {
  /** A cron pattern in UTC, or empty: never. */
  settings: { readonly backupAt: string };
  /** The newest that lies there already; null: none. May throw. */
  newest(): { file: string; atMs: number; bytes: number } | null;
  make(nowMs: number, signal: AbortSignal): Promise<Made | null>;
  clock: Clock;
  log: Log;
}

export interface BackupHistory {
  /** `tookMs` is null for one that another process, or this program before its restart, made. */
  lastSuccess: { atMs: number; tookMs: number | null; bytes: number; file: string } | null;
  lastFailure: { atMs: number; reason: string } | null;
}

export interface BackupJob {
  /** How it went: the last good one also before the start, failures since then. For metrics. */
  readonly history: Readonly<BackupHistory>;
  /** When the next is due, UTC ms; null: never. */
  nextMs(): number | null;
  /** Makes one now; what goes wrong is logged and remembered. */
  ring(): Promise<void>;
  /** To be called when the settings may have changed. */
  reschedule(): void;
  /** Ends one that is being made, and rings no more. */
  stop(): Promise<void>;
}

export function startBackupJob({ settings, newest, make, clock, log }: BackupJobDeps): BackupJob {
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
    }
  }

  /** So that the age of the last one is known after a restart, and beside another server. */
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
