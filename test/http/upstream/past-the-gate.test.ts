/** Requests that try to reach the panel without being judged, or judged as another. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type Fronted, HOST, KEY, sendRaw, startFronted } from '../../support/upstream.ts';

let at: Fronted;
let port: number;
beforeAll(async () => {
  // Other paths pass: whatever the key's path is not taken for would be let through unjudged.
  at = await startFronted(undefined, { otherPaths: 'pass', defaultLimit: 1 });
  port = Number(new URL(at.app.url).port);
  await at.get(`/sub/${KEY}`, 'owner');
});
afterAll(() => at.stop());
beforeEach(() => {
  at.panel.calls.length = 0;
});

const send = (target: string, host: string | null = `Host: ${HOST}`, rest = '') =>
  sendRaw(
    port,
    `GET ${target} HTTP/1.1\r\n${host === null ? '' : `${host}\r\n`}x-hwid: thief\r\nConnection: close\r\n${rest}\r\n`,
  );

/** Expects that the thief got nothing, and the panel was not asked. */
async function expectStopped(got: ReturnType<typeof send>, status?: number): Promise<void> {
  const { status: answered, body } = await got;
  expect(at.panel.calls.map(({ target }) => target)).toEqual([]);
  expect(body).not.toContain('dmxlc3M6');
  if (status !== undefined) expect(answered).toBe(status);
}

describe('a full link is closed to', () => {
  test.each([
    `/sub/${KEY}`,
    `/SUB/${KEY}`,
    `/Sub/${KEY}/`,
    `/sub/${KEY}/clash`,
    `//sub/${KEY}`,
    `/sub//${KEY}`,
    `/sub/${KEY}//clash`,
    `/./sub/${KEY}`,
    `/x/../sub/${KEY}`,
    `/x/%2e%2e/sub/${KEY}`,
    `/sub/x/..%2f${KEY}`,
    `/%73ub/${KEY}`,
    `/sub%2f${KEY}`,
    `/sub%5c${KEY}`,
    `\\sub\\${KEY}`,
    `/sub\\${KEY}`,
    `/sub/%61${KEY.slice(1)}`,
    `/sub/${KEY}%00`,
    `/sub/${KEY}%20`,
    `/sub/${KEY};v=1`,
    `/;/sub/${KEY}`,
    `/sub;v=1/${KEY}`,
    `/sub/${KEY}#/../../x`,
    `/sub/${KEY}?a#b`,
    `/sub/${KEY}%23`,
    `/sub/${KEY}%3Fx`,
    `/%C0%AFsub/${KEY}`,
    `/sub/${KEY}?installid=`,
    `http://${HOST}/sub/${KEY}`,
    `http://other.example/sub/${KEY}`,
    `HTTP://${HOST}:80/sub/${KEY}`,
  ])('%s', (target) => expectStopped(send(target)));
});

describe('a host that is', () => {
  test.each([
    `Host: ${HOST.toUpperCase()}`,
    `Host: ${HOST}:8443`,
    `Host: ${HOST}.`,
    `Host: ${HOST}.:443`,
    `HOST:   ${HOST}  `,
  ])('%p is the same host', async (host) => {
    const got = await send(`/sub/${KEY}`, host);
    expect([got.status, got.headers.get('x-hwid-limit')]).toEqual([404, 'true']);
    expect(at.panel.calls).toEqual([]);
  });

  test.each([
    `Host: ${HOST}\r\nHost: other.example`,
    `Host: other.example\r\nHost: ${HOST}`,
    `Host: ${HOST}, other.example`,
    `Host: x@${HOST}`,
    `Host: ${HOST}/sub`,
    `Host: ${HOST}:80:80`,
    `Host: ${HOST}%00`,
    `Host: ${HOST}..`,
    `Host: sub.example.org.evil.example`,
    'Host: [::1]',
    'Host:',
    null,
  ])('%p is none of a panel', (host) => expectStopped(send('/free', host)));
});

test('a request in the shadow of another is one of its own', async () => {
  const smuggled = `GET /sub/${KEY} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
  await expectStopped(
    send(`/sub/${KEY}`, undefined, `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`),
  );
  const chunked = 'Transfer-Encoding: chunked\r\nContent-Length: 4\r\n';
  await expectStopped(send(`/sub/${KEY}`, undefined, `${chunked}\r\n0\r\n\r\n${smuggled}`));
});

test('no header makes another path of a path', async () => {
  const headers = ['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Uri', 'X-Original-URI'];
  const rest = headers.map((name) => `${name}: /free\r\n`).join('');
  await expectStopped(send(`/sub/${KEY}`, undefined, rest));
});

test('any other path is free here, so that the tests above can fail', async () => {
  expect((await send('/free')).body).toContain('dmxlc3M6');
  expect(at.panel.calls).toHaveLength(1);
});
