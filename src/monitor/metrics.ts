/** Gathers the counts of all parts, and serialises them for Prometheus. */

import { type Metric, Registry } from 'prom-client';
import { isAway, type Store } from '../core/port/store.ts';
import { type Log, reasonOf } from '../log.ts';
import type { HttpFacts, Snapshot } from './metric-row.ts';
import { METRICS } from './metric-table.ts';
import { processFacts } from './process.ts';
import type { Tallies } from './tallies.ts';

interface MetricSources {
  nowMs(): number;
  startedAtMs: number;
  store: Pick<
    Store,
    | 'listUpkeep'
    | 'readDisabledWebhooks'
    | 'readOutboxTotals'
    | 'readQueueFacts'
    | 'readServerFacts'
    | 'readStorageFacts'
  >;
  /** Returns whether the database answers; null: it is a file. */
  isDatabaseUp?: () => boolean | null;
  /** Returns the figures of the HTTP server; null: it does not listen yet. */
  http(): HttpFacts | null;
  /** Returns when the certificate ends, UTC ms; null: plain HTTP. */
  certificateExpiresAtMs(): number | null;
  /** Returns the leap of the clock; null: none. */
  leap?(): Snapshot['leap'];
  tallies: Tallies;
  log: Log;
}

export interface Metrics {
  contentType: string;
  /** Returns all metrics in Prometheus' text format. */
  text(): Promise<string>;
}

export function makeMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  let snapshot: Snapshot;
  for (const { name, help, type, read } of METRICS) {
    // The parts keep plain counts: prom-client's metrics would find each value by its labels, which
    // costs a request as much as a read of the database.
    const metric = {
      name,
      help,
      type,
      get: async () => ({ name, help, type, values: read(snapshot, name), aggregator: 'sum' }),
    };
    registry.registerMetric(metric as unknown as Metric);
  }
  return {
    contentType: registry.contentType,
    text: async () => {
      snapshot = await takeSnapshot(sources);
      return registry.metrics();
    },
  };
}

async function takeSnapshot(sources: MetricSources): Promise<Snapshot> {
  const { store, http, tallies, log, startedAtMs } = sources;
  const nowMs = sources.nowMs();
  const orNull = (fault: unknown) => {
    if (!isAway(fault)) log.warn('metrics_incomplete', { reason: reasonOf(fault) });
    return null;
  };
  const [storage, server, queue, outbox, disabled, upkeep, processNow] = await Promise.all([
    store.readStorageFacts().catch(orNull),
    store.readServerFacts().catch(orNull),
    store.readQueueFacts(nowMs).catch(orNull),
    store.readOutboxTotals().catch(orNull),
    store.readDisabledWebhooks(0).catch(orNull),
    Promise.resolve(store.listUpkeep()).catch(orNull),
    processFacts(),
  ]);
  return {
    nowMs,
    startedAtMs,
    storage,
    server,
    queue,
    outbox,
    disabled,
    upkeep,
    tallies,
    process: processNow,
    http: http(),
    isDatabaseUp: sources.isDatabaseUp?.() ?? null,
    certificateExpiresAtMs: sources.certificateExpiresAtMs(),
    leap: sources.leap?.() ?? null,
  };
}
