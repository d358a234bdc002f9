/** The answer to a call by HTTP/1.1, whatever the other side does. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { type FailureKind, OutgoingFailure } from '../../src/outgoing/call.ts';
import { until } from '../support/until.ts';
import {
  callTo,
  NAME,
  outgoingTo,
  PATIENT,
  SETTINGS,
  type Stranger,
  saying,
  startStranger,
} from './stranger.ts';

const MEBIBYTE = 1024 * 1024;
const STRETCH_MS = 300;
/** Wide enough for a head and a first byte on a busy machine. */
const SHORT_MS = 4_000;

/** Writes again and again for as long as the other side takes it. */
function pouring(first: string, part: string) {
  return (socket: TLSSocket) => {
    socket.write(first);
    const pour = () => {
      while (!socket.destroyed && socket.write(part)) {}
    };
    socket.on('drain', pour);
    pour();
  };
}

/** Writes a little from time to time. */
function dripping(first: string, part: string) {
  return (socket: TLSSocket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(part), STRETCH_MS / 10);
    socket.on('close', () => clearInterval(timer));
  };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const BOMB = gzipSync(Buffer.alloc(8 * MEBIBYTE));

let stranger: Stranger;
beforeAll(async () => {
  stranger = await startStranger({
    '/ok': saying('welcome', 'x-one: 1\r\nx-one: 2\r\nretry-after: 30\r\n'),
    '/long': saying('x'.repeat(4000)),
    '/huge': saying('x'.repeat(MEBIBYTE)),
    '/endless': pouring(`${OK}\r\n`, 'x'.repeat(65_536)),
    '/chunked': pouring(
      `${OK}transfer-encoding: chunked\r\n\r\n`,
      `1000\r\n${'x'.repeat(4096)}\r\n`,
    ),
    '/drip': dripping(`${OK}content-length: 100000\r\n\r\nbegin`, '.'),
    '/drip-head': dripping(OK, 'x-a: b\r\n'),
    '/heads': pouring(OK, `x-a: ${'y'.repeat(1000)}\r\n`),
    '/hints': pouring('', 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'),
    '/by-the-byte': (socket) =>
      socket.write(
        `${OK}transfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(50_000)}0\r\n\r\n`,
      ),
    '/wrapped': (socket) =>
      socket.write(
        `${OK}transfer-encoding: chunked\r\n\r\n${`64;${'e'.repeat(900)}\r\n${'x'.repeat(100)}\r\n`.repeat(100)}0\r\n\r\n`,
      ),
    '/some-hints': (socket) =>
      socket.write(
        `${'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(16)}${OK}content-length: 2\r\n\r\nok`,
      ),
    '/many-hints': (socket) =>
      socket.write(
        `${'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(17)}${OK}content-length: 2\r\n\r\nok`,
      ),
    '/bytes-apart': (socket) => {
      socket.setNoDelay(true);
      socket.write(`${OK}content-length: 300\r\n\r\n`);
      const timer = setInterval(() => socket.write('x'), 1);
      socket.on('close', () => clearInterval(timer));
    },
    '/in-lines': saying('line\n'.repeat(2000)),
    '/silent': () => {},
    '/reset': (socket) => socket.destroy(),
    '/half': (socket) => {
      socket.write(`${OK}content-length: 100\r\n\r\nhalf`, () => socket.destroy());
    },
    '/nonsense': (socket) => socket.write('220 mail.example.com ESMTP\r\n'),
    '/redirect': (socket) => {
      socket.write(
        'HTTP/1.1 302 Found\r\nlocation: https://127.0.0.1/\r\ncontent-length: 0\r\n\r\n',
      );
    },
    '/upgrade': (socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    },
    '/bomb': (socket) => {
      socket.write(`${OK}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`);
      socket.write(BOMB);
    },
    '/bytes': saying('\xff\xfe and more'),
    '/twice': (socket) => socket.write(`${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`),
  });
});
afterAll(() => stranger.stop());

const call = (path: string, changes = {}) =>
  outgoingTo(stranger).send(callTo(stranger.url(path), changes), PATIENT);

describe('an answer', () => {
  test('has status, headers, text and what Retry-After asks for', async () => {
    const answer = await call('/ok?a=b');
    expect(answer).toMatchObject({ status: 200, text: 'welcome', isWhole: true });
    expect(answer).toMatchObject({ retryAfterMs: 30_000 });
    if (answer instanceof OutgoingFailure) throw answer;
    expect(answer.header('x-one')).toBe('1, 2');
    expect(answer.header('x-two')).toBeNull();
    expect(stranger.heard.at(-1)?.text).toBe(
      [
        'POST /ok?a=b HTTP/1.1',
        ...[`host: ${NAME}:${stranger.port}`, 'accept-encoding: identity', 'content-length: 5'],
        ...['Connection: keep-alive', '', 'hello'],
      ].join('\r\n'),
    );
  });

  test('that is too long is cut, and its status holds', async () => {
    for (const path of ['/long', '/huge', '/endless', '/chunked']) {
      const answer = await call(path);
      expect([path, answer]).toMatchObject([path, { status: 200, isWhole: false }]);
      expect(answer).toHaveProperty('text', 'x'.repeat(1024));
    }
    expect(await call('/ok', { answerBytesMax: 0 })).toMatchObject({ status: 200, text: '' });
  });

  test('that comes by the byte, or with more around it than in it, is cut after a little', async () => {
    for (const path of ['/by-the-byte', '/bytes-apart', '/wrapped']) {
      const answer = await call(path, { answerBytesMax: 60_000 });
      expect([path, answer]).toMatchObject([path, { status: 200, isWhole: false }]);
      if (answer instanceof OutgoingFailure) throw answer;
      expect(answer.text.length).toBeLessThan(2_000);
    }
    expect(await call('/in-lines', { answerBytesMax: 60_000 })).toMatchObject({ isWhole: true });
    expect(await call('/some-hints')).toMatchObject({ status: 200, text: 'ok' });
    expect(await call('/many-hints')).toMatchObject({ kind: 'protocol' });
  });

  test('that drips or breaks off has the status and what came in time', async () => {
    const dripped = await call('/drip', { timeoutMs: SHORT_MS });
    expect(dripped).toMatchObject({ status: 200, isWhole: false });
    expect(dripped).toHaveProperty('text', expect.stringMatching(/^begin\.*$/));
    expect(await call('/half')).toMatchObject({ status: 200, isWhole: false, text: 'half' });
  });

  test('that redirects is an answer, and is not followed', async () => {
    expect(await call('/redirect')).toMatchObject({ status: 302, isWhole: true });
  });

  test('that turns into another protocol is one too', async () => {
    expect(await call('/upgrade')).toMatchObject({ status: 101 });
  });

  test('that is packed stays packed', async () => {
    const answer = await call('/bomb', { answerBytesMax: MEBIBYTE });
    expect(answer).toMatchObject({ status: 200, text: '', isWhole: true });
  });

  test('that is no text is read as far as it is', async () => {
    expect(await call('/bytes')).toMatchObject({ text: 'ÿþ and more' });
  });

  test('lets its connection be reused, also if it is not read', async () => {
    const outgoing = outgoingTo(stranger);
    const first = stranger.heard.length;
    for (let count = 0; count < 3; count++) {
      const changes = { answerBytesMax: 0 };
      await outgoing.send(callTo(stranger.url('/long'), changes), PATIENT);
    }
    const used = stranger.heard.slice(first).map(({ connection }) => connection);
    expect(new Set(used).size).toBe(1);
  });
});

describe('without TLS', () => {
  const plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('plain') });
  afterAll(() => plain.stop(true));
  const url = `http://127.0.0.1:${plain.port}/`;

  test('what the operator chose is called, by HTTP/1.1 alone', async () => {
    const changes = { trust: 'operator', http2: { pool: 'one' } } as const;
    const answer = await outgoingTo(null).send(callTo(url, changes), PATIENT);
    expect(answer).toMatchObject({ status: 200, text: 'plain' });
  });

  test('a URL of a provider or device is called only if the operator allows it', async () => {
    expect(await outgoingTo(null).send(callTo(url), PATIENT)).toMatchObject({
      kind: 'address',
      problem: 'the address is not an https address',
    });
    const open = outgoingTo(null, {}, { ...SETTINGS, outgoingAllowHttp: true });
    expect(await open.send(callTo(url), PATIENT)).toMatchObject({ status: 200, text: 'plain' });
  });

  test('a server without TLS is none that could be trusted', async () => {
    const outcome = await outgoingTo(null).send(callTo(url.replace('http:', 'https:')), PATIENT);
    expect(outcome).toBeInstanceOf(OutgoingFailure);
  });
});

describe('no answer', () => {
  test('is a failure of a kind, in plain words', async () => {
    const late = 'gave no answer within 4 s';
    const ends: [path: string, kind: FailureKind, words: string][] = [
      ['/silent', 'timeout', late],
      ['/drip-head', 'timeout', late],
      // Each costs work, so that an end of them is not waited for.
      ['/hints', 'protocol', 'does not answer in HTTP'],
      ['/reset', 'reset', 'broke the connection off'],
      ['/nonsense', 'protocol', 'does not answer in HTTP'],
      ['/twice', 'protocol', 'does not answer in HTTP'],
    ];
    const outcomes = ends.map(async ([path, kind, words]) => {
      const outcome = await call(path, { timeoutMs: SHORT_MS });
      expect([path, outcome]).toEqual([path, new OutgoingFailure(kind, `${host()} ${words}`)]);
    });
    await Promise.all(outcomes);
  });

  test('too many headers', async () => {
    expect(await call('/heads')).toMatchObject({
      kind: 'protocol',
      problem: `the answer of ${host()} has too many headers`,
    });
  });

  test('a call that is stopped leaves its connection', async () => {
    const control = new AbortController();
    const first = stranger.heard.length;
    const call = callTo(stranger.url('/silent'));
    const outcome = outgoingTo(stranger).send(call, control.signal);
    await until('the call is there', () => stranger.heard.length > first);
    control.abort();
    expect(await outcome).toMatchObject({ kind: 'stopped' });
    await until('all connections but idle ones are closed', () => stranger.open.size === 0, 20_000);
    expect(await outgoingTo(stranger).send(call, control.signal)).toMatchObject({
      kind: 'stopped',
    });
  });

  test('a certificate for another name, and one of an unknown authority', async () => {
    const other = stranger.url('/ok', 'other.example.com');
    expect(await outgoingTo(stranger).send(callTo(other), PATIENT)).toMatchObject({
      kind: 'tls',
      problem: expect.stringContaining('its certificate is for another name'),
    });
    const unknown = await outgoingTo(null).send(callTo(stranger.url('/ok')), PATIENT);
    expect(unknown).toMatchObject({ kind: 'tls' });
  });

  test('an address is checked against the certificate too', async () => {
    for (const name of ['127.0.0.1', 'localhost']) {
      const answer = await outgoingTo(stranger).send(callTo(stranger.url('/ok', name)), PATIENT);
      expect(answer).toMatchObject({ status: 200 });
    }
    const wrong = await outgoingTo(stranger).send(
      callTo(stranger.url('/ok', '127.0.0.2')),
      PATIENT,
    );
    expect(wrong).toBeInstanceOf(OutgoingFailure);
  });

  test('a header that would end its line is not sent', async () => {
    const first = stranger.heard.length;
    for (const value of ['a\r\nx-evil: 1', 'a\nb', 'a\0b', '\u0100']) {
      const outcome = await call('/ok', { headers: { 'x-a': value } });
      expect(outcome).toMatchObject({ kind: 'unsendable' });
    }
    expect(stranger.heard.length).toBe(first);
  });

  test('no failure says more of an address than its host', async () => {
    const SECRET = 'bot123456:secret-of-the-path';
    const outgoing = outgoingTo(stranger, {}, { ...SETTINGS, outgoingAllow: [] });
    const calls = [
      outgoing.send(callTo(stranger.url(`/${SECRET}?x=${SECRET}`)), PATIENT),
      outgoing.send(callTo(`https://${SECRET}@example.com/`), PATIENT),
      outgoing.send(callTo(`no address: ${SECRET}`), PATIENT),
      outgoingTo(stranger).send(callTo(stranger.url(`/${SECRET}`), { timeoutMs: 300 }), PATIENT),
      outgoingTo(null).send(callTo(stranger.url(`/${SECRET}`)), PATIENT),
      outgoingTo(stranger).send(callTo(`https://127.0.0.1:1/${SECRET}`), PATIENT),
    ];
    for (const outcome of await Promise.all(calls)) {
      expect(outcome).toBeInstanceOf(OutgoingFailure);
      expect(JSON.stringify(outcome)).not.toContain('secret');
    }
  });
});

function host(): string {
  return `${NAME}:${stranger.port}`;
}
