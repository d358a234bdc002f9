/** `gatepost link why`: what it says is what happens to the device that comes next. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Core } from '../../src/core/core.ts';
import { hwidOfHash } from '../../src/core/formats.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { LinkChange } from '../../src/core/port/link.ts';
import { hwidHash, subscriptionKeyHash } from '../../src/core/secret.ts';
import { ALL, addDoor, bind, CODE, FACTS } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { openData } from '../support/links.ts';

const HOST = 'sub.example.com';
const HASH = hostHash(HOST);
/** The time of the command line. */
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let line: CommandLine;
let core: Core;
let door: Awaited<ReturnType<typeof addDoor>>;
beforeEach(async () => {
  line = commandLine();
  core = await openData(line.dataDir);
  door = await addDoor(core.store);
  await bind(core.store, door.providerId, HASH);
});
afterEach(async () => {
  await core.store.close();
  line.close();
});

const change = (wanted: LinkChange) =>
  core.store.updateLink(door.providerId, door.installId, wanted, ACT);

/** A device comes to the link, which has two slots. */
const come = (hwid: string, ms = NOW_MS) =>
  core.store.takeSlot({ installCode: CODE, domainHash: HASH, hwid }, FACTS, ms);

async function why(hwid: string, ...words: string[]) {
  const asked = ['link', 'why', CODE, hwid, '--domain', HOST, ...words];
  const { code, stdout, stderr } = await line.run(...asked, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** The link as `link show` prints it. */
async function seen() {
  const { providerId, installId } = door;
  return {
    slots: await core.store.listSlots(providerId, { installCode: CODE, installId }, null, 9),
    story: await core.store.readLinkStory(installId),
    link: await core.store.findLink(CODE),
  };
}

const steps = (answer: { steps: { step: string; ok: boolean | null }[] }) =>
  Object.fromEntries(answer.steps.map(({ step, ok }) => [step, ok]));

const FULL_STEPS = { domain: true, link: true, hwid: null, room: false };

interface Situation {
  given(): Promise<unknown>;
  hwid?: string;
  verdict: string;
  frees?: string;
  steps: Record<string, boolean | null>;
  says: string;
}

const full = async (ms = NOW_MS) => {
  await come('first', ms);
  await come('second', ms + 1);
};

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'a link with room': {
    given: () => come('first'),
    verdict: 'room',
    steps: { domain: true, link: true, hwid: null, room: true },
    says: 'new would be admitted: a slot is free',
  },
  'a HWID that is on it': {
    given: full,
    hwid: 'first',
    verdict: 'known',
    steps: { domain: true, link: true, hwid: true },
    says: 'first would be admitted: it holds a slot',
  },
  'a link that is full': {
    given: full,
    verdict: 'link_limit_reached',
    steps: { ...FULL_STEPS, inactive: false, replacement: false },
    says: 'new would be refused: the link is full',
  },
  'a link that only counts': {
    given: async () => {
      await change({ enforce: 0, whenFull: 'replace-oldest' });
      await full();
    },
    verdict: 'over',
    steps: { ...FULL_STEPS, counting: true },
    says: 'new would be admitted over the limit: the link only counts',
  },
  'a link that is disabled': {
    given: () => change({ status: 5 }),
    verdict: 'link_disabled',
    steps: { domain: true, link: false, hwid: null, room: true },
    says: 'new would be refused: the link is disabled',
  },
  'a domain that is disabled': {
    given: async () => {
      const { providerId } = door;
      const binding = await core.store.findDomain(providerId, HASH);
      await core.store.disableDomain(providerId, binding?.id ?? 0, ACT);
    },
    verdict: 'link_domain_not_bound',
    steps: { domain: false, link: true, hwid: null, room: true },
    says: 'new would be refused: the provider has no active binding of the domain',
  },
  'an inactive slot': {
    given: async () => {
      await change({ inactiveDays: 30 });
      await full(NOW_MS - 31 * DAY_MS);
    },
    verdict: 'inactive',
    frees: 'first',
    steps: { ...FULL_STEPS, inactive: true, replacement: false },
    says: 'new would be admitted: the inactive slot of first would be freed',
  },
  'a slot that is not inactive yet': {
    given: async () => {
      await change({ inactiveDays: 30 });
      await full(NOW_MS - 29 * DAY_MS);
    },
    verdict: 'link_limit_reached',
    steps: { ...FULL_STEPS, inactive: false, replacement: false },
    says: 'new would be refused: the link is full',
  },
  'a slot that may be replaced': {
    given: async () => {
      await change({ whenFull: 'replace-oldest' });
      await full();
    },
    verdict: 'replaced',
    frees: 'first',
    steps: { ...FULL_STEPS, inactive: false, replacement: true },
    says: 'new would be admitted: it would replace first',
  },
  'a slot that its hash holds': {
    given: async () => {
      const slot = { hwid: hwidOfHash(hwidHash('new')), ...FACTS };
      const times = { registeredAtMs: NOW_MS, firstSeenAtMs: NOW_MS, lastSeenAtMs: NOW_MS };
      const { providerId } = door;
      const [link] = await core.store.listLinksOf(providerId, ALL);
      if (link === undefined) throw new Error('no link');
      const moved = { ...link, slots: [{ ...slot, ...times }] };
      const rules = { installCountMax: 9, updates: false };
      await core.store.importLink(providerId, moved, rules, ACT);
      await come('first');
    },
    verdict: 'known',
    steps: { domain: true, link: true, hwid: true },
    says: 'new would be admitted: it holds a slot',
  },
  'a link that replaces the same phone': {
    given: async () => {
      await change({ samePhone: 'replace' });
      await full(NOW_MS - 9 * DAY_MS);
    },
    verdict: 'link_limit_reached',
    steps: { ...FULL_STEPS, same_phone: null, inactive: false, replacement: false },
    says: 'new would be refused: the link is full',
  },
  'a link that cools down': {
    given: async () => {
      await change({ whenFull: 'replace-oldest', coolDownHours: 6 });
      await full(NOW_MS - 9 * HOUR_MS);
      await come('third', NOW_MS - 5 * HOUR_MS);
    },
    verdict: 'link_limit_reached',
    steps: { ...FULL_STEPS, inactive: false, replacement: false },
    says: 'new would be refused: the link is full',
  },
};

describe.each(Object.entries(SITUATIONS))('%s', (_, { given, hwid = 'new', ...expected }) => {
  test('is explained, and nothing is changed', async () => {
    await given();
    const before = await seen();
    const answer = await why(hwid);
    expect(answer).toMatchObject({
      install_code: CODE,
      provider_code: 'Provide1',
      hwid,
      domain_hash: HASH,
      admitted: ['known', 'room', 'over', 'inactive', 'replaced'].includes(expected.verdict),
      verdict: expected.verdict,
      frees: expected.frees ?? null,
    });
    expect(steps(answer)).toEqual(expected.steps);
    const { stdout } = await line.run('link', 'why', CODE, hwid, '--domain', HASH);
    expect(stdout).toEndWith(`\n\n${expected.says}\n`);
    expect(await seen()).toEqual(before);
  });

  test('is what happens then', async () => {
    await given();
    const { admitted, frees } = await why(hwid);
    const taken = await come(hwid);
    expect(typeof taken === 'object' && !('says' in taken)).toBe(admitted);
    const { ends } = await core.store.readLinkStory(door.installId);
    if (frees !== null) expect(ends[0]).toMatchObject({ hwid: frees, forHwid: hwid });
  });
});

const found = (answer: { steps: { step: string; text: string }[] }, wanted: string) =>
  answer.steps.find(({ step }) => step === wanted)?.text;

test('names the end of the cool-down, the protected HWID and the replaced one', async () => {
  await SITUATIONS['a link that cools down']?.given();
  expect(found(await why('first'), 'hwid')).toBe(
    'it holds no slot: it was replaced at 2026-11-20T07:00:00Z by device for third',
  );
  expect(found(await why('new'), 'hwid')).toBe('it holds no slot');
  expect(found(await why('new'), 'replacement')).toBe(
    'a new device replaces second, last seen 2026-11-20T03:00:00Z, once in 6 hours: not before 2026-11-20T13:00:00Z',
  );
});

test('says from when a slot is free as inactive', async () => {
  await SITUATIONS['a slot that is not inactive yet']?.given();
  const text = found(await why('new'), 'inactive');
  expect(text).toStartWith('slots are freed after 30 days unseen: that of first, last seen ');
  // At the end of the day on which it was seen, so as not to take it too early.
  expect(text).toEndWith(', from 2026-11-21T23:59:59Z');
});

test('says that a HWID was removed, and by which actor', async () => {
  await come('first');
  const selector = { installCode: CODE, installId: null };
  await core.store.freeSlot(door.providerId, selector, 'first', ACT);
  expect(found(await why('first'), 'hwid')).toMatch(
    /^it holds no slot: it was removed at 2026-11-20T12:00:00Z by tester$/,
  );
});

test('takes the subscription key of a link in place of its code', async () => {
  await change({ subscriptionKeyHash: subscriptionKeyHash('panel-key-1') });
  const words = ['new', '--domain', HOST, '--json'];
  const { stdout } = await line.run('link', 'why', 'key:panel-key-1', ...words);
  expect(JSON.parse(stdout)).toMatchObject({ install_code: CODE, verdict: 'room' });
  const other = await line.run('link', 'why', 'key:panel-key-2', ...words);
  expect(other.code).toBe(1);
  expect(other.stderr).toContain('"link_not_found"');
  expect(other.stderr).not.toContain('panel-key');
});

test('a domain that was never bound, and what cannot be one', async () => {
  const answer = JSON.parse(
    (await line.run('link', 'why', CODE, 'new', '--domain', 'Other.example.com:8443', '--json'))
      .stdout,
  );
  expect(answer).toMatchObject({ verdict: 'link_domain_not_bound', admitted: false });
  expect(found(answer, 'domain')).toBe('Provide1 has no binding of other.example.com');
  const url = await line.run('link', 'why', CODE, 'new', '--domain', 'https://example.com/');
  expect(url.code).toBe(2);
  expect(url.stderr).toContain('a domain is a host name without scheme and path, or its hash');
});
