/** `/metrics`: read by a parser of its own grammar, and by promtool where there is one. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { Histogram } from '../../src/base/counts.ts';
import { expireMessages } from '../../src/jobs/keep.ts';
import { type Snapshot, spread } from '../../src/monitor/metric-row.ts';
import { METRICS } from '../../src/monitor/metric-table.ts';
import { expositionOf, makeMetrics } from '../../src/monitor/metrics.ts';
import { Tallies } from '../../src/monitor/tallies.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { Faults } from '../support/faults.ts';
import {
  ack,
  byBinding,
  byLink,
  inbox,
  notify,
  register,
  tryRegister,
} from '../support/messaging.ts';
import { type Family, lint, parseMetrics, seriesValue } from '../support/prometheus.ts';
import { addLink, enter, HASH, seedShop } from '../support/shop.ts';
import { openStream } from '../support/stream.ts';
import { until } from '../support/until.ts';

let faults: Faults;
let app: TestApp;
beforeEach(async () => {
  faults = new Faults();
  app = await startTestApp({ streamCountMax: 1, registrationsPerMinuteMax: 3 }, faults.wrap);
});
afterEach(() => app.close());

async function scrape(): Promise<Map<string, Family>> {
  return parseMetrics(await app.metrics.text());
}

async function value(name: string, labels: Record<string, string> = {}): Promise<number> {
  return seriesValue(await scrape(), name, labels);
}

const requests = (endpoint: string, answer: string) =>
  value('gatepost_requests_total', { endpoint, answer });

describe('the page', () => {
  test('is what Prometheus reads, before and after traffic', async () => {
    for (const round of [1, 2]) {
      const text = await app.metrics.text();
      expect(lint(text)).toBe('');
      const families = parseMetrics(text);
      expect([...families.keys()]).toEqual(METRICS.map(({ name }) => name));
      for (const { name, type, labels } of METRICS) {
        const family = families.get(name);
        expect([name, family?.type]).toEqual([name, type]);
        const given = new Set(family?.samples.flatMap((sample) => Object.keys(sample.labels)));
        given.delete('le');
        expect([...given].filter((label) => !labels.includes(label))).toEqual([]);
      }
      if (round === 1) await seedShop(app);
    }
  });

  test('has no series for what callers make up', async () => {
    const before = (await app.metrics.text()).split('\n').length;
    await call(app, '/api/list-install', null);
    const withOne = (await app.metrics.text()).split('\n').length;
    expect(withOne).toBe(before + 1);
    for (const path of ['/x', '/y', '/api/made-up', '/remote/made/up']) await call(app, path, null);
    // `other` with two answers: there is no such endpoint, and not found.
    expect((await app.metrics.text()).split('\n').length).toBe(withOne + 2);
  });

  test('lacks what the store cannot tell, and has the rest', async () => {
    faults.arm('readQueueFacts', new Error('broken'));
    const families = await scrape();
    expect(families.get('gatepost_queue_recipients')?.samples).toEqual([]);
    expect(families.get('gatepost_database_bytes')?.samples).toHaveLength(1);
    expect(app.logLines.join('')).toContain('metrics_incomplete');
  });

  test('has no figure for what the store has not: null is not 0', async () => {
    const none = { bytes: null, freeBytes: null, logBytes: null, diskFreeBytes: null };
    app.core.store.readStorageFacts = async () => ({ ...none, bytes: 0 });
    const families = await scrape();
    const figures = (name: string) => families.get(name)?.samples.map((sample) => sample.value);
    expect(figures('gatepost_database_bytes')).toEqual([0]);
    const absent = ['database_free_bytes', 'database_wal_bytes', 'disk_free_bytes'];
    for (const name of absent) expect(figures(`gatepost_${name}`)).toEqual([]);
    expect(app.logLines.join('')).not.toContain('metrics_incomplete');
  });

  test.each([true, false, null])(
    'says whether PostgreSQL answers, or is none: %p',
    async (isUp) => {
      const { text } = makeMetrics({
        nowMs: app.clock.nowMs,
        startedAtMs: app.clock.nowMs(),
        store: app.core.store,
        http: () => null,
        certificateExpiresAtMs: () => null,
        tallies: new Tallies(),
        log: app.log,
        isDatabaseUp: () => isUp,
      });
      const families = parseMetrics(await text());
      const figures = (name: string) => families.get(name)?.samples.map((sample) => sample.value);
      expect(figures('gatepost_database_up')).toEqual(isUp === null ? [] : [Number(isUp)]);
      expect(figures('gatepost_notifications_total')).toEqual(isUp === null ? [] : [0]);
      const spreads = ['gatepost_database_statement_seconds', 'gatepost_database_group_rows'];
      for (const name of spreads) expect(figures(name)?.length === 0).toBe(isUp === null);
    },
  );
});

describe('requests', () => {
  test('are counted by endpoint and answer, and timed', async () => {
    const own = await seedShop(app);
    await call(app, '/api/list-install', own);
    await call(app, '/api/list-install', own, { id: 'x' });
    await call(app, '/api/list-install', { ...own, authKey: 'wrong' });
    await call(app, '/api/list-install', own, {}, { method: 'PUT' });
    for (const answer of ['ok', 'unknown_error', 'auth_error', 'wrong_method']) {
      expect([answer, await requests('/api/list-install', answer)]).toEqual([answer, 1]);
    }
    const endpoint = { endpoint: '/api/list-install' };
    expect(await value('gatepost_request_duration_seconds_count', endpoint)).toBe(4);
    await call(app, '/docs', null);
    const page = { endpoint: '/docs' };
    expect(await requests('/docs', 'ok')).toBe(1);
    expect(await value('gatepost_request_duration_seconds_count', page)).toBe(0);
  });

  test('that find no link tell the operator why, and the caller not', async () => {
    const own = await seedShop(app, 'b'.repeat(64));
    const [bound, code] = ['b'.repeat(64), 'LinkCode0001'];
    await addLink(app, own, code);
    const knocks = [
      { hwid: 'a', id: bound, installid: 'NoSuchCode00' },
      { hwid: 'a', id: 'c'.repeat(64), installid: code },
      { hwid: 'a', id: '', installid: code },
    ];
    const heard = new Set<string>();
    for (const knock of knocks) {
      const { headers, text } = await call(app, '/install', null, knock);
      heard.add(`${text} ${headers.get('x-error-detail')}`);
    }
    expect(heard.size).toBe(1);
    expect(await requests('/install', 'link_not_found')).toBe(1);
    expect(await requests('/install', 'link_domain_not_bound')).toBe(2);

    for (const [install_code, domain_hash] of [
      ['NoSuchCode00', bound],
      [code, 'c'.repeat(64)],
    ]) {
      const body = JSON.stringify({ hwid: 'a', install_code, domain_hash });
      const { json } = await call(app, '/device/register', null, {}, { method: 'POST', body });
      expect(json.msg).toBe('Install not found');
    }
    expect(await requests('/device/register', 'link_not_found')).toBe(1);
    expect(await requests('/device/register', 'link_domain_not_bound')).toBe(1);
  });

  test('that break something are faults', async () => {
    const own = await seedShop(app);
    faults.arm('listLinksOf', new Error('broken'));
    app.expectFault('broken');
    await call(app, '/api/list-install', own);
    expect(await requests('/api/list-install', 'unknown_error')).toBe(1);
    const labels = { level: 'error', event: 'fault' };
    expect(await value('gatepost_log_events_total', labels)).toBe(1);
  });

  test('that a limit held up are counted by limit', async () => {
    const own = await seedShop(app);
    const limited = (limit: string) => value('gatepost_limited_total', { limit });
    const [token, other] = [
      await register(app, byBinding('a', own)),
      await register(app, byBinding('b', own)),
    ];
    await tryRegister(app, byBinding('c', own));
    await tryRegister(app, byBinding('d', own));
    expect(await limited('registrations')).toBe(1);
    const stream = await openStream(app, token);
    expect(await value('gatepost_streams_open')).toBe(1);
    await openStream(app, other).catch(() => {});
    expect(await limited('streams')).toBe(1);
    expect(await requests('/device/stream', 'ok')).toBe(1);
    expect(await requests('/device/stream', 'too_many_streams')).toBe(1);
    stream.socket.close();
    await until('it is gone', async () => (await value('gatepost_streams_open')) === 0);
  });

  test('polls that wait are counted while they wait', async () => {
    const own = await seedShop(app);
    const token = await register(app, byBinding('a', own));
    const whenGone = new AbortController();
    const poll = inbox(app, token, 60, whenGone.signal).catch(() => {});
    await until('it waits', async () => (await value('gatepost_polls_waiting')) === 1);
    whenGone.abort();
    await poll;
    await until('it is gone', async () => (await value('gatepost_polls_waiting')) === 0);
  });
});

describe('messages', () => {
  test('are followed from the queue to the acknowledgement', async () => {
    const own = await seedShop(app);
    await addLink(app, own, 'LinkCode0001');
    for (const hwid of ['a', 'b']) await enter(app, hwid, 'LinkCode0001');
    const token = await register(app, byLink('a', 'LinkCode0001', HASH));
    const queued = (state: string) => value('gatepost_queue_distributions', { state });
    const event = (name: string) => value('gatepost_distributions_total', { event: name });
    const outcome = (name: string) => value('gatepost_deliveries_total', { outcome: name });

    const id = await notify(app, own, 'hello', { os: ['android'] });
    await expect(notify(app, own, 'too soon', { os: ['android'] })).rejects.toThrow();
    app.clock.advance(7_000);
    expect([await queued('due'), await queued('scheduled')]).toEqual([1, 0]);
    expect(await value('gatepost_queue_oldest_due_seconds')).toBe(7);
    expect(await event('accepted')).toBe(1);
    expect(await value('gatepost_figures_total', { figure: 'sends' })).toBe(1);

    await app.deliver();
    expect([await queued('due'), await value('gatepost_queue_oldest_due_seconds')]).toEqual([0, 0]);
    expect([await event('sent'), await outcome('sent'), await outcome('failed')]).toEqual([
      1, 2, 0,
    ]);

    await ack(app, token, [{ id, state: 'opened' }]);
    expect(await value('gatepost_acknowledgements_total', { state: 'opened' })).toBe(1);

    app.clock.advance(2 * 86_400_000);
    await expireMessages(app.core, app.clock.nowMs());
    expect(await outcome('expired')).toBe(1);
  });
});

describe('the database', () => {
  test('measures each commit and its size', async () => {
    const before = await value('gatepost_commits_total', { outcome: 'saved' });
    const own = await seedShop(app);
    await addLink(app, own, 'LinkCode0001');
    expect(await value('gatepost_commits_total', { outcome: 'saved' })).toBe(before + 3);
    expect(await value('gatepost_commit_writes_sum')).toBe(before + 3);
    expect(await value('gatepost_database_bytes')).toBeGreaterThan(0);
    expect(await value('gatepost_database_wal_bytes')).toBeGreaterThan(0);
    expect(await value('gatepost_disk_free_bytes')).toBeGreaterThan(0);
  });
});

describe('the process', () => {
  test('measures its memory, files and processor time', async () => {
    expect(await value('process_resident_memory_bytes')).toBeGreaterThan(1e7);
    expect(await value('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(await value('process_start_time_seconds')).toBe(app.clock.nowMs() / 1000);
    if (process.platform !== 'linux') return;
    expect(await value('process_open_fds')).toBeGreaterThan(3);
    expect(await value('process_max_fds')).toBeGreaterThan(await value('process_open_fds'));
  });
});

test('a histogram puts a value into the first bucket that it fits into', () => {
  const histogram = new Histogram([1, 2]);
  for (const number of [0, 1, 1.5, 2, 3]) histogram.observe(number);
  expect(histogram.counts).toEqual([2, 2, 1]);
  expect(histogram.sum).toBe(7.5);
});

test('a metric is written with its labels escaped, and its last bucket', () => {
  const histogram = new Histogram([0.1]);
  histogram.observe(3);
  const labels = { of: 'a "b" \\c\nd' };
  const row = { name: 'a', type: 'histogram', labels: ['of'], help: 'Of a.' } as const;
  const read = (_: Snapshot, name: string) => spread(name, histogram, labels);
  const written = expositionOf({ ...row, read }, {} as Snapshot);
  const of = String.raw`of="a \"b\" \\c\nd"`;
  expect(written.split('\n')).toEqual([
    '# HELP a Of a.',
    '# TYPE a histogram',
    `a_bucket{${of},le="0.1"} 0`,
    `a_bucket{${of},le="+Inf"} 1`,
    `a_sum{${of}} 3`,
    `a_count{${of}} 1`,
  ]);
  expect(parseMetrics(`${written}\n`).get('a')?.samples[0]?.labels).toEqual({
    ...labels,
    le: '0.1',
  });
});

describe('the parser of the tests', () => {
  const METRIC = '# HELP a_total Of a.\n# TYPE a_total counter\n';
  test.each([
    ['no end', `${METRIC}a_total 1`],
    ['no type', '# HELP a_total Of a.\na_total 1\n'],
    ['another name', `${METRIC}b_total 1\n`],
    ['the same twice', `${METRIC}a_total{x="1"} 1\na_total{x="1"} 2\n`],
    ['a bare label', `${METRIC}a_total{x=1} 1\n`],
    ['an open quote', `${METRIC}a_total{x="1} 1\n`],
    ['no number', `${METRIC}a_total one\n`],
    ['a counter without _total', '# HELP a Of a.\n# TYPE a counter\na 1\n'],
    ['a histogram without buckets', '# HELP h Of h.\n# TYPE h histogram\nh_sum 1\nh_count 1\n'],
    [
      'a histogram that falls',
      '# HELP h Of h.\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
    ],
  ])('refuses %s', (_, text) => {
    expect(() => parseMetrics(text)).toThrow();
  });

  test('reads what is escaped', () => {
    const families = parseMetrics(`${METRIC}a_total{x="a\\"b\\\\n\\n",y=""} 1e3\n`);
    expect(seriesValue(families, 'a_total', { x: 'a"b\\n\n', y: '' })).toBe(1000);
  });
});
