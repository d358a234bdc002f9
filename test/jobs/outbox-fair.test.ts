/** Addresses and services that do ill on purpose take nothing from the others. */

import { expect, test } from 'bun:test';
import { ACCEPTED, BUSY, OutboxBench, Scripted } from '../support/fake-outbox.ts';

const SECOND_MS = 1_000;

test('a probe tries what is new, not what failed before alone', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm', {
    ...{ failureCount: 41, failingSinceMs: bench.clock.nowMs() - 60 * SECOND_MS },
    ...{ retryAtMs: bench.clock.nowMs() - SECOND_MS, problem: 'it is busy' },
  });
  const tried = bench.outbox.add(fcm, 500, {
    ...{ nextAtMs: bench.clock.nowMs() - SECOND_MS, attemptCount: 3 },
  });
  const bad = new Set(tried.map((id) => `token ${id}`));
  bench.outbox.add(fcm, 100);
  bench.fcm.auto = (to) => (bad.has(to) ? BUSY : ACCEPTED);
  const worker = bench.worker();
  worker.look();
  await bench.until('it is well again', () => {
    worker.ring();
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
  worker.look();
  const answer = () => {
    for (const call of webpush.calls.splice(0)) {
      void bench.clock.sleep(quick.has(call.to) ? 20 : 9_000).then(() => call.answer(ACCEPTED));
    }
    if (bench.clock.nowMs() - rungMs >= SECOND_MS) {
      rungMs = bench.clock.nowMs();
      worker.ring();
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
