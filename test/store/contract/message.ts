import { expect, test } from 'bun:test';
import type { MessageFilter } from '../../../src/core/port/receipt.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, knock, NOW_MS, OTHER_CODE, type Suite } from './fixture.ts';
import {
  at,
  bringTo,
  deliver,
  draft,
  EXPIRES_MS,
  IMPORT_DATA,
  send,
  to,
  UNGUARDED,
} from './message-fixture.ts';

const ANY: MessageFilter = {
  ids: null,
  notificationType: null,
  isScheduled: null,
  statuses: [5, 6, 10, 20, 30, 40, 100, 110, 120, 130, 140],
};
const HOUR_MS = 3_600_000;
const PAGE = { beforeId: null, countMax: 9, scanMax: 99 };

export const messageContract: Record<
  'listMessages' | 'listNextMessages' | 'readLastGeneral',
  Suite
> = {
  readLastGeneral(opened) {
    test('the time of the last one that went to systems', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect(await store.readLastGeneral(providerId)).toBeNull();
      const guards = { ...UNGUARDED, generalIntervalMs: 1 };
      await store.addDistribution(draft(providerId), guards, ACT);
      await send(store, providerId, { createdAtMs: NOW_MS + 9 });
      expect(await store.readLastGeneral(providerId)).toBe(NOW_MS);
    });
  },

  listNextMessages(opened) {
    test('those whose time is to come, the soonest first, whichever was made first', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const ids: number[] = [];
      for (const hours of [3, 1, 2, 4]) {
        ids.push(await send(store, providerId, at(NOW_MS + hours * HOUR_MS)));
      }
      const [three = 0, one, two, four = 0] = ids;
      await send(store, providerId);
      await store.cancelDistribution(
        providerId,
        four,
        { from: [10], dueFromMs: NOW_MS, nowMs: NOW_MS },
        ACT,
      );
      const next = async (nowMs: number, countMax: number) =>
        (await store.listNextMessages(providerId, nowMs, countMax)).map(({ id }) => id);
      expect(await next(NOW_MS, 9)).toEqual([one, two, three] as number[]);
      expect(await next(NOW_MS, 2)).toEqual([one, two] as number[]);
      expect(await next(NOW_MS + 2 * HOUR_MS, 9)).toEqual([three]);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      expect(await store.listNextMessages(other.providerId, NOW_MS, 9)).toEqual([]);
    });
  },

  listMessages(opened) {
    /** One of each kind, oldest first. */
    async function several(store: Store) {
      const { providerId } = await addDoor(store);
      await knock(store, 'phone');
      const sent = await deliver(store, providerId);
      const blocked = await send(store, providerId, to('gone'));
      await store.blockDistribution(blocked, [10], NOW_MS, ACT);
      const command = await deliver(store, providerId, { ...IMPORT_DATA, ...to('phone') });
      const scheduled = await send(store, providerId, at(EXPIRES_MS));
      const running = await send(store, providerId);
      await bringTo(store, running, 40);
      const waiting = await send(store, providerId);
      return { providerId, sent, blocked, command, scheduled, running, waiting };
    }

    test('those that fit, with their payloads, the newest first', async () => {
      const { store } = opened();
      const { providerId, ...ids } = await several(store);
      const listed = async (filter: Partial<MessageFilter>) =>
        (await store.listMessages(providerId, { ...ANY, ...filter }, PAGE)).messages.map(
          ({ id }) => id,
        );
      expect(await listed({})).toEqual(Object.values(ids).toReversed());
      expect(await listed({ notificationType: 20 })).toEqual([ids.command]);
      expect(await listed({ statuses: [140] })).toEqual([ids.blocked]);
      expect(await listed({ isScheduled: true })).toEqual([ids.scheduled]);
      const open = { statuses: [5, 6, 10, 20, 30, 40], isScheduled: false };
      expect(await listed(open)).toEqual([ids.waiting, ids.running]);
      const some = [ids.sent, ids.command];
      expect(await listed({ ids: some })).toEqual(some.toReversed());
      const [newest] = (await store.listMessages(providerId, ANY, PAGE)).messages;
      expect(newest).toMatchObject({ payload: '{"body":"hello"}', isPruned: false });
    });

    test('nothing of another provider, by id neither', async () => {
      const { store } = opened();
      const { providerId, sent } = await several(store);
      const other = await addDoor(store, 'Provide2', OTHER_CODE);
      const nothing = { messages: [], nextId: null };
      expect(await store.listMessages(other.providerId, ANY, PAGE)).toEqual(nothing);
      const byId = { ...ANY, ids: [sent] };
      expect(await store.listMessages(other.providerId, byId, PAGE)).toEqual(nothing);
      expect((await store.listMessages(providerId, byId, PAGE)).messages).toHaveLength(1);
    });

    test('pages continue, also where a page looked at many and found none', async () => {
      const { store } = opened();
      const { providerId, ...ids } = await several(store);
      const pages = async (filter: Partial<MessageFilter>, countMax: number, scanMax: number) => {
        const found: number[][] = [];
        for (let beforeId: number | null = null; ; ) {
          const page = { beforeId, countMax, scanMax };
          const next = await store.listMessages(providerId, { ...ANY, ...filter }, page);
          found.push(next.messages.map(({ id }) => id));
          if (next.nextId === null) return found;
          beforeId = next.nextId;
        }
      };
      const [sent, blocked, command, scheduled, running, waiting] = Object.values(ids);
      expect(await pages({}, 4, 99)).toEqual([
        [waiting, running, scheduled, command] as number[],
        [blocked, sent] as number[],
      ]);
      expect(await pages({ statuses: [140] }, 4, 2)).toEqual([[], [], [blocked as number], []]);
    });
  },
};
