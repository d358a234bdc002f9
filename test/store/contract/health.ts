import { expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { nextTurn } from '../../../src/core/turn.ts';
import { ALL, addDoor, addLink, addProvider, CLOCK, knock, NOW_MS, type Suite } from './fixture.ts';
import { at, bringTo, deliver, HOUR_MS, send, to } from './message-fixture.ts';

type Method = 'checkWritable' | 'readStorageFacts' | 'readServerFacts' | 'readQueueFacts';

const EMPTY = { dueCount: 0, scheduledCount: 0, oldestDueAtMs: null, recipientCount: 0 };

export const healthContract: Record<Method & keyof Store, Suite> = {
  checkWritable(opened) {
    test('changes nothing that anybody sees', async () => {
      const { store, openBeside } = opened();
      const { providerId } = await addDoor(store);
      const before = await store.listLinksOf(providerId, ALL);
      const beside = await openBeside();
      expect(await store.checkWritable()).toBe('ok');
      expect(await store.listLinksOf(providerId, ALL)).toEqual(before);
      expect(await beside.checkWritable()).toBe('ok');
    });
  },

  readStorageFacts(opened) {
    test('bytes, or null for what there is none of; the data grows with what is in it', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const before = await store.readStorageFacts();
      for (const [name, bytes] of Object.entries(before)) {
        const isFact = bytes === null || (Number.isInteger(bytes) && bytes >= 0);
        expect([name, isFact]).toEqual([name, true]);
      }
      const links = Array.from({ length: 500 }, (_, n) =>
        addLink(store, providerId, {
          installCode: `Many${n}`.padEnd(12, 'x'),
          installCountMax: 1e6,
        }),
      );
      await Promise.all(links);
      const after = await store.readStorageFacts();
      if (before.bytes === null) return;
      expect(before.freeBytes ?? 0).toBeLessThan(before.bytes);
      expect(after.bytes).toBeGreaterThan(before.bytes);
    });
  },

  readServerFacts(opened) {
    test('of a server: its connections, its clock, what waits for the chain, who serves', async () => {
      const { store, openBeside } = opened();
      const facts = await store.readServerFacts();
      if (facts === null) return;
      expect(facts.connectionCount).toBeGreaterThan(0);
      expect(facts.connectionCountMax).toBeGreaterThanOrEqual(facts.connectionCount);
      expect(facts).toMatchObject({ clockOffsetMs: 0, nodeCount: 0 });
      const node = { name: 'one', address: '', version: '', startedAtMs: NOW_MS };
      await store.noteNode(node);
      await (await openBeside()).noteNode(node);
      expect(await store.readServerFacts()).toMatchObject({ nodeCount: 2 });
      CLOCK.set(NOW_MS + 20_000);
      await store.noteNode(node);
      expect(await store.readServerFacts()).toMatchObject({ nodeCount: 1 });
    });
  },

  readQueueFacts(opened) {
    test('nothing waits in an empty store, nor when all is delivered', async () => {
      const { store } = opened();
      expect(await store.readQueueFacts(NOW_MS)).toEqual(EMPTY);
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await deliver(store, providerId, to('a'));
      expect(await store.readQueueFacts(NOW_MS)).toEqual(EMPTY);
    });

    test('what is due and since when, and apart from it what is scheduled', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await send(store, providerId, to('a'));
      await send(store, providerId, { ...to('a'), ...at(NOW_MS + HOUR_MS) });
      expect(await store.readQueueFacts(NOW_MS + 1)).toEqual({
        dueCount: 1,
        scheduledCount: 1,
        oldestDueAtMs: NOW_MS,
        recipientCount: 0,
      });
      expect(await store.readQueueFacts(NOW_MS + HOUR_MS)).toMatchObject({
        dueCount: 2,
        scheduledCount: 0,
        oldestDueAtMs: NOW_MS,
      });
    });

    test('however many wait, of however many providers, also for the same time', async () => {
      const { store } = opened();
      for (const [n, code] of ['Provide1', 'Provide2'].entries()) {
        const { id } = await addProvider(store, code);
        // Some at a time, as callers would: nobody lets thousands of them wait for one provider.
        for (let i = 0; i < (n === 0 ? 2_100 : 100); i += 100) {
          const times = Array.from({ length: 100 }, (_, k) => NOW_MS + HOUR_MS + ((i + k) % 2) * n);
          await Promise.all(times.map((atMs) => send(store, id, at(atMs))));
        }
        await send(store, id, { createdAtMs: NOW_MS + n });
      }
      let isOver = false;
      const counting = store.readQueueFacts(NOW_MS).finally(() => {
        isOver = true;
      });
      let turns = 0;
      for (; !isOver; turns++) await nextTurn();
      // Everybody else had a turn now and then.
      expect(turns).toBeGreaterThan(2);
      const facts = { dueCount: 2, scheduledCount: 2_200, oldestDueAtMs: NOW_MS };
      expect(await counting).toMatchObject(facts);
    });

    test('recipients count from when they are written until they are served', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      await knock(store, 'b');
      const id = await send(store, providerId, to('a', 'b', 'nobody'));
      await bringTo(store, id, 40);
      // The one that nobody knows has failed already.
      expect(await store.readQueueFacts(NOW_MS)).toMatchObject({ dueCount: 1, recipientCount: 2 });
    });
  },
};
