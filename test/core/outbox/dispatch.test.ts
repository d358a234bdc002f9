/** Dispatches as rows: whether a push is moot at a destination, and the order of due ones. */

import { describe, expect, test } from 'bun:test';
import { dueRanges, type PushRow, pushDispatch } from '../../../src/core/outbox/dispatch.ts';
import { WAIT_MAX_MS } from '../../../src/core/port/outbox.ts';

const NOW_MS = 1_000_000;
const FCM = JSON.stringify({ gateway: 'fcm', token: 'a' });
const BROWSER = JSON.stringify({
  gateway: 'webpush',
  token: { endpoint: 'https://push.example/1', keys: {} },
});
const ROW: PushRow = {
  id: 1,
  nextAtMs: 0,
  queuedAtMs: 5,
  attemptCount: 0,
  distributionId: 2,
  deviceId: 3,
  isBlocked: false,
  expiresAtMs: NOW_MS + 1,
  tokenId: 4,
  push: FCM,
  pushAtMs: 5,
  locale: null,
};
const TO_FCM = { kind: 'fcm', origin: '' };
const TO_BROWSER = { kind: 'webpush', origin: 'https://push.example' };

describe('a push', () => {
  test.each([
    ['its destination', {}, TO_FCM, null],
    ['its push service', { push: BROWSER }, TO_BROWSER, null],
    ['another gateway', {}, { kind: 'apns', origin: '' }, 'moved'],
    ['another service', { push: BROWSER }, { ...TO_BROWSER, origin: 'https://b' }, 'moved'],
    ['a destination without an address', { push: null }, TO_FCM, 'moved'],
    ['a destination without a reader', { tokenId: null, push: null }, TO_FCM, 'moved'],
    ['its destination after it expired', { expiresAtMs: NOW_MS }, TO_FCM, 'expired'],
    [
      'its destination after it was blocked',
      { isBlocked: true, expiresAtMs: 0 },
      TO_FCM,
      'blocked',
    ],
  ] as const)('at %s', (_, more, to, moot) => {
    expect(pushDispatch({ ...ROW, ...more }, to, NOW_MS).moot).toBe(moot);
  });
});

describe('due dispatches', () => {
  const again = { afterMs: 1, afterId: 0, toMs: NOW_MS };
  const setBack = {
    afterMs: NOW_MS + WAIT_MAX_MS.fcm + 1,
    afterId: 0,
    toMs: Number.MAX_SAFE_INTEGER,
  };
  const fresh = { afterMs: 0, afterId: 0, toMs: 0 };
  const late = { nextAtMs: setBack.afterMs + 5, id: 7 };

  test.each([
    ['from the beginning', null, [again, setBack, fresh]],
    [
      'after a retry',
      { nextAtMs: 50, id: 7 },
      [{ ...again, afterMs: 50, afterId: 7 }, setBack, fresh],
    ],
    [
      'after a retry that the clock put too far ahead',
      late,
      [{ ...setBack, afterMs: late.nextAtMs, afterId: 7 }, fresh],
    ],
    ['after a new one', { nextAtMs: 0, id: 7 }, [{ ...fresh, afterId: 7 }]],
  ])('%s', (_, cursor, ranges) => {
    expect(dueRanges('fcm', NOW_MS, cursor)).toEqual(ranges);
  });
});
