/** Why a push fails that turned out to be moot: every cell of the rule. */

import { expect, test } from 'bun:test';
import { type PushStanding, whyPushFailed } from '../../../src/core/message/push-failure.ts';
import { BLOCKED, SENDING } from '../../../src/core/message/status.ts';

const QUEUED = { queuedAtMs: 100 };
const NOW_MS = 1_000;
const ADDRESS = '{"gateway":"fcm","token":"t"}';
const HERE: PushStanding = {
  status: SENDING,
  expiresAtMs: NOW_MS + 1,
  problem: null,
  push: null,
  droppedAtMs: null,
  droppedWhy: null,
};
const DROPPED = { droppedAtMs: 100, droppedWhy: 'the app is gone' };

const cases: [string, Partial<PushStanding>, string | null][] = [
  ['its reader has no address', {}, null],
  ['its reader has another address', { push: ADDRESS }, null],
  ['its message is blocked', { status: BLOCKED }, 'blocked before the gateway took it'],
  [
    'its message is blocked after an attempt',
    { status: BLOCKED, problem: 'FCM answered 503' },
    'blocked before the gateway took it: FCM answered 503',
  ],
  ['its message expires now', { expiresAtMs: NOW_MS }, 'expired before the gateway took it'],
  [
    'its message expired after an attempt',
    { expiresAtMs: 1, problem: 'FCM answered 503' },
    'expired before the gateway took it: FCM answered 503',
  ],
  [
    'its message is blocked and expired',
    { status: BLOCKED, expiresAtMs: 1 },
    'blocked before the gateway took it',
  ],
  ['its address was dropped since', DROPPED, 'the address was dropped: the app is gone'],
  ['an address was dropped before', { ...DROPPED, droppedAtMs: 99 }, null],
  ['another address came after one was dropped', { ...DROPPED, push: ADDRESS }, null],
];

test.each(cases)('%s', (_, change, why) => {
  expect(whyPushFailed(QUEUED, { ...HERE, ...change }, NOW_MS)).toBe(why);
});
