/** The part of app.ts that opens the monitor, and notes its address in the data directory. */

import { reasonOf } from '../base/log.ts';
import { forgetMonitor, identityOf, noteMonitor } from '../base/whereabouts.ts';
import { DEFAULT, type LoadedConfig } from '../config/load.ts';
import { type MonitorOptions, type RunningMonitor, startMonitor } from '../monitor/server.ts';

/** Opens the monitor; null: it is off. */
export function openMonitor(
  { config, sources }: LoadedConfig,
  parts: Pick<MonitorOptions, 'readiness' | 'metrics' | 'log'>,
): RunningMonitor | null {
  const { dataDir, monitorHost: host, monitorPort: port } = config;
  if (port === null) return null;
  const origins = [sources.monitorHost.origin, sources.monitorPort.origin];
  const isChosen = origins.some((from) => from !== DEFAULT);
  const identity = identityOf(dataDir) ?? '';
  const { url, stop } = startMonitor({ host, port, identity, isChosen, ...parts });
  try {
    noteMonitor(dataDir, url);
  } catch (fault) {
    // On a full disk: `gatepost ready` then uses the configured address.
    parts.log.warn('monitor_not_noted', { reason: reasonOf(fault) });
  }
  return {
    url,
    stop: async () => {
      forgetMonitor(dataDir, url);
      await stop();
    },
  };
}
