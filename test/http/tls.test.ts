/** HTTPS, and a new certificate while clients are at work. */

import { afterEach, expect, test } from 'bun:test';
import { connect, type TLSSocket } from 'node:tls';
import type { Credentials } from '../../src/core/provider.ts';
import {
  call,
  seedProvider,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../support/app.ts';
import { selfSigned } from '../support/certificate.ts';
import { openStream } from '../support/stream.ts';
import { until } from '../support/until.ts';

let app: TestApp | null = null;
afterEach(async () => {
  await app?.close();
  app = null;
});

async function startWith(options: TestAppOptions = {}): Promise<TestApp> {
  app = await startTestApp({ tls: await selfSigned('first'), ...options });
  return app;
}

const lax: BunFetchRequestInit = { tls: { rejectUnauthorized: false } };

interface Peer {
  socket: TLSSocket;
  name: string;
  /** Everything that came. */
  received(): string;
  isClosed(): boolean;
}

/** A TLS connection, and the common name of the certificate that it was shown. */
function dial(to: TestApp, protocol?: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<Peer> {
  return new Promise((resolve, reject) => {
    let text = '';
    let hasClosed = false;
    const versions = protocol ? { minVersion: protocol, maxVersion: protocol } : {};
    const socket = connect({
      port: Number(new URL(to.url).port),
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ...versions,
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.on('close', () => {
      hasClosed = true;
    });
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      const name = String(socket.getPeerCertificate().subject.CN);
      resolve({ socket, name, received: () => text, isClosed: () => hasClosed });
    });
  });
}

const GET = 'GET /nowhere HTTP/1.1\r\nhost: localhost\r\n\r\n';

test('it speaks HTTPS, and no TLS before 1.2', async () => {
  const served = await startWith();
  expect(served.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const credentials = await seedProvider(served);
  const reply = await call(served, '/api/list-install', credentials, {}, lax);
  expect(reply.json).toMatchObject({ rc: 1 });
  for (const protocol of ['TLSv1.2', 'TLSv1.3'] as const) {
    const peer = await dial(served, protocol);
    expect(peer.socket.getProtocol()).toBe(protocol);
    peer.socket.destroy();
  }
  expect(dial(served, 'TLSv1.1')).rejects.toThrow(/PROTOCOL_VERSION/i);
});

test('a host that is named like the beginning of a path is no part of it', async () => {
  const served = await startWith();
  const init = { ...lax, headers: { host: 'api' } };
  expect((await fetch(`${served.url}/list-install`, init)).status).toBe(404);
});

/** Clients that call as fast as they can, half of them by a new connection each time. */
async function underLoad(served: TestApp, during: () => Promise<void>) {
  const credentials = await seedProvider(served);
  let isOver = false;
  let answered = 0;
  const failures: unknown[] = [];
  const lane = async (keepalive: boolean) => {
    while (!isOver) {
      try {
        const reply = await call(
          served,
          '/api/list-install',
          credentials,
          {},
          { ...lax, keepalive },
        );
        if (reply.json?.rc === 1) answered += 1;
        else failures.push(reply.text);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  const lanes = Array.from({ length: 12 }, (_, index) => lane(index % 2 === 0));
  await until('the load runs', () => answered > 100);
  await during();
  const before = answered;
  await until('the load goes on', () => answered > before + 100);
  isOver = true;
  await Promise.all(lanes);
  return { answered, failures };
}

test('a new certificate is taken up under load without a single failed request', async () => {
  const served = await startWith({ retirementMs: 200 });
  const { failures } = await underLoad(served, async () => {
    for (const name of ['second', 'third', 'fourth', 'fifth', 'sixth']) {
      await served.server.replaceCertificate(await selfSigned(name));
      const peer = await dial(served);
      expect(peer.name).toBe(name);
      peer.socket.destroy();
    }
  });
  expect(failures).toEqual([]);
});

test('a connection from before the change is answered once more, then closed', async () => {
  const served = await startWith();
  const peer = await dial(served);
  await served.server.replaceCertificate(await selfSigned('second'));
  peer.socket.write(GET);
  await until('it is closed', peer.isClosed);
  expect(peer.received()).toMatch(/^HTTP\/1\.1 404 [\s\S]*connection: close/i);
});

test('what idles on the old certificate is closed when it retires', async () => {
  const served = await startWith({ retirementMs: 20 });
  const peer = await dial(served);
  peer.socket.write(GET);
  await until('it has an answer', () => peer.received().includes('Not found'));
  await served.server.replaceCertificate(await selfSigned('second'));
  await until('it is closed', peer.isClosed);
});

test('a WebSocket can still be made on a connection from before the change', async () => {
  const served = await startWith();
  const peer = await dial(served);
  await served.server.replaceCertificate(await selfSigned('second'));
  const upgrade = [
    'GET /device/stream HTTP/1.1',
    'host: localhost',
    'upgrade: websocket',
    'connection: upgrade',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version: 13',
    'authorization: Bearer nobody',
  ];
  peer.socket.write(`${upgrade.join('\r\n')}\r\n\r\n`);
  await until('it is answered', () => peer.received().includes('\r\n\r\n'));
  expect(peer.received()).toContain('Device token error');
});

test('a stream and a long poll outlive two changes, and get what comes after', async () => {
  const served = await startWith({ retirementMs: 20, hasWorker: true });
  const own = await seedProvider(served);
  const post = (path: string, by: Credentials | null, fields: object) =>
    call(served, path, by, {}, { ...lax, method: 'POST', body: JSON.stringify(fields) });
  const tokenOf = async (hwid: string): Promise<string> =>
    (await post('/device/register', null, { hwid, os: 'android', ...binding })).json.device_token;
  const binding = { provider_code: own.code, domain_hash: 'a'.repeat(64) };
  await call(served, '/api/add-domain', own, { domain_hash: binding.domain_hash }, lax);
  const stream = await openStream(served, await tokenOf('phone'), lax);
  const headers = { authorization: `Bearer ${await tokenOf('tablet')}` };
  const poll = call(served, '/device/inbox', null, { wait: 60 }, { ...lax, headers });
  await until('the poll waits', () => served.server.pollCount() === 1);
  const idle = await dial(served);
  idle.socket.write(GET);
  await until('it has an answer', () => idle.received().includes('Not found'));
  for (const name of ['second', 'third']) {
    await served.server.replaceCertificate(await selfSigned(name));
  }
  await until('the first listener has left', idle.isClosed);
  expect([served.server.streamCount(), served.server.pollCount()]).toEqual([1, 1]);

  const form = { body: 'hello', type_push: 'optional', expire_days: 1 };
  await post('/remote/notification', own, { PushNotificationForm: form, os: 'android' });
  expect((await poll).json.data).toMatchObject([{ payload: { body: 'hello' } }]);
  await until('it came by the stream', () => stream.ids().length === 1);
  stream.send({ items: [{ id: stream.ids()[0], state: 'received' }] });
  await until('the acknowledgement is answered', () => stream.frames.length === 2);
  await served.server.stop();
  expect(await stream.closed).toBe(1001);
});

test('a pair that cannot be served changes nothing', async () => {
  const served = await startWith();
  const second = await selfSigned('second');
  const third = await selfSigned('third');
  const wrong = { cert: second.cert, key: third.key };
  await expect(served.server.replaceCertificate(wrong)).rejects.toThrow('cannot be served');
  const peer = await dial(served);
  expect(peer.name).toBe('first');
  peer.socket.destroy();
});

test('after a change the port is still no other program\u2019s', async () => {
  const served = await startWith({ retirementMs: 0 });
  await served.server.replaceCertificate(await selfSigned('second'));
  const port = Number(new URL(served.url).port);
  expect(startTestApp({ port })).rejects.toThrow('the port is taken');
});

test('where no two listeners can share a port, the change is made one after the other', async () => {
  const served = await startWith({ canHandOver: false });
  await served.server.replaceCertificate(await selfSigned('second'));
  const peer = await dial(served);
  expect(peer.name).toBe('second');
  peer.socket.destroy();
});
