/** Calls by HTTP/2, directly and through proxies, against a server that misbehaves on command. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import type { OutgoingCall } from '../../src/outgoing/call.ts';
import { Outgoing } from '../../src/outgoing/outgoing.ts';
import { placeOf } from '../../src/outgoing/proxy.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { startProxy, type TestProxy } from '../support/outgoing-proxy.ts';
import { callTo, PATIENT, SETTINGS } from './stranger.ts';

let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());
afterEach(() => servers.behave('fcm', {}));

const LOGIN = { name: 'seller', password: 'pass:word' };

describe.each(['no proxy', 'socks5', 'http'] as const)('%s', (kind) => {
  let proxy: TestProxy | null = null;
  let outgoing: Outgoing;

  beforeAll(async () => {
    if (kind !== 'no proxy') proxy = await startProxy(kind, { passes: true, login: LOGIN });
    outgoing = clientFor(servers.ca);
  });
  afterAll(() => {
    outgoing.close();
    proxy?.stop();
  });

  function clientFor(ca: string | null) {
    const address = proxy?.address ?? null;
    const ports = [
      URL.parse(servers.origin('fcm'))?.port,
      URL.parse(servers.origin('otherName'))?.port,
      1,
    ];
    const through = { outgoingProxyFcm: address, outgoingProxyPorts: ports.map(Number) };
    const logins = new Map(address === null ? [] : [[placeOf(address), LOGIN]]);
    const settings = { ...SETTINGS, ...through };
    return new Outgoing({ settings, clock: systemClock, files: { ca, logins } });
  }

  /** Calls FCM, which answers 401 to who has no token: an answer like others. */
  function send(changes: Partial<OutgoingCall> = {}, client = outgoing) {
    const url = `${servers.origin('fcm')}/v1/projects/${servers.fcm.project}/messages:send`;
    const headers = { 'content-type': 'application/json' };
    const gateway = { destination: 'fcm', trust: 'operator', http2: { pool: 'fcm' } } as const;
    return client.send(callTo(url, { ...gateway, headers, body: '{}', ...changes }), PATIENT);
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

  test('calls that begin together after a connection has ended share the next one', async () => {
    await servers.behave('fcm', { next: [{ kind: 'goaway' }] });
    await send();
    const before = await servers.totals('fcm');
    await Promise.all(Array.from({ length: 20 }, () => send({ originConcurrency: 64 })));
    const { connections } = await servers.totals('fcm');
    expect(connections - before.connections).toBeLessThanOrEqual(kind === 'no proxy' ? 10 : 1);
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
    const stranger = clientFor(null);
    expect(await send({}, stranger)).toMatchObject(problem('that is not known here'));
    const header = { headers: { 'x-a': 'a\r\nb' } };
    expect(await send(header)).toMatchObject({ kind: 'unsendable' });
    const closed = 'https://127.0.0.1:1/secret';
    const refused = await send({ url: closed });
    expect(refused).toMatchObject({ kind: 'unreachable' });
    expect(JSON.stringify(refused)).not.toContain('secret');
  });
});
