import { expect, test } from 'bun:test';
import type { ProviderKeyStore } from '../../../src/core/port/provider-key.ts';
import type { SessionStore } from '../../../src/core/port/session.ts';
import { hashKey, keyFingerprint } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { addAccount, deedsIn, secretDraft, sessionDraft } from './account-fixture.ts';
import { addProvider, NOW_MS, type Suite } from './fixture.ts';
import { listening } from './happening.ts';

const keyHash = hashKey('a main key');

export const sessionContract: Record<keyof (SessionStore & ProviderKeyStore), Suite> = {
  openSession(opened) {
    test('notes the sign-in; the longest unused ones end beyond so many', async () => {
      const { store } = opened();
      const accountId = await addAccount(store, 'anna');
      for (const [n, token] of ['1', '2', '3'].entries()) {
        const draft = { ...sessionDraft(token, accountId), createdAtMs: NOW_MS + n };
        await store.openSession(draft, ACT);
      }
      const first = await store.findSession(hashKey('1'));
      await store.touchSession(first?.id ?? 0, NOW_MS + 9, NOW_MS + 2_000);
      await store.openSession({ ...sessionDraft('4', accountId), createdAtMs: NOW_MS + 10 }, ACT);
      const left = await Promise.all(
        ['1', '2', '3', '4'].map((n) => store.findSession(hashKey(n))),
      );
      expect(left.map((one) => one !== null)).toEqual([true, false, true, true]);
      expect(await store.readAccount(accountId)).toMatchObject({ signedInAtMs: NOW_MS + 10 });
      expect((await deedsIn(store)).filter((deed) => deed.startsWith('session.open'))).toHaveLength(
        4,
      );
    });
  },

  findSession(opened) {
    test('at every node, with the key that opened it', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const owner = { accountId: null, providerId, keyHash };
      const { countMax, tokenHash, ...draft } = { ...sessionDraft('token', 0), owner };
      await store.openSession({ countMax, tokenHash, ...draft }, ACT);
      const { owner: _, ...rest } = draft;
      expect(await beside.findSession(tokenHash)).toEqual({
        id: expect.any(Number),
        ...rest,
        ...owner,
        seenAtMs: NOW_MS,
        providerCode: 'Provide1',
      });
      expect(await store.findSession(hashKey('other'))).toBeNull();
    });
  },

  touchSession(opened) {
    test('moves its end', async () => {
      const { store } = opened();
      const accountId = await addAccount(store, 'anna');
      const { id } = await store.openSession(sessionDraft('token', accountId), ACT);
      await store.touchSession(id, NOW_MS + 1, NOW_MS + 2);
      expect(await store.findSession(hashKey('token'))).toMatchObject({
        seenAtMs: NOW_MS + 1,
        untilMs: NOW_MS + 2,
      });
    });
  },

  listSessions(opened) {
    test('of an account, or of a provider that has its key', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const accountId = await addAccount(store, 'anna', { providerId, role: 'owner' });
      const owner = { accountId: null, providerId, keyHash };
      const a = await store.openSession(sessionDraft('a', accountId), ACT);
      const b = await store.openSession({ ...sessionDraft('b', 0), owner }, ACT);
      expect(await store.listSessions({ accountId, providerId: null })).toMatchObject([a]);
      expect(await store.listSessions({ accountId: null, providerId })).toMatchObject([b]);
    });
  },

  endSession(opened) {
    test("the owner's own", async () => {
      const { store } = opened();
      const [anna, boris] = [await addAccount(store, 'anna'), await addAccount(store, 'boris')];
      const { id } = await store.openSession(sessionDraft('token', anna), ACT);
      const of = (accountId: number) => ({ accountId, providerId: null });
      expect(await store.endSession(of(boris), id, ACT)).toBe(false);
      expect(await store.endSession(of(anna), id, ACT)).toBe(true);
      expect(await store.findSession(hashKey('token'))).toBeNull();
    });
  },

  endSessions(opened) {
    test('all but one, or all', async () => {
      const { store } = opened();
      const accountId = await addAccount(store, 'anna');
      const { id } = await store.openSession(sessionDraft('a', accountId), ACT);
      await store.openSession(sessionDraft('b', accountId), ACT);
      const owner = { accountId, providerId: null };
      expect(await store.endSessions(owner, id, ACT)).toBe(1);
      expect(await store.endSessions(owner, null, ACT)).toBe(1);
      expect(await store.endSessions(owner, null, ACT)).toBe(0);
    });
  },

  addOneTime(opened) {
    test('up to so many that are good; those that are over do not count', async () => {
      const { store } = opened();
      const add = (secret: string, nowMs: number) =>
        store.addOneTime(secretDraft(secret, { nowMs, untilMs: nowMs + 10 }), ACT);
      for (const n of ['1', '2', '3']) expect(await add(n, NOW_MS)).toBe('ok');
      expect(await add('4', NOW_MS)).toBe('one_time_limit_reached');
      expect(await add('4', NOW_MS + 10)).toBe('ok');
    });

    test('of each kind and place its own number', async () => {
      const { store } = opened();
      const { id: one } = await addProvider(store, 'Provide1');
      const { id: other } = await addProvider(store, 'Provide2');
      const add = (secret: string, providerId: number | null, kind = 'invitation' as const) =>
        store.addOneTime(secretDraft(secret, { kind, providerId, role: 'owner' }), ACT);
      for (const place of [one, other, null]) {
        for (const n of [1, 2, 3]) expect(await add(`${place} ${n}`, place)).toBe('ok');
        expect(await add(`${place} 4`, place)).toBe('one_time_limit_reached');
      }
      expect(await store.addOneTime(secretDraft('an entry'), ACT)).toBe('ok');
    });
  },

  useChallenge(opened) {
    test('once, whichever node is asked, up to so many of an account', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      const [accountId, other] = [
        await addAccount(store, 'anna'),
        await addAccount(store, 'boris'),
      ];
      const use = (of: typeof store, secret: string, account = accountId, nowMs = NOW_MS) =>
        of.useChallenge({
          secretHash: hashKey(secret),
          accountId: account,
          untilMs: nowMs + 10,
          nowMs,
          countMax: 2,
        });
      const used = await Promise.all([use(store, 'a'), use(beside, 'a'), use(store, 'a')]);
      expect(used.filter((one) => one)).toHaveLength(1);
      expect(await use(store, 'b')).toBe(true);
      expect(await use(store, 'c')).toBe(false);
      expect(await use(store, 'c', other)).toBe(true);
      expect(await use(store, 'd', accountId, NOW_MS + 10)).toBe(true);
    });
  },

  readSigningKey(opened) {
    test('that is the same at all nodes', async () => {
      const { store, openBeside } = opened();
      const key = await store.readSigningKey();
      expect(key).toHaveLength(32);
      const beside = await openBeside();
      expect(Buffer.from(await beside.readSigningKey())).toEqual(Buffer.from(key));
    });
  },

  findOneTime(opened) {
    test('of its kind, until its time is over', async () => {
      const { store } = opened();
      await store.addOneTime(secretDraft('secret'), ACT);
      const hash = hashKey('secret');
      const found = { kind: 'entry', accountId: null, providerId: null, role: null } as const;
      const secret = { ...found, untilMs: NOW_MS + 1_000 };
      expect(await store.findOneTime('entry', hash, NOW_MS)).toEqual(secret);
      expect(await store.findOneTime('invitation', hash, NOW_MS)).toBeNull();
      expect(await store.findOneTime('entry', hash, NOW_MS + 1_000)).toBeNull();
    });
  },

  takeOneTime(opened) {
    test('once, whichever node is asked', async () => {
      const { store, openBeside } = opened();
      const beside = await openBeside();
      await store.addOneTime(secretDraft('secret'), ACT);
      const take = (of: typeof store) => of.takeOneTime('entry', hashKey('secret'), NOW_MS);
      const taken = await Promise.all([take(store), take(beside), take(store)]);
      expect(taken.filter((one) => one !== null)).toHaveLength(1);
    });
  },

  forgetSessions(opened) {
    test('those that are over, and secrets too', async () => {
      const { store } = opened();
      const accountId = await addAccount(store, 'anna');
      await store.openSession(sessionDraft('token', accountId), ACT);
      await store.addOneTime(secretDraft('secret'), ACT);
      expect(await store.forgetSessions(NOW_MS + 999)).toBe(false);
      expect(await store.findSession(hashKey('token'))).not.toBeNull();
      expect(await store.forgetSessions(NOW_MS + 1_000)).toBe(true);
      expect(await store.findSession(hashKey('token'))).toBeNull();
      expect(await store.forgetSessions(NOW_MS + 1_000)).toBe(false);
    });
  },

  addKey(opened) {
    test('up to so many of a provider', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const draft = { providerId, name: 'bot', scope: 'links', createdAtMs: NOW_MS } as const;
      const add = (key: string) =>
        store.addKey({ ...draft, keyHash: hashKey(key), untilMs: null, countMax: 2 }, ACT);
      expect(await add('1')).toEqual({ id: expect.any(Number) });
      await add('2');
      expect(await add('3')).toBe('key_limit_reached');
      expect(await deedsIn(store)).toHaveLength(2);
    });
  },

  findKey(opened) {
    test("the provider's own", async () => {
      const { store } = opened();
      const [one, two] = [
        await addProvider(store, 'Provide1'),
        await addProvider(store, 'Provide2'),
      ];
      const key = { name: 'bot', scope: 'read', createdAtMs: NOW_MS, untilMs: 5 } as const;
      await store.addKey({ ...key, keyHash, providerId: one.id, countMax: 2 }, ACT);
      const found = { ...key, id: expect.any(Number), keyHash, firstUsedAtMs: null };
      expect(await store.findKey(one.id, keyHash)).toEqual(found);
      expect(await store.findKey(two.id, keyHash)).toBeNull();
    });
  },

  noteFirstUse(opened) {
    test('once, told to provider and operator, with the name of the key', async () => {
      const { store } = opened();
      const { told, toldOperator } = await listening(store);
      const provider = await store.findProvider('Provide1');
      const key = { name: 'bot', scope: 'cuts', createdAtMs: NOW_MS, untilMs: null } as const;
      const providerId = provider?.id ?? 0;
      const added = await store.addKey({ ...key, keyHash, providerId, countMax: 1 }, ACT);
      const id = typeof added === 'string' ? 0 : added.id;
      const use = (nowMs: number) =>
        store.noteFirstUse({ id: providerId, code: 'Provide1' }, { ...key, id, keyHash }, nowMs);
      await Promise.all([use(NOW_MS), use(NOW_MS)]);
      await use(NOW_MS + 1);
      expect(await store.findKey(providerId, keyHash)).toMatchObject({ firstUsedAtMs: NOW_MS });
      const of = { provider_code: 'Provide1', right: 'cuts', key_name: 'bot' };
      const data = { ...of, key: keyFingerprint(keyHash) };
      expect(await told()).toEqual([['key.first_use', data]]);
      expect(await toldOperator()).toEqual([['key.first_use', data]]);
    });

    test('not of a key that was removed', async () => {
      const { store } = opened();
      const { told, providerId } = await listening(store);
      const provider = { id: providerId, code: 'Provide1' };
      await store.noteFirstUse(provider, { id: 1, name: '', scope: 'ties', keyHash }, NOW_MS);
      expect(await told()).toEqual([]);
    });
  },

  listKeys(opened) {
    test('oldest first', async () => {
      const { store } = opened();
      const { id: providerId } = await addProvider(store, 'Provide1');
      const key = { providerId, scope: 'send', createdAtMs: NOW_MS, untilMs: null } as const;
      for (const name of ['b', 'a']) {
        await store.addKey({ ...key, name, keyHash: hashKey(name), countMax: 2 }, ACT);
      }
      expect(await store.listKeys(providerId)).toMatchObject([{ name: 'b' }, { name: 'a' }]);
    });
  },

  removeKey(opened) {
    test("the provider's own, once", async () => {
      const { store } = opened();
      const [one, two] = [
        await addProvider(store, 'Provide1'),
        await addProvider(store, 'Provide2'),
      ];
      const key = { name: 'bot', scope: 'read', createdAtMs: NOW_MS, untilMs: null } as const;
      const draft = { ...key, keyHash, providerId: one.id, countMax: 2 };
      const added = await store.addKey(draft, ACT);
      const id = typeof added === 'string' ? 0 : added.id;
      expect(await store.removeKey(two.id, id, ACT)).toBe(false);
      expect(await store.removeKey(one.id, id, ACT)).toBe(true);
      expect(await store.removeKey(one.id, id, ACT)).toBe(false);
      expect(await store.findKey(one.id, keyHash)).toBeNull();
    });
  },
};
