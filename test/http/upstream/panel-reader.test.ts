/** Reminders ask a panel for the figures of a link by the hash of its key. */

import { afterEach, describe, expect, test } from 'bun:test';
import { PANELS, type PanelKind } from '../../../src/core/panel/kind.ts';
import { makeFiguresReader } from '../../../src/http/upstream/panel-reader.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { call } from '../../support/app.ts';
import { API_TOKEN, type ApiUser, startPanelApi, tokensOf } from '../../support/panel-api.ts';
import { ANNA, frontAnna } from '../../support/panel-customer.ts';

const HOUR_MS = 3_600_000;
const GB = 1024 ** 3;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const END_MS = Date.UTC(2026, 11, 30);
const PAID: ApiUser = { ...ANNA, endsAtMs: END_MS, totalBytes: 8 * GB, usedBytes: 2 * GB };
const SAID = { endsAtMs: END_MS, totalBytes: 8 * GB, usedBytes: 2 * GB };
/** Panels that list all users to find one. */
const LISTING: readonly PanelKind[] = ['3x-ui', 'hiddify'];

/** Anna's link, which came through the proxy, and a reader of a process that never saw her key. */
async function open(panel: PanelKind, more: Partial<Upstream> = {}) {
  const api = startPanelApi(panel, [{ ...ANNA, id: 8, name: 'boris', key: BORIS }, PAID]);
  closers.push(() => api.stop());
  const world = await frontAnna(panel);
  const { app, own } = world.fronted;
  closers.push(() => world.fronted.stop());
  const { core, clock, log, settings } = app;
  const of = { panelUrl: api.url, panelTokenFile: '/token', read: 'panel' as const, ...more };
  const gateUpstreams = settings.gateUpstreams.map((upstream) => ({ ...upstream, ...of }));
  const tokens = tokensOf((file) => (file === '/token' ? API_TOKEN : null), { clock });
  const deps = { core, clock, log, tokens, settings: { ...settings, gateUpstreams } };
  const reader = makeFiguresReader(deps);
  const read = (id = world.linkId) => reader.read(id, AbortSignal.timeout(10_000));
  return { ...world, api, app, own, read, deps };
}

const BORIS = '00000012-aaaa-4bbb-8ccc-d00000000000';

describe.each([...PANELS])('%s', (panel) => {
  test('the figures of a link', async () => {
    const { api, read } = await open(panel);
    expect(await read()).toEqual(SAID);
    // Its key is known now.
    const before = api.asked.length;
    expect(await read()).toEqual(SAID);
    expect(api.asked).toHaveLength(before + 1);
    api.users = [];
    expect(await read()).toBeNull();
  });

  test('a user whom the panel does not have: all are listed at most once an hour', async () => {
    const { api, app, read } = await open(panel);
    api.users = api.users.slice(0, 1);
    for (const _ of Array(3)) expect(await read()).toBeNull();
    if (!LISTING.includes(panel)) return;
    expect(api.asked).toHaveLength(1);
    api.users = [...api.users, PAID];
    app.clock.advance(HOUR_MS);
    expect(await read()).toEqual(SAID);
  });

  test('a panel that refuses the token, has a fault, or is away', async () => {
    const { api, app, read } = await open(panel);
    for (const status of [401, 403, 404, 502]) {
      api.odd = () => new Response('{}', { status });
      expect(await read()).toBeNull();
      app.clock.advance(60_000);
    }
    await api.stop();
    expect(await read()).toBeNull();
  });
});

describe('no panel is asked', () => {
  test.each([
    ['that is not to be read', { read: 'proxy' }],
    ['of another provider', { provider: 'Other123' }],
    ['of another kind', { panel: 'remnawave', key: 'plain' }],
    ['without a token', { panelTokenFile: '/none' }],
  ] as const)('%s', async (_, more) => {
    const { api, read } = await open('marzban', more);
    expect([await read(), api.asked]).toEqual([null, []]);
  });

  test('about a link that none proved, an unknown one, and with privacy.keep = "less"', async () => {
    const { api, app, own, read } = await open('3x-ui');
    const link = { install_limit: '3', subscription_key: BORIS };
    const { json } = await call(app, '/api/add-install', own, link);
    expect([await read(json.id), await read(999_999), api.asked]).toEqual([null, null, []]);
    Object.assign(app.core.limits, { privacyKeep: 'less' });
    expect([await read(), api.asked]).toEqual([null, []]);
  });

  test('after its caller gave up', async () => {
    const { api, deps, linkId } = await open('marzban');
    expect(await makeFiguresReader(deps).read(linkId, AbortSignal.abort())).toBeNull();
    expect(api.asked).toEqual([]);
  });
});

test('behind /gate the panel of the gate is asked', async () => {
  const { api, deps, linkId } = await open('marzban', { read: 'proxy' });
  const ofGate = {
    gatePanelUrl: api.url,
    gatePanelTokenFile: '/token',
    gateKey: 'marzban' as const,
  };
  const ask = (gateRead: 'off' | 'panel') =>
    makeFiguresReader({ ...deps, settings: { ...deps.settings, ...ofGate, gateRead } }).read(
      linkId,
      AbortSignal.timeout(10_000),
    );
  expect([await ask('off'), await ask('panel')]).toEqual([null, SAID]);
});
