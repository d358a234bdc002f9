/** An IPv6 literal as the address of a panel, in each place where a URL is read. */

import { afterEach, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { hereInUrl } from '../../../src/base/whereabouts.ts';
import { baseUrlValue, outsideValue } from '../../../src/cli/values.ts';
import { baseUrl } from '../../../src/config/readers.ts';
import { Stage } from '../../../src/device-check/stage.ts';
import { lookAtApi } from '../../../src/http/upstream/panel-api.ts';
import { checkPanel } from '../../../src/http/upstream/panel-check.ts';
import { sourceOf } from '../../../src/http/upstream/panel-source.ts';
import { readPanelApi } from '../../../src/panel/panel-api.ts';
import { tokensOf } from '../../support/panel-api.ts';
import { READING } from '../../support/reading.ts';
import { KEY, startFronted, upstreamTo } from '../../support/upstream.ts';

/** Whether this machine has IPv6. */
const hasIt = await new Promise<boolean>((resolve) => {
  const server = createServer();
  server.on('error', () => resolve(false));
  server.listen(0, '::1', () => server.close(() => resolve(true)));
});
const testIt = test.skipIf(!hasIt);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A panel on `::1` alone, with an API; notes the hosts that are asked for. */
function startPanel() {
  const hosts: (string | null)[] = [];
  const server = Bun.serve({
    hostname: '::1',
    port: 0,
    fetch({ headers, url }) {
      hosts.push(headers.get('host'));
      const { pathname } = new URL(url);
      if (pathname === `/api/users/by-short-uuid/${KEY}`) {
        return Response.json({ response: { hwidDeviceLimit: 7 } });
      }
      if (pathname.startsWith('/api/users')) {
        return Response.json({ message: 'User not found' }, { status: 404 });
      }
      if (pathname.startsWith('/panel/api/'))
        return Response.json({ success: true, obj: [{ email: 'e', subId: 's1', enable: true }] });
      return pathname === `/sub/${KEY}`
        ? new Response('vless://a@b.example:1#c\n', { headers: { 'profile-title': 'x' } })
        : new Response('', { status: 404 });
    },
  });
  closers.push(() => server.stop(true));
  return { url: `http://[::1]:${server.port}`, port: Number(server.port), hosts };
}

testIt('the proxy asks its panel and the API there', async () => {
  const panel = startPanel();
  const api = { panelUrl: panel.url, panelTokenFile: '/token' };
  const fronted = await startFronted(
    undefined,
    { url: panel.url, limits: 'panel', panel: 'remnawave', hostHeader: 'upstream', ...api },
    { secretOf: () => 'token' },
  );
  closers.push(() => fronted.stop());
  const got = await fronted.get(`/sub/${KEY}`, 'a');
  expect([got.status, got.body]).toEqual([200, 'vless://a@b.example:1#c\n']);
  expect(await fronted.links()).toMatchObject([{ count: 1, limit: 7 }]);
  expect(new Set(panel.hosts)).toEqual(new Set([`[::1]:${panel.port}`]));
});

testIt('the doctor and the import reach it', async () => {
  const { port, url } = startPanel();
  const upstream = upstreamTo(url, 'EXAMPLE1', { panel: 'remnawave', panelTokenFile: '/t' });
  expect(await checkPanel(upstream, { host: '127.0.0.1', port: 1 })).toMatchObject({
    state: 'answers',
  });
  const source = sourceOf(upstream);
  const tokens = tokensOf(() => 'token');
  const look = source && (await lookAtApi(source, tokens, false));
  expect(look).toEqual({ code: null, admin: '' });
  const { rows } = await readPanelApi('3x-ui', {
    url: baseUrlValue(`${url}/`),
    token: 't',
    headers: {},
    callsPerSecondMax: 1e6,
    userAgent: 'test',
    ...READING,
    sleep: async () => {},
    onProgress: () => {},
  });
  expect(rows.get('clients')).toMatchObject([{ sub_id: 's1' }]);
  // A panel at the server's own address would be asked by itself for ever.
  for (const host of ['::1', '::', '127.0.0.1']) {
    expect(await checkPanel(upstream, { host, port })).toMatchObject({ state: 'own_address' });
  }
});

test('a server that listens on a global IPv6 address is its own panel there', async () => {
  const upstream = upstreamTo('http://[2001:db8::7]:2053', 'EXAMPLE1');
  const look = await checkPanel(upstream, { host: '2001:db8::7', port: 2053 });
  expect(look).toMatchObject({ state: 'own_address' });
});

testIt('device check listens there, and prints a URL', async () => {
  const stage = new Stage('::1', 0, 1);
  closers.push(() => stage.stop());
  expect(new URL(stage.url).hostname).toBe('[::1]');
});

test.each([
  ['http://[::1]:2053', 'http://[::1]:2053'],
  ['https://[2001:DB8::7]/base/', 'https://[2001:db8::7]/base'],
  ['http://[::ffff:127.0.0.1]:1', 'http://[::ffff:7f00:1]:1'],
])('%s is read', (given, read) => {
  expect(baseUrl(given)).toBe(read);
  expect(baseUrlValue(given)).toBe(read);
});

test.each(['http://::1:2053', 'http://[::1', 'http://[fe80::1%25eth0]:1', 'http://[::1]x:1'])(
  '%s is refused',
  (given) => {
    expect(() => baseUrl(given)).toThrow('is not an http or https URL');
    expect(() => baseUrlValue(given)).toThrow();
  },
);

test('an address is written with brackets in a URL', () => {
  const hosts = ['0.0.0.0', '::', '::1', '2001:db8::7', 'a.example'].map(hereInUrl);
  expect(hosts).toEqual(['127.0.0.1', '[::1]', '[::1]', '[2001:db8::7]', 'a.example']);
  const origins = outsideValue('2001:db8::7', outsideValue('[2001:db8::8]:8443'));
  expect(origins.map(({ origin }) => origin)).toEqual([
    ...['https://[2001:db8::8]:8443', 'https://[2001:db8::7]'],
  ]);
});
