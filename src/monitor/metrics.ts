/** Gathers the counts of the process's parts, and writes them as Prometheus reads them. */

import { type Metric, Registry } from 'prom-client';
import { isAway, type Store } from '../core/port/store.ts';
import { type Log, reasonOf } from '../log.ts';
import type { BackupFacts, HttpFacts, Look } from './metric-row.ts';
import { METRICS } from './metric-table.ts';
import { processFacts } from './process.ts';
import type { Tallies } from './tallies.ts';

interface MetricSources {
  nowMs(): number;
  startedAtMs: number;
  store: Pick<
    Store,
    'readStorageFacts' | 'readServerFacts' | 'readQueueFacts' | 'readOutboxTotals'
  >;
  /** Whether the database answers; null: it is no server's. */
  isDatabaseUp?: () => boolean | null;
  /** Figures of the listener; null: it does not listen yet. */
  http(): HttpFacts | null;
  /** Time at which the certificate ends, UTC ms; null: plain HTTP. */
  certificateExpiresAtMs(): number | null;
  /** Last good backup; null: there is none. */
  lastBackup(): BackupFacts | null;
  tallies: Tallies;
  log: Log;
}

export interface Metrics {
  contentType: string;
  /** Writes all metrics in Prometheus' text format. */
  text(): Promise<string>;
}

export function makeMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  let look: Look;
  for (const { name, help, type, read } of METRICS) {
    // Read from the parts' own counts: prom-client's metrics look each value up by
    // its labels, which on the path of a request would cost as much as a look-up in the database.
    const metric = {
      ...{ name, help, type },
      get: async () => ({ name, help, type, values: read(look, name), aggregator: 'sum' }),
    };
    registry.registerMetric(metric as unknown as Metric);
  }
  return {
    contentType: registry.contentType,
    text: async () => {
      look = await lookAround(sources);
      return registry.metrics();
    },
  };
}

async function lookAround(sources: MetricSources): Promise<Look> {
  const { store, http, tallies, log, startedAtMs } = sources;
  const nowMs = sources.nowMs();
  const orNull = (fault: unknown) => {
    if (!isAway(fault)) log.warn('metrics_incomplete', { reason: reasonOf(fault) });
    return null;
  };
  const [storage, server, queue, outbox, processNow] = await Promise.all([
    store.readStorageFacts().catch(orNull),
    store.readServerFacts().catch(orNull),
    store.readQueueFacts(nowMs).catch(orNull),
    store.readOutboxTotals().catch(orNull),
    processFacts(),
  ]);
  const certificateExpiresAtMs = sources.certificateExpiresAtMs();
  return {
    ...{ nowMs, startedAtMs, storage, server, queue, outbox, process: processNow, tallies },
    http: http(),
    isDatabaseUp: sources.isDatabaseUp?.() ?? null,
    certificateExpiresAtMs,
    lastBackup: sources.lastBackup(),
  };
}
