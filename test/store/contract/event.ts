import { expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { EventCursor, EventStore, NewEvent } from '../../../src/core/port/event.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { eventFoldContract } from './event-fold.ts';
import { addProvider, NOW_MS, providerDraft, type Suite } from './fixture.ts';
import { addWebhook, makeLink, waitingFor } from './webhook.ts';

const LOW: NewEvent = {
  providerId: null,
  kind: 'disk.low',
  atMs: NOW_MS,
  data: { free_bytes: 1 },
};

const DISABLED = { atMs: NOW_MS, why: 'it is of no use' };

/** Forgets until nothing is left that may go. */
async function forgetAll(store: Store, beforeMs: number, countMax = 100): Promise<void> {
  let at: EventCursor | null = null;
  do at = await store.forgetEvents({ beforeMs, countMax }, at);
  while (at !== null);
}

export const eventContract: Record<keyof EventStore, Suite> = {
  addEvent(opened) {
    test('for the webhooks of the owner that want its kind', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const all = await addWebhook(store, null);
      const some = await addWebhook(store, null, { events: ['disk.low', 'backup.failed'] });
      const none = await addWebhook(store, null, { events: ['backup.failed'] });
      const providers = await addWebhook(store, providerId);
      await store.addEvent(LOW);
      for (const id of [all, some]) expect(await waitingFor(store, id)).toEqual(['disk.low']);
      for (const id of [none, providers]) expect(await waitingFor(store, id)).toEqual([]);
    });

    test('is kept for nobody who was not there', async () => {
      const { store } = opened();
      await store.addEvent(LOW);
      const id = await addWebhook(store, null);
      expect(await waitingFor(store, id)).toEqual([]);
    });
  },

  addNotice(opened) {
    test('once for each state, and again when the state is another', async () => {
      const { store } = opened();
      const id = await addWebhook(store, null);
      expect(await store.addNotice(LOW, 'disk', 'low')).toBe(true);
      expect(await store.addNotice(LOW, 'disk', 'low')).toBe(false);
      expect(await store.addNotice(LOW, 'other disk', 'low')).toBe(true);
      expect(await store.addNotice(LOW, 'disk', 'lower')).toBe(true);
      expect(await store.addNotice(LOW, 'disk', 'low')).toBe(true);
      expect(await waitingFor(store, id)).toHaveLength(4);
    });

    test('is no notice if nobody wants it: it is given to who comes later', async () => {
      const { store } = opened();
      expect(await store.addNotice(LOW, 'disk', 'low')).toBe(false);
      const id = await addWebhook(store, null);
      expect(await store.addNotice(LOW, 'disk', 'low')).toBe(true);
      expect(await waitingFor(store, id)).toEqual(['disk.low']);
    });

    test('of two processes at the same time one gives it', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const id = await addWebhook(store, null);
      const given = await Promise.all(
        [store, beside, store].map((one) => one.addNotice(LOW, 'disk', 'low')),
      );
      expect(given.filter(Boolean)).toHaveLength(1);
      expect(await waitingFor(store, id)).toHaveLength(1);
    });
  },

  findNotice(opened) {
    test('is the mark of a subject of the operator', async () => {
      const { store } = opened();
      expect(await store.findNotice('doctor')).toBeNull();
      await store.addNotices([], 'doctor', null, 'one');
      expect(await store.findNotice('doctor')).toBe('one');
      expect(await store.findNotice('doctor two')).toBeNull();
    });
  },

  addNotices(opened) {
    test('saves the events with the next mark, unless another run was first', async () => {
      const { store } = opened();
      const id = await addWebhook(store, null);
      expect(await store.addNotices([LOW, LOW], 'doctor', null, 'one')).toBe(true);
      expect(await store.addNotices([LOW], 'doctor', null, 'two')).toBe(false);
      expect(await store.addNotices([LOW], 'doctor', 'none', 'two')).toBe(false);
      expect(await waitingFor(store, id)).toHaveLength(2);
      expect(await store.addNotices([LOW], 'doctor', 'one', 'two')).toBe(true);
      expect(await store.findNotice('doctor')).toBe('two');
      expect(await waitingFor(store, id)).toHaveLength(3);
    });

    test('of two processes at the same time one saves them', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const id = await addWebhook(store, null);
      for (const [before, mark] of [
        [null, 'one'],
        ['one', 'two'],
      ] as const) {
        const saved = await Promise.all(
          [store, beside, store].map((one) => one.addNotices([LOW], 'doctor', before, mark)),
        );
        expect(saved.filter(Boolean)).toHaveLength(1);
      }
      expect(await waitingFor(store, id)).toHaveLength(2);
    });
  },
  endEventFolds: eventFoldContract,

  listWatchedSubscriptions(opened) {
    test('those that end before, of providers that listen, with what they know', async () => {
      const { store } = opened();
      const ids: number[] = [];
      for (const [n, activeUntilMs] of [NOW_MS, NOW_MS + 1, null, NOW_MS].entries()) {
        const code = `Provide${n}`;
        await store.addProvider(providerDraft(code, { activeUntilMs }), ACT);
        const { id } = (await store.findProvider(code)) ?? { id: 0 };
        ids.push(id);
        if (n < 3) await addWebhook(store, id);
      }
      const [first = 0] = ids;
      const list = () => store.listWatchedSubscriptions(NOW_MS + 1, 'subscription');
      const found = { providerId: first, activeUntilMs: NOW_MS };
      expect(await list()).toEqual([{ ...found, mark: null }]);
      const ended = { ...LOW, providerId: first, kind: 'subscription.ended' } as const;
      await store.addNotice(ended, 'subscription', 'over');
      expect(await list()).toEqual([{ ...found, mark: 'over' }]);
      const [webhook] = await store.listWebhooks(first);
      await store.updateWebhook(webhook?.id ?? 0, first, { disabled: DISABLED }, ACT);
      expect(await list()).toEqual([]);
    });
  },

  forgetEvents(opened) {
    const later = NOW_MS + 7 * DAY_MS;
    const replay = { sinceMs: 0, afterEventId: 0 };

    /** The number of events that are kept of an owner, by what a webhook that comes now can get. */
    async function keptCount(store: Store, providerId: number | null): Promise<number> {
      const id = await addWebhook(store, providerId);
      const webhook = await store.findWebhook(id);
      if (webhook === null) throw new Error('it is not there');
      const { count } = await store.replayEvents(webhook, replay, NOW_MS);
      await store.removeWebhook(id, providerId, ACT);
      return count;
    }

    test('those that are old, unless they wait for somebody who listens', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      await makeLink(store, providerId);
      await forgetAll(store, later);
      expect(await waitingFor(store, id)).toEqual(['link.created']);
      await store.updateWebhook(id, providerId, { disabled: DISABLED }, ACT);
      await forgetAll(store, NOW_MS);
      expect(await keptCount(store, providerId)).toBe(1);
      await forgetAll(store, later);
      expect(await waitingFor(store, id)).toEqual([]);
      expect(await keptCount(store, providerId)).toBe(0);
    });

    test('those of an owner that are too many, the oldest first', async () => {
      const { store } = opened();
      const one = await addProvider(store, 'Provide1');
      const two = await addProvider(store, 'Provide2');
      const owners = [null, one.id, two.id];
      for (const owner of owners) {
        const id = await addWebhook(store, owner);
        for (let n = 0; n < (owner === two.id ? 3 : 5); n++) {
          await store.addEvent({ ...LOW, providerId: owner, atMs: NOW_MS + n });
        }
        await store.removeWebhook(id, owner, ACT);
      }
      await forgetAll(store, NOW_MS, 3);
      for (const owner of owners) expect(await keptCount(store, owner)).toBe(3);
      await forgetAll(store, NOW_MS + 3, 3);
      expect(await keptCount(store, one.id)).toBe(2);
      expect(await keptCount(store, two.id)).toBe(0);
    });

    test('says that there is nothing to do', async () => {
      const { store } = opened();
      const id = await addWebhook(store, null);
      await store.addEvent(LOW);
      const bounds = { beforeMs: later, countMax: 1 };
      const behind = await store.forgetEvents(bounds, null);
      expect(behind).not.toBeNull();
      expect(await store.forgetEvents(bounds, behind)).toBeNull();
      expect(await waitingFor(store, id)).toEqual(['disk.low']);
    });
  },
};
