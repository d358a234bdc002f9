/** Only a subscription proves a key, makes a link and gives a slot; the answer stays as it is. */

import { describe, expect, test } from 'bun:test';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { Decoder } from '../../../src/http/upstream/decoder.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { answer, behaveWell, PANEL_HEADERS, type PanelCall } from '../../support/panel.ts';
import { digestToken, macToken } from '../../support/signing-panel.ts';
import { until } from '../../support/until.ts';
import { HOST, KEY, sendRaw, useFronted } from '../../support/upstream.ts';

const front = useFronted();

const LINKS = 'vless://user@node.example.com:443#one\n'.repeat(3);
const BASE64 = Buffer.from(LINKS).toString('base64');
const CLASH = 'port: 1\nproxies:\n  - {name: a, type: ss}\n';
const NAMED = { 'Profile-Title': 'base64:U2hvcA==' };
const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const OF_FIVE: Partial<Upstream> = { panel: '3x-ui' };
const OF_NONE: Partial<Upstream> = {};
const ZEROS = Buffer.alloc(40_000_000);

type Row = readonly [
  what: string,
  reply: readonly [status: number, body: string | Uint8Array, headers?: Record<string, string>],
  /** Whether it gives a slot behind a panel with a name, and behind another one. */
  named: boolean,
  nameless: boolean,
];

/** A line of this table is one kind of answer. */
const ANSWERS: readonly Row[] = [
  ...['Subscription-Userinfo', 'Profile-Update-Interval', 'Profile-Title', 'Encrypt-Tag'].map(
    (name): Row => [`with ${name}`, [200, '\0\x01', { [name]: '1' }], true, true],
  ),
  ['with Content-Disposition', [200, 'x', { 'Content-Disposition': 'attachment' }], true, true],
  ['links', [200, LINKS], true, true],
  ['base64', [200, BASE64], true, true],
  ['Clash', [200, CLASH], true, true],
  ['sing-box', [200, '{"outbounds":[]}', JSON_TYPE], true, true],
  ['links by gzip', [200, gzipSync(LINKS), { 'Content-Encoding': 'gzip' }], true, true],
  ['base64 by brotli', [200, brotliCompressSync(BASE64), { 'Content-Encoding': 'br' }], true, true],
  ['Clash by deflate', [200, deflateSync(CLASH), { 'Content-Encoding': 'deflate' }], true, true],
  ['links by zstd', [200, zstdCompressSync(LINKS), { 'Content-Encoding': 'ZSTD' }], true, true],
  ['links that a script calls HTML', [200, LINKS, HTML], true, true],
  ['no content', [204, ''], false, false],
  ['no content, with a header', [204, '', NAMED], false, false],
  ['a reset', [205, ''], false, false],
  ['a part', [206, LINKS, { 'Content-Range': 'bytes 0-9/99', ...NAMED }], false, false],
  ['created', [201, LINKS, NAMED], false, false],
  ['an empty body', [200, ''], false, false],
  ['an empty body with a header', [200, '', NAMED], false, false],
  ['a page', [200, '<html>vless://</html>', HTML], false, false],
  ['a page with a header', [200, '<html>', { ...HTML, ...NAMED }], false, false],
  ['a page of words', [200, 'hello', HTML], false, false],
  ['words', [200, 'hello'], false, true],
  ['other JSON', [200, '{"username":"anna"}', JSON_TYPE], false, true],
  ['a bomb', [200, gzipSync(ZEROS), { 'Content-Encoding': 'gzip' }], false, true],
  [
    'a bomb by brotli',
    [200, brotliCompressSync(ZEROS.subarray(0, 9e6)), { 'Content-Encoding': 'br' }],
    false,
    true,
  ],
  ['an unknown encoding', [200, 'zzz', { 'Content-Encoding': 'compress' }], false, true],
  ['a broken encoding', [200, LINKS, { 'Content-Encoding': 'gzip' }], false, true],
];

test.each([
  ['a panel with a name', OF_FIVE, 2],
  ['a panel without', OF_NONE, 3],
] as const)('what gives a slot behind %s', async (_which, more, at) => {
  const site = await front(({ send, target }) => {
    const [, reply] = ANSWERS[Number(target.split('-')[1])] ?? [];
    const [status, body, headers] = reply ?? [404, ''];
    return send(answer(status, body, headers));
  }, more);
  let linkCount = 0;
  for (const [n, row] of ANSWERS.entries()) {
    const [what, [, body]] = row;
    const got = await site.get(`/sub/row-${n}`, 'a', { 'Accept-Encoding': '*' });
    const gives = row[at];
    if (gives) linkCount += 1;
    const isAsItIs = got.body === Buffer.from(body).toString('latin1');
    expect([what, got.status, isAsItIs, got.headers.get('x-hwid-active')]).toEqual(
      gives ? [what, 200, true, 'true'] : [what, 404, false, 'true'],
    );
    expect(await site.links()).toHaveLength(linkCount);
  }
});

test('a device with a slot gets every answer, on each kind of link', async () => {
  for (const more of [OF_FIVE, OF_NONE, { key: 'marzban' } as const]) {
    let behave: (call: PanelCall) => Promise<void> = behaveWell;
    const site = await front((call) => behave(call), more);
    const path = `/sub/${more.key ? digestToken('anna,1767225600') : KEY}`;
    expect((await site.get(path, 'a')).status).toBe(200);
    for (const [what, [status, body, headers]] of ANSWERS) {
      if (String(headers?.['Content-Encoding'] ?? '') !== '') continue;
      behave = ({ send }) => send(answer(status, body, headers));
      const got = await site.get(`${path}/info`, 'a');
      expect([what, got.status]).toEqual([what, status]);
    }
    expect(await site.links()).toMatchObject([{ count: 1 }]);
  }
});

describe.each([
  ['marzban', digestToken('anna,1767225600').slice(0, -10)],
  ['pasarguard', macToken('v3,7,1767225600').slice(0, -43)],
] as const)('a token of %s that only the panel proves', (key, signed) => {
  const forged = (n: number) =>
    `/sub/${signed}${String(n).padStart(key === 'marzban' ? 10 : 43, 'x')}`;

  test('is not proved by 204: made-up devices fill no link, and none of them is refused', async () => {
    const site = await front(({ send }) => send(answer(204)), { key, defaultLimit: 2 });
    for (let n = 0; n < 5; n++) {
      const got = await site.get(forged(n), `made-up-${n}`);
      expect([got.status, got.body]).toEqual([
        404,
        'Subscription not found. Ask support for a new link.\n',
      ]);
    }
    expect(await site.links()).toEqual([]);
  });

  test('is not proved by 204 on a link that is there: no slot, no fact, no refusal', async () => {
    let isGood = true;
    const site = await front((call) => (isGood ? behaveWell(call) : call.send(answer(204))), {
      key,
      defaultLimit: 2,
    });
    expect((await site.get(forged(0), 'own')).status).toBe(200);
    isGood = false;
    for (let n = 1; n < 4; n++)
      expect((await site.get(forged(n), `made-up-${n}`)).status).toBe(404);
    const names = { 'x-device-model': 'Changed', 'x-device-os': 'android' };
    expect((await site.get(forged(9), 'own', names)).status).toBe(204);
    expect(await site.links()).toMatchObject([{ count: 1 }]);
    const device = await site.app.core.store.findDevice('own');
    expect(JSON.stringify(device)).not.toContain('Changed');
    await site.app.core.store.saveFigures();
    const [link] = await site.app.core.store.listLinksOf(device?.installs[0] ? 1 : 1, {
      id: null,
      beforeId: null,
      countMax: 5,
    });
    expect(await site.app.core.store.listRefused(link?.id ?? 0)).toEqual([]);
  });
});

describe('a body that comes slowly', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ';
  const request = `GET /sub/${KEY} HTTP/1.1\r\nHost: ${HOST}\r\nx-hwid: a\r\nConnection: close\r\n\r\n`;

  test('goes out as soon as it decides', async () => {
    let finish = () => {};
    const rest = 'x'.repeat(100_000);
    const site = await front(async ({ send }) => {
      await send(`${HEAD}${LINKS.length + rest.length}\r\n\r\n${LINKS}`);
      finish = () => void send(rest);
    }, OF_FIVE);
    let begun = '';
    const port = Number(new URL(site.app.url).port);
    const got = sendRaw(port, request, false, (part) => {
      begun += part.toString('latin1');
    });
    await until('its beginning is there', () => begun.includes('vless://'));
    expect(await site.links()).toMatchObject([{ count: 1 }]);
    finish();
    expect(await got).toMatchObject({ status: 200, isWhole: true });
  });

  test('is waited for until it decides, and comes whole', async () => {
    const parts = ['vle', 'ss:/', `/${LINKS}`, 'y'.repeat(200_000)];
    let next = () => {};
    const length = parts.join('').length;
    const site = await front(async ({ send }) => {
      const left = [...parts];
      await send(`${HEAD}${length}\r\n\r\n${left.shift()}`);
      next = () => void send(left.shift() ?? '');
    }, OF_FIVE);
    const port = Number(new URL(site.app.url).port);
    const got = sendRaw(port, request);
    await until('it was asked', () => site.panel.calls.length === 1);
    next();
    expect(await site.links()).toEqual([]);
    next();
    await until('the link is made', async () => (await site.links()).length === 1);
    next();
    const { body, isWhole } = await got;
    expect([body === parts.join(''), isWhole]).toEqual([true, true]);
  });

  test('is refused when its first 64 KiB decide nothing', async () => {
    const site = await front(async ({ send }) => {
      await send(`${HEAD}9000000\r\n\r\n${'# nothing\n'.repeat(8_000)}`);
    }, OF_FIVE);
    expect((await site.get(`/sub/${KEY}`, 'a')).status).toBe(404);
    expect(await site.links()).toEqual([]);
  });

  test('that breaks off first is an outage', async () => {
    const site = await front(async ({ send, socket }) => {
      await send(`${HEAD}900\r\n\r\nvle`);
      setTimeout(() => socket.destroy(), 60);
    }, OF_FIVE);
    expect((await site.get(`/sub/${KEY}`, 'a')).status).toBe(502);
    expect(await site.links()).toEqual([]);
  });
});

test('the doctor hears what a panel answered in place of a subscription', async () => {
  let reply: Parameters<typeof answer> = [204];
  const site = await front(({ send }) => send(answer(...reply)), OF_NONE);
  await site.get('/sub/one', 'a');
  reply = [200, '{"a":1}', { 'Content-Type': 'Application/JSON; charset=utf-8' }];
  await site.get('/sub/two', 'a');
  await site.get('/sub/two', 'a');
  reply = [200, LINKS];
  await site.get('/sub/three', 'a');
  reply = [200, BASE64, PANEL_HEADERS];
  await site.get('/sub/four', 'a');
  await site.app.core.store.saveFigures();
  const seen = await site.app.core.store.listSightings();
  expect(seen.map(({ host, kind, subject, count }) => [host, kind, subject, count])).toEqual([
    [HOST, 'no_subscription', '200 application/json', 1],
    [HOST, 'no_subscription', '204', 1],
  ]);
});

test('the doctor hears that keys of a panel without a name are UUIDs', async () => {
  const site = await front(undefined, { defaultLimit: 100 });
  const uuid = '3f1c2a5e-8b7d-4c21-9e0f-6a5b4c3d2e1f';
  const seen = async () => {
    await site.app.core.store.saveFigures();
    return (await site.app.core.store.listSightings()).map(({ kind, subject }) => [kind, subject]);
  };
  for (let n = 0; n < 5; n++) await site.get('/sub/no-uuid', 'a');
  for (let n = 0; n < 44; n++) await site.get(`/sub/${n % 2 ? '0/' : ''}${uuid}`, 'a');
  expect(await seen()).toEqual([]);
  await site.get(`/sub/${uuid.toUpperCase()}`, 'a');
  expect(await seen()).toEqual([['keys_are_uuids', '/sub/{key}']]);
});

test('a condition of a device without a slot does not reach the panel: an old ETag makes a link', async () => {
  const site = await front(({ head, send }) =>
    send(/if-none-match/i.test(head) ? answer(304) : answer(200, LINKS, PANEL_HEADERS)),
  );
  const old = { 'If-None-Match': '"old"', Range: 'bytes=0-' };
  const first = await site.get(`/sub/${KEY}`, 'a', old);
  expect([first.status, first.body]).toEqual([200, LINKS]);
  expect((await site.get(`/sub/${KEY}`, 'a', old)).status).toBe(304);
  expect((await site.get(`/sub/${KEY}`, 'b', old)).status).toBe(200);
  expect(await site.links()).toMatchObject([{ count: 2 }]);
});

test.each(['gzip', 'br', 'deflate', 'zstd'])('a bomb by %s decodes to its bound', async (name) => {
  const make = {
    gzip: gzipSync,
    br: brotliCompressSync,
    deflate: deflateSync,
    zstd: zstdCompressSync,
  };
  const bomb = make[name as keyof typeof make](ZEROS.subarray(0, 20_000_000));
  const decoder = Decoder.of(name, 60_000);
  await decoder?.add(bomb);
  await decoder?.add(bomb);
  expect([decoder?.isFull, decoder?.bytes.length]).toEqual([true, 60_000]);
});
