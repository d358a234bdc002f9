/** The outbox under a clock that leapt ahead. */

import { expect, test } from 'bun:test';
import type { AttemptVerdict } from '../../src/core/outbox/carrier.ts';
import { BUSY, OutboxBench } from '../support/fake-outbox.ts';

test('by a clock that leapt ahead no message expires, and no push is given up', async () => {
  const bench = new OutboxBench();
  const aheadMs = 3_653 * 86_400_000;
  bench.leastMs = (atMs) => atMs - aheadMs;
  const fcm = bench.outbox.addDestination('fcm');
  const queuedAtMs = bench.clock.nowMs() - aheadMs;
  const expiresAtMs = queuedAtMs + 3_600_000;
  const { findPushMessage } = bench.outbox;
  bench.outbox.findPushMessage = async (id) => {
    const found = await findPushMessage(id);
    return found && { ...found, expiresAtMs };
  };
  const [late = 0] = bench.outbox.add(fcm, 1, { queuedAtMs });
  const [often = 0] = bench.outbox.add(fcm, 1, { queuedAtMs, attemptCount: 9 });
  bench.fcm.auto = () => ({ ...BUSY, isOfOne: true }) as AttemptVerdict;
  const worker = bench.worker();
  worker.wake();
  await bench.until('both were tried', () =>
    bench.outbox.waiting.every(({ nextAtMs }) => nextAtMs > 0),
  );
  expect(bench.outbox.waiting.map(({ id }) => id).sort()).toEqual([late, often]);
  await bench.stop(worker);
});
