import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { until } from '../../support/until.ts';
import { addDoor, CLOCK, knock, type Suite } from './fixture.ts';
import { deliver, deviceId, holderOf, register, send, to } from './message-fixture.ts';

/** No store leaves others waiting for longer. */
const SECONDS_MAX = 2;
/** Time that a store on a busy machine needs for it, once its clock says so, ms. */
const TOLD_MS = 5_000;

type Heard = (readonly number[] | 'all')[];

/**
 * What a store tells until it has told of a device, or of any if there is none. The clock goes on
 * by so much at most; a store that has to ask somebody far away gets the time that this takes.
 */
async function hear(heard: Heard, deviceId: number | null): Promise<void> {
  const isTold = () =>
    heard.some((ids) => ids === 'all' || deviceId === null || ids.includes(deviceId));
  for (let seconds = 0; !isTold() && seconds < SECONDS_MAX; seconds++) {
    CLOCK.advance(1_000);
    await until('told', isTold, TOLD_MS).catch(() => undefined);
  }
  expect([deviceId, isTold()]).toEqual([deviceId, true]);
}

function listen(store: Store): { heard: Heard; stop: () => void } {
  const heard: Heard = [];
  return { heard, stop: store.watch((deviceIds) => heard.push(deviceIds)) };
}

export const watchContract: Record<'watch', Suite> = {
  watch(opened) {
    test('tells of work that another connection accepted', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { providerId } = await addDoor(store);
      const { heard, stop } = listen(store);
      await send(beside, providerId);
      await hear(heard, null);
      stop();
    });

    test('tells of the devices that got a message, or another token, from another', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { providerId } = await addDoor(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      const id = await deviceId(store, providerId, 'a');
      const holder = await holderOf(store, 'a');
      const first = listen(store);
      await deliver(beside, providerId, to('a'));
      await hear(first.heard, id);
      first.stop();
      const second = listen(store);
      await register(beside, 'a', undefined, holder);
      await hear(second.heard, id);
      second.stop();
    });

    test('tells everybody who watches, from the call on and until it is ended', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { providerId } = await addDoor(store);
      const ended = listen(store);
      ended.stop();
      const [one, two] = [listen(store), listen(store)];
      // A read in the same turn hides it for no longer than that turn.
      await Promise.all([store.findNextDueMs(), send(beside, providerId)]);
      await hear(one.heard, null);
      await hear(two.heard, null);
      one.stop();
      const heardBefore = one.heard.length;
      await send(beside, providerId);
      two.heard.length = 0;
      await hear(two.heard, null);
      two.stop();
      expect([ended.heard.length, one.heard.length]).toEqual([0, heardBefore]);
    });
  },
};
