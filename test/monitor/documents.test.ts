/** The table of events, the dashboard and the alerts say what the program does, and no more. */

import { describe, expect, test } from 'bun:test';
import type { Counts } from '../../src/base/counts.ts';
import { LOG_EVENTS } from '../../src/monitor/log-events.ts';
import { METRICS } from '../../src/monitor/metric-table.ts';
import { Tallies } from '../../src/monitor/tallies.ts';
import { testWith } from '../support/needs.ts';
import { committedFiles, readText } from '../support/tree.ts';

test('the table of events has each event of the log, and no other', () => {
  const sources = committedFiles().filter((path) => path.startsWith('src/'));
  const written = sources.flatMap((path) =>
    [...readText(path).matchAll(/\blog\.(debug|info|warn|error)\(\s*'(\w+)'/g)].map(
      ([, level, event]) => `${event} ${level}`,
    ),
  );
  const known = Object.entries(LOG_EVENTS).map(([event, { level }]) => `${event} ${level}`);
  expect(known.toSorted()).toEqual([...new Set(written)].toSorted());
});

test('every warning and error is counted from 0: an alert sees the first one', () => {
  const { warn, error } = new Tallies().logEvents;
  const counted = (level: string, counts: Counts) =>
    [...counts.entries()].map(([event, count]) => `${event} ${level} ${count}`);
  const known = Object.entries(LOG_EVENTS)
    .filter(([, { level }]) => level === 'warn' || level === 'error')
    .map(([event, { level }]) => `${event} ${level} 0`);
  const all = [...counted('warn', warn), ...counted('error', error)];
  expect(all.toSorted()).toEqual(known.toSorted());
});

const names = new Set(METRICS.map(({ name }) => name));

/** The metrics that an expression asks for and that do not exist. */
function unknownIn(expression: string): string[] {
  const asked = expression.match(/\b(?:gatepost|process)_\w+/g) ?? [];
  expect(asked.length).toBeGreaterThan(0);
  return asked.filter((name) => {
    const histogram = name.replace(/_(?:bucket|sum|count)$/, '');
    const isPart = METRICS.some((row) => row.name === histogram && row.type === 'histogram');
    return !names.has(name) && !isPart;
  });
}

interface Dashboard {
  panels: { type: string; title: string; targets?: { expr: string }[] }[];
}

const dashboard = JSON.parse(readText('packaging/grafana-dashboard.json')) as Dashboard;
const expressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [title, expr]),
);

describe('the dashboard', () => {
  test.each(expressions)('asks for what exists: %s', (_, expression) => {
    expect(unknownIn(expression)).toEqual([]);
  });

  test('shows every metric', () => {
    const shown = expressions.map(([, expression]) => expression).join(' ');
    expect([...names].filter((name) => !shown.includes(name))).toEqual([]);
  });
});

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
}

const alerts = (Bun.YAML.parse(readText('packaging/alerts.yml')) as Rules).groups.flatMap(
  ({ rules }) => rules,
);

test.each(alerts.filter(({ expr }) => !expr.startsWith('up{')).map((rule) => [rule.alert, rule]))(
  'the alert %s asks for what exists',
  (_, { expr, annotations }) => {
    expect(unknownIn(expr)).toEqual([]);
    expect(annotations.summary).toEndWith('.');
  },
);

testWith('promtool')('Prometheus takes the alerts and the dashboard', () => {
  const check = (text: string) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      ['promtool', 'check', 'rules', '/dev/stdin'],
      { stdin: Buffer.from(text) },
    );
    expect([exitCode, exitCode === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
  };
  check(readText('packaging/alerts.yml'));
  const rules = expressions.map(([, expression], n) => ({
    record: `panel:${n}`,
    expr: expression.replaceAll('$__rate_interval', '5m'),
  }));
  check(JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
});
