/** Replays since a time: however many a provider asks for, one is under way. */

import { expect, test } from 'bun:test';
import { call, seedProvider, startTestApp } from '../support/app.ts';
import { until } from '../support/until.ts';

test('a second replay is refused while the first is under way, a seventh of a minute too; one of another provider is not', async () => {
  let isHeld = true;
  let begun = 0;
  const app = await startTestApp({}, (core) => {
    const replayEvents: typeof core.store.replayEvents = async () => {
      begun += 1;
      await until('the first may end', () => !isHeld);
      return { count: 0, next: null, isFull: false };
    };
    const store = new Proxy(core.store, {
      get: (target, name) =>
        name === 'replayEvents' ? replayEvents : Reflect.get(target, name).bind(target),
    });
    return { ...core, store };
  });
  try {
    const [one, other] = [await seedProvider(app), await seedProvider(app)];
    const ask = async (own: typeof one, id: number) => {
      const query = { id, since: '2026-11-20 15:00:00' };
      return (await call(app, '/api/webhook-replay', own, query)).json.msg;
    };
    for (const own of [one, other]) {
      await call(app, '/api/webhook-add', own, { url: 'https://bot.example.com/' });
    }
    const first = ask(one, 1);
    const second = ask(other, 2);
    await until('both have begun', () => begun === 2);
    expect(await ask(one, 1)).toBe('Too many requests');
    isHeld = false;
    expect(await Promise.all([first, second])).toEqual(['Ok', 'Ok']);
    // Six a minute.
    for (let n = 2; n <= 6; n++) expect(await ask(one, 1)).toBe('Ok');
    expect(await ask(one, 1)).toBe('Too many requests');
    app.clock.advance(60_000);
    expect(await ask(one, 1)).toBe('Ok');
  } finally {
    isHeld = false;
    await app.close();
  }
});
