/** From where the console is opened, and which pages may call it. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { isOwnPage, siteOf } from '../../../src/http/console/site.ts';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

const requestWith = (headers: Record<string, string>) =>
  new Request('http://localhost/console', { headers });

describe('a site is secure', () => {
  const here = { peer: '127.0.0.1', isTrusted: false, scheme: 'http' } as const;
  const proxied = { peer: '10.0.0.1', isTrusted: true, scheme: 'http' } as const;
  const ofProxy = { host: 'gate.example.com', 'x-forwarded-proto': 'https' };
  test.each([
    ['on loopback', { host: 'localhost:8080' }, here, 'http://localhost:8080'],
    ['on IPv6', { host: '[::1]:8080' }, { ...here, peer: '::1' }, 'http://[::1]:8080'],
    ['by our own HTTPS', { host: 'g.example' }, { ...here, scheme: 'https' }, 'https://g.example'],
    ['by a trusted proxy', ofProxy, proxied, 'https://gate.example.com'],
    ['not from elsewhere', { host: 'localhost' }, { ...here, peer: '192.0.2.1' }, null],
    ['not under another name', { host: 'gate.example.com' }, here, null],
    ['not under a name like loopback', { host: '127.0.0.1.example.com' }, here, null],
    ['not behind a proxy here', { host: 'localhost', 'x-forwarded-for': '1.2.3.4' }, here, null],
    ['not behind HTTP', { ...ofProxy, 'x-forwarded-proto': 'http' }, proxied, null],
    ['not by the word of a client', ofProxy, { ...proxied, isTrusted: false }, null],
    ['not without a name', {}, { ...here, scheme: 'https' }, null],
  ] as const)('%s', (_, headers, connection, origin) => {
    const request = requestWith(headers);
    expect(siteOf(request, connection)?.origin ?? null).toBe(origin);
  });
});

test.each([
  [{ origin: 'https://g.example' }, true],
  [{ origin: 'https://g.example', 'sec-fetch-site': 'same-origin' }, true],
  [{ origin: 'https://g.example', 'sec-fetch-site': 'cross-site' }, false],
  [{ origin: 'http://g.example' }, false],
  [{ origin: 'https://evil.example' }, false],
  [{ origin: 'null' }, false],
  [{}, false],
])('a page of its own: %p is %p', (headers, isOwn) => {
  const request = requestWith(headers);
  expect(isOwnPage(request, { host: 'g.example', origin: 'https://g.example' })).toBe(isOwn);
});

describe('over the socket', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
  });
  beforeEach(() => app.reset());
  afterAll(() => app.close());

  test('a call of another page changes nothing, with the cookie too', async () => {
    const { code, authKey: key } = await seedProvider(app);
    const own = new ConsoleBrowser(app.url);
    await own.get('session.key', { code, key });
    const draft = { at: code, limit: 1, note: '' };
    for (const origin of ['https://evil.example', undefined]) {
      expect(await own.call('links.add', draft, { origin })).toMatchObject({
        refused: 'other_origin',
      });
    }
    expect(await own.get('overview.read', { at: code })).toMatchObject({ linkCount: 0 });
  });

  test('over plain HTTP from elsewhere page and calls say what to do', async () => {
    const headers = { host: 'gate.example.com' };
    const page = await fetch(`${app.url}/console`, { headers });
    expect(page.status).toBe(403);
    expect(await page.text()).toContain('HTTPS');
    const call = await new ConsoleBrowser(app.url).call('session.me', {}, headers);
    expect(call).toMatchObject({ refused: 'insecure' });
  });

  test('cookies of the console open nothing of the API', async () => {
    const { code, authKey: key } = await seedProvider(app);
    const own = new ConsoleBrowser(app.url);
    await own.get('session.key', { code, key });
    const path = `${app.url}/api/list-install?provider_code=${code}`;
    const answer = await fetch(path, { headers: { cookie: own.cookie } });
    expect(await answer.json()).toMatchObject({ msg: 'Auth error' });
  });

  test('a body that does not fit is refused with the field', async () => {
    const own = new ConsoleBrowser(app.url);
    const misfit = await own.call('session.key', { code: 1 } as never);
    expect(misfit).toMatchObject({ refused: 'malformed', detail: expect.stringContaining('key') });
    const get = await fetch(`${app.url}/console/call/session.me`);
    expect(await get.json()).toMatchObject({ refused: 'wrong_method' });
  });
});
