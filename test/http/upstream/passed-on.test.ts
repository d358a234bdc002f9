/** What of a request reaches the panel: headers, the query, and the host with its port. */

import { describe, expect, test } from 'bun:test';
import { exchange, type Fronted, HOST, KEY, useFronted } from '../../support/upstream.ts';

const front = useFronted();

const HIDDIFY_UUID = '3f1c2a5e-8b7d-4c21-9e0f-6a5b4c3d2e1f';

/** Headers by which some panel could take another user, and those that describe the device. */
const CREDENTIALS = {
  Cookie: 'session=a',
  Authorization: 'Basic YTo=',
  'Hiddify-API-Key': HIDDIFY_UUID,
  'X-Api-Key': 'b',
  'X-Auth-Token': 'c',
  'X-Next-Version': 'd',
  Referer: 'https://elsewhere.example/',
  Origin: 'https://elsewhere.example',
};
const OF_DEVICE = {
  'x-device-os': 'android',
  'x-device-model': 'Pixel',
  'x-device-locale': 'ru',
  'x-ver-os': '15',
  'x-app-version': '2.1',
  'x-hwid-extra': 'e',
  'user-agent': 'Happ/2.1',
  accept: 'text/plain',
  'accept-language': 'ru',
  'accept-encoding': 'br',
};
const namesIn = (head = '') =>
  head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(':', 1)[0]?.toLowerCase() ?? '');

describe('headers', () => {
  test('with a subscription only those of the device pass, also of a known device', async () => {
    const at = await front();
    for (let count = 0; count < 2; count++) {
      await at.get(`/sub/${KEY}`, 'a', { ...CREDENTIALS, ...OF_DEVICE });
      const names = namesIn(at.panel.calls.at(-1)?.head);
      for (const name of Object.keys(CREDENTIALS)) expect(names).not.toContain(name.toLowerCase());
      for (const name of Object.keys(OF_DEVICE)) expect(names).toContain(name);
    }
  });

  test('a browser that gets a page sends none either', async () => {
    const at = await front(undefined, { browsers: 'pass' });
    await at.get(`/sub/${KEY}`, null, { ...CREDENTIALS, Accept: 'text/html' });
    expect(namesIn(at.panel.calls.at(-1)?.head)).not.toContain('cookie');
  });

  test('all pass at paths that belong to no subscription', async () => {
    const assets = { segments: ['assets'], isFolder: true };
    const at = await front(undefined, { passPaths: [assets], otherPaths: 'pass' });
    for (const path of ['/assets/a.js', '/other']) {
      await at.get(path, null, CREDENTIALS);
      const names = namesIn(at.panel.calls.at(-1)?.head);
      for (const name of Object.keys(CREDENTIALS)) expect(names).toContain(name.toLowerCase());
    }
  });
});

describe('the query', () => {
  const ASKED = 'installid=Ab3dE5gH7jKm&format=info&Format=x&%66ormat=y&key=1&user=2&=z&&view=raw';

  test.each([
    ['3x-ui', `/sub/${KEY}`, '?format=info&Format=x&%66ormat=y&view=raw'],
    ['marzban', `/sub/${KEY}`, ''],
    ['remnawave', `/sub/${KEY}`, ''],
    ['', `/sub/${KEY}`, `?${ASKED.slice(ASKED.indexOf('&') + 1).replace('&&', '&')}`],
  ] as const)('before %p it has what that reads', async (panel, path, query) => {
    const at = await front(undefined, { panel });
    await at.get(path, 'a');
    await at.get(`${path}?${ASKED}`, 'a');
    expect(at.panel.calls.map(({ target }) => target)).toEqual([path, `${path}${query}`]);
  });

  test('before Hiddify it has what that reads', async () => {
    const at = await front(undefined, { key: 'hiddify' });
    await at.get(`/sub/${HIDDIFY_UUID}/sub?asn=X&base64=true&uuid=other&fragment=1-2`, 'a');
    expect(at.panel.calls[0]?.target).toBe(
      `/sub/${HIDDIFY_UUID}/sub?asn=X&base64=true&fragment=1-2`,
    );
  });

  test('passes as it is at other paths', async () => {
    const at = await front(undefined, { panel: 'remnawave', otherPaths: 'pass' });
    await at.get('/other?a=1', null);
    expect(at.panel.calls[0]?.target).toBe('/other?a=1');
  });
});

describe('the port of the host', () => {
  const headerIn = (at: Fronted, name: string) =>
    new RegExp(`^${name}: (.*)$`, 'im').exec(at.panel.calls.at(-1)?.head ?? '')?.[1]?.trim();

  test.each([
    [`${HOST}:2096`, `${HOST}:2096`],
    [`${HOST.toUpperCase()}.:2096`, `${HOST}:2096`],
    [HOST, HOST],
  ])('Host: %s', async (host, passed) => {
    const at = await front();
    const port = Number(new URL(at.app.url).port);
    const got = await exchange(port, 'GET', `/sub/${KEY}`, { Host: host, 'x-hwid': 'a' });
    expect(got.status).toBe(200);
    expect([headerIn(at, 'Host'), headerIn(at, 'X-Forwarded-Host')]).toEqual([passed, passed]);
  });

  test('stays in the forwarded host where the panel gets the host of its URL', async () => {
    const at = await front(undefined, { hostHeader: 'upstream' });
    const port = Number(new URL(at.app.url).port);
    await exchange(port, 'GET', `/sub/${KEY}`, { Host: `${HOST}:2096`, 'x-hwid': 'a' });
    const own = new URL(at.panel.url).host;
    expect([headerIn(at, 'Host'), headerIn(at, 'X-Forwarded-Host')]).toEqual([
      ...[own, `${HOST}:2096`],
    ]);
  });
});
