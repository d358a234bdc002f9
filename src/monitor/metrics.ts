/** Gathers the counts of all parts, and writes them in Prometheus' text format, version 0.0.4. */

import { type Log, reasonOf } from '../base/log.ts';
import type { Following } from '../core/follow-standing.ts';
import { isAway, type Store } from '../core/port/store.ts';
import type { HttpFacts, MetricRow, Snapshot } from './metric-row.ts';
import { METRICS } from './metric-table.ts';
import { processFacts } from './process.ts';
import type { Tallies } from './tallies.ts';

interface MetricSources {
  nowMs(): number;
  startedAtMs: number;
  store: Pick<
    Store,
    | 'listFollows'
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
  /** Returns the panels that the settings follow. */
  following?(): readonly Following[];
  tallies: Tallies;
  log: Log;
}

export interface Metrics {
  contentType: string;
  text(): Promise<string>;
}

export function makeMetrics(sources: MetricSources): Metrics {
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: async () => {
      const snapshot = await takeSnapshot(sources);
      return `${METRICS.map((metric) => expositionOf(metric, snapshot)).join('\n\n')}\n`;
    },
  };
}

/** Writes a metric in the text format. */
export function expositionOf({ name, type, help, read }: MetricRow, snapshot: Snapshot): string {
  const samples = read(snapshot, name).map(({ labels, value, metricName = name }) => {
    const pairs = Object.entries(labels).map(([label, of]) => `${label}="${escaped(String(of))}"`);
    return `${metricName}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...samples].join('\n');
}

/** Escapes the value of a label, as the format wants it. */
const escaped = (text: string) => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');

async function takeSnapshot(sources: MetricSources): Promise<Snapshot> {
  const { store, tallies, log, startedAtMs } = sources;
  const nowMs = sources.nowMs();
  const orNull = (fault: unknown) => {
    if (!isAway(fault)) log.warn('metrics_incomplete', { reason: reasonOf(fault) });
    return null;
  };
  const following = sources.following?.() ?? [];
  const http = sources.http();
  const [storage, server, queue, outbox, disabled, upkeep, follows, busyAddresses, processNow] =
    await Promise.all([
      store.readStorageFacts().catch(orNull),
      store.readServerFacts().catch(orNull),
      store.readQueueFacts(nowMs).catch(orNull),
      store.readOutboxTotals().catch(orNull),
      store.readDisabledWebhooks(0).catch(orNull),
      Promise.resolve(store.listUpkeep()).catch(orNull),
      following.length === 0 ? [] : Promise.resolve(store.listFollows()).catch(orNull),
      http?.busyAddresses().catch(orNull) ?? null,
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
    follows:
      follows === null
        ? null
        : following.map((one) => ({
            ...one,
            follow: follows.find(({ host }) => host === one.host) ?? null,
          })),
    tallies,
    process: processNow,
    http,
    busyAddresses,
    isDatabaseUp: sources.isDatabaseUp?.() ?? null,
    certificateExpiresAtMs: sources.certificateExpiresAtMs(),
    leap: sources.leap?.() ?? null,
  };
}
