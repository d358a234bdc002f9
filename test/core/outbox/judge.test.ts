/** The rules of attempts: when a dispatch is tried again, when a destination is left alone. */

import { describe, expect, test } from 'bun:test';
import type { AttemptVerdict } from '../../../src/core/outbox/carrier.ts';
import { afterFailure, afterGood, afterStop, HEALTHY } from '../../../src/core/outbox/circuit.ts';
import { decideAttempt, type Judgement } from '../../../src/core/outbox/judge.ts';
import { waitMs } from '../../../src/core/outbox/retry.ts';
import type {
  DestinationHealth,
  DestinationKind,
  EventDispatch,
  PushDispatch,
} from '../../../src/core/port/outbox.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const least = () => 0;
const most = () => 1;

const ADDRESS = { gateway: 'fcm', token: 'token' } as const;

function push(attemptCount = 0): PushDispatch {
  return {
    kind: 'push',
    id: 7,
    nextAtMs: 0,
    queuedAtMs: NOW_MS,
    attemptCount,
    distributionId: 3,
    deviceId: 5,
    moot: null,
    token: { id: 11, push: ADDRESS, pushAtMs: NOW_MS - DAY_MS, locale: null },
  };
}

function event(attemptCount = 0): EventDispatch {
  return {
    kind: 'event',
    id: 8,
    nextAtMs: 0,
    queuedAtMs: NOW_MS,
    attemptCount,
    event: { id: 9, providerId: 1, kind: 'link.created', atMs: NOW_MS, data: {} },
  };
}

interface Given {
  dispatch?: PushDispatch | EventDispatch;
  kind?: DestinationKind;
  health?: DestinationHealth;
  expiresAtMs?: number | null;
  random?: () => number;
}

function judge(verdict: AttemptVerdict, given: Given = {}): Judgement {
  const {
    dispatch = push(),
    kind = 'fcm',
    health = HEALTHY,
    expiresAtMs = NOW_MS + DAY_MS,
  } = given;
  const attempt = { dispatch, kind, verdict, nowMs: NOW_MS, expiresAtMs };
  return decideAttempt(attempt, health, given.random ?? least);
}

const failing: DestinationHealth = {
  ...HEALTHY,
  failureCount: 4,
  failingSinceMs: NOW_MS - SECOND_MS,
  problem: 'no answer',
};
const retry = (afterMs: number | null = null): AttemptVerdict => ({
  verdict: 'retry',
  afterMs,
  problem: 'it is busy',
});

describe('waits', () => {
  test('of pushes double from a second to ten minutes, and half of each is at random', () => {
    const waits = Array.from({ length: 9 }, (_, n) => waitMs('push', n + 1, null, most));
    const seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    expect(waits).toEqual(seconds.map((s) => s * SECOND_MS));
    expect(waitMs('push', 3, null, least)).toBe(2 * SECOND_MS);
  });

  test('of events: ten attempts over about three days', () => {
    const waits = Array.from({ length: 9 }, (_, n) => waitMs('event', n + 1, null, least) ?? 0);
    expect(waits.slice(0, 3)).toEqual([5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS]);
    const wholeMs = waits.reduce((sum, ms) => sum + ms, 0);
    expect(wholeMs).toBeGreaterThan(3 * DAY_MS);
    expect(wholeMs).toBeLessThan(3.5 * DAY_MS);
    expect(waitMs('event', 1, null, most)).toBe(5.5 * SECOND_MS);
  });

  test('are as long as the other side asks, within bounds', () => {
    expect(waitMs('push', 1, 90 * SECOND_MS, least)).toBe(90 * SECOND_MS);
    expect(waitMs('push', 1, 9 * DAY_MS, least)).toBe(HOUR_MS);
    expect(waitMs('event', 1, 9 * DAY_MS, least)).toBe(DAY_MS);
    expect(waitMs('push', 5, 1, least)).toBe(8 * SECOND_MS);
    expect(waitMs('push', 1, -5, least)).toBe(500);
  });
});

describe('a push', () => {
  test('that was accepted leaves the outbox', () => {
    const { settlement, health } = judge({ verdict: 'accepted' }, { health: failing });
    expect(settlement).toEqual({ id: 7, outcome: 'accepted' });
    expect(health).toEqual(HEALTHY);
  });

  test('that failed for now is retried, and the destination counts the failure', () => {
    const { settlement, health } = judge(retry(), { dispatch: push(2) });
    const nextAtMs = NOW_MS + 2 * SECOND_MS;
    expect(settlement).toEqual({ id: 7, outcome: 'retry', nextAtMs, problem: 'it is busy' });
    expect(health).toEqual({
      ...HEALTHY,
      failureCount: 1,
      failingSinceMs: NOW_MS,
      problem: 'it is busy',
    });
  });

  test('that failed for the tenth time fails for good', () => {
    const { settlement, disables } = judge(retry(), { dispatch: push(9) });
    const problem = '10 attempts failed, the last: it is busy';
    expect(settlement).toEqual({ id: 7, outcome: 'failed', problem });
    expect(disables).toBeNull();
  });

  test('is retried for a day while the whole gateway is failing', () => {
    const away = { ...failing, failureCount: 40 };
    const waited = judge(retry(), { dispatch: push(200), health: away }).settlement;
    expect(waited).toMatchObject({ outcome: 'retry', nextAtMs: NOW_MS + 5 * MINUTE_MS });
    const old = { ...push(200), queuedAtMs: NOW_MS - DAY_MS };
    const problem = 'no attempt of a day went well, the last: it is busy';
    const ended = judge(retry(), { dispatch: old, health: away, expiresAtMs: null }).settlement;
    expect(ended).toEqual({ id: 7, outcome: 'failed', problem });
  });

  test('to a push service has ten attempts at most', () => {
    const away = { ...failing, failureCount: 40 };
    for (const verdict of [retry(), { ...retry(), isOfOne: true } as AttemptVerdict]) {
      const tried = (nth: number) =>
        judge(verdict, { dispatch: push(nth), health: away, kind: 'webpush' }).settlement;
      expect(tried(8)).toMatchObject({ outcome: 'retry' });
      const problem = '10 attempts failed, the last: it is busy';
      expect(tried(9)).toEqual({ id: 7, outcome: 'failed', problem });
    }
  });

  test('with a failure of its own does not open the circuit', () => {
    const own: AttemptVerdict = { ...retry(), isOfOne: true } as AttemptVerdict;
    let health = HEALTHY;
    for (let nth = 0; nth < 40; nth++) {
      const judged = judge(own, { dispatch: push(nth), health });
      expect(judged.settlement).toMatchObject({ outcome: 'retry' });
      health = judged.health;
    }
    expect(health).toEqual(HEALTHY);
    const old = { ...push(40), queuedAtMs: NOW_MS - DAY_MS };
    expect(judge(own, { dispatch: old }).settlement).toMatchObject({ outcome: 'failed' });
  });

  test('that waited for days at a stopped gateway has all its attempts', () => {
    const old = { ...push(8), queuedAtMs: NOW_MS - 3 * DAY_MS };
    const { settlement } = judge(retry(), { dispatch: old, expiresAtMs: null });
    expect(settlement).toMatchObject({ outcome: 'retry' });
  });

  test('is not retried after its message has expired', () => {
    const { settlement } = judge(retry(MINUTE_MS), { expiresAtMs: NOW_MS + MINUTE_MS });
    const problem = 'the message ends before another attempt: it is busy';
    expect(settlement).toEqual({ id: 7, outcome: 'failed', problem });
  });

  test('to a dead address: the token loses it, the gateway stays healthy', () => {
    const { settlement, health } = judge({ verdict: 'dead', problem: 'gone' }, { health: failing });
    const as = { outcome: 'dead', problem: 'gone', asOfMs: null } as const;
    const dead = { ...as, tokenId: 11, push: ADDRESS };
    expect(settlement).toEqual({ id: 7, ...dead });
    expect(health).toEqual(HEALTHY);
  });

  test('to an address that was dead before the app registered it again is retried', () => {
    const dead = (asOfMs: number) => judge({ verdict: 'dead', problem: 'gone', asOfMs }).settlement;
    expect(dead(NOW_MS - DAY_MS)).toMatchObject({ outcome: 'dead', asOfMs: NOW_MS - DAY_MS });
    expect(dead(NOW_MS - DAY_MS - 1)).toMatchObject({
      outcome: 'retry',
      problem: 'gone; the app has registered it again since',
    });
  });

  test('that the gateway rejects fails alone', () => {
    const { settlement, health } = judge({ verdict: 'failed', problem: 'too long' });
    expect(settlement).toEqual({ id: 7, outcome: 'failed', problem: 'too long' });
    expect(health).toEqual(HEALTHY);
  });

  test('with rejected credentials stops the gateway and does not count as an attempt', () => {
    const { settlement, health } = judge({ verdict: 'credentials', problem: 'who are you?' });
    expect(settlement).toBeNull();
    expect(health).toEqual({ ...HEALTHY, stoppedAtMs: NOW_MS, problem: 'who are you?' });
  });

  test('to a browser does not stop its push service', () => {
    const verdict: AttemptVerdict = { verdict: 'credentials', problem: 'another key' };
    const { settlement, health } = judge(verdict, { kind: 'webpush' });
    expect(settlement).toEqual({ id: 7, outcome: 'failed', problem: 'another key' });
    expect(health.stoppedAtMs).toBeNull();
  });
});

describe('an event', () => {
  const told = { dispatch: event(), kind: 'webhook', expiresAtMs: null } as const;

  test('that failed for now is retried', () => {
    const { settlement, disables } = judge(retry(), told);
    const nextAtMs = NOW_MS + 5 * SECOND_MS;
    expect(settlement).toEqual({ id: 8, outcome: 'retry', nextAtMs, problem: 'it is busy' });
    expect(disables).toBeNull();
  });

  test('that failed for the tenth time disables its webhook', () => {
    const old = { ...event(9), queuedAtMs: NOW_MS - 3 * DAY_MS };
    const { settlement, disables } = judge(retry(), { ...told, dispatch: old });
    const problem = '10 attempts over three days failed, the last: it is busy';
    expect(settlement).toEqual({ id: 8, outcome: 'failed', problem });
    expect(disables).toBe(problem);
  });

  test('of a receiver that alternates between up and down fails no sooner', () => {
    const { settlement, disables } = judge(retry(), { ...told, dispatch: event(30) });
    expect(settlement).toMatchObject({ outcome: 'retry', nextAtMs: NOW_MS + DAY_MS });
    expect(disables).toBeNull();
  });

  test.each(['dead', 'credentials'] as const)('that is answered so (%s) disables it', (verdict) => {
    const { settlement, health, disables } = judge({ verdict, problem: 'it is gone' }, told);
    expect(settlement).toEqual({ id: 8, outcome: 'failed', problem: 'it is gone' });
    expect(disables).toBe('it is gone');
    expect(health.stoppedAtMs).toBeNull();
  });

  test('that is rejected ten times in a row, for one reason, disables it', () => {
    const rejected = { verdict: 'failed', problem: 'it rejects this' } as const;
    let health = HEALTHY;
    for (let n = 1; n < 10; n++) {
      const judged = judge(rejected, { ...told, health });
      expect([n, judged.settlement?.outcome, judged.disables]).toEqual([n, 'failed', null]);
      ({ health } = judged);
    }
    expect(health).toMatchObject({ failureCount: 9, failingSinceMs: NOW_MS, retryAtMs: 0 });
    const other = judge({ verdict: 'failed', problem: 'another' }, { ...told, health });
    expect([other.disables, other.health.failureCount]).toEqual([null, 1]);
    expect(judge({ verdict: 'accepted' }, { ...told, health }).health).toEqual(HEALTHY);
    expect(judge(rejected, { ...told, health }).disables).toBe(
      'it rejected 10 events in a row, the last: it rejects this',
    );
  });

  test('that a stranger can cause disables nothing by its failures; an answer that ends all does', () => {
    const kind = 'link.refused';
    const poison = (attempts = 0): EventDispatch => {
      const dispatch = { ...event(attempts), queuedAtMs: NOW_MS - 3 * DAY_MS };
      return { ...dispatch, event: { ...dispatch.event, kind } };
    };
    const health = { ...HEALTHY, failureCount: 9, failingSinceMs: 0, problem: 'no' };
    const of = (verdict: AttemptVerdict, dispatch = poison()) =>
      judge(verdict, { ...told, dispatch, health });
    const rejected = of({ verdict: 'failed', problem: 'no' });
    expect([rejected.disables, rejected.health]).toEqual([null, health]);
    const over = of(retry(), poison(9));
    expect([over.settlement?.outcome, over.disables]).toEqual(['failed', null]);
    const waited = of({ verdict: 'wait', afterMs: 1, problem: 'later' });
    expect([waited.settlement?.outcome, waited.disables]).toEqual(['failed', null]);
    expect(of({ verdict: 'dead', problem: 'gone' }).disables).toBe('gone');
  });

  test('whose receiver asks for a pause delays all of its events', () => {
    const { health } = judge(retry(7 * SECOND_MS), told);
    expect(health.retryAtMs).toBe(NOW_MS + 7 * SECOND_MS);
    expect(judge(retry(), told).health.retryAtMs).toBe(0);
  });
});

describe('asked to wait', () => {
  const wait = (afterMs: number, isOfOne?: true): AttemptVerdict => ({
    verdict: 'wait',
    afterMs,
    problem: 'too many',
    ...(isOfOne && { isOfOne }),
  });
  const busy: AttemptVerdict = { verdict: 'busy', problem: 'no place' };
  const told = { dispatch: event(9), kind: 'webhook', expiresAtMs: null } as const;
  const since = (ageMs: number) => NOW_MS - ageMs;

  test('a push waits for as long, which counts as no attempt', () => {
    const { settlement, health } = judge(wait(40 * SECOND_MS, true), { dispatch: push(9) });
    const nextAtMs = NOW_MS + 40 * SECOND_MS;
    expect(settlement).toEqual({ id: 7, outcome: 'wait', nextAtMs, problem: 'too many' });
    expect(health).toEqual(HEALTHY);
    // Of a whole gateway it is a failure, of which many in a row open the circuit.
    expect(judge(wait(SECOND_MS)).health.failureCount).toBe(1);
  });

  test('an older push waits for longer, and three days at most', () => {
    const at = (ageMs: number) =>
      judge(wait(0, true), {
        dispatch: { ...push(), queuedAtMs: since(ageMs) },
        expiresAtMs: null,
      });
    const waits = (ageMs: number) => {
      const { settlement } = at(ageMs);
      return settlement?.outcome === 'wait' ? settlement.nextAtMs - NOW_MS : settlement?.outcome;
    };
    expect([0, MINUTE_MS, 2 * DAY_MS].map(waits)).toEqual([SECOND_MS, 6 * SECOND_MS, HOUR_MS]);
    expect([3 * DAY_MS - 5, 3 * DAY_MS].map(waits)).toEqual([5, 'failed']);
    const late = judge(wait(HOUR_MS, true), { expiresAtMs: NOW_MS + HOUR_MS }).settlement;
    expect(late).toMatchObject({ outcome: 'failed', problem: expect.stringContaining('ends') });
  });

  test('an event keeps its place; a long pause ends the lease', () => {
    const short = judge(wait(SECOND_MS), told);
    expect(short).toMatchObject({ settlement: null, disables: null });
    expect(short.health).toEqual({ ...HEALTHY, failingSinceMs: NOW_MS, problem: 'too many' });
    const long = judge(wait(HOUR_MS), told);
    expect(long.health.retryAtMs).toBe(NOW_MS + HOUR_MS);
    expect(long.settlement).toBeNull();
    const old = { ...told, dispatch: { ...event(), queuedAtMs: since(3 * DAY_MS - MINUTE_MS) } };
    expect(judge(wait(HOUR_MS), old).health.retryAtMs).toBe(NOW_MS + MINUTE_MS);
  });

  test('an event waits for three days; a receiver that accepted none meanwhile is disabled', () => {
    const old = { ...told, dispatch: { ...event(), queuedAtMs: since(3 * DAY_MS) } };
    const problem = 'it was asked to wait for three days, the last time: too many';
    const others = judge(wait(SECOND_MS), { ...old, health: failing });
    expect(others.settlement).toEqual({ id: 8, outcome: 'failed', problem });
    expect(others.disables).toBeNull();
    const never = { ...failing, failingSinceMs: since(3 * DAY_MS) };
    expect(judge(wait(SECOND_MS), { ...old, health: never }).disables).toBe(problem);
  });

  test('a dispatch without a free connection counts as no attempt', () => {
    for (const given of [{ dispatch: push(9) }, told]) {
      const judged = judge(busy, { ...given, health: failing });
      expect(judged).toEqual({ settlement: null, health: failing, disables: null });
    }
    const { settlement } = judge(busy, { expiresAtMs: NOW_MS });
    expect(settlement).toMatchObject({ outcome: 'failed' });
  });
});

describe('the circuit', () => {
  const fail = (health: DestinationHealth, nowMs: number, random = () => 0.5) =>
    afterFailure(health, { nowMs, problem: 'no answer', pauseMs: 0 }, random);

  function failTimes(count: number, everyMs: number, health = HEALTHY): DestinationHealth {
    let failed = health;
    for (let n = 0; n < count; n++) failed = fail(failed, NOW_MS + n * everyMs);
    return failed;
  }

  test('opens after ten failures in a row, if none was good for three seconds', () => {
    expect(failTimes(9, SECOND_MS).retryAtMs).toBe(0);
    // A reset of one connection fails all that was under way at once.
    expect(failTimes(64, 1).retryAtMs).toBe(0);
    expect(failTimes(10, SECOND_MS).retryAtMs).toBe(NOW_MS + 9 * SECOND_MS + 9 * SECOND_MS);
  });

  test('is closed by the first good attempt', () => {
    expect(afterGood(failTimes(30, SECOND_MS))).toEqual(HEALTHY);
  });

  test('stays open for as long as it has been failing: from 5 s to 5 min', () => {
    const open = failTimes(10, 350);
    expect(open.retryAtMs).toBe(NOW_MS + 9 * 350 + 5 * SECOND_MS);
    const laterMs = NOW_MS + 40 * SECOND_MS;
    expect(fail(open, laterMs).retryAtMs).toBe(laterMs + 40 * SECOND_MS);
    const hourLaterMs = NOW_MS + HOUR_MS;
    expect(fail(open, hourLaterMs).retryAtMs).toBe(hourLaterMs + 5 * MINUTE_MS);
    expect(fail(open, laterMs, least).retryAtMs).toBe(laterMs + 30 * SECOND_MS);
  });

  test('a clock that was set back restarts the time of failing', () => {
    const open = failTimes(20, SECOND_MS);
    const backMs = NOW_MS - DAY_MS;
    const failed = fail(open, backMs);
    expect(failed.failingSinceMs).toBe(backMs);
    expect(fail(failed, backMs + 6 * SECOND_MS).retryAtMs).toBe(backMs + 12 * SECOND_MS);
  });

  test('a stopped destination is not started by an attempt in flight', () => {
    const stopped = afterStop(HEALTHY, NOW_MS, 'who are you?');
    expect(afterGood(stopped)).toEqual(stopped);
  });
});
