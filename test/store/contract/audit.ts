import { expect, test } from 'bun:test';
import { NO_ANCHOR } from '../../../src/core/audit/chain.ts';
import type { AuditEntry } from '../../../src/core/audit/entry.ts';
import type { AuditBlock } from '../../../src/core/port/audit.ts';
import type { Store } from '../../../src/core/port/store.ts';
import {
  addProvider,
  FACTS,
  HASH,
  linkDraft,
  NOW_MS,
  provider,
  providerDraft,
  type Suite,
} from './fixture.ts';

type Method =
  | 'readAudit'
  | 'readAuditBack'
  | 'pruneAudit'
  | 'endFolds'
  | 'noteVisit'
  | 'noteDownload';

const END = Number.MAX_SAFE_INTEGER;
const HOUR_MS = 3_600_000;

const by = (name: string, atMs = NOW_MS) => ({
  actor: { kind: 'operator' as const, name, from: 'local' },
  atMs,
});
const entriesOf = (block: AuditBlock) => JSON.parse(block.entries) as AuditEntry[];

/** Changes a provider `count` times, each in a commit of its own, an hour apart. */
async function makeLinks(store: Store, count: number): Promise<void> {
  await addProvider(store, 'Provide1');
  for (let n = 1; n < count; n++) {
    const act = by('tester', NOW_MS + n * HOUR_MS);
    await store.updateProvider('Provide1', { installCountMax: n }, act);
  }
}

const numbersOf = async (store: Store) =>
  (await store.readAudit(0, 100)).blocks.map(({ number }) => number);

export const auditContract: Record<Method & keyof Store, Suite> = {
  readAudit(opened) {
    test('an empty log has no block and nothing that was pruned', async () => {
      expect(await opened().store.readAudit(0, 10)).toEqual({ anchor: NO_ANCHOR, blocks: [] });
    });

    test('a change is told once, with who did it and when', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      await store.updateProvider('Provide1', { plan: 'pro' }, by('alice', NOW_MS + 5));
      const { blocks } = await store.readAudit(1, 10);
      expect(blocks).toHaveLength(1);
      expect(blocks[0]).toMatchObject({ number: 2, atMs: NOW_MS + 5 });
      expect(entriesOf(blocks[0] as AuditBlock)).toEqual([
        {
          at: new Date(NOW_MS + 5).toISOString(),
          who: 'operator',
          name: 'alice',
          from: 'local',
          action: 'provider.set',
          provider: 'Provide1',
          object: {},
          change: { plan: ['basic', 'pro'] },
        },
      ]);
    });

    test('oldest first, those after a number, no more than asked for', async () => {
      const { store } = opened();
      await makeLinks(store, 5);
      expect(await numbersOf(store)).toEqual([1, 2, 3, 4, 5]);
      const { blocks } = await store.readAudit(2, 2);
      expect(blocks.map(({ number }) => number)).toEqual([3, 4]);
      expect(blocks[1]?.prevHash).toEqual(blocks[0]?.hash as Uint8Array);
    });

    test('a write that fails leaves no entry, beside others that leave theirs', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      const add = (installCode: string, more = {}) =>
        store.addLink(linkDraft(id, { installCode, ...more }), by('alice'));
      const results = await Promise.allSettled([
        add('LinkCode0001'),
        add('LinkCode0002', { installLimit: 101 }),
        add('LinkCode0003'),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      const { blocks } = await store.readAudit(1, 10);
      const objects = blocks.flatMap(entriesOf).map(({ object }) => object);
      expect(objects).toEqual([
        { id: expect.any(Number), install_limit: 2 },
        { id: expect.any(Number), install_limit: 2 },
      ]);
      expect(blocks.at(-1)?.number).toBe(3);
    });

    test('of terms it tells what is set, and of a key no more than that it changed', async () => {
      const { store } = opened();
      const policy = { inactiveDays: 9, whenFull: 'replace-oldest', coolDownHours: 2 } as const;
      await store.addProvider(providerDraft('Provide1', policy), by('alice'));
      const { id: providerId } = await provider(store, 'Provide1');
      const act = by('alice');
      const draft = linkDraft(providerId, { inactiveDays: 0, subscriptionKeyHash: HASH });
      const added = await store.addLink(draft, act);
      if (typeof added === 'string') throw new Error(added);
      const changes = [
        { subscriptionKeyHash: 'b'.repeat(64), coolDownHours: 5 },
        { subscriptionKeyHash: 'b'.repeat(64) },
        { subscriptionKeyHash: null, inactiveDays: null },
      ];
      for (const change of changes) await store.updateLink(providerId, added.id, change, act);
      await store.updateProvider('Provide1', { inactiveDays: null, whenFull: 'refuse' }, act);
      const { blocks } = await store.readAudit(0, 10);
      const terms = { inactive_days: 9, when_full: 'replace-oldest', cool_down_hours: 2 };
      const told = blocks.flatMap(entriesOf).map(({ action, object, change }) => ({
        action,
        ...(action.endsWith('.add') ? { object } : { change }),
      }));
      expect(told).toEqual([
        { action: 'provider.add', object: expect.objectContaining(terms) },
        {
          action: 'install.add',
          object: { id: added.id, install_limit: 2, inactive_days: 0, subscription_key: 'set' },
        },
        {
          action: 'install.update',
          change: { cool_down_hours: [null, 5], subscription_key: 'changed' },
        },
        {
          action: 'install.update',
          change: { inactive_days: [0, null], subscription_key: 'changed' },
        },
        {
          action: 'provider.set',
          change: { inactive_days: [9, null], when_full: ['replace-oldest', 'refuse'] },
        },
      ]);
    });

    test('what moves in is told; the same once more is not', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const times = { registeredAtMs: 1, firstSeenAtMs: 1, lastSeenAtMs: 1 };
      const link = {
        id: 7,
        installCode: 'LinkCode0001',
        installLimit: 2,
        status: 10,
        note: 'note',
        createdAtMs: 1,
        slots: [{ hwid: 'a', ...FACTS, ...times }],
      };
      const binding = { id: 3, domainHash: HASH, domainName: 'a', status: 10, createdAtMs: 1 };
      const act = by('alice');
      const rules = { installCountMax: 9, domainCountMax: 9, updates: true };
      const bring = async (install: typeof link, domain: typeof binding) => {
        await store.importDomain(providerId, domain, rules, act);
        await store.importLink(providerId, install, rules, act);
      };
      await bring(link, binding);
      await bring(link, binding);
      const changed = { ...link, installLimit: 1, note: 'other' };
      await bring(changed, { ...binding, domainName: 'b', status: 5 });
      const { blocks } = await store.readAudit(1, 10);
      expect(blocks.flatMap(entriesOf)).toMatchObject([
        { action: 'domain.import', provider: 'Provide1', object: { id: 3, domain_hash: HASH } },
        { action: 'install.import', object: { id: 7, install_limit: 2, hwids: 1 } },
        {
          action: 'domain.import',
          object: { id: 3 },
          change: { status: [10, 5], domain_name: 'changed' },
        },
        {
          action: 'install.import',
          object: { id: 7, hwids: 0 },
          change: { install_limit: [2, 1], note: 'changed' },
        },
      ]);
      expect(blocks).toHaveLength(4);
    });

    test('two processes write one chain', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { id } = await addProvider(store, 'Provide1');
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          (n % 2 === 0 ? store : beside).addLink(
            linkDraft(id, { installCode: `LinkCode${String(n).padStart(4, '0')}` }),
            by(n % 2 === 0 ? 'one' : 'two'),
          ),
        ),
      );
      const { blocks } = await beside.readAudit(0, 100);
      let before = NO_ANCHOR as Pick<AuditBlock, 'number' | 'hash'>;
      for (const block of blocks) {
        expect(block.prevHash).toEqual(before.hash);
        expect(block.number).toBe(before.number + entriesOf(block).length);
        before = block;
      }
      expect(before.number).toBe(41);
    });
  },

  readAuditBack(opened) {
    test('newest first, those before a number, no more than asked for', async () => {
      const { store } = opened();
      expect(await store.readAuditBack(END, 10)).toEqual([]);
      await makeLinks(store, 5);
      const numbers = async (before: number, countMax: number) =>
        (await store.readAuditBack(before, countMax)).map(({ number }) => number);
      expect(await numbers(END, 10)).toEqual([5, 4, 3, 2, 1]);
      expect(await numbers(4, 2)).toEqual([3, 2]);
      const [first] = (await store.readAudit(0, 1)).blocks;
      expect((await store.readAuditBack(2, 10))[0]).toEqual(first as AuditBlock);
    });
  },

  pruneAudit(opened) {
    const ALL_TIME = { beforeMs: 0, entriesMax: END };

    test('nothing that is too old or too much: nothing is written', async () => {
      const { store } = opened();
      expect(await store.pruneAudit(ALL_TIME, by('prune'))).toBe(false);
      await makeLinks(store, 5);
      expect(await store.pruneAudit({ beforeMs: NOW_MS, entriesMax: 5 }, by('prune'))).toBe(false);
      expect(await numbersOf(store)).toEqual([1, 2, 3, 4, 5]);
    });

    test('what is too old goes, up to the first that is not; an entry tells of it', async () => {
      const { store } = opened();
      await makeLinks(store, 5);
      const [, second] = (await store.readAudit(0, 2)).blocks;
      const act = by('prune', NOW_MS + 9 * HOUR_MS);
      const beforeMs = NOW_MS + 2 * HOUR_MS;
      expect(await store.pruneAudit({ beforeMs, entriesMax: END }, act)).toBe(false);
      const { anchor, blocks } = await store.readAudit(0, 100);
      expect(blocks.map(({ number }) => number)).toEqual([3, 4, 5, 6]);
      const hash = second?.hash as Uint8Array;
      expect(anchor).toEqual({ number: 2, hash, untilMs: NOW_MS + HOUR_MS });
      expect(blocks[0]?.prevHash).toEqual(hash);
      expect(blocks.flatMap(entriesOf).at(-1)).toMatchObject({
        action: 'audit.prune',
        object: {
          entries: 2,
          through: 2,
          hash: Buffer.from(hash).toString('hex'),
          until: new Date(NOW_MS + HOUR_MS).toISOString(),
        },
      });
    });

    test('the oldest go when there are too many, with room for the entry about it', async () => {
      const { store } = opened();
      await makeLinks(store, 10);
      const bounds = { beforeMs: 0, entriesMax: 6 };
      expect(await store.pruneAudit(bounds, by('prune'))).toBe(false);
      expect(await numbersOf(store)).toEqual([6, 7, 8, 9, 10, 11]);
      // As many as may stay: what was pruned before does not count again.
      expect(await store.pruneAudit(bounds, by('prune'))).toBe(false);
      expect(await numbersOf(store)).toEqual([6, 7, 8, 9, 10, 11]);
    });

    test('everything may be too old; the chain goes on behind it', async () => {
      const { store } = opened();
      await makeLinks(store, 3);
      const act = by('prune', NOW_MS + 9 * HOUR_MS);
      await store.pruneAudit({ beforeMs: NOW_MS + 8 * HOUR_MS, entriesMax: END }, act);
      const { anchor, blocks } = await store.readAudit(0, 100);
      expect(anchor.number).toBe(3);
      expect(blocks).toHaveLength(1);
      expect(blocks[0]).toMatchObject({ number: 4, prevHash: anchor.hash });
    });

    test('a block goes whole, so that fewer entries may be left', async () => {
      const { store } = opened();
      await addProvider(store, 'Provide1');
      const { code } = await provider(store, 'Provide1');
      for (const name of ['one', 'two', 'three']) {
        const suspendedAtMs = name === 'two' ? NOW_MS : null;
        await store.updateProvider(code, { name, suspendedAtMs, plan: 'pro' }, by('alice'));
      }
      const numbers = await numbersOf(store);
      const [last = 0, before = 0] = [numbers.at(-1), numbers.at(-2)];
      expect(last - before).toBeGreaterThan(1);
      // In the midst of the last block.
      expect(await store.pruneAudit({ beforeMs: 0, entriesMax: 1 }, by('prune'))).toBe(false);
      expect(await numbersOf(store)).toEqual([last + 1]);
    });

    test('many go in steps', async () => {
      const { store } = opened();
      await makeLinks(store, 1_100);
      const bounds = { beforeMs: NOW_MS + 5_000 * HOUR_MS, entriesMax: END };
      const act = by('prune', NOW_MS + 9_000 * HOUR_MS);
      expect(await store.pruneAudit(bounds, act)).toBe(true);
      expect(await numbersOf(store)).not.toEqual([]);
      while (await store.pruneAudit(bounds, act));
      const { anchor, blocks } = await store.readAudit(0, 100);
      expect(anchor.number).toBe(1_100);
      expect(blocks.flatMap(entriesOf).every(({ action }) => action === 'audit.prune')).toBe(true);
      expect((await provider(store, 'Provide1')).installCountMax).toBe(1_099);
    });
  },

  endFolds(opened) {
    const MINUTE_MS = 60_000;

    /** Adds and removes links, `count` deeds, of a provider whose share of a day is 50. */
    async function loop(store: Store, code: string, count: number, entriesMax = 1_000) {
      const { id: providerId } = await addProvider(store, code);
      const actor = { kind: 'provider', name: code, key: 'aaaaaaaa', from: '203.0.113.7' } as const;
      const act = { actor, atMs: NOW_MS, entriesMax };
      for (let n = 0; n < count / 2; n++) {
        const link = await store.addLink(
          linkDraft(providerId, { installCode: `${code}${n + 100}` }),
          act,
        );
        await store.removeLink(providerId, (link as { id: number }).id, act);
      }
    }

    const lastOf = async (store: Store) =>
      (await store.readAuditBack(END, 1)).flatMap(entriesOf).map(({ name, action, object }) => ({
        name,
        action,
        folded: object['folded'],
      }));

    test('nothing is folded, or for less than a minute: nothing is written', async () => {
      const { store } = opened();
      expect(await store.endFolds(NOW_MS, 1_000_000)).toBe(false);
      await loop(store, 'Provide1', 54);
      const before = await numbersOf(store);
      expect(await store.endFolds(NOW_MS + MINUTE_MS - 1, 1_000_000)).toBe(false);
      expect(await numbersOf(store)).toEqual(before);
    });

    test('each action of each provider gets one entry, once', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      await loop(store, 'Provide1', 54);
      await loop(beside, 'Provide2', 52);
      const count = async () => (await store.readAudit(0, 1_000)).blocks.flatMap(entriesOf).length;
      const before = await count();
      const ends = [store, beside, store, beside].map(async (each) => {
        while (await each.endFolds(NOW_MS + MINUTE_MS, 1_000_000));
      });
      await Promise.all(ends);
      const all = (await store.readAudit(0, 1_000)).blocks.flatMap(entriesOf);
      expect(all).toHaveLength(before + 4);
      const told = all
        .slice(before)
        .map(({ name, action, object }) => `${name} ${action} ${object['folded']}`);
      expect(told.sort()).toEqual([
        'Provide1 install.add 2',
        'Provide1 install.remove 2',
        'Provide2 install.add 1',
        'Provide2 install.remove 1',
      ]);
    });

    test('a provider without room in its day waits, and keeps no other waiting', async () => {
      const { store } = opened();
      await loop(store, 'Provide1', 62, 1_200);
      await loop(store, 'Provide2', 52);
      expect(await store.endFolds(NOW_MS + MINUTE_MS, 1_020)).toBe(true);
      expect(await lastOf(store)).toMatchObject([{ name: 'Provide2', action: 'install.add' }]);
      // The entry took the room of the next one.
      expect(await store.endFolds(NOW_MS + MINUTE_MS, 1_020)).toBe(false);
      expect(await store.endFolds(NOW_MS + 24 * HOUR_MS, 1_020)).toBe(true);
      expect(await store.endFolds(NOW_MS + 24 * HOUR_MS, 1_020)).toBe(true);
      expect(await store.endFolds(NOW_MS + 24 * HOUR_MS, 1_020)).toBe(false);
      const told = (await store.readAudit(0, 1_000)).blocks
        .flatMap(entriesOf)
        .filter(({ object }) => 'folded' in object);
      expect(told.map(({ name }) => name).sort()).toEqual([
        'Provide1',
        'Provide1',
        'Provide2',
        'Provide2',
      ]);
    });

    test('a clock that was set back tells them too', async () => {
      const { store } = opened();
      await loop(store, 'Provide1', 51);
      expect(await store.endFolds(NOW_MS - HOUR_MS, 1_000_000)).toBe(false);
      expect(await store.endFolds(NOW_MS - HOUR_MS - 1, 1_000_000)).toBe(true);
    });
  },

  noteVisit(opened) {
    test('an entry names the account and the provider, and no record changes', async () => {
      const { store } = opened();
      const before = await addProvider(store, 'Provide1');
      const actor = { kind: 'account', name: 'olga', from: '203.0.113.7' } as const;
      await store.noteVisit(before.id, { actor, atMs: NOW_MS });
      const [block] = await store.readAuditBack(END, 1);
      expect(entriesOf(block as AuditBlock)).toEqual([
        {
          at: new Date(NOW_MS).toISOString(),
          who: 'account',
          name: 'olga',
          from: '203.0.113.7',
          action: 'provider.visit',
          provider: 'Provide1',
          object: {},
        },
      ]);
      expect(await provider(store, 'Provide1')).toEqual(before);
    });
  },

  noteDownload(opened) {
    test('an entry names the account alone', async () => {
      const { store } = opened();
      const actor = { kind: 'account', name: 'olga', from: '203.0.113.7' } as const;
      await store.noteDownload({ actor, atMs: NOW_MS });
      const [block] = await store.readAuditBack(END, 1);
      expect(entriesOf(block as AuditBlock)).toMatchObject([
        { who: 'account', name: 'olga', action: 'database.download', object: {} },
      ]);
    });
  },
};
