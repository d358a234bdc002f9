import { expect, test } from 'bun:test';
import type { RegistrationClaim } from '../../../src/core/message-store.ts';
import type { Store } from '../../../src/core/store.ts';
import {
  addDoor,
  bind,
  CODE,
  FACTS,
  HASH,
  knock,
  NOW_MS,
  OTHER_CODE,
  OTHER_HASH,
  SILENCE,
  type Suite,
} from './fixture.ts';
import { checkIn, registration, tokenHash } from './message-fixture.ts';

type Method = 'findRegistration' | 'registerDevice' | 'findDeviceByToken';

const NOTHING_SHOWN: Omit<RegistrationClaim, 'hwid'> = {
  tokenHash: null,
  installCode: null,
  domainHash: null,
  providerCode: null,
};
const UNKNOWN = {
  tokenHash: null,
  unprovenFromMs: null,
  isLinked: false,
  isOnClaimedLink: false,
  isOnClaimedBinding: false,
};

export const registrationContract: Record<Method & keyof Store, Suite> = {
  findRegistration(opened) {
    const facts = (hwid: string, shown: Partial<RegistrationClaim> = {}) =>
      opened().store.findRegistration({ ...NOTHING_SHOWN, hwid, ...shown });
    const onLink = { installCode: CODE, domainHash: HASH };
    const onBinding = { providerCode: 'Provide1', domainHash: HASH };

    test('nothing of a HWID that nobody knows', async () => {
      await addDoor(opened().store);
      expect(await facts('a')).toEqual(UNKNOWN);
      expect(await facts('a', onLink)).toEqual(UNKNOWN);
      expect(await facts('a', onBinding)).toEqual(UNKNOWN);
    });

    test('the token in force, and since when it is unproven', async () => {
      const { store } = opened();
      await store.registerDevice(registration('a', { unprovenFromMs: NOW_MS - 1 }));
      const { tokenHash: kept, ...rest } = await facts('a');
      expect(Buffer.from(kept ?? [])).toEqual(Buffer.from(tokenHash('a')));
      expect(rest).toMatchObject({ unprovenFromMs: NOW_MS - 1, isLinked: false });
      expect(await facts('A')).toEqual(UNKNOWN);
    });

    test('a link that it is on, with an active binding of the same provider', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      const foreign = await store.findProvider('Provide2');
      await bind(store, foreign?.id ?? 0, OTHER_HASH);
      await knock(store, 'a');
      expect(await facts('a')).toEqual({ ...UNKNOWN, isLinked: true });
      const shown = { ...UNKNOWN, isLinked: true, isOnClaimedLink: true };
      expect(await facts('a', onLink)).toEqual(shown);
      for (const wrong of [
        { ...onLink, installCode: OTHER_CODE },
        { ...onLink, domainHash: OTHER_HASH },
        { ...onLink, domainHash: null },
        { ...onLink, installCode: CODE.toLowerCase() },
        onBinding,
      ]) {
        expect(await facts('a', wrong)).toEqual({ ...UNKNOWN, isLinked: true });
      }
      await store.disableDomain(providerId, domainId);
      expect(await facts('a', onLink)).toEqual({ ...UNKNOWN, isLinked: true });
    });

    test('a disabled link proves nothing, a slot that was freed neither', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await knock(store, 'a');
      await store.updateInstall(providerId, installId, { status: 5 });
      expect(await facts('a', onLink)).toEqual({ ...UNKNOWN, isLinked: true });
      await store.updateInstall(providerId, installId, { status: 10 });
      await store.freeSlot(providerId, { installCode: null, installId }, 'a');
      expect(await facts('a', onLink)).toEqual(UNKNOWN);
    });

    test('a binding that it is linked through, while that is active', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await checkIn(store, 'a');
      await checkIn(store, 'seen', { domainHash: null });
      const shown = { ...UNKNOWN, isLinked: true, isOnClaimedBinding: true };
      expect(await facts('a', onBinding)).toEqual(shown);
      // The link of the same provider is not one that it is on.
      expect(await facts('a', onLink)).toEqual({ ...UNKNOWN, isLinked: true });
      expect(await facts('a', { ...onBinding, providerCode: 'Provide2' })).toEqual({
        ...UNKNOWN,
        isLinked: true,
      });
      expect(await facts('seen', onBinding)).toEqual(UNKNOWN);
      await store.disableDomain(providerId, domainId);
      expect(await facts('a', onBinding)).toEqual(UNKNOWN);
    });
  },

  registerDevice(opened) {
    test('a new device becomes known, with its token', async () => {
      const { store } = opened();
      const push = { gateway: 'webpush', token: { endpoint: 'https://push.example/1' } } as const;
      const wanted = registration('a', { locale: 'ru', push });
      const registered = await store.registerDevice(wanted);
      const id = typeof registered === 'string' ? 0 : registered.deviceId;
      expect(await store.findDeviceByToken(tokenHash('a'))).toEqual({ id, hwid: 'a' });
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
      const wanted = registration('a', { facts, nowMs: NOW_MS + 1 });
      expect(await store.registerDevice(wanted)).toEqual({ deviceId: before?.id ?? 0 });
      expect(await store.findTargets(providerId, ['a'])).toEqual([before ?? null]);
      expect((await store.findDevice('a'))?.device).toMatchObject({
        ...FACTS,
        osVersion: '16',
        firstSeenAtMs: NOW_MS,
        lastSeenAtMs: NOW_MS + 1,
      });
    });

    test('a new token replaces the one it names; the old one is dead', async () => {
      const { store } = opened();
      const first = await store.registerDevice(registration('a', { unprovenFromMs: NOW_MS }));
      const again = registration('a', {
        tokenHash: tokenHash('new'),
        replacesTokenHash: tokenHash('a'),
      });
      expect(await store.registerDevice(again)).toEqual(first);
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
      expect(await store.findDeviceByToken(tokenHash('new'))).toMatchObject({ hwid: 'a' });
      const found = await store.findRegistration({ ...NOTHING_SHOWN, hwid: 'a' });
      expect(found.unprovenFromMs).toBeNull();
    });

    test('refuses when another token is in force by now, which then stays', async () => {
      const { store } = opened();
      await store.registerDevice(registration('a', { unprovenFromMs: NOW_MS }));
      const found = await store.findRegistration({ ...NOTHING_SHOWN, hwid: 'a' });
      for (const replacesTokenHash of [null, tokenHash('older')]) {
        const late = registration('a', {
          tokenHash: tokenHash('late'),
          replacesTokenHash,
        });
        expect(await store.registerDevice(late)).toBe('registration_refused');
        expect(await store.findRegistration({ ...NOTHING_SHOWN, hwid: 'a' })).toEqual(found);
      }
      expect(await store.findDeviceByToken(tokenHash('late'))).toBeNull();
      expect(await store.findDeviceByToken(tokenHash('a'))).toMatchObject({ hwid: 'a' });
    });

    test.failing('what is refused changes no fact of a known device', async () => {
      const { store } = opened();
      await store.registerDevice(registration('a'));
      const before = await store.findDevice('a');
      const late = registration('a', {
        tokenHash: tokenHash('late'),
        facts: { ...FACTS, deviceName: 'of somebody else' },
        nowMs: NOW_MS + 1,
      });
      expect(await store.registerDevice(late)).toBe('registration_refused');
      expect(await store.findDevice('a')).toEqual(before);
    });

    test.failing('what is refused makes no device known: it was forgotten meanwhile', async () => {
      const { store } = opened();
      const late = registration('a', { replacesTokenHash: tokenHash('a') });
      expect(await store.registerDevice(late)).toBe('registration_refused');
      expect(await store.findDevice('a')).toBeNull();
    });

    test('of many at once, over two connections, exactly one gets in', async () => {
      const { store, openBeside } = opened();
      const beside = openBeside();
      const words = Array.from({ length: 12 }, (_, i) => `word ${i}`);
      const answers = await Promise.all(
        words.map((word, i) =>
          (i % 2 === 0 ? store : beside).registerDevice(
            registration('a', { tokenHash: tokenHash(word) }),
          ),
        ),
      );
      expect(answers.filter((answer) => answer === 'registration_refused')).toHaveLength(11);
      const owners = await Promise.all(
        words.map((word) => store.findDeviceByToken(tokenHash(word))),
      );
      const winner = answers.findIndex((answer) => typeof answer === 'object');
      expect(owners.map((owner) => owner !== null)).toEqual(words.map((_, i) => i === winner));
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
      expect(await store.forgetDevice('a')).toBe('ok');
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
      // Known again, it has no token.
      await store.registerDevice(registration('a', { tokenHash: tokenHash('new') }));
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
    });
  },
};
