/** The worker of the outbox, on an outbox in memory and scripted carriers. */

import { describe, expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import type { Core } from '../../src/core/core.ts';
import { makeWorker } from '../../src/jobs/deliver.ts';
import type { Outbox } from '../../src/jobs/outbox/worker.ts';
import { ACT } from '../support/actor.ts';
import { WIDE_LIMITS } from '../support/bounds.ts';
import { ACCEPTED, BUSY, OutboxBench, Scripted } from '../support/fake-outbox.ts';
import { NO_RIDES } from '../support/no-rides.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const REFUSED = { verdict: 'credentials', problem: 'the key is not known' } as const;

describe('handing over', () => {
  test('everything goes out once, 64 at a time, and is saved together', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm, 1_000);
    bench.fcm.auto = () => null;
    const worker = bench.worker();
    worker.wake();
    await bench.until('the first are under way', () => bench.fcm.calls.length === 64);
    await bench.rest();
    expect(bench.fcm.calls.length).toBe(64);
    bench.fcm.auto = () => ACCEPTED;
    for (const call of bench.fcm.calls.slice()) call.answer(ACCEPTED);
    await bench.until('all are settled', () => bench.outbox.waiting.length === 0);
    expect(new Set(bench.fcm.calls.map(({ to }) => to)).size).toBe(1_000);
    expect(bench.fcm.calls.length).toBe(1_000);
    expect(bench.outbox.calls.filter((method) => method === 'settle').length).toBeLessThan(50);
    // The message was read and rendered once.
    expect(bench.outbox.calls.filter((method) => method === 'message').length).toBeLessThan(65);
    expect(new Set(bench.outbox.outcomes())).toEqual(new Set(['accepted']));
    await bench.stop(worker);
  });

  test('where nothing waits a bell asks nothing, and a commit wakes the worker', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.fcm.auto = () => ACCEPTED;
    const worker = bench.worker();
    worker.tick();
    await bench.rest();
    const asked = bench.outbox.calls.length;
    for (let n = 0; n < 100; n++) {
      bench.clock.advance(SECOND_MS);
      worker.tick();
      await bench.rest();
    }
    expect(bench.outbox.calls.length).toBe(asked);
    bench.outbox.add(fcm);
    bench.signals.outboxFilled();
    await bench.until('it went out', () => bench.outbox.waiting.length === 0);
    await bench.rest();
    expect([...bench.outbox.destinations.values()].map(({ owner }) => owner)).toEqual([null]);
    await bench.stop(worker);
  });

  test('what another process may have added is read', async () => {
    const bench = new OutboxBench();
    let change = () => {};
    let lookCount = 0;
    bench.signals.onOutbox(() => {
      lookCount += 1;
    });
    const watch = (onChange: (deviceIds: 'all') => void) => {
      change = () => onChange('all');
      return () => undefined;
    };
    const store = {
      watch,
      nameWorker: async () => 'one',
      onBehalfOf: <T>(_party: string, _name: unknown, work: () => T) => work(),
      claimWork: async () => [],
      deliverNamed: async () => ({ count: 0, deviceIds: [], failedCount: 0 }),
      findNextDueMs: async () => null,
    };
    const none = { gateways: () => [], rides: () => NO_RIDES };
    const rest = { actor: () => ACT.actor, limits: WIDE_LIMITS, ...none };
    const core = { ...rest, store, signals: bench.signals, pushKey: () => null };
    const log = makeLog({ logFormat: 'human', logLevel: 'error' }, bench.clock.nowMs);
    makeWorker(core as unknown as Core, bench.clock, log);
    change();
    expect(lookCount).toBe(1);
  });

  test('what is put in while a run ends is not left behind', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.fcm.auto = () => ACCEPTED;
    const worker = bench.worker();
    for (let n = 0; n < 200; n++) {
      bench.outbox.add(fcm);
      bench.signals.outboxFilled();
      // Each time at another of the run's steps.
      for (let turns = 0; turns < n % 12; turns++) await bench.turn();
    }
    await bench.until('all are settled', () => bench.outbox.waiting.length === 0);
    expect(bench.fcm.calls.length).toBe(200);
    await bench.stop(worker);
  });

  test('a destination that is claimed in vain is not claimed again at once', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm);
    bench.outbox.listDispatches = async () => [];
    const worker = bench.worker();
    worker.wake();
    for (let n = 0; n < 5; n++) {
      await bench.rest();
      bench.clock.advance(SECOND_MS);
      worker.tick();
    }
    expect(bench.outbox.calls.filter((method) => method === 'claim').length).toBeLessThan(25);
    await bench.stop(worker);
  });

  test('moot pushes take no place', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm, 300, { moot: 'moved' });
    const [needed = 0] = bench.outbox.add(fcm);
    bench.fcm.auto = () => ACCEPTED;
    const worker = bench.worker();
    worker.wake();
    await bench.until('all are settled', () => bench.outbox.waiting.length === 0);
    expect(bench.fcm.calls.map(({ to }) => to)).toEqual([`token ${needed}`]);
    expect(bench.outbox.outcomes().filter((outcome) => outcome === 'moot').length).toBe(300);
    await bench.stop(worker);
  });

  test('a gateway that is not set up is not asked for', async () => {
    const bench = new OutboxBench();
    const apns = bench.outbox.addDestination('apns');
    bench.outbox.add(apns);
    const worker = bench.worker();
    worker.wake();
    await bench.rest();
    expect(bench.outbox.waiting.length).toBe(1);
    const own = new Scripted(64);
    own.auto = () => ACCEPTED;
    bench.gateways = { ...bench.gateways, apns: own } as typeof bench.gateways;
    await worker.resume();
    await bench.until('it went out', () => bench.outbox.waiting.length === 0);
    await bench.stop(worker);
  });
});

describe('failures', () => {
  test('are tried again by the bell, later each time', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm);
    bench.fcm.auto = () => (bench.fcm.calls.length < 4 ? BUSY : ACCEPTED);
    const worker = bench.worker();
    worker.wake();
    const begin = bench.clock.nowMs();
    await bench.until('it went out', () => {
      worker.tick();
      return bench.outbox.waiting.length === 0;
    });
    expect(bench.attempts).toEqual(['fcm retry', 'fcm retry', 'fcm retry', 'fcm accepted']);
    // Three quarters of 1, 2 and 4 s, as the dice of the test fall.
    expect(bench.clock.nowMs() - begin).toBeGreaterThanOrEqual(5_250);
    await bench.stop(worker);
  });

  test('without end open the circuit: then one probe, and all goes on when it is good', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm, 500);
    const worker = bench.worker();
    worker.wake();
    // Each attempt hangs until it is given up.
    await bench.until('the first are under way', () => bench.fcm.calls.length === 64);
    bench.clock.advance(10 * SECOND_MS);
    for (const call of bench.fcm.calls.slice(0, 9)) call.answer(BUSY);
    await bench.rest();
    bench.clock.advance(4 * SECOND_MS);
    for (const call of bench.fcm.calls.slice(9)) call.answer(BUSY);
    await bench.until('it is left alone', () => bench.outbox.destinations.get(fcm)?.owner === null);
    const pausedCount = bench.fcm.calls.length;
    expect(bench.logLines).toContain('warn gateway_failing gateway=fcm problem="it is busy"');
    const { retryAtMs = 0 } = bench.outbox.destinations.get(fcm) ?? {};
    expect(retryAtMs).toBeGreaterThanOrEqual(bench.clock.nowMs() + 4 * SECOND_MS);
    worker.tick();
    await bench.rest();
    expect(bench.fcm.calls.length).toBe(pausedCount);

    bench.clock.set(retryAtMs);
    worker.tick();
    await bench.until('a probe is under way', () => bench.fcm.calls.length > pausedCount);
    await bench.rest();
    expect(bench.fcm.calls.length).toBe(pausedCount + 1);
    bench.fcm.auto = () => ACCEPTED;
    bench.fcm.calls.at(-1)?.answer(ACCEPTED);
    await bench.until('all went out', () => {
      worker.tick();
      return bench.outbox.waiting.length === 0;
    });
    expect(bench.logLines.at(-1)).toBe('info gateway_recovered gateway=fcm');
    await bench.stop(worker);
  });

  test('of our credentials stop the gateway: one line, nothing dropped, no attempt counted', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm, 300);
    bench.fcm.auto = () => REFUSED;
    const worker = bench.worker();
    worker.wake();
    const held = () => bench.outbox.destinations.get(fcm);
    await bench.until('it is stopped', () => held()?.stoppedAtMs !== null);
    for (let n = 0; n < 10; n++) {
      bench.clock.advance(60 * SECOND_MS);
      worker.tick();
      await bench.rest();
    }
    expect(bench.fcm.calls.length).toBeLessThanOrEqual(64);
    expect(bench.outbox.waiting.every(({ attemptCount }) => attemptCount === 0)).toBe(true);
    expect(bench.logLines).toEqual([
      'error gateway_stopped gateway=fcm problem="the key is not known"',
    ]);
    bench.gateways = { fcm: new Scripted(64) };
    bench.fcm.auto = () => ACCEPTED;
    await worker.resume();
    await bench.until('all went out', () => bench.outbox.waiting.length === 0);
    expect(bench.fcm.calls.length).toBe(300);
    await bench.stop(worker);
  });

  test('of our credentials are asked about again each hour, with one push', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm, 100);
    bench.fcm.auto = () => REFUSED;
    const worker = bench.worker();
    worker.wake();
    const held = () => bench.outbox.destinations.get(fcm);
    await bench.until('it is stopped', () => held()?.stoppedAtMs != null && held()?.owner === null);
    const ask = async (ms: number) => {
      const before = bench.fcm.calls.length;
      bench.clock.advance(ms);
      worker.tick();
      await bench.rest();
      return bench.fcm.calls.length - before;
    };
    expect(await ask(HOUR_MS - 5 * SECOND_MS)).toBe(0);
    expect(await ask(5 * SECOND_MS)).toBe(1);
    expect(await ask(HOUR_MS / 2)).toBe(0);
    // No answer says nothing of the credentials: it is stopped as before, and asked again soon.
    bench.fcm.auto = () => BUSY;
    expect(await ask(HOUR_MS / 2)).toBe(1);
    expect(held()?.stoppedAtMs).not.toBeNull();
    expect(await ask(4 * 60 * SECOND_MS)).toBe(0);
    expect(bench.logLines).toEqual([
      'error gateway_stopped gateway=fcm problem="the key is not known"',
    ]);
    bench.fcm.auto = () => ACCEPTED;
    await ask(60 * SECOND_MS);
    await bench.until('all went out', () => bench.outbox.waiting.length === 0);
    expect(bench.logLines.at(-1)).toBe('info gateway_recovered gateway=fcm');
    await bench.stop(worker);
  });

  test('of credentials that were mended meanwhile stop nothing', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm);
    const worker = bench.worker();
    worker.wake();
    const old = bench.fcm;
    await bench.until('it is under way', () => old.calls.length === 1);
    bench.gateways = { fcm: new Scripted(64) };
    bench.fcm.auto = () => ACCEPTED;
    await worker.resume();
    old.calls[0]?.answer(REFUSED);
    await bench.until('it went out', () => bench.outbox.waiting.length === 0);
    expect(bench.outbox.destinations.get(fcm)?.stoppedAtMs).toBeNull();
    expect(bench.logLines).toEqual([]);
    await bench.stop(worker);
  });

  test('that say "gone" disable the webhook, and the rest of its events waits', async () => {
    const bench = new OutboxBench();
    const gone = bench.outbox.addDestination('webhook');
    const other = bench.outbox.addDestination('webhook');
    bench.outbox.add(gone, 20);
    bench.outbox.add(other, 20);
    bench.webhook.auto = (to) =>
      to.startsWith(`${gone}:`) ? { verdict: 'dead', problem: '410 Gone' } : ACCEPTED;
    const worker = bench.worker();
    worker.wake();
    await bench.until('the others are delivered', () => bench.outbox.outcomes().length > 20);
    await bench.rest();
    expect(bench.outbox.webhooks.has(gone)).toBe(false);
    const left = bench.outbox.waiting.filter(({ destinationId }) => destinationId === gone);
    expect(left.length).toBeGreaterThanOrEqual(16);
    expect(bench.logLines).toEqual([]);
    await bench.stop(worker);
  });

  test('of a receiver that was replaced meanwhile do not count: the new one gets the event', async () => {
    const bench = new OutboxBench();
    const hook = bench.outbox.addDestination('webhook');
    const [event = 0] = bench.outbox.add(hook);
    const worker = bench.worker();
    worker.wake();
    await bench.until('the old one is asked', () => bench.webhook.calls.length === 1);
    const url = 'https://bot.example/new';
    const before = bench.outbox.webhooks.get(hook);
    if (before)
      bench.outbox.webhooks.set(hook, {
        ...before,
        target: { kind: 'webhook', url, scheme: 'v1' },
      });
    bench.webhook.auto = () => ACCEPTED;
    bench.webhook.calls[0]?.answer({ verdict: 'dead', problem: '410 Gone' });
    await bench.until('the new one has the event', () => bench.outbox.settled.has(event));
    expect(bench.outbox.webhooks.has(hook)).toBe(true);
    expect(bench.outbox.settled.get(event)?.outcome).toBe('accepted');
    await bench.stop(worker);
  });

  test('of a chat that has another id now: it is followed once, and nothing is lost', async () => {
    const bench = new OutboxBench();
    const hook = bench.outbox.addDestination('telegram');
    const ids = bench.outbox.add(hook, 3);
    const chats: string[] = [];
    bench.telegram.deliver = async ({ target }) => {
      const chat = target.kind === 'telegram' ? target.chat : '';
      chats.push(chat);
      return chat === '1' ? { verdict: 'dead', problem: 'it moved', movedTo: '-1002' } : ACCEPTED;
    };
    const worker = bench.worker();
    worker.wake();
    await bench.until('all are delivered', () => bench.outbox.settled.size === 3);
    expect(chats).toEqual(['1', '-1002', '-1002', '-1002']);
    expect([...bench.outbox.settled.keys()]).toEqual(ids);
    expect(bench.moves).toEqual(['1 to -1002']);
    // Back where it was: no circle is followed.
    bench.telegram.deliver = async () => ({ verdict: 'dead', problem: 'it moved', movedTo: '1' });
    bench.outbox.add(hook);
    bench.signals.outboxFilled();
    await bench.until('it is disabled', () => !bench.outbox.webhooks.has(hook));
    expect(bench.moves).toHaveLength(1);
    await bench.stop(worker);
  });

  test('a webhook that is disabled gets nothing more, from the next attempt on', async () => {
    const bench = new OutboxBench();
    const hook = bench.outbox.addDestination('webhook');
    bench.outbox.add(hook, 16);
    const worker = bench.worker();
    worker.wake();
    await bench.until('some are under way', () => bench.webhook.calls.length === 4);
    const webhook = bench.outbox.webhooks.get(hook);
    if (webhook) bench.outbox.webhooks.set(hook, { ...webhook, disabled: { atMs: 0, why: '' } });
    bench.webhook.auto = () => ACCEPTED;
    for (const call of bench.webhook.calls.slice()) call.answer(ACCEPTED);
    await bench.rest();
    expect(bench.webhook.calls.length).toBe(4);
    await bench.stop(worker);
  });

  test('inside of a carrier are a failed attempt like another', async () => {
    const bench = new OutboxBench();
    const fcm = bench.outbox.addDestination('fcm');
    bench.outbox.add(fcm);
    bench.fcm.auto = () => {
      if (bench.fcm.calls.length > 1) return ACCEPTED;
      throw new Error('a mistake of ours');
    };
    const worker = bench.worker();
    worker.wake();
    await bench.until('it went out', () => {
      worker.tick();
      return bench.outbox.waiting.length === 0;
    });
    expect(bench.logLines.length).toBe(1);
    expect(bench.logLines[0]).toStartWith('error outbox_fault reason=');
    await bench.stop(worker);
  });
});

describe('a bot that is down for half a day', () => {
  /** Rings each second, but only moves on to the times at which something is due. */
  async function pass(bench: OutboxBench, worker: Outbox, untilMs: number): Promise<void> {
    while (bench.clock.nowMs() < untilMs) {
      const nextMs = (await bench.outbox.findNextDispatchMs(['webhook'])) ?? untilMs;
      bench.clock.set(Math.min(untilMs, Math.max(nextMs, bench.clock.nowMs() + SECOND_MS)));
      worker.tick();
      await bench.rest();
    }
  }

  test.each([1, 1_000])('loses none of %d events, and gets all when it is up', async (count) => {
    const bench = new OutboxBench();
    const hook = bench.outbox.addDestination('webhook');
    const ids = bench.outbox.add(hook, count);
    bench.webhook.auto = () => BUSY;
    const worker = bench.worker();
    worker.wake();
    const beganMs = bench.clock.nowMs();
    await pass(bench, worker, beganMs + 12 * HOUR_MS);
    expect(bench.outbox.waiting.length).toBe(count);
    expect(bench.outbox.webhooks.has(hook)).toBe(true);
    const attemptsMost = Math.max(...bench.outbox.waiting.map(({ attemptCount }) => attemptCount));
    expect(attemptsMost).toBeLessThan(8);
    // No storm: at most a probe in some minutes.
    expect(bench.webhook.calls.length).toBeLessThan(count === 1 ? 10 : 350);
    bench.webhook.auto = () => ACCEPTED;
    const downCount = bench.webhook.calls.length;
    await pass(bench, worker, beganMs + (count === 1 ? 24 : 12.2) * HOUR_MS);
    expect(bench.outbox.waiting.length).toBe(0);
    const told = bench.webhook.calls.slice(downCount).map(({ to }) => Number(to.split(' ')[1]));
    expect(new Set(told)).toEqual(new Set(ids));
    // Behind the probe they come in the order in which they happened.
    expect(told.slice(1)).toEqual(ids.filter((id) => id !== told[0]));
    await bench.stop(worker);
  });
});
