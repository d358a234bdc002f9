/** Notifications to systemd, over a real datagram socket. Bun has none, so python3 listens. */

import { afterEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../src/base/operator-error.ts';
import {
  type ServiceEnvironment,
  type ServiceManager,
  serviceManager,
} from '../src/cli/systemd.ts';
import { freshFolder } from './support/app.ts';
import { cleanUp, startServe } from './support/process.ts';
import { until } from './support/until.ts';

const LISTEN = `
import socket, sys
address = sys.argv[1]
peer = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
peer.bind('\\0' + address[1:] if address[0] == '@' else address)
print('bound', flush=True)
while True:
    print(repr(peer.recv(4096).decode()), flush=True)
`;

import { testWith } from './support/needs.ts';

const withPython = testWith('python3');

interface Peer {
  address: string;
  /** The datagrams so far, one each. */
  heard(): string[];
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await cleanUp();
});

async function listen(isAbstract = false): Promise<Peer> {
  const folder = freshFolder();
  const address = isAbstract ? `@${folder}` : join(folder, 'notify');
  const child = Bun.spawn(['python3', '-c', LISTEN, address], { stdout: 'pipe' });
  let text = '';
  const reading = (async () => {
    for await (const chunk of child.stdout) text += new TextDecoder().decode(chunk);
  })();
  ends.push(async () => {
    child.kill('SIGKILL');
    await reading;
    rmSync(folder, { recursive: true });
  });
  await until('the peer listens', () => text.startsWith('bound\n'));
  const heard = () => text.split('\n').slice(1, -1).map(unquote);
  return { address, heard };
}

/** Reads Python's repr of texts without quotes in them. */
function unquote(line: string): string {
  return line.slice(1, -1).replaceAll('\\n', '\n');
}

function managerOf(more: Partial<ServiceEnvironment>, startPingMs?: number): ServiceManager {
  const none = { notifySocket: undefined, watchdogUsec: undefined, watchdogPid: undefined };
  const manager = serviceManager({ ...none, ...more }, startPingMs);
  ends.push(() => manager.close());
  return manager;
}

withPython.each([false, true])(
  'ready, reloading and stopping are sent, each in one datagram (abstract: %p)',
  async (isAbstract) => {
    const peer = await listen(isAbstract);
    const manager = managerOf({ notifySocket: peer.address });
    manager.ready('listening on\nSTOPPING=1');
    manager.reloading();
    manager.ready('again');
    manager.stopping();
    await until('all are heard', () => peer.heard().length === 4);
    expect(peer.heard()).toEqual([
      'READY=1\nSTATUS=listening on STOPPING=1',
      'RELOADING=1\nSTATUS=reading the settings again',
      'READY=1\nSTATUS=again',
      'STOPPING=1\nSTATUS=finishing what runs',
    ]);
  },
);

withPython('a long start asks for more time, until it is ready', async () => {
  const peer = await listen();
  const manager = managerOf({ notifySocket: peer.address }, 2);
  manager.starting();
  await until('it asks', () => peer.heard().length > 2);
  manager.ready('here');
  await until('it is ready', () => peer.heard().includes('READY=1\nSTATUS=here'));
  manager.stopping();
  await until('it stops', () => peer.heard().at(-1)?.startsWith('STOPPING=1') === true);
  expect(new Set(peer.heard().slice(0, -2))).toEqual(
    new Set(['EXTEND_TIMEOUT_USEC=180000000\nSTATUS=starting: see the log']),
  );
});

withPython('the watchdog is fed from ready on, and until it is closed', async () => {
  const peer = await listen();
  const watchdogPid = String(process.pid);
  const manager = managerOf({ notifySocket: peer.address, watchdogUsec: '30000', watchdogPid });
  manager.reloading();
  manager.ready('here');
  manager.ready('here again');
  await until('it is fed', () => peer.heard().length > 8);
  expect(
    peer
      .heard()
      .slice(0, 3)
      .map((text) => text.split('\n')[0]),
  ).toEqual(['RELOADING=1', 'READY=1', 'READY=1']);
  expect(new Set(peer.heard().slice(3))).toEqual(new Set(['WATCHDOG=1']));
});

withPython('a watchdog for another process is not fed', async () => {
  const peer = await listen();
  const other = await listen();
  const watchdogUsec = '3000';
  managerOf({ notifySocket: peer.address, watchdogUsec, watchdogPid: '1' }).ready('silent');
  managerOf({ notifySocket: other.address, watchdogUsec }).ready('fed');
  await until('one is fed', () => other.heard().length > 5);
  await until('the other is heard', () => peer.heard().length > 0);
  expect(peer.heard()).toEqual(['READY=1\nSTATUS=silent']);
});

test('without a manager nothing is done, and a silent manager stops no process', () => {
  managerOf({ watchdogUsec: '1000' }).ready('no one listens');
  const manager = managerOf({ notifySocket: '/nowhere/notify' });
  manager.ready('no one listens');
  manager.stopping();
});

test.each(['notify', '@', '/', `/${'a'.repeat(108)}`, 'vsock:2:1234'])(
  'an address that is none is refused: %s',
  (notifySocket) => {
    expect(() => managerOf({ notifySocket })).toThrow(OperatorError);
  },
);

withPython('the executable says that it is ready, reloads, is alive, stops', async () => {
  const peer = await listen();
  const env = { NOTIFY_SOCKET: peer.address, WATCHDOG_USEC: '300000' };
  const server = await startServe({ env });
  const kinds = () => peer.heard().map((text) => text.split('=')[0]);
  await until('it is alive', () => kinds().includes('WATCHDOG'));
  expect(peer.heard()[0]).toBe(`READY=1\nSTATUS=listening on ${server.url}`);
  process.kill(server.pid, 'SIGHUP');
  await until('it has reloaded', () => kinds().filter((kind) => kind === 'READY').length === 2);
  const [reloading, ready] = kinds()
    .filter((kind) => kind !== 'WATCHDOG')
    .slice(1);
  expect([reloading, ready]).toEqual(['RELOADING', 'READY']);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  await until('it says that it stops', () => kinds().includes('STOPPING'));
});
