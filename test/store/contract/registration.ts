import { expect, test } from 'bun:test';
import type { TokenHolder } from '../../../src/core/port/inbox.ts';
import type { NewRegistration, Shown } from '../../../src/core/port/registration.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
  CODE,
  FACTS,
  knock,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  removeProvider,
  SILENCE,
  type Suite,
} from './fixture.ts';
import {
  checkIn,
  deliver,
  inboxOf,
  NOTHING_SHOWN,
  onBinding,
  onLink,
  register,
  registration,
  to,
  tokenHash,
} from './message-fixture.ts';

type Method =
  | 'registerDevice'
  | 'findDeviceByToken'
  | 'findShownLink'
  | 'listPushAddresses'
  | 'noteStream';

const REFUSED = 'registration_refused';

/** What somebody gets who shows this and no token: a good token, or the refusal. */
async function attempt(store: Store, hwid: string, shown: Shown, held: TokenHolder | null = null) {
  const hash = tokenHash(crypto.randomUUID());
  const more = { shown, tokenHash: hash, heldTokenHash: held?.tokenHash ?? null };
  const registered = await store.registerDevice(registration(hwid, more));
  return typeof registered === 'string' ? registered : { id: registered.deviceId, tokenHash: hash };
}

const isGood = async (store: Store, { tokenHash: hash }: TokenHolder) =>
  (await store.findDeviceByToken(hash)) !== null;

export const registrationContract: Record<Method & keyof Store, Suite> = {
  registerDevice(opened) {
    test('a new device becomes known, with its token', async () => {
      const { store } = opened();
      const push = {
        gateway: 'webpush',
        token: { endpoint: 'https://push.example/1', keys: {} },
      } as const;
      const wanted = registration('a', { locale: 'ru', push });
      const registered = await store.registerDevice(wanted);
      const id = typeof registered === 'string' ? 0 : registered.deviceId;
      expect(await store.findDeviceByToken(tokenHash('a'))).toMatchObject({ id, hwid: 'a' });
      expect((await store.findDevice('a'))?.device).toMatchObject({
        hwid: 'a',
        ...FACTS,
        firstSeenAtMs: NOW_MS,
        lastSeenAtMs: NOW_MS,
      });
    });

    test('a known one keeps its id and slots; silence erases no fact', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await knock(store, 'a');
      const [before] = await store.findTargets(providerId, ['a']);
      const facts = { ...SILENCE, osVersion: '16' };
      const wanted = registration('a', { shown: onLink(), facts, nowMs: NOW_MS + 1 });
      expect(await store.registerDevice(wanted)).toEqual({ deviceId: before?.id ?? 0 });
      expect(await store.findTargets(providerId, ['a'])).toEqual([
        before ? { ...before, isReachable: true } : null,
      ]);
      expect((await store.findDevice('a'))?.device).toMatchObject({
        ...FACTS,
        osVersion: '16',
        firstSeenAtMs: NOW_MS,
        lastSeenAtMs: NOW_MS + 1,
      });
    });

    test('refuses a link or binding that is not good, and changes nothing', async () => {
      const { store } = opened();
      const { providerId, installId, domainId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE, installLimit: 1 });
      await knock(store, 'b', OTHER_CODE);
      const refusal = (shown: Shown) => attempt(store, 'a', shown);
      expect(await refusal(onLink(CODE.toLowerCase()))).toBe('link_not_found');
      expect(await refusal(onLink(CODE, OTHER_HASH))).toBe('link_domain_not_bound');
      expect(await refusal(onLink(OTHER_CODE))).toBe('link_limit_reached');
      expect(await refusal(onBinding('Nobody00'))).toBe('provider_not_found');
      expect(await refusal(onBinding('Provide1', OTHER_HASH))).toBe('domain_not_bound');
      expect(await refusal({ kind: 'nothing', providerCode: 'Nobody00' })).toBe(
        'provider_not_found',
      );
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      expect(await refusal(onLink())).toBe('link_disabled');
      await store.disableDomain(providerId, domainId, ACT);
      expect(await refusal(onLink())).toBe('link_domain_not_bound');
      expect(await refusal(onBinding())).toBe('domain_not_bound');
      expect(await store.findDevice('a')).toBeNull();
    });

    test('takes a slot as the link’s door does, once', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      const a = await register(store, 'a', onLink());
      await register(store, 'a', onLink(), a);
      const page = { id: installId, beforeId: null, countMax: 1 };
      expect(await store.listLinksOf(providerId, page)).toMatchObject([{ deviceCount: 1 }]);
    });

    test('frees a slot as the link’s door does, and notes that its own was seen', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid, CODE, FACTS, NOW_MS - 1);
      const shown = { shown: onLink() };
      expect(await store.registerDevice(registration('c', shown))).toBe('link_limit_reached');
      const change = { whenFull: 'replace-oldest' } as const;
      await store.updateLink(providerId, installId, change, ACT);
      await register(store, 'c', onLink());
      expect(await store.registerDevice(registration('a', shown))).toBe('link_limit_reached');
      await register(store, 'b', onLink());
      const selector = { installCode: CODE, installId: null };
      expect(await store.listSlots(providerId, selector, null, 9)).toMatchObject([
        { hwid: 'c', lastSeenAtMs: NOW_MS },
        { hwid: 'b', registeredAtMs: NOW_MS - 1, lastSeenAtMs: NOW_MS },
      ]);
    });

    test('a token elsewhere proves nothing at a provider that is only named', async () => {
      const { store } = opened();
      await addDoor(store);
      const unattached = await register(store, 'a');
      await register(store, 'a', onLink());
      const shown = { kind: 'nothing', providerCode: 'Provide1' } as const;
      const facts = { ...FACTS, os: 'ios', osVersion: '18' };
      const more = { shown, facts, heldTokenHash: unattached.tokenHash };
      await store.registerDevice(registration('a', more));
      expect((await store.findDevice('a'))?.seenBy).toMatchObject([
        { providerCode: 'Provide1', os: FACTS.os, osVersion: '18' },
      ]);
    });

    test('a token that is shown dies; the new one has all that it had', async () => {
      const { store } = opened();
      const one = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      const first = await register(store, 'a', onLink());
      const second = await register(store, 'a', onLink(OTHER_CODE), first);
      expect(await isGood(store, first)).toBe(false);
      const id = await deliver(store, one.providerId);
      expect(await inboxOf(store, second)).toEqual([id]);
      const third = await register(store, 'a', NOTHING_SHOWN, second);
      expect(await isGood(store, second)).toBe(false);
      expect(await inboxOf(store, third)).toEqual([id]);
    });

    test('a token of another HWID is as good as none', async () => {
      const { store } = opened();
      await register(store, 'a');
      const b = await register(store, 'b');
      expect(await attempt(store, 'a', NOTHING_SHOWN, b)).toBe(REFUSED);
      expect(await isGood(store, b)).toBe(true);
    });

    test('what is gained without a token leaves the other token its other places', async () => {
      const { store } = opened();
      const one = await addDoor(store);
      const two = await addDoor(store, 'Provide2', OTHER_CODE);
      const first = await register(store, 'a', onLink());
      await register(store, 'a', onLink(OTHER_CODE), first);
      const both = await register(store, 'a', onLink(), null);
      expect(await isGood(store, first)).toBe(false);
      const [ofOne, ofTwo] = [
        await deliver(store, one.providerId),
        await deliver(store, two.providerId),
      ];
      expect(await inboxOf(store, both)).toEqual([ofOne]);
      const other = await register(store, 'a', onLink(OTHER_CODE));
      expect(await inboxOf(store, other)).toEqual([ofTwo]);
      expect(await inboxOf(store, both)).toEqual([ofOne]);
    });

    test('a token that lost its last place is dead', async () => {
      const { store } = opened();
      await addDoor(store);
      const squatter = await register(store, 'a');
      const first = await register(store, 'a', onLink());
      const again = await register(store, 'a', onLink());
      expect(await isGood(store, squatter)).toBe(true);
      expect(await isGood(store, first)).toBe(false);
      expect(await isGood(store, again)).toBe(true);
      await removeProvider(store, 'Provide1');
      expect(await isGood(store, again)).toBe(false);
    });

    test('nobody’s place goes to whoever is first, and stays there', async () => {
      const { store } = opened();
      await addDoor(store);
      const a = await register(store, 'a');
      expect(await attempt(store, 'a', NOTHING_SHOWN)).toBe(REFUSED);
      expect(await attempt(store, 'a', { kind: 'nothing', providerCode: 'Provide1' })).toBe(
        REFUSED,
      );
      await register(store, 'a', onLink());
      expect(await isGood(store, a)).toBe(true);
      // Every registration takes it while it is free.
      const b = await register(store, 'b', onLink());
      expect(await attempt(store, 'b', NOTHING_SHOWN)).toBe(REFUSED);
      expect(await isGood(store, b)).toBe(true);
    });

    test('a link speaks if the HWID is on no other link of its provider for longer', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await knock(store, 'a', OTHER_CODE);
      await knock(store, 'a');
      expect(await attempt(store, 'a', onLink())).toBe(REFUSED);
      // Disabled, the first link counts all the same.
      const other = { installCode: OTHER_CODE, installId: null };
      await store.updateLink(providerId, installId + 1, { status: 5 }, ACT);
      expect(await attempt(store, 'a', onLink())).toBe(REFUSED);
      await store.freeSlot(providerId, other, 'a', ACT);
      const a = await register(store, 'a', onLink());
      await store.updateLink(providerId, installId + 1, { status: 10 }, ACT);
      // Beside the token it is a link like any other, and takes a slot.
      const kept = await register(store, 'a', onLink(OTHER_CODE), a);
      expect((await store.findDevice('a'))?.installs).toHaveLength(2);
      expect(await attempt(store, 'a', onLink(OTHER_CODE))).toBe(REFUSED);
      expect(await isGood(store, kept)).toBe(true);
    });

    test('a link takes the place back from another link', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      const first = await register(store, 'a', onLink(OTHER_CODE));
      const id = await deliver(store, providerId);
      const again = await register(store, 'a', onLink(OTHER_CODE));
      expect(await inboxOf(store, again)).toEqual([id]);
      expect(await inboxOf(store, first)).toEqual([]);
    });

    test('a link takes no place of a binding that is older than the slot', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const a = await register(store, 'a', onBinding());
      expect(await attempt(store, 'a', onLink())).toBe(REFUSED);
      expect((await store.findDevice('a'))?.installs).toEqual([]);
      const kept = await register(store, 'a', onLink(), a);
      const id = await deliver(store, providerId);
      // From now on it is as if the link had been shown at first.
      const reinstalled = await register(store, 'a', onLink());
      expect(await inboxOf(store, reinstalled)).toEqual([id]);
      expect(await inboxOf(store, kept)).toEqual([]);
    });

    test('a binding speaks for a HWID on no link of its provider', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a', OTHER_CODE);
      const a = await register(store, 'a', onBinding());
      expect(await attempt(store, 'a', onBinding())).toBe(REFUSED);
      await register(store, 'a', onBinding(), a);
      await knock(store, 'b');
      expect(await attempt(store, 'b', onBinding())).toBe(REFUSED);
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      expect(await attempt(store, 'b', onBinding())).toBe(REFUSED);
      await store.freeSlot(providerId, { installCode: CODE, installId: null }, 'b', ACT);
      expect(await attempt(store, 'b', onBinding())).toMatchObject({});
      expect((await store.findDevice('b'))?.domains).toHaveLength(1);
    });

    test('a binding opens nothing that was addressed before, however much that is', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await checkIn(store, 'a');
      for (let i = 0; i < 3; i++) await deliver(store, providerId, to('a'));
      const a = await register(store, 'a', onBinding());
      expect(await inboxOf(store, a)).toEqual([]);
      const id = await deliver(store, providerId, to('a'));
      expect(await inboxOf(store, a)).toEqual([id]);
    });

    test('a refusal changes no fact, slot or tie', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      await register(store, 'a', onLink());
      const before = await store.findDevice('a');
      const facts = { ...FACTS, deviceName: 'of somebody else' };
      for (const shown of [NOTHING_SHOWN, onLink(OTHER_CODE), onBinding()]) {
        const late = registration('a', {
          tokenHash: tokenHash('late'),
          shown,
          facts,
          nowMs: NOW_MS + 1,
        });
        expect(await store.registerDevice(late)).toBe(REFUSED);
        expect(await store.findDevice('a')).toEqual(before);
      }
    });

    test('facts go where the proof is, and to nobody else', async () => {
      const { store } = opened();
      await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a');
      const say = (deviceName: string, more: Partial<NewRegistration>) =>
        store.registerDevice(registration('a', { facts: { ...FACTS, deviceName }, ...more }));
      await say('at two', { shown: onLink(OTHER_CODE) });
      await say('to nobody', { heldTokenHash: tokenHash('a'), tokenHash: tokenHash('next') });
      const names = async () =>
        Object.fromEntries(
          (await store.findDevice('a'))?.seenBy.map((at) => [at.providerCode, at.deviceName]) ?? [],
        );
      expect(await names()).toEqual({ Provide1: FACTS.deviceName, Provide2: 'at two' });
      await knock(store, 'a', OTHER_CODE, SILENCE);
      expect(await names()).toEqual({ Provide1: FACTS.deviceName, Provide2: 'at two' });
    });

    test('what is sent to an unbound device before its place is taken, it never reads', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await checkIn(store, 'u', { domainHash: null });
      const data = {
        notificationType: 20,
        actionType: 'import-data',
        reachesUnbound: true,
        payload: '{"action_type":"import-data","input-data":"aGk="}',
        ...to('u'),
      } as const;
      await deliver(store, providerId, data);
      const u = await register(store, 'u');
      const id = await deliver(store, providerId, data);
      expect(await inboxOf(store, u)).toEqual([id]);
    });
  },

  listPushAddresses(opened) {
    test('those of a device that has tokens with one; nothing of one that nobody knows', async () => {
      const { store } = opened();
      expect(await store.listPushAddresses('a')).toBeNull();
      await addDoor(store);
      await knock(store, 'a');
      expect(await store.listPushAddresses('a')).toEqual([]);
      const push = { gateway: 'fcm', token: 'address' } as const;
      await store.registerDevice(registration('a', { push, locale: 'ru', shown: onLink() }));
      await store.registerDevice(registration('b', { push: { ...push, token: 'of b' } }));
      await addDoor(store, 'Provide2', OTHER_CODE);
      await register(store, 'a', onLink(OTHER_CODE));
      expect(await store.listPushAddresses('a')).toEqual([{ push, locale: 'ru' }]);
    });
  },

  noteStream(opened) {
    test('is kept through renewals, and is that of the one token', async () => {
      const { store } = opened();
      await addDoor(store);
      const shown = async ({ tokenHash: hash }: TokenHolder) => store.findDeviceByToken(hash);
      const a = await register(store, 'a', onLink());
      const b = await register(store, 'b', onLink());
      expect(await shown(a)).toMatchObject({ hasStream: 0 });
      await store.noteStream((await shown(a))?.tokenId ?? 0);
      expect(await shown(a)).toMatchObject({ hasStream: 1 });
      expect(await shown(b)).toMatchObject({ hasStream: 0 });
      expect(await shown(await register(store, 'a', onLink(), a))).toMatchObject({ hasStream: 1 });
      // A token that ended meanwhile is no fault.
      await store.noteStream(9_999);
    });
  },

  findShownLink(opened) {
    test('of the token that showed it alone, while the device has its slot', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const shown = async ({ tokenHash: hash }: TokenHolder) =>
        store.findShownLink((await store.findDeviceByToken(hash))?.tokenId ?? 0);
      // A HWID is no secret: by a binding alone, a token is of no link.
      await knock(store, 'a', CODE, FACTS, NOW_MS);
      const stranger = await register(store, 'a');
      expect(await shown(stranger)).toBeNull();
      const own = await register(store, 'a', onLink());
      const link = await store.findLink(CODE);
      expect(await shown(own)).toBe(link?.id ?? 0);
      expect(await shown(stranger)).toBeNull();
      expect(await store.findShownLink(9_999)).toBeNull();
      const install = { installCode: CODE, installId: null };
      await store.freeSlot(providerId, install, 'a', ACT);
      expect(await shown(own)).toBeNull();
    });
  },

  findDeviceByToken(opened) {
    test('whose token it is, while it is in force', async () => {
      const { store } = opened();
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
      await store.registerDevice(registration('a'));
      await store.registerDevice(registration('b'));
      expect(await store.findDeviceByToken(tokenHash('a'))).toMatchObject({ hwid: 'a' });
      expect(await store.findDeviceByToken(tokenHash('b'))).toMatchObject({ hwid: 'b' });
      expect(await store.findDeviceByToken(new Uint8Array(32))).toBeNull();
      expect(await store.forgetDevice('a', ACT)).toBe('ok');
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
      // Known again, it has no token.
      await store.registerDevice(registration('a', { tokenHash: tokenHash('new') }));
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
    });

    test('with a provider of its messages, or none', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const provider = async ({ tokenHash: hash }: TokenHolder) =>
        (await store.findDeviceByToken(hash))?.providerId;
      expect(await provider(await register(store, 'stranger'))).toBeNull();
      expect(await provider(await register(store, 'a', onLink()))).toBe(providerId);
    });

    test('seen when it was shown last, though its device was seen since', async () => {
      const { store } = opened();
      await addDoor(store);
      const { tokenHash: hash } = await register(store, 'a');
      await knock(store, 'a', CODE, FACTS, NOW_MS + 1);
      expect(await store.findDeviceByToken(hash)).toMatchObject({ lastSeenAtMs: NOW_MS });
    });

    test('its number stays through renewals, and is another’s for nobody', async () => {
      const { store } = opened();
      await addDoor(store);
      const numberOf = async ({ tokenHash: hash }: TokenHolder) =>
        (await store.findDeviceByToken(hash))?.tokenId;
      const squatter = await register(store, 'a');
      const own = await register(store, 'a', onLink());
      const number = await numberOf(own);
      expect(number).not.toBe(await numberOf(squatter));
      expect(await numberOf(await register(store, 'a', onLink(), own))).toBe(number ?? 0);
    });
  },
};
