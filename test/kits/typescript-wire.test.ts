/** The WebSocket of the kit for TypeScript, byte by byte, after RFC 6455. */

import { afterEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { type Socket as Connection, createServer } from 'node:net';
import { openPageSocket } from '../../sdk/typescript/src/page.ts';
import type { Ended, Socket } from '../../sdk/typescript/src/socket.ts';
import { openWire } from '../../sdk/typescript/src/wire.ts';
import { until } from '../support/until.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Heard {
  opened: (number | null)[];
  texts: string[];
  ended: Ended[];
}

interface World extends Heard {
  socket: Socket;
  /** The request, and what came after it. */
  request: string;
  received: Buffer;
  connection: Connection;
}

const acceptOf = (request: string) => {
  const key = /sec-websocket-key: (.*)\r\n/i.exec(request)?.[1];
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
};

/** Opens a socket to a server that answers its handshake so. */
async function open(
  answer = (request: string) =>
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nx-ping-interval: 60\r\nsec-websocket-accept: ${acceptOf(request)}\r\n\r\n`,
): Promise<World> {
  const heard: Heard = { opened: [], texts: [], ended: [] };
  let world: Pick<World, 'request' | 'received' | 'connection'> | null = null;
  const server = createServer((connection) => {
    connection.on('error', () => {});
    let head = '';
    connection.on('data', (bytes: Buffer) => {
      if (world !== null) {
        world.received = Buffer.concat([world.received, bytes]);
        return;
      }
      head += bytes.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      world = { request: head, received: Buffer.alloc(0), connection };
      connection.write(answer(head));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  closers.push(() => server.close());
  const handshake = {
    url: `http://127.0.0.1:${port}/device/stream?ping=60`,
    token: 'TOKEN',
    locale: 'fa',
    frameMax: 2_048,
  };
  const socket = openWire(handshake, {
    open: (seconds) => void heard.opened.push(seconds),
    text: (text) => void heard.texts.push(text),
    heard: () => {},
    end: (ended) => void heard.ended.push(ended),
  });
  if (socket === null) throw new Error('there is no node:http');
  const known = await until('it asked', () => world);
  closers.push(() => known.connection.destroy());
  await until('it has its answer', () => heard.opened.length + heard.ended.length > 0);
  return Object.assign(known, heard, { socket });
}

const OPCODES = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

/** A frame of a server. */
function frame(kind: keyof typeof OPCODES, payload: string | Buffer, isLast = true): Buffer {
  const bytes = Buffer.from(payload as string);
  const head = [(isLast ? 0x80 : 0) | OPCODES[kind]];
  if (bytes.length < 126) head.push(bytes.length);
  else if (bytes.length < 65_536) head.push(126, bytes.length >> 8, bytes.length & 255);
  else
    head.push(
      127,
      0,
      0,
      0,
      0,
      0,
      bytes.length >> 16,
      (bytes.length >> 8) & 255,
      bytes.length & 255,
    );
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** Reads a masked frame of the kit: the opcode and the payload. */
function sentIn(bytes: Buffer): { opcode: number; payload: Buffer } {
  const size = (bytes[1] ?? 0) & 127;
  const start = size === 126 ? 4 : size === 127 ? 10 : 2;
  const length =
    size === 126 ? bytes.readUInt16BE(2) : size === 127 ? Number(bytes.readBigUInt64BE(2)) : size;
  const mask = bytes.subarray(start, start + 4);
  const payload = Buffer.from(bytes.subarray(start + 4, start + 4 + length));
  for (const [at, byte] of payload.entries()) payload[at] = byte ^ (mask[at & 3] ?? 0);
  expect((bytes[1] ?? 0) >> 7).toBe(1);
  return { opcode: (bytes[0] ?? 0) & 15, payload };
}

test('the handshake has token, language and the bound of frames, and shows the pause of pings', async () => {
  const { request, opened, socket } = await open();
  expect(request).toStartWith('GET /device/stream?ping=60 HTTP/1.1\r\n');
  expect(request.toLowerCase()).toContain('authorization: bearer token\r\n');
  expect(request.toLowerCase()).toContain('accept-language: fa\r\n');
  expect(request.toLowerCase()).toContain('x-frame-max: 2048\r\n');
  expect(opened).toEqual([60]);
  expect(socket.isOpen).toBe(true);
});

test.each([
  ['a refusal', 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n', 'status 401'],
  ['no HTTP', 'hello\r\n\r\n', ''],
  [
    'an answer to another key',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: AAAA\r\n\r\n',
    '',
  ],
])('%s to the handshake ends it', async (_, answer, reason) => {
  const { opened, ended } = await open(() => answer);
  expect(opened).toEqual([]);
  expect(ended).toEqual([{ code: 1006, reason }]);
});

describe('it takes', () => {
  test('messages of every length, cut anywhere', async () => {
    const { connection, texts } = await open();
    const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000];
    const bytes = Buffer.concat(sizes.map((size) => frame('text', 'é'.repeat(size / 2))));
    for (let at = 0; at < bytes.length; at += 40_009)
      connection.write(bytes.subarray(at, at + 40_009));
    await until('all came', () => texts.length === sizes.length);
    expect(texts.map((text) => text.length)).toEqual(sizes.map((size) => Math.floor(size / 2)));
  });

  test('a message in parts with a ping between them, byte by byte', async () => {
    const { connection, texts } = await open();
    const parts = [frame('text', 'Hel', false), frame('ping', 'id'), frame('more', 'lo')];
    for (const byte of Buffer.concat(parts)) connection.write(Buffer.from([byte]));
    await until('it came', () => texts.length === 1);
    expect(texts).toEqual(['Hello']);
  });

  test('a ping, which it answers with the same text', async () => {
    const world = await open();
    world.connection.write(frame('ping', 'id'));
    await until('it answers', () => world.received.length >= 8);
    expect(sentIn(world.received)).toEqual({ opcode: OPCODES.pong, payload: Buffer.from('id') });
  });
});

test.each([
  ['a masked frame', Buffer.from([0x81, 0x80, 0, 0, 0, 0]), 1002],
  ['a compressed frame', Buffer.from([0xc1, 0]), 1002],
  ['a frame of 2 MiB', Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 32, 0, 0]), 1002],
  ['a binary message', frame('binary', 'x'), 1002],
  ['a part without a beginning', frame('more', 'x'), 1002],
  ['a text inside another', Buffer.concat([frame('text', 'a', false), frame('text', 'b')]), 1002],
  ['half a letter', frame('text', Buffer.from([0xc3])), 1007],
])('%s ends it with a close frame', async (_, bytes, code) => {
  const world = await open();
  world.connection.write(bytes);
  await until('it ended', () => world.ended.length === 1);
  expect(world.ended[0]?.code).toBe(code);
  await until('it says so', () => world.received.length >= 8);
  const { opcode, payload } = sentIn(world.received);
  expect([opcode, payload.readUInt16BE(0)]).toEqual([OPCODES.close, code]);
  expect(world.texts).toEqual([]);
});

test('parts that are too much together end it with 1009', async () => {
  const world = await open();
  world.connection.write(frame('text', 'a', false));
  for (let n = 0; n < 17; n++) world.connection.write(frame('more', 'x'.repeat(65_536), false));
  await until('it ended', () => world.ended.length === 1);
  expect(world.ended[0]?.code).toBe(1009);
});

test('a close frame ends it with its code and reason, and is answered', async () => {
  const world = await open();
  world.connection.write(
    frame('close', Buffer.concat([Buffer.from([15, 164]), Buffer.from('slot_freed')])),
  );
  await until('it ended', () => world.ended.length === 1);
  expect(world.ended).toEqual([{ code: 4004, reason: 'slot_freed' }]);
  await until('it is answered', () => world.received.length >= 8);
  expect(sentIn(world.received).payload.readUInt16BE(0)).toBe(4004);
});

test('a connection that ends without a close frame is 1006', async () => {
  const world = await open();
  world.connection.destroy();
  await until('it ended', () => world.ended.length === 1);
  expect(world.ended).toEqual([{ code: 1006, reason: '' }]);
});

test('it ends at once, though the server reads and answers nothing', async () => {
  const world = await open();
  world.connection.pause();
  world.socket.end('silence');
  expect(world.ended).toEqual([{ code: 1006, reason: 'silence' }]);
  expect(world.socket.isOpen).toBe(false);
  world.socket.end('twice');
  world.socket.send('nothing');
  expect(world.ended).toHaveLength(1);
});

test('the socket of a page has the token beside the protocol, and ends at once too', async () => {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, self) {
      asked.push(`${request.url} ${request.headers.get('sec-websocket-protocol')}`);
      const headers = { 'sec-websocket-protocol': 'gatepost' };
      return self.upgrade(request, { headers }) ? undefined : new Response('', { status: 400 });
    },
    websocket: {
      open: (socket) => void socket.send('Hello'),
      message: (socket, text) => socket.close(4004, String(text)),
    },
  });
  closers.push(() => server.stop(true));
  const url = `${server.url.origin}/device/stream`;
  const handshake = { url, token: 'TOKEN', locale: 'fa', frameMax: 2_048 };
  const texts: string[] = [];
  const ended: Ended[] = [];
  const begin = () =>
    openPageSocket(handshake, {
      open: () => {},
      text: (text) => void texts.push(text),
      heard: () => {},
      end: (how) => void ended.push(how),
    });
  const first = begin();
  await until('it has a text', () => texts.length === 1);
  expect(asked).toEqual([`${url}?frame_max=2048 gatepost, bearer.TOKEN`]);
  first.end('silence');
  expect(ended).toEqual([{ code: 1006, reason: 'silence' }]);
  expect(first.isOpen).toBe(false);
  const second = begin();
  await until('it has a text', () => texts.length === 2);
  second.send('slot_freed');
  await until('it ended', () => ended.length === 2);
  expect(ended[1]).toEqual({ code: 4004, reason: 'slot_freed' });
});
