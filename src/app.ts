/** The composition root: what the program is made of, put together in one place. */

import { systemClock } from './clock.ts';
import { type Change, changeBetween, type LoadedConfig, withLiveSettings } from './config/load.ts';
import type { Config } from './config/settings/index.ts';
import { SYSTEM } from './core/audit.ts';
import type { Core } from './core/core.ts';
import { Signals } from './core/signals.ts';
import { startServer } from './http/server.ts';
import { makeWorker } from './jobs/deliver.ts';
import { startJobs } from './jobs/table.ts';
import { type Log, makeLog } from './log.ts';
import { openSqliteStore } from './store/sqlite/store.ts';

/** The product on its data. An old database is migrated by the server alone. */
export function openCore(config: Config, create: boolean, migrates = false): Core {
  const { dataDir, commitBatchMax } = config;
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

export interface App {
  core: Core;
  log: Log;
  url: string;
  /** Takes up what may change in flight; returns what did, and what waits for a restart. */
  reload(next: LoadedConfig): Change;
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
  const worker = makeWorker(core, systemClock, log);
  core.signals.onWork(worker.look);
  const { host, port } = settings;
  const server = await startServer({ core, clock: systemClock, log, host, port, settings });
  const stopJobs = startJobs({ core, clock: systemClock, log, worker, settings });
  worker.look();
  return {
    core,
    log,
    url: server.url,
    reload: (next) => {
      const change = changeBetween(current, next);
      Object.assign(settings, withLiveSettings(settings, next.config));
      current = next;
      return change;
    },
    close: async () => {
      await stopJobs();
      await server.stop();
      await worker.stop();
      await core.store.close();
    },
  };
}
