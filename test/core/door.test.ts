import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { addDomain } from '../../src/core/domain.ts';
import {
  admitDevice,
  admitNewKey,
  factsFrom,
  judgeDevice,
  verdictOn,
} from '../../src/core/door.ts';
import { addLink, findNamed, updateLink } from '../../src/core/link.ts';
import type { Store } from '../../src/core/port/store.ts';
import { withMethods } from '../../src/core/port/store.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { takeSnapshot } from '../support/snapshot.ts';

const FACTS = { os: 'ios', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
const HASH = 'a'.repeat(64);
const KEY = 'Sub.Key_1~';

let app: TestApp;
let code: string;
beforeAll(async () => {
  app = await startTestApp();
  ({ code } = await seedProvider(app));
  await addDomain(app.core, await provider(), HASH, null, app.clock.nowMs());
});
afterAll(() => app.close());

async function provider() {
  const found = await app.core.store.findProvider(code);
  if (found === null) throw new Error('the provider is not there');
  return found;
}

async function addOne(more: object = {}) {
  const draft = { installCode: null, installLimit: 1, note: null, ...more };
  const added = await addLink(app.core, await provider(), draft, app.clock.nowMs());
  if (!('id' in added)) throw new Error(added.says);
  return added;
}

const named = (subscriptionKey: string) => ({ installCode: null, subscriptionKey });

const said = (answer: object) => ('says' in answer ? answer.says : 'let in');

describe('the app that a device reports', () => {
  const from = (before: string | null, userAgent: string) =>
    factsFrom({ ...FACTS, userAgent }, before === null ? null : { ...FACTS, userAgent: before })
      .userAgent;
  test.each([
    ['Happ/3.1', 'Happ/4.0', 'Happ/4.0'],
    ['Happ/3.1', 'INCY/1.0', 'INCY/1.0'],
    ['Happ/3.1', 'Mozilla/5.0', ''],
    ['Happ/3.1', '', ''],
    ['Other/1', 'Mozilla/5.0', 'Mozilla/5.0'],
    ['', 'Mozilla/5.0', 'Mozilla/5.0'],
    [null, 'Mozilla/5.0', 'Mozilla/5.0'],
    ['Other/1', 'Happ/3.1', 'Happ/3.1'],
  ])(
    'after %j, %j is taken for %j: an unknown one does not hide a known one',
    (before, now, is) => {
      expect(from(before, now)).toBe(is);
    },
  );
});

test('an app that is told to send another User-Agent stays known', async () => {
  const { installCode } = await addOne();
  const call = { installCode, domainHash: HASH, hwid: 'with-agent' };
  const nowMs = app.clock.nowMs();
  const visit = async (userAgent: string) => {
    await admitDevice(app.core, call, { ...FACTS, userAgent }, nowMs);
    const judged = await verdictOn(app.core, call, nowMs);
    return 'door' in judged ? judged.door.device?.userAgent : null;
  };
  expect(await visit('Happ/3.1')).toBe('Happ/3.1');
  expect(await visit('Mozilla/5.0')).toBe('Happ/3.1');
  expect(await visit('Happ/4.0')).toBe('Happ/4.0');
});

test('judging gives the answer of the call, and writes nothing', async () => {
  const { id, installCode } = await addOne();
  const nowMs = app.clock.nowMs();
  const call = (hwid: string | null, more: object = {}) => {
    const asked = { installCode, domainHash: HASH, hwid, ...more };
    return { asked, judged: () => judgeDevice(app.core, asked, nowMs) };
  };
  const check = async (hwid: string | null, expected: string, more: object = {}) => {
    const before = await takeSnapshot(app);
    const { asked, judged } = call(hwid, more);
    expect(said(await judged())).toBe(expected);
    expect(await takeSnapshot(app)).toEqual(before);
    expect(said(await admitDevice(app.core, asked, FACTS, nowMs))).toBe(expected);
  };
  await check(null, 'hwid_required');
  await check('a', 'link_not_found', { installCode: 'NoSuchLink00' });
  await check('a', 'link_not_found', { domainHash: 'b'.repeat(64) });
  await check('a', 'link_not_found', { domainHash: 'short' });
  await check('a', 'let in');
  await check('a', 'let in');
  await check('b', 'link_limit_reached');
  await updateLink(app.core, await provider(), id, { whenFull: 'replace-oldest' }, nowMs);
  expect(await verdictOn(app.core, call('b').asked, nowMs)).toMatchObject({
    verdict: 'replaced',
    door: { full: { oldest: { hwid: 'a' } } },
  });
  await check('b', 'let in');
  await check('a', 'link_limit_reached');
});

test('a call of today writes nothing, and one by another link of the provider does', async () => {
  const nowMs = app.clock.nowMs();
  const [one, other] = [await addOne(), await addOne()];
  const admit = ({ installCode }: { installCode: string }, atMs: number) =>
    admitDevice(app.core, { installCode, domainHash: HASH, hwid: 'daily' }, FACTS, atMs);
  for (const link of [one, other]) await admit(link, nowMs);
  const seen = async () =>
    (await app.core.store.findDevice('daily'))?.installs.map(({ lastSeenAtMs }) => lastSeenAtMs);
  await admit(one, nowMs + 1);
  expect(await seen()).toEqual([nowMs, nowMs]);
  await admit(one, nowMs + DAY_MS);
  expect(await seen()).toEqual([nowMs, nowMs + DAY_MS]);
  await admit(other, nowMs + DAY_MS + 1);
  expect(await seen()).toEqual([nowMs + DAY_MS + 1, nowMs + DAY_MS]);
});

test('a link has its subscription key beside its code, and no other link of the provider', async () => {
  const nowMs = app.clock.nowMs();
  const one = await addOne({ subscriptionKey: KEY });
  const byKey = (subscriptionKey: string | null, providerCode: string | null = null) =>
    judgeDevice(
      app.core,
      { installCode: null, subscriptionKey, providerCode, domainHash: HASH, hwid: 'a' },
      nowMs,
    );
  expect(await byKey(KEY)).toMatchObject({ installId: one.id });
  expect(await byKey(KEY, code)).toMatchObject({ installId: one.id });
  for (const [key, owner] of [
    [KEY.toLowerCase(), null],
    ['', null],
    [null, null],
    [KEY, 'Nobody00'],
    [KEY, 'short'],
  ] as const) {
    expect([key, owner, said(await byKey(key, owner))]).toEqual([key, owner, 'link_not_found']);
  }
  expect(await findNamed(app.core, await provider(), named(KEY))).toMatchObject({ id: one.id });

  const twice = { installCode: null, installLimit: 1, note: null, subscriptionKey: KEY };
  const detail = 'subscription_key is that of another link';
  expect(await addLink(app.core, await provider(), twice, nowMs)).toMatchObject({
    says: 'install_code_exists',
    detail,
  });
  const other = await addOne();
  const change = (id: number, subscriptionKey: string | null) =>
    provider().then((owner) => updateLink(app.core, owner, id, { subscriptionKey }, nowMs));
  expect(await change(other.id, KEY)).toMatchObject({ says: 'install_save_error', detail });
  await change(one.id, null);
  expect(said(await byKey(KEY))).toBe('link_not_found');
  expect(said(await change(other.id, KEY))).toBe('ok');
  expect(await byKey(KEY)).toMatchObject({ installId: other.id });
});

test('a key that no customer has gets its link with the first device, and one link alone', async () => {
  const nowMs = app.clock.nowMs();
  const call = (hwid: string, more: object = {}) => ({
    subscriptionKey: 'fresh-key',
    providerCode: code,
    domainHash: HASH,
    hwid,
    ...more,
  });
  const admit = (hwid: string, more: object = {}, core = app.core) =>
    admitNewKey(core, call(hwid, more), { installLimit: 2, note: 'of a key' }, FACTS, nowMs);
  const links = async () => (await provider()).installCount;
  const before = await links();

  expect(said(await admit('a b'))).toBe('hwid_required');
  expect(said(await admit('a', { subscriptionKey: 'a/b' }))).toBe('link_not_found');
  expect(await admit('a', { domainHash: 'b'.repeat(64) })).toMatchObject({
    says: 'link_not_found',
    reason: 'link_domain_not_bound',
  });
  expect(said(await admit('a', { providerCode: 'Nobody00' }))).toBe('link_not_found');
  await app.core.store.updateProvider(code, { suspendedAtMs: nowMs }, ACT);
  expect(said(await admit('a'))).toBe('link_not_found');
  await app.core.store.updateProvider(code, { suspendedAtMs: null, installCountMax: 0 }, ACT);
  expect(said(await admit('a'))).toBe('install_code_limit_reached');
  await app.core.store.updateProvider(code, { installCountMax: null }, ACT);
  expect([await links(), await app.core.store.findDevice('first')]).toEqual([before, null]);

  // The first random code that is drawn is taken.
  const drawn: string[] = [];
  const store = withMethods(app.core.store, {
    addLinkWithSlot: async (draft, ...rest) => {
      drawn.push(draft.installCode);
      if (drawn.length === 1) return 'install_code_exists';
      return (app.core.store as Store).addLinkWithSlot(draft, ...rest);
    },
  });
  const answers = [await admit('first', {}, { ...app.core, store })];
  expect(new Set(drawn).size).toBe(2);
  answers.push(...(await Promise.all(['second', 'first', 'third'].map((hwid) => admit(hwid)))));
  expect(answers.map(said)).toEqual(['let in', 'let in', 'let in', 'link_limit_reached']);
  expect(await links()).toBe(before + 1);
  expect(await findNamed(app.core, await provider(), named('fresh-key'))).toMatchObject({
    installLimit: 2,
    deviceCount: 2,
    note: 'of a key',
    status: 10,
  });
});
