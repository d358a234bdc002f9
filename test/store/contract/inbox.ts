import { expect, test } from 'bun:test';
import type { AckState, TokenHolder } from '../../../src/core/port/inbox.ts';
import type { LedgerTotals } from '../../../src/core/port/ledger.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  addProvider,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
  type Suite,
} from './fixture.ts';
import {
  ALL_OF_IT,
  addInbox,
  at,
  bringTo,
  checkIn,
  deliver,
  detailOf,
  EXPIRES_MS,
  HOUR_MS,
  holderOf,
  IMPORT_DATA,
  inboxOf,
  lease,
  NOTHING_SHOWN,
  onBinding,
  onLink,
  register,
  registration,
  send,
  to,
  tokenHash,
  WAITING_MAX,
} from './message-fixture.ts';

type Method = 'listInbox' | 'acknowledge';

const WORDS = ['received', 'opened', 'executed', 'refused'] as const;
/** What the one recipient of a distribution said. */
type Said = Pick<LedgerTotals, (typeof WORDS)[number]>;

export const inboxContract: Record<Method & keyof Store, Suite> = {
  listInbox(opened) {
    test('what was sent, oldest first, no more than asked for, until it expires', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const command = { ...IMPORT_DATA, ...to('a'), expiresAtMs: EXPIRES_MS + 1 };
      const first = await deliver(store, providerId, { payload: '{"body":"x"}' });
      const second = await deliver(store, providerId, command);
      const third = await deliver(store, providerId, { createdAtMs: NOW_MS - 1 });
      const limits = { ...ALL_OF_IT, countMax: 2 };
      expect((await store.listInbox(a, NOW_MS, limits)).messages).toEqual([
        {
          id: first,
          providerId,
          bytes: '{"body":"x"}'.length,
          notificationType: 10,
          createdAtMs: NOW_MS,
          expiresAtMs: EXPIRES_MS,
          payload: { body: 'x' },
        },
        {
          id: second,
          providerId,
          bytes: IMPORT_DATA.payload.length,
          notificationType: 20,
          createdAtMs: NOW_MS,
          expiresAtMs: EXPIRES_MS + 1,
          payload: JSON.parse(IMPORT_DATA.payload),
        },
      ]);
      expect(await inboxOf(store, a, EXPIRES_MS - 1)).toEqual([first, second, third]);
      expect(await inboxOf(store, a, EXPIRES_MS)).toEqual([second]);
      expect(await inboxOf(store, a, EXPIRES_MS + 1)).toEqual([]);
      const nothing = { messages: [], isCut: false };
      expect(await store.listInbox({ ...a, id: a.id + 1 }, NOW_MS, limits)).toEqual(nothing);
    });

    test('no more than fit, and whether some are left', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      for (const body of ['x', 'y', 'z']) {
        await deliver(store, providerId, { payload: JSON.stringify({ body }) });
      }
      const list = async (bytesMax: number) => {
        const { messages, isCut } = await store.listInbox(a, NOW_MS, { countMax: 9, bytesMax });
        return [messages.length, isCut];
      };
      const bytes = '{"body":"x"}'.length;
      expect(await list(bytes)).toEqual([1, true]);
      expect(await list(bytes + 1)).toEqual([2, true]);
      expect(await list(3 * bytes + 1)).toEqual([3, false]);
    });

    test('nothing of another device, or not sent yet, or blocked', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      await knock(store, 'b');
      const b = await holderOf(store, 'b');
      const id = await send(store, providerId, to('a'));
      await bringTo(store, id, 40);
      expect(await inboxOf(store, a)).toEqual([]);
      await store.sendRecipients(lease(id), WAITING_MAX, []);
      expect(await inboxOf(store, a)).toEqual([id]);
      expect(await inboxOf(store, b)).toEqual([]);
      await store.blockDistribution(id, [40], NOW_MS, ACT);
      expect(await inboxOf(store, a)).toEqual([]);
    });

    test('a device that nothing links to the provider any more reads nothing', async () => {
      const { store } = opened();
      const { providerId, installId, domainId } = await addInbox(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'b', OTHER_CODE);
      await checkIn(store, 'b', { providerCode: 'Provide2' });
      await checkIn(store, 'b');
      const a = await register(store, 'b', onBinding());
      await knock(store, 'b');
      const id = await deliver(store, providerId);
      await store.freeSlot(providerId, { installCode: null, installId }, 'b', ACT);
      expect(await inboxOf(store, a)).toEqual([id]);
      await store.disableDomain(providerId, domainId, ACT);
      expect(await inboxOf(store, a)).toEqual([]);
      await store.activateDomain(providerId, domainId, null, ACT);
      expect(await inboxOf(store, a)).toEqual([id]);
    });

    test('a device on two links of the provider stays the provider’s on the other', async () => {
      const { store } = opened();
      const { providerId, installId, a } = await addInbox(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await knock(store, 'a', OTHER_CODE);
      const id = await deliver(store, providerId);
      await store.freeSlot(providerId, { installCode: null, installId }, 'a', ACT);
      expect(await inboxOf(store, a)).toEqual([id]);
      await store.freeSlot(providerId, { installCode: OTHER_CODE, installId: null }, 'a', ACT);
      expect(await inboxOf(store, a)).toEqual([]);
    });

    test('what was sent to it although it is not linked, it may read', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await checkIn(store, 'unbound', { domainHash: null });
      const unbound = await holderOf(store, 'unbound');
      const id = await deliver(store, providerId, { ...IMPORT_DATA, ...to('unbound') });
      expect(await inboxOf(store, unbound)).toEqual([id]);
    });

    test('import-data to a device that was linked goes with the link', async () => {
      const { store } = opened();
      const { providerId, installId, a } = await addInbox(store);
      const id = await deliver(store, providerId, { ...IMPORT_DATA, ...to('a') });
      expect(await inboxOf(store, a)).toEqual([id]);
      await store.freeSlot(providerId, { installCode: null, installId }, 'a', ACT);
      expect(await inboxOf(store, a)).toEqual([]);
    });

    test('the place of nobody opens no more than what comes to it unbound, from then on', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await checkIn(store, 'u', { domainHash: null });
      const data = { ...IMPORT_DATA, ...to('u') };
      await deliver(store, providerId, data);
      // Accepted before, though sent after: it was not for whoever comes first now.
      const scheduled = await send(store, providerId, { ...data, ...at(NOW_MS + HOUR_MS) });
      const u = await register(store, 'u');
      const unbound = await deliver(store, providerId, data);
      await bringTo(store, scheduled, 100, { nowMs: NOW_MS + HOUR_MS });
      await knock(store, 'u');
      await deliver(store, providerId);
      expect(await inboxOf(store, u)).toEqual([unbound]);
    });

    test('a binding opens what its provider sends from then on, and is no other’s', async () => {
      const { store } = opened();
      const one = await addDoor(store);
      const two = await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a', OTHER_CODE);
      await checkIn(store, 'a');
      await deliver(store, one.providerId);
      const a = await register(store, 'a', onBinding());
      const open = await deliver(store, one.providerId);
      const foreign = await deliver(store, two.providerId);
      expect(await inboxOf(store, a)).toEqual([open]);
      const next = await register(store, 'a', onLink(OTHER_CODE), a);
      expect(await inboxOf(store, next)).toEqual([open, foreign]);
    });

    test('a link opens what was addressed since the HWID is on it, whatever the clock says', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      for (const stepMs of [0, HOUR_MS, -HOUR_MS]) {
        const hwid = `clock ${stepMs}`.replaceAll(' ', '-');
        await store.updateLink(providerId, installId, { installLimit: 100 }, ACT);
        await checkIn(store, hwid);
        await deliver(store, providerId, to(hwid));
        const own = { ...FACTS, deviceName: hwid };
        await knock(store, hwid, CODE, own, NOW_MS + stepMs);
        const open = await deliver(store, providerId, to(hwid));
        const registered = await store.registerDevice(
          registration(hwid, { shown: onLink(), nowMs: NOW_MS - stepMs }),
        );
        const { deviceId } = registered as { deviceId: number };
        const holder = { id: deviceId, tokenHash: tokenHash(hwid) };
        const later = await deliver(store, providerId, to(hwid));
        expect(await inboxOf(store, holder)).toEqual([open, later]);
      }
    });

    test('nothing for a token that was replaced, or with another device’s', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const id = await deliver(store, providerId);
      expect(await inboxOf(store, a)).toEqual([id]);
      await checkIn(store, 'b', { domainHash: null });
      const b = await register(store, 'b');
      expect(await inboxOf(store, { ...a, tokenHash: b.tokenHash })).toEqual([]);
      const kept = await register(store, 'a', NOTHING_SHOWN, a);
      expect(await inboxOf(store, a)).toEqual([]);
      expect(await inboxOf(store, kept)).toEqual([id]);
    });

    test('from several providers and none in the order in which it was addressed', async () => {
      const { store } = opened();
      const providers: number[] = [];
      let a: TokenHolder | null = null;
      for (const n of [1, 2, 3]) {
        const { providerId } = await addDoor(store, `Provide${n}`, `LinkCode000${n}`);
        a = await register(store, 'a', onLink(`LinkCode000${n}`), a);
        providers.push(providerId);
      }
      const strangers = [
        await addProvider(store, 'Strange1'),
        await addProvider(store, 'Strange2'),
      ];
      const ids: number[] = [];
      for (const round of [0, 1, 2]) {
        for (const providerId of providers) ids.push(await deliver(store, providerId, to('a')));
        for (const { id } of round === 1 ? strangers : strangers.toReversed()) {
          ids.push(await deliver(store, id, { ...IMPORT_DATA, ...to('a') }));
        }
      }
      expect(a && (await inboxOf(store, a))).toEqual(ids);
      expect(a && (await inboxOf(store, a, NOW_MS, 4))).toEqual(ids.slice(0, 4));
    });

    test('many from one provider come all, in the order in which they were addressed', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const ids: number[] = [];
      for (let i = 0; i < 45; i++) ids.push(await deliver(store, providerId, to('a')));
      expect(await inboxOf(store, a)).toEqual(ids);
    });

    test('what may not be read hides nothing that comes after it', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      for (let i = 0; i < 45; i++) {
        const id = await send(store, providerId, to('a'));
        await bringTo(store, id, 40);
        await store.sendRecipients(lease(id), WAITING_MAX, []);
        await store.blockDistribution(id, [40], NOW_MS, ACT);
      }
      const open = await deliver(store, providerId, to('a'));
      expect(await inboxOf(store, a)).toEqual([open]);
    });
  },

  acknowledge(opened) {
    const ledgerOf = async (id: number): Promise<Said> => {
      const {
        received,
        opened: shown,
        executed,
        refused,
      } = (await detailOf(opened().store, id)).totals;
      return { received, opened: shown, executed, refused };
    };
    const said = (received: number, shown: number, executed: number, refused: number): Said => ({
      received,
      opened: shown,
      executed,
      refused,
    });

    test('any word takes the message out of the inbox, and means that it was received', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const ids: number[] = [];
      for (const state of ['received', 'opened', 'executed', 'failed'] as const) {
        const id = await deliver(store, providerId);
        ids.push(id);
        await store.acknowledge(a, [{ id, state, detail: null }], NOW_MS);
        expect(await inboxOf(store, a)).toEqual([]);
        expect((await detailOf(store, id)).missing).toEqual([]);
      }
      expect(await Promise.all(ids.map(ledgerOf))).toEqual([
        said(1, 0, 0, 0),
        said(1, 1, 0, 0),
        said(1, 0, 1, 0),
        said(1, 0, 0, 1),
      ]);
    });

    test('several at once; in every order nothing is taken back, and twice is once', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      for (const order of permutations(['received', 'opened', 'executed', 'failed'])) {
        const id = await deliver(store, providerId);
        let before = await ledgerOf(id);
        for (const state of [...order, ...order]) {
          await store.acknowledge(a, [{ id, state, detail: state }], NOW_MS);
          const after = await ledgerOf(id);
          for (const name of WORDS) expect(after[name]).toBeGreaterThanOrEqual(before[name]);
          before = after;
        }
        // It was done or it was not: the first word about that stands.
        const isDone = order.indexOf('executed') < order.indexOf('failed');
        expect(before).toEqual(isDone ? said(1, 1, 1, 0) : said(1, 1, 0, 1));
      }
      const both = [await deliver(store, providerId), await deliver(store, providerId)];
      const items = both.map((id) => ({ id, state: 'received', detail: null }) as const);
      await store.acknowledge(a, items, NOW_MS);
      expect(await inboxOf(store, a)).toEqual([]);
      await store.acknowledge(a, [], NOW_MS);
    });

    test('passes over what the device was never sent', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      await knock(store, 'b');
      const foreign = await deliver(store, providerId, to('b'));
      const unsent = await send(store, providerId);
      await bringTo(store, unsent, 40);
      const items = [foreign, unsent, unsent + 1].map(
        (id) => ({ id, state: 'executed', detail: null }) as const,
      );
      await store.acknowledge(a, items, NOW_MS);
      for (const id of [foreign, unsent]) expect(await ledgerOf(id)).toEqual(said(0, 0, 0, 0));
      await bringTo(store, unsent, 100);
      expect(await inboxOf(store, a)).toEqual([unsent]);
    });

    test('passes over what the token may not read, and all with a dead token', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'u');
      const u = await register(store, 'u');
      const id = await deliver(store, providerId);
      const items = [{ id, state: 'received', detail: null }] as const;
      expect(await store.acknowledge(u, items, NOW_MS)).toEqual([]);
      const proven = await register(store, 'u', onLink(), u);
      expect(await store.acknowledge(u, items, NOW_MS)).toEqual([]);
      expect(await ledgerOf(id)).toEqual(said(0, 0, 0, 0));
      expect(await store.acknowledge(proven, items, NOW_MS)).toEqual([...items]);
      expect(await ledgerOf(id)).toEqual(said(1, 0, 0, 0));
    });

    test('says which words were new', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const id = await deliver(store, providerId);
      const word = (state: AckState) => ({ id, state, detail: null });
      const news = async (...states: AckState[]) =>
        (await store.acknowledge(a, states.map(word), NOW_MS)).map(({ state }) => state);
      expect(await news('received', 'received', 'opened')).toEqual(['received', 'opened']);
      expect(await news('received', 'opened')).toEqual([]);
      expect(await news('executed', 'failed')).toEqual(['executed']);
      expect(await news('failed', 'executed')).toEqual([]);
    });

    test('a command that failed is not executed later', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const id = await deliver(store, providerId);
      const failed = { id, state: 'failed', detail: 'no room' } as const;
      expect(await store.acknowledge(a, [failed], NOW_MS)).toEqual([failed]);
      expect(await store.acknowledge(a, [{ ...failed, state: 'executed' }], NOW_MS)).toEqual([]);
    });

    test('a late word counts, but does not bring an expired message back', async () => {
      const { store } = opened();
      const { providerId, a } = await addInbox(store);
      const id = await deliver(store, providerId);
      while ((await store.expireRecipients(EXPIRES_MS)) !== null);
      await store.acknowledge(a, [{ id, state: 'received', detail: null }], EXPIRES_MS);
      expect((await detailOf(store, id)).totals).toMatchObject({ expired: 1, received: 1 });
      expect(await inboxOf(store, a)).toEqual([]);
    });
  },
};

function permutations(states: readonly AckState[]): AckState[][] {
  if (states.length === 0) return [[]];
  return states.flatMap((state) =>
    permutations(states.filter((other) => other !== state)).map((rest) => [state, ...rest]),
  );
}
