/**
 * Clients that take their time. Bun closes a connection whose request head is not whole after 10 s
 * (it looks every 4 s), and one whose body comes in at less than 16 KiB/s over the idle time. A
 * body that is read has a shorter time of ours, and gets an answer.
 */

import { afterEach, expect, test } from 'bun:test';
import { seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { type Connection, open } from '../support/socket.ts';
import { until } from '../support/until.ts';

let app: TestApp | null = null;
const drips: ReturnType<typeof setInterval>[] = [];
afterEach(async () => {
  for (const drip of drips.splice(0)) clearInterval(drip);
  await app?.close();
  app = null;
});

async function dial(to: TestApp, first: string): Promise<Connection> {
  return open(Number(new URL(to.url).port), first);
}

/** Sends `piece` again and again, as long as the connection lets it. */
function drip(connection: Connection, piece: string, everyMs: number): Connection {
  connection.socket.on('error', () => {});
  drips.push(
    setInterval(() => {
      if (!connection.isClosed()) connection.socket.write(piece);
    }, everyMs),
  );
  return connection;
}

const post = (query: string, length: string) =>
  `POST /remote/notification?${query} HTTP/1.1\r\nhost: localhost\r\n${length}\r\n\r\n`;

async function credentialsOf(to: TestApp): Promise<string> {
  const { code, authKey } = await seedProvider(to);
  return `provider_code=${code}&auth_key=${authKey}`;
}

test.each([
  ['with a length', 'content-length: 100000', 'a'],
  ['in chunks', 'transfer-encoding: chunked', '1\r\na\r\n'],
])('a body %s that drips is answered when its time is over', async (_, length, piece) => {
  app = await startTestApp({ bodyTimeMaxMs: 50 });
  const slow = drip(await dial(app, post(await credentialsOf(app), length)), piece, 5);
  await until('it is answered', () => slow.received().includes('\r\n\r\n'));
  expect(slow.received()).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(slow.received()).toContain('x-error-detail: the body did not arrive within 0.05 s');
  expect(slow.received()).toContain('{"rc":0,"msg":"Unknown error"}');
});

test('a connection whose body came too late is closed', async () => {
  app = await startTestApp({ bodyTimeMaxMs: 50 });
  const query = await credentialsOf(app);
  const slow = drip(await dial(app, post(query, 'content-length: 100000')), 'a', 5);
  await until('it is closed', slow.isClosed);
});

test('heads that drip and connections that say nothing are closed, and hurt nobody', async () => {
  app = await startTestApp();
  const head = 'GET /provider?id=nobody HTTP/1.1\r\nhost: localhost\r\nx-drip: ';
  const slow = await Promise.all(
    Array.from({ length: 100 }, async (_, index) =>
      index % 2 === 0
        ? drip(await dial(app as TestApp, head), 'a', 500)
        : await dial(app as TestApp, ''),
    ),
  );
  const statuses: number[] = [];
  await until('all are closed', async () => {
    statuses.push((await fetch(`${app?.url}/provider?id=nobody`)).status);
    return slow.every((connection) => connection.isClosed());
  });
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});

test.each([
  ['one header of 100 KB', `x-long: ${'a'.repeat(100_000)}`],
  ['a thousand headers', Array.from({ length: 1000 }, (_, index) => `x-${index}: 1`).join('\r\n')],
])('%s is refused', async (_, headers) => {
  app = await startTestApp();
  const large = await dial(app, `GET / HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n\r\n`);
  large.socket.on('error', () => {});
  await until('it is closed', large.isClosed);
  expect(large.received()).toMatch(/^HTTP\/1\.1 431 /);
});
