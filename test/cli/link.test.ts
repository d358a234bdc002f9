/** `gatepost link …` but for `qr` and `why`, which have files of their own. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { showTime } from '../../src/cli/values.ts';
import { outside } from '../../src/core/field.ts';
import type { OwnedLink } from '../../src/core/port/link-view.ts';
import type { Store } from '../../src/core/port/store.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { LINK_TERMS } from '../../src/core/terms.ts';
import {
  addLink,
  addProvider,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
} from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink, openData } from '../support/links.ts';

const HOUR_MS = 3_600_000;
const time = (hours: number) => showTime(NOW_MS + hours * HOUR_MS);
const NO_POLICY = {
  inactive_days: null,
  when_full: null,
  cool_down_hours: null,
  enforce: null,
  without_hwid: null,
  same_phone: null,
  same_phone_hours: null,
  copied_hwid: null,
  when_new: null,
};
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

let line: CommandLine;
beforeAll(async () => {
  line = commandLine();
  await makeLink(line.dataDir, async ({ store }, { providerId }) => {
    await knock(store, 'phone');
    await knock(store, 'tablet');
    await knock(store, 'refused');
    const id = await addLink(store, providerId, { installCode: OTHER_CODE, note: null });
    await store.updateLink(providerId, id, { status: 5 }, ACT);
    const { id: other } = await addProvider(store, 'Provide2');
    await addLink(store, other, { installCode: 'LinkCode0003', note: 'a\u001b[2J' });
  });
});
afterAll(() => line.close());

const link = (...words: string[]) => line.run('link', ...words);

async function json(...words: string[]) {
  const { code, stdout, stderr } = await link(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Does something to the link behind the command line's back. */
async function withLink(use: (store: Store, link: OwnedLink) => Promise<unknown>): Promise<void> {
  const { store } = await openData(line.dataDir);
  const found = await store.findLink(CODE);
  if (found !== null) await use(store, found);
  await store.close();
}

test('list has the links of all providers, by filters', async () => {
  const codes = async (...words: string[]) => {
    const listed: { install_code: string }[] = await json('list', ...words);
    return listed.map((row) => row.install_code);
  };
  expect(await codes()).toEqual(['LinkCode0003', OTHER_CODE, CODE]);
  expect(await codes('--provider', 'Provide1')).toEqual([OTHER_CODE, CODE]);
  expect(await codes('--full')).toEqual([CODE]);
  expect(await codes('--disabled')).toEqual([OTHER_CODE]);
  expect(await codes('--active')).toEqual(['LinkCode0003', CODE]);
  expect(await codes('--over')).toEqual([]);
  expect(await codes('--search', 'OTE')).toEqual([CODE]);
  expect(await codes('--search', 'phon')).toEqual([CODE]);
  expect(await codes('--search', 'pixel 9')).toEqual([CODE]);
  expect(await codes('--search', 'LinkCode')).toEqual(['LinkCode0003', OTHER_CODE, CODE]);
  expect((await json('list', '--full'))[0]).toEqual({
    install_code: CODE,
    provider_code: 'Provide1',
    id: expect.any(Number),
    active: true,
    install_limit: 2,
    install_count: 2,
    note: 'note',
    created_at: TIME,
  });
});

test('list of a provider that is not there', async () => {
  const { code, stderr } = await line.run('link', 'list', '--provider', 'Nobody01', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'provider_not_found' } });
});

test('list for people ends at a limit and says so', async () => {
  const { stdout, stderr } = await link('list', '--limit', '1');
  expect(stderr).toBe('1 of 3 links: --all or --limit shows more\n');
  const [heading = '', row = ''] = stdout.split('\n');
  expect(heading).toMatch(/^ID +CODE +PROVIDER +STATE +HWIDS +LIMIT +CREATED +NOTE$/);
  expect(row).toMatch(/^ *\d+ +LinkCode0003 +Provide2 +active +0 +2 +\S+ +a\\u001b\[2J$/);
});

describe('show', () => {
  test('a link without a story', async () => {
    expect(await json('show', OTHER_CODE)).toEqual({
      install_code: OTHER_CODE,
      provider_code: 'Provide1',
      id: expect.any(Number),
      active: false,
      install_limit: 2,
      install_count: 0,
      limit_wanted: null,
      note: null,
      created_at: TIME,
      has_subscription_key: false,
      ...outside(LINK_TERMS, NO_TERMS),
      policy: {
        inactive_days: 0,
        when_full: 'refuse',
        cool_down_hours: 24,
        enforce: 1,
        without_hwid: 'refuse',
        same_phone: 'off',
        same_phone_hours: 168,
        copied_hwid: 'tell',
        when_new: 'admit',
      },
      replaced_at: null,
      refusals: null,
      refused: [],
      slots: [],
      ended_slots: [],
    });
    expect((await link('show', OTHER_CODE)).stdout).toContain('\n\nNo HWID is on it.\n');
  });

  test('who is on it, who was, and why not any more', async () => {
    await withLink(async (store, { providerId, id: installId }) => {
      await store.updateLink(providerId, installId, { whenFull: 'replace-oldest' }, ACT);
      await knock(store, 'newcomer', CODE, FACTS, NOW_MS + HOUR_MS);
      await store.freeSlot(providerId, { installCode: CODE, installId }, 'tablet', ACT);
    });
    const shown = await json('show', CODE);
    expect(shown).toMatchObject({ when_full: 'replace-oldest', replaced_at: time(1) });
    expect(shown.slots).toEqual([
      {
        hwid: 'newcomer',
        device_name: 'Pixel 9',
        registered_at: time(1),
        last_seen_at: time(1),
      },
    ]);
    const stay = { registered_at: time(0), last_seen_at: time(0) };
    expect(shown.ended_slots).toEqual([
      {
        hwid: 'tablet',
        ...stay,
        ended_at: time(0),
        why: 'deleted',
        by: 'tester',
        for_hwid: null,
      },
      {
        hwid: 'phone',
        ...stay,
        ended_at: time(1),
        why: 'replaced',
        by: 'device',
        for_hwid: 'newcomer',
      },
    ]);
    const { stdout } = await link('show', CODE);
    expect(stdout).toMatch(/^when_full +replace-oldest$/m);
    expect(stdout).toMatch(/^inactive_days +never \(default\)$/m);
    expect(stdout).toMatch(/^newcomer +Pixel 9 +\S+ +\S+$/m);
    expect(stdout).toMatch(/^phone +\S+ +\S+ +\S+ +replaced +device +newcomer$/m);
  });
});

test('show has the devices that were refused, and why the last', async () => {
  await withLink(async (store, { id: installId, providerId }) => {
    store.countRefusal({ installId, providerId }, 'link_disabled', NOW_MS);
    const phone = { hwid: 'third', deviceName: 'Pixel 9', os: 'android' };
    const known = { installId, providerId };
    store.countRefusal(known, 'link_limit_reached', NOW_MS + HOUR_MS, phone);
    await store.saveFigures();
  });
  const refusals = { count: 2, last_at: time(1), reason: 'link_limit_reached' };
  expect(await json('show', CODE)).toMatchObject({ refusals });
  const { stdout } = await link('show', CODE);
  const refused = { first_at: time(1), last_at: time(1), reason: 'link_limit_reached', count: 1 };
  expect((await json('show', CODE)).refused).toEqual([
    { hwid: 'third', device_name: 'Pixel 9', os: 'android', ...refused },
  ]);
  expect(stdout).toMatch(/^third +Pixel 9 +android +link full +1 +2026-11-20T13:00:00Z$/m);
  expect(stdout).toMatch(/^refusals +2, last 2026-11-20T13:00:00Z: link full$/m);
});

describe('set', () => {
  test('takes a greeting, which show says, and none takes it back', async () => {
    await json('set', CODE, '--greeting', 'Anna');
    expect(await json('show', CODE)).toMatchObject({ greeting: 'Anna' });
    expect((await link('show', CODE)).stdout).toMatch(/^greeting +Anna$/m);
    const { code, stderr } = await link('set', CODE, '--greeting', 'a\u202Eb');
    expect([code, stderr]).toMatchObject([2, expect.stringContaining('signs of direction')]);
    await json('set', CODE, '--greeting', 'none');
    expect(await json('show', CODE)).toMatchObject({ greeting: null });
  });

  test('takes buttons, which show says beside those of the provider', async () => {
    const mine = ['--support-url', 'tg://resolve?domain=a', '--web-page-url', 'none'];
    await json('set', CODE, ...mine);
    const page = 'https://example.com/all';
    await line.run('provider', 'set', 'Provide1', '--web-page-url', page);
    expect(await json('show', CODE)).toMatchObject({
      support_url: 'tg://resolve?domain=a',
      web_page_url: null,
    });
    const { stdout } = await link('show', CODE);
    expect(stdout).toMatch(/^support_url +tg:\/\/resolve\?domain=a$/m);
    expect(stdout).toMatch(/^web_page_url +https:\/\/example\.com\/all \(of the provider\)$/m);
    await line.run('provider', 'set', 'Provide1', '--web-page-url', 'none');
    await json('set', CODE, '--support-url', 'none');
    expect(await json('show', CODE)).toMatchObject({ support_url: null });
  });

  test('changes what is given and nothing else, and leaves an entry by the operator', async () => {
    const before = await json('show', 'LinkCode0003');
    const words = [
      '--limit',
      '7',
      '--note',
      'VIP',
      '--status',
      'disabled',
      '--inactive-days',
      '30',
    ];
    expect(await json('set', 'LinkCode0003', ...words)).toEqual({
      install_code: 'LinkCode0003',
      done: 'changed',
    });
    const after = { ...before, install_limit: 7, note: 'VIP', active: false, inactive_days: 30 };
    after.policy = { ...before.policy, inactive_days: 30 };
    expect(await json('show', 'LinkCode0003')).toEqual(after);
    const audit = await line.run('audit', 'list', '--limit', '1', '--json');
    expect(JSON.parse(audit.stdout)).toMatchObject([
      { who: 'operator', action: 'install.update', provider: 'Provide2' },
    ]);
  });

  test('takes away what is one’s own: the note, the key, each part of the policy', async () => {
    const own = ['--when-full', 'replace-oldest', '--cool-down-hours', '1', '--inactive-days', '0'];
    const more = ['--enforce', 'off', '--without-hwid', 'pass'];
    await json('set', 'LinkCode0003', '--key', 'panel-key', ...own, ...more);
    expect(await json('show', 'key:panel-key')).toMatchObject({
      install_code: 'LinkCode0003',
      has_subscription_key: true,
      inactive_days: 0,
      when_full: 'replace-oldest',
      cool_down_hours: 1,
      enforce: 0,
      without_hwid: 'pass',
    });
    const none = ['--inactive-days', 'default', '--when-full', 'default', '--enforce', 'default'];
    const last = ['--without-hwid', 'default', '--cool-down-hours', 'default', '--note', ''];
    await json('set', 'key:panel-key', ...none, ...last);
    await json('set', 'key:panel-key', '--no-key');
    expect(await json('show', 'LinkCode0003')).toMatchObject({
      note: null,
      has_subscription_key: false,
      ...NO_POLICY,
    });
  });

  test('a policy is the link’s own, else the provider’s', async () => {
    await line.run(
      'provider',
      'set',
      'Provide2',
      '--inactive-days',
      '90',
      '--cool-down-hours',
      '2',
    );
    await json('set', 'LinkCode0003', '--cool-down-hours', '3');
    expect(await json('show', 'LinkCode0003')).toMatchObject({
      policy: { inactive_days: 90, when_full: 'refuse', cool_down_hours: 3, enforce: 1 },
    });
    const { stdout } = await link('show', 'LinkCode0003');
    expect(stdout).toMatch(/^inactive_days +90 \(of the provider\)$/m);
    expect(stdout).toMatch(/^cool_down_hours +3$/m);
  });

  test('a key that links of two providers have names neither', async () => {
    await json('set', CODE, '--key', 'shared-key');
    await json('set', 'LinkCode0003', '--key', 'shared-key');
    const { code, stderr } = await link('show', 'key:shared-key');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `gatepost: several links have this subscription key: ${CODE} of Provide1 (note), LinkCode0003 of Provide2\n`,
    });
  });
});

test('no command shows a subscription key, nor does a mistake', async () => {
  const key = 'PLANTED-panel-key';
  const url = `https://example.com/sub/${key}`;
  const said: string[] = [];
  for (const words of [
    ['set', CODE, '--key', key],
    ['set', 'LinkCode0003', '--key', key],
    ['set', OTHER_CODE, '--key', key],
    ['show', `key:${key}`],
    ['set', 'LinkCode0003', '--no-key'],
    ['set', 'LinkCode0003', '--key', `${key},`],
    ['list'],
    ['show', `key:${key}`, '--json'],
    ['show', `key:${key}-other`],
    ['show', `key:${key}/`],
    ['why', `key:${key}`, 'phone', '--domain', 'example.com'],
    ['why', CODE, 'phone', '--domain', url],
    ['qr', CODE, '--url', url.slice(1)],
    ['qr', CODE, '--url', `${url}#`, '--title', 'n'.repeat(300)],
    ['qr', CODE, '--url', `${url}?installid=1`],
  ]) {
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await link(...words, ...more);
      said.push(stdout, stderr);
    }
  }
  const { stdout } = await line.run('audit', 'list', '--all', '--json');
  expect(said.join('')).toContain(`several links have this subscription key`);
  expect(stdout).toContain('subscription_key');
  expect(said.join('') + stdout).not.toContain('PLANTED');
});

test('a link over its limit shows every device', async () => {
  const hwids = Array.from({ length: 9 }, (_, n) => `over-${n}`);
  await link('add', '--provider', 'Provide1', '--code', 'LinkCodeOver', '--enforce', 'off');
  await withLink(async (store) => {
    for (const hwid of hwids) await knock(store, hwid, 'LinkCodeOver');
  });
  const { install_limit: limit, slots } = await json('show', 'LinkCodeOver');
  expect(limit).toBe(3);
  expect(slots.map(({ hwid }: { hwid: string }) => hwid).sort()).toEqual(hwids);
});
