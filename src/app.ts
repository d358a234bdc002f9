/** The composition root: what the program is made of, put together in one place. */

import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import type { Core } from './core/core.ts';
import { startServer } from './http/server.ts';
import { makeLog } from './log.ts';
import { openSqliteStore } from './store/sqlite/store.ts';

/** The product on its data. With `create`, a missing database is made and an old one migrated. */
export function openCore(config: Config, create: boolean): Core {
  const { dataDir, commitBatchMax, linksPerProviderMax } = config;
  return { store: openSqliteStore({ dataDir, create, commitBatchMax }), linksPerProviderMax };
}

export interface App {
  core: Core;
  url: string;
  /** Finishes what runs, then closes. */
  close(): Promise<void>;
}

/** Starts everything that `gatepost serve` runs. Throws `OperatorError` when it cannot. */
export async function startApp(config: Config): Promise<App> {
  const core = openCore(config, true);
  const { host, port, outputOffsetMinutes, trustedProxies, authFailuresPerMinuteMax } = config;
  const server = await startServer({
    core,
    clock: systemClock,
    log: makeLog(config.logFormat, systemClock.nowMs),
    host,
    port,
    settings: { outputOffsetMinutes },
    trustedProxies,
    authFailuresPerMinuteMax,
  });
  return {
    core,
    url: server.url,
    close: async () => {
      await server.stop();
      await core.store.close();
    },
  };
}
