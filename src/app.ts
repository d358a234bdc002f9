/** The composition root: what the program is made of, put together in one place. */

import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { SYSTEM } from './core/audit.ts';
import type { Core } from './core/core.ts';
import { Signals } from './core/signals.ts';
import { startServer } from './http/server.ts';
import { makeWorker } from './jobs/deliver.ts';
import { startJobs } from './jobs/table.ts';
import { makeLog } from './log.ts';
import { openSqliteStore } from './store/sqlite/store.ts';

/** The product on its data. An old database is migrated by the server alone. */
export function openCore(config: Config, create: boolean, migrates = false): Core {
  const { dataDir, commitBatchMax, linksPerProviderMax, unboundCommandsPerDayMax } = config;
  const store = openSqliteStore({ dataDir, create, migrates, commitBatchMax });
  const actor = () => SYSTEM;
  return { store, signals: new Signals(), actor, linksPerProviderMax, unboundCommandsPerDayMax };
}

export interface App {
  core: Core;
  url: string;
  /** Finishes what runs, then closes. */
  close(): Promise<void>;
}

/** Starts everything that `gatepost serve` runs. Throws `OperatorError` when it cannot. */
export async function startApp(config: Config): Promise<App> {
  const core = openCore(config, true, true);
  const log = makeLog(config.logFormat, systemClock.nowMs);
  const worker = makeWorker(core, systemClock, log);
  core.signals.onWork(worker.look);
  const server = await startServer({
    core,
    clock: systemClock,
    log,
    host: config.host,
    port: config.port,
    settings: { outputOffsetMinutes: config.outputOffsetMinutes },
    trustedProxies: config.trustedProxies,
    authFailuresPerMinuteMax: config.authFailuresPerMinuteMax,
    registrationsPerMinuteMax: config.registrationsPerMinuteMax,
    streamCountMax: config.streamCountMax,
  });
  const { ledgerDays } = config;
  const stopJobs = startJobs({ core, clock: systemClock, log, worker, ledgerDays });
  worker.look();
  return {
    core,
    url: server.url,
    close: async () => {
      await stopJobs();
      await server.stop();
      await worker.stop();
      await core.store.close();
    },
  };
}
