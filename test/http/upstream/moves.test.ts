/** Headers and lines by which a panel sends apps to another host, and answers that list servers. */

import { describe, expect, test } from 'bun:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { APP_MOVES } from '../../../src/core/app-moves.ts';
import { hostHash } from '../../../src/core/host-name.ts';
import { readPassPath } from '../../../src/core/key-path.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { call } from '../../support/app.ts';
import { answer, PANEL_HEADERS, SUBSCRIPTION } from '../../support/panel.ts';
import { bind } from '../../support/shop.ts';
import { digestToken } from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import { type Fronted, HOST, KEY, upstreamTo, useFronted } from '../../support/upstream.ts';

const front = useFronted();

/** The saved sightings, without their times. */
async function sightings({ app }: Fronted) {
  await app.core.store.saveFigures();
  const seen = await app.core.store.listSightings();
  return seen.map(({ kind, subject, count }) => `${kind} ${subject} ${count}`.replace('  ', ' '));
}

const sending =
  (headers: Readonly<Record<string, string>>, body: string | Uint8Array = SUBSCRIPTION) =>
  ({ send }: { send(bytes: Uint8Array): Promise<void> }) =>
    send(answer(200, body, { ...PANEL_HEADERS, ...headers }));

describe.each(APP_MOVES)('%s', (header) => {
  const isUrl = !header.endsWith('domain');
  const to = (host: string) => (isUrl ? `https://${host}/sub/x` : host);

  test('to a foreign host is dropped and noted; known devices get all else', async () => {
    const at = await front(sending({ [header]: to('evil.example') }));
    for (let n = 0; n < 2; n++) {
      const got = await at.get(`/sub/${KEY}`, 'a');
      expect([got.status, got.body, got.headers.has(header)]).toEqual([200, SUBSCRIPTION, false]);
      expect(got.headers.get('profile-title')).toBe(PANEL_HEADERS['Profile-Title']);
    }
    expect(await sightings(at)).toEqual([`dropped_header ${header} evil.example 2`]);
  });

  test('to an upstream, a binding or a host of ride.hosts passes', async () => {
    const hosts = ['second.example.org', 'bound.example.org', 'listed.example.org'];
    let value = '';
    const at = await front(({ send }) =>
      send(answer(200, SUBSCRIPTION, { ...PANEL_HEADERS, [header]: value })),
    );
    const [own] = at.app.settings.gateUpstreams;
    at.app.settings.gateUpstreams = [
      ...(own === undefined ? [] : [own]),
      { ...upstreamTo('http://127.0.0.1:1', at.own.code), host: 'second.example.org' },
    ];
    at.app.settings.rideHosts = ['listed.example.org'];
    await bind(at.app, at.own, hostHash('bound.example.org'));
    for (const host of [HOST, ...hosts]) {
      value = to(host);
      expect((await at.get(`/sub/${KEY}`, 'a')).headers.get(header)).toBe(value);
    }
    expect(await sightings(at)).toEqual([]);
    const { json } = await call(at.app, '/api/list-domain', at.own);
    const hash = hostHash('bound.example.org');
    const bound = json.data.find((one: { domain_hash: string }) => one.domain_hash === hash);
    await call(at.app, '/api/delete-domain', at.own, { id: bound.id });
    value = to('bound.example.org');
    expect((await at.get(`/sub/${KEY}`, 'a')).headers.has(header)).toBe(false);
  });
});

test('a name with a prefix is dropped too: some apps read its end', async () => {
  const at = await front(sending({ 'A-New-Url': 'https://evil.example/' }));
  expect((await at.get(`/sub/${KEY}`, 'a')).headers.has('a-new-url')).toBe(false);
  expect(await sightings(at)).toEqual(['dropped_header a-new-url evil.example 1']);
});

test('a value in base64, in other letters, or with several hosts is read as apps read it', async () => {
  let value = '';
  const at = await front(({ send }) =>
    send(answer(200, SUBSCRIPTION, { ...PANEL_HEADERS, 'New-Domain': value })),
  );
  const passes = async (text: string) => {
    value = text;
    return (await at.get(`/sub/${KEY}`, 'a')).headers.has('new-domain');
  };
  const base64 = (text: string) => `base64:${Buffer.from(text).toString('base64')}`;
  expect(await passes(HOST.toUpperCase())).toBe(true);
  expect(await passes(base64(HOST))).toBe(true);
  expect(await passes(base64('evil.example'))).toBe(false);
  expect(await passes(`${HOST}, evil.example`)).toBe(false);
  expect(await passes(`https://${HOST}@evil.example/`)).toBe(false);
});

test('the drop is logged once a day and host', async () => {
  const at = await front(sending({ 'Fallback-Url': 'https://evil.example/KEY' }));
  const lines = () => at.app.logLines.filter((line) => line.includes('upstream_header_dropped'));
  for (let n = 0; n < 3; n++) await at.get(`/sub/${KEY}`, 'a');
  expect(lines()).toHaveLength(1);
  expect(lines()[0]).toContain('evil.example');
  expect(lines()[0]).not.toContain('KEY');
  at.app.clock.advance(86_400_000);
  await at.get(`/sub/${KEY}`, 'a');
  expect(lines()).toHaveLength(2);
});

test('the header that changes all HWIDs passes, and is noted', async () => {
  const at = await front(sending({ 'Subscription-Alternative-Hwid-Enabled': '1' }));
  const got = await at.get(`/sub/${KEY}`, 'a');
  expect(got.headers.get('subscription-alternative-hwid-enabled')).toBe('1');
  expect(await sightings(at)).toEqual(['alternative_hwid 1']);
});

const MOVING = '#new-url: https://evil.example/KEY\nvless://a@node.example.com:1#one\n';

test.each([
  ['plain', {}, MOVING],
  ['base64', {}, Buffer.from(MOVING).toString('base64')],
  ['gzip', { 'Content-Encoding': 'gzip' }, gzipSync(MOVING)],
  ['deflate', { 'Content-Encoding': 'deflate' }, deflateSync(MOVING)],
  ['br', { 'Content-Encoding': 'br' }, brotliCompressSync(MOVING)],
] as [string, Record<string, string>, string | Uint8Array][])(
  'a line of a body that sends apps away passes, and is noted: %s',
  async (_, headers, body) => {
    const at = await front(sending(headers, body));
    const got = await at.get(`/sub/${KEY}`, 'a', { 'Accept-Encoding': '*' });
    expect(Buffer.from(got.body, 'latin1').equals(Buffer.from(body))).toBe(true);
    await until('a sighting', async () => (await sightings(at)).length > 0);
    expect(await sightings(at)).toEqual(['moving_line new-url evil.example 1']);
  },
);

describe('pages that list servers', () => {
  const page = `<ul>${'<li>vless://u@node.example.com:443#one</li>'.repeat(3)}<li>trojan://p@n.example:1</li></ul>`;
  const html = { 'Content-Type': 'text/html; charset=utf-8' };
  const asBrowser = { Accept: 'text/html', 'Accept-Encoding': '*' };
  const readPath = (text: string) => {
    const read = readPassPath(text);
    if (isRefused(read)) throw new Error(read.detail);
    return read;
  };

  test.each([
    ['plain', {}, page],
    ['gzip', { 'Content-Encoding': 'gzip' }, gzipSync(page)],
  ] as [string, Record<string, string>, string | Uint8Array][])(
    'a page that browsers = "pass" shows is counted and unchanged: %s',
    async (_, headers, body) => {
      const at = await front(({ send }) => send(answer(200, body, { ...html, ...headers })), {
        browsers: 'pass',
      });
      const got = await at.get(`/sub/${KEY}`, null, asBrowser);
      expect(got.status).toBe(200);
      expect(Buffer.from(got.body, 'latin1').equals(Buffer.from(body))).toBe(true);
      await until('a sighting', async () => (await sightings(at)).length > 0);
      expect(await sightings(at)).toEqual([
        'page_with_servers trojan 1',
        'page_with_servers vless 3',
      ]);
      expect(await at.links()).toEqual([]);
    },
  );

  test('the page of a token that no secret proves is counted too', async () => {
    const at = await front(({ send }) => send(answer(200, page, html)), {
      browsers: 'pass',
      key: 'marzban',
    });
    const got = await at.get(`/sub/${digestToken('anna,1760000000')}`, null, asBrowser);
    expect([got.status, got.body]).toEqual([200, page]);
    await until('a sighting', async () => (await sightings(at)).length > 0);
    expect(await sightings(at)).toEqual([
      'page_with_servers trojan 1',
      'page_with_servers vless 3',
    ]);
  });

  test('a large page that comes in pieces passes whole', async () => {
    const pieces = Array.from(
      { length: 40 },
      (_, n) => `${'x'.repeat(16_384)} vless://a@b${n}:1\n`,
    );
    const length = String(pieces.join('').length);
    const at = await front(
      async ({ send }) => {
        await send(
          `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${length}\r\n\r\n`,
        );
        for (const piece of pieces) await send(piece);
      },
      { browsers: 'pass' },
    );
    const got = await at.get(`/sub/${KEY}`, null, asBrowser);
    expect([got.isWhole, got.body === pieces.join('')]).toEqual([true, true]);
    await until('a sighting', async () => (await sightings(at)).length > 0);
    expect(await sightings(at)).toEqual(['page_with_servers vless 40']);
  });

  test('an answer at a path of pass_paths is counted; a script is not a server', async () => {
    const at = await front(
      ({ send, target }) =>
        send(
          target.startsWith('/CL/api/')
            ? answer(200, JSON.stringify({ link: 'vmess://abc' }), {
                'Content-Type': 'application/json',
              })
            : answer(200, 'let a = "wss://n.example"', { 'Content-Type': 'text/javascript' }),
        ),
      { passPaths: [readPath('/CL/api/*'), readPath('/assets/*')] },
    );
    await at.get('/assets/a.js', null);
    await at.get('/CL/api/v2/user/all-configs/', null);
    await until('a sighting', async () => (await sightings(at)).length > 0);
    expect(await sightings(at)).toEqual(['pass_path_with_servers vmess 1']);
  });
});
