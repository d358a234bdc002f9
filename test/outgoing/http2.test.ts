/** Calls by HTTP/2, against a server that misbehaves on command. */

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import type { OutgoingCall } from '../../src/outgoing/call.ts';
import { Outgoing } from '../../src/outgoing/outgoing.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { callTo, PATIENT, SETTINGS } from './stranger.ts';

let servers: StrictServers;
let outgoing: Outgoing;
beforeAll(async () => {
  servers = await startStrictServers();
  outgoing = new Outgoing({ settings: SETTINGS, clock: systemClock, ca: servers.ca });
});
afterAll(() => servers.stop());
afterEach(() => servers.behave('fcm', {}));

/** Calls FCM, which answers 401 to who has no token: an answer like others. */
function send(changes: Partial<OutgoingCall> = {}, client = outgoing) {
  const url = `${servers.origin('fcm')}/v1/projects/${servers.fcm.project}/messages:send`;
  const headers = { 'content-type': 'application/json' };
  const http2 = { pool: 'fcm' };
  const gateway = { trust: 'operator', http2, headers, body: '{}', url } as const;
  return client.send(callTo(url, { ...gateway, ...changes }), PATIENT);
}

test('calls share connections', async () => {
  await send();
  const before = await servers.totals('fcm');
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => send({ originConcurrency: 64 })),
  );
  expect(answers).toMatchObject(Array(64).fill({ status: 401, isWhole: true }));
  const after = await servers.totals('fcm');
  expect(after.requests - before.requests).toBe(64);
  expect(after.connections - before.connections).toBeLessThan(10);
  expect(Object.keys(after.protocols)).toEqual(['h2']);
});

test('calls of another pool have connections of their own', async () => {
  const before = await servers.totals('fcm');
  for (const pool of ['one', 'another', 'one', 'another']) await send({ http2: { pool } });
  expect((await servers.totals('fcm')).connections - before.connections).toBe(2);
});

test('what a server did not take before it said GOAWAY goes to another connection', async () => {
  await servers.behave('fcm', { next: [{ kind: 'goaway' }] });
  const before = await servers.totals('fcm');
  expect(await send()).toMatchObject({ status: 401 });
  expect((await servers.totals('fcm')).connections).toBeGreaterThan(before.connections);
});

test('a connection that breaks off fails its call, and the next one goes through', async () => {
  await servers.behave('fcm', { next: [{ kind: 'reset-connection' }] });
  expect(await send()).toMatchObject({ kind: 'reset' });
  expect(await send()).toMatchObject({ status: 401 });
});

test('an answer that breaks off has its status', async () => {
  await servers.behave('fcm', { next: [{ kind: 'reset-stream' }] });
  expect(await send()).toMatchObject({ status: 200, isWhole: false });
  expect(await send()).toMatchObject({ status: 401 });
});

test('a server that says nothing is left after the time', async () => {
  await servers.behave('fcm', { next: [{ kind: 'blackhole' }] });
  expect(await send({ timeoutMs: 500 })).toMatchObject({ kind: 'timeout' });
  expect(await send()).toMatchObject({ status: 401 });
});

test('an answer that is huge, or drips, is cut off, and its status holds', async () => {
  await servers.behave('fcm', { next: [{ kind: 'huge', bytes: 8 * 1024 * 1024 }] });
  const huge = await send();
  expect(huge).toMatchObject({ isWhole: false });
  expect((huge as { text: string }).text.length).toBeLessThanOrEqual(1024);
  // A failure without an end is left at its bound, long before the time of the call.
  await servers.behave('fcm', { next: [{ kind: 'huge', bytes: 2 ** 50, status: 500 }] });
  const [startMs, timeoutMs] = [performance.now(), 10_000];
  expect(await send({ timeoutMs })).toMatchObject({ status: 500, isWhole: false });
  expect(performance.now() - startMs).toBeLessThan(timeoutMs);
  await servers.behave('fcm', { next: [{ kind: 'drip', everyMs: 50 }] });
  expect(await send({ timeoutMs: 4_000 })).toMatchObject({ isWhole: false });
  expect(await send()).toMatchObject({ status: 401 });
});

test('Retry-After is read', async () => {
  await servers.behave('fcm', { next: [{ kind: 'refuse', name: '503', retryAfter: '7' }] });
  expect(await send()).toMatchObject({ status: 503, retryAfterMs: 7_000 });
});

test('a certificate for another name or of an unknown authority, and no HTTP/2', async () => {
  const problem = (words: string) => ({ kind: 'tls', problem: expect.stringContaining(words) });
  const url = `${servers.origin('otherName')}/x`;
  expect(await send({ url })).toMatchObject(problem('its certificate is for another name'));
  const stranger = new Outgoing({ settings: SETTINGS, clock: systemClock, ca: null });
  expect(await send({}, stranger)).toMatchObject(problem('that is not known here'));
  const header = { headers: { 'x-a': 'a\r\nb' } };
  expect(await send(header)).toMatchObject({ kind: 'unsendable' });
  const closed = 'https://127.0.0.1:1/secret';
  const refused = await send({ url: closed });
  expect(refused).toMatchObject({ kind: 'unreachable' });
  expect(JSON.stringify(refused)).not.toContain('secret');
});
