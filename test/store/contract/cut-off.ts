import { expect, test } from 'bun:test';
import { BAR_MS, BARS_MAX, barHashOf } from '../../../src/core/bar.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import { CUTS_OF_LINK_MAX, CUTS_WAITING_MAX, FETCH_WAIT_MS } from '../../../src/core/cut-off.ts';
import { hwidOfHash } from '../../../src/core/formats.ts';
import type { CutEnd, CutOffStore } from '../../../src/core/port/cut-off.ts';
import { hwidHash, subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import {
  addKeyed,
  again,
  awaits,
  cutIn,
  cutWanted,
  DONE,
  HOST,
  KEY,
  LEASE_MS,
  lastDeeds,
  systemAt,
  withEvents,
} from './cut-fixture.ts';
import type { cutListContract } from './cut-list.ts';
import { CODE, knock, linkDraft, NOW_MS, OTHER_CODE, type Suite } from './fixture.ts';

type Attempts = Exclude<keyof CutOffStore, keyof typeof cutListContract>;

export const cutOffContract: Record<Attempts, Suite> = {
  findCutFacts(opened) {
    test('the key of a link, and what proved it', async () => {
      const { store } = opened();
      const { installId, providerId } = await addKeyed(store);
      const byId = { installCode: null, installId };
      const facts = { installId, providerCode: 'Provide1', keyHash: KEY, deviceCount: 2 };
      const nothing = { panelUser: null, facts: null, provedBy: [], followedBy: [] };
      expect(await store.findCutFacts(providerId, byId)).toMatchObject({ ...facts, ...nothing });
      await store.noteKeyProof(providerId, KEY, HOST, NOW_MS);
      const byCode = { installCode: CODE, installId: null };
      expect(await store.findCutFacts(providerId, byCode)).toMatchObject({ provedBy: [HOST] });
      expect(
        await store.findCutFacts(providerId, { installCode: CODE, installId: 999 }),
      ).toBeNull();
      expect(await store.findCutFacts(providerId + 1, byCode)).toBeNull();
    });
  },

  noteKeyProof(opened) {
    test('a proof is of the present key of the own link', async () => {
      const { store } = opened();
      const { installId, providerId } = await addKeyed(store);
      const by = async () =>
        (await store.findCutFacts(providerId, { installCode: null, installId }))?.provedBy;
      await store.noteKeyProof(providerId, subscriptionKeyHash('another'), HOST, NOW_MS);
      await store.noteKeyProof(providerId + 1, KEY, HOST, NOW_MS);
      expect(await by()).toEqual([]);
      await store.noteKeyProof(providerId, KEY, HOST, NOW_MS);
      await store.noteKeyProof(providerId, KEY, HOST, NOW_MS + 1);
      await store.noteKeyProof(providerId, KEY, 'two.example.org', NOW_MS + 1);
      expect(await by()).toEqual(['two.example.org', HOST]);
      // The provider types another key, and then the old one again: it proves itself.
      const other = subscriptionKeyHash('typed');
      await store.updateLink(providerId, installId, { subscriptionKeyHash: other }, ACT);
      expect(await by()).toEqual([]);
      await store.noteKeyProof(providerId, other, HOST, NOW_MS + 2);
      expect(await by()).toEqual([HOST]);
      // Another panel behind the same host: the last one counts.
      for (const panel of ['1', '2']) {
        await store.noteKeyProof(providerId, other, `h.example.org ${panel}`, NOW_MS + 3);
      }
      expect(await by()).toEqual(['h.example.org 2', HOST]);
    });
  },

  askCut(opened) {
    test('so many of a provider wait; those of its users have a bound of their own', async () => {
      const { store } = opened();
      const { installId, list, providerId } = await addKeyed(store, []);
      const ask = async (nth: number, isByUser = false) => {
        const keyHash = subscriptionKeyHash(`key ${nth}`);
        await store.updateLink(providerId, installId, { subscriptionKeyHash: keyHash }, ACT);
        const wanted = { ...cutWanted(installId), keyHash, isByUser };
        return cutIn(await store.askCut(providerId, wanted, { ...ACT, atMs: NOW_MS }));
      };
      for (let nth = 0; nth < CUTS_WAITING_MAX; nth++) await ask(nth);
      expect(await list(true)).toHaveLength(50);
      expect(await ask(CUTS_WAITING_MAX)).toMatchObject({ state: 'impossible' });
      expect(await ask(CUTS_WAITING_MAX + 1, true)).toMatchObject({ state: 'waiting' });
    });

    test('frees the slot, bars the HWID, and waits', async () => {
      const { store } = opened();
      const { ask, installId, list, providerId } = await addKeyed(store, ['a', 'b', 'c']);
      const asked = await ask();
      expect(asked).toMatchObject({ deviceCount: 2, freedCount: 1 });
      expect(cutIn(asked)).toMatchObject({
        installId,
        host: HOST,
        state: 'waiting',
        why: null,
        hwidHash: barHashOf('a'),
        isByUser: false,
        askedAtMs: NOW_MS,
        attemptCount: 0,
        waitingCount: 0,
      });
      expect(await list(true)).toHaveLength(1);
      expect(await store.listBars(installId, NOW_MS)).toEqual([
        { hwidHash: barHashOf('a'), madeAtMs: NOW_MS, untilMs: NOW_MS + BAR_MS },
      ]);
      const id = cutIn(asked).id;
      expect(await lastDeeds(store, 2)).toEqual([
        `hwid.delete {"install_id":${installId},"hwid_sha256":"${hwidHash('a')}"}`,
        `cut.ask {"install_id":${installId},"cut":${id},"state":"waiting","barred_sha256":"${barHashOf('a')}"}`,
      ]);
      expect(await awaits(store, 'b')).toBe(true);
      // The same call again changes nothing.
      const count = (await auditEntries({ store })).length;
      expect(cutIn(await ask({}, NOW_MS + 1))).toMatchObject({ id });
      expect(await auditEntries({ store })).toHaveLength(count);
      // Another device joins the cut-off that waits.
      expect(await ask({ hwid: 'b' }, NOW_MS + 2)).toMatchObject({ deviceCount: 1, cut: { id } });
      expect(await store.listBars(installId, NOW_MS)).toHaveLength(2);
      expect(await store.askCut(providerId + 1, { ...cutWanted(installId) }, ACT)).toBe(
        'install_code_error',
      );
    });

    test('all spellings of the HWID lose their slots and are barred', async () => {
      const { store } = opened();
      const hwids = ['AB-cd', 'ab-CD', 'abcd', 'abce'];
      const { ask } = await addKeyed(store, hwids);
      expect(await ask({ hwid: 'AB-cd' })).toMatchObject({ deviceCount: 1, freedCount: 3 });
      for (const hwid of ['ABCD', 'a-b-c-d', '{ABCD}', 'ab:cd']) {
        expect(await knock(store, hwid)).toBe('barred');
      }
      expect(await knock(store, 'abce')).toMatchObject({ deviceCount: 1 });
      expect(await knock(store, 'abcdf')).toMatchObject({ deviceCount: 2 });
    });

    test('a slot that is known by a hash alone is barred by it', async () => {
      const { store } = opened();
      const { ask } = await addKeyed(store);
      await ask({ hwid: hwidOfHash(hwidHash('New-Phone')) });
      expect(await knock(store, 'New-Phone')).toBe('barred');
      expect(await knock(store, 'other')).toMatchObject({ deviceCount: 3 });
    });

    test('a link that cannot be cut off: the device is freed and barred', async () => {
      const { store } = opened();
      const { events, ask, list } = await withEvents(store);
      const asked = await ask({ host: null, why: 'no panel has proved it' });
      expect(asked).toMatchObject({ deviceCount: 1, freedCount: 1 });
      expect(cutIn(asked)).toMatchObject({ state: 'impossible', why: 'no panel has proved it' });
      expect(await list(true)).toEqual([]);
      expect(await knock(store, 'a')).toBe('barred');
      expect(await awaits(store, 'b')).toBeUndefined();
      expect(await events()).toEqual([['link.cut_off', 'impossible']]);
      // The key changed since the upstream was found.
      const other = { keyHash: subscriptionKeyHash('other'), hwid: 'b' };
      expect(cutIn(await ask(other, NOW_MS + 1))).toMatchObject({ state: 'impossible' });
    });

    test('a user asks once a day and link', async () => {
      const { store } = opened();
      const { ask, claim, end, installId, list } = await addKeyed(store, ['a', 'b', 'c']);
      const byUser = { isByUser: true };
      const { id } = cutIn(await ask(byUser));
      await claim();
      await end(id, DONE);
      const count = (await auditEntries({ store })).length;
      expect(await ask({ ...byUser, hwid: 'b' }, NOW_MS + DAY_MS - 1)).toBe('cut_too_soon');
      expect(await auditEntries({ store })).toHaveLength(count);
      expect(await store.listBars(installId, NOW_MS)).toHaveLength(1);
      expect(await ask({ ...byUser, hwid: 'b' }, NOW_MS + DAY_MS)).toMatchObject({
        deviceCount: 1,
      });
      // Staff are not bound by that.
      expect(await ask({ hwid: 'c' }, NOW_MS + 1)).toMatchObject({ deviceCount: 0 });
      expect(await list()).toHaveLength(2);
    });

    test('a device that was cut off is not cut off again by a repeat, but a link is', async () => {
      const { store } = opened();
      const { ask, claim, end } = await addKeyed(store);
      const { id } = cutIn(await ask());
      await claim();
      await end(id, DONE);
      expect(cutIn(await ask({}, NOW_MS + 1))).toMatchObject({ id, state: 'done' });
      const whole = cutIn(await ask({ hwid: null }, NOW_MS + 2));
      expect(whole).toMatchObject({ state: 'waiting', hwidHash: null });
      expect(whole.id).toBeGreaterThan(id);
    });

    test('a named HWID that has not come loses its place, in each spelling', async () => {
      const { store } = opened();
      const { ask, installId, providerId } = await addKeyed(store, ['b']);
      const selector = { installCode: null, installId };
      await store.nameHwids(providerId, selector, ['aa-bb', 'AABB', 'c'], 10, ACT);
      expect(await ask({ hwid: 'aabb' })).toMatchObject({ deviceCount: 2, freedCount: 2 });
      const left = await store.listNamed(installId);
      expect(left.map(({ hwid }) => hwid)).toEqual(['c']);
      expect(await knock(store, 'aa-bb')).toBe('barred');
    });

    test('a link that takes over another one has as many bars as any', async () => {
      const { store } = opened();
      const { installId, providerId } = await addKeyed(store, []);
      const ending = subscriptionKeyHash('ending');
      const more = { installCode: 'Ending000001', subscriptionKeyHash: ending };
      const added = await store.addLink(linkDraft(providerId, more), ACT);
      const endingId = typeof added === 'object' ? added.id : 0;
      const none = { keyHash: null, host: null, why: 'none', isByUser: false };
      for (const id of [installId, endingId]) {
        for (let n = 0; n < BARS_MAX; n++) {
          const wanted = { installId: id, hwid: `${id} ${n}`.replace(' ', 'n'), ...none };
          await store.askCut(providerId, wanted, ACT);
        }
      }
      await store.joinLinks({ providerId, installId, keyHash: ending }, ACT);
      expect(await store.listBars(installId, NOW_MS)).toHaveLength(BARS_MAX);
    });

    test('bars and cut-offs of a link are bounded', async () => {
      const { store } = opened();
      const { ask, installId, list } = await addKeyed(store, []);
      for (let n = 0; n < BARS_MAX + 2; n++) {
        await ask({ hwid: `copy-${n}`, host: null, why: 'none' }, NOW_MS + n);
      }
      const bars = await store.listBars(installId, NOW_MS);
      expect(bars).toHaveLength(BARS_MAX);
      expect(bars[0]).toMatchObject({ hwidHash: barHashOf(`copy-${BARS_MAX + 1}`) });
      expect(await list()).toHaveLength(CUTS_OF_LINK_MAX);
    });
  },

  claimCut(opened) {
    test('one worker has the attempt; it comes again when due, or when the worker is gone', async () => {
      const { store } = opened();
      const { ask, claim, end } = await addKeyed(store);
      expect(await claim()).toBeNull();
      const { id } = cutIn(await ask());
      const [one, two] = await Promise.all([claim(NOW_MS, 'one'), claim(NOW_MS, 'two')]);
      const claims = [one, two].filter((cut) => cut !== null);
      expect(claims).toMatchObject([{ id, attemptCount: 1, seen: null }]);
      const owner = one === null ? 'two' : 'one';
      expect(await end(id, again(NOW_MS + 60_000, 'print'), NOW_MS, owner)).toBe(true);
      expect(await claim(NOW_MS + 59_999, 'two')).toBeNull();
      const next = await claim(NOW_MS + 60_000, 'two');
      expect(next).toMatchObject({ id, attemptCount: 2, seen: 'print', why: 'the panel is away' });
      // Killed in the middle: nobody has it until the lease ends.
      expect(await claim(NOW_MS + 60_001, 'one')).toBeNull();
      const taken = await claim(NOW_MS + 60_000 + LEASE_MS, 'one');
      expect(taken).toMatchObject({ id, attemptCount: 3 });
      // The worker that was thought to be gone changes nothing.
      expect(await end(id, DONE, NOW_MS + 60_000 + LEASE_MS, 'two')).toBe(false);
    });

    test('other hosts, stopped hosts and old ones are left alone', async () => {
      const { store } = opened();
      const { ask, claim, end } = await addKeyed(store);
      const { id } = cutIn(await ask());
      const lease = { owner: 'one', nowMs: NOW_MS, leaseUntilMs: NOW_MS + 1, perHourMax: 20 };
      expect(await store.claimCut('other.example.org', lease)).toBeNull();
      expect(await claim(NOW_MS + DAY_MS)).toBeNull();
      await claim();
      await end(id, { state: 'differs', fields: ['expire'], fetchUntilMs: NOW_MS });
      const { id: second } = cutIn(await ask({ hwid: 'b' }, NOW_MS + 1));
      expect(second).toBeGreaterThan(id);
      expect(await claim(NOW_MS + 1)).toBeNull();
      await store.resumeCuts(HOST, ACT);
      expect(await claim(NOW_MS + 1)).toMatchObject({ id: second });
    });

    test('a provider begins so many an hour, users ten times as many of their own', async () => {
      const { store } = opened();
      const first = await addKeyed(store);
      const { providerId } = first;
      const { id } = cutIn(await first.ask());
      const added = await store.addLink(linkDraft(providerId, { installCode: OTHER_CODE }), ACT);
      const installId = typeof added === 'object' ? added.id : 0;
      const wanted = { ...cutWanted(installId), keyHash: null };
      const second = cutIn(await store.askCut(providerId, wanted, ACT));
      const at = (nowMs: number, perHourMax = 1) => first.claim(nowMs, 'one', perHourMax);
      expect(await at(NOW_MS)).toMatchObject({ id });
      await first.end(id, again(NOW_MS + 1));
      // A further attempt of one that began is no further one.
      expect(await at(NOW_MS + 1)).toMatchObject({ id });
      await first.end(id, DONE, NOW_MS + 1);
      expect(await at(NOW_MS + HOUR_MS - 1)).toBeNull();
      const mine = cutIn(await first.ask({ hwid: null, isByUser: true }, NOW_MS + 2));
      expect(await at(NOW_MS + 2)).toMatchObject({ id: mine.id });
      await first.end(mine.id, DONE, NOW_MS + 2);
      expect(await at(NOW_MS + HOUR_MS)).toMatchObject({ id: second.id });
    });
  },

  endCutAttempt(opened) {
    test('done: the others must fetch, and the link waits until they did', async () => {
      const { store } = opened();
      const { ask, claim, end, installId, list, events } = await withEvents(store, ['a', 'b', 'c']);
      const { id } = cutIn(await ask());
      await claim();
      expect(await end(id, DONE, NOW_MS + 5)).toBe(true);
      const fetchUntilMs = NOW_MS + DAY_MS;
      const done = { id, state: 'done', endedAtMs: NOW_MS + 5, deviceCount: 2, fetchUntilMs };
      expect(await list()).toMatchObject([{ ...done, waitingCount: 2 }]);
      expect(await lastDeeds(store, 1)).toEqual([
        `cut.end {"install_id":${installId},"cut":${id},"state":"done"}`,
      ]);
      expect(await events()).toEqual([['link.cut_off', 'done']]);
      expect(await awaits(store, 'b')).toBe(true);
      // A fetch from before the change got the old servers.
      await store.noteFetched(installId, 'b', NOW_MS + 4);
      expect(await list()).toMatchObject([{ waitingCount: 2 }]);
      await store.noteFetched(installId, 'b', NOW_MS + 5);
      expect(await list()).toMatchObject([{ waitingCount: 1 }]);
      expect(await awaits(store, 'b')).toBe(true);
      await store.noteFetched(installId, 'c', NOW_MS + 6);
      expect(await list()).toMatchObject([{ waitingCount: 0, deviceCount: 2 }]);
      expect(await awaits(store, 'b')).toBeUndefined();
      // It has ended.
      expect(await end(id, DONE)).toBe(false);
    });

    test.each<[CutEnd, string | null, boolean]>([
      [{ state: 'changed', fetchUntilMs: NOW_MS }, null, true],
      [{ state: 'impossible', why: 'no such user' }, 'no such user', false],
      [{ state: 'ended', why: 'it is away' }, 'it is away', false],
      [
        { state: 'differs', fields: ['expire', 'flow'], fetchUntilMs: NOW_MS },
        'another field changed too: expire, flow',
        true,
      ],
    ])('%o', async (how, why, mustFetch) => {
      const { store } = opened();
      const { ask, claim, end, installId, list, providerId } = await addKeyed(store);
      const { id } = cutIn(await ask());
      await claim();
      expect(await end(id, how)).toBe(true);
      expect(await list()).toMatchObject([
        { state: how.state, why, waitingCount: mustFetch ? 1 : 0 },
      ]);
      expect(await awaits(store, 'b')).toBe(mustFetch ? true : undefined);
      // In each case the device is freed and barred.
      expect(await store.listSlots(providerId, { installCode: null, installId }, 'a', 1)).toEqual(
        [],
      );
      expect(await knock(store, 'a')).toBe('barred');
    });
  },

  noteFetched(opened) {
    test('a device that lost its slot is not waited for, nor one that never comes', async () => {
      const { store } = opened();
      const { ask, claim, end, installId, list, providerId } = await addKeyed(store, [
        'a',
        'b',
        'c',
      ]);
      const { id } = cutIn(await ask());
      await claim();
      await end(id, DONE);
      await store.freeSlot(providerId, { installCode: null, installId }, 'b', ACT);
      expect(await list()).toMatchObject([{ waitingCount: 1 }]);
      await store.noteFetched(installId, 'nobody', NOW_MS + 1);
      expect(await awaits(store, 'c')).toBe(true);
      const overMs = NOW_MS + FETCH_WAIT_MS;
      while (await store.forgetCuts(0, overMs));
      expect(await awaits(store, 'c')).toBeUndefined();
    });
  },

  endOldCuts(opened) {
    test('one that waited for a day ends, unless an attempt is being made', async () => {
      const { store } = opened();
      const { ask, claim, end, list } = await addKeyed(store);
      const { id } = cutIn(await ask());
      await claim();
      const old = (nowMs: number) => store.endOldCuts(nowMs - DAY_MS, nowMs, systemAt(nowMs));
      expect(await old(NOW_MS + DAY_MS - 1)).toBe(false);
      await end(id, again(NOW_MS + DAY_MS - 1));
      await claim(NOW_MS + DAY_MS - 1);
      expect(await old(NOW_MS + DAY_MS)).toBe(false);
      await end(id, again(NOW_MS + DAY_MS + 1), NOW_MS + DAY_MS);
      expect(await old(NOW_MS + DAY_MS)).toBe(true);
      expect(await old(NOW_MS + DAY_MS)).toBe(false);
      expect(await list()).toMatchObject([{ state: 'ended', why: 'the panel is away' }]);
    });
  },

  cancelCut(opened) {
    test('one that waits is cancelled; an attempt in progress is not', async () => {
      const { store } = opened();
      const { ask, claim, end, installId, list, providerId } = await addKeyed(store);
      const { id } = cutIn(await ask());
      expect(await store.cancelCut(providerId + 1, id, ACT)).toBe('cut_not_found');
      await claim();
      expect(await store.cancelCut(providerId, id, ACT)).toBe('cut_running');
      await end(id, again(NOW_MS + 1));
      expect(await store.cancelCut(providerId, id, ACT)).toBe('ok');
      expect(await store.cancelCut(providerId, id, ACT)).toBe('cut_not_found');
      expect(await list()).toMatchObject([{ state: 'cancelled', why: null }]);
      expect(await lastDeeds(store, 1)).toEqual([
        `cut.cancel {"install_id":${installId},"cut":${id}}`,
      ]);
      expect(await claim(NOW_MS + 1)).toBeNull();
      expect(await awaits(store, 'b')).toBeUndefined();
      expect(await knock(store, 'a')).toBe('barred');
    });
  },
};
