import { expect, test } from 'bun:test';
import type { BotStore, NewBot } from '../../../src/core/port/bot.ts';
import { hashKey, subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { addProvider, NOW_MS, type OpenedStore, type Suite } from './fixture.ts';

const HOST = 'sub.example.org';
const DAY = 20_000;

async function trusted(
  { store }: Pick<OpenedStore, 'store'>,
  code: string,
  more: Partial<NewBot> = {},
) {
  const known = await store.findProvider(code);
  const provider = known ?? (await addProvider(store, code));
  const secretHash = hashKey(`secret of ${code}`);
  const of = { providerId: provider.id, secretHash, host: HOST, name: 'bot', createdAtMs: NOW_MS };
  const added = await store.addBot({ ...of, countMax: 2, ...more }, ACT);
  return { provider, secretHash, added, id: typeof added === 'object' ? added.id : 0 };
}

const fetchOf = (botId: number, key = 'key', day = DAY) => ({
  botId,
  keyHash: subscriptionKeyHash(key),
  day,
  countMax: 3,
});

export const botContract: Record<keyof BotStore, Suite> = {
  addBot(opened) {
    test('adds bots up to the most of a provider, with an entry without the secret', async () => {
      const { store } = opened();
      expect((await trusted(opened(), 'Provide1')).added).toMatchObject({ id: 1 });
      expect((await trusted(opened(), 'Provide1')).added).toMatchObject({ id: 2 });
      expect((await trusted(opened(), 'Provide1')).added).toBe('bot_limit_reached');
      expect((await trusted(opened(), 'Foreign2')).added).toMatchObject({ id: 3 });
      const blocks = await store.readAuditBack(Number.MAX_SAFE_INTEGER, 10);
      const entries = blocks.map(({ entries }) => entries).join();
      expect(entries).toContain(
        '"bot.add","provider":"Provide1","object":{"id":1,"host":"sub.example.org"}',
      );
      expect(entries).not.toContain(hashKey('secret of Provide1').toHex());
    });
  },

  listBots(opened) {
    test('lists those of the provider, oldest first', async () => {
      const { provider } = await trusted(opened(), 'Provide1', { name: 'b' });
      await trusted(opened(), 'Provide1', { name: 'a', host: 'other.example.org' });
      await trusted(opened(), 'Foreign2');
      expect(await opened().store.listBots(provider.id)).toEqual([
        { id: 1, host: HOST, name: 'b', createdAtMs: NOW_MS },
        { id: 2, host: 'other.example.org', name: 'a', createdAtMs: NOW_MS },
      ]);
    });
  },

  findBots(opened) {
    test('finds those of the host, of all providers', async () => {
      const { secretHash } = await trusted(opened(), 'Provide1');
      const other = await trusted(opened(), 'Foreign2');
      await trusted(opened(), 'Provide1', { host: 'other.example.org' });
      const found = await opened().store.findBots(HOST);
      expect(found.toSorted((a, b) => a.id - b.id)).toEqual([
        { id: 1, providerCode: 'Provide1', secretHash },
        { id: 2, providerCode: 'Foreign2', secretHash: other.secretHash },
      ]);
      expect(await opened().store.findBots('no.example.org')).toEqual([]);
    });
  },

  removeBot(opened) {
    test('removes one of the provider alone, with its counts', async () => {
      const { store } = opened();
      const { provider, id } = await trusted(opened(), 'Provide1');
      const other = await trusted(opened(), 'Foreign2');
      expect(await store.countBotFetch(fetchOf(id))).toBe(true);
      expect(await store.removeBot(other.provider.id, id, ACT)).toBe(false);
      expect(await store.removeBot(provider.id, id, ACT)).toBe(true);
      expect(await store.removeBot(provider.id, id, ACT)).toBe(false);
      expect((await store.findBots(HOST)).map((one) => one.id)).toEqual([other.id]);
      // A fetch that was on its way counts nothing, and gets nothing.
      expect(await store.countBotFetch(fetchOf(id))).toBe(false);
    });
  },

  countBotFetch(opened) {
    test('counts to the most of a key and a day, on all connections together', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { id } = await trusted(opened(), 'Provide1');
      const asked = Array.from({ length: 8 }, (_, n) =>
        (n % 2 ? store : beside).countBotFetch(fetchOf(id)),
      );
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(3);
      expect(await store.countBotFetch(fetchOf(id, 'other'))).toBe(true);
      expect(await store.countBotFetch(fetchOf(id, 'key', DAY + 1))).toBe(true);
      const other = await trusted(opened(), 'Foreign2');
      expect(await store.countBotFetch(fetchOf(other.id))).toBe(true);
    });
  },

  forgetBotFetches(opened) {
    test('deletes counts of earlier days', async () => {
      const { store } = opened();
      const { id } = await trusted(opened(), 'Provide1');
      await store.countBotFetch(fetchOf(id, 'a', DAY - 1));
      await store.countBotFetch(fetchOf(id, 'b'));
      expect(await store.forgetBotFetches(DAY)).toBe(true);
      expect(await store.forgetBotFetches(DAY)).toBe(false);
      expect(await store.forgetBotFetches(DAY + 1)).toBe(true);
    });
  },
};
