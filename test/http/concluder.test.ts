/** The end of an answer: what is counted, and which answers are delayed. */

import { expect, test } from 'bun:test';
import { Concluder } from '../../src/http/bound/concluder.ts';
import { EndpointTally } from '../../src/http/traffic.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';

function concluder(delayMs: number) {
  const clock = new FakeClock();
  const tally = new EndpointTally('/x');
  const guesses: unknown[] = [];
  const counted: unknown[] = [];
  const concluder = new Concluder({
    clock,
    clientOf: () => 'client',
    failures: {
      record: (...of) => {
        guesses.push(of);
        return delayMs;
      },
    },
    traffic: {
      count: (_, { says, tookMs }) => {
        counted.push([says, tookMs]);
        return 'id-1';
      },
    },
  });
  const startMs = clock.steadyMs();
  const conclude = (isGuess: boolean, account?: string) => {
    const decided = { request: new Request('http://localhost/x'), says: 'wrong', startMs, isGuess };
    return concluder.conclude(tally, { ...decided, ...(account && { account }) }, (id) => id);
  };
  return { clock, conclude, concluder, counted, guesses };
}

test('an answer that is no guess is counted with its time, and given at once', () => {
  const { clock, conclude, counted, guesses } = concluder(1_000);
  clock.advance(7);
  expect(conclude(false)).toBe('id-1');
  expect(counted).toEqual([['wrong', 7]]);
  expect(guesses).toEqual([]);
});

test('a guess counts for its client, and at the account that it is about', () => {
  const { clock, conclude, guesses } = concluder(0);
  expect([conclude(true), conclude(true, 'anna')]).toEqual(['id-1', 'id-1']);
  expect(guesses).toEqual([
    ['client', clock.nowMs(), null],
    ['client', clock.nowMs(), 'anna'],
  ]);
});

test('a guess beyond the limit waits; the time that is counted has no delay', async () => {
  const { clock, conclude, counted } = concluder(1_000);
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
  expect(counted).toEqual([['wrong', 0]]);
});

test('a guess without a request waits too', async () => {
  const { clock, concluder: own } = concluder(1_000);
  const given = own.guessed('client', () => 'closed');
  expect(clock.sleeperCount).toBe(1);
  clock.advance(1_000);
  expect(await given).toBe('closed');
});
