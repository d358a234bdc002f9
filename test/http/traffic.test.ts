/** The end of an answer: what is counted, and which answers are delayed. */

import { expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import { EndpointTally, Traffic } from '../../src/http/traffic.ts';
import { FakeClock } from '../support/clock.ts';

import { until } from '../support/until.ts';

function begin(delayMs: number) {
  const clock = new FakeClock();
  const tally = new EndpointTally('/x');
  const guesses: unknown[] = [];
  const traffic = new Traffic({
    clock,
    log: makeLog({ logFormat: 'json', logLevel: 'error' }, clock.nowMs, () => {}),
    settings: { trustedProxies: { includes: () => false }, logRequests: false },
    isTrusted: () => false,
    addressOf: () => '',
    clientOf: () => 'client',
    onGuess: () => {},
    failures: {
      record: (...of) => {
        guesses.push(of);
        return delayMs;
      },
    },
  });
  const startMs = clock.steadyMs();
  const conclude = (isGuess: boolean, account: string | null = null) => {
    const request = new Request('http://localhost/x');
    const decided = { request, says: 'wrong', startMs, isGuess, account, requestId: 'id-1' };
    return traffic.conclude(tally, decided);
  };
  return { clock, conclude, guesses, tally, traffic };
}

test('an answer that is no guess is counted with its time, and given at once', () => {
  const { clock, conclude, guesses, tally } = begin(1_000);
  clock.advance(7);
  expect(conclude(false)).toBe('id-1');
  expect([...tally.answers.entries()]).toEqual([['wrong', 1]]);
  expect(tally.seconds.sum).toBe(0.007);
  expect(guesses).toEqual([]);
});

test('a guess counts for its client, and at the account that it is about', () => {
  const { clock, conclude, guesses } = begin(0);
  expect([conclude(true), conclude(true, 'anna')]).toEqual(['id-1', 'id-1']);
  expect(guesses).toEqual([
    ['client', clock.nowMs(), { account: null, code: undefined, isKey: false }],
    ['client', clock.nowMs(), { account: 'anna', code: undefined, isKey: false }],
  ]);
});

test('a guess beyond the limit waits; the time that is counted has no delay', async () => {
  const { clock, conclude, tally } = begin(1_000);
  const given = Promise.resolve(conclude(true));
  let isGiven = false;
  void given.then(() => {
    isGiven = true;
  });
  await until('the guess waits', () => clock.sleeperCount === 1);
  clock.advance(999);
  await Promise.resolve();
  expect(isGiven).toBe(false);
  clock.advance(1);
  expect(await given).toBe('id-1');
  expect(tally.seconds.sum).toBe(0);
});

test('a guess without a request waits too', async () => {
  const { clock, traffic } = begin(1_000);
  const delay = traffic.guessed('client');
  expect(clock.sleeperCount).toBe(1);
  clock.advance(1_000);
  await delay;
});
