/**
 * Links that a bot makes, with codes, before a panel that knows keys: which link counts, by the
 * form of address that the bot hands out.
 */

import { afterEach, expect, test } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';
import { parseTrustedProxies } from '../../../src/http/request/address.ts';
import { servesStrangers } from '../../../src/http/upstream/new-links.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { ACT } from '../../support/actor.ts';
import { call } from '../../support/app.ts';
import { answer, PANEL_HEADERS, type PanelCall, SUBSCRIPTION } from '../../support/panel.ts';
import {
  exchange,
  type Fronted,
  HOST,
  KEY,
  keyPath,
  startFronted,
} from '../../support/upstream.ts';

const CODE = 'BotLink00001';
const OTHER = 'BotLink00002';

let at: Fronted;
afterEach(() => at.stop());

/** A panel that serves each key, behind an upstream whose own links have the limit 3. */
async function start(more: Partial<Upstream> = {}): Promise<void> {
  const trustedProxies = parseTrustedProxies(['127.0.0.1']);
  const gateKeyPaths = [keyPath('/sub/{key}')];
  at = await startFronted(
    undefined,
    { defaultLimit: 3, ...more },
    { trustedProxies, gateKeyPaths },
  );
}

/** The bot's call `add-install`. */
async function addLink(code: string, limit: number, key?: string): Promise<number> {
  const query = { install_code: code, install_limit: limit, ...(key && { subscription_key: key }) };
  const { json } = await call(at.app, '/api/add-install', at.own, query);
  return json.id;
}

const statusOf = async (path: string, hwid: string) => (await at.get(path, hwid)).status;

/** Fetches an address with four phones, and returns the answers. */
async function fourPhones(path: string): Promise<number[]> {
  const got: number[] = [];
  for (const phone of ['p1', 'p2', 'p3', 'p4']) got.push(await statusOf(path, phone));
  return got;
}

/** All links, as `code: devices/limit`; those of the proxy have no code of the bot's. */
async function links(): Promise<string[]> {
  const found = await at.app.core.store.listLinks({
    providerCode: at.own.code,
    isFull: false,
    status: null,
    countMax: 100,
  });
  return found
    .map(({ installCode, deviceCount, installLimit }) => {
      const name = installCode.startsWith('BotLink') ? installCode : 'made';
      return `${name}: ${deviceCount}/${installLimit}`;
    })
    .sort();
}

const keyOwner = async (key: string) => {
  const found = await at.app.core.store.findLinksByKey(subscriptionKeyHash(key));
  return found.map(({ installCode }) => (installCode.startsWith('BotLink') ? installCode : 'made'));
};

const waiting = async () => {
  const [link] = await at.app.core.store.findLinksByKey(subscriptionKeyHash(KEY));
  const provider = await at.app.core.store.findProvider(at.own.code);
  return at.app.core.store.listTies(provider?.id ?? link?.providerId ?? 0, 'waits', {
    afterId: 0,
    countMax: 10,
  });
};

/** Answers to two phones within the limit and two beyond it. */
const TWO_OF_FOUR = [200, 200, 404, 404];
const THREE_OF_FOUR = [200, 200, 200, 404];

test.each<[string, string, Partial<Upstream>]>([
  ['URL?installid=CODE', `/sub/${KEY}?installid=${CODE}`, {}],
  ['/sub/CODE', `/sub/${CODE}`, { codesAsKeys: true }],
  [
    '/subscription/CODE',
    `/subscription/${CODE}`,
    {
      codesAsKeys: true,
      keyPaths: [{ text: '/subscription/{key}', segments: ['subscription', null] }],
    },
  ],
])('%s: the link of the code counts', async (_form, path, more) => {
  await start(more);
  await addLink(CODE, 2);
  expect(await fourPhones(path)).toEqual(TWO_OF_FOUR);
  expect(await links()).toEqual([`${CODE}: 2/2`]);
  const key = path.includes(KEY) ? KEY : CODE;
  expect(await keyOwner(key)).toEqual([CODE]);
  expect(at.panel.calls.filter(({ target }) => target.includes('installid'))).toEqual([]);
});

test('an own key with subscription_key: its link counts', async () => {
  await start();
  await addLink(CODE, 2, KEY);
  expect(await fourPhones(`/sub/${KEY}`)).toEqual(TWO_OF_FOUR);
  expect(await links()).toEqual([`${CODE}: 2/2`]);
});

test('URL#Title?installid=CODE: a fragment reaches no server, so the proxy makes a link', async () => {
  await start();
  await addLink(CODE, 2);
  expect(await fourPhones(`/sub/${KEY}`)).toEqual(THREE_OF_FOUR);
  expect(await links()).toEqual([`${CODE}: 0/2`, 'made: 3/3']);
});

test('a plain key of the panel, and no link of the bot: the proxy makes a link', async () => {
  await start();
  expect(await fourPhones(`/sub/${KEY}`)).toEqual(THREE_OF_FOUR);
  expect(await links()).toEqual(['made: 3/3']);
});

test('a code is no key unless the upstream says so', async () => {
  await start();
  await addLink(CODE, 2);
  expect(await fourPhones(`/sub/${CODE}`)).toEqual(THREE_OF_FOUR);
  expect(await links()).toEqual([`${CODE}: 0/2`, 'made: 3/3']);
});

test('a link that has the key wins over the one whose code it is', async () => {
  await start({ codesAsKeys: true });
  await addLink(CODE, 2);
  await addLink(OTHER, 1, CODE);
  expect(await fourPhones(`/sub/${CODE}`)).toEqual([200, 404, 404, 404]);
  expect(await links()).toEqual([`${CODE}: 0/2`, `${OTHER}: 1/1`]);
});

test('a code is no key of a link that has another one, nor of one that ended', async () => {
  await start({ codesAsKeys: true });
  await addLink(CODE, 2, KEY);
  expect(await statusOf(`/sub/${CODE}`, 'p1')).toBe(200);
  expect(await links()).toEqual([`${CODE}: 0/2`, 'made: 1/3']);
  const id = await addLink(OTHER, 2);
  await call(at.app, '/api/remove-install', at.own, { id });
  expect(await statusOf(`/sub/${OTHER}`, 'p1')).toBe(404);
});

test('after one fetch with the code the key alone is enough', async () => {
  await start();
  await addLink(CODE, 2);
  await statusOf(`/sub/${KEY}?installid=${CODE}`, 'p1');
  expect(await fourPhones(`/sub/${KEY}`)).toEqual(TWO_OF_FOUR);
  expect(await links()).toEqual([`${CODE}: 2/2`]);
});

test('a phone that has its slot ties the key too', async () => {
  await start();
  await addLink(CODE, 2);
  await call(at.app, '/install', null, {
    id: hostHash(HOST),
    installid: CODE,
    hwid: 'p1',
  });
  expect(await statusOf(`/sub/${KEY}?installid=${CODE}`, 'p1')).toBe(200);
  expect(await keyOwner(KEY)).toEqual([CODE]);
});

test('one fetch without the code no longer parts them: the made link ends', async () => {
  await start();
  await addLink(CODE, 2);
  await statusOf(`/sub/${KEY}`, 'p1');
  expect(await links()).toEqual([`${CODE}: 0/2`, 'made: 1/3']);
  // Its only device asks.
  await statusOf(`/sub/${KEY}?installid=${CODE}`, 'p1');
  expect(await links()).toEqual([`${CODE}: 1/2`]);
  expect(await fourPhones(`/sub/${KEY}`)).toEqual(TWO_OF_FOUR);
});

test('a made link with devices of others waits for the provider', async () => {
  await start();
  await addLink(CODE, 2);
  await statusOf(`/sub/${KEY}`, 'p1');
  await statusOf(`/sub/${KEY}`, 'p2');
  await statusOf(`/sub/${KEY}?installid=${CODE}`, 'p1');
  expect(await links()).toEqual([`${CODE}: 0/2`, 'made: 2/3']);
  expect(await waiting()).toMatchObject([{ state: 'waits', movingCount: 2, leftCount: 0 }]);
});

test('apps without a HWID keep the slot that they share when their link is joined, and after', async () => {
  await start();
  await call(at.app, '/api/policy', at.own, { without_hwid: 'count' });
  await addLink(CODE, 1);
  const share = async () => (await at.get(`/sub/${KEY}`, null)).status;
  expect(await share()).toBe(200);
  expect(await links()).toEqual([`${CODE}: 0/1`, 'made: 1/3']);
  const { store } = at.app.core;
  const providerId = (await store.findProvider(at.own.code))?.id ?? 0;
  const named = { installCode: CODE, installId: null };
  expect(await store.giveKey(providerId, named, subscriptionKeyHash(KEY), ACT)).toMatchObject({
    done: 'tied',
  });
  expect(await share()).toBe(200);
  expect(await links()).toEqual([`${CODE}: 1/1`]);
  const [tied] = await store.listTies(providerId, 'tied', { afterId: 0, countMax: 9 });
  expect(await store.undoTie(providerId, tied?.id ?? 0, ACT)).toEqual({ done: 'undone' });
  expect(await share()).toBe(200);
  expect(await links()).toEqual([`${CODE}: 0/1`, 'made: 1/3']);
});

test('a full link waits: no phone loses its slot by a fetch', async () => {
  await start();
  await addLink(CODE, 1);
  await statusOf(`/sub/first?installid=${CODE}`, 'p1');
  await call(at.app, '/api/update-install', at.own, { id: 1, subscription_key: '' });
  await statusOf(`/sub/${KEY}`, 'p2');
  expect(await statusOf(`/sub/${KEY}?installid=${CODE}`, 'p2')).toBe(200);
  expect(await keyOwner(KEY)).toEqual(['made']);
});

test('a code as a key: no installid leads elsewhere, and no other key becomes its own', async () => {
  await start({ codesAsKeys: true });
  await addLink(CODE, 2);
  await addLink(OTHER, 2);
  expect(await statusOf(`/sub/${CODE}?installid=${OTHER}`, 'thief')).toBe(200);
  expect(await links()).toEqual([`${CODE}: 1/2`, `${OTHER}: 0/2`]);
  expect(await keyOwner(CODE)).toEqual([CODE]);
  expect(await statusOf(`/sub/${KEY}?installid=${CODE}`, 'thief')).toBe(200);
  expect(await keyOwner(KEY)).toEqual([]);
  expect(await fourPhones(`/sub/${CODE}`)).toEqual([200, 404, 404, 404]);
});

test('what a panel refuses ties nothing, nor does HEAD, nor an app without a HWID', async () => {
  await start();
  await addLink(CODE, 2);
  const port = Number(new URL(at.app.url).port);
  await exchange(port, 'HEAD', `/sub/${KEY}?installid=${CODE}`, { 'x-hwid': 'p1' });
  await at.get(`/sub/${KEY}?installid=${CODE}`, null);
  await at.get(`/sub/00000000-0000-0000-0000-000000000000?installid=${CODE}`, 'p1');
  expect(await at.app.core.store.findLink(CODE)).toMatchObject({ hasSubscriptionKey: false });
});

test('a panel that serves made-up keys proves none: nothing is tied there', async () => {
  const serveAll = ({ send }: PanelCall) => send(answer(200, SUBSCRIPTION, PANEL_HEADERS));
  at = await startFronted(serveAll, {}, { servesStrangers });
  await addLink(CODE, 2);
  expect(await statusOf(`/sub/${KEY}?installid=${CODE}`, 'p1')).toBe(200);
  expect(await keyOwner(KEY)).toEqual([]);
});

test('before the provider switched them on nothing is tied, and each fetch waits', async () => {
  await start();
  await addLink(CODE, 2);
  const provider = await at.app.core.store.findProvider(at.own.code);
  await at.app.core.store.switchTies(provider?.id ?? 0, false, ACT);
  expect(await fourPhones(`/sub/${KEY}?installid=${CODE}`)).toEqual(TWO_OF_FOUR);
  expect(await keyOwner(KEY)).toEqual([]);
  expect(await waiting()).toMatchObject([{ formerId: null, movingCount: 0 }]);
});

test('the proxy and /gate name the same link, once a key is tied', async () => {
  await start();
  await addLink(CODE, 2);
  await statusOf(`/sub/${KEY}?installid=${CODE}`, 'p1');
  const ask = async (uri: string, hwid: string) => {
    const headers = { 'x-original-uri': uri, 'x-original-method': 'GET', 'x-hwid': hwid };
    const hosts = { 'x-forwarded-host': HOST, 'x-forwarded-for': '198.51.100.7' };
    return (await fetch(`${at.app.url}/gate`, { headers: { ...headers, ...hosts } })).status;
  };
  expect(await ask(`/sub/${KEY}`, 'p1')).toBe(204);
  expect(await ask(`/sub/${KEY}`, 'p2')).toBe(204);
  expect(await statusOf(`/sub/${KEY}`, 'p3')).toBe(404);
  expect(await ask(`/sub/${KEY}?installid=${CODE}`, 'p3')).toBe(403);
  // The gate ties nothing: it does not see what the panel answers.
  await addLink(OTHER, 2);
  await ask(`/sub/other-key?installid=${OTHER}`, 'p1');
  expect(await keyOwner('other-key')).toEqual([]);
});
