/** The figures as Markdown, for people. */

import type { Row } from './cases.ts';
import type { Memory } from './process.ts';

export interface StartFigures {
  /** From starting the process to the end of its first answer, median, ms. */
  firstAnswerMs: number;
  starts: number;
  slowestMs: number;
  devices: number;
  idle: Memory;
}

export interface Report {
  date: string;
  rounds: number;
  seconds: number;
  environment: Record<string, string>;
  rows: readonly Row[];
  start: StartFigures | null;
  notes: readonly string[];
}

export function markdown(report: Report): string {
  const { rows, start, date } = report;
  const parts = [
    `# Bench of ${date}`,
    list(Object.entries(report.environment).map(([name, value]) => `${name}: ${value}`)),
    `Medians of ${report.rounds} rounds of ${report.seconds} s, the servers taking turns. "ratio" is
requests/s against the bare server in the same round; "CPU us" is processor time of the
server per request and "CPU ratio" that of the bare server against it, which other work on the
machine disturbs less; "busy" is the share of the server's core (well below 100 %: it waited for
the disk or for the load generator).`,
    table(
      [
        'case',
        'links',
        'conn.',
        'requests/s',
        'p50 ms',
        'p99 ms',
        'ratio',
        'CPU us',
        'CPU ratio',
        'busy',
      ],
      rows.map(line),
    ),
  ];
  const compared = comparisons(rows);
  if (compared.length > 0) {
    parts.push('## Against each other', table(['what', 'measured', 'wanted', ''], compared));
  }
  if (start)
    parts.push('## Start and memory', table(['what', 'measured', 'wanted', ''], startLines(start)));
  parts.push('## How to read it', list(report.notes));
  return `${parts.join('\n\n')}\n`;
}

function line(row: Row): string[] {
  const { measured, variant, shape } = row;
  const suffix = {
    bare: 'bare server',
    gatepost: row.case.title,
    single: 'one commit per request',
  };
  return [
    variant === 'bare' ? `**${row.case.title}**: bare server` : suffix[variant],
    shape ? count(shape.linkCount) : '',
    String(row.case.connections),
    count(measured.requestsPerSecond),
    ms(measured.p50Us),
    ms(measured.p99Us),
    row.ratio.toFixed(3),
    measured.cpuUs.toFixed(1),
    row.cpuRatio.toFixed(3),
    `${Math.round(measured.busy * 100)} %`,
  ];
}

type Line = [what: string, measured: string, wanted: string, verdict: string];

const verdict = (isMet: boolean) => (isMet ? 'met' : '**missed**');

function comparisons(rows: readonly Row[]): Line[] {
  const lines: Line[] = [];
  for (const row of rows) {
    if (row.variant !== 'gatepost') continue;
    const { connections, kind, title } = row.case;
    const links = count(row.shape?.linkCount ?? 0);
    const name = `${title}, ${connections} connections, ${links} links`;
    const add = (what: string, value: number, text: string, least: number | null) =>
      lines.push([
        `${name}: ${what}`,
        text,
        least === null ? '' : `≥ ${least}`,
        least === null ? '' : verdict(value >= least),
      ]);
    const least = { 'list-one': 0.45, 'known-hwid': 0.38, 'wrong-key': 0.45 }[kind];
    if (least !== undefined) add('ratio to bare', row.ratio, row.ratio.toFixed(3), least);
    if (row.gainOverSingle !== undefined) {
      const isWanted = connections === 128;
      const { gainOverSingle, measured } = row;
      add(
        'against one commit per request',
        gainOverSingle,
        times(gainOverSingle),
        isWanted ? 3 : null,
      );
      if (isWanted) {
        const each = measured.requestsPerSecond;
        add('requests/s', each, count(each), 25_000);
      }
    }
    if (row.timesAlone !== undefined) {
      lines.push([
        `${name}: processor time against .all() + JSON.stringify alone (${ms(row.aloneUs ?? 0)} ms)`,
        times(row.timesAlone),
        '≤ 1.2',
        verdict(row.timesAlone <= 1.2),
      ]);
    }
    if (row.ratioToFirst !== undefined) {
      add(
        'requests/s against the small database',
        row.ratioToFirst,
        row.ratioToFirst.toFixed(3),
        0.75,
      );
    }
  }
  return lines;
}

function startLines(start: StartFigures): Line[] {
  const { firstAnswerMs, slowestMs, starts, devices, idle } = start;
  const mib = (kib: number) => `${(kib / 1024).toFixed(1)} MB`;
  return [
    [
      `start to first answer, ${count(devices)} devices (median of ${starts}, slowest ${slowestMs.toFixed(0)} ms)`,
      `${firstAnswerMs.toFixed(0)} ms`,
      '< 150 ms',
      verdict(firstAnswerMs < 150),
    ],
    ['idle memory, VmRSS', mib(idle.rssKib), '< 90 MB', verdict(idle.rssKib < 90 * 1024)],
    ['idle memory, Pss', mib(idle.pssKib), '', ''],
    ['idle memory, anonymous (its own)', mib(idle.anonymousKib), '', ''],
  ];
}

const count = (value: number) => Math.round(value).toLocaleString('en-US');
const ms = (us: number) => (us / 1000).toFixed(us < 10_000 ? 2 : 1);
const times = (value: number) => `${value.toFixed(2)} ×`;
const list = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n');

function table(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...lines.map(row)].join('\n');
}
