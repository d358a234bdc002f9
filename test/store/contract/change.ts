import { expect, test } from 'bun:test';
import { ALL, Changes } from '../../../src/core/changes.ts';
import type { ChangeStore } from '../../../src/core/port/change.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { until } from '../../support/until.ts';
import { addDoor, addLink, addProvider, CODE, knock, NOW_MS, type Suite } from './fixture.ts';
import { send } from './message-fixture.ts';

const DAY = Math.floor(NOW_MS / 86_400_000);

/** A provider that pages watch, beside another. */
async function watched(store: Store) {
  const { providerId, installId } = await addDoor(store);
  const other = await addProvider(store, 'Provide2');
  const changes = new Changes(store);
  const providers = [{ id: providerId, code: 'Provide1' }];
  const look = async () => (await changes.look(providers, NOW_MS))?.get(providerId) ?? {};
  // PostgreSQL puts entries into the log a second later, or when it is read.
  const sealed = () => store.readAuditBack(Number.MAX_SAFE_INTEGER, 1);
  await sealed();
  await look();
  return { providerId, installId, other, changes, providers, look, sealed };
}

export const changeContract: Record<keyof ChangeStore, Suite> = {
  readCommitMark(opened) {
    test('differs after a commit of any process, and not after reads', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      await addProvider(beside, 'Provide1');
      // Work of the server's own ends.
      await until('nothing is written', async () => {
        const mark = await store.readCommitMark();
        await store.listProviders();
        return mark === (await store.readCommitMark());
      });
      const before = await store.readCommitMark();
      await addProvider(beside, 'Provide2');
      expect(await store.readCommitMark()).not.toBe(before);
    });
  },

  readNewestOfAll(opened) {
    test('has slots and entries after those that are known, newest first', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await store.readAuditBack(Number.MAX_SAFE_INTEGER, 1);
      await knock(store, 'hwid-1');
      await knock(store, 'hwid-2');
      const all = await store.readNewestOfAll({ slotId: 0, blockNumber: 0 });
      expect(all.slots.map(({ id: _, ...rest }) => rest)).toEqual([
        { installId, providerId },
        { installId, providerId },
      ]);
      expect(all.blocks.length).toBeGreaterThan(2);
      expect(all.blocks[0]?.entries).toContain('domain.add');
      const [newest, first] = all.slots;
      const after = { slotId: first?.id ?? 0, blockNumber: all.blocks[0]?.number ?? 0 };
      expect(await store.readNewestOfAll(after)).toEqual({ slots: [newest as never], blocks: [] });
    });
  },

  readNewestOf(opened) {
    test('has distributions of the provider alone, with what a page shows of them', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const other = await addProvider(store, 'Provide2');
      const sent = await send(store, id, { dueAtMs: NOW_MS + 3_600_000 });
      await send(store, other.id);
      const before = await store.readNewestOf(id, DAY);
      expect(new Set(before.messages.map((one) => one.id))).toEqual(new Set([sent]));
      expect(before).toMatchObject({ slotEnds: [], jobs: [], unlisted: '0' });
      const guard = { from: [10], dueFromMs: NOW_MS, nowMs: NOW_MS };
      expect(await store.cancelDistribution(id, sent, guard, ACT)).toBe('ok');
      expect((await store.readNewestOf(id, DAY)).messages[0]?.mark).not.toBe(
        before.messages[0]?.mark,
      );
    });

    test('a deed without an entry of its own may be about any link, as is the entry of many', async () => {
      const { store } = opened();
      const { installId, look, providerId, sealed } = await watched(store);
      const actor = { kind: 'provider', name: 'Provide1', from: '203.0.113.7' } as const;
      // A share of a day of one entry.
      const act = { actor, atMs: NOW_MS, entriesMax: 20 };
      const change = (installLimit: number) =>
        store.updateLink(providerId, installId, { installLimit }, act);
      await change(50);
      await sealed();
      expect(await look()).toEqual({ links: [installId] });
      for (const limit of [51, 52]) {
        await change(limit);
        await sealed();
        expect(await look()).toEqual({ links: ALL });
      }
      expect(await store.endFolds(NOW_MS + 60_000, 1_000_000)).toBe(true);
      await sealed();
      expect(await look()).toEqual({ links: ALL });
      expect(await look()).toEqual({});
    });

    test('a new slot, its end and a change of the link name the link', async () => {
      const { store } = opened();
      const { installId, look, providerId, sealed } = await watched(store);
      await knock(store, 'hwid-1');
      expect(await look()).toEqual({ links: [installId] });
      const link = { installCode: CODE, installId: null };
      await store.freeSlot(providerId, link, 'hwid-1', ACT);
      await sealed();
      expect(await look()).toEqual({ links: [installId] });
      const added = await addLink(store, providerId, { installCode: 'LinkCode0003' });
      await sealed();
      expect(await look()).toEqual({ links: [added] });
      expect(await look()).toEqual({});
    });

    test('changes of other providers are none; without a commit nothing is read', async () => {
      const { store } = opened();
      const { changes, look, other, providers, sealed } = await watched(store);
      await addLink(store, other.id, { installCode: 'LinkCode0002' });
      await send(store, other.id);
      await sealed();
      expect(await look()).toEqual({});
      await until(
        'no commit is left',
        async () => (await changes.look(providers, NOW_MS)) === null,
      );
    });

    test('a send and its end name the message; many changes name none', async () => {
      const { store } = opened();
      const { look, providerId, sealed } = await watched(store);
      const sent = await send(store, providerId);
      expect((await look()).messages).toEqual([sent]);
      for (let n = 0; n < 60; n++)
        await addLink(store, providerId, { installCode: `Many${n}Code000` });
      await sealed();
      expect((await look()).links).toEqual(ALL);
    });
  },
};
