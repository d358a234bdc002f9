/** PasarGuard signed names before it signed numbers: tokens of both times are one link. */

import { afterEach, describe, expect, test } from 'bun:test';
import { ACT } from '../../support/actor.ts';
import { call } from '../../support/app.ts';
import { answer } from '../../support/panel.ts';
import { expectOk } from '../../support/shop.ts';
import {
  digestToken,
  OLD_PASARGUARD_FORMS,
  OTHER_SECRET,
  PASARGUARD_FORMS,
  pasarguardOf,
  SECRET,
} from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import { exchange, type Fronted, HOST, startFronted } from '../../support/upstream.ts';

let at: Fronted;
afterEach(() => at.stop());

const NOW_S = 1_767_225_600;
const USERS = { 7: 'anna', 8: 'boris' };
const FILE = '/panel-secret';
const OLD = digestToken(`anna,${NOW_S}`);
const FORGED = digestToken('anna,1', OTHER_SECRET);

async function front(
  behave = pasarguardOf(USERS),
  keySecretFile = '',
  options: Parameters<typeof startFronted>[2] = {},
): Promise<void> {
  at = await startFronted(
    behave,
    { key: 'pasarguard', keySecretFile, defaultLimit: 3 },
    { secretOf: (file) => (file === FILE ? SECRET : null), ...options },
  );
}

const statusOf = async (token: string, hwid: string | null, headers = {}) =>
  (await at.get(`/sub/${token}`, hwid, headers)).status;
const asked = () => at.panel.calls.map(({ method, target }) => `${method} ${target}`);

describe.each([
  ['the panel proves them', ''],
  ['the secret proves them', FILE],
])('where %s,', (_way, file) => {
  test('old tokens of a user and those of today are one link', async () => {
    await front(undefined, file);
    const tokens = [
      ...OLD_PASARGUARD_FORMS.map((make, age) => make('anna', NOW_S + age)),
      ...PASARGUARD_FORMS.map((make, age) => make('7', NOW_S + age)),
    ];
    const got = await Promise.all(tokens.map((token, count) => statusOf(token, `phone-${count}`)));
    expect(got.filter((status) => status === 200)).toHaveLength(3);
    expect(await at.links()).toEqual([{ count: 3, limit: 3, note: `${HOST} 7` }]);
    expect(await statusOf(digestToken(`boris,${NOW_S}`), 'phone-0')).toBe(200);
    expect((await at.links()).map(({ count }) => count).sort()).toEqual([1, 3]);
  });

  test('a link that an import made for a number has the devices of old tokens', async () => {
    await front(undefined, file);
    const link = { install_limit: 1, subscription_key: 'pasarguard/7' };
    await expectOk(call(at.app, '/api/add-install', at.own, link));
    expect([await statusOf(OLD, 'own'), await statusOf(OLD, 'other')]).toEqual([200, 404]);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
  });

  test('a forged one is a guess, of which the panel is asked once at most', async () => {
    await front(undefined, file, { authFailuresPerMinuteMax: 1 });
    expect(await statusOf(FORGED, 'a')).toBe(404);
    const late = statusOf(FORGED, null);
    await until('the guess waits', () => at.app.clock.sleeperCount === 1);
    at.app.clock.advance(1_000);
    expect(await late).toBe(404);
    const questions = Array.from({ length: 2 }, () => `GET /sub/${FORGED}/info`);
    expect(asked()).toEqual(file === '' ? questions : []);
    expect(await at.links()).toEqual([]);
  });
});

test('the panel is asked once whose name it is, and whole, whatever an app asks', async () => {
  await front();
  const link = { install_limit: 1, subscription_key: 'pasarguard/7' };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
  const { port } = new URL(at.app.url);
  const words = { 'x-hwid': 'a', 'If-None-Match': '"x"', 'Accept-Encoding': 'gzip' };
  const head = await exchange(Number(port), 'HEAD', `/sub/${OLD}/clash?x=1`, words);
  expect(head.status).toBe(200);
  expect(await statusOf(digestToken(`anna,${NOW_S + 9}`), 'a')).toBe(200);
  expect(asked()).toEqual([
    `GET /sub/${OLD}/info`,
    `HEAD /sub/${OLD}/clash`,
    `GET /sub/${digestToken(`anna,${NOW_S + 9}`)}`,
  ]);
  const info = at.panel.calls[0]?.head.toLowerCase() ?? '';
  expect(info).toContain('accept-encoding: identity');
  expect(info).not.toContain('if-none-match');
  expect(await at.links()).toMatchObject([{ count: 1 }]);
  // A known name proves no token.
  const { body, status } = await at.get(`/sub/${FORGED}`, 'b');
  expect([status, body]).toEqual([404, '{"detail":"Not Found"}']);
  expect(await at.links()).toMatchObject([{ count: 1 }]);
});

test('no code opens a link beside a forged old token', async () => {
  await front();
  const { json } = await call(at.app, '/api/add-install', at.own, { install_limit: 9 });
  expect(await statusOf(`${FORGED}?installid=${json.install_code}`, 'a')).toBe(404);
  expect(asked()).toEqual([`GET /sub/${FORGED}/info`]);
  expect(await at.links()).toMatchObject([{ count: 0 }]);
});

test('a panel at another address is asked anew', async () => {
  await front();
  expect(await statusOf(OLD, 'a')).toBe(200);
  const [upstream] = at.app.settings.gateUpstreams;
  if (upstream) at.app.settings.gateUpstreams = [{ ...upstream, url: `${upstream.url}/` }];
  expect(await statusOf(OLD, 'a')).toBe(200);
  expect(asked().filter((line) => line.endsWith('/info'))).toHaveLength(2);
});

test('a panel without numbers has the name as the key', async () => {
  await front(pasarguardOf(USERS, ({ username }) => JSON.stringify({ username })));
  for (const [age, make] of OLD_PASARGUARD_FORMS.entries()) {
    expect(await statusOf(make('anna', NOW_S + age), 'a')).toBe(200);
  }
  expect(await at.links()).toEqual([{ count: 1, limit: 3, note: `${HOST} anna` }]);
});

test.each([
  ['is no JSON', () => 'anna'],
  ['is no record', () => 'null'],
  ['is of another user', () => '{"id":7,"username":"boris"}'],
  ['has a number that none has', () => '{"id":0,"username":"anna"}'],
  ['has no number as such', () => '{"id":"7","username":"anna"}'],
  ['is endless', () => `{"id":7,"username":"anna","note":"${'x'.repeat(70_000)}"}`],
])('an answer that %s makes no link', async (_what, info) => {
  await front(pasarguardOf(USERS, info));
  expect(await statusOf(OLD, 'a')).toBe(502);
  expect(await at.links()).toEqual([]);
  expect(asked()).toHaveLength(1);
});

test.each([
  [500, 502, 0],
  [302, 502, 0],
  [404, 404, 1],
])('a panel that answers %i gives %i', async (status, got, guesses) => {
  await front(({ send }) => send(answer(status)), '', { authFailuresPerMinuteMax: 1 });
  expect(await statusOf(OLD, 'a')).toBe(got);
  const again = statusOf(OLD, 'a');
  if (guesses > 0) await until('the guess waits', () => at.app.clock.sleeperCount === 1);
  at.app.clock.advance(1_000);
  expect(await again).toBe(got);
  expect(await at.links()).toEqual([]);
});

test('a panel that closes the connection of a token is away: nothing is said of the token', async () => {
  await front(async ({ socket }) => void socket.destroy());
  expect(await statusOf(OLD, 'a')).toBe(502);
  expect(await at.links()).toEqual([]);
});

test('the page of users does not open by an old token, and no button leads there', async () => {
  await front(undefined, FILE);
  await at.app.core.store.updateProvider(at.own.code, { my: 1 }, ACT);
  for (let count = 0; count < 2; count++) {
    const got = await at.get(`/sub/${OLD}`, 'a');
    expect([got.status, got.headers.has('profile-web-page-url')]).toEqual([200, false]);
  }
  expect((await at.get(`/my?link=${HOST}/sub/${OLD}`, null)).status).toBe(404);
  const today = await at.get(`/sub/${PASARGUARD_FORMS[0]?.('7', NOW_S)}`, 'a');
  expect(today.headers.has('profile-web-page-url')).toBe(true);
});
