/**
 * Links that are cut off, from the call to the panel and back: who may ask, what proves a link,
 * each end of an attempt, and what the other devices get.
 */

import { beforeEach, expect, test } from 'bun:test';
import { barHashOf } from '../../../src/core/bar.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/calendar.ts';
import { type CutOutcome, proverOf } from '../../../src/core/panel/cut-off.ts';
import { hashKey, subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { call } from '../../support/app.ts';
import { auditEntries } from '../../support/audit.ts';
import { AWAY, type CutPanel, cutterOf, DONE } from '../../support/cut-panel.ts';
import { type CutShop, useCutShop } from '../../support/cut-shop.ts';
import { until } from '../../support/until.ts';
import { type Fronted, HOST, KEY, startFronted, upstreamTo } from '../../support/upstream.ts';

const CODE = 'LinkCode0001';

const shop = useCutShop();
const { cut, keyFor, listed, proved, shareUpstreams } = shop;
let at: Fronted;
let panel: CutPanel;
let worker: CutShop['worker'];
beforeEach(() => {
  ({ at, panel, worker } = shop);
});

test('a device is freed and the panel changes the credentials', async () => {
  const link = await proved();
  const plain = await call(at.app, '/api/delete-hwid', at.own, { install_id: link.id, hwid: 'c' });
  expect(plain.headers.get('x-cut-off')).toBeNull();
  const asked = await cut('a', link.id);
  expect(asked).toEqual({ json: { rc: 1, msg: 'Ok', install_count: 1 }, state: 'waiting' });
  expect(await listed({ waiting: 1 })).toMatchObject([{ state: 'waiting', to_fetch: 0 }]);
  await worker.run();
  expect(panel.tried).toEqual([
    { host: HOST, subscriptionKeyHash: subscriptionKeyHash(KEY), seen: null },
  ]);
  const untilMs = at.app.clock.nowMs() + 12 * HOUR_MS;
  expect(await listed()).toMatchObject([
    {
      install_id: link.id,
      state: 'done',
      why: null,
      barred: barHashOf('a'),
      by_user: false,
      devices: 1,
      to_fetch: 1,
      fetch_until: new Date(untilMs).toISOString(),
    },
  ]);
  // A retry of the call.
  expect(await cut('a', link.id)).toMatchObject({ json: { install_count: 1 }, state: 'done' });
  await worker.run();
  expect(panel.tried).toHaveLength(1);
  const deeds = (await auditEntries(at.app.core)).slice(-3);
  expect(deeds.map(({ action, who }) => `${action} ${who}`)).toEqual([
    'hwid.delete provider',
    'cut.ask provider',
    'cut.end system',
  ]);
});

test.each(['main', 'links', 'send', 'ties', 'read'] as const)(
  'a key for %s cuts nothing off',
  async (scope) => {
    const link = await proved();
    const by = scope === 'main' ? at.own : await keyFor(scope);
    expect((await cut('a', link.id, by)).json).toMatchObject({ rc: 0, msg: 'Auth error' });
    expect(await listed()).toEqual([]);
    expect((await at.links())[0]).toMatchObject({ count: 3 });
    for (const path of ['cancel-cut', 'lift-bar']) {
      const { json } = await call(at.app, `/api/${path}`, by, { id: 1, install_id: link.id });
      expect(json.msg).toBe('Auth error');
    }
  },
);

test('a key that a provider typed is written to only after this panel answered it', async () => {
  const query = { install_code: CODE, install_limit: 5, subscription_key: KEY };
  const { json } = await call(at.app, '/api/add-install', at.own, query);
  expect((await cut('a', json.id)).state).toBe('impossible');
  expect(await listed()).toMatchObject([
    { state: 'impossible', why: 'no panel has proved the subscription key of the link' },
  ]);
  await worker.run();
  expect(panel.tried).toEqual([]);
  await proved(['b']);
  expect((await cut('b', json.id)).state).toBe('waiting');
  // Typed again, it is proved no more.
  const other = { id: json.id, subscription_key: 'anna' };
  await call(at.app, '/api/update-install', at.own, other);
  await worker.run();
  expect(panel.tried).toEqual([]);
  expect(await listed()).toMatchObject([
    { state: 'impossible', why: 'the link has got another subscription key since' },
    { state: 'impossible' },
  ]);
  expect((await cut('d', json.id)).state).toBe('impossible');
});

test('an upstream without cut_off is not written to', async () => {
  at.app.settings.gateUpstreams = [
    upstreamTo(at.panel.url, at.own.code, { panel: '3x-ui', panelTokenFile: '/token' }),
  ];
  shareUpstreams();
  await at.get(`/sub/${KEY}`, 'a');
  const [link] = await at.app.core.store.findLinksByKey(subscriptionKeyHash(KEY));
  expect((await cut('a', link?.id ?? 0)).state).toBe('impossible');
  await worker.run();
  expect(panel.tried).toEqual([]);
});

test.each<[string, CutOutcome, string, boolean]>([
  ['away', AWAY, 'waiting', false],
  ['403', { is: 'failed', why: 'the panel answers 403', seen: 'print' }, 'waiting', false],
  ['gone', { is: 'impossible', why: 'no such user' }, 'impossible', false],
  ['changed', { is: 'changed_already' }, 'changed', true],
  ['differs', { is: 'differs', fields: ['expire'] }, 'differs', true],
])('%s: the device stays freed and barred', async (_name, outcome, state, mustFetch) => {
  const link = await proved();
  if (outcome.is === 'differs') at.app.expectFault('cut_off_differs');
  panel.next = () => outcome;
  await cut('a', link.id);
  await worker.run();
  expect(await listed()).toMatchObject([{ state, to_fetch: mustFetch ? 2 : 0 }]);
  expect((await at.links())[0]).toMatchObject({ count: 2 });
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(404);
  expect((await at.get(`/sub/${KEY}`, 'd')).status).toBe(200);
});

test('an attempt that failed is made again ever later, with what it saw, for a day', async () => {
  const link = await proved();
  panel.next = ({ seen }) => ({ is: 'failed', why: 'away', seen: seen === null ? 'print' : null });
  await cut('a', link.id);
  const startMs = at.app.clock.nowMs();
  const triedAt: number[] = [];
  while (at.app.clock.nowMs() < startMs + DAY_MS + HOUR_MS) {
    const before = panel.tried.length;
    await worker.run();
    if (panel.tried.length > before) triedAt.push((at.app.clock.nowMs() - startMs) / MINUTE_MS);
    at.app.clock.advance(MINUTE_MS);
  }
  expect(triedAt.slice(0, 8)).toEqual([0, 1, 3, 7, 15, 31, 63, 123]);
  expect(triedAt.length).toBeLessThan(32);
  expect(panel.tried.slice(0, 3).map(({ seen }) => seen)).toEqual([null, 'print', 'print']);
  expect(await listed()).toMatchObject([{ state: 'ended', why: 'away' }]);
  const events = at.app.logLines.filter((line) => line.includes('cut_off_failed'));
  expect(events).toHaveLength(1);
});

test('where another field changed, the upstream makes none until the operator looks', async () => {
  const link = await proved();
  at.app.expectFault('cut_off_differs');
  panel.next = () => ({ is: 'differs', fields: ['expire', 'flow'] });
  await cut('a', link.id);
  await worker.run();
  const other = await proved(['x', 'y'], 'b1b2c3d4e5f6g7h8');
  panel.next = () => DONE;
  await cut('x', other.id);
  at.app.clock.advance(HOUR_MS);
  await worker.run();
  expect(panel.tried).toHaveLength(1);
  expect(await listed()).toMatchObject([{ state: 'waiting' }, { state: 'differs' }]);
  expect(at.app.logLines.filter((line) => line.includes('cut_off_differs'))).toHaveLength(1);
  await at.app.core.store.resumeCuts(HOST, ACT);
  await worker.run();
  expect(await listed()).toMatchObject([{ state: 'done' }, { state: 'differs' }]);
});

test('one slow panel delays no other', async () => {
  const second = await startFronted();
  try {
    const url = second.panel.url;
    const more = { cutOff: true, panel: '3x-ui', panelTokenFile: '/token' } as const;
    const other = upstreamTo(url, second.own.code, {
      ...more,
      panelTokenFile: '/t2',
      host: 'two.example.org',
    });
    at.app.settings.gateUpstreams = [...at.app.settings.gateUpstreams, other];
    shareUpstreams();
    const link = await proved();
    const { store } = at.app.core;
    const provider = await store.findProvider(at.own.code);
    await cut('a', link.id);
    // The other provider has a link at a panel of its own.
    await store.addProvider(
      {
        code: second.own.code,
        name: 'two',
        plan: 'basic',
        activeUntilMs: null,
        installCountMax: null,
        keyHash: hashKey('2'),
        createdAtMs: 0,
      },
      ACT,
    );
    const two = await store.findProvider(second.own.code);
    const keyHash = subscriptionKeyHash('two');
    const draft = { providerId: two?.id ?? 0, installCode: 'LinkCode0009', installLimit: 3 };
    await call(at.app, '/api/add-install', at.own, { install_code: CODE });
    const made = await store.addLink({ ...linkTerms, ...draft, subscriptionKeyHash: keyHash }, ACT);
    const installId = typeof made === 'object' ? made.id : 0;
    await store.noteKeyProof(draft.providerId, keyHash, proverOf(other), 0);
    const wanted = { installId, hwid: null, keyHash, host: 'two.example.org', why: null };
    await store.askCut(
      draft.providerId,
      { ...wanted, isByUser: false },
      { ...ACT, atMs: at.app.clock.nowMs() },
    );
    const slow = Promise.withResolvers<CutOutcome>();
    panel.next = ({ host }) => (host === HOST ? slow.promise : DONE);
    await worker.tick();
    const page = { installId: null, isWaiting: true, beforeId: null, countMax: 9 };
    await until('the other one is done', async () => {
      const waits = await store.listCuts({ ...page, providerId: null });
      return waits.length === 1 && waits[0]?.providerId === provider?.id;
    });
    // Meanwhile the slow one has an attempt, which cannot be cancelled.
    const [running] = await listed();
    const { json } = await call(at.app, '/api/cancel-cut', shop.cuts, {
      id: running?.['id'] as number,
    });
    expect(json).toMatchObject({ rc: 0, msg: 'Cut-off is being made' });
    slow.resolve(DONE);
    await worker.idle();
    expect(await listed()).toMatchObject([{ state: 'done' }]);
  } finally {
    await second.stop();
  }
});

test('a node that was killed in the middle leaves the attempt to another one', async () => {
  const link = await proved();
  await cut('a', link.id);
  const store = await at.app.openBeside();
  const other = cutterOf(at.app, panel, { ...at.app.core, store });
  try {
    // The first one never comes back from its call.
    panel.next = (_order, deadline) =>
      new Promise((resolve) => deadline.addEventListener('abort', () => resolve(AWAY)));
    await worker.tick();
    await until('it is tried', () => panel.tried.length > 0);
    await other.run();
    expect(panel.tried).toHaveLength(1);
    at.app.clock.advance(3 * MINUTE_MS);
    panel.next = () => DONE;
    await other.run();
    expect(panel.tried).toHaveLength(2);
    expect(await listed()).toMatchObject([{ state: 'done' }]);
    // What the first one says now is late.
    await worker.stop();
    expect(await listed()).toMatchObject([{ state: 'done' }]);
  } finally {
    await other.stop();
    await store.close();
  }
});

test('two nodes make each cut-off once', async () => {
  const store = await at.app.openBeside();
  const other = cutterOf(at.app, panel, { ...at.app.core, store });
  try {
    for (let n = 0; n < 6; n++) {
      const link = await proved(['p', 'q'], `key-number-${n}-0123456789`);
      await cut('p', link.id);
    }
    await Promise.all([worker.run(), other.run()]);
    await Promise.all([worker.run(), other.run()]);
    const keys = panel.tried.map(({ subscriptionKeyHash: hash }) => hash);
    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(6);
  } finally {
    await other.stop();
    await store.close();
  }
});

test('at most so many begin within an hour', async () => {
  await worker.stop();
  worker = cutterOf(at.app, panel, at.app.core, 2);
  for (let n = 0; n < 4; n++) {
    const link = await proved(['p', 'q'], `key-number-${n}-0123456789`);
    await cut('p', link.id);
  }
  await worker.run();
  expect(panel.tried).toHaveLength(2);
  at.app.clock.advance(HOUR_MS);
  await worker.run();
  expect(panel.tried).toHaveLength(4);
});

test('one that is cancelled is not made; the device stays barred until it is let in', async () => {
  const link = await proved();
  await cut('a', link.id);
  const [waiting] = await listed();
  const id = waiting?.['id'] as number;
  expect((await call(at.app, '/api/cancel-cut', shop.cuts, { id })).json).toMatchObject({ rc: 1 });
  expect((await call(at.app, '/api/cancel-cut', shop.cuts, { id })).json).toMatchObject({
    rc: 0,
    msg: 'Cut-off not found',
  });
  await worker.run();
  expect(panel.tried).toEqual([]);
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(404);
  const bars = (await call(at.app, '/api/list-bars', at.own, { install_id: link.id })).json.data;
  expect(bars).toMatchObject([{ hwid_sha256: barHashOf('a') }]);
  const lift = { install_id: link.id, hwid: 'A' };
  expect((await call(at.app, '/api/lift-bar', shop.cuts, lift)).json).toMatchObject({ lifted: 1 });
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
});

const linkTerms = {
  note: null,
  coolDownHours: null,
  inactiveDays: null,
  whenFull: null,
  enforce: null,
  withoutHwid: null,
  samePhone: null,
  samePhoneHours: null,
  copiedHwid: null,
  whenNew: null,
  supportUrl: null,
  webPageUrl: null,
  greeting: null,
  createdAtMs: 0,
  installCountMax: 100,
} as const;
