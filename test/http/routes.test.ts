/**
 * Where Elysia, which finds the record of each request, reads a request in another way than the
 * contract: each such way alone, and what Gatepost answers. What Elysia no longer does differently
 * fails here, and goes from the list of `mount.ts`.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Elysia, t } from 'elysia';
import type { Credentials } from '../../src/core/provider.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import { seedShop } from '../support/shop.ts';
import { sendRaw } from '../support/upstream.ts';

let app: TestApp;
let own: Credentials;
let alone: Bun.Server<unknown>;
/** The parts that Elysia has read of an answer that nobody gets. */
let readCount = 0;

beforeAll(async () => {
  app = await startTestApp();
  own = await seedShop(app);
  const stream = () =>
    new ReadableStream({
      pull(controller) {
        readCount += 1;
        if (readCount === 3) controller.close();
        else controller.enqueue(Buffer.from('x'));
      },
    });
  const elysia = new Elysia()
    .get('/well/known/path', ({ request }) => new Response(`known by ${request.method}`))
    .get('/query', ({ query }) => Response.json(query))
    .all('/stream', () => new Response(stream()))
    .post('/checked', () => 'done', {
      body: t.Object({ id: t.Number() }),
      beforeHandle: () => new Response('no key', { status: 401 }),
    });
  alone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: elysia.compile().fetch });
});
afterAll(async () => {
  await alone.stop(true);
  await app.close();
});

const portOf = ({ url }: { url: string | URL }) => Number(new URL(url).port);
const close = 'Connection: close\r\n';

/** The requests for one path that a client may write in several ways. */
const SPELLINGS: readonly (readonly [name: string, asked: (path: string) => string])[] = [
  ['runs of slashes', (path) => `GET /${path}/ HTTP/1.1\r\nHost: a.example\r\n`],
  ['a fragment', (path) => `GET ${path}#x?y=/ HTTP/1.1\r\nHost: a.example\r\n`],
  ['HTTP/1.0 without Host', (path) => `GET ${path} HTTP/1.0\r\n`],
  ['a short host', (path) => `GET ${path} HTTP/1.1\r\nHost: ab\r\n`],
  ['a whole URL with a short host', (path) => `GET http://a${path} HTTP/1.1\r\nHost: ab\r\n`],
];

test.each(SPELLINGS)('Elysia alone knows no path by %s; Gatepost does', async (_, asked) => {
  const bare = await sendRaw(portOf(alone), `${asked('/well/known/path')}${close}\r\n`);
  expect(bare.status).toBe(404);
  const got = await sendRaw(portOf(app), `${asked('/api/list-install')}${close}\r\n`);
  expect([got.status, got.body]).toEqual([200, '{"rc":0,"msg":"Auth error"}']);
  const none = await sendRaw(portOf(app), `${asked('/elsewhere')}${close}\r\n`);
  expect([none.status, none.body]).toEqual([404, 'Not found\n']);
});

test.each([
  ['a slash at the end', (path: string) => `GET ${path}/ HTTP/1.1\r\nHost: a.example\r\n`],
  [
    'a whole URL',
    (path: string) => `GET https://b.example:9${path} HTTP/1.1\r\nHost: a.example\r\n`,
  ],
])('both know a path by %s', async (_, asked) => {
  const bare = await sendRaw(portOf(alone), `${asked('/well/known/path')}${close}\r\n`);
  expect(bare.status).toBe(200);
  const got = await sendRaw(portOf(app), `${asked('/api/list-install')}${close}\r\n`);
  expect(got.body).toBe('{"rc":0,"msg":"Auth error"}');
});

/** Asks for a path by a method, at Elysia alone or at Gatepost. */
const ask = (at: { url: string | URL }, method: string, target: string, more = '') =>
  sendRaw(portOf(at), `${method} ${target} HTTP/1.1\r\nHost: a.example\r\n${close}${more}`);

test.each(['POST', 'PUT', 'PROPFIND'])(
  'Elysia alone finds no route of a path by the wrong method %s; Gatepost finds the record',
  async (method) => {
    const empty = 'Content-Length: 0\r\n\r\n';
    expect((await ask(alone, method, '/well/known/path', empty)).status).toBe(404);
    const got = await ask(app, method, '//api/list-install/', empty);
    expect(got.headers.get('x-error-detail')).toBe('this endpoint takes GET alone');
    expect((await ask(app, method, '/docs', empty)).status).toBe(405);
  },
);

test('of HEAD Elysia alone reads the whole answer; Gatepost refuses or describes it', async () => {
  expect((await ask(alone, 'HEAD', '/stream', '\r\n')).status).toBe(200);
  expect(readCount).toBe(3);
  const got = await ask(app, 'HEAD', '/api/list-install', '\r\n');
  expect([got.status, got.body]).toEqual([200, '']);
  expect(got.headers.get('x-error-detail')).toBe('this endpoint takes GET alone');
  const whole = await ask(app, 'GET', '/docs', '\r\n');
  const head = await ask(app, 'HEAD', '/docs', '\r\n');
  expect([head.status, head.body]).toEqual([200, '']);
  for (const name of ['content-type', 'content-length', 'etag']) {
    expect(head.headers.get(name)).toBe(whole.headers.get(name) ?? 'missing');
  }
});

describe('a query', () => {
  const refused = async (query: string) => {
    const credentials = `provider_code=${own.code}&auth_key=${own.authKey}`;
    const got = await ask(app, 'GET', `/api/list-install?${credentials}&${query}`, '\r\n');
    return got.headers.get('x-error-detail');
  };

  test('Elysia alone takes one of two values; Gatepost refuses them', async () => {
    expect((await ask(alone, 'GET', '/query?id=1&id=2', '\r\n')).body).toBe('{"id":"2"}');
    expect(await refused('id=1&id=2')).toContain('id');
  });

  test('Elysia alone keeps %D1 as it is; Gatepost refuses what is not UTF-8', async () => {
    expect((await ask(alone, 'GET', '/query?id=%D1', '\r\n')).body).toBe('{"id":"%D1"}');
    expect(await refused('id=%D1')).toContain('id');
  });
});

test('Elysia alone checks a body before credentials; Gatepost after them', async () => {
  const body = 'Content-Type: application/json\r\nContent-Length: 5\r\n\r\n{"a":';
  expect((await ask(alone, 'POST', '/checked', body)).status).toBe(400);
  expect((await ask(app, 'POST', '/remote/notification', body)).body).toBe(
    '{"rc":0,"msg":"Auth error"}',
  );
});
