/** Request lines and ids: what the log tells of a request, and what it never does. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call, type Reply, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { Faults } from '../support/faults.ts';
import { rawRequest } from '../support/raw.ts';

let faults: Faults;
let app: TestApp;
let own: Credentials;

async function start(isTrusting = false): Promise<void> {
  const trustedProxies = parseTrustedProxies(isTrusting ? ['127.0.0.1'] : []);
  faults = new Faults();
  app = await startTestApp({ logRequests: true, trustedProxies }, faults.wrap);
  own = await seedProvider(app);
}

beforeEach(() => start());
afterEach(() => app.close());

function lines(event = 'request'): Record<string, unknown>[] {
  return app.logLines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
}

const idOf = (reply: Reply) => reply.headers.get('x-request-id');

describe('a request line', () => {
  test('names endpoint, answer, client and provider, and the answer has its id', async () => {
    const reply = await call(app, '/api/list-install', own, { id: 7 });
    expect(lines()).toEqual([
      {
        time: '2026-11-20T12:00:00.000Z',
        level: 'info',
        event: 'request',
        id: idOf(reply),
        method: 'GET',
        path: '/api/list-install',
        answer: 'ok',
        ms: 0,
        client: '127.0.0.1',
        provider: own.code,
      },
    ]);
  });

  test('names no provider until its key has proved good', async () => {
    // One letter off, whatever the drawn key begins with.
    const authKey = own.authKey.replace(/^./, own.authKey[0] === 'x' ? 'y' : 'x');
    await call(app, '/api/list-install', { ...own, authKey });
    await call(app, '/api/list-install', { code: own.authKey, authKey: own.authKey });
    expect(lines().map(({ answer, provider }) => [answer, provider])).toEqual([
      ['auth_error', undefined],
      ['auth_error', undefined],
    ]);
    expect(app.logLines.join('')).not.toContain(own.authKey);
  });

  test('names the provider that is refused by its plan', async () => {
    const small = await seedProvider(app, { plan: 'basic' });
    await call(app, '/remote/list', small);
    await call(app, '/remote/command', small, {}, { method: 'POST' });
    expect(lines().at(-1)).toMatchObject({ answer: 'pro_required', provider: small.code });
  });

  test('has the id that the answer has, pages and what is not there included', async () => {
    for (const path of ['/docs', '/openapi.json', '/nowhere', '/api/nowhere']) {
      const reply = await call(app, path, null);
      expect(idOf(reply)).toMatch(/^[0-9a-f]{8}-\d+$/);
      expect(lines().at(-1)).toMatchObject({ id: idOf(reply) });
    }
  });

  test('says nothing of a path that is no endpoint, nor of a method that is none', async () => {
    await call(app, `/api/list-install&auth_key=${own.authKey}`, null);
    await call(app, `/${own.authKey}`, null);
    expect(lines()).toMatchObject([
      { path: 'other', answer: 'no_such_endpoint' },
      { path: 'other', answer: 'not_found' },
    ]);
    expect(app.logLines.join('')).not.toContain(own.authKey);
    await rawRequest(app, 'PURGE', '/api/list-install', []);
    expect(lines().at(-1)).toMatchObject({ method: 'other', answer: 'wrong_method' });
  });

  test('is written only if it is wanted', async () => {
    const quiet = await startTestApp();
    const reply = await call(quiet, '/api/list-install', null);
    expect([idOf(reply), quiet.logLines]).toEqual([null, []]);
    await quiet.close();
  });
});

describe('a request id', () => {
  test('is one for each request', async () => {
    const ids = new Set<unknown>();
    for (let i = 0; i < 5; i++) ids.add(idOf(await call(app, '/api/list-install', own)));
    expect(ids.size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-\d+$/);
  });

  test('ties a fault to its request, line and answer', async () => {
    faults.arm('listLinksOf', new Error('broken'));
    app.expectFault('broken');
    const reply = await call(app, '/api/list-install', own);
    const id = idOf(reply);
    expect(reply.headers.get('x-error-detail')).toBe(
      `internal fault ${id}, see the log of the server`,
    );
    expect(lines('fault')).toMatchObject([{ id, path: '/api/list-install' }]);
    expect(lines()).toMatchObject([{ id, answer: 'unknown_error' }]);
  });

  test('ties a fault to the path of a page, and to no path outside the routes', async () => {
    const cookie = `__Host-gatepost=${'a'.repeat(43)}`;
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    faults.arm('findSession', new Error('broken'));
    app.expectFault('broken');
    const answer = await fetch(`${app.url}//console/backup`, { headers });
    const id = answer.headers.get('x-request-id');
    expect(await answer.text()).toBe('{"rc":0,"msg":"Unknown error"}');
    expect(lines('fault')).toMatchObject([{ id, path: '/console/backup' }]);
    expect(lines()).toMatchObject([{ id, path: '/console/backup', answer: 'unknown_error' }]);
    faults.arm('readSigningKey', new Error('broken'));
    await fetch(`${app.url}/device/probe?sign=x`);
    expect(lines('fault')).toMatchObject([{}, { path: 'other' }]);
  });

  test('is of no client to choose', async () => {
    const headers = { 'x-request-id': '0123456789abcdef' };
    const reply = await call(app, '/api/list-install', own, {}, { headers });
    expect(idOf(reply)).not.toBe('0123456789abcdef');
  });

  test.each([
    ['32 digits, as nginx makes them', 'b46c8f8d3a2e4c6f9a1b2c3d4e5f6a7b', true],
    ['a UUID', '550e8400-e29b-41d4-a716-446655440000', true],
    ['a key', 'PLANTED-current-key_PLANTED-curr', false],
    ['too short', 'abc', false],
    ['too long', 'a'.repeat(65), false],
    ['hyphens alone', '--------', false],
  ])('of a trusted proxy is taken if it is one: %s', async (_, given, isTaken) => {
    await app.close();
    await start(true);
    const headers = { 'x-request-id': given, 'x-forwarded-for': '192.0.2.7' };
    const reply = await call(app, '/api/list-install', own, {}, { headers });
    expect(idOf(reply) === given).toBe(isTaken);
    expect(lines()).toMatchObject([{ id: idOf(reply), client: '192.0.2.7' }]);
  });

  test('what a trusted proxy hands on is shown only if it is an address', async () => {
    await app.close();
    await start(true);
    const headers = { 'x-forwarded-for': own.authKey };
    await call(app, '/api/list-install', own, {}, { headers });
    expect(lines()).toMatchObject([{ client: '127.0.0.1' }]);
    expect(app.logLines.join('')).not.toContain(own.authKey);
  });
});
