/** The news of the doctor: once for each finding, once for its end, and never a flood. */

import { expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import { type Found, findingNews } from '../../../src/core/event/finding-news.ts';

const START_MS = Date.UTC(2026, 10, 20);

const found = (name: string, more: Partial<Found> = {}): Found => ({
  name,
  subject: null,
  level: 'problem',
  check: 'disk space',
  what: `${name} is so`,
  todo: 'do it',
  ...more,
});

/** The runs of a timer, one after the other. */
function timer() {
  let mark: string | null = null;
  return (nowMs: number, ...findings: Found[]) => {
    const run = findingNews(findings, mark, nowMs);
    ({ mark } = run);
    return run.news.map(({ kind, data }) => `${kind.replace('doctor.', '')} ${data['name']}`);
  };
}

test('each finding is reported once, and once when it is over', () => {
  const run = timer();
  expect(run(START_MS)).toEqual([]);
  expect(run(START_MS, found('a'), found('b', { level: 'warning' }))).toEqual([
    'found a',
    'found b',
  ]);
  for (let n = 1; n < 100; n++) {
    expect(run(START_MS + n * HOUR_MS, found('a'), found('b', { level: 'warning' }))).toEqual([]);
  }
  expect(run(START_MS + 100 * HOUR_MS, found('b', { level: 'warning' }))).toEqual(['over a']);
  expect(run(START_MS + 101 * HOUR_MS, found('b', { level: 'warning' }))).toEqual([]);
});

test('the same cause at two subjects is two findings, and the end says since when', () => {
  const run = timer();
  const at = (subject: string) => found('panel_silent', { subject });
  expect(run(START_MS, at('a'), at('b'))).toHaveLength(2);
  expect(run(START_MS + HOUR_MS, at('a'))).toHaveLength(1);
  const { mark } = findingNews([found('a')], null, START_MS);
  const [over] = findingNews([], mark, START_MS + DAY_MS).news;
  expect(over?.data).toEqual({
    name: 'a',
    level: 'problem',
    check: 'disk space',
    finding: 'a is so',
    since: '2026-11-20T00:00:00.000Z',
  });
});

test('a warning that becomes a problem is news, not the other way round', () => {
  const run = timer();
  const warning = found('a', { level: 'warning' });
  expect(run(START_MS, warning)).toEqual(['found a']);
  expect(run(START_MS + 1, found('a'))).toEqual(['found a']);
  for (let n = 2; n < 50; n++) {
    expect(run(START_MS + n, n % 2 ? found('a') : warning)).toEqual([]);
  }
});

test('one that is back after a day is new; before, its next end waits longer each time', () => {
  const run = timer();
  const news: string[] = [];
  // Every quarter of an hour it comes or goes, for ten days.
  for (let n = 0; n < 960; n++) {
    news.push(...run(START_MS + n * 15 * 60_000, ...(n % 2 ? [] : [found('a')])));
  }
  expect(news).toEqual(['found a', 'over a', 'found a']);

  const slow = timer();
  const told: string[] = [];
  // It is there for an hour of every five.
  for (let n = 0; n < 240; n++) {
    told.push(...slow(START_MS + n * HOUR_MS, ...(n % 5 ? [] : [found('a')])));
  }
  expect(told.length).toBeLessThan(10);

  const rare = timer();
  expect(rare(START_MS, found('a'))).toEqual(['found a']);
  for (const day of [1, 3, 5]) {
    expect(rare(START_MS + day * DAY_MS)).toEqual(['over a']);
    expect(rare(START_MS + (day + 1) * DAY_MS)).toEqual([]);
    expect(rare(START_MS + (day + 1.5) * DAY_MS, found('a'))).toEqual(['found a']);
  }
});

test('the end of one that is back is reported in time, even if the clock was set back', () => {
  const run = timer();
  run(START_MS, found('a'));
  run(START_MS + HOUR_MS);
  expect(run(START_MS + 2 * HOUR_MS, found('a'))).toEqual(['found a']);
  expect(run(START_MS + 3 * HOUR_MS)).toEqual([]);
  expect(run(START_MS - DAY_MS)).toEqual([]);
  expect(run(START_MS - DAY_MS + HOUR_MS - 1)).toEqual([]);
  expect(run(START_MS - DAY_MS + HOUR_MS)).toEqual(['over a']);
});

test('a run has ten news at most, problems first; the others are of the next run', () => {
  const run = timer();
  const all = Array.from({ length: 24 }, (_, n) =>
    found(`f${n}`, { level: n < 12 ? 'warning' : 'problem' }),
  );
  const first = run(START_MS, ...all);
  expect(first).toHaveLength(10);
  expect(first.every((one) => Number(one.slice(7)) >= 12)).toBe(true);
  expect(run(START_MS + 1, ...all)).toHaveLength(10);
  expect(run(START_MS + 2, ...all)).toHaveLength(4);
  expect(run(START_MS + 3, ...all)).toEqual([]);
  const ends = [run(START_MS + 4), run(START_MS + 5), run(START_MS + 6), run(START_MS + 7)];
  expect(ends.map((news) => news.length)).toEqual([10, 10, 4, 0]);
});

test('what is kept has a bound, and is forgotten', () => {
  let mark: string | null = null;
  const many = Array.from({ length: 2_000 }, (_, n) => found(`f${n}`));
  for (let n = 0; n < 100; n++) ({ mark } = findingNews(many, mark, START_MS + n));
  expect(JSON.parse(mark ?? '')).toHaveLength(500);
  for (let n = 0; n < 60; n++) ({ mark } = findingNews([], mark, START_MS + n * HOUR_MS));
  ({ mark } = findingNews([], mark, START_MS + 100 * DAY_MS));
  expect(mark).toBe('[]');
});
