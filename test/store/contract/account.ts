import { expect, test } from 'bun:test';
import type { AccountStore, NewPasskey } from '../../../src/core/port/account.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import {
  accountDraft,
  addAccount,
  deedsIn,
  OPERATOR,
  secretDraft,
  sessionDraft,
} from './account-fixture.ts';
import { addProvider, NOW_MS, removeProvider, type Suite } from './fixture.ts';

const passkeyDraft = (accountId: number, credentialId = 'credential'): NewPasskey => ({
  accountId,
  credentialId,
  publicKey: new Uint8Array([1, 2, 3]),
  signCount: 0,
  transports: ['internal', 'hybrid'],
  name: 'phone',
  createdAtMs: NOW_MS,
});

export const accountContract: Record<keyof AccountStore, Suite> = {
  addAccount(opened) {
    test('adds a name once, with a role at its place, up to so many there', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const grant = { providerId, role: 'owner' } as const;
      const draft = { ...accountDraft('anna', grant), countMax: 2 };
      expect(await store.addAccount(draft, ACT)).toEqual({ id: expect.any(Number), grant });
      expect(await store.addAccount(draft, ACT)).toBe('account_exists');
      expect(await store.addAccount(accountDraft('anna'), ACT)).toBe('account_exists');
      expect(await store.addAccount({ ...draft, name: 'boris' }, ACT)).toMatchObject({ grant });
      const third = { ...draft, name: 'clara' };
      expect(await store.addAccount(third, ACT)).toBe('account_limit_reached');
      expect(await store.addAccount(accountDraft('clara'), ACT)).toMatchObject({ grant: OPERATOR });
    });

    test('an invitation is used up by one account, with its role, and by no refused one', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      await addAccount(store, 'anna');
      const invited = { kind: 'invitation', providerId, role: 'sender' } as const;
      await store.addOneTime(secretDraft('secret', invited), ACT);
      const invitation = { secretHash: hashKey('secret'), nowMs: NOW_MS };
      const draft = (name: string) => ({ ...accountDraft(name), invitation });
      expect(await store.addAccount(draft('anna'), ACT)).toBe('account_exists');
      const late = { ...invitation, nowMs: NOW_MS + 1_000 };
      const tooLate = { ...draft('boris'), invitation: late };
      expect(await store.addAccount(tooLate, ACT)).toBe('invitation_used');
      const grant = { providerId, role: 'sender' } as const;
      expect(await store.addAccount(draft('boris'), ACT)).toMatchObject({ grant });
      expect(await store.addAccount(draft('clara'), ACT)).toBe('invitation_used');
    });

    test('names taken at two places at once go to one of them', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const added = await Promise.all([
        store.addAccount(accountDraft('anna'), ACT),
        beside.addAccount(accountDraft('anna', { providerId, role: 'owner' }), ACT),
      ]);
      expect(added.filter((one) => one === 'account_exists')).toHaveLength(1);
    });
  },

  findAccount(opened) {
    test('by its name', async () => {
      const { store } = opened();
      const id = await addAccount(store, 'anna');
      expect(await store.findAccount('anna')).toEqual({
        id,
        name: 'anna',
        passwordHash: null,
        totpSecret: null,
        totpSinceMs: null,
        totpStep: 0,
        recovery: [],
        createdAtMs: NOW_MS,
        signedInAtMs: null,
      });
      expect(await store.findAccount('boris')).toBeNull();
    });
  },

  readAccount(opened) {
    test('by its id', async () => {
      const { store } = opened();
      const id = await addAccount(store, 'anna');
      expect(await store.readAccount(id)).toEqual(await store.findAccount('anna'));
      expect(await store.readAccount(id + 1)).toBeNull();
    });
  },

  listGrants(opened) {
    test('names the providers; a removed provider takes its roles along', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const id = await addAccount(store, 'anna', { providerId, role: 'reader' });
      expect(await store.listGrants(id)).toEqual([
        { providerId, role: 'reader', providerCode: 'Provide1', providerName: 'name of Provide1' },
      ]);
      await removeProvider(store, 'Provide1');
      expect(await store.listGrants(id)).toEqual([]);
    });
  },

  listMembers(opened) {
    test('of the place, by name', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const boris = await addAccount(store, 'boris', { providerId, role: 'owner' });
      const anna = await addAccount(store, 'anna', { providerId, role: 'reader' });
      const chief = await addAccount(store, 'chief');
      await store.addPasskey(passkeyDraft(anna), 9, ACT);
      await store.setPassword(anna, 'a hash', null, ACT);
      expect(await store.listMembers(providerId)).toMatchObject([
        { id: anna, name: 'anna', role: 'reader', hasPassword: true, passkeyCount: 1 },
        { id: boris, name: 'boris', role: 'owner', hasPassword: false, hasTotp: false },
      ]);
      expect(await store.listMembers(null)).toMatchObject([{ id: chief, role: 'operator' }]);
    });
  },

  changeRole(opened) {
    test('at a place where the account has one, and never of the last with the highest', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const anna = await addAccount(store, 'anna', { providerId, role: 'owner' });
      const reader = { providerId, role: 'reader' } as const;
      expect(await store.changeRole(anna, OPERATOR, ACT)).toBe('account_not_found');
      expect(await store.changeRole(anna, reader, ACT)).toBe('last_of_role');
      const boris = await addAccount(store, 'boris', { providerId, role: 'sender' });
      expect(await store.changeRole(boris, { providerId, role: 'owner' }, ACT)).toBe('ok');
      expect(await store.changeRole(anna, reader, ACT)).toBe('ok');
      expect(await store.listGrants(anna)).toMatchObject([reader]);
      expect((await deedsIn(store)).filter((deed) => deed.includes('change-role'))).toHaveLength(2);
    });

    test('two owners who step down at once leave one of them', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const owner = { providerId, role: 'owner' } as const;
      const ids = [await addAccount(store, 'anna', owner), await addAccount(store, 'boris', owner)];
      const reader = { providerId, role: 'reader' } as const;
      const outcomes = await Promise.all([
        store.changeRole(ids[0] as number, reader, ACT),
        beside.changeRole(ids[1] as number, reader, ACT),
      ]);
      expect(outcomes.sort()).toEqual(['last_of_role', 'ok']);
    });
  },

  removeRole(opened) {
    test('the last operator keeps it; an account without a role is gone, with its sessions', async () => {
      const { store } = opened();
      const anna = await addAccount(store, 'anna');
      expect(await store.removeRole(anna, null, ACT)).toBe('last_of_role');
      const boris = await addAccount(store, 'boris');
      await store.openSession(sessionDraft('token', boris), ACT);
      expect(await store.removeRole(boris, null, ACT)).toBe('ok');
      expect(await store.removeRole(boris, null, ACT)).toBe('account_not_found');
      expect(await store.readAccount(boris)).toBeNull();
      expect(await store.findSession(hashKey('token'))).toBeNull();
    });
  },

  setPassword(opened) {
    test('ends the other sessions of the account', async () => {
      const { store } = opened();
      const [anna, boris] = [await addAccount(store, 'anna'), await addAccount(store, 'boris')];
      const { id } = await store.openSession(sessionDraft('own', anna), ACT);
      await store.openSession(sessionDraft('stolen', anna), ACT);
      await store.openSession(sessionDraft('of another', boris), ACT);
      expect(await store.setPassword(anna, 'a hash', id, ACT)).toBe(true);
      expect(await store.findAccount('anna')).toMatchObject({ passwordHash: 'a hash' });
      expect(await store.findSession(hashKey('own'))).toMatchObject({ id });
      expect(await store.findSession(hashKey('stolen'))).toBeNull();
      expect(await store.findSession(hashKey('of another'))).not.toBeNull();
      expect(await store.setPassword(anna + boris, null, null, ACT)).toBe(false);
    });
  },

  resetAccount(opened) {
    test('removes every way in, and what others have stays', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const owner = { providerId, role: 'owner' } as const;
      const ids = [await addAccount(store, 'anna', owner), await addAccount(store, 'boris')];
      const [anna = 0, boris = 0] = ids;
      for (const [n, accountId] of ids.entries()) {
        await store.setPassword(accountId, 'a hash', null, ACT);
        const factor = { totpSecret: new Uint8Array([1]), totpSinceMs: 1, recovery: ['aa'] };
        await store.setSecondFactor(accountId, factor, ACT);
        await store.addPasskey(passkeyDraft(accountId, `credential ${n}`), 9, ACT);
        await store.openSession(sessionDraft(`session ${n}`, accountId), ACT);
        await store.addOneTime(secretDraft(`entry ${n}`, { accountId }), ACT);
      }
      const invited = { kind: 'invitation', role: 'owner' } as const;
      await store.addOneTime(secretDraft('here', { ...invited, providerId }), ACT);
      await store.addOneTime(secretDraft('elsewhere', { ...invited, providerId: null }), ACT);
      const waysOf = async (n: number) => ({
        passkeys: (await store.listPasskeys(ids[n] ?? 0)).length,
        session: (await store.findSession(hashKey(`session ${n}`))) !== null,
        entry: (await store.findOneTime('entry', hashKey(`entry ${n}`), NOW_MS)) !== null,
      });
      const isOpen = async (secret: string) =>
        (await store.findOneTime('invitation', hashKey(secret), NOW_MS)) !== null;

      expect(await store.resetAccount(anna, ACT)).toBe(true);
      expect(await store.readAccount(anna)).toMatchObject({
        name: 'anna',
        passwordHash: null,
        totpSecret: null,
        totpSinceMs: null,
        recovery: [],
      });
      expect(await waysOf(0)).toEqual({ passkeys: 0, session: false, entry: false });
      expect(await isOpen('here')).toBe(false);
      expect(await store.listGrants(anna)).toMatchObject([owner]);

      expect(await store.readAccount(boris)).toMatchObject({
        passwordHash: 'a hash',
        totpSinceMs: 1,
      });
      expect(await waysOf(1)).toEqual({ passkeys: 1, session: true, entry: true });
      expect(await isOpen('elsewhere')).toBe(true);
      const noted = (await deedsIn(store)).slice(-4).map((deed) => deed.split(' ')[0]);
      expect(noted).toEqual([
        ...['account.set-password', 'account.set-second-factor'],
        ...['account.remove-passkey', 'session.end'],
      ]);
      expect(await store.resetAccount(anna + boris, ACT)).toBe(false);
    });
  },

  setSecondFactor(opened) {
    test('is noted when it comes into force or ends', async () => {
      const { store } = opened();
      const id = await addAccount(store, 'anna');
      const totpSecret = new Uint8Array([1, 2, 3]);
      const pending = { totpSecret, totpSinceMs: null, recovery: [] };
      expect(await store.setSecondFactor(id, pending, ACT)).toBe(true);
      expect(await deedsIn(store)).toHaveLength(1);
      const inForce = { totpSecret, totpSinceMs: NOW_MS, recovery: ['aa', 'bb'] };
      await store.setSecondFactor(id, inForce, ACT);
      expect(await store.readAccount(id)).toMatchObject(inForce);
      expect(await deedsIn(store)).toHaveLength(2);
      const none = { totpSecret: null, totpSinceMs: null, recovery: [] };
      await store.setSecondFactor(id, none, ACT);
      expect(await store.readAccount(id)).toMatchObject(none);
      expect(await deedsIn(store)).toHaveLength(3);
      expect(await store.setSecondFactor(id + 1, none, ACT)).toBe(false);
    });
  },

  useTotpStep(opened) {
    test('each step once, and none before the last', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const id = await addAccount(store, 'anna');
      const both = [store.useTotpStep(id, 7), beside.useTotpStep(id, 7)];
      expect((await Promise.all(both)).sort()).toEqual([false, true]);
      expect(await store.useTotpStep(id, 6)).toBe(false);
      expect(await store.useTotpStep(id, 8)).toBe(true);
    });
  },

  useRecoveryCode(opened) {
    test('each once', async () => {
      const { store } = opened();
      const id = await addAccount(store, 'anna');
      const factor = { totpSecret: new Uint8Array([1]), totpSinceMs: 1, recovery: ['aa', 'bb'] };
      await store.setSecondFactor(id, factor, ACT);
      expect(await store.useRecoveryCode(id, 'aa', ACT)).toBe(true);
      expect(await store.useRecoveryCode(id, 'aa', ACT)).toBe(false);
      expect(await store.readAccount(id)).toMatchObject({ recovery: ['bb'] });
    });
  },

  addPasskey(opened) {
    test('once, up to so many of an account', async () => {
      const { store } = opened();
      const id = await addAccount(store, 'anna');
      const draft = passkeyDraft(id);
      expect(await store.addPasskey(draft, 2, ACT)).toEqual({ id: expect.any(Number) });
      expect(await store.addPasskey(draft, 2, ACT)).toBe('passkey_exists');
      await store.addPasskey(passkeyDraft(id, 'second'), 2, ACT);
      expect(await store.addPasskey(passkeyDraft(id, 'third'), 2, ACT)).toBe(
        'passkey_limit_reached',
      );
    });
  },

  findPasskey(opened) {
    test('by the id that the browser gives', async () => {
      const { store } = opened();
      const accountId = await addAccount(store, 'anna');
      await store.addPasskey(passkeyDraft(accountId), 9, ACT);
      const found = { ...passkeyDraft(accountId), id: expect.any(Number), usedAtMs: null };
      expect(await store.findPasskey('credential')).toEqual(found);
      expect(await store.findPasskey('other')).toBeNull();
    });
  },

  listPasskeys(opened) {
    test('of the account', async () => {
      const { store } = opened();
      const [anna, boris] = [await addAccount(store, 'anna'), await addAccount(store, 'boris')];
      await store.addPasskey(passkeyDraft(anna), 9, ACT);
      expect(await store.listPasskeys(anna)).toMatchObject([passkeyDraft(anna)]);
      expect(await store.listPasskeys(boris)).toEqual([]);
    });
  },

  usePasskey(opened) {
    test('with a higher count each time, or none at all', async () => {
      const { store } = opened();
      await store.addPasskey(passkeyDraft(await addAccount(store, 'anna')), 9, ACT);
      const id = (await store.findPasskey('credential'))?.id ?? 0;
      expect(await store.usePasskey(id, 0, NOW_MS)).toBe(true);
      expect(await store.usePasskey(id, 5, NOW_MS)).toBe(true);
      expect(await store.usePasskey(id, 5, NOW_MS)).toBe(false);
      expect(await store.usePasskey(id, 0, NOW_MS)).toBe(false);
      expect(await store.findPasskey('credential')).toMatchObject({ signCount: 5 });
    });
  },

  renamePasskey(opened) {
    test("the account's own", async () => {
      const { store } = opened();
      const [anna, boris] = [await addAccount(store, 'anna'), await addAccount(store, 'boris')];
      await store.addPasskey(passkeyDraft(anna), 9, ACT);
      const id = (await store.findPasskey('credential'))?.id ?? 0;
      expect(await store.renamePasskey(boris, id, 'stolen', ACT)).toBe(false);
      expect(await store.renamePasskey(anna, id, 'laptop', ACT)).toBe(true);
      expect(await store.findPasskey('credential')).toMatchObject({ name: 'laptop' });
    });
  },

  removePasskey(opened) {
    test("the account's own", async () => {
      const { store } = opened();
      const [anna, boris] = [await addAccount(store, 'anna'), await addAccount(store, 'boris')];
      await store.addPasskey(passkeyDraft(anna), 9, ACT);
      const id = (await store.findPasskey('credential'))?.id ?? 0;
      expect(await store.removePasskey(boris, id, ACT)).toBe(false);
      expect(await store.removePasskey(anna, id, ACT)).toBe(true);
      expect(await store.removePasskey(anna, id, ACT)).toBe(false);
    });
  },
};
