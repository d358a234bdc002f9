/** A listener on a Unix socket: its file, and what a caller by it is trusted with. */

import { afterEach, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { freshFolder, startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { selfSigned } from '../support/certificate.ts';
import { binaryFrom, exchange, exchangeByTls, get, line } from '../support/front.ts';

let app: TestApp | null = null;
const folders: string[] = [];
afterEach(async () => {
  await app?.close();
  app = null;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A path in a folder with this mode. */
function place(mode = 0o750): string {
  const folder = freshFolder();
  folders.push(folder);
  chmodSync(folder, mode);
  return join(folder, 'gatepost.sock');
}

async function start(path: string, options: TestAppOptions = {}): Promise<TestApp> {
  const socket = { path, mode: 0o660, group: '', ...options.socket };
  app = await startTestApp({ logRequests: true, ...options, socket });
  return app;
}

const events = ({ logLines }: TestApp, name: string) =>
  logLines.map((text) => JSON.parse(text)).filter(({ event }) => event === name);
const clients = (of: TestApp) => events(of, 'request').map(({ client }) => client);

test('it has its mode, beside the address, and is gone after the stop', async () => {
  for (const mode of [0o660, 0o600]) {
    const path = place();
    const served = await start(path, { socket: { path, mode, group: '' } });
    expect(lstatSync(path).isSocket()).toBe(true);
    expect((lstatSync(path).mode & 0o777).toString(8)).toBe(mode.toString(8));
    expect(await exchange(path, get('/nowhere'))).toStartWith('HTTP/1.1 404');
    expect(await exchange(served, get('/nowhere'))).toStartWith('HTTP/1.1 404');
    await served.close();
    app = null;
    expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
  }
});

/** A group of this machine that this process may give: root any, another user one of its own. */
function anyGroup(): { name: string; gid: number } {
  const own = new Set(process.getgroups?.() ?? []);
  const rows = readFileSync('/etc/group', 'utf8').trim().split('\n');
  const groups = rows
    .map((row) => row.split(':'))
    .map(([name = '', , gid]) => ({ name, gid: Number(gid) }));
  const found = groups.find(({ gid }) => (isRoot ? gid > 0 && gid < 100 : own.has(gid)));
  return found ?? { name: 'root', gid: 0 };
}

test('it has its group', async () => {
  const { gid, name } = anyGroup();
  const path = place();
  await start(path, { socket: { path, mode: 0o660, group: name } });
  expect(statSync(path).gid).toBe(gid);
});

test('a folder that is missing is made for owner and group alone', async () => {
  const path = join(place(), '..', 'own', 'gatepost.sock');
  const { gid, name } = anyGroup();
  // As the packaged service has it.
  const mask = process.umask(0o077);
  await start(path, { socket: { path, mode: 0o660, group: name } });
  process.umask(mask);
  const made = statSync(join(path, '..'));
  expect({ mode: (made.mode & 0o7777).toString(8), gid: made.gid }).toEqual({ mode: '750', gid });
});

const isRoot = process.geteuid?.() === 0;
const NOBODY = 65_534;

test.skipIf(!isRoot)('the socket of another user is left there', async () => {
  const path = place();
  Bun.spawnSync([process.execPath, '-e', leaveSocket(path)]);
  chownSync(path, 1, 1);
  expect(start(path)).rejects.toThrow('the socket there belongs to another user');
  expect(lstatSync(path).isSocket()).toBe(true);
});

/** A program that leaves its socket behind. */
const leaveSocket = (path: string) =>
  `Bun.listen({ unix: ${JSON.stringify(path)}, socket: { data() {} } });
   process.kill(process.pid, 'SIGKILL')`;

test('the socket of a killed server is replaced, and nothing else is', async () => {
  const path = place();
  const killed = Bun.spawnSync([process.execPath, '-e', leaveSocket(path)]);
  expect(killed.signalCode).toBe('SIGKILL');
  expect(lstatSync(path).isSocket()).toBe(true);
  await start(path);
  expect(await exchange(path, get('/nowhere'))).toStartWith('HTTP/1.1 404');
});

test('a server that stops leaves the socket of a newer one, and nothing else in the folder', async () => {
  const path = place();
  const old = await start(path);
  rmSync(path);
  await start(path);
  await old.close();
  expect(readdirSync(dirname(path))).toEqual(['gatepost.sock']);
  expect(await exchange(path, get('/nowhere'))).toStartWith('HTTP/1.1 404');
});

test.skipIf(!isRoot)(
  'a socket that cannot be tried is left there, and the reason told',
  async () => {
    const path = place();
    const server = createServer().listen(path);
    await new Promise((resolve) => server.once('listening', resolve));
    chownSync(dirname(path), NOBODY, NOBODY);
    chmodSync(path, 0o600);
    process.seteuid?.(NOBODY);
    try {
      const started = start(path);
      expect(started).rejects.toThrow('a program may listen there, but to connect to it fails');
      await started.catch(() => {});
    } finally {
      process.seteuid?.(0);
    }
    expect(lstatSync(path).isSocket()).toBe(true);
    await new Promise((resolve) => server.close(resolve));
  },
);

test.skipIf(!isRoot)('a folder of another user is refused', async () => {
  const path = place();
  chownSync(dirname(path), NOBODY, NOBODY);
  expect(start(path)).rejects.toThrow(`another user (id ${NOBODY}) owns the folder`);
});

test('the start is refused, with the reason, where the place is not free or not safe', async () => {
  const file = place();
  writeFileSync(file, 'not a socket');
  expect(start(file)).rejects.toThrow(`${file}: another file is there`);
  const folder = place();
  mkdirSync(folder);
  expect(start(folder)).rejects.toThrow('another file is there');
  const used = place();
  const server = createServer().listen(used);
  await new Promise((resolve) => server.once('listening', resolve));
  expect(start(used)).rejects.toThrow('a running program listens there');
  const group = { path: place(), mode: 0o660, group: 'no-such-group' };
  expect(start(group.path, { socket: group })).rejects.toThrow('there is no group no-such-group');
  for (const mode of [0o755, 0o770, 0o751, 0o777]) {
    const open = place(mode);
    expect(start(open)).rejects.toThrow('other users can reach the folder');
  }
  const missing = join(place(), '..', 'none', 'none', 'gatepost.sock');
  expect(start(missing)).rejects.toThrow('cannot listen on the socket');
  await new Promise((resolve) => server.close(resolve));
  expect(readFileSync(file, 'utf8')).toBe('not a socket');
});

test('a caller by it is a trusted proxy and one of the gate', async () => {
  const path = place();
  const nobody = parseTrustedProxies([]);
  const served = await start(path, { trustedProxies: nobody, gateProxies: nobody });
  await exchange(path, get('/nowhere'));
  await exchange(path, get('/nowhere', 'x-forwarded-for: 203.0.113.7'));
  // The proxy adds the last one; what the client sent before it is not read.
  await exchange(path, get('/nowhere', 'x-forwarded-for: 203.0.113.8, 203.0.113.9'));
  await exchange(path, get('/nowhere', 'x-forwarded-for: 203.0.113.8, 127.0.0.1'));
  await exchange(path, get('/nowhere', 'x-forwarded-for: socket'));
  expect(clients(served)).toEqual([
    ...['127.0.0.1', '203.0.113.7', '203.0.113.9', '127.0.0.1', '127.0.0.1'],
  ]);
  served.settings.trustedProxies = parseTrustedProxies(['203.0.113.9']);
  await exchange(path, get('/nowhere', 'x-forwarded-for: 203.0.113.8, 203.0.113.9'));
  expect(clients(served).at(-1)).toBe('203.0.113.8');
  const asked = get('/gate', 'x-original-uri: /sub/a', 'x-original-method: GET');
  await exchange(path, asked);
  expect(events(served, 'gate_untrusted')).toEqual([]);
  await exchange(served, asked);
  expect(events(served, 'gate_untrusted')).toHaveLength(1);
});

test('the request id of a caller by it is kept', async () => {
  const path = place();
  const served = await start(path);
  await exchange(path, get('/nowhere', 'x-request-id: a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2'));
  await exchange(served, get('/nowhere', 'x-request-id: c1d2c1d2c1d2c1d2c1d2c1d2c1d2c1d2'));
  const ids = events(served, 'request').map(({ id }) => id);
  expect(ids[0]).toBe('a1b2a1b2a1b2a1b2a1b2a1b2a1b2a1b2');
  expect(ids[1]).not.toBe('c1d2c1d2c1d2c1d2c1d2c1d2c1d2c1d2');
});

test('a caller by it is never of this machine: the console needs https by the proxy', async () => {
  const path = place();
  const served = await start(path, { tls: null });
  expect(await exchange(path, get('/console'))).toStartWith('HTTP/1.1 403');
  expect(await exchange(path, get('/console', 'x-forwarded-proto: http'))).toStartWith(
    'HTTP/1.1 403',
  );
  const secure = await exchange(path, get('/console', 'x-forwarded-proto: https'));
  expect(secure).not.toStartWith('HTTP/1.1 403');
  // By the address it is.
  expect(await exchange(served, get('/console'))).not.toStartWith('HTTP/1.1 403');
});

test('beside a listener with TLS it is plain, and no secure one by that', async () => {
  const path = place();
  await start(path, { tls: await selfSigned('first') });
  expect(await exchange(path, get('/nowhere'))).toStartWith('HTTP/1.1 404');
  expect(await exchange(path, get('/console'))).toStartWith('HTTP/1.1 403');
});

test('with proxy_protocol.socket each connection names its client, who is no proxy', async () => {
  const path = place();
  const served = await start(path, { isSocketProxied: true });
  const forwarded = get('/nowhere', 'x-forwarded-for: 9.9.9.9');
  expect(await exchange(path, line('8.8.4.4'), forwarded)).toStartWith('HTTP/1.1 404');
  expect(await exchange(path, binaryFrom('8.8.4.5'), forwarded)).toStartWith('HTTP/1.1 404');
  expect(await exchange(path, forwarded)).toBe('');
  expect(await exchange(path, 'PROXY UNKNOWN\r\n', get('/healthz'))).toStartWith('HTTP/1.1 200');
  expect(clients(served)).toEqual(['8.8.4.4', '8.8.4.5']);
  await exchange(path, line('8.8.4.4'), get('/gate', 'x-original-uri: /sub/a'));
  expect(events(served, 'gate_untrusted')).toHaveLength(1);
  // By the address as before.
  expect(await exchange(served, get('/nowhere'))).toStartWith('HTTP/1.1 404');
});

test('with proxy_protocol.socket TLS passes by it, with the certificate of the address', async () => {
  const path = place();
  const served = await start(path, { isSocketProxied: true, tls: await selfSigned('first') });
  const ask = () => exchangeByTls(path, line('8.8.4.4'), get('/nowhere'));
  const first = await ask();
  expect({ name: first.name, status: first.answer.slice(0, 12) }).toEqual({
    name: 'first',
    status: 'HTTP/1.1 404',
  });
  await served.server.replaceCertificate(await selfSigned('second'));
  expect((await ask()).name).toBe('second');
  expect(clients(served)).toEqual(['8.8.4.4', '8.8.4.4']);
});
