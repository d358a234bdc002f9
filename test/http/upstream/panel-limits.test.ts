/** Limits that the API of a panel says: asked once an hour and key, and kept while it is away. */

import { afterEach, describe, expect, test } from 'bun:test';
import { settingsBy } from '../../../src/core/panel/api.ts';
import { panelApiUser, panelLimitOf } from '../../../src/core/panel/user.ts';
import { lookAtApi } from '../../../src/http/upstream/panel-api.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { call, type TestApp } from '../../support/app.ts';
import { auditEntries } from '../../support/audit.ts';
import { answer, SUBSCRIPTION } from '../../support/panel.ts';
import { tokensOf } from '../../support/panel-api.ts';
import {
  ANSWERS,
  hwidSettings,
  settingsAnswer,
  squadAnswer,
  userAnswer,
} from '../../support/remnawave.ts';
import { formOf } from '../../support/signed-form.ts';
import { until } from '../../support/until.ts';
import { type Fronted, KEY, startFronted } from '../../support/upstream.ts';

const HOUR_MS = 3_600_000;
const TOKEN = 'panel-token-1';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Answers = Readonly<Record<string, unknown>>;

/** An API with answers by path; counts what it is asked. */
function startApi(given: Answers) {
  const asked: string[] = [];
  const apiKeys: (string | null)[] = [];
  const state: { answers: Answers; odd: (() => Response | Promise<Response>) | null } = {
    answers: given,
    odd: null,
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push(pathname + search);
      apiKeys.push(request.headers.get('x-api-key'));
      if (state.odd !== null) return state.odd();
      if (request.headers.get('authorization') !== `Bearer ${TOKEN}`) {
        return Response.json({}, { status: 401 });
      }
      const found = state.answers[pathname];
      return found === undefined ? Response.json({}, { status: 404 }) : Response.json(found);
    },
  });
  closers.push(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}`, asked, apiKeys, state };
}

type Api = ReturnType<typeof startApi>;

async function front(api: Api, more: Partial<Upstream> = {}): Promise<Fronted> {
  const upstream: Partial<Upstream> = {
    limits: 'panel' as const,
    panel: 'remnawave' as const,
    panelUrl: api.url,
    panelTokenFile: '/token',
    ...more,
  };
  const fronted = await startFronted(undefined, upstream, {
    secretOf: (file: string) => (file === '/token' ? TOKEN : null),
  });
  closers.push(() => fronted.stop());
  return fronted;
}

const USER = `/api/users/by-short-uuid/${KEY}`;
const user = (hwidDeviceLimit: number | null, more: object = {}) => ({
  [USER]: userAnswer({ hwidDeviceLimit, ...more }),
});

const enter = async (fronted: Fronted, ...hwids: readonly string[]) => {
  const statuses: number[] = [];
  for (const hwid of hwids) statuses.push((await fronted.get(`/sub/${KEY}`, hwid)).status);
  return statuses;
};

const limitOf = async (fronted: Fronted) => (await fronted.links())[0]?.limit;

async function deedsOf(app: TestApp): Promise<string[]> {
  const entries = await auditEntries(app.core);
  return entries.map(({ name, action }) => `${name} ${action}`);
}

test('a new link takes the limit of the panel, an old one follows it once an hour', async () => {
  const api = startApi(user(2));
  const fronted = await front(api);
  expect(await enter(fronted, 'a', 'b', 'c')).toEqual([200, 200, 404]);
  expect(await limitOf(fronted)).toBe(2);
  api.state.answers = user(4);
  expect(await enter(fronted, 'c', 'a')).toEqual([404, 200]);
  expect(api.asked).toEqual([USER]);
  fronted.app.clock.advance(HOUR_MS);
  // The one that was refused comes in: the panel is asked before it is refused again.
  expect(await enter(fronted, 'c', 'd', 'e')).toEqual([200, 200, 404]);
  expect(await limitOf(fronted)).toBe(4);
  expect(api.asked).toEqual([USER, USER]);
  expect(await deedsOf(fronted.app)).toContain('panel install.update');
});

test('a limit below the devices: those stay, newcomers are refused', async () => {
  const api = startApi(user(3));
  const fronted = await front(api);
  expect(await enter(fronted, 'a', 'b')).toEqual([200, 200]);
  api.state.answers = user(1);
  fronted.app.clock.advance(HOUR_MS);
  expect(await enter(fronted, 'c', 'a', 'b')).toEqual([404, 200, 200]);
  expect(await limitOf(fronted)).toBe(2);
  // One that leaves makes no place, also before the panel is asked again.
  const { json } = await call(fronted.app, '/api/list-install', fronted.own, {});
  const [{ id }] = json.data;
  await call(fronted.app, '/api/delete-hwid', fronted.own, { install_id: id, hwid: 'b' });
  expect(await enter(fronted, 'c', 'd', 'a')).toEqual([404, 404, 200]);
  expect(await limitOf(fronted)).toBe(1);
  expect(api.asked).toHaveLength(2);
});

test('a link of 0.17.0, and one with a typed key, follows the panel once that proved its key', async () => {
  const api = startApi(user(3));
  const fronted = await front(api);
  const { json } = await call(fronted.app, '/api/add-install', fronted.own, {
    install_limit: 1,
    subscription_key: KEY,
  });
  expect(json.rc).toBe(1);
  expect(await enter(fronted, 'a')).toEqual([200]);
  await until('the user is noted', async () => api.asked.length === 1);
  // The next device makes the link follow.
  const enters = async () => (await enter(fronted, 'b'))[0] === 200;
  await until('the link follows', enters);
  expect(await limitOf(fronted)).toBe(3);
});

test('a typed key that the panel has not proved costs no question, however often it comes', async () => {
  const api = startApi(user(3));
  const upstream = { panelUrl: api.url, panelTokenFile: '/token' };
  const fronted = await startFronted(
    async ({ send }) => send(answer(404)),
    { limits: 'panel', panel: 'remnawave', ...upstream },
    { secretOf: () => TOKEN },
  );
  closers.push(() => fronted.stop());
  const typed = { install_limit: 1, subscription_key: KEY };
  await call(fronted.app, '/api/add-install', fronted.own, typed);
  expect(await enter(fronted, 'a', 'b', 'c')).toEqual([404, 404, 404]);
  expect(api.asked).toEqual([]);
});

test('a device with a slot does not wait for the panel', async () => {
  const api = startApi(user(3));
  const fronted = await front(api);
  expect(await enter(fronted, 'a')).toEqual([200]);
  fronted.app.clock.advance(HOUR_MS);
  const { promise, resolve } = Promise.withResolvers<Response>();
  api.state.odd = () => promise;
  expect(await enter(fronted, 'a')).toEqual([200]);
  resolve(Response.json(user(5)[USER]));
});

test('a race of 200 new devices with a new key: one question, and the limit of the panel', async () => {
  const api = startApi(user(2));
  const fronted = await front(api, { defaultLimit: 50 });
  const hwids = Array.from({ length: 200 }, (_, n) => `phone-${n}`);
  const got = await Promise.all(hwids.map((hwid) => fronted.get(`/sub/${KEY}`, hwid)));
  expect(got.filter(({ status }) => status === 200)).toHaveLength(2);
  expect(api.asked).toEqual([USER]);
  expect(await fronted.links()).toMatchObject([{ count: 2, limit: 2 }]);
});

test('new keys that come at once ask for the common settings once', async () => {
  const common = '/api/subscription-settings';
  const keys = Array.from({ length: 6 }, (_, n) => `a1b2c3d4e5f6g7h${n}`);
  const users = keys.map((key) => [
    `/api/users/by-short-uuid/${key}`,
    userAnswer({ hwidDeviceLimit: null }),
  ]);
  const api = startApi({ ...Object.fromEntries(users), [common]: settingsAnswer(hwidSettings(3)) });
  const fronted = await front(api);
  await Promise.all(keys.map((key) => fronted.get(`/sub/${key}`, 'phone')));
  expect(api.asked.filter((path) => path === common)).toHaveLength(1);
  expect((await fronted.links()).map(({ limit }) => limit)).toEqual(keys.map(() => 3));
});

test.each([
  ['pasarguard', 'key-of-the-panel', 'key-of-the-panel'],
  ['pasarguard', 'signed.token.of-an-admin', null],
  ['remnawave', 'key-of-the-panel', null],
] as const)('%s: the token %s goes as x-api-key: %s', async (panel, token, sent) => {
  const api = startApi({});
  const source = { host: 'sub.example.org', panel, url: api.url, tokenFile: '/t' };
  const all = { ...source, accountFile: '', headersFile: '' };
  const tokens = tokensOf((file) => (file === '/t' ? token : null));
  await lookAtApi(all, tokens, false);
  expect(api.apiKeys.at(-1)).toBe(sent);
});

test('a key that the panel does not know costs its API no question', async () => {
  const api = startApi(user(2));
  const upstream = { panelUrl: api.url, panelTokenFile: '/token' };
  const fronted = await startFronted(
    async ({ send }) => send(answer(404)),
    { limits: 'panel', panel: 'remnawave', ...upstream },
    { secretOf: () => TOKEN },
  );
  closers.push(() => fronted.stop());
  expect(await enter(fronted, 'a', 'b')).toEqual([404, 404]);
  expect(api.asked).toEqual([]);
});

const page = () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
function lettersForever(): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      await Bun.sleep(50);
      controller.enqueue(new TextEncoder().encode('{'));
    },
  });
}

/** Faults, and whether they speak of the panel, which is asked again sooner than a key. */
const ODD: readonly (readonly [string, () => Response | Promise<Response>, isOfPanel?: true])[] = [
  ['refuses the token', () => Response.json({}, { status: 401 }), true],
  ['has a fault', () => new Response('', { status: 500 }), true],
  ['leads elsewhere', () => Response.redirect('http://127.0.0.1:1/', 302)],
  ['answers with a page', page],
  ['answers with 2 MB', () => Response.json({ response: 'x'.repeat(2_000_000) })],
  ['answers with half a text', () => new Response('{"response":{"hwidDeviceLimit":9')],
  ['says nothing', () => new Promise<Response>(() => {}), true],
  ['answers by the letter', () => new Response(lettersForever()), true],
];

test.each(ODD)('an API that %s: the last limit holds for a time', async (...of) => {
  const [, odd, isOfPanel] = of;
  const api = startApi(user(2));
  const fronted = await front(api);
  expect(await enter(fronted, 'a', 'b')).toEqual([200, 200]);
  fronted.app.clock.advance(HOUR_MS);
  api.state.odd = odd;
  expect(await enter(fronted, 'c', 'd', 'a')).toEqual([404, 404, 200]);
  expect(api.asked).toHaveLength(2);
  expect(await limitOf(fronted)).toBe(2);
  api.state.odd = null;
  api.state.answers = user(3);
  fronted.app.clock.advance(isOfPanel ? 60_000 : HOUR_MS);
  expect(await enter(fronted, 'c')).toEqual([200]);
});

test('a new key while the API is away has the default limit', async () => {
  const api = startApi({});
  api.state.odd = () => new Response('', { status: 503 });
  const fronted = await front(api, { defaultLimit: 1 });
  expect(await enter(fronted, 'a', 'b')).toEqual([200, 404]);
});

describe('what each panel means', () => {
  const settings = (fallback: number, isOn = true) => ({
    '/api/subscription-settings': settingsAnswer(hwidSettings(fallback, isOn)),
  });
  const { uuid: squadId } = ANSWERS.squad.response;
  const squad = (fallback: number | null) => ({
    [`/api/external-squads/${squadId}`]: squadAnswer(
      fallback === null ? null : hwidSettings(fallback),
    ),
  });
  const inSquad = user(null, { externalSquadUuid: squadId });
  test.each([
    ['own', user(7), 7],
    ['0 is unlimited', user(0), 100],
    ['more than a link can say', user(999), 100],
    ['fallback', { ...user(null), ...settings(5) }, 5],
    ['fallback of the squad', { ...inSquad, ...squad(6), ...settings(5) }, 6],
    ['squad without one', { ...inSquad, ...squad(null), ...settings(5) }, 5],
    ['off', { ...user(null), ...settings(5, false) }, 3],
    ['unknown', {}, 3],
  ])('remnawave: %s', async (_, answers, limit) => {
    const fronted = await front(startApi(answers));
    await enter(fronted, 'a');
    expect(await limitOf(fronted)).toBe(limit);
  });

  const clients = (...items: readonly object[]) => ({
    '/panel/api/clients/list/paged': { success: true, obj: { items, filtered: items.length } },
  });
  const client = (limitHwid: number, more: object = {}) => ({
    subId: KEY,
    enable: true,
    limitHwid,
    ...more,
  });
  test.each([
    ['the largest of its clients', clients(client(2), client(4)), 4],
    ['enabled ones alone', clients(client(2), client(4, { enable: false })), 2],
    ['those of that key alone', clients(client(2), client(9, { subId: `${KEY}9` })), 2],
    ['0 is off', clients(client(0)), 100],
    ['disabled ones while none is enabled', clients(client(2, { enable: false })), 2],
    ['unknown', clients(), 3],
  ])('3x-ui: %s', async (_, answers, limit) => {
    const fronted = await front(startApi(answers), { panel: '3x-ui' });
    await enter(fronted, 'a');
    expect(await limitOf(fronted)).toBe(limit);
  });

  test('3x-ui: 0 is unlimited_as, for new links and for links that are here', async () => {
    const api = startApi(clients(client(0)));
    const fronted = await front(api, { panel: '3x-ui', unlimitedAs: 2, defaultLimit: 9 });
    await enter(fronted, 'a');
    expect(await limitOf(fronted)).toBe(2);
    await enter(fronted, 'b');
    expect((await fronted.get(`/sub/${KEY}`, 'c')).status).toBe(404);
  });

  const byId = (hwid_limit: number | null) => ({
    '/api/user/by-id/7': { id: 7, status: 'active', hwid_limit, admin: { username: 'root' } },
  });
  const common = (fallback_limit: number | null, isEnabled = true) => ({
    '/api/settings': { hwid: { enabled: isEnabled, fallback_limit } },
  });
  const role = (hwid: object) => ({
    '/api/admins': { admins: [{ username: 'root', role: { hwid } }] },
  });
  test.each([
    ['own', byId(4), 4],
    ['0 is unlimited', byId(0), 'unlimited'],
    ['fallback', { ...byId(null), ...common(5) }, 5],
    ['no fallback', { ...byId(null), ...common(null) }, 'unlimited'],
    ['off', { ...byId(null), ...common(5, false) }, null],
    ['role', { ...byId(null), ...common(5), ...role({ mode: 'override', fallback_limit: 2 }) }, 2],
    ['role without one', { ...byId(null), ...common(5), ...role({ mode: 'override' }) }, 5],
    ['role off', { ...byId(null), ...common(5), ...role({ mode: 'disabled' }) }, null],
    ['unknown', {}, null],
  ])('pasarguard: %s', async (_, answers, limit) => {
    const ask = async (path: string) =>
      (answers as Answers)[path.split('?', 1)[0] as string] ?? null;
    const key = formOf('pasarguard').keyOfUser('7');
    const found = await panelApiUser('pasarguard', key, ask);
    expect<unknown>(await panelLimitOf('pasarguard', found, settingsBy(ask))).toBe(limit);
  });
});

test('the subscription itself comes as the panel sends it', async () => {
  const fronted = await front(startApi(user(2)));
  expect((await fronted.get(`/sub/${KEY}`, 'a')).body).toBe(SUBSCRIPTION);
});
