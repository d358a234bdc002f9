/** Panels that misbehave: what the client sees, what it costs, and what the log may say. */

import { describe, expect, test } from 'bun:test';
import { answer, behaveWell, GZIPPED, type PanelCall, SUBSCRIPTION } from '../../support/panel.ts';
import { until } from '../../support/until.ts';
import { exchange, type Fronted, HOST, KEY, sendRaw, useFronted } from '../../support/upstream.ts';

const front = useFronted();

/** The slots that are taken, over all links. */
const slots = async (at: Fronted) => (await at.links()).reduce((sum, { count }) => sum + count, 0);

const hangUp = ({ socket }: PanelCall) => void socket.destroy();

const PIECE = Buffer.alloc(100_000, 'x');

/** 5 MB in pieces, one a turn. */
async function stream({ send, socket }: PanelCall, head: string): Promise<void> {
  await send(`HTTP/1.1 200 OK\r\n${head}\r\n`);
  for (let count = 0; count < 50 && !socket.destroyed; count++) {
    await send(PIECE);
    await Bun.sleep(1);
  }
}

test('5 MB that come slowly come as they are', async () => {
  const at = await front((question) => stream(question, 'Content-Length: 5000000\r\n'));
  const { status, body, isWhole } = await at.get(`/sub/${KEY}`, 'a');
  expect([status, body.length, isWhole]).toEqual([200, 5_000_000, true]);
  expect(body === 'x'.repeat(5_000_000)).toBe(true);
  expect(await slots(at)).toBe(1);
});

test('an answer that ends with its connection comes whole', async () => {
  const at = await front(async ({ send, socket }) => {
    await send('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n');
    await send(SUBSCRIPTION);
    socket.end();
  });
  expect(await at.get(`/sub/${KEY}`, 'a')).toMatchObject({ status: 200, body: SUBSCRIPTION });
});

test('a compressed answer comes with its own bytes', async () => {
  const headers = { 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' };
  const at = await front(({ send }) => send(answer(200, GZIPPED, headers)));
  const got = await at.get(`/sub/${KEY}`, 'a', { 'Accept-Encoding': 'gzip' });
  expect(got.body).toBe(GZIPPED.toString('latin1'));
  expect(got.headers.get('content-encoding')).toBe('gzip');
  expect(got.headers.get('content-length')).toBe(String(GZIPPED.length));
});

describe('no slot is taken for', () => {
  test.each([
    [400, 'bad'],
    [401, ''],
    [403, 'no'],
    [404, 'nothing'],
    [410, 'gone'],
    [429, 'later'],
    [500, 'Internal Server Error'],
    [503, 'Busy'],
    [302, ''],
    [304, ''],
  ])('status %i, which the client sees', async (status, body) => {
    const headers = { Location: 'https://other.example/sub', 'Retry-After': '7' };
    const at = await front(({ send }) => send(answer(status, body, headers)));
    const got = await at.get(`/sub/${KEY}`, 'a');
    expect([
      got.status,
      got.body,
      got.headers.get('location'),
      got.headers.get('retry-after'),
    ]).toEqual([status, body, 'https://other.example/sub', '7']);
    expect(await at.links()).toEqual([]);
    expect(at.panel.calls).toHaveLength(1);
  });

  test.each<[string, number, (call: PanelCall) => Promise<void> | void]>([
    ['a panel that hangs', 504, () => {}],
    [
      'a panel that hangs behind its head',
      504,
      ({ send }) => send(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n`),
    ],
    ['a panel that hangs up', 502, hangUp],
    [
      'a panel that hangs up in the middle of its head',
      502,
      async ({ send, socket }) => {
        await send('HTTP/1.1 200 OK\r\nContent-');
        socket.end();
      },
    ],
    ['a panel that speaks no HTTP', 502, ({ send }) => send('220 mail.example ESMTP\r\n')],
    [
      'a flood of headers',
      502,
      ({ send }) => send(`HTTP/1.1 200 OK\r\n${`X-Flood: ${'x'.repeat(999)}\r\n`.repeat(999)}\r\n`),
    ],
    [
      'an answer by the byte',
      502,
      ({ send }) =>
        send(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(50_000)}`),
    ],
    [
      'a flood of 1xx',
      502,
      ({ send }) => send('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'.repeat(1_000)),
    ],
    [
      'two lengths',
      502,
      ({ send }) => send('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
    ],
    [
      'too large an answer',
      502,
      ({ send }) => send('HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n'),
    ],
  ])('%s: status %i', async (_, status, behave) => {
    const at = await front(behave, status === 504 ? { timeoutMs: 100 } : {});
    const got = await at.get(`/sub/${KEY}`, 'a');
    expect(got.status).toBe(status);
    expect(got.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await at.links()).toEqual([]);
    await until('its connection is closed', () => at.panel.openCount() === 0);
    const failures = at.app.logLines.filter((line) => line.includes('upstream_failed'));
    expect(failures).toHaveLength(status === 404 ? 0 : 1);
  });
});

test('an answer without a type has none, and keeps its length', async () => {
  const at = await front(({ send }) => send(answer(200, SUBSCRIPTION)));
  const { headers, body } = await at.get(`/sub/${KEY}`, 'a');
  expect(body).toBe(SUBSCRIPTION);
  expect(headers.has('content-type')).toBe(false);
  expect(headers.get('content-length')).toBe(String(SUBSCRIPTION.length));
});

test('a request that cannot be passed on keeps no place', async () => {
  const at = await front(undefined, { requestsMax: 2 });
  for (let count = 0; count < 5; count++) {
    const got = await at.get(`/sub/${KEY}`, 'a', { 'x-device-model': 'a\x7fb' });
    expect(got.status).toBe(400);
  }
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
  expect(at.app.logLines).toEqual([]);
});

test('a panel that is away: 502, one line of the log a minute, and no path in it', async () => {
  const at = await front();
  await at.panel.stop();
  for (const hwid of ['a', 'b', 'c']) {
    const got = await at.get(`/sub/${KEY}`, hwid);
    expect([got.status, got.body]).toEqual([502, 'the panel cannot be reached\n']);
  }
  const lines = () => at.app.logLines.filter((line) => line.includes('upstream_failed'));
  const about = { host: HOST, kind: 'upstream_away', code: 'ECONNREFUSED' };
  expect(lines().map((line) => JSON.parse(line))).toMatchObject([{ ...about, count: 1 }]);
  await at.app.clock.advance(60_000);
  await at.get(`/sub/${KEY}`, 'a');
  expect(JSON.parse(lines()[1] ?? '')).toMatchObject({ ...about, count: 3 });
  expect(await at.links()).toEqual([]);
});

describe('an answer that breaks off is cut there for the client too', () => {
  test.each([
    ['a length', 'Content-Length: 5000000\r\n\r\nabc'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ])('with %s', async (_, head) => {
    const dying: PanelCall[] = [];
    const at = await front(async (question) => {
      dying.push(question);
      await question.send(`HTTP/1.1 200 OK\r\n${head}`);
    });
    const port = Number(new URL(at.app.url).port);
    const asking = `GET /sub/${KEY} HTTP/1.1\r\nHost: ${HOST}\r\nX-HWID: a\r\nConnection: close\r\n\r\n`;
    const { promise: begun, resolve: onPart } = Promise.withResolvers<void>();
    const got = sendRaw(port, asking, false, () => onPart());
    await begun;
    expect(await slots(at)).toBe(1);
    dying[0]?.socket.destroy();
    expect(await got).toMatchObject({ status: 200, body: 'abc', isWhole: false });
  });

  test('with more than its length: the rest is nobody’s', async () => {
    const at = await front(({ send }) =>
      send('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef'),
    );
    expect(await at.get(`/sub/${KEY}`, 'a')).toMatchObject({ status: 200, body: 'abc' });
    expect((await at.get(`/sub/${KEY}`, 'b')).body).toBe('abc');
  });
});

test('a client that leaves takes its question along', async () => {
  const at = await front(() => {});
  const leaving = new AbortController();
  const headers = { host: HOST, 'x-hwid': 'a' };
  const got = fetch(`${at.app.url}/sub/${KEY}`, { headers, signal: leaving.signal });
  await until('the panel is asked', () => at.panel.calls.length === 1);
  leaving.abort();
  await got.catch(() => {});
  await until('its connection is closed', () => at.panel.openCount() === 0);
  expect(await at.links()).toEqual([]);
});

test('a client that leaves in the middle takes the rest along', async () => {
  const at = await front(
    async ({ send, socket }) => {
      await send('HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n');
      while (!socket.destroyed) await send(PIECE);
    },
    { answerBytesMax: 1_000_000_000 },
  );
  const leaving = new AbortController();
  const headers = { host: HOST, 'x-hwid': 'a' };
  const got = await fetch(`${at.app.url}/sub/${KEY}`, { headers, signal: leaving.signal });
  await got.body?.getReader().read();
  leaving.abort();
  await until('its connection is closed', () => at.panel.openCount() === 0);
});

test('a fault of the store keeps the answer back, and costs no slot', async () => {
  const at = await front();
  const { store } = at.app.core;
  const { addLinkWithSlot } = store;
  store.addLinkWithSlot = async () => {
    throw new Error('planted fault');
  };
  at.app.expectFault('planted fault');
  const got = await at.get(`/sub/${KEY}`, 'a');
  expect([got.status, got.body]).toEqual([500, 'internal fault, see the log of the server\n']);
  store.addLinkWithSlot = addLinkWithSlot;
  expect(await at.links()).toEqual([]);
  expect((await at.get(`/sub/${KEY}`, 'a')).status).toBe(200);
});

test('no log and no metric holds a key, a HWID or a path', async () => {
  const planted = ['KeyOfSomebody42', 'HwidOfSomebody42', 'query-of-somebody', 'agent-of-somebody'];
  const [key, hwid, query, agent] = planted;
  const behaviours = [behaveWell, () => {}, hangUp];
  let turn = 0;
  const at = await front(
    (question) => behaviours[turn++ % behaviours.length]?.(question),
    { timeoutMs: 200 },
    { logRequests: true },
  );
  const port = Number(new URL(at.app.url).port);
  const headers = { 'x-hwid': hwid ?? '', 'User-Agent': agent ?? '' };
  const paths = [`/sub/${key}`, `/other/${key}`, `/sub/%2e/${key}`];
  for (const path of [...paths, ...paths, ...paths]) {
    await exchange(port, 'GET', `${path}?q=${query}&installid=${query}`, headers);
    await exchange(port, 'GET', `${path}?q=${query}`, headers);
    await exchange(port, 'POST', `${path}?q=${query}`, headers);
  }
  const told = `${at.app.logLines.join('\n')}\n${await at.app.metrics.text()}`;
  expect(told).toContain('endpoint="upstream",answer="admitted"');
  expect(told).toContain('upstream_failed');
  expect(told).toContain('"path":"upstream"');
  for (const word of [...planted, '/sub']) expect(told).not.toContain(word);
});
