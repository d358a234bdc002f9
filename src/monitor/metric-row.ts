/** The form of a metric's row, and the snapshot from which its values are read. */

import type { Counts, Histogram } from '../base/counts.ts';
import type { Following } from '../core/follow-standing.ts';
import type { Follow } from '../core/port/follow.ts';
import type { QueueFacts, ServerFacts, StorageFacts } from '../core/port/health.ts';
import type { OutboxTotals } from '../core/port/outbox.ts';
import type { Upkeep } from '../core/port/upkeep.ts';
import type { DisabledWebhooks } from '../core/port/webhook.ts';
import type { LeapFacts } from '../core/timekeeper.ts';
import type { ProcessFacts } from './process.ts';
import type { Tallies } from './tallies.ts';

/** Figures of the HTTP server. */
export interface HttpFacts {
  tallies(): Iterable<{ endpoint: string; answers: Counts; seconds: Histogram }>;
  limited(): Readonly<Record<string, number>>;
  streamCount(): number;
  pollCount(): number;
  busyAddresses(): Promise<readonly BusyAddress[]>;
}

/** An address of this machine, a listed network, or (without a name) another, with its links. */
interface BusyAddress {
  whose: 'own' | 'listed' | 'other';
  name: string;
  linkCount: number;
}

/** All facts of one scrape. A null is unknown and has no sample. */
export interface Snapshot {
  nowMs: number;
  startedAtMs: number;
  storage: StorageFacts | null;
  /** Null: the database is a file, or the server does not answer. */
  server: ServerFacts | null;
  /** Null: the database is a file. */
  isDatabaseUp: boolean | null;
  queue: QueueFacts | null;
  outbox: readonly OutboxTotals[] | null;
  disabled: Pick<DisabledWebhooks, 'operatorCount' | 'providerCount'> | null;
  process: ProcessFacts;
  http: HttpFacts | null;
  /** Null: the server does not listen yet, or the database does not answer. */
  busyAddresses: readonly BusyAddress[] | null;
  certificateExpiresAtMs: number | null;
  upkeep: readonly Upkeep[] | null;
  /** The panels that the settings follow; `follow` is null before the first pass. */
  follows: readonly (Following & { follow: Follow | null })[] | null;
  /** Null: the clock has not leapt. */
  leap: Pick<LeapFacts, 'isSuspended' | 'leadMs'> | null;
  tallies: Tallies;
}

type Labels = Readonly<Record<string, string | number>>;
interface Sample {
  labels: Labels;
  value: number;
  /** The name of a histogram's part, if not the metric's. */
  metricName?: string;
}

export interface MetricRow {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  labels: readonly string[];
  help: string;
  read(snapshot: Snapshot, name: string): Sample[];
}

/** One sample, or none for an unknown value. */
export const one = (value: number | null | undefined): Sample[] =>
  value === null || value === undefined ? [] : [{ labels: {}, value }];

export const counted = (label: string, counts: Counts): Sample[] =>
  [...counts.entries()].map(([name, value]) => ({ labels: { [label]: name }, value }));

/** Returns the cumulative buckets, sum and count of a histogram. */
export function spread(
  name: string,
  { bounds, counts, sum }: Histogram,
  labels: Labels = {},
): Sample[] {
  let count = 0;
  const buckets = counts.map((ofBucket, at): Sample => {
    count += ofBucket;
    const le = bounds[at] ?? '+Inf';
    return { labels: { ...labels, le }, value: count, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ];
}

type Row = Omit<MetricRow, 'labels'> & { labels?: readonly string[] };
export const row = (metric: Row): MetricRow => ({ labels: [], ...metric });
