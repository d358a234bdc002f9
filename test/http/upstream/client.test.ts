/** Questions to a panel that misbehaves: what comes of each, and that nothing is left behind. */

import { afterEach, expect, test } from 'bun:test';
import { type AddressInfo, createServer } from 'node:net';
import { UpstreamClient } from '../../../src/http/upstream/client.ts';
import { Failure, type UpstreamResponse } from '../../../src/http/upstream/exchange.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { answer, GZIPPED, type Panel, type PanelCall, startPanel } from '../../support/panel.ts';
import { until } from '../../support/until.ts';

const started: { panel: Panel; client: UpstreamClient }[] = [];
afterEach(async () => {
  for (const { panel, client } of started.splice(0)) {
    client.close();
    await panel.stop();
  }
});

interface Asked {
  outcome: UpstreamResponse | Failure;
  panel: Panel;
  /** How the question ended; undefined: it has not. */
  ended(): Failure | null | undefined;
}

const PATIENT = { timeoutMs: 20_000, answerBytesMax: 10_000_000 } as Upstream;

async function ask(
  behave: (call: PanelCall) => Promise<void> | void,
  {
    upstream = PATIENT,
    method = 'GET' as 'GET' | 'HEAD',
    signal = new AbortController().signal,
  } = {},
): Promise<Asked> {
  const panel = await startPanel(behave);
  const client = new UpstreamClient(panel.url);
  started.push({ panel, client });
  let end: Failure | null | undefined;
  const onEnd = (failure: Failure | null) => {
    if (end !== undefined) throw new Error('it ended twice');
    end = failure;
  };
  const headers = { host: 'sub.example.org' };
  const question = { method, path: '/sub/key?x=1', headers, signal, onEnd };
  const outcome = await client.send(upstream, question);
  return { outcome, panel, ended: () => end };
}

function answered({ outcome }: Asked): UpstreamResponse {
  if (outcome instanceof Failure) throw new Error(`no answer: ${outcome.kind} ${outcome.code}`);
  return outcome;
}

/** Reads a body to its end, or to where it breaks off. */
async function read(
  body: ReturnType<UpstreamResponse['body']>,
): Promise<{ bytes: Buffer; isWhole: boolean }> {
  if (!(body instanceof ReadableStream)) return { bytes: Buffer.from(body ?? ''), isWhole: true };
  const chunks: Uint8Array[] = [];
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      chunks.push(part.value);
    }
    return { bytes: Buffer.concat(chunks), isWhole: true };
  } catch {
    return { bytes: Buffer.concat(chunks), isWhole: false };
  }
}

test('nothing is sent that the client did not send', async () => {
  const { panel } = await ask(({ send }) => send(answer(200, 'ok')));
  const [request, ...headers] = (panel.calls[0]?.head ?? '').split('\r\n');
  expect(request).toBe('GET /sub/key?x=1 HTTP/1.1');
  expect(headers.toSorted()).toEqual(['Connection: keep-alive', 'host: sub.example.org']);
});

test('a compressed answer keeps its bytes', async () => {
  const headers = { 'Content-Encoding': 'gzip' };
  const asked = await ask(({ send }) => send(answer(200, GZIPPED, headers)));
  expect(answered(asked).headers.get('content-encoding')).toBe('gzip');
  expect((await read(answered(asked).body())).bytes.equals(GZIPPED)).toBe(true);
  expect(asked.ended()).toBeNull();
});

test('a small answer in chunks is there as a whole', async () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n';
  const asked = await ask(({ send }) =>
    send(`${head}3\r\nabc\r\n2\r\nde\r\n0\r\nX-End: 1\r\n\r\n`),
  );
  const body = answered(asked).body();
  expect(body).not.toBeInstanceOf(ReadableStream);
  expect((await read(body)).bytes.toString()).toBe('abcde');
});

test.each([
  ['without a byte', '', true],
  ['in the middle of its head', 'HTTP/1.1 200 OK\r\nContent-', false],
])('a panel that closes the connection %s has dropped the question: %p', async (...of) => {
  const [, bytes, isDropped] = of;
  const { outcome } = await ask(async ({ send, socket }) => {
    if (bytes !== '') await send(bytes);
    socket.destroy();
  });
  expect(outcome).toMatchObject({ kind: 'upstream_away', isDropped });
});

test('an answer that breaks off before it is read is cut, not whole', async () => {
  const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>();
  const asked = await ask(async ({ send, socket }) => {
    await send(`HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc`);
    await begun;
    socket.destroy();
  });
  onBegun();
  const { body, peek } = answered(asked);
  expect(await peek(async () => false)).toMatchObject({ kind: 'upstream_away' });
  expect(await read(body())).toMatchObject({ isWhole: false });
});

test('an answer that comes in pieces is there as a whole, with its length', async () => {
  // A busy machine may put a longer pause between two pieces; not each time.
  let body: ReturnType<UpstreamResponse['body']> = new ReadableStream();
  for (let count = 0; count < 20 && body instanceof ReadableStream; count++) {
    const asked = await ask(async ({ send }) => {
      await send('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc');
      await Bun.sleep(5);
      await send('def');
    });
    body = answered(asked).body();
    expect((await read(body)).bytes.toString()).toBe('abcdef');
  }
  expect(body).not.toBeInstanceOf(ReadableStream);
});

test('a long answer comes as it is sent', async () => {
  const piece = Buffer.alloc(100_000, 'x');
  const asked = await ask(async ({ send }) => {
    await send('HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n');
    for (let count = 0; count < 50; count++) await send(piece);
  });
  const { bytes, isWhole } = await read(answered(asked).body());
  expect([bytes.length, isWhole]).toEqual([5_000_000, true]);
  expect(asked.ended()).toBeNull();
});

test('what nobody reads stays with the panel', async () => {
  let sentBytes = 0;
  const piece = Buffer.alloc(1_000_000, 'x');
  const asked = await ask(
    async ({ send, socket }) => {
      await send('HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n');
      while (sentBytes < 200_000_000 && !socket.destroyed) {
        await send(piece);
        sentBytes += piece.length;
      }
    },
    { upstream: { ...PATIENT, answerBytesMax: 200_000_000 } },
  );
  const body = answered(asked).body() as ReadableStream<Uint8Array>;
  // It is full when nothing more goes in, however often the event loop turns.
  let before = -1;
  await until('the panel stands still', async () => {
    const isStill = sentBytes === before;
    before = sentBytes;
    await Bun.sleep(100);
    return isStill && sentBytes > 0;
  });
  expect(sentBytes).toBeLessThan(50_000_000);
  await body.cancel();
  await until('the connection is closed', () => asked.panel.openCount() === 0);
  expect(asked.ended()).toMatchObject({ kind: 'client_left' });
});

test.each([
  ['its length twice', 'Content-Length: 2\r\nContent-Length: 3\r\n\r\nok'],
  ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a length that is none', 'Content-Length: 2x\r\n\r\nok'],
  ['a head without end', `${`X-Flood: ${'x'.repeat(1000)}\r\n`.repeat(200)}\r\n`],
])('an answer with %s is none', async (_, rest) => {
  const asked = await ask(({ send }) => send(`HTTP/1.1 200 OK\r\n${rest}`));
  expect(asked.outcome).toMatchObject({ kind: 'upstream_malformed' });
  expect(asked.ended()).toMatchObject({ kind: 'upstream_malformed' });
});

test.each([199, 600, 999])('an answer with status %i is none', async (status) => {
  const asked = await ask(({ send }) => send(answer(status, 'ok')));
  expect(asked.outcome).toMatchObject({ kind: 'upstream_malformed' });
  expect(asked.ended()).toMatchObject({ kind: 'upstream_malformed' });
});

test('what is no HTTP is no answer', async () => {
  const asked = await ask(({ send }) => send('SSH-2.0-OpenSSH_9.2\r\n'));
  expect(asked.outcome).toMatchObject({ kind: 'upstream_malformed' });
});

test('a panel that hangs is waited for so long, and no longer', async () => {
  const asked = await ask(() => {}, { upstream: { ...PATIENT, timeoutMs: 50 } });
  expect(asked.outcome).toMatchObject({ kind: 'upstream_slow' });
  await until('the connection is closed', () => asked.panel.openCount() === 0);
});

test('a panel that hangs in the middle breaks the answer off', async () => {
  const asked = await ask(({ send }) => send('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'), {
    upstream: { ...PATIENT, timeoutMs: 2_000 },
  });
  const { bytes, isWhole } = await read(answered(asked).body());
  expect([bytes.toString(), isWhole]).toEqual(['abc', false]);
  expect(asked.ended()).toMatchObject({ kind: 'upstream_slow' });
});

test('a panel that dies in the middle breaks the answer off', async () => {
  let die = () => {};
  const asked = await ask(async ({ send, socket }) => {
    await send('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc');
    die = () => socket.destroy();
  });
  const body = answered(asked).body();
  die();
  const { bytes, isWhole } = await read(body);
  expect([bytes.toString(), isWhole]).toEqual(['abc', false]);
  expect(asked.ended()).toMatchObject({ kind: 'upstream_away', code: 'CUT' });
});

test('a panel that dies before the body begins gave no answer', async () => {
  const asked = await ask(async ({ send, socket }) => {
    await send('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n');
    socket.destroy();
  });
  expect(asked.outcome).toMatchObject({ kind: 'upstream_away' });
});

test('an answer over the bound is none; in chunks it breaks off', async () => {
  const upstream = { ...PATIENT, answerBytesMax: 1000 };
  const told = await ask(({ send }) => send(answer(200, 'x'.repeat(1001))), { upstream });
  expect(told.outcome).toMatchObject({ kind: 'upstream_too_large' });
  const chunks = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n`;
  let more = () => {};
  const untold = await ask(
    async ({ send }) => {
      await send(`${chunks}3e8\r\n${'x'.repeat(1000)}\r\n`);
      more = () => void send(`1\r\nx\r\n`);
    },
    { upstream },
  );
  const body = answered(untold).body();
  more();
  const { bytes, isWhole } = await read(body);
  expect([bytes.length, isWhole]).toEqual([1000, false]);
});

test.each([204, 304])('status %i has no body', async (status) => {
  const asked = await ask(({ send }) => send(`HTTP/1.1 ${status} No\r\nETag: "x"\r\n\r\n`));
  expect(answered(asked).status).toBe(status);
  expect(answered(asked).body()).toBeNull();
  await until('it has ended', () => asked.ended() === null);
});

test('HEAD has no body, and the length that GET would have', async () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n';
  const asked = await ask(({ send }) => send(head), { method: 'HEAD' });
  expect(answered(asked).headers.get('content-length')).toBe('5000');
  expect(answered(asked).body()).toBeNull();
  await until('it has ended', () => asked.ended() === null);
});

test('an answer before the answer is left out', async () => {
  const early = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n';
  const asked = await ask(async ({ send }) => {
    await send(early);
    await send(answer(200, 'ok'));
  });
  expect(answered(asked).status).toBe(200);
});

test('a redirect is an answer like any other', async () => {
  const asked = await ask(({ send }) => send(answer(302, '', { Location: 'http://127.0.0.1:1/' })));
  expect(answered(asked).status).toBe(302);
  expect(answered(asked).headers.get('location')).toBe('http://127.0.0.1:1/');
});

test('a client that leaves ends the question', async () => {
  const controller = new AbortController();
  const asked = await ask(() => controller.abort(), { signal: controller.signal });
  expect(asked.outcome).toMatchObject({ kind: 'client_left' });
  await until('the connection is closed', () => asked.panel.openCount() === 0);
});

test('a panel that is away is told by a code alone', async () => {
  const panel = await startPanel();
  await panel.stop();
  const client = new UpstreamClient(panel.url);
  started.push({ panel: await startPanel(), client });
  const question = {
    ...({ method: 'GET', path: '/sub/secret-key', headers: {}, onEnd: () => {} } as const),
    signal: new AbortController().signal,
  };
  const outcome = await client.send(PATIENT, question);
  expect(outcome).toEqual(new Failure('upstream_away', 'ECONNREFUSED'));
});

test('a connection that the panel had closed is made again', async () => {
  const panel = await startPanel(async ({ send, socket }) => {
    // The first question of a connection is answered; at the second it is gone.
    if (asked.has(socket)) socket.resetAndDestroy();
    else await send(answer(200, 'ok'));
    asked.add(socket);
  });
  const asked = new Set<unknown>();
  const client = new UpstreamClient(panel.url);
  started.push({ panel, client });
  const signal = new AbortController().signal;
  const ends: unknown[] = [];
  const onEnd = (end: Failure | null) => void ends.push(end);
  for (let count = 0; count < 6; count++) {
    const question = { method: 'GET', path: '/', headers: {}, signal, onEnd } as const;
    const outcome = await client.send(PATIENT, question);
    expect(outcome).toMatchObject({ status: 200 });
    if (!(outcome instanceof Failure)) await read(outcome.body());
  }
  expect(ends).toEqual(Array(6).fill(null));
});

test('a connection that closes before TLS is accepted is an outage, not a dropped key', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.resetAndDestroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new UpstreamClient(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { signal } = new AbortController();
  const question = {
    method: 'GET',
    path: '/sub/key',
    headers: {},
    signal,
    onEnd: () => {},
  } as const;
  const outcome = await client.send(PATIENT, question);
  expect(outcome).toMatchObject({ kind: 'upstream_away', isDropped: false });
  client.close();
  server.close();
});
