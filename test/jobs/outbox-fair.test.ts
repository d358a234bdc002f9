/** Addresses and services that misbehave on purpose take nothing from the others. */

import { describe, expect, test } from 'bun:test';
import { ACCEPTED, BUSY, OutboxBench, Scripted } from '../support/fake-outbox.ts';

const SECOND_MS = 1_000;

test('a probe tries what is new, not what failed before alone', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm', {
    failureCount: 41,
    failingSinceMs: bench.clock.nowMs() - 60 * SECOND_MS,
    retryAtMs: bench.clock.nowMs() - SECOND_MS,
    problem: 'it is busy',
  });
  const tried = bench.outbox.add(fcm, 500, {
    nextAtMs: bench.clock.nowMs() - SECOND_MS,
    attemptCount: 3,
  });
  const bad = new Set(tried.map((id) => `token ${id}`));
  bench.outbox.add(fcm, 100);
  bench.fcm.auto = (to) => (bad.has(to) ? BUSY : ACCEPTED);
  const worker = bench.worker();
  worker.wake();
  await bench.until('it is well again', () => {
    worker.tick();
    return bench.outbox.outcomes().includes('accepted');
  });
  expect(bench.fcm.calls.length).toBeLessThan(5);
  await bench.stop(worker);
});

test('sixty services that accept after nine seconds do not take every run', async () => {
  const bench = new OutboxBench();
  const slow = Array.from({ length: 60 }, () => bench.outbox.addDestination('webpush'));
  for (const id of slow) bench.outbox.add(id, 20);
  const webpush = new Scripted(4);
  bench.gateways = { webpush };
  let rungMs = 0;
  const quick = new Set<string>();
  const worker = bench.worker();
  worker.wake();
  const answer = () => {
    for (const call of webpush.calls.splice(0)) {
      void bench.clock.sleep(quick.has(call.to) ? 20 : 9_000).then(() => call.answer(ACCEPTED));
    }
    if (bench.clock.nowMs() - rungMs >= SECOND_MS) {
      rungMs = bench.clock.nowMs();
      worker.tick();
    }
    return true;
  };
  const knownMs = bench.clock.nowMs() + 90 * SECOND_MS;
  await bench.until('they are known', () => answer() && bench.clock.nowMs() > knownMs);
  const origins = Array.from({ length: 5 }, () => bench.outbox.addDestination('webpush'));
  const ids = origins.flatMap((id) => bench.outbox.add(id, 40));
  for (const id of ids) quick.add(`token ${id}`);
  bench.signals.outboxFilled();
  const beganMs = bench.clock.nowMs();
  await bench.until('the quick ones have all', () => {
    return answer() && ids.every((id) => bench.outbox.settled.has(id));
  });
  expect(bench.clock.nowMs() - beganMs).toBeLessThan(5 * SECOND_MS);
  await bench.stop(worker);
});

test('sixty slow services that get a push at once do not take every run', async () => {
  const bench = new OutboxBench();
  const slow = Array.from({ length: 60 }, () => bench.outbox.addDestination('webpush'));
  const webpush = new Scripted(4);
  bench.gateways = { webpush };
  const worker = bench.worker();
  const pushToAll = () => {
    for (const id of slow) bench.outbox.add(id);
    bench.signals.outboxFilled();
  };
  pushToAll();
  await bench.until('their pace is known', () => {
    for (const call of webpush.calls.splice(0)) {
      void bench.clock.sleep(9 * SECOND_MS).then(() => call.answer(ACCEPTED));
    }
    worker.tick();
    return bench.outbox.waiting.length === 0;
  });
  await bench.rest();
  // From now on they hang.
  pushToAll();
  await bench.rest();
  const quick = bench.outbox.addDestination('webpush');
  const [id = 0] = bench.outbox.add(quick);
  webpush.auto = (to) => (to === `token ${id}` ? ACCEPTED : null);
  const beganMs = bench.clock.nowMs();
  bench.signals.outboxFilled();
  await bench.until('the quick one has its push', () => bench.outbox.settled.has(id));
  expect(bench.clock.nowMs() - beganMs).toBeLessThan(2 * SECOND_MS);
  webpush.auto = () => ACCEPTED;
  await bench.stop(worker);
});

describe('beside each other', () => {
  test('sixty webhooks that hang hold up none that answers', async () => {
    const bench = new OutboxBench();
    const fresh = { failureCount: 1 };
    const hanging = Array.from({ length: 60 }, () => bench.outbox.addDestination('webhook', fresh));
    for (const id of hanging) bench.outbox.add(id, 5);
    const worker = bench.worker();
    worker.wake();
    await bench.until('some hang', () => bench.webhook.calls.length > 0);
    await bench.rest();
    // A quarter of the places, for those of which nothing good is known.
    expect(bench.webhook.calls.length).toBe(12);
    const well = Array.from({ length: 40 }, () => bench.outbox.addDestination('webhook'));
    for (const id of well) bench.outbox.add(id, 25);
    bench.webhook.auto = (to) => (well.includes(Number.parseInt(to, 10)) ? ACCEPTED : null);
    const beganMs = bench.clock.nowMs();
    bench.signals.outboxFilled();
    await bench.until('these are delivered', () => bench.outbox.outcomes().length === 1_000);
    expect(bench.clock.nowMs() - beganMs).toBeLessThan(10 * SECOND_MS);
    await bench.stop(worker);
  });

  test('one of which nothing is known yet is asked once, and then as often as others', async () => {
    const bench = new OutboxBench();
    const id = bench.outbox.addDestination('webhook', { failureCount: 1 });
    bench.outbox.add(id, 10);
    const worker = bench.worker();
    worker.wake();
    await bench.until('the first is under way', () => bench.webhook.calls.length > 0);
    await bench.rest();
    expect(bench.webhook.calls.length).toBe(1);
    bench.webhook.calls[0]?.answer(ACCEPTED);
    await bench.until('four are under way', () => bench.webhook.underWayCount === 4);
    bench.webhook.auto = () => ACCEPTED;
    for (const call of bench.webhook.calls.slice(1)) call.answer(ACCEPTED);
    await bench.until('all are delivered', () => bench.outbox.waiting.length === 0);
    expect(bench.webhook.mostUnderWay).toBe(4);
    await bench.stop(worker);
  });

  test('push services that accept after nine seconds keep half of the places at most', async () => {
    const bench = new OutboxBench();
    const slow = Array.from({ length: 20 }, () => bench.outbox.addDestination('webpush'));
    for (const id of slow) bench.outbox.add(id, 40);
    const quick = bench.outbox.addDestination('webpush');
    const quickTokens = new Set<string>();
    const webpush = new Scripted(4);
    bench.gateways = { webpush };
    const worker = bench.worker();
    worker.wake();
    const answerSlow = () => {
      for (const call of webpush.calls.splice(0)) {
        const isQuick = quickTokens.has(call.to);
        void bench.clock.sleep(isQuick ? 20 : 9_000).then(() => call.answer(ACCEPTED));
      }
      return true;
    };
    const knownMs = bench.clock.nowMs() + 20 * SECOND_MS;
    await bench.until('they are known', () => answerSlow() && bench.clock.nowMs() > knownMs);
    for (const id of bench.outbox.add(quick, 200)) quickTokens.add(`token ${id}`);
    const ids = [...quickTokens].map((token) => Number(token.split(' ')[1]));
    bench.signals.outboxFilled();
    const beganMs = bench.clock.nowMs();
    await bench.until('the quick one has all', () => {
      return answerSlow() && ids.every((id) => bench.outbox.settled.has(id));
    });
    expect(bench.clock.nowMs() - beganMs).toBeLessThan(5 * SECOND_MS);
    // Their places come back: several times as many as they may have at a time go through.
    const before = bench.outbox.settled.size;
    await bench.until('the slow ones go on', () => {
      return answerSlow() && bench.outbox.settled.size > before + 100;
    });
    await bench.stop(worker);
  });

  test('with more receivers than places each has its turn, however much one has waiting', async () => {
    const bench = new OutboxBench();
    const many = Array.from({ length: 48 }, () => bench.outbox.addDestination('webhook'));
    for (const id of many) bench.outbox.add(id, 400);
    const worker = bench.worker();
    worker.wake();
    await bench.until('they have all places', () => bench.webhook.underWayCount === 48);
    const last = bench.outbox.addDestination('webhook');
    const [event] = bench.outbox.add(last);
    bench.signals.outboxFilled();
    const beganMs = bench.clock.nowMs();
    // Each answer takes 100 ms.
    await bench.until('it had its turn', () => {
      for (const call of bench.webhook.calls.splice(0)) {
        void bench.clock.sleep(100).then(() => call.answer(ACCEPTED));
      }
      return bench.outbox.settled.has(event ?? 0);
    });
    expect(bench.clock.nowMs() - beganMs).toBeLessThan(3 * SECOND_MS);
    bench.webhook.auto = () => ACCEPTED;
    await bench.stop(worker);
  });
});
