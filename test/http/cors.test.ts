/** Pages of other origins may call `/device/*`, without credentials, and nothing else. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { endpoints } from '../../src/http/endpoints/index.ts';
import { messagingEndpoints } from '../../src/http/endpoints/messaging.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { register } from '../support/messaging.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const ORIGIN = { origin: 'https://page.example' };
const asked = (method: string) => ({
  ...ORIGIN,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,content-type',
});
const corsOf = ({ headers }: Response) =>
  [...headers].filter(([name]) => name.startsWith('access-control-'));

const devicePaths = messagingEndpoints.map(({ path }) => path);
const otherPaths = [
  ...endpoints.map(({ path }) => path).filter((path) => !path.startsWith('/device/')),
  ...['/gate', '/openapi.json', '/docs', '/', '/device', '/devices/inbox', '/device/nothing'],
];

test.each(devicePaths)('the answers of %s are open to a page, refusals too', async (path) => {
  for (const method of ['GET', 'POST', 'PUT']) {
    const answer = await fetch(app.url + path, { method, headers: ORIGIN });
    expect(corsOf(answer)).toEqual([
      ['access-control-allow-origin', '*'],
      ['access-control-expose-headers', 'x-error-detail, x-request-id, x-wait-max'],
    ]);
  }
});

describe('a preflight', () => {
  test.each([...devicePaths, '//device/inbox/'])('of %s is answered', async (path) => {
    const answer = await fetch(app.url + path, { method: 'OPTIONS', headers: asked('POST') });
    expect(answer.status).toBe(204);
    expect(await answer.text()).toBe('');
    expect(corsOf(answer)).toEqual([
      ['access-control-allow-headers', 'authorization, content-type, x-frame-max'],
      ['access-control-allow-methods', 'GET, POST'],
      ['access-control-allow-origin', '*'],
      ['access-control-expose-headers', 'x-error-detail, x-request-id, x-wait-max'],
      ['access-control-max-age', '86400'],
    ]);
  });

  test('changes nothing, also with a body and a token', async () => {
    const token = await register(app, { hwid: 'phone' });
    const before = await takeSnapshot(app);
    const body = JSON.stringify({ hwid: 'tablet', items: [{ id: 1, state: 'received' }] });
    const headers = { ...asked('POST'), authorization: `Bearer ${token}` };
    for (const path of devicePaths) {
      const answer = await fetch(app.url + path, { method: 'OPTIONS', headers, body });
      expect(answer.status).toBe(204);
    }
    expect(difference(before, await takeSnapshot(app))).toEqual([]);
  });

  test('is one only if it asks for a method: else it is a wrong method', async () => {
    const answer = await fetch(`${app.url}/device/ack`, { method: 'OPTIONS', headers: ORIGIN });
    expect(answer.headers.get('x-error-detail')).toBe('this endpoint takes POST alone');
  });
});

test.each(otherPaths)('%s stays closed to pages', async (path) => {
  const answer = await fetch(app.url + path, { headers: ORIGIN });
  const preflight = await fetch(app.url + path, { method: 'OPTIONS', headers: asked('GET') });
  expect([...corsOf(answer), ...corsOf(preflight)]).toEqual([]);
});
