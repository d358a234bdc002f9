/** What passes a front: long bodies, streams, slow readers, ends of connections, and a stop. */

import { afterEach, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import type { Log } from '../../src/base/log.ts';
import { Front } from '../../src/http/front/front.ts';
import { openListener } from '../../src/http/front/fronted.ts';
import type { Listener } from '../../src/http/listener.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { dial, exchange, get, line } from '../support/front.ts';
import { until } from '../support/until.ts';

const listeners: Listener[] = [];
afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
});

type Answer = (request: Request, listener: Listener) => Response | Promise<Response> | null;

async function listenWith(
  answer: Answer,
  websocket: Partial<Bun.WebSocketHandler<unknown>> = {},
): Promise<Listener> {
  const listener: Listener = await openListener(
    (request) => answer(request, listener),
    { host: '127.0.0.1', port: 0, tls: null, proxyProtocol: parseTrustedProxies(['127.0.0.1']) },
    { message: () => {}, ...websocket },
    { log: { warn: () => {} } as unknown as Log, nowMs: () => 0, onClosed: () => {} },
  );
  listeners.push(listener);
  return listener;
}

const FROM = line('8.8.4.4');
const LONG = Buffer.alloc(8 * 1024 * 1024, 'of a long answer ');
const hashOf = (bytes: string | Buffer) =>
  createHash('sha256')
    .update(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
    .digest('hex');
const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

test('a long answer and a long body pass byte for byte', async () => {
  const listener = await listenWith(async (request) =>
    request.method === 'GET'
      ? new Response(LONG)
      : new Response(hashOf(Buffer.from(await request.arrayBuffer()))),
  );
  expect(hashOf(bodyOf(await exchange(listener, FROM, get('/'))))).toBe(hashOf(LONG));
  const head = get('/', `content-length: ${LONG.length}`).replace('GET', 'POST');
  expect(bodyOf(await exchange(listener, FROM, head, LONG))).toBe(hashOf(LONG));
});

test('a slow reader holds back the server, and gets all of it in the end', async () => {
  let sent = 0;
  const chunk = Buffer.alloc(1024 * 1024, 7);
  const listener = await listenWith(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => {
            sent += 1;
            controller.enqueue(chunk);
            if (sent === 64) controller.close();
          },
        }),
      ),
  );
  const socket = dial(listener);
  socket.pause();
  socket.write(FROM + get('/'));
  // It stands still when all buffers on the way are full.
  let before = -1;
  await until('the server is held back', async () => {
    const isStill = sent > 0 && sent === before;
    before = sent;
    await Bun.sleep(100);
    return isStill;
  });
  expect(sent).toBeLessThan(40);
  let bytes = 0;
  socket.on('data', (part) => {
    bytes += part.length;
  });
  socket.resume();
  await new Promise((resolve) => socket.on('close', resolve));
  expect(sent).toBe(64);
  expect(bytes).toBeGreaterThan(64 * chunk.length);
});

test('many requests use one connection, and its caller stays', async () => {
  const listener = await listenWith(
    (request, { peerOf, kindOf }) => new Response(`${peerOf(request)} ${kindOf(request)}\n`),
  );
  const keep = get('/').replace('connection: close', 'connection: keep-alive');
  const answer = await exchange(listener, FROM, keep, keep, get('/'));
  expect(answer.match(/8\.8\.4\.4 client/g)).toHaveLength(3);
});

test('a caller that ends its side gets the answer', async () => {
  const listener = await listenWith(() => new Response('ok'));
  const socket = connect({ port: Number(new URL(listener.url).port), allowHalfOpen: true });
  let answer = '';
  socket.on('data', (part) => {
    answer += part;
  });
  socket.end(FROM + get('/'));
  await new Promise((resolve) => socket.on('end', resolve));
  expect(bodyOf(answer)).toBe('ok');
  socket.destroy();
});

test('a WebSocket opens, passes frames both ways, and closes', async () => {
  const listener = await listenWith(
    (request, { serverOf }) => {
      serverOf(request).upgrade(request, { data: null });
      return null;
    },
    { message: (socket, text) => void socket.send(text === 'bye' ? '' : text) },
  );
  const socket = dial(listener);
  let text = '';
  socket.on('data', (part) => {
    text += part.toString('latin1');
  });
  const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==';
  const upgrade = ['upgrade: websocket', 'sec-websocket-version: 13', key];
  socket.write(FROM + get('/', ...upgrade).replace('connection: close', 'connection: Upgrade'));
  await until('it is open', () => text.startsWith('HTTP/1.1 101'));
  // A masked frame with "hi", and one that closes.
  socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]));
  await until('its echo', () => text.endsWith('\x81\x02hi'));
  socket.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
  await new Promise((resolve) => socket.on('close', resolve));
});

test('a caller that is gone is gone for the server, and its place free', async () => {
  const aborted = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<Request>();
  const listener = await listenWith((request) => {
    if (request.url.endsWith('/quick')) return new Response('quick');
    request.signal.addEventListener('abort', () => aborted.resolve());
    begun.resolve(request);
    return new Promise<Response>(() => {});
  });
  const socket = dial(listener);
  socket.write(FROM + get('/'));
  const request = await begun.promise;
  expect(listener.peerOf(request)).toBe('8.8.4.4');
  socket.destroy();
  await aborted.promise;
  await until('it has no address', () => listener.peerOf(request) === '');
  expect(bodyOf(await exchange(listener, FROM, get('/quick')))).toBe('quick');
});

test('a port inside has a caller until one side leaves it', async () => {
  const ports: number[] = [];
  const ended: Bun.Socket[] = [];
  const inside = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data: (socket) => {
        ports.push(socket.remotePort);
        ended.push(socket);
        socket.write('here');
      },
    },
  });
  const silent = { onRefused: () => {}, onFull: () => {} };
  const front = new Front({
    own: new Set(),
    named: null,
    isSocket: false,
    port: inside.port,
    ...silent,
  });
  const listening = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    allowHalfOpen: true,
    socket: front.handlers,
  });
  for (const isLeftByCaller of [true, false]) {
    const socket = connect({ port: listening.port, allowHalfOpen: true });
    socket.write(`${FROM}hello`);
    await new Promise((resolve) => socket.once('data', resolve));
    const port = ports.at(-1) ?? 0;
    expect(front.callerAt(port)).toEqual({ kind: 'client', address: '8.8.4.4' });
    // A caller that stays half open keeps no port.
    if (isLeftByCaller) socket.destroy();
    else ended.at(-1)?.end();
    // Sooner than the caller's side is closed for it.
    await until('the port is left', () => front.callerAt(port) === undefined, 4_000);
    socket.destroy();
  }
  await until('all are closed', () => front.size === 0);
  listening.stop(true);
  inside.stop(true);
});

test('a stop lets requests in flight end, with their last bytes', async () => {
  const finish = Promise.withResolvers<void>();
  let begun = 0;
  const listener = await listenWith(async () => {
    begun += 1;
    await finish.promise;
    return new Response(LONG);
  });
  const answers = Array.from({ length: 8 }, () => exchange(listener, FROM, get('/')));
  await until('all have begun', () => begun === 8);
  const idle = exchange(listener, FROM);
  const stopped = listener.stop(20);
  finish.resolve();
  for (const answer of await Promise.all(answers))
    expect(hashOf(bodyOf(answer))).toBe(hashOf(LONG));
  await stopped;
  expect(await idle).toBe('');
  expect(await exchange(listener, FROM, get('/'))).toBe('');
});

/** Calls once. Returns whether it was accepted, and the answer. */
function callOnce(listener: Listener): Promise<{ isAccepted: boolean; answer: string }> {
  return new Promise((resolve) => {
    const socket = dial(listener);
    let [isAccepted, answer] = [false, ''];
    socket.on('connect', () => {
      isAccepted = true;
      socket.write(FROM + get('/'));
    });
    socket.on('data', (part) => {
      answer += part;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ isAccepted, answer }));
  });
}

test('a stop answers each connection that it accepted', async () => {
  const listener = await listenWith(() => new Response('ok'));
  let [answered, lost] = [0, 0];
  const client = async () => {
    for (;;) {
      const { answer, isAccepted } = await callOnce(listener);
      if (!isAccepted) return;
      if (answer.startsWith('HTTP/1.1 200')) answered += 1;
      else lost += 1;
    }
  };
  const clients = Array.from({ length: 16 }, client);
  await until('they are at work', () => answered > 100);
  await listener.stop(50);
  await Promise.all(clients);
  expect(lost).toBe(0);
});

test('a connection from another address with the same port is refused', async () => {
  const inside = Promise.withResolvers<[Request, Listener]>();
  const finish = Promise.withResolvers<Response>();
  const listener = await listenWith((request, of) => {
    inside.resolve([request, of]);
    return finish.promise;
  });
  const first = exchange(listener, FROM, get('/'));
  const [request, of] = await inside.promise;
  const server = of.serverOf(request);
  const socket = connect({
    host: '127.0.0.1',
    port: server.port ?? 0,
    localAddress: '127.0.0.2',
    localPort: server.requestIP(request)?.port ?? 0,
  });
  let answer = '';
  socket.on('data', (part) => {
    answer += part;
  });
  socket.write(get('/'));
  await new Promise((resolve) => socket.on('close', resolve));
  expect(answer).toStartWith('HTTP/1.1 403');
  finish.resolve(new Response('ok'));
  expect(bodyOf(await first)).toBe('ok');
});

/** A socket of the front without a network. */
function fakeSocket(remoteAddress: string | undefined) {
  const socket = { remoteAddress, closed: false, data: undefined as never, terminate: () => {} };
  socket.terminate = () => {
    socket.closed = true;
  };
  return socket;
}

const bareFront = (named: string) =>
  new Front({
    own: new Set(),
    innerPort: 1,
    named: parseTrustedProxies([named]),
    isSocket: false,
    onRefused: () => {},
    onFull: () => {},
  } as never);

test('a connection that was reset before it was accepted ends, and nothing else', () => {
  const front = bareFront('127.0.0.1');
  const socket = fakeSocket(undefined);
  front.handlers.open?.(socket as never);
  expect(socket.closed).toBe(true);
  front.handlers.error?.(socket as never, new Error('reset'));
  front.handlers.close?.(socket as never);
  expect(front.size).toBe(0);
});

test('one client that waits behind a proxy shuts no other out', () => {
  const front = bareFront('10.0.0.1');
  const open = (client: string) => {
    const socket = fakeSocket('10.0.0.1');
    front.handlers.open?.(socket as never);
    front.handlers.data?.(socket as never, Buffer.from(line(client)) as never);
    return socket;
  };
  const flood = Array.from({ length: 5_000 }, () => open('8.8.8.8'));
  expect(flood.some(({ closed }) => closed)).toBe(true);
  expect(open('9.9.9.9').closed).toBe(false);
  front.endWaiting();
});
