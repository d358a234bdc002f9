/** A panel that compresses for all: an app that takes no encoding gets the answer decoded. */

import { afterEach, describe, expect, test } from 'bun:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { answer, PANEL_HEADERS, type PanelCall } from '../../support/panel.ts';
import { digestToken } from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import {
  exchange,
  type Fronted,
  HOST,
  KEY,
  sendRaw,
  startFronted,
} from '../../support/upstream.ts';

let at: Fronted | null = null;
afterEach(async () => {
  await at?.stop();
  at = null;
});

async function front(...from: Parameters<typeof startFronted>): Promise<Fronted> {
  at = await startFronted(...from);
  return at;
}

const LINKS = Array.from({ length: 300 }, (_, n) => `vless://user@${n}.example:443#${n}\n`).join(
  '',
);
const ENCODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  zstd: zstdCompressSync,
};
type Coding = keyof typeof ENCODERS;
const CODINGS = Object.keys(ENCODERS) as Coding[];

/** An answer as a panel that compresses for all gives it. */
const encoded = (coding: Coding, body: string | Uint8Array = LINKS, more = {}) =>
  answer(200, ENCODERS[coding](body), { ...PANEL_HEADERS, 'Content-Encoding': coding, ...more });

const OF_ENCODED = {
  ETag: '"v1"',
  'Accept-Ranges': 'bytes',
  'Content-MD5': 'x',
  Digest: 'x',
  'Content-Digest': 'x',
  'Repr-Digest': 'x',
  Vary: 'User-Agent',
};

const NONE: Record<string, string>[] = [
  {},
  { 'Accept-Encoding': '' },
  { 'Accept-Encoding': 'identity' },
  { 'Accept-Encoding': 'compress' },
  { 'Accept-Encoding': 'gzip;q=0, br;q=0.0, deflate; q=0, zstd;q=0' },
  { 'Accept-Encoding': '*;q=0' },
];

describe.each(CODINGS)('%s', (coding) => {
  test('is decoded for an app that takes no encoding', async () => {
    const site = await front(({ send }) => send(encoded(coding, LINKS, OF_ENCODED)));
    for (const accepts of NONE) {
      const { body, headers, isWhole, status } = await site.get(`/sub/${KEY}`, 'a', accepts);
      expect([status, isWhole, body === LINKS]).toEqual([200, true, true]);
      expect(headers.get('content-length')).toBe(String(LINKS.length));
      expect(headers.get('etag')).toBe('W/"v1"');
      expect(headers.get('vary')?.toLowerCase()).toContain('user-agent, accept-encoding');
      const gone = ['content-encoding', 'accept-ranges', 'content-md5', 'digest'];
      const left = [...gone, 'content-digest', 'repr-digest'].filter((name) => headers.has(name));
      expect(left).toEqual([]);
      expect(headers.get('profile-title')).toBe(PANEL_HEADERS['Profile-Title']);
    }
    expect(await site.links()).toMatchObject([{ count: 1 }]);
  });

  test('keeps its bytes for an app that takes it', async () => {
    const whole = ENCODERS[coding](LINKS);
    const site = await front(({ send }) => send(encoded(coding, LINKS, OF_ENCODED)));
    const name = coding === 'x-gzip' ? 'gzip' : coding;
    for (const accepts of [name, `${name};q=0.1`, `identity, ${name.toUpperCase()}`, '*']) {
      const got = await site.get(`/sub/${KEY}`, 'a', { 'Accept-Encoding': accepts });
      expect(got.body === whole.toString('latin1')).toBe(true);
      expect(got.headers.get('content-encoding')).toBe(coding);
      expect(got.headers.get('etag')).toBe('"v1"');
      expect(got.headers.get('vary')?.toLowerCase()).toContain('accept-encoding');
    }
  });

  test('an answer that comes slowly is decoded as it arrives', async () => {
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)));
    const whole = Buffer.from(random.toString('base64').repeat(9));
    const body = whole.toString();
    const bytes = ENCODERS[coding](whole);
    const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\nContent-Length: ${bytes.length}\r\n`;
    const { promise: begun, resolve: onPart } = Promise.withResolvers<void>();
    const site = await front(async ({ send }) => {
      await send(`${head}ETag: W/"v1"\r\nSubscription-Userinfo: total=1\r\n\r\n`);
      const half = Math.ceil(bytes.length * 0.6);
      await send(bytes.subarray(0, half));
      await begun;
      await send(bytes.subarray(half));
    });
    const port = Number(new URL(site.app.url).port);
    const question = `GET /sub/${KEY} HTTP/1.1\r\nHost: ${HOST}\r\nX-HWID: a\r\nConnection: close\r\n\r\n`;
    const got = await sendRaw(port, question, false, () => onPart());
    expect([got.status, got.isWhole, got.body === body]).toEqual([200, true, true]);
    expect(got.headers.get('etag')).toBe('W/"v1"');
  });

  test('a bomb ends at 100 to 1, not at its length', async () => {
    const site = await front(({ send }) => send(encoded(coding, Buffer.alloc(10_000_000))));
    const got = await site.get(`/sub/${KEY}`, 'a');
    expect(got.isWhole && got.status === 200).toBe(false);
    expect(got.body.length).toBeLessThan(9_000_000);
    const failed = () => site.app.logLines.filter((line) => line.includes('upstream_failed'));
    expect(failed()).toHaveLength(1);
    expect(failed()[0]).toContain('"code":"DECODED"');
  });
});

test('the decoded bytes count in answer_bytes_max', async () => {
  const more = { answerBytesMax: LINKS.length - 1 };
  const site = await front(({ send }) => send(encoded('gzip')), more);
  expect((await site.get(`/sub/${KEY}`, 'a')).status).toBe(502);
  const [upstream] = site.app.settings.gateUpstreams;
  site.app.settings.gateUpstreams = [{ ...upstream, answerBytesMax: LINKS.length } as Upstream];
  expect((await site.get(`/sub/${KEY}`, 'a')).body).toBe(LINKS);
});

const BROKEN: readonly (readonly [string, Buffer])[] = [
  ['no gzip', Buffer.from(LINKS)],
  ['half of one', gzipSync(LINKS).subarray(0, -20)],
];

test.each(BROKEN)('%s is a fault of the panel', async (_, body) => {
  const headers = { ...PANEL_HEADERS, 'Content-Encoding': 'gzip' };
  const site = await front(({ send }) => send(answer(200, body, headers)));
  expect((await site.get(`/sub/${KEY}`, 'a')).status).toBe(502);
  const failed = site.app.logLines.filter((line) => line.includes('upstream_failed'));
  expect(failed).toHaveLength(1);
  expect(failed[0]).toContain('"code":"ENCODING"');
});

test('an unknown encoding, a part, and an answer without a body come as they are', async () => {
  const part = { ...PANEL_HEADERS, 'Content-Encoding': 'gzip', 'Content-Range': 'bytes 0-3/9' };
  const answers = [
    answer(200, 'odd', { ...PANEL_HEADERS, 'Content-Encoding': 'compress' }),
    answer(200, 'two', { ...PANEL_HEADERS, 'Content-Encoding': 'gzip, br' }),
    answer(206, 'part', part),
  ];
  const site = await front(({ send }) => send(answers.shift() ?? ''));
  await site.get(`/sub/${KEY}`, 'a');
  const got = await site.get(`/sub/${KEY}`, 'a');
  expect([got.body, got.headers.get('content-encoding')]).toEqual(['two', 'gzip, br']);
  const last = await site.get(`/sub/${KEY}`, 'a', { Range: 'bytes=0-3' });
  expect([last.status, last.body, last.headers.get('content-encoding')]).toEqual([
    ...[206, 'part', 'gzip'],
  ]);
});

test('HEAD and 304 have the headers of the decoded answer', async () => {
  const headers = { ...PANEL_HEADERS, ...OF_ENCODED, 'Content-Encoding': 'gzip' };
  const statuses = [200, 304, 304];
  const site = await front(({ send }) => {
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const status = statuses.shift() ?? 200;
    return status === 200
      ? send(answer(200, gzipSync(LINKS), headers))
      : send(`HTTP/1.1 304 Not Modified\r\n${head.join('')}\r\n`);
  });
  await site.get(`/sub/${KEY}`, 'a');
  const unchanged = await site.get(`/sub/${KEY}`, 'a', { 'If-None-Match': 'W/"v1"' });
  const port = Number(new URL(site.app.url).port);
  const head = await exchange(port, 'HEAD', `/sub/${KEY}`, { 'x-hwid': 'a' });
  for (const got of [unchanged, head]) {
    expect(got.headers.get('content-encoding')).toBeUndefined();
    expect(got.headers.get('etag')).toBe('W/"v1"');
    expect(got.body).toBe('');
  }
});

test('an app that leaves ends the question to the panel', async () => {
  const random = crypto.getRandomValues(new Uint8Array(60_000));
  const bytes = gzipSync(Buffer.concat(Array.from({ length: 30 }, () => random)));
  const calls: PanelCall[] = [];
  const site = await front(async (call) => {
    calls.push(call);
    const { send, socket } = call;
    await send('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nSubscription-Userinfo: a\r\n\r\n');
    for (let n = 0; !socket.destroyed && n < bytes.length; n += 10_000) {
      await send(bytes.subarray(n, n + 10_000));
    }
  });
  const leaving = new AbortController();
  const url = `${site.app.url}/sub/${KEY}`;
  const headers = { host: HOST, 'x-hwid': 'a', 'accept-encoding': 'identity' };
  const got = await fetch(url, { headers, signal: leaving.signal });
  const reader = got.body?.getReader();
  await reader?.read();
  leaving.abort();
  await until('the panel is left', async () => calls.at(-1)?.socket.destroyed === true);
  const failed = site.app.logLines.filter((line) => line.includes('upstream_failed'));
  expect(failed).toEqual([]);
});

test('a panel that breaks off is one fault, of the panel and not of the encoding', async () => {
  const random = gzipSync(crypto.getRandomValues(new Uint8Array(400_000)));
  const site = await front(async ({ send, socket }) => {
    await send(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${random.length}\r\n`);
    await send('Subscription-Userinfo: total=1\r\n\r\n');
    await send(random.subarray(0, 300_000));
    socket.destroy();
  });
  for (const _ of [1, 2]) {
    const { isWhole } = await site.get(`/sub/${KEY}`, 'a');
    expect(isWhole).toBe(false);
    site.app.clock.advance(60_000);
  }
  const failed = site.app.logLines.filter((line) => line.includes('upstream_failed'));
  expect(failed.map((line) => JSON.parse(line))).toMatchObject([
    ...[
      { code: 'CUT', count: 1 },
      { code: 'CUT', count: 1 },
    ],
  ]);
});

test('an API that compresses for all is read', async () => {
  const user = { response: { hwidDeviceLimit: 7 } };
  const headers = { 'content-encoding': 'gzip' };
  const api = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(gzipSync(JSON.stringify(user)), { headers }),
  });
  const site = await front(
    undefined,
    { limits: 'panel', panel: 'remnawave', panelUrl: api.url.origin, panelTokenFile: '/token' },
    { secretOf: () => 'token' },
  );
  await site.get(`/sub/${KEY}`, 'a');
  expect(await site.links()).toMatchObject([{ limit: 7 }]);
  await api.stop(true);
});

test('the user of an old token is read from a compressed answer', async () => {
  const info = JSON.stringify({ id: 7, username: 'anna' });
  const site = await front(
    ({ send, target }) =>
      send(target.endsWith('/info') ? encoded('gzip', info) : encoded('gzip', LINKS)),
    { key: 'pasarguard' },
  );
  const got = await site.get(`/sub/${digestToken('anna,1767225600')}`, 'a');
  expect([got.status, got.body]).toEqual([200, LINKS]);
  expect(await site.links()).toMatchObject([{ note: `${HOST} 7` }]);
});
