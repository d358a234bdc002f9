/** Who gets in, from when and until when, and what happens to those who do not. */

import { afterEach, describe, expect, test } from 'bun:test';
import { endOfDateMs } from '../../src/core/calendar.ts';
import { isRefused } from '../../src/core/outcome.ts';
import type { Store } from '../../src/core/port/store.ts';
import { type Credentials, removeProvider, rotateKey } from '../../src/core/provider.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import {
  call,
  seedProvider,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../support/app.ts';
import { rawRequest } from '../support/raw.ts';
import { addLink, enter, HASH, seedShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const INACTIVE = 'This feature requires an active subscription';

const apps: TestApp[] = [];
const beside: Store[] = [];
async function start(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await startTestApp(options);
  apps.push(app);
  return app;
}
afterEach(async () => {
  for (const store of beside.splice(0)) await store.close();
  for (const app of apps.splice(0)) await app.close();
});

/** The store as a second process has it: the command line beside a running server. */
async function openBeside(app: TestApp): Promise<Store> {
  const store = await app.openBeside();
  beside.push(store);
  return store;
}

async function msgOf(app: TestApp, credentials: Credentials | null): Promise<string> {
  return (await call(app, '/api/list-install', credentials)).json.msg;
}

async function rotated(app: TestApp, code: string, keepOldMs: number): Promise<Credentials> {
  const credentials = await rotateKey(app.core, code, keepOldMs, app.clock.nowMs());
  if (isRefused(credentials)) throw new Error(credentials.says);
  return credentials;
}

describe('rotation', () => {
  test('without an overlap the old key is dead at once', async () => {
    const app = await start();
    const old = await seedProvider(app);
    const fresh = await rotated(app, old.code, 0);
    expect(fresh.authKey).not.toBe(old.authKey);
    expect(await msgOf(app, old)).toBe('Auth error');
    expect(await msgOf(app, fresh)).toBe('Ok');
  });

  test('with an overlap both keys work until its last millisecond', async () => {
    const app = await start();
    const old = await seedProvider(app);
    const fresh = await rotated(app, old.code, 24 * HOUR_MS);
    app.clock.advance(24 * HOUR_MS - 1);
    expect(await msgOf(app, old)).toBe('Ok');
    expect(await msgOf(app, fresh)).toBe('Ok');
    app.clock.advance(1);
    expect(await msgOf(app, old)).toBe('Auth error');
    expect(await msgOf(app, fresh)).toBe('Ok');
  });

  test('a second rotation ends the overlap of the first', async () => {
    const app = await start();
    const first = await seedProvider(app);
    const second = await rotated(app, first.code, 24 * HOUR_MS);
    const third = await rotated(app, first.code, HOUR_MS);
    expect(await msgOf(app, first)).toBe('Auth error');
    expect(await msgOf(app, second)).toBe('Ok');
    expect(await msgOf(app, third)).toBe('Ok');
  });

  test('a key of one provider opens no other', async () => {
    const app = await start();
    const one = await seedProvider(app);
    const other = await seedProvider(app);
    expect(await msgOf(app, { code: one.code, authKey: other.authKey })).toBe('Auth error');
  });
});

describe('the subscription', () => {
  test('its end date is inclusive, in UTC+3, to the millisecond', async () => {
    const app = await start();
    const own = await seedProvider(app, { activeUntilMs: endOfDateMs('2026-11-25') });
    app.clock.set(Date.UTC(2026, 10, 25, 20, 59, 59, 999));
    expect(await msgOf(app, own)).toBe('Ok');
    app.clock.advance(1);
    expect(await msgOf(app, own)).toBe(INACTIVE);
    // A wrong key learns nothing of the subscription.
    expect(await msgOf(app, { ...own, authKey: 'x'.repeat(32) })).toBe('Auth error');
  });

  test('a suspension shuts it off, also before its end, and its end lets it on', async () => {
    const app = await start();
    const own = await seedProvider(app, { activeUntilMs: endOfDateMs('2026-11-25') });
    const { store } = app.core;
    await store.updateProvider(own.code, { suspendedAtMs: app.clock.nowMs() }, ACT);
    expect(await msgOf(app, own)).toBe(INACTIVE);
    await store.updateProvider(own.code, { suspendedAtMs: null }, ACT);
    expect(await msgOf(app, own)).toBe('Ok');
  });

  test('ended or suspended, it changes nothing for devices', async () => {
    const app = await start();
    const own = await seedShop(app);
    await addLink(app, own);
    await app.core.store.updateProvider(own.code, { suspendedAtMs: app.clock.nowMs() }, ACT);
    await enter(app, 'a');
  });
});

test('what another process changes is so on the next request', async () => {
  const app = await start();
  const own = await seedProvider(app);
  const store = await openBeside(app);
  const core = { ...app.core, store };
  expect(await msgOf(app, own)).toBe('Ok');
  await store.updateProvider(own.code, { suspendedAtMs: app.clock.nowMs() }, ACT);
  expect(await msgOf(app, own)).toBe(INACTIVE);
  await store.updateProvider(own.code, { suspendedAtMs: null }, ACT);
  expect(await msgOf(app, own)).toBe('Ok');
  const fresh = await rotateKey(core, own.code, 0, app.clock.nowMs());
  expect(await msgOf(app, own)).toBe('Auth error');
  expect(await msgOf(app, fresh as Credentials)).toBe('Ok');
  const added = await seedProvider({ ...app, core });
  expect(await msgOf(app, added)).toBe('Ok');
  await removeProvider(core, own.code, app.clock.nowMs());
  expect(await msgOf(app, fresh as Credentials)).toBe('Auth error');
});

describe('failures beyond the number that the operator set', () => {
  const wrong: Credentials = { code: 'Unknown1', authKey: 'w'.repeat(32) };
  const delayLines = (app: TestApp) =>
    app.logLines.map((line) => JSON.parse(line)).filter((line) => line.level === 'warn');

  test('are answered a second late, and valid credentials at once', async () => {
    const app = await start({ authFailuresPerMinuteMax: 2 });
    const own = await seedProvider(app);
    expect(await msgOf(app, wrong)).toBe('Auth error');
    expect(await msgOf(app, null)).toBe('Auth error');
    expect(app.clock.sleeperCount).toBe(0);

    let isAnswered = false;
    const late = msgOf(app, wrong).finally(() => {
      isAnswered = true;
    });
    await until('the answer waits', () => app.clock.sleeperCount === 1);
    expect(await msgOf(app, own)).toBe('Ok');
    app.clock.advance(999);
    expect(await msgOf(app, own)).toBe('Ok');
    expect(isAnswered).toBe(false);
    app.clock.advance(1);
    expect(await late).toBe('Auth error');
  });

  test('are delayed no more in the next minute', async () => {
    const app = await start({ authFailuresPerMinuteMax: 1 });
    expect(await msgOf(app, wrong)).toBe('Auth error');
    app.clock.advance(60_000);
    // Would wait for ever if it were delayed.
    expect(await msgOf(app, wrong)).toBe('Auth error');
    expect(app.clock.sleeperCount).toBe(0);
  });

  test('are told in one log line a minute, without a credential', async () => {
    const app = await start({ authFailuresPerMinuteMax: 0 });
    const late = [1, 2, 3].map(() => msgOf(app, wrong));
    await until('three answers wait', () => app.clock.sleeperCount === 3);
    expect(delayLines(app)).toHaveLength(1);
    expect(delayLines(app)[0]).toMatchObject({ event: 'auth_failures_delayed', answers: 1 });
    app.clock.advance(60_000);
    await Promise.all(late);
    const last = msgOf(app, wrong);
    await until('one more answer waits', () => app.clock.sleeperCount === 1);
    expect(delayLines(app)).toHaveLength(2);
    expect(delayLines(app)[1]).toMatchObject({ client: '127.0.0.1', answers: 3 });
    app.clock.advance(1_000);
    await last;
    expect(app.logLines.join('')).not.toContain(wrong.authKey);
    expect(app.logLines.join('')).not.toContain(wrong.code);
  });

  test('whoever tries out codes of links or providers is slowed down too', async () => {
    const app = await start({ authFailuresPerMinuteMax: 2 });
    const own = await seedProvider(app);
    const headers = { 'x-hwid': 'hwid-1' };
    const tryOut = (path: string, query: Record<string, string>) =>
      call(app, path, null, query, { headers });
    const hash = 'a'.repeat(64);
    const link = await tryOut('/install', { id: hash, installid: 'guess-1' });
    expect(link.json.msg).toBe('Install not found');
    expect((await tryOut('/provider', { id: 'guess-2' })).json.msg).toBe('Provider not found');
    const late = tryOut('/install', { id: hash, installid: 'guess-3' });
    await until('the answer waits', () => app.clock.sleeperCount === 1);
    expect((await tryOut('/provider', { id: own.code })).json.msg).toBe('Ok');
    app.clock.advance(1_000);
    expect((await late).json.msg).toBe('Install not found');
  });

  test('by way of a registration, or with a domain that is not bound, too', async () => {
    const app = await start({ authFailuresPerMinuteMax: 0 });
    const own = await seedProvider(app);
    const { code: install_code } = await addLink(app, own);
    const register = (body: object) =>
      call(app, '/device/register', null, {}, { method: 'POST', body: JSON.stringify(body) });
    const late = [
      call(app, '/install', null, { hwid: 'h', id: HASH, installid: install_code }),
      register({ hwid: 'h', install_code, domain_hash: HASH }),
      register({ hwid: 'h', install_code: 'guess0000001', domain_hash: HASH }),
    ];
    await until('the answers wait', () => app.clock.sleeperCount === 3);
    app.clock.advance(1_000);
    for (const reply of await Promise.all(late)) expect(reply.json.msg).toBe('Install not found');
  });

  test('are counted under one client, however many headers a stranger sends', async () => {
    const app = await start({ authFailuresPerMinuteMax: 1 });
    const target = '/api/list-install?provider_code=Unknown1&auth_key=wrong';
    const forged = (last: number) => [
      'x-forwarded-for: 10.0.0.1',
      `x-forwarded-for: 198.51.100.${last}`,
      `forwarded: for=198.51.100.${last}`,
      `x-real-ip: 198.51.100.${last}`,
    ];
    await rawRequest(app, 'GET', target, forged(1));
    const late = rawRequest(app, 'GET', target, forged(2));
    await until('the second one waits', () => app.clock.sleeperCount === 1);
    app.clock.advance(1_000);
    expect((await late).text).toContain('Auth error');
  });

  test('are counted under the last of several headers of a trusted proxy', async () => {
    const trustedProxies = parseTrustedProxies(['127.0.0.0/8']);
    const app = await start({ authFailuresPerMinuteMax: 1, trustedProxies });
    const target = '/api/list-install?provider_code=Unknown1&auth_key=wrong';
    const passedOn = (forged: number) => [
      `x-forwarded-for: 192.0.2.${forged}`,
      'x-forwarded-for: 198.51.100.1',
    ];
    await rawRequest(app, 'GET', target, passedOn(1));
    const late = rawRequest(app, 'GET', target, passedOn(2));
    await until('the second one waits', () => app.clock.sleeperCount === 1);
    app.clock.advance(1_000);
    expect((await late).text).toContain('Auth error');
  });

  test('are counted under the peer, whatever it claims to forward', async () => {
    const app = await start({ authFailuresPerMinuteMax: 1 });
    const from = (address: string) =>
      call(app, '/api/list-install', wrong, {}, { headers: { 'x-forwarded-for': address } });
    await from('198.51.100.1');
    const late = from('198.51.100.2');
    await until('the second one waits', () => app.clock.sleeperCount === 1);
    app.clock.advance(1_000);
    expect((await late).json.msg).toBe('Auth error');
  });

  test('are counted under the client that a trusted proxy names', async () => {
    const trustedProxies = parseTrustedProxies(['127.0.0.0/8', '10.0.0.0/8']);
    const app = await start({ authFailuresPerMinuteMax: 1, trustedProxies });
    const from = (address: string) =>
      call(app, '/api/list-install', wrong, {}, { headers: { 'x-forwarded-for': address } });
    await from('198.51.100.1');
    // Another client, and the same one hidden behind what it wrote itself.
    await from('198.51.100.2, 10.1.2.3');
    const late = from('203.0.113.9, 198.51.100.1');
    await until('the third one waits', () => app.clock.sleeperCount === 1);
    expect(delayLines(app)[0]).toMatchObject({ client: '198.51.100.1' });
    app.clock.advance(1_000);
    expect((await late).json.msg).toBe('Auth error');
  });
});
