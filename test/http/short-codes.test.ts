/** Codes of 8 to 11 characters: within their provider alone, and guesses count ten times. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { addProvider, type Credentials } from '../../src/core/provider.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { answer } from '../support/panel.ts';
import { addLink, HASH, seedShop } from '../support/shop.ts';
import { type Fronted, HOST, startFronted } from '../support/upstream.ts';

const SHORT = 'aB3dE5g7';
const OTHER_HASH = 'b'.repeat(64);

let app: TestApp;
let own: Credentials;
let other: Credentials;

beforeAll(async () => {
  app = await startTestApp({ myUrl: 'https://gatepost.example.org' });
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.reset();
  app.settings.authFailuresPerMinuteMax = 1_000_000;
  own = await seedShop(app);
  const draft = { name: 'x', plan: 'pro', activeUntilMs: null, installCountMax: null } as const;
  const added = await addProvider(app.core, draft, app.clock.nowMs());
  if (!('code' in added)) throw new Error('not added');
  other = added;
  for (const { code } of [own, other]) {
    await app.core.store.updateProvider(code, { my: 1, shortCodes: 1 }, ACT);
  }
  await addLink(app, own, SHORT, 2);
  await call(app, '/api/add-domain', other, { domain_hash: OTHER_HASH, domain_name: 'other' });
});

const install = async (id: string) =>
  (await call(app, '/install', null, { id, installid: SHORT, hwid: 'phone-1' })).json.rc;
const page = async (link: string) =>
  (await fetch(`${app.url}/my?link=${encodeURIComponent(link)}`, { redirect: 'manual' })).status;

describe('a short code', () => {
  test('admits devices by a binding of its provider alone', async () => {
    expect(await install(OTHER_HASH)).toBe(0);
    expect(await install('c'.repeat(64))).toBe(0);
    expect(await install(HASH)).toBe(1);
  });

  test('registers devices by a binding of its provider alone', async () => {
    const register = async (domain_hash: string) => {
      const body = JSON.stringify({
        hwid: 'phone-1',
        os: 'android',
        install_code: SHORT,
        domain_hash,
      });
      const reply = await call(app, '/device/register', null, {}, { method: 'POST', body });
      return reply.json.msg;
    };
    expect(await register(OTHER_HASH)).toBe('Install not found');
    expect(await install(HASH)).toBe(1);
    expect(await register(HASH)).toBe('Ok');
  });

  test('opens the page by the code of its provider alone', async () => {
    expect(await page(SHORT)).toBe(404);
    expect(await page(`https://x.example/?installid=${SHORT}`)).toBe(404);
    expect(await page(`${other.code}.${SHORT}`)).toBe(404);
    const opened = await fetch(`${app.url}/my?link=${own.code}.${SHORT}`);
    expect(opened.status).toBe(200);
    // The page goes on with a name that opens it.
    await install(HASH);
    const html = await (await fetch(`${app.url}/my?link=${own.code}.${SHORT}`)).text();
    expect(html).toContain(`name="link" value="${own.code}.${SHORT}"`);
    expect(html).not.toContain(`value="${SHORT}"`);
    const [, free = ''] = /name="free" value="([^"]+)"/.exec(html) ?? [];
    const body = new URLSearchParams({ link: `${own.code}.${SHORT}`, free });
    const freed = await fetch(`${app.url}/my`, { method: 'POST', body, redirect: 'manual' });
    expect(freed.headers.get('location')).toBe(`/my?link=${own.code}.${SHORT}&said=freed`);
  });

  test('is that of its provider in the calls of providers', async () => {
    const list = (by: Credentials) => call(app, '/api/list-install', by, { install_code: SHORT });
    expect((await list(other)).json['data']).toEqual([]);
    expect((await list(own)).json['data']).toHaveLength(1);
  });
});

test('guesses of short codes are late after a tenth of the guesses of others', async () => {
  app.settings.authFailuresPerMinuteMax = 20;
  const guess = (installid: string) =>
    call(app, '/install', null, { id: HASH, installid, hwid: 'phone-1' });
  const isLate = async (answer: Promise<unknown>) => {
    const first = await Promise.race([answer.then(() => 'answered'), sleeper()]);
    if (first === 'late') app.clock.advance(1_000);
    await answer;
    return first === 'late';
  };
  const sleeper = async () => {
    while (app.clock.sleeperCount === 0) await Bun.sleep(1);
    return 'late';
  };
  app.clock.advance(120_000);
  expect(await isLate(guess('aB3dE5g8'))).toBe(false);
  expect(await isLate(guess('aB3dE5g9'))).toBe(false);
  expect(await isLate(guess('aB3dE5g0'))).toBe(true);
  app.clock.advance(120_000);
  for (let n = 10; n < 30; n++) expect(await isLate(guess(`Unknown000${n}`))).toBe(false);
  app.clock.advance(120_000);
  // The page, and both ways to a registration, count alike.
  await page(`${own.code}.aB3dE5g8`);
  await page('aB3dE5g9');
  expect(await isLate(fetch(`${app.url}/my?link=aB3dE5g9`))).toBe(true);
});

test.each([
  ['the proxy', (at: Fronted, code: string) => at.get(`/sub/other?installid=${code}`, 'phone-1')],
  [
    '/gate',
    (at: Fronted, code: string) =>
      fetch(`${at.app.url}/gate`, {
        headers: {
          'x-original-uri': `/sub/other?installid=${code}`,
          'x-forwarded-host': HOST,
          'x-hwid': 'phone-1',
        },
      }),
  ],
])('a guess at a short code through %s counts as ten', async (_, guess) => {
  const local = parseTrustedProxies(['127.0.0.1']);
  const options = { trustedProxies: local, gateProxies: local, authFailuresPerMinuteMax: 20 };
  const at = await startFronted(undefined, {}, options);
  for (const code of ['aB3dE5g8', 'aB3dE5g9']) await guess(at, code);
  const late = guess(at, 'aB3dE5g0');
  while (at.app.clock.sleeperCount === 0) await Bun.sleep(1);
  at.app.clock.advance(1_000);
  await late;
  await at.stop();
});

test('a guess beside a key that opens counts as ten too: a right one could tie the key', async () => {
  const local = parseTrustedProxies(['127.0.0.1']);
  const at = await startFronted(
    undefined,
    {},
    { trustedProxies: local, authFailuresPerMinuteMax: 20 },
  );
  const query = { install_limit: 2, note: 'x' };
  await call(at.app, '/api/policy', at.own, { short_codes: 1 });
  await call(at.app, '/api/add-install', at.own, { ...query, install_code: 'aB3dE5g7' });
  const fetches = (code: string) => at.get(`/sub/own-key-000001?installid=${code}`, 'phone-1');
  expect((await at.get('/sub/own-key-000001', 'phone-1')).status).toBe(200);
  // Codes of the provider are no guesses, however often they come.
  for (let n = 0; n < 5; n++) expect((await fetches('aB3dE5g7')).status).toBe(200);
  for (const code of ['aB3dE5g8', 'aB3dE5g9']) expect((await fetches(code)).status).toBe(200);
  expect(at.app.clock.sleeperCount).toBe(0);
  const late = fetches('aB3dE5g0');
  while (at.app.clock.sleeperCount === 0) await Bun.sleep(1);
  at.app.clock.advance(1_000);
  expect((await late).status).toBe(200);
  await at.stop();
});

test('a guess at a short code as a key counts as ten', async () => {
  const local = parseTrustedProxies(['127.0.0.1']);
  const at = await startFronted(
    ({ send }) => send(answer(404)),
    { codesAsKeys: true },
    { trustedProxies: local, authFailuresPerMinuteMax: 20 },
  );
  for (const code of ['aB3dE5g8', 'aB3dE5g9']) await at.get(`/sub/${code}`, 'phone-1');
  expect(at.app.clock.sleeperCount).toBe(0);
  const late = at.get('/sub/aB3dE5g0', 'phone-1');
  while (at.app.clock.sleeperCount === 0) await Bun.sleep(1);
  at.app.clock.advance(1_000);
  expect((await late).status).toBe(404);
  await at.stop();
});
