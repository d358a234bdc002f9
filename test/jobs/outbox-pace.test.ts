/** Receivers that take so much and no more, and gateways that hang: the rest arrives in time. */

import { describe, expect, test } from 'bun:test';
import type { AttemptVerdict } from '../../src/core/outbox/carrier.ts';
import { Pace } from '../../src/jobs/outbox/pace.ts';
import { ACCEPTED, OutboxBench, type Scripted } from '../support/fake-outbox.ts';
import { bucket, type Limit, sliding } from '../support/limit.ts';

const SECOND_MS = 1_000;

/** Has a carrier answer as a receiver with a limit would; returns how often each was sent. */
function limited(bench: OutboxBench, carrier: Scripted, limit: Limit): Map<string, number> {
  const calls = new Map<string, number>();
  carrier.auto = (to): AttemptVerdict => {
    calls.set(to, (calls.get(to) ?? 0) + 1);
    const afterMs = limit(bench.clock.nowMs());
    return afterMs === null ? ACCEPTED : { verdict: 'wait', afterMs, problem: 'too many' };
  };
  return calls;
}

/** Lets the clock go on with its bell until nothing waits; returns how long it took, ms. */
async function drain(bench: OutboxBench): Promise<number> {
  const worker = bench.worker();
  const beganMs = bench.clock.nowMs();
  let rungMs = beganMs;
  worker.wake();
  await bench.until(
    'all are there',
    () => {
      if (bench.clock.nowMs() - rungMs >= SECOND_MS) {
        rungMs = bench.clock.nowMs();
        worker.tick();
      }
      return bench.outbox.waiting.length === 0;
    },
    50,
  );
  const tookMs = bench.clock.nowMs() - beganMs;
  await bench.stop(worker);
  return tookMs;
}

describe('a burst of 100 events', () => {
  const CASES: [name: string, kind: 'webhook' | 'telegram', limit: () => Limit, seconds: number][] =
    [
      ['a receiver of one a second', 'webhook', () => bucket(1, 1), 99],
      ['one that takes ten at once', 'webhook', () => bucket(1, 10), 90],
      ['one of twenty a minute', 'webhook', () => sliding(20, 60 * SECOND_MS), 240],
      ['one of ten a minute', 'webhook', () => sliding(10, 60 * SECOND_MS), 540],
      ['a chat of Telegram', 'telegram', () => bucket(1, 1), 99],
      ['a group of Telegram', 'telegram', () => sliding(20, 60 * SECOND_MS), 240],
    ];
  test.each(CASES)('to %s is there in time', async (_name, kind, limit, seconds) => {
    const bench = new OutboxBench();
    const hook = bench.outbox.addDestination(kind);
    const ids = bench.outbox.add(hook, 100);
    const calls = limited(bench, kind === 'webhook' ? bench.webhook : bench.telegram, limit());
    const tookMs = await drain(bench);
    expect(tookMs).toBeLessThanOrEqual(1.2 * seconds * SECOND_MS);
    expect(Math.max(...calls.values())).toBeLessThanOrEqual(3);
    expect([...bench.outbox.settled.keys()].sort((a, b) => a - b)).toEqual(ids);
    expect(bench.outbox.webhooks.has(hook)).toBe(true);
    expect(bench.outbox.destinations.get(hook)?.problem).toBeNull();
  });

  test('comes to a chat in the order in which it happened', async () => {
    const bench = new OutboxBench();
    const ids = bench.outbox.add(bench.outbox.addDestination('telegram'), 45);
    limited(bench, bench.telegram, sliding(20, 60 * SECOND_MS));
    await drain(bench);
    expect([...bench.outbox.settled.keys()]).toEqual(ids);
  });
});

test('a receiver that always wants to wait is asked ever more seldom', async () => {
  const bench = new OutboxBench();
  const hook = bench.outbox.addDestination('webhook');
  bench.outbox.add(hook, 10);
  bench.webhook.auto = () => ({ verdict: 'wait', afterMs: 0, problem: 'too many' });
  const worker = bench.worker();
  worker.wake();
  for (let seconds = 0; seconds < 1_800; seconds++) {
    bench.clock.advance(SECOND_MS);
    worker.tick();
    await bench.rest();
  }
  expect(bench.webhook.calls.length).toBeLessThan(30);
  expect(bench.outbox.waiting.every(({ attemptCount }) => attemptCount === 0)).toBe(true);
  await bench.stop(worker);
});

test('an attempt for which there was no place is none, and the destination stays well', async () => {
  const bench = new OutboxBench();
  const fcm = bench.outbox.addDestination('fcm');
  bench.outbox.add(fcm);
  bench.fcm.auto = () =>
    bench.fcm.calls.length < 20 ? { verdict: 'busy', problem: 'no place' } : ACCEPTED;
  expect(await drain(bench)).toBeGreaterThanOrEqual(15 * SECOND_MS);
  expect(bench.attempts).toEqual(['fcm accepted']);
  expect(bench.outbox.destinations.get(fcm)).toMatchObject({ failureCount: 0, retryAtMs: 0 });
});

describe('pushes that hang', () => {
  test.each([1, 3, 63])('%d of them hold up none that comes later', async (count) => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm, count);
    const worker = bench.worker();
    worker.wake();
    await bench.until('they hang', () => bench.fcm.calls.length === count);
    bench.fcm.auto = () => ACCEPTED;
    const waits: number[] = [];
    for (let n = 0; n < 20; n++) {
      const [id = 0] = bench.outbox.add(fcm);
      const queuedMs = bench.clock.nowMs();
      bench.signals.outboxFilled();
      await bench.until('it went out', () =>
        bench.fcm.calls.some(({ to }) => to.endsWith(` ${id}`)),
      );
      waits.push(bench.clock.nowMs() - queuedMs);
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(200);
    // Each went out once: what is under way, or not saved yet, is not read again.
    expect(bench.fcm.calls.length).toBe(count + 20);
    for (const call of bench.fcm.calls.slice(0, count)) call.answer(ACCEPTED);
    await bench.until('all are settled', () => bench.outbox.waiting.length === 0);
    await bench.stop(worker);
  });

  test('what is due again is tried while another hangs', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    const [hanging = 0, failing = 0] = bench.outbox.add(fcm, 2);
    let failures = 0;
    bench.fcm.auto = (to) => {
      if (to.endsWith(` ${hanging}`)) return null;
      failures += 1;
      return failures > 3 ? ACCEPTED : { verdict: 'retry', afterMs: null, problem: 'it is busy' };
    };
    const worker = bench.worker();
    worker.wake();
    await bench.until('it went out', () => {
      worker.tick();
      return bench.outbox.settled.has(failing);
    });
    bench.fcm.auto = () => ACCEPTED;
    for (const call of bench.fcm.calls) call.answer(ACCEPTED);
    await bench.stop(worker);
  });
});

describe('the pace of a receiver', () => {
  /** Sends `count` calls to a receiver that takes `latencyMs` for each, four at a time. */
  function simulate(limit: Limit, latencyMs: number, count = 100) {
    const pace = new Pace(0);
    const queue = Array.from({ length: count }, (_, n) => n);
    const calls = Array<number>(count).fill(0);
    let underWay: { n: number; beganMs: number; endsMs: number; askedMs: number | null }[] = [];
    let nowMs = 1;
    let pausedMs = 0;
    for (let good = 0; good < count; nowMs++) {
      for (const call of underWay.filter(({ endsMs }) => endsMs <= nowMs)) {
        underWay = underWay.filter((other) => other !== call);
        if (call.askedMs === null) {
          good += 1;
          pace.accept(call.beganMs);
        } else {
          // A run notes a long pause at its destination.
          pausedMs = nowMs + pace.refuse(call.beganMs, nowMs, call.askedMs);
          queue.push(call.n);
          queue.sort((a, b) => a - b);
        }
      }
      const most = nowMs < pausedMs ? 0 : pace.isCareful ? 1 : 4;
      while (underWay.length < most && pace.waitMs(nowMs) === 0) {
        const n = queue.shift();
        if (n === undefined) break;
        calls[n] = (calls[n] ?? 0) + 1;
        pace.begin(nowMs);
        underWay.push({ n, beganMs: nowMs, endsMs: nowMs + latencyMs, askedMs: limit(nowMs) });
      }
    }
    return { seconds: nowMs / SECOND_MS, most: Math.max(...calls) };
  }

  const down = (seconds: number) => Math.max(1, Math.floor(seconds));
  const CASES: [name: string, limit: () => Limit, seconds: number][] = [
    ['one a second', () => bucket(1, 1), 99],
    ['one a second, with waits rounded down', () => bucket(1, 1, down), 99],
    ['one a second after five', () => bucket(1, 5), 95],
    ['one a second after twenty', () => bucket(1, 20), 80],
    ['one in ten seconds', () => bucket(0.1, 1), 990],
    ['four in four seconds', () => sliding(4, 4 * SECOND_MS), 96],
    ['twenty a minute, with waits rounded down', () => sliding(20, 60 * SECOND_MS, down), 240],
    ['sixty a minute', () => sliding(60, 60 * SECOND_MS), 60],
  ];
  test.each(CASES)('%s is found', (_name, limit, seconds) => {
    for (const latencyMs of [5, 300]) {
      const found = simulate(limit(), latencyMs);
      expect(found.seconds).toBeLessThanOrEqual(1.2 * seconds);
      expect(found.most).toBeLessThanOrEqual(3);
    }
  });

  test('is found again when the receiver takes more', () => {
    let taken = 0;
    const [slow, quick] = [bucket(1, 1), bucket(20, 1)];
    const { seconds } = simulate((nowMs) => (taken++ < 110 ? slow(nowMs) : quick(nowMs)), 5, 400);
    expect(seconds).toBeLessThan(220);
  });
});
