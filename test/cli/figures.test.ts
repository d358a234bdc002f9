/** Figures of subscriptions on the command line: lists, one link, and messages by a filter. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { showTime, showTimeOrNull } from '../../src/cli/values.ts';
import { addFigured, countedBy, type Figured } from '../store/contract/figures-fixture.ts';
import { CLOCK } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openData } from '../support/links.ts';

const DAY_MS = 86_400_000;

let line: CommandLine;
let links: Figured[];
let nowMs: number;
beforeAll(async () => {
  line = commandLine();
  const { store } = await openData(line.dataDir);
  ({ links } = await addFigured(store));
  await store.updateProvider('Provide1', { plan: 'enterprise' }, ACT);
  await store.close();
  nowMs = CLOCK.nowMs();
});
afterAll(() => line.close());

const json = async (...words: string[]) => {
  const { code, stdout, stderr } = await line.run(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const FILTERS = [
  [['--ends-in', '3d'], { endsFromMs: 0, endsBeforeMs: 3 }],
  [['--ended'], { endsBeforeMs: 0 }],
  [['--traffic-over', '90'], { usedPercent: 90 }],
  [['--unread', '20'], { unreadSinceMs: -20 }],
] as const;

/** Turns the days of a filter into times. */
const at = (filter: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => [
      name,
      name === 'usedPercent' ? value : nowMs + value * DAY_MS,
    ]),
  );

test.each(FILTERS)(
  'link list %p and a message to them find what a count finds',
  async (words, of) => {
    const counted = countedBy(links, at(of));
    expect(counted.length).toBeGreaterThan(0);
    const listed = await json('link', 'list', '--provider', 'Provide1', '--all', ...words);
    expect(listed.map((one: { install_code: string }) => one.install_code).toReversed()).toEqual(
      counted.map(({ code }) => code),
    );
    const rehearsed = await json(
      'notify',
      '--provider',
      'Provide1',
      '--body',
      'x',
      '--dry-run',
      ...words,
    );
    expect(rehearsed.recipients).toBe(counted.length);
  },
);

test('lists and a link show the figures that are kept', async () => {
  const link = links.find(({ figures }) => figures?.endsAtMs != null && figures.usedBytes !== null);
  if (link?.figures == null) throw new Error('no link has figures');
  const { endsAtMs, readAtMs, totalBytes, usedBytes } = link.figures;
  const subscription = {
    ends_at: showTimeOrNull(endsAtMs),
    total_bytes: totalBytes,
    used_bytes: usedBytes,
    read_at: showTime(readAtMs),
  };
  expect(await json('link', 'show', link.code)).toMatchObject({ subscription });
  const listed = await json('link', 'list', '--all');
  const figured = listed.filter((one: object) => 'subscription' in one);
  expect(figured).toHaveLength(links.filter(({ figures }) => figures !== null).length);
  expect(listed).toContainEqual(expect.objectContaining({ install_code: link.code, subscription }));
  const { stdout } = await line.run('link', 'show', link.code);
  expect(stdout).toContain(`subscription_ends_at  ${subscription.ends_at}`);
  expect((await line.run('link', 'list', '--all')).stdout).toMatch(/ENDS +TRAFFIC +CREATED/);
});

test('a message to what a filter finds says its size, and goes after a yes', async () => {
  const words = ['notify', '--provider', 'Provide1', '--body', 'x', '--ends-in', '3d'];
  const count = countedBy(links, at({ endsFromMs: 0, endsBeforeMs: 3 })).length;
  const asked = await line.run(...words);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toContain(`Send to the ${count} devices that the filter finds`);
  const sent = await json(...words, '--yes');
  expect(sent.recipients).toBe(count);
  const shown = await json('distribution', 'show', String(sent.id));
  expect(shown.target_hwid).toBe('');
  expect(JSON.parse(shown.by_filter)).toEqual({
    figures: { endsFromMs: 0, endsBeforeMs: 3 * DAY_MS },
  });
});

test('a filter that would find no link for lack of figures says so', async () => {
  const refused = async (...words: string[]) => {
    const { code, stderr } = await line.run(...words);
    expect(code).not.toBe(0);
    return stderr;
  };
  const other = ['--provider', 'Provide2'];
  expect(await refused('link', 'list', '--ended', ...other)).toContain('no figures');
  expect(await refused('link', 'disable', '--unread', '1', ...other, '--yes')).toContain(
    'no figures',
  );
  expect(await refused('notify', '--ended', '--body', 'x', ...other)).toContain('no figures');
  const none = ['--traffic-over', '100', '--ended', '--unread', '29'];
  expect(await refused('notify', '--provider', 'Provide1', '--body', 'x', ...none)).toContain(
    'the filter finds no device',
  );
  for (const words of [
    ['link', 'list'],
    ['notify', '--body', 'x'],
  ]) {
    expect(await refused(...words, '--ended', '--ends-in', '3d')).toContain(
      '--ends-in and --ended exclude each other',
    );
    expect(await refused(...words, '--ends-in', '0d')).toContain(
      'gatepost: --ends-in is a whole number from 1 to 365',
    );
  }
  expect(await refused('notify', '--ended', '--all', '--body', 'x')).toContain('give one of');
});
