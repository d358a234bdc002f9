/** How what is large shares a turn of the event loop with everything else. */

import { expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { withMethods } from '../../src/core/port/store.ts';
import { Turns } from '../../src/http/bound/turns.ts';
import { call, seedProvider, startTestApp } from '../support/app.ts';
import { FakeClock } from '../support/clock.ts';

/** Does pieces of work that take so long, beside something small that asks for every turn. */
async function turnsOf(pieces: readonly number[]): Promise<number[]> {
  const clock = new FakeClock();
  const turns = new Turns(clock);
  let turn = 0;
  const work = Promise.all(
    pieces.map(async (tookMs) => {
      await turns.next('one');
      clock.advance(tookMs);
      return turn;
    }),
  );
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const done = await work;
  isOver = true;
  const [first = 0] = done;
  return done.map((at) => at - first);
}

test('a piece that takes its share of a turn is alone in it', async () => {
  expect(await turnsOf([1, 5, 1, 1])).toEqual([0, 1, 2, 3]);
});

test('small pieces share a turn until its share is used up', async () => {
  expect(await turnsOf([0, 0, 0.5, 0.4, 0.1, 0, 1])).toEqual([0, 0, 0, 0, 0, 1, 1]);
});

test('whoever comes with many pieces has one in turn with the others', async () => {
  const turns = new Turns(new FakeClock());
  const order: string[] = [];
  await Promise.all(
    ['a', 'a', 'a', 'b', 'b', 'c'].map(async (caller) => {
      await turns.next(caller);
      order.push(caller);
    }),
  );
  // The first begins before the others have come.
  expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b']);
});

test('figures of two years come in pieces, between which others have their turns', async () => {
  const asked: number[] = [];
  const app = await startTestApp({}, (core) => ({
    ...core,
    store: withMethods(core.store, {
      listFigures: (providerId, fromDay, toDay) => {
        asked.push(toDay - fromDay + 1);
        return core.store.listFigures(providerId, fromDay, toDay);
      },
    }),
  }));
  try {
    const own = await seedProvider(app);
    const { json } = await call(app, '/api/stats', own, { days: 731 });
    const days = json.data.map(({ day }: { day: string }) => Date.parse(day));
    expect(days).toHaveLength(731);
    expect(new Set(days.slice(1).map((day: number, n: number) => day - days[n]))).toEqual(
      new Set([DAY_MS]),
    );
    expect(days.at(-1)).toBe(Math.floor(app.clock.nowMs() / DAY_MS) * DAY_MS);
    expect(asked).toEqual([...Array(23).fill(31), 731 - 23 * 31]);
    for (const days of [1, 31, 32]) {
      expect((await call(app, '/api/stats', own, { days })).json.data).toHaveLength(days);
    }
  } finally {
    await app.close();
  }
});

test.each([
  ['/api/list-install', { search: 'a' }],
  ['/api/revoke-install', { id: 1 }],
])('long work of %s takes turns, in which other providers are answered', async (path, params) => {
  const begun: string[] = [];
  const all = Promise.withResolvers<void>();
  let calls = 0;
  const work = async (who: string, turn: (() => Promise<void>) | undefined) => {
    calls += 1;
    if (calls === 5) all.resolve();
    await all.promise;
    for (let piece = 0; piece < 3; piece++) {
      begun.push(who);
      await turn?.();
    }
  };
  const app = await startTestApp({}, (core) => ({
    ...core,
    store: withMethods(core.store, {
      listLinks: async ({ providerCode }, turn) => {
        await work(`${providerCode}`, turn);
        return [];
      },
      revokeLink: async (providerId, _id, _code, _act, turn) => {
        const [one] = await core.store.listProviders();
        await work(one?.id === providerId ? `${one.code}` : 'other', turn);
        return 'install_not_found';
      },
    }),
  }));
  try {
    const [own, other] = [await seedProvider(app), await seedProvider(app)];
    const many = Array.from({ length: 4 }, () => call(app, path, own, params));
    await Promise.all([...many, call(app, path, other, params)]);
    // With a piece of each call in a turn, the other one would begin its last among the last.
    const last = begun.findLastIndex((who) => who !== own.code);
    expect(begun).toHaveLength(15);
    expect(last).toBeLessThan(begun.length - 4);
  } finally {
    await app.close();
  }
});
