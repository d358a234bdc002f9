/** Links that an import disabled come back when the API of the panel calls their users active. */

import { afterEach, describe, expect, test } from 'bun:test';
import { panelUserOf } from '../../../src/core/moving/panel-user.ts';
import { PANELS, type PanelKind } from '../../../src/core/panel/kind.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { serveAll } from '../../support/panel.ts';
import {
  API_TOKEN,
  type ApiUser,
  keyOf,
  type PanelApiServer,
  startPanelApi,
} from '../../support/panel-api.ts';
import { digestToken, macToken, SECRET } from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import { type Fronted, startFronted } from '../../support/upstream.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const UUID = '00000010-aaaa-4bbb-8ccc-d00000000000';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const anna = (isActive: boolean): ApiUser => ({
  id: 7,
  name: 'anna',
  key: UUID,
  isActive,
  createdAtMs: 1_700_000_000_000,
});

/** The path of a user's subscription. */
function pathOf(panel: PanelKind, { id, key, name }: ApiUser): string {
  if (panel === 'marzban') return `/sub/${digestToken(`${name},1790000000`)}`;
  return panel === 'pasarguard' ? `/sub/${macToken(`v3,${id},1790000000`)}` : `/sub/${key}`;
}

const secretOf = (file: string) =>
  file === '/token' ? API_TOKEN : file === '/secret' ? SECRET : null;

/** A panel with anna, and an appliance in front of it. */
async function front(panel: PanelKind, user: ApiUser, more: Partial<Upstream> = {}) {
  const api = startPanelApi(panel, [user]);
  closers.push(() => api.stop());
  const isSigned = panel === 'marzban' || panel === 'pasarguard';
  const signing = isSigned ? { key: panel, keySecretFile: '/secret' } : {};
  const settings = { panel, panelUrl: api.url, panelTokenFile: '/token', ...signing, ...more };
  const fronted = await startFronted(serveAll, settings, { secretOf });
  closers.push(() => fronted.stop());
  return { api, fronted };
}

const providerOf = async ({ app, own }: Fronted) =>
  (await app.core.store.findProvider(own.code))?.id ?? 0;

/** Imports anna's link as 0.17.0 did: disabled, because the panel said so. */
async function importDisabled(fronted: Fronted, panel: PanelKind, user: ApiUser, id?: string) {
  const link = {
    id: null,
    installCode: user.name.padStart(12, '0'),
    installLimit: 2,
    status: 5,
    note: 'anna',
    createdAtMs: 1,
    panelUser: `${panel}:${id ?? user.id}`,
    slots: [],
    terms: { ...NO_TERMS, subscriptionKeyHash: subscriptionKeyHash(keyOf(panel, user)) },
  };
  const rules = { installCountMax: 100, updates: false };
  const added = await fronted.app.core.store.importLink(
    ...[await providerOf(fronted), link, rules, ACT],
  );
  return typeof added === 'object' ? added.id : 0;
}

const tieOf = async (fronted: Fronted, panel: PanelKind, user: ApiUser) =>
  fronted.app.core.store.findTiedLink(
    ...[await providerOf(fronted), subscriptionKeyHash(keyOf(panel, user))],
  );

const statusOf = async (fronted: Fronted, panel: PanelKind, hwid = 'phone') =>
  (await fronted.get(pathOf(panel, anna(true)), hwid)).status;

const becomesActive = (api: PanelApiServer) => {
  api.users = [anna(true)];
};

describe.each(PANELS)('%s, at the proxy', (panel) => {
  test('a link comes back once the API says so, asked at most once a minute', async () => {
    const { api, fronted } = await front(panel, anna(false));
    const id = await importDisabled(fronted, panel, anna(false));
    // The panel itself answers 200 all the time, as Marzban does to disabled users.
    expect(await statusOf(fronted, panel)).toBe(404);
    expect(await statusOf(fronted, panel)).toBe(404);
    expect(api.asked).toHaveLength(1);
    becomesActive(api);
    expect(await statusOf(fronted, panel)).toBe(404);
    fronted.app.clock.advance(MINUTE_MS);
    expect(await statusOf(fronted, panel)).toBe(200);
    expect(api.asked).toHaveLength(2);
    expect(await tieOf(fronted, panel, anna(true))).toMatchObject({
      id,
      status: 10,
      deviceCount: 1,
      facts: { status: 10 },
    });
    const entries = await auditEntries(fronted.app.core);
    expect(entries.filter(({ name }) => name === 'panel')).toMatchObject([
      { action: 'install.update', object: { id }, change: { status: [5, 10] } },
    ]);
    fronted.app.clock.advance(HOUR_MS);
    expect(await statusOf(fronted, panel)).toBe(200);
    expect(api.asked).toHaveLength(2);
  });

  test('a link that the provider disabled stays so, and costs no question', async () => {
    const { api, fronted } = await front(panel, anna(true));
    const id = await importDisabled(fronted, panel, anna(false));
    const { store } = fronted.app.core;
    const provider = await providerOf(fronted);
    await store.updateLink(provider, id, { status: 10 }, ACT);
    await store.updateLink(provider, id, { status: 5 }, ACT);
    expect(await statusOf(fronted, panel)).toBe(404);
    expect(api.asked).toEqual([]);
  });

  test('the user of a link is noted after a 200, as an import writes it', async () => {
    const { api, fronted } = await front(panel, anna(true));
    expect(await statusOf(fronted, panel)).toBe(200);
    const tied = await until('the user is noted', async () => {
      const tie = await tieOf(fronted, panel, anna(true));
      return tie?.panelUser === null ? null : tie;
    });
    const { id, key, name } = anna(true);
    const rules = {
      panel,
      kind: panel,
      unlimitedAs: 3,
      nowMs: 1,
      disablesDisabled: false,
      view: '',
    };
    const ofImport = {
      key: panel === 'marzban' ? name : panel === 'pasarguard' ? String(id) : key,
      name,
      id: ID_OF_IMPORT[panel],
      note: '',
      limit: 2,
      isUnlimited: false,
      isDisabled: false,
      state: 'active' as const,
      endsAtMs: null,
      totalBytes: null,
      usedBytes: null,
      createdAtMs: 1,
      panelCreatedAtMs: null,
      devices: [],
    };
    expect(tied).toMatchObject({ panelUser: panelUserOf(rules, ofImport), facts: null });
    // Neither further fetches nor other devices ask again.
    const asked = api.asked.length;
    expect(asked).toBe(panel === 'remnawave' || panel === 'hiddify' ? 1 : 0);
    expect(await statusOf(fronted, panel, 'tablet')).toBe(200);
    expect(api.asked).toHaveLength(asked);
  });
});

/** The id that the import of each panel writes; null: the hash of the key. */
const ID_OF_IMPORT: Readonly<Record<PanelKind, string | null>> = {
  remnawave: '7',
  '3x-ui': null,
  pasarguard: '7',
  marzban: 'anna',
  hiddify: '7',
};

test('a link of another panel, and a key that a provider typed, cost no question', async () => {
  const { api, fronted } = await front('marzban', anna(true));
  const { store } = fronted.app.core;
  const provider = await providerOf(fronted);
  const id = await importDisabled(fronted, '3x-ui', { ...anna(false), key: 'other' });
  const subscriptionKey = keyOf('marzban', anna(true));
  const typed = { subscriptionKeyHash: subscriptionKeyHash(subscriptionKey) };
  await store.updateLink(provider, id, typed, ACT);
  expect(await statusOf(fronted, 'marzban')).toBe(404);
  const own = await importDisabled(fronted, 'marzban', { ...anna(false), name: 'boris', id: 8 });
  await store.updateLink(provider, id, { subscriptionKeyHash: null }, ACT);
  await store.updateLink(provider, own, typed, ACT);
  expect(await statusOf(fronted, 'marzban')).toBe(404);
  expect(api.asked).toEqual([]);
});

test('the API answers one user with a fault of its own: others come back', async () => {
  const { api, fronted } = await front('hiddify', anna(true));
  await importDisabled(fronted, 'hiddify', anna(false));
  api.odd = () => Response.json({}, { status: 422 });
  expect(await statusOf(fronted, 'hiddify')).toBe(404);
  api.odd = null;
  const boris = { ...anna(true), id: 8, name: 'boris', key: UUID.replace(/0$/, '8') };
  api.users = [anna(true), boris];
  const { store } = fronted.app.core;
  const link = {
    id: null,
    installCode: 'CodeOfBoris1',
    installLimit: 2,
    status: 5,
    note: 'boris',
    createdAtMs: 1,
    panelUser: 'hiddify:8',
    slots: [],
    terms: { ...NO_TERMS, subscriptionKeyHash: subscriptionKeyHash(boris.key) },
  };
  const rules = { installCountMax: 100, updates: false };
  await store.importLink(await providerOf(fronted), link, rules, ACT);
  expect((await fronted.get(`/sub/${boris.key}`, 'phone')).status).toBe(200);
});

test.each([
  ['refuses the token', () => Response.json({}, { status: 401 }), 1],
  ['has a fault', () => new Response('', { status: 500 }), 1],
  ['has no such path', () => Response.json({ detail: 'Not Found' }, { status: 404 }), 1],
  ['answers with a page', () => new Response('<html>'), 1],
  ['says nothing', () => new Promise<Response>(() => {}), 1],
])('an API that %s: the link stays as it is, and the API is left alone', async (_, odd, asked) => {
  const { api, fronted } = await front('marzban', anna(true));
  await importDisabled(fronted, 'marzban', anna(false));
  api.odd = odd;
  expect([await statusOf(fronted, 'marzban'), await statusOf(fronted, 'marzban')]).toEqual([
    404, 404,
  ]);
  expect(api.asked).toHaveLength(asked);
  api.odd = null;
  fronted.app.clock.advance(MINUTE_MS);
  expect(await statusOf(fronted, 'marzban')).toBe(200);
});

test('a race of 50 devices for a link that comes back: one question, and the limit holds', async () => {
  const { api, fronted } = await front('marzban', anna(true));
  await importDisabled(fronted, 'marzban', anna(false));
  const hwids = Array.from({ length: 50 }, (_, n) => `phone-${n}`);
  const path = pathOf('marzban', anna(true));
  const got = await Promise.all(hwids.map((hwid) => fronted.get(path, hwid)));
  expect(got.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(api.asked).toHaveLength(1);
});

test('without a token of the API nothing is asked, and the link stays as it is', async () => {
  const { api, fronted } = await front('marzban', anna(true), { panelTokenFile: '' });
  await importDisabled(fronted, 'marzban', anna(false));
  expect(await statusOf(fronted, 'marzban')).toBe(404);
  expect(api.asked).toEqual([]);
});
