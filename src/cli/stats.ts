/** `gatepost stats`: figures by UTC day, as tables, on a terminal also as a chart. */

import type { Command } from 'commander';
import { counted } from '../core/counted.ts';
import { type DayFigures, FIGURE_DAYS, lastDays, listFigures, sumOf } from '../core/figures.ts';
import type { Figures, LinkRefusals, RefusalReason } from '../core/port/figure.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { refusal } from './refusal.ts';
import { sparkLines } from './spark-line.ts';
import { type Columns, table } from './table.ts';
import { daysValue, providerCodeValue, showTime } from './values.ts';

interface StatsOptions extends CommonOptions {
  days: number;
}

/** The most links with refusals that are shown. */
const LINKS_SHOWN = 10;

export const REASON_WORDS: Readonly<Record<RefusalReason, string>> = {
  hwid_required: 'no HWID',
  link_domain_not_bound: 'domain not bound',
  link_disabled: 'link disabled',
  not_named: 'HWID not named',
  barred: 'cut off',
  link_limit_reached: 'link full',
  copied_hwid: 'copied HWID',
};

const refused = (row: Figures): number =>
  row.refused_hwid + row.refused_domain + row.refused_disabled + row.refused_full;

const DEVICES = {
  ADMITTED: 'admitted',
  OVER: 'admitted_over',
  SEEN: 'seen',
  'NO HWID': 'refused_hwid',
  UNBOUND: 'refused_domain',
  DISABLED: 'refused_disabled',
  FULL: 'refused_full',
  FREED: 'freed',
  LINKS: 'links',
} as const satisfies Columns<Figures>;

const MESSAGES = {
  SENDS: 'sends',
  RECIPIENTS: 'recipients',
  'IN INBOX': 'delivered',
  CARRIED: 'carried',
  RECEIVED: 'received',
  OPENED: 'opened',
  EXECUTED: 'executed',
  FAILED: 'failed',
  EXPIRED: 'expired',
} as const satisfies Columns<Figures>;

const OF_PROVIDER: Columns<Figures & { provider_code: string }> = {
  PROVIDER: 'provider_code',
  ADMITTED: 'admitted',
  SEEN: 'seen',
  REFUSED: refused,
  FREED: 'freed',
  LINKS: 'links',
  SENDS: 'sends',
  'IN INBOX': 'delivered',
  EXPIRED: 'expired',
};

interface Stats {
  days: DayFigures[];
  total: Figures;
  /** The sums of each provider; none for one provider. */
  providers: (Figures & { provider_code: string })[];
  /** The links of the one provider that refused most. */
  refusals: LinkRefusals[];
}

async function readStats(context: CliContext, code: string | undefined, options: StatsOptions) {
  const { fromDay, toDay } = lastDays(options.days, context.nowMs());
  return withCore(context, options, async (core): Promise<Stats> => {
    const { store } = core;
    const provider = code === undefined ? null : await store.findProvider(code);
    if (provider === null && code !== undefined) throw refusal('provider_not_found', code);
    const days = await listFigures(core, provider?.id ?? null, fromDay, toDay);
    const sums = provider === null ? await store.sumFigures(fromDay, toDay) : [];
    const sinceMs = Date.parse(days[0]?.day ?? '');
    return {
      days,
      total: sumOf(days),
      providers: sums.map(({ providerCode, ...sum }) => ({ provider_code: providerCode, ...sum })),
      refusals:
        provider === null ? [] : await store.listRefusals(provider.id, sinceMs, LINKS_SHOWN),
    };
  });
}

/** Returns the days with figures other than 0, and their sum; null: there are none. */
function tableOf(title: string, columns: Readonly<Record<string, keyof Figures>>, stats: Stats) {
  const happened = stats.days.filter((day) => Object.values(columns).some((name) => day[name] > 0));
  if (happened.length === 0) return null;
  const rows = [...happened, { day: 'total', ...stats.total }];
  return `${title}\n${table(rows, { DAY: 'day', ...columns } as Columns<DayFigures>)}`;
}

function refusalTable(refusals: readonly LinkRefusals[]): string | null {
  if (refusals.length === 0) return null;
  const rows = refusals.map((link) => ({
    code: link.installCode,
    count: link.refusedCount,
    at: showTime(link.refusedAtMs),
    why: REASON_WORDS[link.reason],
  }));
  const columns = { LINK: 'code', REFUSED: 'count', 'LAST TIME': 'at', WHY: 'why' } as const;
  return `Links with most refusals\n${table(rows, columns)}`;
}

function chart({ days }: Stats, columns: number): string | null {
  const rows: Readonly<Record<string, (day: DayFigures) => number>> = {
    seen: ({ seen }) => seen,
    admitted: ({ admitted }) => admitted,
    refused,
    freed: ({ freed }) => freed,
    delivered: ({ delivered }) => delivered,
  };
  const lines = Object.entries(rows)
    .map(([name, read]) => ({ name, values: days.map(read) }))
    .filter(({ values }) => values.some((value) => value > 0));
  return lines.length === 0 ? null : sparkLines(lines, columns);
}

function statsText(stats: Stats, dayCount: number, columns: number | null): string {
  const devices = tableOf(
    'Devices (over: above the limit of a link that only counts; refused: no HWID, domain not bound, link disabled, link full)',
    DEVICES,
    stats,
  );
  const parts = [
    columns === null ? null : chart(stats, columns),
    devices,
    tableOf('Messages', MESSAGES, stats),
    stats.providers.length === 0 ? null : `Providers\n${table(stats.providers, OF_PROVIDER)}`,
    refusalTable(stats.refusals),
  ].filter((part) => part !== null);
  return parts.length === 0
    ? `no figures of the last ${counted(dayCount, 'day')}`
    : parts.join('\n\n');
}

async function show(context: CliContext, code: string | undefined, options: StatsOptions) {
  const stats = await readStats(context, code, options);
  const { days, total, providers } = stats;
  const refusals = stats.refusals.map((link) => ({
    install_code: link.installCode,
    refused_count: link.refusedCount,
    refused_at: showTime(link.refusedAtMs),
    reason: link.reason,
  }));
  const json =
    code === undefined
      ? { provider_code: null, days, total, providers }
      : { provider_code: code, days, total, refusals };
  print(context, options, json, statsText(stats, options.days, context.columns));
}

export function addStatsCommand(program: Command, context: CliContext): void {
  program
    .command('stats')
    .description('show figures by UTC day, of all providers or of one')
    .argument('[code]', '', providerCodeValue)
    .option('--days <number>', `days up to today, at most ${FIGURE_DAYS}`, daysValue, 30)
    .action((code: string | undefined, options: StatsOptions) => show(context, code, options));
}
