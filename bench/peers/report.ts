/** The figures beside the peers as Markdown, for people. */

import { type Measurement, median, medians } from '../load.ts';
import type { StreamFigures } from './streams.ts';
import type { Tail } from './tails.ts';

export interface Row {
  title: string;
  connections: number;
  name: string;
  measured: Measurement;
  ownKib: number;
  /** Gatepost's requests/s against this one's, round by round, the median. */
  gatepostTimes: number;
  /** This one's processor time per request against Gatepost's. */
  cpuTimes: number;
  /** The multiple that Gatepost is to reach; null if none is set. */
  wanted: number | null;
}

export interface TailRow extends Tail {
  name: string;
  checkpoints: string;
}

interface Report {
  date: string;
  minutes: number;
  environment: Record<string, string>;
  settings: Record<'rounds' | 'seconds' | 'pacedRounds' | 'pacedSeconds' | 'streamCount', number>;
  throughput: readonly Row[];
  slowWrites: readonly Row[];
  tails: readonly TailRow[];
  slowTails: readonly TailRow[];
  streams: readonly StreamFigures[];
  missing: readonly string[];
}

interface Figures {
  name: string;
  isPeer: boolean;
  runs: readonly Measurement[];
  ownKib: number;
}

/** Rows of one case; the first of `figures` is Gatepost. */
export function rowsOf(
  { title, connections, wanted }: Pick<Row, 'title' | 'connections' | 'wanted'>,
  figures: readonly Figures[],
): Row[] {
  const own = figures[0]?.runs ?? [];
  return figures.map(({ name, isPeer, runs, ownKib }) => {
    const against = (of: (ours: Measurement, theirs: Measurement) => number) =>
      median(runs.flatMap((run, at) => (own[at] ? [of(own[at], run)] : [])));
    return {
      title,
      connections,
      name,
      ownKib,
      measured: medians(runs),
      gatepostTimes: against((ours, theirs) => ours.requestsPerSecond / theirs.requestsPerSecond),
      cpuTimes: against((ours, theirs) => theirs.cpuUs / ours.cpuUs),
      wanted: isPeer ? wanted : null,
    };
  });
}

export function markdown(report: Report): string {
  const { settings, minutes } = report;
  const { rounds, seconds, pacedRounds, pacedSeconds, streamCount } = settings;
  const parts = [
    `# Gatepost beside its peers, ${report.date}`,
    list(Object.entries(report.environment).map(([name, value]) => `${name}: ${value}`)),
    `One run of ${minutes.toFixed(0)} minutes; the contestants take turns. Each has one core for all
of its processes, the load has the other. Gatepost does more for an added link than the peers: it
counts against the cap of the provider and writes an entry of the chained audit log in the same
commit. They only insert the row. If the load average before the bench is far above zero, others had
the cores meanwhile: then "CPU ×" alone tells something, and the tails tell nothing.`,
  ];
  if (report.throughput.length > 0) {
    parts.push(
      '## Throughput',
      `Medians of ${rounds} rounds of ${seconds} s. "Gatepost ×" is Gatepost's requests/s divided by
those of the line, round by round; "CPU ×" is the line's processor time per request divided by
Gatepost's, which other work on the machine disturbs less. "memory" is that of all its processes
after the case, without pages of files.`,
      throughputTable(report.throughput),
    );
  }
  if (report.slowWrites.length > 0) {
    parts.push(
      '## Durable writes on a disk that syncs 5 ms slower',
      'A preloaded library lets fsync and fdatasync of every contestant sleep for 5 ms first.',
      throughputTable(report.slowWrites),
    );
  }
  const tails: [title: string, rows: readonly TailRow[]][] = [
    ['## Tails at half of the peak', report.tails],
    ['## Tails at half of the peak, on the slow disk', report.slowTails],
  ];
  for (const [title, rows] of tails) {
    if (rows.length === 0) continue;
    parts.push(
      title,
      `Half known HWIDs, three lists of one id in ten, one wrong key and one added link in ten, each
sent when it is due, at half of what the contestant reaches with 64 connections; rounds of
${pacedSeconds} s, ${pacedRounds} of them. A request's time counts from when it was due. "stall" is
the longest time without any answer while one was awaited. The bare server gets Gatepost's rate: its
tail is that of generator and machine, and where it is long, no other line says anything.`,
      tailTable(rows),
    );
  }
  if (report.streams.length > 0) {
    parts.push(
      `## ${count(streamCount)} open streams`,
      'One message to all; the time is from the call until the middle and the last stream have it.',
      streamTable(report.streams),
    );
  }
  if (report.missing.length > 0) parts.push('## Left out', list(report.missing));
  return `${parts.join('\n\n')}\n`;
}

function throughputTable(rows: readonly Row[]): string {
  return table(
    [
      ...['case', 'conn.', 'contestant', 'requests/s', 'p50 ms', 'p99 ms', 'CPU us', 'busy'],
      ...['memory', 'Gatepost ×', 'CPU ×', 'wanted', ''],
    ],
    rows.map(({ title, connections, name, measured, ownKib, ...row }) => [
      title,
      String(connections),
      name,
      count(measured.requestsPerSecond),
      ms(measured.p50Us),
      ms(measured.p99Us),
      measured.cpuUs.toFixed(1),
      `${Math.round(measured.busy * 100)} %`,
      mib(ownKib),
      row.gatepostTimes.toFixed(2),
      row.cpuTimes.toFixed(2),
      row.wanted === null ? '' : `≥ ${row.wanted}`,
      row.wanted === null ? '' : verdict(row.gatepostTimes, row.wanted),
    ]),
  );
}

function verdict(times: number, wanted: number): string {
  if (times >= wanted) return 'met';
  return `**missed** by ${Math.round((1 - times / wanted) * 100)} %`;
}

function tailTable(rows: readonly TailRow[]): string {
  const head = ['contestant', 'peak/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'longest ms', 'stall ms'];
  return table(
    [...head, 'who writes the log back'],
    rows.map(({ name, peak, p50Us, p99Us, p999Us, longestUs, stallUs, checkpoints }) => [
      name,
      count(peak),
      ...[p50Us, p99Us, p999Us, longestUs, stallUs].map(ms),
      checkpoints,
    ]),
  );
}

function streamTable(rows: readonly StreamFigures[]): string {
  return table(
    [
      ...['server', 'opened/s', 'memory each', 'idle', 'middle ms', 'last ms'],
      ...['CPU us per message', 'what it promises'],
    ],
    rows.map((row) => [
      row.name,
      count(row.openedPerSecond),
      `${row.kibEach.toFixed(1)} KiB`,
      `${(row.idleBusy * 100).toFixed(1)} %`,
      row.medianMs.toFixed(0),
      row.lastMs.toFixed(0),
      row.cpuUs.toFixed(1),
      row.promise,
    ]),
  );
}

const count = (value: number) => Math.round(value).toLocaleString('en-US');
const ms = (us: number) => (us / 1000).toFixed(us < 10_000 ? 2 : 1);
const mib = (kib: number) => `${Math.round(kib / 1024)} MiB`;
const list = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n');

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...lines.map(row)].join('\n');
}
