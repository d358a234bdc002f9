/** The worker of the outbox when something comes to an end: the process, a lease, the disk. */

import { expect, test } from 'bun:test';
import { ACCEPTED, BUSY, OutboxBench, Scripted } from '../support/fake-outbox.ts';

const SECOND_MS = 1_000;

test('a stop lets what is under way end, saves it, and gives back what it holds', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm, 200);
  const worker = bench.worker();
  worker.wake();
  await bench.until('some are under way', () => bench.fcm.calls.length === 64);
  const stopped = bench.stop(worker);
  for (const call of bench.fcm.calls) call.answer(ACCEPTED);
  await stopped;
  expect(bench.fcm.calls.length).toBe(64);
  expect(bench.outbox.settled.size).toBe(64);
  expect(bench.outbox.destinations.get(fcm)?.owner).toBeNull();
});

test('a stop aborts attempts that hang within 4 s: they are no failed attempts', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm, 200);
  const worker = bench.worker();
  worker.wake();
  await bench.until('some hang', () => bench.fcm.calls.length === 64);
  const beganMs = bench.clock.nowMs();
  await bench.stop(worker);
  expect(bench.clock.nowMs() - beganMs).toBeLessThan(4 * SECOND_MS);
  expect(bench.fcm.underWayCount).toBe(0);
  expect(bench.outbox.waiting.length).toBe(200);
  expect(bench.outbox.waiting.every(({ attemptCount }) => attemptCount === 0)).toBe(true);
  expect(bench.outbox.destinations.get(fcm)?.owner).toBeNull();
});

test('a full disk: nothing more is begun, and nothing is sent twice when there is room', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm, 2_000);
  bench.fcm.auto = () => ACCEPTED;
  bench.outbox.fault = (method) => method === 'settle';
  const worker = bench.worker();
  worker.wake();
  await bench.until('it cannot be saved', () => bench.logLines.length > 0);
  const begunCount = bench.fcm.calls.length;
  for (let n = 0; n < 25; n++) {
    bench.clock.advance(SECOND_MS);
    worker.tick();
    await bench.rest();
  }
  expect(begunCount).toBeLessThanOrEqual(512 + 64);
  expect(bench.fcm.calls.length).toBe(begunCount);
  expect(bench.outbox.settled.size).toBe(0);
  expect(bench.logLines.length).toBe(1);
  bench.outbox.fault = null;
  await bench.until('all went out', () => {
    worker.tick();
    return bench.outbox.waiting.length === 0;
  });
  expect(bench.fcm.calls.length).toBe(2_000);
  await bench.stop(worker);
});

test('a full disk: after the first save that failed no attempt begins', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm, 300);
  bench.outbox.fault = (method) => method === 'settle';
  const worker = bench.worker();
  worker.wake();
  await bench.until('some are in progress', () => bench.fcm.calls.length === 64);
  for (const call of bench.fcm.calls.slice(0, 10)) call.answer(ACCEPTED);
  await bench.until('it cannot be saved', () => bench.logLines.length > 0);
  const begunCount = bench.fcm.calls.length;
  for (const call of bench.fcm.calls.slice()) call.answer(ACCEPTED);
  await bench.rest();
  expect(bench.fcm.calls.length).toBe(begunCount);
  await bench.stop(worker);
});

test('a full disk when the process stops: it still ends', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm, 100);
  bench.fcm.auto = () => ACCEPTED;
  bench.outbox.fault = (method) => method === 'settle';
  const worker = bench.worker();
  worker.wake();
  await bench.until('it cannot be saved', () => bench.logLines.length > 0);
  await bench.stop(worker);
  expect(bench.outbox.waiting.length).toBe(100);
});

test('a store that refuses everything is asked once a second, and logged once', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm);
  bench.fcm.auto = () => ACCEPTED;
  bench.outbox.fault = () => true;
  const worker = bench.worker();
  worker.wake();
  for (let n = 0; n < 10; n++) {
    bench.clock.advance(SECOND_MS);
    worker.tick();
    await bench.rest();
  }
  expect(bench.outbox.calls.length).toBeLessThanOrEqual(11);
  expect(bench.logLines.length).toBe(1);
  bench.outbox.fault = null;
  bench.clock.advance(SECOND_MS);
  worker.tick();
  await bench.until('it went out', () => bench.outbox.waiting.length === 0);
  await bench.stop(worker);
});

test('a lease that was lost: what is under way is noted, nothing more is begun', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm, 200);
  const worker = bench.worker();
  worker.wake();
  await bench.until('some are under way', () => bench.fcm.calls.length === 64);
  const held = bench.outbox.destinations.get(fcm);
  if (held) Object.assign(held, { owner: 'another', leaseUntilMs: Number.POSITIVE_INFINITY });
  for (const call of bench.fcm.calls.slice(0, 10)) call.answer(ACCEPTED);
  await bench.until('they are noted', () => bench.outbox.settled.size === 10);
  const begunCount = bench.fcm.calls.length;
  for (const call of bench.fcm.calls.slice(10)) call.answer(ACCEPTED);
  await bench.until('the rest too', () => bench.outbox.settled.size === begunCount);
  await bench.rest();
  expect(bench.fcm.calls.length).toBe(begunCount);
  expect(held?.owner).toBe('another');
  await bench.stop(worker);
});

test('no attempt begins that could outlast the lease', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm);
  const { settleDispatches } = bench.outbox;
  let isSaving = false;
  const disk = Promise.withResolvers<void>();
  bench.outbox.settleDispatches = async (...saved) => {
    isSaving = true;
    await disk.promise;
    return settleDispatches(...saved);
  };
  const worker = bench.worker();
  worker.wake();
  await bench.until('the first is in progress', () => bench.fcm.calls.length === 1);
  // A lease lasts 30 s, an attempt up to 20 s.
  bench.clock.advance(10 * SECOND_MS);
  bench.outbox.add(fcm);
  bench.signals.outboxFilled();
  await bench.rest();
  expect(bench.fcm.calls.length).toBe(1);
  bench.fcm.auto = () => ACCEPTED;
  bench.fcm.calls[0]?.answer(ACCEPTED);
  await bench.until('the lease is renewed first', () => isSaving);
  expect(bench.fcm.calls.length).toBe(1);
  disk.resolve();
  await bench.until('both went out', () => bench.outbox.waiting.length === 0);
  await bench.stop(worker);
});

test('a process that slept asks first if it still holds what it held', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm, 200);
  const worker = bench.worker();
  worker.wake();
  await bench.until('some are under way', () => bench.fcm.calls.length === 64);
  const held = bench.outbox.destinations.get(fcm);
  if (held) Object.assign(held, { owner: 'another', leaseUntilMs: Number.POSITIVE_INFINITY });
  bench.clock.advance(60 * SECOND_MS);
  for (const call of bench.fcm.calls) call.answer(ACCEPTED);
  await bench.until('they are noted', () => bench.outbox.settled.size === 64);
  await bench.rest();
  expect(bench.fcm.calls.length).toBe(64);
  await bench.stop(worker);
});

test('a clock that is set back delays nothing that is put off', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm);
  bench.fcm.auto = () => (bench.fcm.calls.length === 1 ? BUSY : ACCEPTED);
  const worker = bench.worker();
  worker.wake();
  await bench.until('it failed', () => bench.outbox.waiting[0]?.attemptCount === 1);
  await bench.rest();
  bench.clock.set(bench.clock.nowMs() - 24 * 3_600_000);
  worker.tick();
  await bench.until('it went out', () => bench.outbox.waiting.length === 0);
  await bench.stop(worker);
});

test('kills between any two steps: nothing is lost, and no more repeated than was under way', async () => {
  for (let lifeCalls = 1; lifeCalls <= 24; lifeCalls++) {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    const hook = bench.outbox.addDestination('webhook');
    bench.outbox.add(fcm, 400);
    bench.outbox.add(hook, 30);
    for (const carrier of [bench.fcm, bench.webhook]) carrier.auto = () => ACCEPTED;
    let kills = 0;
    for (; bench.outbox.waiting.length > 0; kills++) {
      const worker = bench.worker();
      const bornAt = bench.outbox.calls.length;
      // From then on nothing that it does is heard: as if it was dead.
      const isDead = () => bench.outbox.calls.length - bornAt > lifeCalls + kills;
      bench.outbox.fault = isDead;
      worker.wake();
      await bench.until('it is dead, or done', () => {
        return isDead() || bench.outbox.waiting.length === 0;
      });
      bench.outbox.fault = () => true;
      const dead = worker.stop().catch(() => undefined);
      bench.clock.advance(60 * SECOND_MS);
      await bench.rest();
      bench.clock.advance(60 * SECOND_MS);
      await dead;
      bench.outbox.fault = null;
    }
    const repeats = bench.fcm.calls.length + bench.webhook.calls.length - 430;
    expect(repeats).toBeLessThanOrEqual(kills * (512 + 64));
    expect(bench.outbox.settled.size).toBe(430);
  }
});

test('credentials that were mended before a refusal of the old ones is saved stop nothing', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm);
  const worker = bench.worker();
  worker.wake();
  const old = bench.fcm;
  await bench.until('it is under way', () => old.calls.length === 1);
  old.calls[0]?.answer({ verdict: 'credentials', problem: 'the key is not known' });
  await bench.until('it is judged', () => bench.logLines.length === 1);
  bench.gateways = { fcm: new Scripted(64) };
  bench.fcm.auto = () => ACCEPTED;
  await worker.resume();
  await bench.until('it went out', () => bench.outbox.waiting.length === 0);
  await bench.stop(worker);
});

test('an event of the operator that is rejected is logged, since it is not sent again', async () => {
  const bench = new OutboxBench();
  const hook = bench.outbox.addDestination('telegram');
  const event = { id: 1, kind: 'disk.low', atMs: 0, data: {} } as const;
  bench.outbox.add(hook, 1, { event: { ...event, providerId: null } } as object);
  bench.outbox.add(hook, 1, { event: { ...event, providerId: 1 } } as object);
  bench.telegram.auto = () => ({ verdict: 'failed', problem: 'it is too long' });
  const worker = bench.worker();
  worker.wake();
  await bench.until('both are given up', () => bench.outbox.settled.size === 2);
  expect(bench.logLines).toEqual([
    `warn event_given_up webhook=${hook} event=disk.low problem="it is too long"`,
  ]);
  await bench.stop(worker);
});
