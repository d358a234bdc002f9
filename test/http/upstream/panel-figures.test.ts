/** Figures that the API of a panel says: asked once an hour and link, and never waited for. */

import { afterEach, describe, expect, test } from 'bun:test';
import { PANELS, type PanelKind } from '../../../src/core/panel/kind.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { forgetPrivate } from '../../../src/jobs/keep.ts';
import { call } from '../../support/app.ts';
import { answer, SUBSCRIPTION } from '../../support/panel.ts';
import { type ApiUser, type PanelApiServer, startPanelApi } from '../../support/panel-api.ts';
import { ANNA, frontAnna } from '../../support/panel-customer.ts';
import { until } from '../../support/until.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const GB = 1024 ** 3;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Days of Hiddify end at midnight. */
const END_MS = Date.UTC(2026, 11, 30);
const PAID: ApiUser = { ...ANNA, endsAtMs: END_MS, totalBytes: 8 * GB, usedBytes: 2 * GB };
const SAID = { endsAtMs: END_MS, totalBytes: 8 * GB, usedBytes: 2 * GB, source: 'panel' };

interface Options {
  more?: Partial<Upstream>;
  isOn?: boolean;
}

/** A panel whose answers have no figures, with its API, and Anna's phone on her link. */
async function open(panel: PanelKind, { more = { read: 'panel' }, isOn = true }: Options = {}) {
  const api = startPanelApi(panel, [PAID]);
  closers.push(() => api.stop());
  const world = await frontAnna(panel, { panelUrl: api.url, panelTokenFile: '/token', ...more });
  const { fronted, linkId, said } = world;
  closers.push(() => fronted.stop());
  said.answer = answer(200, SUBSCRIPTION);
  await until('the user is known', () => api.asked.length > 0 || world.keyHash);
  const { app, own } = fronted;
  if (isOn) await call(app, '/api/policy', own, { subscription_figures: '1' });
  // What was asked before the switch, and what is known of the switch, is over.
  app.clock.advance(HOUR_MS);
  api.asked.length = 0;
  const kept = () => app.core.store.findSubscriptionFigures(linkId);
  return { ...world, api, app, own, kept };
}

type World = Awaited<ReturnType<typeof open>>;

/** Fetches, and returns what the API was asked meanwhile. */
async function askedBy({ api, get }: { api: PanelApiServer; get: World['get'] }, hwid = 'phone') {
  const before = api.asked.length;
  await get(hwid);
  return () => api.asked.length - before;
}

describe.each([...PANELS])('%s', (panel) => {
  test('read = "panel": end, total and traffic come from the API, once an hour', async () => {
    const world = await open(panel);
    const { api, app, get, kept } = world;
    expect((await get()).status).toBe(200);
    await until('the figures', kept);
    expect(await kept()).toMatchObject(SAID);
    expect(api.asked).toHaveLength(1);
    for (const hwid of ['phone', 'tablet', 'phone']) expect((await get(hwid)).status).toBe(200);
    expect(api.asked).toHaveLength(1);
    api.users = [{ ...PAID, usedBytes: 7 * GB }];
    app.clock.advance(HOUR_MS);
    await get();
    await until('the traffic', async () => (await kept())?.usedBytes === 7 * GB);
    expect(api.asked).toHaveLength(2);
  });

  test('limits = "panel": the answer about the limit has the figures', async () => {
    const { api, get, kept } = await open(panel, { more: { limits: 'panel' } });
    await get();
    await until('the figures', kept);
    expect(await kept()).toMatchObject(SAID);
    const ofUser = api.asked.filter((path) => !/settings|admins/.test(path));
    expect(ofUser).toHaveLength(1);
  });
});

describe('panel_admin', () => {
  const ofAdmin = (panelAdmin: string): Partial<Upstream> => ({ limits: 'panel', panelAdmin });

  test.each(['marzban', '3x-ui', 'pasarguard', 'remnawave'] as const)(
    '%s: a user of another one is not read, for figures or a limit',
    async (panel) => {
      const world = await open(panel, { more: ofAdmin('another') });
      const { api, app, fronted, get, kept } = world;
      const [before] = await fronted.links();
      for (const hwid of ['phone', 'tablet', 'watch', 'book']) await get(hwid);
      await until('the question', () => api.asked.length > 0);
      app.clock.advance(HOUR_MS);
      await get();
      expect(await kept()).toBeNull();
      expect((await fronted.links())[0]?.limit).toBe(before?.limit);
    },
  );

  test.each([
    ['marzban', 'shop'],
    ['3x-ui', 'inbound:1,2'],
  ] as const)('%s: the users of %s are read', async (panel, panelAdmin) => {
    const { get, kept } = await open(panel, { more: ofAdmin(panelAdmin) });
    await get();
    await until('the figures', kept);
  });
});

test('a panel that says nothing delays nobody, and is asked again later', async () => {
  const { api, app, get, kept } = await open('marzban');
  const waiting = Promise.withResolvers<Response>();
  api.odd = () => waiting.promise;
  expect((await get()).status).toBe(200);
  await until('the question', () => api.asked.length === 1);
  expect((await get()).status).toBe(200);
  waiting.resolve(new Response('', { status: 502 }));
  api.odd = null;
  app.clock.advance(120_000);
  await until('another question', async () => {
    await get();
    app.clock.advance(60_000);
    return (await kept()) !== null;
  });
});

test('a customer who is gone has no figures, and costs one question an hour', async () => {
  const world = await open('marzban');
  world.api.users = [];
  const asked = await askedBy(world);
  await until('the question', () => asked() === 1);
  for (const _ of Array(3)) await world.get();
  expect([world.api.asked.length, await world.kept()]).toEqual([1, null]);
});

describe('the panel is not asked', () => {
  const quiet = async (world: World) => {
    for (const _ of Array(3)) expect((await world.get()).status).toBe(200);
    // A later question to the store comes after what a fetch had begun.
    await world.kept();
    return [world.api.asked, await world.kept()];
  };

  test('by default', async () => {
    expect(await quiet(await open('marzban', { more: {} }))).toEqual([[], null]);
  });

  test('for a provider that keeps no figures', async () => {
    expect(await quiet(await open('marzban', { isOn: false }))).toEqual([[], null]);
  });

  test('with privacy.keep = "less", and what was kept goes', async () => {
    const world = await open('marzban');
    const { app, kept, said } = world;
    await world.get();
    await until('the figures', kept);
    Object.assign(app.core.limits, { privacyKeep: 'less' });
    await forgetPrivate(app.core);
    expect(await kept()).toBeNull();
    app.clock.advance(DAY_MS);
    world.api.asked.length = 0;
    said.answer = answer(200, SUBSCRIPTION, { 'subscription-userinfo': 'total=5' });
    expect(await quiet(world)).toEqual([[], null]);
  });

  test('about a key that a provider typed, until the panel proved it', async () => {
    const world = await open('3x-ui');
    const typed = '00000011-aaaa-4bbb-8ccc-d00000000000';
    world.api.users = [PAID, { ...PAID, key: typed, id: 8 }];
    const link = { install_limit: '3', subscription_key: typed };
    const { json } = await call(world.app, '/api/add-install', world.own, link);
    const figures = () => world.app.core.store.findSubscriptionFigures(json.id);
    const get = () => world.fronted.get(`/sub/${typed}`, 'rival');
    // The device takes its slot by its code alone.
    await call(world.app, '/api/add-hwid', world.own, { install_id: json.id, hwid: 'rival' });
    world.said.answer = answer(404, 'no');
    for (const _ of Array(3)) expect((await get()).status).toBe(404);
    expect([world.api.asked, await figures()]).toEqual([[], null]);
    world.said.answer = answer(200, SUBSCRIPTION, { 'profile-title': 'a' });
    await until('the proof', async () => {
      await get();
      world.app.clock.advance(DAY_MS);
      return (await figures())?.source === 'panel';
    });
  });
});
