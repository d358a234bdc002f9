import { expect, test } from 'bun:test';
import type { Act } from '../../../src/core/port/audit.ts';
import type { NewReminder, ReminderStore } from '../../../src/core/port/reminder.ts';
import { WAIT_MS } from '../../../src/core/unconfirmed.ts';
import { ACT, actOfKey } from '../../support/actor.ts';
import { addLink, addProvider, linkDraft, NOW_MS, type Suite } from './fixture.ts';

const TEXTS = { en: 'Three days', ru: 'Три дня' };

const draft = (providerId: number, more: Partial<NewReminder> = {}): NewReminder => ({
  providerId,
  kind: 'before_end',
  amount: 72,
  texts: TEXTS,
  pushText: 'neutral',
  enabled: 0,
  createdAtMs: NOW_MS,
  countMax: 3,
  ...more,
});

const KEPT = {
  id: 1,
  kind: 'before_end',
  amount: 72,
  texts: TEXTS,
  formerTexts: null,
  textsAtMs: 0,
  pushText: 'neutral',
  enabled: 0,
  createdAtMs: NOW_MS,
} as const;

const byKey = (atMs = NOW_MS): Act => actOfKey('Provide1', atMs);

export const reminderContract: Record<keyof ReminderStore, Suite> = {
  addReminder(opened) {
    test('adds one of a kind and amount, to the most of a provider, without its text in the log', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const add = (more: Partial<NewReminder>) => store.addReminder(draft(providerId, more), ACT);
      expect(await add({})).toEqual({ reminder: KEPT, hasBegunFigures: false });
      expect(await add({})).toBe('reminder_exists');
      expect(await add({ amount: 24 })).toMatchObject({ reminder: { id: 2 } });
      expect(await add({ kind: 'traffic' })).toMatchObject({ reminder: { id: 3 } });
      expect(await add({ amount: 1 })).toBe('reminder_limit_reached');
      const other = await addProvider(store, 'Foreign2');
      expect(await store.addReminder(draft(other.id), ACT)).toMatchObject({ reminder: { id: 4 } });
      const blocks = await store.readAuditBack(Number.MAX_SAFE_INTEGER, 10);
      const log = blocks.map(({ entries }) => entries).join();
      expect(log).toContain(
        '"reminder.add","provider":"Provide1","object":{"id":1,"kind":"before_end","amount":72,"push_text":"neutral","enabled":0}',
      );
      expect(log).not.toContain('Three');
    });

    test('an enabled one keeps figures from then on, with an entry', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const add = (amount: number) =>
        store.addReminder(draft(providerId, { amount, enabled: 1 }), ACT);
      expect(await add(1)).toMatchObject({ hasBegunFigures: true });
      expect(await add(2)).toMatchObject({ hasBegunFigures: false });
      expect((await store.findProvider('Provide1'))?.subscriptionFigures).toBe(1);
      const blocks = await store.readAuditBack(Number.MAX_SAFE_INTEGER, 10);
      const entries = blocks.flatMap((one) => JSON.parse(one.entries));
      expect(entries.filter(({ action }) => action === 'provider.set')).toMatchObject([
        { provider: 'Provide1', change: { subscription_figures: [null, 'on'] } },
      ]);
    });

    test('figures that an enabled one begins count from then on, and doors know it', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await addLink(store, providerId, { installCode: 'LinkCode0001' });
      const unread = (unreadSinceMs: number) =>
        store.countLinks({ providerCode: 'Provide1', status: null, isFull: false, unreadSinceMs });
      const { version } = await store.findRides(providerId);
      await store.addReminder(draft(providerId, { enabled: 1 }), { ...ACT, atMs: NOW_MS + 1 });
      expect(await unread(NOW_MS + 1)).toBe(0);
      expect(await unread(NOW_MS + 2)).toBe(1);
      const rides = await store.findRides(providerId);
      expect(rides.hasFigures).toBe(true);
      expect(rides.version).toBeGreaterThan(version);
    });

    test('the text of a key has no former one', async () => {
      const { store } = opened();
      const { id } = await addProvider(store, 'Provide1');
      expect(await store.addReminder(draft(id), byKey())).toMatchObject({
        reminder: { formerTexts: null, textsAtMs: NOW_MS },
      });
    });
  },

  setReminder(opened) {
    test('changes what is given, and only one of the provider', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const other = await addProvider(store, 'Foreign2');
      await store.addReminder(draft(providerId), ACT);
      await store.addReminder(draft(providerId, { amount: 24 }), ACT);
      const change = { amount: 48, enabled: 1, pushText: 'full' } as const;
      expect(await store.setReminder(providerId, 1, change, ACT)).toEqual({
        reminder: { ...KEPT, ...change },
        hasBegunFigures: true,
      });
      expect(await store.setReminder(providerId, 1, { amount: 24 }, ACT)).toBe('reminder_exists');
      expect(await store.setReminder(other.id, 1, change, ACT)).toBe('reminder_not_found');
      expect(await store.findReminder(providerId, 1)).toMatchObject(change);
    });

    test('keeps the text that was used before a key changed it, however often', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await store.addReminder(draft(providerId), ACT);
      const write = (en: string, act: Act) =>
        store.setReminder(providerId, 1, { texts: { en } }, act);
      const later = NOW_MS + WAIT_MS;
      expect(await write('a', byKey())).toMatchObject({
        reminder: { texts: { en: 'a' }, formerTexts: TEXTS, textsAtMs: NOW_MS },
      });
      expect(await write('b', byKey(later - 1))).toMatchObject({
        reminder: { texts: { en: 'b' }, formerTexts: TEXTS, textsAtMs: later - 1 },
      });
      // That one was used for a while now.
      const after = later + WAIT_MS;
      expect(await write('c', byKey(after))).toMatchObject({
        reminder: { formerTexts: { en: 'b' }, textsAtMs: after },
      });
      // Another field leaves the text as it waits.
      expect(await store.setReminder(providerId, 1, { enabled: 1 }, ACT)).toMatchObject({
        reminder: { formerTexts: { en: 'b' }, textsAtMs: after },
      });
      expect(await write('d', ACT)).toMatchObject({
        reminder: { texts: { en: 'd' }, formerTexts: null, textsAtMs: 0 },
      });
    });
  },

  removeReminder(opened) {
    test('removes one of the provider alone; the provider takes its own along', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const other = await addProvider(store, 'Foreign2');
      await store.addReminder(draft(providerId), ACT);
      await store.addReminder(draft(other.id), ACT);
      expect(await store.removeReminder(other.id, 1, ACT)).toBe(false);
      expect(await store.removeReminder(providerId, 1, ACT)).toBe(true);
      expect(await store.removeReminder(providerId, 1, ACT)).toBe(false);
      await store.closeProvider('Foreign2', ACT);
      while ((await store.removeProvider(other.id)) === 'more');
      expect(await store.listReminders(other.id)).toEqual([]);
    });
  },

  confirmChanges(opened) {
    test('is noted once, and never goes back', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const confirm = (untilMs: number) => store.confirmChanges(providerId, untilMs, ACT);
      expect(await confirm(NOW_MS)).toBe(true);
      expect(await confirm(NOW_MS)).toBe(false);
      expect(await confirm(NOW_MS - 1)).toBe(false);
      expect((await store.findProvider('Provide1'))?.confirmedAtMs).toBe(NOW_MS);
    });

    test('the page of users has an address of a key after it, or after a day', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const installId = await addLink(store, providerId, { installCode: 'LinkCode0001' });
      const [ours, evil] = ['https://ours.example/', 'https://evil.example/'];
      await store.updateProvider('Provide1', { my: 1, supportUrl: ours, webPageUrl: ours }, ACT);
      const buttons = async (nowMs: number) => {
        const name = { installId, providerCode: null, domainHash: null };
        const found = await store.findMy(name, nowMs);
        return [found?.supportUrl, found?.webPageUrl];
      };
      await store.updateProvider('Provide1', { webPageUrl: evil }, byKey());
      expect(await buttons(NOW_MS)).toEqual([ours, ours]);
      expect(await buttons(NOW_MS + WAIT_MS)).toEqual([ours, evil]);
      // What a person sets beside it is used at once, and that of the key goes on waiting.
      const help = 'https://help.example/';
      await store.updateProvider('Provide1', { supportUrl: help }, ACT);
      expect(await buttons(NOW_MS)).toEqual([help, ours]);
      // A link's own, too.
      await store.updateLink(providerId, installId, { supportUrl: evil }, byKey());
      expect(await buttons(NOW_MS)).toEqual([help, ours]);
      expect(await buttons(NOW_MS + WAIT_MS)).toEqual([evil, evil]);
      await store.confirmChanges(providerId, NOW_MS, ACT);
      expect(await buttons(NOW_MS)).toEqual([evil, evil]);
      // A link that a key adds for the address of a subscription is no way around it.
      const more = { installCode: 'LinkCode0002', webPageUrl: evil };
      const added = await store.addLink(linkDraft(providerId, more), byKey(NOW_MS + 1));
      if (typeof added === 'string') throw new Error(added);
      const name = { installId: added.id, providerCode: null, domainHash: null };
      await store.updateProvider('Provide1', { webPageUrl: ours }, ACT);
      expect((await store.findMy(name, NOW_MS + 1))?.webPageUrl).toBe(ours);
      expect((await store.findMy(name, NOW_MS + 1 + WAIT_MS))?.webPageUrl).toBe(evil);
      // A person takes it back at once.
      await store.updateProvider('Provide1', { webPageUrl: ours }, ACT);
      await store.updateLink(providerId, installId, { supportUrl: null }, ACT);
      expect(await buttons(NOW_MS)).toEqual([help, ours]);
    });
  },

  findReminder(opened) {
    test('finds one of the provider alone', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await store.addReminder(draft(providerId), ACT);
      expect(await store.findReminder(providerId, 1)).toEqual(KEPT);
      expect(await store.findReminder(providerId + 1, 1)).toBeNull();
    });
  },

  listReminders(opened) {
    test('lists those of the provider, oldest first', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      for (const amount of [72, 24]) await store.addReminder(draft(providerId, { amount }), ACT);
      const other = await addProvider(store, 'Foreign2');
      await store.addReminder(draft(other.id), ACT);
      expect((await store.listReminders(providerId)).map((one) => one.amount)).toEqual([72, 24]);
    });
  },
};
