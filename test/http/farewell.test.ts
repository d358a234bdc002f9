/** Sockets that end: none is kept for long, and no client takes the room of others. */

import { dlopen, ptr } from 'bun:ffi';
import { expect, test } from 'bun:test';
import { CloseFrames, type Ends } from '../../src/http/stream/close-frame.ts';
import { Farewells } from '../../src/http/stream/farewell.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';

/** A socket without a connection, as one that has closed. */
function closedSocket(client = 'one', ends: Ends | null = null) {
  const calls: string[] = [];
  return {
    calls,
    data: { ends, client },
    getBufferedAmount: () => 0,
    close: (code: number) => void calls.push(`close ${code}`),
    terminate: () => void calls.push('terminate'),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a socket that Bun closes is not kept: it may have ended before', async () => {
  const farewells = new Farewells(new FakeClock());
  const sockets = Array.from({ length: 20 }, () => closedSocket());
  for (const socket of sockets) farewells.close(socket, 4001, 'over');
  expect(farewells.count).toBe(20);
  await turn();
  expect(sockets.map(({ calls }) => calls)).toEqual(sockets.map(() => ['close 4001']));
  expect(farewells.count).toBe(0);
});

test('a client that never answers leaves the Close frames of others room', async () => {
  const clock = new FakeClock();
  const farewells = new Farewells(clock, { send: () => true });
  const ends = { localPort: 1, address: '127.0.0.1', port: 2, sinceMs: 0 };
  const many = Array.from({ length: 1_500 }, () => closedSocket('one', ends));
  for (const socket of many) farewells.close(socket, 4002, 'replaced');
  await turn();
  const other = closedSocket('two', ends);
  farewells.close(other, 4004, 'slot_freed');
  await turn();
  expect(other.calls).toEqual([]);
  expect(many.filter(({ calls }) => calls.length === 0)).toHaveLength(500);
  clock.advance(2_000);
  await turn();
  expect(other.calls).toEqual(['terminate']);
  expect(farewells.count).toBe(0);
});

const AF_INET = 2;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;

/** Connects from one port to addresses of this machine, and returns what each connection reads. */
function connectFrom(addresses: readonly number[], port: number) {
  const name = { args: ['i32', 'ptr', 'u32'], returns: 'i32' } as const;
  const { symbols: libc } = dlopen('libc.so.6', {
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    bind: name,
    connect: name,
    getsockname: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
    recv: { args: ['i32', 'ptr', 'u64', 'i32'], returns: 'i64' },
    close: { args: ['i32'], returns: 'i32' },
  });
  const at = (lastByte: number, atPort: number) => {
    const address = Buffer.alloc(16);
    address.writeUInt16LE(AF_INET, 0);
    address.writeUInt16BE(atPort, 2);
    address.set([127, 0, 0, lastByte], 4);
    return address;
  };
  let ownPort = 0;
  const sockets = addresses.map((lastByte) => {
    const fd = libc.socket(AF_INET, 1, 0);
    libc.setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, ptr(new Int32Array([1])), 4);
    expect(libc.bind(fd, ptr(at(1, ownPort)), 16)).toBe(0);
    const own = at(1, 0);
    libc.getsockname(fd, ptr(own), ptr(new Int32Array([16])));
    ownPort = own.readUInt16BE(2);
    expect(libc.connect(fd, ptr(at(lastByte, port)), 16)).toBe(0);
    return fd;
  });
  const bytes = Buffer.alloc(64);
  const read = () =>
    sockets.map((fd) => {
      const count = Number(libc.recv(fd, ptr(bytes), 64, 0x40));
      return count > 0 ? bytes.subarray(0, count).toString('hex') : '';
    });
  return { port: ownPort, read, close: () => sockets.map((fd) => libc.close(fd)) };
}

test.skipIf(process.platform !== 'linux')(
  'a client with one port at two addresses of this machine gets no frame of another',
  async () => {
    let openCount = 0;
    const open = () => {
      openCount += 1;
    };
    const server = Bun.listen({ hostname: '0.0.0.0', port: 0, socket: { open, data() {} } });
    const clock = new FakeClock();
    const frames = new CloseFrames(clock);
    const client = connectFrom([1, 2], server.port);
    await until('both are open', () => openCount === 2);
    const { port } = client;
    const ends = { localPort: server.port, address: '127.0.0.1', port, sinceMs: clock.steadyMs() };
    expect(frames.send(ends, 4002, 'replaced')).toBe(false);
    expect(client.read()).toEqual(['', '']);
    client.close();
    server.stop(true);
  },
);

test.skipIf(process.platform !== 'linux')(
  'a search knows no socket that was opened after it',
  async () => {
    let openCount = 0;
    const open = () => {
      openCount += 1;
    };
    const server = Bun.listen({ hostname: '0.0.0.0', port: 0, socket: { open, data() {} } });
    const clock = new FakeClock();
    const frames = new CloseFrames(clock);
    const client = connectFrom([1], server.port);
    await until('it is open', () => openCount === 1);
    const { port } = client;
    const ends = { localPort: server.port, address: '127.0.0.1', port, sinceMs: clock.steadyMs() };
    expect(frames.send(ends, 4002, 'a')).toBe(true);
    await until('it came', () => client.read()[0] === '88030fa261');
    // The same peer, from now on: the search a moment ago does not say that it is this one.
    clock.advance(1);
    expect(frames.send({ ...ends, sinceMs: clock.steadyMs() }, 4002, 'b')).toBe(false);
    clock.advance(1_000);
    expect(frames.send({ ...ends, sinceMs: clock.steadyMs() - 1 }, 4002, 'c')).toBe(true);
    client.close();
    server.stop(true);
  },
);
