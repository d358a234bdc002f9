/** Places and pace: how many calls to one origin are under way, and how often they begin. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { systemClock } from '../../src/base/clock.ts';
import { LEASE_MS } from '../../src/jobs/outbox/outcomes.ts';
import type { OutgoingCall } from '../../src/outgoing/call.ts';
import { Origins } from '../../src/outgoing/origin.ts';
import { Outgoing, PLACE_WAIT_MAX_MS } from '../../src/outgoing/outgoing.ts';
import { DELIVERY_TIMEOUT_MS } from '../../src/webhook/standard.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';
import { callTo, PATIENT, SETTINGS, type Stranger, saying, startStranger } from './stranger.ts';

const held = new Set<() => void>();
const release = () => {
  for (const answer of held) answer();
  held.clear();
};

let stranger: Stranger;
let other: Stranger;
beforeAll(async () => {
  stranger = await startStranger({
    '/ok': saying('ok'),
    '/held': (socket) => held.add(() => saying('held')(socket)),
    '/silent': () => {},
  });
  other = await startStranger({ '/ok': saying('ok') });
});
afterAll(() => {
  stranger.stop();
  other.stop();
});

function client(clock: FakeClock | typeof systemClock = systemClock, rate = 100_000) {
  const outgoing = new Outgoing({
    settings: { ...SETTINGS, outgoingOriginRate: rate },
    clock,
    files: { ca: `${stranger.ca}\n${other.ca}`, logins: new Map() },
    resolve: async () => ['127.0.0.1'],
  });
  return {
    send: (path: string, changes: Partial<OutgoingCall> = {}, signal = PATIENT, to = stranger) =>
      outgoing.send(callTo(to.url(path), changes), signal),
  };
}

test('no more calls are under way than their origin may have; the others wait', async () => {
  const { send } = client();
  const first = stranger.heard.length;
  const calls = Array.from({ length: 7 }, () => send('/held', { originConcurrency: 3 }));
  for (const done of [3, 6]) {
    await until('three are there', () => held.size === 3);
    expect(stranger.heard.length - first).toBe(done);
    release();
  }
  await until('the last one is there', () => held.size === 1);
  release();
  expect(await Promise.all(calls)).toMatchObject(Array(7).fill({ status: 200 }));
});

test('who calls on behalf of another has places of its own', async () => {
  const { send } = client();
  const one = { originConcurrency: 1, party: 'one' };
  const busy = send('/held', one);
  await until('one is there', () => held.size === 1);
  expect(await send('/ok', { ...one, timeoutMs: 50 })).toMatchObject({ kind: 'busy' });
  expect(await send('/ok', { ...one, party: 'another' })).toMatchObject({ status: 200 });
  release();
  await busy;
});

test('a call that is stopped before it begins leaves no fault behind, and keeps no place', async () => {
  const faults: unknown[] = [];
  const note = (fault: unknown) => faults.push(fault);
  process.on('unhandledRejection', note);
  const outgoing = new Outgoing({
    settings: SETTINGS,
    clock: systemClock,
    files: { ca: null, logins: new Map() },
    resolve: () => Promise.reject(new Error('no address')),
  });
  const call = callTo(stranger.url('/ok'), { originConcurrency: 1, timeoutMs: 200 });
  expect(await outgoing.send(call, AbortSignal.abort())).toMatchObject({ kind: 'stopped' });
  const next = await outgoing.send(call, PATIENT);
  expect('kind' in next && next.kind).not.toBe('busy');
  await Bun.sleep(0);
  process.off('unhandledRejection', note);
  expect(faults).toEqual([]);
});

test('a call that finds no place in time, or is stopped, has sent nothing', async () => {
  const { send } = client();
  const first = stranger.heard.length;
  const busy = send('/held', { originConcurrency: 1 });
  await until('one is there', () => held.size === 1);
  const control = new AbortController();
  const stopped = send('/held', { originConcurrency: 1 }, control.signal);
  expect(await send('/held', { originConcurrency: 1, timeoutMs: 50 })).toMatchObject({
    kind: 'busy',
  });
  control.abort();
  expect(await stopped).toMatchObject({ kind: 'stopped' });
  release();
  expect(await busy).toMatchObject({ status: 200 });
  expect(stranger.heard.length - first).toBe(1);
  expect(await send('/ok', { originConcurrency: 1 })).toMatchObject({ status: 200 });
});

test('waiting and the call together stay within their times; the call keeps all of its own', async () => {
  const { send } = client();
  const first = send('/silent', { originConcurrency: 1, timeoutMs: 300 });
  const beganMs = performance.now();
  const second = await send('/silent', { originConcurrency: 1, timeoutMs: 2_000 });
  const tookMs = performance.now() - beganMs;
  expect(await first).toMatchObject({ kind: 'timeout' });
  // It waited for some 300 ms, and then had 2 s for itself.
  expect(second).toMatchObject({ kind: 'timeout' });
  expect(tookMs).toBeGreaterThanOrEqual(2_250);
  expect(LEASE_MS).toBeGreaterThan(PLACE_WAIT_MAX_MS + DELIVERY_TIMEOUT_MS + 9_000);
});

test('of those who share places each has its turn, however many calls one has', async () => {
  const { send } = client();
  const one = { originConcurrency: 2, turn: 'one' };
  const calls = Array.from({ length: 6 }, () => send('/held', one));
  await until('one is there', () => held.size === 1);
  expect(await send('/ok', { ...one, turn: 'another' })).toMatchObject({ status: 200 });
  for (let n = 0; n < 6; n++) {
    await until('the next one is there', () => held.size === 1);
    release();
  }
  expect(await Promise.all(calls)).toMatchObject(Array(6).fill({ status: 200 }));
});

test('an origin that never answers holds up no other', async () => {
  const { send } = client();
  const control = new AbortController();
  const before = stranger.heard.length;
  const silent = Array.from({ length: 300 }, () =>
    send('/silent', { originConcurrency: 300 }, control.signal),
  );
  await until('all are there', () => stranger.heard.length - before === 300);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => send('/ok', {}, PATIENT, other)),
  );
  expect(answers).toMatchObject(Array(100).fill({ status: 200 }));
  control.abort();
  expect(await Promise.all(silent)).toMatchObject(Array(300).fill({ kind: 'stopped' }));
});

test('calls to origins of providers and devices have a rate, those of the operator another', async () => {
  const clock = new FakeClock();
  const { send } = client(clock, 2);
  expect(await send('/ok')).toMatchObject({ status: 200 });
  const first = stranger.heard.length;
  const second = send('/ok');
  const third = send('/ok');
  await until('both wait', () => clock.sleeperCount === 2);
  clock.advance(499);
  expect(stranger.heard.length).toBe(first);
  clock.advance(1);
  expect(await second).toMatchObject({ status: 200 });
  expect(stranger.heard.length).toBe(first + 1);
  clock.advance(500);
  expect(await third).toMatchObject({ status: 200 });
  // After a rest there is no credit.
  clock.advance(60_000);
  expect(await send('/ok')).toMatchObject({ status: 200 });
  const late = send('/ok', { timeoutMs: 30_000 });
  await until('it waits', () => clock.sleeperCount === 1);
  expect(await send('/ok', { timeoutMs: 400 })).toMatchObject({ kind: 'busy' });
  clock.advance(500);
  expect(await late).toMatchObject({ status: 200 });
  const operators = { trust: 'operator' } as const;
  const unpaced = Array.from({ length: 20 }, () => send('/ok', operators));
  expect(await Promise.all(unpaced)).toMatchObject(Array(20).fill({ status: 200 }));
  const paced = send('/ok', { ...operators, originRate: 1 });
  await paced;
  const next = send('/ok', { ...operators, originRate: 1 });
  await until('it waits', () => clock.sleeperCount === 1);
  clock.advance(1000);
  expect(await next).toMatchObject({ status: 200 });
});

test('a connection that the other side has closed meanwhile costs no attempt', async () => {
  const { send } = client();
  for (let count = 0; count < 5; count++) {
    expect(await send('/ok')).toMatchObject({ status: 200 });
    // Some are noticed before the next call, some while it is being sent.
    for (const socket of stranger.open) socket.destroy();
  }
});

test('a call that the pace holds up for too long keeps no place', async () => {
  const origins = new Origins(async () => [], systemClock);
  const origin = origins.of(new URL('https://slow.example.com'), 'shared');
  const [first, second] = [
    await origin.enter({ concurrency: 1, rate: 0.1 }, 1_000, PATIENT),
    await origin.enter({ concurrency: 2, rate: 0.1 }, 10, PATIENT),
  ];
  expect(first).toBeFunction();
  expect(second).toBeNull();
  first?.();
  expect(origin.isIdle).toBe(true);
});

test('origins that were called once are forgotten, those with a call under way are not', async () => {
  const origins = new Origins(async () => [], systemClock);
  const named = (name: string) => origins.of(new URL(`https://${name}.example.com`), 'shared');
  const [once, busy] = [named('once'), named('busy')];
  expect(named('once')).toBe(once);
  expect(origins.of(new URL('https://once.example.com'), 'operator')).not.toBe(once);
  expect(await busy.enter({ concurrency: 1, rate: null }, 1_000, PATIENT)).toBeFunction();
  for (let count = 0; count < 600; count++) named(`h${count}`);
  expect(named('busy')).toBe(busy);
  expect(named('once')).not.toBe(once);
});
