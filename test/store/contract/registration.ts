import { expect, test } from 'bun:test';
import type { RegistrationClaim } from '../../../src/core/message-store.ts';
import type { Store } from '../../../src/core/store.ts';
import { ACT } from '../../support/actor.ts';
import {
  addDoor,
  addLink,
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
  installCode: null,
  domainHash: null,
  providerCode: null,
};
const UNKNOWN = {
  tokenHash: null,
  isLinked: false,
  hasProofs: false,
  link: null,
  binding: null,
};

export const registrationContract: Record<Method & keyof Store, Suite> = {
  findRegistration(opened) {
    const facts = (hwid: string, shown: Partial<RegistrationClaim> = {}) =>
      opened().store.findRegistration({ ...NOTHING_SHOWN, hwid, ...shown });
    const onLink = (installCode = CODE) => ({ installCode, domainHash: HASH });
    const onBinding = { providerCode: 'Provide1', domainHash: HASH };
    const tie = { sinceMs: null, speaks: true, isElder: false, proven: null };

    test('of a HWID that nobody knows, only the link or binding that it names', async () => {
      const { providerId } = await addDoor(opened().store);
      expect(await facts('a')).toEqual(UNKNOWN);
      expect(await facts('a', onLink())).toEqual({ ...UNKNOWN, link: { ...tie, providerId } });
      expect(await facts('a', onBinding)).toEqual({ ...UNKNOWN, binding: { ...tie, providerId } });
    });

    test('the token in force, of this HWID alone', async () => {
      const { store } = opened();
      await store.registerDevice(registration('a'));
      const { tokenHash: kept, ...rest } = await facts('a');
      expect(Buffer.from(kept ?? [])).toEqual(Buffer.from(tokenHash('a')));
      expect(rest).toMatchObject({ isLinked: false, hasProofs: false });
      expect(await facts('A')).toEqual(UNKNOWN);
    });

    test('no link or binding that is not good', async () => {
      const { store } = opened();
      const { providerId, installId, domainId } = await addDoor(store);
      const foreign = await addDoor(store, 'Provide2', OTHER_CODE);
      await bind(store, foreign.providerId, OTHER_HASH);
      await knock(store, 'a');
      const nothing = { ...UNKNOWN, isLinked: true };
      expect(await facts('a')).toEqual(nothing);
      for (const wrong of [
        { ...onLink(), domainHash: OTHER_HASH },
        { ...onLink(), domainHash: null },
        onLink(CODE.toLowerCase()),
        { ...onBinding, domainHash: OTHER_HASH },
        { ...onBinding, providerCode: 'Nobody00' },
      ]) {
        expect(await facts('a', wrong)).toEqual(nothing);
      }
      await store.updateInstall(providerId, installId, { status: 5 }, ACT);
      expect(await facts('a', onLink())).toEqual(nothing);
      await store.updateInstall(providerId, installId, { status: 10 }, ACT);
      expect((await facts('a', onLink())).link).toMatchObject({ sinceMs: NOW_MS });
      await store.disableDomain(providerId, domainId, ACT);
      expect(await facts('a', onLink())).toEqual(nothing);
      expect(await facts('a', onBinding)).toEqual(nothing);
    });

    test('of a provider’s links the one that has the HWID for longest speaks', async () => {
      const { store } = opened();
      const { providerId, installId } = await addDoor(store);
      await addLink(store, providerId, { installCode: OTHER_CODE });
      const foreign = await addDoor(store, 'Provide2', 'OtherLink001');
      await knock(store, 'a');
      await knock(store, 'a', 'OtherLink001', FACTS, NOW_MS + 1);
      const speaks = async (code: string) => (await facts('a', onLink(code))).link?.speaks;
      // Not on it yet, it does not speak either.
      expect(await speaks(OTHER_CODE)).toBe(false);
      await knock(store, 'a', OTHER_CODE, FACTS, NOW_MS + 2);
      expect(await facts('a', onLink(OTHER_CODE))).toEqual({
        ...UNKNOWN,
        isLinked: true,
        link: { ...tie, providerId, sinceMs: NOW_MS + 2, speaks: false },
      });
      expect(await speaks(CODE)).toBe(true);
      expect((await facts('a', onLink('OtherLink001'))).link).toMatchObject({
        providerId: foreign.providerId,
        sinceMs: NOW_MS + 1,
        speaks: true,
      });
      await store.updateInstall(providerId, installId, { status: 5 }, ACT);
      expect(await speaks(OTHER_CODE)).toBe(true);
      await store.updateInstall(providerId, installId, { status: 10 }, ACT);
      expect(await speaks(OTHER_CODE)).toBe(false);
      await store.freeSlot(providerId, { installCode: null, installId }, 'a', ACT);
      expect(await speaks(OTHER_CODE)).toBe(true);
    });

    test('the first link of all is elder than a token that came later', async () => {
      const { store } = opened();
      await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await knock(store, 'a');
      await knock(store, 'a', OTHER_CODE);
      const isElder = async (code: string) => (await facts('a', onLink(code))).link?.isElder;
      expect(await isElder(CODE)).toBe(false);
      await store.registerDevice(registration('a', { nowMs: NOW_MS }));
      expect([await isElder(CODE), await isElder(OTHER_CODE)]).toEqual([true, false]);
      await store.registerDevice(registration('b', { nowMs: NOW_MS - 1 }));
      await knock(store, 'b');
      expect((await facts('b', onLink())).link).toMatchObject({ speaks: true, isElder: false });
    });

    test('a binding speaks for what is on none of the provider’s links', async () => {
      const { store } = opened();
      const { providerId, domainId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      await checkIn(store, 'a');
      await knock(store, 'a', OTHER_CODE);
      expect(await facts('a', onBinding)).toEqual({
        ...UNKNOWN,
        isLinked: true,
        binding: { ...tie, providerId, sinceMs: NOW_MS },
      });
      await knock(store, 'a');
      expect((await facts('a', onBinding)).binding).toMatchObject({ speaks: false });
      await checkIn(store, 'b');
      await store.disableDomain(providerId, domainId, ACT);
      expect(await facts('b', onBinding)).toEqual(UNKNOWN);
    });

    test('what was shown with the token in force, to which provider', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await addDoor(store, 'Provide2', OTHER_CODE);
      const proven = async () => {
        const { hasProofs, link } = await facts('a', onLink());
        const foreign = (await facts('a', onLink(OTHER_CODE))).link;
        return [hasProofs, link?.proven, foreign?.proven];
      };
      const show = (by: 'link' | 'binding' | null, isContinued: boolean) =>
        store.registerDevice(
          registration('a', {
            replacesTokenHash: tokenHash('a'),
            proof: by && { providerId, by, fromMs: NOW_MS },
            isContinued,
          }),
        );
      await store.registerDevice(registration('a'));
      expect(await proven()).toEqual([false, null, null]);
      await show('binding', true);
      expect(await proven()).toEqual([true, 'binding', null]);
      await show('link', true);
      await show('binding', true);
      await show(null, true);
      expect(await proven()).toEqual([true, 'link', null]);
      await show(null, false);
      expect(await proven()).toEqual([false, null, null]);
    });
  },

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
      const first = await store.registerDevice(registration('a'));
      const again = registration('a', {
        tokenHash: tokenHash('new'),
        replacesTokenHash: tokenHash('a'),
      });
      expect(await store.registerDevice(again)).toEqual(first);
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
      expect(await store.findDeviceByToken(tokenHash('new'))).toMatchObject({ hwid: 'a' });
    });

    test('refuses when another token is in force by now, which then stays', async () => {
      const { store } = opened();
      await store.registerDevice(registration('a'));
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

    test('what is refused changes no fact of a known device', async () => {
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

    test('what is refused makes no device known: it was forgotten meanwhile', async () => {
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
      expect(await store.forgetDevice('a', ACT)).toBe('ok');
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
      // Known again, it has no token.
      await store.registerDevice(registration('a', { tokenHash: tokenHash('new') }));
      expect(await store.findDeviceByToken(tokenHash('a'))).toBeNull();
    });
  },
};
