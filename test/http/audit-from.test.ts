/** Where an entry of the audit log says that a provider was. */

import { afterEach, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { auditEntries } from '../support/audit.ts';
import { until } from '../support/until.ts';

let app: TestApp;
afterEach(() => app.close());

const origins = async () => (await auditEntries(app.core)).slice(1).map(({ from }) => from);

test('a client that is gone before its change is saved changes nothing, or leaves its address', async () => {
  app = await startTestApp();
  const own = await seedProvider(app);
  const credentials = `provider_code=${own.code}&auth_key=${own.authKey}`;
  const body = JSON.stringify({ action_type: 'update-subscription', os: 'android' });
  const requests = [
    `GET /api/add-install?${credentials}&install_limit=1 HTTP/1.1\r\nhost: localhost\r\n\r\n`,
    `POST /remote/command?${credentials} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  ];
  const { hostname, port } = new URL(app.url);
  for (const request of requests) {
    const before = (await origins()).length;
    const socket = await Bun.connect({ hostname, port: Number(port), socket: { data: () => {} } });
    socket.write(request);
    socket.flush();
    socket.terminate();
    // A reset may overtake the request; then it was not made.
    await until('the change or another', async () => {
      if ((await origins()).length > before) return true;
      await call(app, '/api/add-install', own, { install_limit: 1 });
      return false;
    });
  }
  expect(new Set(await origins())).toEqual(new Set(['127.0.0.1']));
});

test('a proxy that is trusted says it, as far as that is an address', async () => {
  const trustedProxies = parseTrustedProxies(['127.0.0.1']);
  app = await startTestApp({ trustedProxies });
  const own = await seedProvider(app);
  const add = (forwarded: string) =>
    call(
      app,
      '/api/add-install',
      own,
      { install_limit: 1 },
      {
        headers: { 'x-forwarded-for': forwarded },
      },
    );
  await add('203.0.113.9, 198.51.100.7');
  await add('2001:db8:1:2:3::4');
  await add('x'.repeat(5_000));
  expect(await origins()).toEqual(['198.51.100.7', '2001:db8:1:2::/64', '127.0.0.1']);
});
