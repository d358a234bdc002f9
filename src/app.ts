/** The composition root: what the program is made of, put together in one place. */

import { addScheduledBackup, backupByChild } from './backup/shelf.ts';
import { systemClock } from './clock.ts';
import { type Change, changeBetween, type LoadedConfig, withLiveSettings } from './config/load.ts';
import type { Config } from './config/settings/index.ts';
import { SYSTEM } from './core/audit.ts';
import type { Core } from './core/core.ts';
import { Signals } from './core/signals.ts';
import { startServer } from './http/server.ts';
import { type BackupHistory, startBackupJob } from './jobs/backup.ts';
import { makeWorker } from './jobs/deliver.ts';
import { startJobs } from './jobs/table.ts';
import { type Log, makeLog } from './log.ts';
import { OperatorError } from './operator-error.ts';
import { checkDataDirectory, type Finding } from './permissions.ts';
import { openSqliteStore } from './store/sqlite/store.ts';
import { startTls } from './tls/tls.ts';

/** The product on its data. An old database is migrated by the server alone. */
export function openCore(config: Config, create: boolean, migrates = false): Core {
  const { dataDir, commitBatchMax } = config;
  refuse(checkDataDirectory(dataDir));
  const store = openSqliteStore({ dataDir, create, migrates, commitBatchMax });
  return {
    store,
    signals: new Signals(),
    actor: () => SYSTEM,
    // Read when they are needed: they may change in flight.
    get linksPerProviderMax() {
      return config.linksPerProviderMax;
    },
    get unboundCommandsPerDayMax() {
      return config.unboundCommandsPerDayMax;
    },
  };
}

/** Stops on what others could read or change. */
function refuse(findings: readonly Finding[]): void {
  const problems = findings.filter(({ isRefused }) => isRefused).map(({ problem }) => problem);
  if (problems.length > 0) throw new OperatorError(problems.join('; '));
}

export interface App {
  core: Core;
  log: Log;
  url: string;
  /** How the scheduled backups went since the start. */
  backups: Readonly<BackupHistory>;
  /** Takes up what may change in flight; returns what did, and what waits for a restart. */
  reload(next: LoadedConfig): Change;
  /** When the served certificate ends, UTC ms; null: plain HTTP. */
  certificateExpiresAtMs(): number | null;
  /** Finishes what runs, then closes. */
  close(): Promise<void>;
}

/** Starts everything that `gatepost serve` runs. Throws `OperatorError` when it cannot. */
export async function startApp(loaded: LoadedConfig): Promise<App> {
  // One object for everybody, read at each use: a reload changes it in place.
  const settings: Config = { ...loaded.config };
  let current = loaded;
  const core = openCore(settings, true, true);
  const log = makeLog(settings, systemClock.nowMs);
  for (const { path, problem } of checkDataDirectory(settings.dataDir)) {
    log.warn('open_to_group', { path, problem });
  }
  const worker = makeWorker(core, systemClock, log);
  core.signals.onWork(worker.look);
  const { host, port } = settings;
  const tls = await startTls(settings, systemClock, log);
  const server = await startServer({
    core,
    clock: systemClock,
    log,
    host,
    port,
    tls: tls?.first ?? null,
    settings,
  });
  tls?.begin(server.replaceCertificate);
  const stopJobs = startJobs({ core, clock: systemClock, log, worker, tls, settings });
  const runBackup = backupByChild(ownCommand());
  const backups = startBackupJob({
    settings,
    make: (nowMs, signal) => addScheduledBackup(settings, nowMs, runBackup, signal),
    clock: systemClock,
    log,
  });
  worker.look();
  return {
    core,
    log,
    url: server.url,
    backups: backups.history,
    reload: (next) => {
      const change = changeBetween(current, next);
      Object.assign(settings, withLiveSettings(settings, next.config));
      backups.reschedule();
      current = next;
      void tls?.look();
      return change;
    },
    certificateExpiresAtMs: () => tls?.expiresAtMs() ?? null,
    close: async () => {
      await Promise.all([stopJobs(), backups.stop()]);
      await tls?.stop();
      await server.stop();
      await worker.stop();
      await core.store.close();
    },
  };
}

/** How this program is started once more: the executable alone, or Bun with its source. */
function ownCommand(): string[] {
  const isCompiled = Bun.main.startsWith('/$bunfs/');
  return isCompiled ? [process.execPath] : [process.execPath, Bun.main];
}
