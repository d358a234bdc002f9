/** Bots that fetch for their customers, through the proxy and through `/gate`. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { passPaths } from '../../src/config/readers.ts';
import { addBot, FETCHES_MAX, removeBot } from '../../src/core/bot.ts';
import { DAY_MS } from '../../src/core/calendar.ts';
import { hashKey } from '../../src/core/secret.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { ACT } from '../support/actor.ts';
import { call, seedProvider } from '../support/app.ts';
import { type Fronted, HOST, KEY, keyPath, startFronted } from '../support/upstream.ts';

const AGENT = { 'user-agent': 'python-requests/2.32' };
const PROXIES = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
  logRequests: true,
};

let at: Fronted;
let secret: string;
beforeEach(async () => {
  at = await startFronted(undefined, { passPaths: passPaths('/assets/*') }, PROXIES);
  secret = await trust();
});
afterEach(() => at.stop());

async function trust(by = at.own, host = HOST): Promise<string> {
  const provider = await at.app.core.store.findProvider(by.code);
  if (provider === null) throw new Error('not there');
  const added = await addBot(at.app.core, provider, { host, name: 'bot' }, at.app.clock.nowMs());
  if (!('secret' in added)) throw new Error('not added');
  return added.secret;
}

const bearer = (of = secret) => ({ ...AGENT, authorization: `Bearer ${of}` });
/** Fetches as a bot does: without a HWID, over HTTPS that a proxy ended. */
const fetches = (
  path: string,
  headers: Record<string, string> = bearer(),
  hwid = null as string | null,
) =>
  at.get(path, hwid, {
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '198.51.100.7',
    ...headers,
  });
/** Asks `/gate` about it, as a proxy does. */
const asks = (key: string, headers: Record<string, string> = bearer()) =>
  fetch(`${at.app.url}/gate`, {
    headers: {
      'x-original-uri': `/sub/${key}`,
      'x-forwarded-host': HOST,
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '198.51.100.7',
      ...headers,
    },
  });
const addLink = async (key: string, more: Record<string, string | number> = {}) => {
  const query = { install_limit: 1, subscription_key: key, ...more };
  expect((await call(at.app, '/api/add-install', at.own, query)).json.rc).toBe(1);
};

describe('through the proxy', () => {
  test('a bot without a HWID takes no slot and makes no link; without its secret it is refused', async () => {
    expect((await fetches(`/sub/${KEY}`, AGENT)).status).toBe(404);
    expect((await fetches(`/sub/${KEY}`)).status).toBe(200);
    expect(await at.links()).toEqual([]);
    await addLink(KEY);
    expect((await fetches(`/sub/${KEY}`)).status).toBe(200);
    expect(await at.links()).toMatchObject([{ count: 0 }]);
    // The slot is the customer's.
    expect((await at.get(`/sub/${KEY}`, 'phone-1')).status).toBe(200);
    expect((await fetches(`/sub/${KEY}`)).status).toBe(200);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
  });

  test('with the HWID of the customer it is a device as any other', async () => {
    await addLink(KEY);
    expect((await fetches(`/sub/${KEY}`, bearer(), 'phone-1')).status).toBe(200);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
    expect((await fetches(`/sub/${KEY}`, bearer(), 'phone-2')).status).toBe(404);
    for (let n = 0; n < FETCHES_MAX; n++) {
      expect((await fetches(`/sub/${KEY}`, bearer(), 'phone-1')).status).toBe(200);
    }
    expect((await fetches(`/sub/${KEY}`)).status).toBe(200);
  });

  test('without one it gets 24 answers a day and key, whatever their order', async () => {
    const all = await Promise.all(
      Array.from({ length: FETCHES_MAX + 4 }, () => fetches(`/sub/${KEY}`)),
    );
    expect(all.filter(({ status }) => status === 200)).toHaveLength(FETCHES_MAX);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(4);
    expect((await fetches('/sub/another-key-00001')).status).toBe(200);
    at.app.clock.advance(DAY_MS);
    expect((await fetches(`/sub/${KEY}`)).status).toBe(200);
  });

  test('a disabled link, a foreign host and an ended key stay closed', async () => {
    await addLink(KEY);
    await call(at.app, '/api/update-install', at.own, { id: 1, status: 5 });
    expect((await fetches(`/sub/${KEY}`)).status).toBe(404);
    await call(at.app, '/api/remove-install', at.own, { id: 1 });
    expect((await fetches(`/sub/${KEY}`)).status).toBe(404);
  });

  test('the secret reaches no panel, no log and no row', async () => {
    await fetches(`/sub/${KEY}`);
    await fetches('/assets/app.js');
    await fetches('/assets/app.js', { authorization: `Basic ${secret}` });
    await fetches(`/sub/${KEY}`, { authorization: `Bearer ${secret}`, cookie: `a=${secret}` });
    expect(at.panel.calls.length).toBeGreaterThan(2);
    const heads = at.panel.calls.map(({ head }) => head).join('');
    expect(heads).toContain('/assets/app.js');
    expect(heads).not.toContain(secret);
    expect(at.app.logLines.join('\n')).not.toContain(secret);
    const [bot] = await at.app.core.store.findBots(HOST);
    expect(bot?.secretHash).toEqual(hashKey(secret));
    expect(Buffer.from(secret.slice(4), 'base64url')).toHaveLength(24);
  });

  test.each([
    ['plain HTTP from elsewhere', { 'x-forwarded-proto': 'http' }, 404],
    ['HTTPS', { 'x-forwarded-proto': 'https' }, 200],
  ])('by %s', async (_, headers, status) => {
    expect((await fetches(`/sub/${KEY}`, { ...bearer(), ...headers })).status).toBe(status);
  });

  test('the address alone opens nothing, and the machine itself needs the secret too', async () => {
    at.app.settings.trustedProxies = parseTrustedProxies([]);
    expect((await at.get(`/sub/${KEY}`, null, AGENT)).status).toBe(404);
    expect((await at.get(`/sub/${KEY}`, null, bearer())).status).toBe(200);
    // Elsewhere than in its one header it is none.
    const elsewhere = [{ 'x-bot': secret }, { authorization: secret }, { cookie: secret }];
    for (const headers of elsewhere) {
      expect((await at.get(`/sub/${KEY}`, null, { ...AGENT, ...headers })).status).toBe(404);
    }
    expect((await at.get(`/sub/${KEY}?authorization=Bearer%20${secret}`, null, AGENT)).status).toBe(
      404,
    );
  });

  test('a secret is of one provider and one host', async () => {
    const other = await seedProvider(at.app);
    await call(at.app, '/api/add-domain', other, { domain_hash: hostHashOf(HOST) });
    expect((await fetches(`/sub/${KEY}`, bearer(await trust(other)))).status).toBe(404);
    await call(at.app, '/api/add-domain', at.own, { domain_hash: hostHashOf('other.example.org') });
    const elsewhere = await trust(at.own, 'other.example.org');
    expect((await fetches(`/sub/${KEY}`, bearer(elsewhere))).status).toBe(404);
    expect((await fetches(`/sub/${KEY}`, bearer(`bot_${'x'.repeat(32)}`))).status).toBe(404);
  });

  test('a removed bot is trusted no more', async () => {
    const provider = await at.app.core.store.findProvider(at.own.code);
    if (provider === null) throw new Error('not there');
    expect(await removeBot(at.app.core, provider, 1, at.app.clock.nowMs())).toBe('ok');
    expect((await fetches(`/sub/${KEY}`)).status).toBe(404);
  });
});

describe('through /gate', () => {
  test('a bot passes the links of its provider without a slot, 24 times a day and key', async () => {
    expect((await asks(KEY)).status).toBe(403);
    await addLink(KEY);
    expect((await asks(KEY, AGENT)).status).toBe(403);
    for (let n = 0; n < FETCHES_MAX; n++) expect((await asks(KEY)).status).toBe(204);
    const late = await asks(KEY);
    expect(late.status).toBe(403);
    expect(late.headers.get('x-error-detail')).toBe(
      'this bot has fetched the key as often today as it may without a HWID',
    );
    expect(await at.links()).toMatchObject([{ count: 0 }]);
    expect((await asks(KEY, { ...bearer(), 'x-hwid': 'phone-1' })).status).toBe(204);
    expect((await asks(KEY, { ...bearer(), 'x-hwid': 'phone-2' })).status).toBe(403);
  });

  test('not without HTTPS, and not at the links of another provider', async () => {
    await addLink(KEY);
    expect((await asks(KEY, { ...bearer(), 'x-forwarded-proto': 'http' })).status).toBe(403);
    const other = await seedProvider(at.app);
    await call(at.app, '/api/add-domain', other, { domain_hash: hostHashOf(HOST) });
    const query = { install_limit: 1, subscription_key: 'key-of-other-001' };
    await call(at.app, '/api/add-install', other, query);
    expect((await asks('key-of-other-001')).status).toBe(403);
    expect((await asks('key-of-other-001', bearer(await trust(other)))).status).toBe(204);
    expect((await asks(KEY)).status).toBe(204);
  });
});

function hostHashOf(host: string): string {
  return new Bun.CryptoHasher('sha256').update(host).digest('hex');
}

test('a bot needs a host that is bound to the provider', async () => {
  const provider = await at.app.core.store.findProvider(at.own.code);
  if (provider === null) throw new Error('not there');
  for (const host of ['other.example.org', 'no host', '']) {
    const made = await addBot(at.app.core, provider, { host, name: 'bot' }, at.app.clock.nowMs());
    expect(made).toMatchObject({ says: 'malformed' });
  }
  await at.app.core.store.updateProvider(at.own.code, { suspendedAtMs: 1 }, ACT);
  expect((await fetches(`/sub/${KEY}`)).status).toBe(404);
});
