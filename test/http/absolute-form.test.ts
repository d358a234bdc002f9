/**
 * A request whose target is a whole URL (RFC 9112, absolute-form) is answered as one with the path
 * alone, by the `Host` header. A target of another form is refused.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { type Fronted, HOST, KEY, sendRaw, startFronted } from '../support/upstream.ts';

let fronted: Fronted;
beforeEach(async () => {
  fronted = await startFronted();
});
afterEach(() => fronted.stop());

function ask(target: string, host: string | null, headers: Record<string, string> = {}) {
  const all = { ...(host !== null && { Host: host }), Connection: 'close', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const port = Number(new URL(fronted.app.url).port);
  return sendRaw(port, `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

async function facts(target: string, host: string, headers: Record<string, string> = {}) {
  const { status, body, headers: got } = await ask(target, host, headers);
  return { status, body, detail: got.get('x-error-detail') };
}

const OWN = 'gatepost.example.org';
const FORMS = [
  ['http', (host: string, path: string) => `http://${host}${path}`],
  ['https with a port', (host: string, path: string) => `https://${host}:8443${path}`],
  ['upper case', (host: string, path: string) => `HTTP://${host.toUpperCase()}${path}`],
] as const;

describe.each(FORMS)('%s', (_, form) => {
  test.each([
    '/api/list-install?provider_code=x',
    '/device/inbox',
    '/install?id=1',
    '/openapi.json',
    '/api/nothing',
    '/elsewhere',
    '//api//list-install/',
  ])('%s is answered as by its path alone', async (path) => {
    expect(await facts(form(OWN, path), OWN)).toEqual(await facts(path, OWN));
  });

  test('the gate answers as by its path alone', async () => {
    const { settings } = fronted.app;
    settings.trustedProxies = parseTrustedProxies(['127.0.0.1']);
    const original = {
      'X-Original-URL': `https://${HOST}/sub/${KEY}`,
      'X-Original-Method': 'GET',
      'X-HWID': 'phone',
    };
    const plain = await facts('/gate', OWN, original);
    expect(await facts(form(OWN, '/gate'), OWN, original)).toEqual(plain);
  });

  test('a panel gets the path alone, and the device its slot', async () => {
    const got = await ask(form(HOST, `/sub/${KEY}`), HOST, { 'X-HWID': 'phone' });
    expect(got.status).toBe(200);
    expect(fronted.panel.calls.map(({ target }) => target)).toEqual([`/sub/${KEY}`]);
    expect(await fronted.links()).toMatchObject([{ count: 1 }]);
  });
});

test('a proxy that tells the gate a whole URL as the URI is refused', async () => {
  fronted.app.settings.trustedProxies = parseTrustedProxies(['127.0.0.1']);
  const original = { 'X-Original-URI': `http://${HOST}/sub/${KEY}`, 'X-HWID': 'phone' };
  expect(await facts('/gate', OWN, original)).toMatchObject({
    status: 403,
    detail: 'the URI of the request is one that servers read differently',
  });
});

test('the host of a target is none that counts: no panel is reached past Host', async () => {
  const got = await ask(`http://${HOST}/sub/${KEY}`, OWN, { 'X-HWID': 'phone' });
  expect(got.status).toBe(404);
  expect(fronted.panel.calls).toEqual([]);
});

test.each([
  ['without Host', 'http://x.example/api/list-install', null],
  ['another scheme', 'ftp://x.example/api/list-install', OWN],
  ['no path', 'api/list-install', OWN],
  ['asterisk', '*', OWN],
])('a target is refused: %s', async (_, target, host) => {
  expect((await ask(target, host)).status).toBe(400);
});
