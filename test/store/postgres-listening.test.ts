/** Listening to other nodes over a connection that looks open and delivers nothing. */

import { expect, test } from 'bun:test';
import { Signals } from '../../src/store/postgres/signals.ts';
import { Watching } from '../../src/store/postgres/watch.ts';
import type { Context } from '../../src/store/postgres/write.ts';
import { FakeClock } from '../support/clock.ts';
import { until } from '../support/until.ts';

/** Checks after which a connection without any signal counts as dead. */
const DEAF_CHECKS = 40;

test('a connection that delivers not even own signals is replaced', async () => {
  const clock = new FakeClock();
  let [opened, closed, checks, pings] = [0, 0, 0, 0];
  const connect = () => {
    opened += 1;
    return {
      listen: async (_channel: string, _onPayload: unknown, onListening: () => void) =>
        onListening(),
      close: async () => {
        closed += 1;
      },
    };
  };
  const row = { readableFrom: 0, move: null, mark: '1', hasMessages: false, tokenId: null };
  const db = {
    isPooled: false,
    connectBeside: connect,
    ban: () => undefined,
    ask: async (text: string) => {
      if (text.includes('gatepost_schema')) checks += 1;
      if (text.includes('pg_notify')) pings += 1;
      return { rows: [row], count: 1 };
    },
  };
  const context = { db, clock, signals: new Signals(), observers: {}, storeNowMs: () => 0 };
  const watching = new Watching(context as unknown as Context);
  watching.watch(() => undefined);
  for (let second = 1; second <= DEAF_CHECKS; second++) {
    const before = checks;
    await until('asleep', () => clock.sleeperCount > 0);
    clock.advance(1_000);
    await until('checked', () => checks > before);
  }
  await until('replaced', () => opened === 2);
  expect({ closed, pings }).toEqual({ closed: 1, pings: 1 });
  watching.close();
});

test.each([
  ['gatepost_schema', 'never answered'],
  ['gatepost_schema', 'refused'],
  ['FROM destination', 'never answered'],
  ['FROM destination', 'refused'],
])('while LISTEN is awaited, the first check finds messages; %s is %s', async (held, how) => {
  const clock = new FakeClock();
  const never = new Promise<never>(() => undefined);
  const row = { readableFrom: 0, move: null, mark: '1', hasMessages: true, tokenId: 1 };
  const db = {
    isPooled: false,
    connectBeside: () => ({ listen: () => never, close: async () => undefined }),
    ban: () => undefined,
    ask: async (text: string) => {
      if (text.includes(held)) await (how === 'refused' ? Promise.reject(new Error(how)) : never);
      return { rows: [row], count: 1 };
    },
  };
  const context = { db, clock, signals: new Signals(), observers: {}, storeNowMs: () => 0 };
  const watching = new Watching(context as unknown as Context);
  const told: unknown[] = [];
  watching.watch((deviceIds) => told.push(deviceIds));
  clock.advance(1_000);
  await until('polls are told', () => told.includes('all'));
  watching.close();
});
