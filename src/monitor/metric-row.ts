/** Rows of the table of metrics: what they are made of, and what they are read from. */

import type { QueueFacts, ServerFacts, StorageFacts } from '../core/port/health.ts';
import type { OutboxTotals } from '../core/port/outbox.ts';
import type { Counts, Histogram } from '../counts.ts';
import type { ProcessFacts } from './process.ts';
import type { Tallies } from './tallies.ts';

/** Figures of the listener for callers. */
export interface HttpFacts {
  tallies(): Iterable<{ endpoint: string; answers: Counts; seconds: Histogram }>;
  limited(): Readonly<Record<string, number>>;
  streamCount(): number;
  pollCount(): number;
}

/** The last backup by the clock. */
export interface BackupFacts {
  atMs: number;
  /** Time that it took, ms; null: another process, or an earlier run of this one, made it. */
  tookMs: number | null;
  bytes: number;
}

/** Everything that one look gathers. Figures that nobody knows are null, and have no value. */
export interface Look {
  nowMs: number;
  startedAtMs: number;
  storage: StorageFacts | null;
  /** Null: the database is no server's, or does not answer. */
  server: ServerFacts | null;
  /** Null: the database is no server's. */
  isDatabaseUp: boolean | null;
  queue: QueueFacts | null;
  outbox: readonly OutboxTotals[] | null;
  process: ProcessFacts;
  http: HttpFacts | null;
  certificateExpiresAtMs: number | null;
  lastBackup: BackupFacts | null;
  tallies: Tallies;
}

type Labels = Readonly<Record<string, string | number>>;
interface Sample {
  labels: Labels;
  value: number;
  /** Name if it is not the metric's, as that of a histogram's part. */
  metricName?: string;
}

export interface MetricRow {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  labels: readonly string[];
  help: string;
  read(look: Look, name: string): Sample[];
}

/** One value, or none where it is not known. */
export const one = (value: number | null | undefined): Sample[] =>
  value === null || value === undefined ? [] : [{ labels: {}, value }];

export const counted = (label: string, counts: Counts): Sample[] =>
  [...counts.entries()].map(([name, value]) => ({ labels: { [label]: name }, value }));

/** The cumulative buckets, sum and count of the exposition format. */
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
