/** `gatepost stats` on figures that are known, for people, for a terminal and for machines. */

import { afterEach, expect, test } from 'bun:test';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { addProvider, linkDraft } from '../store/contract/fixture.ts';
import { send } from '../store/contract/message-fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine, failureLine } from '../support/command-line.ts';

const DAY_MS = 86_400_000;
const TODAY_MS = Date.UTC(2026, 10, 20, 12);

let cli: CommandLine;
afterEach(() => cli.close());

/** Two providers; the first sends 1 today, 3 yesterday, 2 nine days ago, and refuses twice. */
async function seed(columns?: number): Promise<void> {
  cli = commandLine({ ...(columns !== undefined && { columns }) });
  const store = await openSqliteStore({ dataDir: cli.dataDir, create: true, commitBatchMax: 100 });
  const { id: one } = await addProvider(store, 'Provide1');
  const { id: two } = await addProvider(store, 'Provide2');
  for (const daysAgo of [0, 1, 1, 1, 9, 9]) {
    await send(store, one, { createdAtMs: TODAY_MS - daysAgo * DAY_MS });
  }
  await send(store, two, { createdAtMs: TODAY_MS });
  const link = await store.addLink(linkDraft(one), ACT);
  if (typeof link === 'string') throw new Error(link);
  for (const ms of [TODAY_MS - DAY_MS, TODAY_MS]) {
    store.countRefusal({ installId: link.id, providerId: one }, 'link_limit_reached', ms);
  }
  await store.close();
}

async function output(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli.run('stats', ...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

test('of one provider: the days on which something happened, the sum, the links', async () => {
  await seed();
  const text = await output('Provide1', '--days', '9');
  expect(text.split('\n').filter((line) => /^(2026|total|LinkCode)/.test(line))).toEqual([
    '2026-11-19         0     0     0        0        0         0     1      0      0',
    '2026-11-20         0     0     0        0        0         0     1      0      1',
    'total              0     0     0        0        0         0     2      0      1',
    '2026-11-19      3           0         0        0         0       0         0       0        0',
    '2026-11-20      1           0         0        0         0       0         0       0        0',
    'total           4           0         0        0         0       0         0       0        0',
    'LinkCode0001        2  2026-11-20T12:00:00Z  link full',
  ]);
  expect(text).not.toContain('at most');
});

test('as JSON: every day, those without figures too, and the same sums', async () => {
  await seed();
  const { provider_code, days, total, refusals } = JSON.parse(
    await output('Provide1', '--days', '10', '--json'),
  );
  expect(provider_code).toBe('Provide1');
  expect(days).toHaveLength(10);
  expect(days[0]).toMatchObject({ day: '2026-11-11', sends: 2, refused_full: 0 });
  expect(days[1]).toMatchObject({ day: '2026-11-12', sends: 0, seen: 0 });
  expect(days[9]).toMatchObject({ day: '2026-11-20', sends: 1, refused_full: 1 });
  expect(total).toMatchObject({ sends: 6, refused_full: 2 });
  expect(refusals).toEqual([
    {
      install_code: 'LinkCode0001',
      refused_count: 2,
      refused_at: '2026-11-20T12:00:00Z',
      reason: 'link_limit_reached',
    },
  ]);
});

test('of all providers: their sum by day, and the share of each', async () => {
  await seed();
  const { days, total, providers, refusals } = JSON.parse(await output('--json'));
  expect(days).toHaveLength(30);
  expect(days[29]).toMatchObject({ day: '2026-11-20', sends: 2 });
  expect(total.sends).toBe(7);
  expect(refusals).toBeUndefined();
  expect(providers).toMatchObject([
    { provider_code: 'Provide1', sends: 6 },
    { provider_code: 'Provide2', sends: 1 },
  ]);
  const text = await output();
  expect(text).toMatch(/^Provide2 +0 +0 +0 +0 +0 +1 +0 +0$/m);
});

test('on a terminal there is a chart, no wider than it, of the days or of groups of them', async () => {
  await seed(72);
  expect((await output('Provide1', '--days', '9')).split('\n')[0]).toBe(
    'refused |       ██| at most 1 a day',
  );
  const [line = ''] = (await output('Provide1', '--days', '365')).split('\n');
  expect(line).toMatch(/^refused \| +█\| at most 2 in \d+ days$/);
  expect(line.length).toBeLessThanOrEqual(72);
});

test('without figures it says so', async () => {
  await seed();
  expect(await output('Provide2', '--days', '1', '--json')).toContain('"sends":1');
  await cli.run('provider', 'add', '--name', 'New', '--code', 'Provide3');
  expect(await output('Provide3')).toBe('no figures of the last 30 days\n');
});

test('a provider who is not there, and days that are not kept', async () => {
  await seed();
  const missing = await cli.run('stats', 'Nobody00', '--json');
  expect(missing.code).toBe(1);
  expect(missing.stderr).toBe(
    failureLine(
      'provider_not_found',
      "there is no provider 'Nobody00': see 'gatepost provider list'",
    ),
  );
  for (const days of ['0', '732', 'x', '-1']) {
    const wrong = await cli.run('stats', '--days', days);
    expect({ days, code: wrong.code }).toEqual({ days, code: 2 });
    expect(wrong.stderr).toContain('a number of days is a whole number from 1 to 731');
  }
});
