/** Addresses and services that do ill on purpose take nothing from the others. */

import { expect, test } from 'bun:test';
import { ACCEPTED, BUSY, OutboxBench } from '../support/fake-outbox.ts';

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
