/** Habits of real panels: refusals of their own, dropped connections, pages, and caches behind. */

import { describe, expect, test } from 'bun:test';
import { readPassPath } from '../../../src/core/key-path.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { answer, behaveWell, type PanelCall, SUBSCRIPTION } from '../../support/panel.ts';
import { digestToken } from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import {
  exchange,
  type Fronted,
  HOST,
  KEY,
  keyPath,
  sendRaw,
  useFronted,
} from '../../support/upstream.ts';

const front = useFronted();

const drop = ({ socket }: PanelCall) => void socket.destroy();
const BROWSER = { Accept: 'text/html,*/*' };
const failures = (at: Fronted) =>
  at.app.logLines.filter((line) => line.includes('upstream_failed'));

describe("a panel's own refusal by 2xx", () => {
  const refusing = (headers: Record<string, string>) => (call: PanelCall) =>
    call.send(answer(200, 'vless://0.0.0.0#Limit', headers));

  test.each([
    [{ 'X-Hwid-Max-Devices-Reached': 'true' }],
    [{ 'X-Hwid-Not-Supported': 'true' }],
    [{ 'x-hwid-max-devices-reached': '1', 'x-hwid-limit': 'true' }],
  ])('makes no link and takes no slot: %p', async (headers) => {
    const at = await front(refusing(headers));
    const got = await at.get(`/sub/${KEY}`, 'a');
    expect([got.status, got.body]).toEqual([200, 'vless://0.0.0.0#Limit']);
    for (const [name, value] of Object.entries(headers)) {
      expect(got.headers.get(name.toLowerCase())).toBe(value);
    }
    expect(got.headers.has('x-hwid-active')).toBe(false);
    expect(await at.links()).toEqual([]);
  });

  test('takes no slot on a link that is there, and the device is not seen', async () => {
    let headers: Record<string, string> = {};
    const at = await front(({ send }) => send(answer(200, SUBSCRIPTION, headers)));
    await at.get(`/sub/${KEY}`, 'a');
    const seenAtMs = at.app.clock.nowMs();
    headers = { 'X-Hwid-Max-Devices-Reached': 'true' };
    at.app.clock.advance(3 * 86_400_000);
    expect((await at.get(`/sub/${KEY}`, 'b')).status).toBe(200);
    expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
    const slots = (await at.app.core.store.findDevice('a'))?.installs;
    expect(slots?.map(({ lastSeenAtMs }) => lastSeenAtMs)).toEqual([seenAtMs]);
  });

  test.each([
    [{ 'x-hwid-limit': 'true' }],
    [{ 'x-hwid-active': 'true' }],
    [{ 'x-hwid-max-devices-reached': 'false' }],
  ])('is not what %p says', async (headers) => {
    const at = await front(refusing(headers));
    await at.get(`/sub/${KEY}`, 'a');
    expect(await at.links()).toMatchObject([{ count: 1 }]);
  });
});

describe('a connection that the panel drops', () => {
  test('for a key that no link has is a guess: refused, late beyond a number, no outage', async () => {
    const terms = { refusedStatus: 403, panel: 'remnawave' } as const;
    const at = await front(drop, terms, { authFailuresPerMinuteMax: 1 });
    const got = await at.get('/sub/guess-1', 'a');
    expect([got.status, got.body]).toEqual([
      403,
      'Subscription not found. Ask support for a new link.\n',
    ]);
    const late = at.get('/sub/guess-2', 'a');
    await until('the guess waits', () => at.app.clock.sleeperCount === 1);
    at.app.clock.advance(1_000);
    expect((await late).status).toBe(403);
    expect(await at.links()).toEqual([]);
    expect(failures(at)).toEqual([]);
  });

  test('for HEAD and for a page is a guess as well', async () => {
    const at = await front(drop, { browsers: 'pass', panel: 'remnawave' });
    const port = Number(new URL(at.app.url).port);
    expect((await exchange(port, 'HEAD', '/sub/guess-1', { 'x-hwid': 'a' })).status).toBe(404);
    expect((await at.get('/sub/guess-2', null, BROWSER)).status).toBe(404);
    expect(failures(at)).toEqual([]);
  });

  test('for a link that is there is an outage', async () => {
    let behave: (call: PanelCall) => Promise<void> | void = behaveWell;
    const at = await front((call) => behave(call), { browsers: 'pass', otherPaths: 'pass' });
    await at.get(`/sub/${KEY}`, 'a');
    behave = drop;
    expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(502);
    expect((await at.get(`/sub/${KEY}`, null, BROWSER)).status).toBe(502);
    expect((await at.get('/other', 'a')).status).toBe(502);
    expect(failures(at)).toHaveLength(1);
  });

  test('is an outage where none was accepted', async () => {
    const at = await front();
    await at.panel.stop();
    expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(502);
    expect(failures(at)).toHaveLength(1);
  });

  test('is a guess too where the panel had closed the one that was kept open', async () => {
    const at = await front((call) =>
      call.target === `/sub/${KEY}` ? behaveWell(call) : drop(call),
    );
    await at.get(`/sub/${KEY}`, 'a');
    expect((await at.get('/sub/guess-1', 'a')).status).toBe(404);
    expect(at.panel.calls).toHaveLength(3);
  });

  test('is an outage where the panel answered nothing in the last minute', async () => {
    let behave: (call: PanelCall) => Promise<void> | void = drop;
    const at = await front((call) => behave(call));
    const statusOf = async (path: string) => (await at.get(path, 'a')).status;
    expect(await statusOf('/sub/guess-1')).toBe(502);
    behave = ({ send }) => send(answer(404));
    expect(await statusOf('/sub/guess-2')).toBe(404);
    behave = drop;
    expect(failures(at)).toHaveLength(1);
    at.app.clock.advance(59_999);
    expect(await statusOf('/sub/guess-3')).toBe(404);
    expect(failures(at)).toHaveLength(1);
    at.app.clock.advance(1);
    expect(await statusOf('/sub/guess-4')).toBe(502);
    expect(failures(at)).toHaveLength(2);
    expect(await at.links()).toEqual([]);
  });

  test.each([
    ['own', { panel: 'pasarguard' }],
    ['placeholder', { placeholder: true }],
    ['panel', { refusedAs: 'panel', panel: 'marzban' }],
  ] as const)('is an outage for a token without a secret, refused as %s', async (_how, more) => {
    const at = await front(drop, { key: 'marzban', ...more });
    const got = await at.get(`/sub/${digestToken('anna,1767225600')}`, 'a');
    expect([got.status, got.body]).toEqual([502, 'the panel cannot be reached\n']);
    expect(failures(at)).toHaveLength(1);
  });

  test.each([
    ['remnawave', 404, 0],
    ['3x-ui', 502, 1],
    ['', 502, 1],
  ] as const)(
    'for a path that passes before %p is %i, with %i alerts',
    async (panel, status, alerts) => {
      const assets = { segments: ['assets'], isFolder: true };
      const at = await front(drop, { panel, passPaths: [assets], placeholder: true });
      const got = await at.get('/assets/index.css', null);
      expect([got.status, got.body]).toEqual([
        status,
        alerts ? 'the panel cannot be reached\n' : '',
      ]);
      expect(failures(at)).toHaveLength(alerts);
    },
  );
});

describe('guesses are late', () => {
  /** Expects that the second of two guesses waits. */
  async function expectLate(at: Fronted, ask: (guess: string) => Promise<{ status: number }>) {
    const { status } = await ask('guess-1');
    const late = ask('guess-2');
    await until('the guess waits', () => at.app.clock.sleeperCount === 1);
    expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
    at.app.clock.advance(1_000);
    expect((await late).status).toBe(status);
  }

  const knowing = (call: PanelCall) =>
    call.target === `/sub/${KEY}` ? behaveWell(call) : call.send(answer(404, 'nobody'));
  const limit = { authFailuresPerMinuteMax: 1 };

  test('of browsers that get the page of any key', async () => {
    const at = await front(knowing, { browsers: 'pass' }, limit);
    await expectLate(at, (guess) => at.get(`/sub/${guess}`, null, BROWSER));
  });

  test('of browsers on codes', async () => {
    const at = await front(knowing, { browsers: 'pass' }, limit);
    const ask = (guess: string) => at.get(`/page?installid=${guess}`, null, BROWSER);
    await expectLate(at, ask);
  });

  test('on paths that fit no template', async () => {
    const at = await front(knowing, { otherPaths: 'pass' }, limit);
    await expectLate(at, (guess) => at.get(`/key/${guess}`, null));
  });

  test('on paths that fit no template, of a panel that drops connections', async () => {
    const dropping = (call: PanelCall) =>
      call.target === `/sub/${KEY}` ? behaveWell(call) : drop(call);
    const at = await front(dropping, { otherPaths: 'pass' }, limit);
    await expectLate(at, (guess) => at.get(`/key/${guess}`, null));
  });

  test('but not the page of a link that is there', async () => {
    let status = 200;
    const behave = ({ send }: PanelCall) =>
      send(answer(status, status === 200 ? SUBSCRIPTION : ''));
    const at = await front(behave, { browsers: 'pass' }, limit);
    await at.get(`/sub/${KEY}`, 'a');
    status = 404;
    for (let count = 0; count < 3; count++) await at.get(`/sub/${KEY}`, null, BROWSER);
    expect(at.app.clock.sleeperCount).toBe(0);
  });
});

describe('paths that belong to no subscription', () => {
  const passing = (...texts: string[]) =>
    texts.map((text) => {
      const read = readPassPath(text);
      if (isRefused(read)) throw new Error(read.detail);
      return read;
    });
  /** As the page of Remnawave has them. */
  const PAGE = {
    keyPaths: [keyPath('/{key}')],
    passPaths: passing('/assets/*', '/locales/*', '/favicon.ico'),
  };

  test('pass for everybody, and make no link', async () => {
    const at = await front(behaveWell, PAGE);
    const port = Number(new URL(at.app.url).port);
    for (const path of ['/assets/a.js', '/assets/b/c.css?v=1', '/favicon.ico', '/locales/ru']) {
      for (const hwid of [null, 'a', 'two,of']) {
        const got = await at.get(path, hwid);
        expect([path, got.status, got.body]).toEqual([path, 200, SUBSCRIPTION]);
        expect(got.headers.has('vary')).toBe(false);
        expect(got.headers.has('cache-control')).toBe(false);
      }
    }
    expect((await exchange(port, 'HEAD', '/assets/a.js')).status).toBe(200);
    expect(await at.links()).toEqual([]);
    expect((await exchange(port, 'POST', '/assets/a.js')).status).toBe(405);
    expect((await at.get(`/${KEY}`, 'a')).status).toBe(200);
    expect(await at.links()).toMatchObject([{ count: 1 }]);
  });

  test.each([
    `/${KEY}`,
    `/${KEY}/clash`,
    `/Assets/a.js`,
    `/assets`,
    `/assets/`,
    `/assets/..%2f${KEY}`,
    `/assets/../${KEY}`,
    `/assets/%2e%2e/${KEY}`,
    `/assets//a.js`,
    `/assets/;/a.js`,
    `/assets\\..\\${KEY}`,
    '/favicon.ico/a',
    '/FAVICON.ICO',
  ])('are not %s', async (path) => {
    const at = await front(behaveWell, PAGE);
    expect((await at.get(path, null)).status).toBe(404);
    expect(at.panel.calls).toEqual([]);
  });

  test('go before a key only where its place is written out', async () => {
    const at = await front(behaveWell, {
      keyPaths: [keyPath('/sub/{key}'), keyPath('/{key}')],
      passPaths: passing('/sub/*', '/sub/info', '/x/*'),
    });
    for (const path of ['/sub/info', '/x/a']) expect((await at.get(path, null)).status).toBe(200);
    for (const path of [`/sub/${KEY}`, '/sub/info/a', '/sub/INFO', '/x']) {
      expect([path, (await at.get(path, null)).status]).toEqual([path, 404]);
    }
  });

  test('are no guesses, and an outage where the panel drops them', async () => {
    const at = await front(drop, PAGE, { authFailuresPerMinuteMax: 0 });
    expect((await at.get('/assets/a.js', null)).status).toBe(502);
    expect(at.app.clock.sleeperCount).toBe(0);
  });
});

describe('a cache that many share keeps no answer of one device', () => {
  const cases: [string, Record<string, string>, Record<string, string | undefined>][] = [
    ['says nothing', {}, { vary: 'x-hwid', 'cache-control': 'private' }],
    [
      'may be cached',
      { Vary: 'Accept-Encoding', 'Cache-Control': 'public, max-age=60, s-maxage=600' },
      { vary: 'Accept-Encoding, x-hwid', 'cache-control': 'max-age=60, private' },
    ],
    [
      'is private',
      { Vary: 'X-HWID, Accept', 'Cache-Control': 'Private, max-age=60' },
      { vary: 'X-HWID, Accept', 'cache-control': 'Private, max-age=60' },
    ],
    [
      'may not be stored',
      { Vary: '*', 'Cache-Control': 'no-store' },
      { vary: '*', 'cache-control': 'no-store' },
    ],
    [
      'is private in part',
      { 'Cache-Control': 'private="set-cookie"' },
      { 'cache-control': 'private="set-cookie", private' },
    ],
    [
      'is for a CDN',
      { 'CDN-Cache-Control': 'max-age=60', 'Surrogate-Control': 'max-age=60' },
      { 'cdn-cache-control': undefined, 'surrogate-control': undefined },
    ],
  ];

  test.each(cases)('where the panel’s answer %s', async (_what, headers, expected) => {
    const reply = answer(200, SUBSCRIPTION, headers);
    const at = await front(({ send }) => send(reply), { ride: 'off' });
    for (const hwid of ['a', 'a']) {
      const got = await at.get(`/sub/${KEY}`, hwid);
      const found = Object.keys(expected).map((name) => [name, got.headers.get(name)]);
      expect(Object.fromEntries(found)).toEqual(expected);
    }
  });

  test('nor the page that a browser gets, as apps would get it', async () => {
    const page = answer(200, '<h1>', { 'Content-Type': 'text/html' });
    const at = await front(({ send }) => send(page), { browsers: 'pass' });
    const got = await at.get(`/sub/${KEY}`, null, BROWSER);
    expect([got.headers.get('vary'), got.headers.get('cache-control')]).toEqual([
      'x-hwid',
      'private',
    ]);
  });

  test('and x-hwid-active stands there once, whatever the panel says', async () => {
    const headers = { 'X-Hwid-Active': 'true', 'x-hwid-active': 'true' };
    const at = await front(({ send }) => send(answer(200, SUBSCRIPTION, headers)));
    const got = await at.get(`/sub/${KEY}`, 'a');
    expect(got.headers.get('x-hwid-active')).toBe('true');
  });
});

test('a key in any script, short or long, has one link, whichever form of it a client sends', async () => {
  const at = await front(undefined, { defaultLimit: 1 });
  const forms = ['Ма́ша-й', 'Ма́ша-й'.normalize('NFD'), 'Ма́ша-й'.normalize('NFC')];
  expect(new Set(forms).size).toBe(2);
  const statuses: number[] = [];
  for (const [count, form] of forms.entries()) {
    const { status } = await at.get(`/sub/${encodeURIComponent(form)}`, `phone-${count}`);
    statuses.push(status);
  }
  expect(statuses).toEqual([200, 404, 404]);
  for (const key of ['7', 'ab', 'anna:phone']) {
    expect((await at.get(`/sub/${key}`, 'a')).status).toBe(200);
    expect((await at.get(`/sub/${key}`, 'b')).status).toBe(404);
  }
  expect((await at.get('/sub/anna%3Aphone', 'b')).status).toBe(404);
  // What a client did not encode goes on encoded, as it was judged; bytes of no letter do not.
  const encoded = `/sub/${encodeURIComponent('Оля')}`;
  expect((await at.get('/sub/Оля', 'a')).status).toBe(200);
  expect(at.panel.calls.at(-1)?.target).toBe(encoded);
  expect((await at.get(encoded, 'b')).status).toBe(404);
  const raw = `GET /sub/a\xff HTTP/1.1\r\nHost: ${HOST}\r\nx-hwid: a\r\nConnection: close\r\n\r\n`;
  const port = Number(new URL(at.app.url).port);
  expect((await sendRaw(port, Buffer.from(raw, 'latin1'))).status).toBe(404);
  expect(await at.links()).toHaveLength(5);
});
