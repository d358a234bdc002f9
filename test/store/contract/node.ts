import { expect, test } from 'bun:test';
import type { NodeFacts, NodeStore } from '../../../src/core/port/node.ts';
import { addProvider, NOW_MS, type Suite } from './fixture.ts';
import { claimedIds, send } from './message-fixture.ts';

const FACTS: NodeFacts = {
  name: 'one',
  address: 'http://127.0.0.1:8080',
  version: '1.2.3',
  startedAtMs: NOW_MS - 1_000,
};

export const nodeContract: Record<keyof NodeStore, Suite> = {
  nameWorker(opened) {
    test('another name each time, and in each process', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const names = [store, store, beside, beside].map((by) => by.nameWorker());
      expect(new Set(await Promise.all(names)).size).toBe(4);
    });

    test('what a living worker holds stays its own', async () => {
      const { store, openBeside } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await send(store, providerId);
      expect(await claimedIds(store, await store.nameWorker())).toHaveLength(1);
      const beside = await openBeside();
      expect(await claimedIds(beside, await beside.nameWorker())).toEqual([]);
      await store.nameWorker();
      expect(await claimedIds(beside, await beside.nameWorker())).toEqual([]);
    });
  },

  noteNode(opened) {
    test('a node is listed with what it said last, once however often it does', async () => {
      const { store, openBeside } = opened();
      await store.noteNode(FACTS);
      await store.noteNode({ ...FACTS, address: 'http://127.0.0.1:8081' });
      const beside = await openBeside();
      const nodes = await beside.listNodes();
      if (nodes === null) return;
      expect(nodes).toMatchObject([{ ...FACTS, address: 'http://127.0.0.1:8081' }]);
      expect(nodes[0]?.schema).toBeGreaterThan(0);
    });
  },

  removeNode(opened) {
    test('a node is not listed any more; the others are', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      await beside.noteNode({ ...FACTS, name: 'two' });
      await store.noteNode(FACTS);
      await store.removeNode();
      await store.removeNode();
      const nodes = await store.listNodes();
      if (nodes === null) return;
      expect(nodes.map(({ name }) => name)).toEqual(['two']);
      await store.noteNode(FACTS);
      expect((await store.listNodes())?.map(({ name }) => name)).toEqual(['one', 'two']);
    });
  },

  listNodes(opened) {
    test('there are none, or null where there cannot be others', async () => {
      const nodes = await opened().store.listNodes();
      expect(nodes ?? []).toEqual([]);
    });

    test('in the order of names, and of starts where they are the same', async () => {
      const { store, openBeside } = opened();
      const [second, third] = [await openBeside(), await openBeside()];
      await store.noteNode({ ...FACTS, name: 'two' });
      await second.noteNode({ ...FACTS, startedAtMs: NOW_MS });
      await third.noteNode(FACTS);
      const nodes = await store.listNodes();
      if (nodes === null) return;
      const shown = nodes.map(({ name, startedAtMs }) => [name, startedAtMs - NOW_MS]);
      expect(shown).toEqual([
        ['one', -1_000],
        ['one', 0],
        ['two', -1_000],
      ]);
      expect(new Set(nodes.map(({ id }) => id)).size).toBe(3);
    });
  },
};
