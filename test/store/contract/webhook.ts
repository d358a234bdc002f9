import { describe, expect, test } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import {
  DISABLED_BY_OWNER,
  type NewWebhook,
  type Webhook,
  type WebhookStore,
} from '../../../src/core/port/webhook.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries, deedOf } from '../../support/audit.ts';
import { addLink, addProvider, NOW_MS, type Suite } from './fixture.ts';
import { hold, retryAt, settle, WELL } from './outbox-fixture.ts';

const SECRET = 'whsec_bm90IGEgcmVhbCBzZWNyZXQhISEhISE=';
const NEW_SECRET = 'whsec_YW5vdGhlciBvbmUsIG5vdCByZWFsIQ==';

/** A webhook that wants all there is. */
export function webhookDraft(
  providerId: number | null,
  more: Partial<NewWebhook> = {},
): NewWebhook {
  return {
    providerId,
    target: { kind: 'webhook', url: 'https://bot.example.com/hook', scheme: 'v1' },
    events: [],
    secret: SECRET,
    createdAtMs: NOW_MS,
    ...more,
  };
}

export async function addWebhook(
  store: Store,
  providerId: number | null,
  more: Partial<NewWebhook> = {},
): Promise<number> {
  const added = await store.addWebhook(webhookDraft(providerId, more), 10, ACT);
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

export async function webhookOf(store: Store, id: number): Promise<Webhook> {
  const found = await store.findWebhook(id);
  if (found === null) throw new Error(`there is no webhook ${id}`);
  return found;
}

/** Kinds of the events that wait for a webhook, in the order in which they happened. */
export async function waitingFor(store: Store, webhookId: number): Promise<string[]> {
  const waiting = await store.listDeliveries(webhookId, 'waiting', null, 1_000);
  return waiting.map(({ kind }) => kind).reverse();
}

/** Makes a link of the provider, which is an event. */
export async function makeLink(store: Store, providerId: number, n = 1): Promise<void> {
  await addLink(store, providerId, { installCode: `LinkCode${String(n).padStart(4, '0')}` });
}

/** Claims the webhooks that have something due. */
const claim = (store: Store) =>
  store.claimDestinations(hold(), ['webhook', 'telegram'], 100, 100, []);

const DISABLED = { atMs: NOW_MS, why: 'it answered 410' };

/** The deeds about webhooks, in their order. */
async function deedsIn(store: Store): Promise<string[]> {
  const deeds = (await auditEntries({ store })).map(deedOf);
  return deeds.filter((deed) => deed.startsWith('webhook.'));
}

export const webhookContract: Record<keyof WebhookStore, Suite> = {
  addWebhook(opened) {
    test('up to so many of each owner', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      for (const owner of [providerId, null]) {
        const draft = webhookDraft(owner);
        expect(await store.addWebhook(draft, 2, ACT)).toEqual({ id: expect.any(Number) });
        expect(await store.addWebhook(draft, 2, ACT)).toEqual({ id: expect.any(Number) });
        expect(await store.addWebhook(draft, 2, ACT)).toBe('webhook_limit_reached');
        expect(await store.listWebhooks(owner)).toHaveLength(2);
      }
    });
  },

  listWebhooks(opened) {
    test("the owner's, as they were added", async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const first = webhookDraft(providerId, { events: ['link.full', 'link.created'] });
      const second = webhookDraft(providerId, {
        target: { kind: 'telegram', chat: '-100123', locale: 'fa' },
        secret: '123:token',
      });
      const ids = [await store.addWebhook(first, 9, ACT), await store.addWebhook(second, 9, ACT)];
      await addWebhook(store, null);
      expect(await store.listWebhooks(providerId)).toEqual(
        [first, second].map((draft, n) => ({
          ...draft,
          ...(ids[n] as { id: number }),
          previous: null,
          disabled: null,
        })),
      );
      expect(await store.listWebhooks(null)).toMatchObject([{ providerId: null }]);
    });
  },

  readDisabledWebhooks(opened) {
    test('those that failed, with their providers, the first ones of the operator', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      expect(await store.readDisabledWebhooks(9)).toEqual({
        operatorCount: 0,
        providerCount: 0,
        some: [],
      });
      const why = 'it answered 410';
      const disabled = async (owner: number | null, atMs: number, reason = why) => {
        const id = await addWebhook(store, owner);
        await store.updateWebhook(id, owner, { disabled: { atMs, why: reason } }, ACT);
        return id;
      };
      const [early, late] = [await disabled(providerId, 1), await disabled(providerId, 2)];
      const own = await disabled(null, 1);
      await disabled(providerId, 3, DISABLED_BY_OWNER);
      await addWebhook(store, providerId);
      const found = await store.readDisabledWebhooks(2);
      expect(found).toMatchObject({ operatorCount: 1, providerCount: 2 });
      expect(found.some.map(({ id, providerCode }) => [id, providerCode])).toEqual([
        [own, undefined],
        [late, 'Provide1'],
      ]);
      const all = (await store.readDisabledWebhooks(9)).some;
      expect(all.map(({ id }) => id)).toEqual([own, late, early]);
      expect(all[2]).toEqual(await webhookOf(store, early));
    });
  },

  findWebhook(opened) {
    test("of the owner that is named, or anybody's", async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const own = await addWebhook(store, providerId);
      const operators = await addWebhook(store, null);
      expect(await store.findWebhook(own, providerId)).toMatchObject({ id: own });
      expect(await store.findWebhook(own, null)).toBeNull();
      expect(await store.findWebhook(operators, null)).toMatchObject({ id: operators });
      expect(await store.findWebhook(operators, providerId)).toBeNull();
      expect(await store.findWebhook(own)).toMatchObject({ id: own });
      expect(await store.findWebhook(own + operators)).toBeNull();
    });
  },

  updateWebhook(opened) {
    test('changes what it is told to, of the owner alone', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      expect(await store.updateWebhook(id, null, { events: [] }, ACT)).toBe('webhook_not_found');
      const { providerCode = '', ...before } = await webhookOf(store, id);
      const target = { kind: 'webhook', url: 'https://other.example.com/', scheme: 'v1a' } as const;
      const after = await store.updateWebhook(id, providerId, { target }, ACT);
      expect(after).toEqual({ ...before, target });
      expect(await webhookOf(store, id)).toEqual({ ...before, providerCode, target });
    });

    test('a new secret, with the old one beside it for a while or not', async () => {
      const { store } = opened();
      const id = await addWebhook(store, null);
      const rotation = { secret: NEW_SECRET, previousUntilMs: NOW_MS + 5 };
      expect(await store.updateWebhook(id, null, { rotation }, ACT)).toMatchObject({
        secret: NEW_SECRET,
        previous: { secret: SECRET, untilMs: NOW_MS + 5 },
      });
      const atOnce = { secret: SECRET, previousUntilMs: null };
      await store.updateWebhook(id, null, { rotation: atOnce }, ACT);
      expect(await webhookOf(store, id)).toMatchObject({ secret: SECRET, previous: null });
    });

    test('a disabled one hears of nothing more, but what waits for it stays', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      await makeLink(store, providerId, 1);
      await store.updateWebhook(id, providerId, { disabled: DISABLED }, ACT);
      expect(await webhookOf(store, id)).toMatchObject({ disabled: DISABLED });
      await makeLink(store, providerId, 2);
      expect(await waitingFor(store, id)).toEqual(['link.created']);
      await store.updateWebhook(id, providerId, { disabled: null }, ACT);
      await makeLink(store, providerId, 3);
      expect(await waitingFor(store, id)).toEqual(['link.created', 'link.created']);
    });
  },

  resumeWebhook(opened) {
    test('what was put off is due at once, with the attempts that are left', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      for (let n = 1; n <= 3; n++) await makeLink(store, providerId, n);
      expect(await store.resumeWebhook(id)).toBe(false);
      const [destination] = await claim(store);
      const destinationId = destination?.id ?? 0;
      const due = () => store.listDispatches(destinationId, NOW_MS, 9, null);
      const failing = { ...WELL, failureCount: 12, retryAtMs: NOW_MS + 60_000, problem: 'down' };
      const later = retryAt(NOW_MS + 86_400_000);
      await settle(store, destinationId, await due(), later, { health: failing });
      await store.releaseDestinations('one', null);
      expect(await claim(store)).toEqual([]);
      expect(await store.resumeWebhook(id)).toBe(true);
      expect(await claim(store)).toMatchObject([{ id: destinationId, problem: null }]);
      expect(await due()).toMatchObject([1, 2, 3].map(() => ({ attemptCount: 1 })));
      expect(await store.resumeWebhook(id)).toBe(false);
    });

    test('nothing of one that is disabled, or that is not there', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      await makeLink(store, providerId);
      const [destination] = await claim(store);
      const destinationId = destination?.id ?? 0;
      const due = await store.listDispatches(destinationId, NOW_MS, 9, null);
      await settle(store, destinationId, due, retryAt(NOW_MS + 60_000));
      await store.updateWebhook(id, providerId, { disabled: DISABLED }, ACT);
      expect(await store.resumeWebhook(id)).toBe(false);
      expect(await store.resumeWebhook(id + 1)).toBe(false);
    });
  },

  dropUnwanted(opened) {
    test('leaves the wanted ones, those of others, and what ended', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      const other = await addWebhook(store, providerId);
      await makeLink(store, providerId, 1);
      await store.rotateKey('Provide1', new Uint8Array(32), NOW_MS, ACT);
      await makeLink(store, providerId, 2);
      const all = ['link.created', 'key.rotated', 'link.created'];
      expect(await waitingFor(store, id)).toEqual(all);
      expect(await store.dropUnwanted(id, ['link.created', 'key.rotated'], 0)).toBeNull();
      expect(await waitingFor(store, id)).toEqual(all);
      expect(await store.dropUnwanted(id, ['key.rotated'], 0)).toBeNull();
      expect(await waitingFor(store, id)).toEqual(['key.rotated']);
      expect(await waitingFor(store, other)).toEqual(all);
      const [destination] = (await claim(store)).filter(({ webhookId }) => webhookId === id);
      expect(destination?.waitingCount).toBe(1);
    });

    test('a long queue in steps', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      const made = Array.from({ length: 501 }, (_, n) =>
        addLink(store, providerId, {
          installCode: `LinkCode${String(n).padStart(4, '0')}`,
          installCountMax: 1_000,
        }),
      );
      await Promise.all(made);
      const next = await store.dropUnwanted(id, ['key.rotated'], 0);
      expect(await waitingFor(store, id)).toHaveLength(1);
      expect(await store.dropUnwanted(id, ['key.rotated'], next ?? 0)).toBeNull();
      expect(await waitingFor(store, id)).toEqual([]);
    });
  },

  forgetOldSecrets(opened) {
    test('deletes a secret that signs no longer, and leaves one that does', async () => {
      const { store } = opened();
      const ids = [await addWebhook(store, null), await addWebhook(store, null)];
      for (const [n, id] of ids.entries()) {
        const rotation = { secret: NEW_SECRET, previousUntilMs: NOW_MS + n };
        await store.updateWebhook(id, null, { rotation }, ACT);
      }
      expect(await store.forgetOldSecrets(NOW_MS - 1)).toBe(false);
      expect(await store.forgetOldSecrets(NOW_MS)).toBe(true);
      expect(await store.forgetOldSecrets(NOW_MS)).toBe(false);
      const [over, other] = await Promise.all(ids.map((id) => webhookOf(store, id)));
      expect(over).toMatchObject({ secret: NEW_SECRET, previous: null });
      expect(other).toMatchObject({ previous: { secret: SECRET, untilMs: NOW_MS + 1 } });
    });
  },

  removeWebhook(opened) {
    test('as every other change leaves an entry that tells no address and no secret', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId, { events: ['link.full'] });
      const target = { kind: 'webhook', url: 'https://x.example/TOKEN', scheme: 'v1a' } as const;
      const rotation = { secret: NEW_SECRET, previousUntilMs: NOW_MS };
      for (const change of [{ target }, { target }, { rotation }, { disabled: DISABLED }]) {
        await store.updateWebhook(id, providerId, change, ACT);
      }
      await store.removeWebhook(id, providerId, ACT);
      expect(await deedsIn(store)).toEqual([
        `webhook.add {"id":${id},"kind":"webhook","events":"link.full"}`,
        `webhook.update {"id":${id}} {"scheme":["v1","v1a"],"address":"changed"}`,
        `webhook.rotate {"id":${id},"old_secret_until":"${new Date(NOW_MS).toISOString()}"}`,
        `webhook.update {"id":${id}} {"enabled":[true,false]}`,
        `webhook.remove {"id":${id}}`,
      ]);
    });

    test('with all that waits for it, of the owner alone', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      const other = await addWebhook(store, providerId);
      await makeLink(store, providerId);
      expect(await store.removeWebhook(id, null, ACT)).toBe('webhook_not_found');
      expect(await store.removeWebhook(id, providerId, ACT)).toBe('ok');
      expect(await store.findWebhook(id)).toBeNull();
      expect(await waitingFor(store, id)).toEqual([]);
      expect(await waitingFor(store, other)).toEqual(['link.created']);
      expect(await store.removeWebhook(id, providerId, ACT)).toBe('webhook_not_found');
    });
  },

  listDeliveries(opened) {
    test('in pages, the newest first', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addWebhook(store, providerId);
      for (let n = 1; n <= 5; n++) await makeLink(store, providerId, n);
      const first = await store.listDeliveries(id, null, null, 3);
      expect(first).toHaveLength(3);
      expect(first[0]).toEqual({
        eventId: expect.any(Number),
        kind: 'link.created',
        atMs: NOW_MS,
        state: 'waiting',
        attemptCount: 0,
        stateAtMs: 0,
        problem: null,
      });
      const before = first.at(-1)?.eventId ?? 0;
      const rest = await store.listDeliveries(id, 'waiting', before, 3);
      expect(rest).toHaveLength(2);
      const ids = [...first, ...rest].map(({ eventId }) => eventId);
      expect(ids).toEqual(ids.toSorted((a, b) => b - a));
      expect(await store.listDeliveries(id, 'failed', null, 3)).toEqual([]);
      expect(await store.listDeliveries(id, 'delivered', null, 3)).toEqual([]);
    });
  },

  replayEvents(opened) {
    describe('puts what is kept into the outbox again', () => {
      /** A provider with events that a first webhook heard of; then a second one. */
      async function kept(store: Store, events: NewWebhook['events'] = []) {
        const { id: providerId } = await addProvider(store, 'Provide1');
        await addWebhook(store, providerId);
        for (let n = 1; n <= 3; n++) {
          const atMs = NOW_MS + n;
          const installCode = `LinkCode000${n}`;
          const draft = { ...NO_TERMS, providerId, installCode, installLimit: 2, note: null };
          await store.addLink(
            { ...draft, createdAtMs: atMs, installCountMax: 100 },
            { ...ACT, atMs },
          );
        }
        const webhook = await webhookOf(store, await addWebhook(store, providerId, { events }));
        return { providerId, webhook };
      }

      test('one, though it wants no more of its kind; and once only', async () => {
        const { store } = opened();
        const { webhook } = await kept(store, ['key.rotated']);
        const [newest] = await store.listDeliveries(webhook.id - 1, null, null, 1);
        const which = { eventId: newest?.eventId ?? 0 };
        const once = { count: 1, next: null, isFull: false };
        expect(await store.replayEvents(webhook, which, NOW_MS)).toEqual(once);
        expect(await waitingFor(store, webhook.id)).toEqual(['link.created']);
        const never = { count: 0, next: null, isFull: false };
        expect(await store.replayEvents(webhook, which, NOW_MS)).toEqual(never);
        expect(await store.replayEvents(webhook, { eventId: 999 }, NOW_MS)).toEqual(never);
      });

      test('all of the kinds that it wants since a time', async () => {
        const { store } = opened();
        const { webhook } = await kept(store);
        const since = { sinceMs: NOW_MS + 2, afterEventId: 0 };
        const twice = { count: 2, next: null, isFull: false };
        expect(await store.replayEvents(webhook, since, NOW_MS)).toEqual(twice);
        expect(await waitingFor(store, webhook.id)).toHaveLength(2);
        const choosy: Webhook = { ...webhook, events: ['key.rotated'] };
        const all = { sinceMs: 0, afterEventId: 0 };
        expect(await store.replayEvents(choosy, all, NOW_MS)).toMatchObject({ count: 0 });
      });

      test("nobody else's", async () => {
        const { store } = opened();
        const { webhook } = await kept(store);
        const own = await webhookOf(store, await addWebhook(store, null));
        const [newest] = await store.listDeliveries(webhook.id - 1, null, null, 1);
        const one = { eventId: newest?.eventId ?? 0 };
        expect(await store.replayEvents(own, one, NOW_MS)).toMatchObject({ count: 0 });
        const all = { sinceMs: 0, afterEventId: 0 };
        expect(await store.replayEvents(own, all, NOW_MS)).toMatchObject({ count: 0 });
      });
    });
  },
};
