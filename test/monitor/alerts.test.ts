/** The alerts about single events notice the first one, whenever it comes. Asked of Prometheus. */

import { afterAll, describe, expect } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freshFolder } from '../support/app.ts';
import { testWith } from '../support/needs.ts';

const folder = freshFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RULES = resolve(import.meta.dir, '../../packaging/alerts.yml');

/** The alerts about single events, with the counter that each looks at. */
const ALERTS: [alert: string, series: string, labels: Record<string, string>][] = [
  ['GatepostCannotSave', 'gatepost_commits_total', { outcome: 'failed' }],
  ['GatepostFaults', 'gatepost_log_events_total', { level: 'error', event: 'stop_fault' }],
  ['GatepostStreamsRefused', 'gatepost_limited_total', { limit: 'streams' }],
];

const OF = { instance: 'a', job: 'gatepost' };

const written = (name: string, labels: Record<string, string>) => {
  const pairs = Object.entries({ ...OF, ...labels }).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(',')}}`;
};

/** Expects so many alerts after four minutes, one scrape a minute. */
function expectAlerts(
  count: 0 | 1,
  [alert, series, labels]: (typeof ALERTS)[number],
  startedAt: string,
  values: string,
): void {
  const test = {
    interval: '1m',
    input_series: [
      { series: written('process_start_time_seconds', {}), values: startedAt },
      { series: written(series, labels), values },
    ],
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}"}) or vector(0)`,
        eval_time: '4m',
        exp_samples: [{ labels: '{}', value: count }],
      },
    ],
  };
  const file = join(folder, `${alert}.json`);
  writeFileSync(
    file,
    JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests: [test] }),
  );
  const { exitCode, stdout, stderr } = Bun.spawnSync(['promtool', 'test', 'rules', file]);
  expect([exitCode, exitCode === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
}

const JUST_NOW = '0x10';
const LONG_AGO = '-900000x10';

describe.each(ALERTS)('%s', (...of) => {
  const withPromtool = testWith('promtool');

  withPromtool('the first event of a process that has been scraped', () => {
    expectAlerts(1, of, LONG_AGO, '0 0 0 1 1 1');
  });

  withPromtool('an event before the first scrape of a young process', () => {
    expectAlerts(1, of, JUST_NOW, '1x10');
  });

  withPromtool('an event that comes again after a restart', () => {
    expectAlerts(1, of, LONG_AGO, '5 5 0 1 1 1');
  });

  withPromtool('nothing, and what was long ago', () => {
    expectAlerts(0, of, JUST_NOW, '0x10');
    expectAlerts(0, of, LONG_AGO, '7x10');
  });
});
