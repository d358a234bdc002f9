import { expect, test } from 'bun:test';
import type { JobStore, NewJob } from '../../../src/core/port/job.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { addDoor, addLink, knock, NOW_MS, type Suite } from './fixture.ts';
import { listening } from './happening.ts';

const PERSON = { kind: 'account', name: 'anna', from: 'local' } as const;
const TIMES = { nowMs: NOW_MS, leaseUntilMs: NOW_MS + 1_000 };
const NO_WAIT = 100;
const CANCELS = { actor: { ...PERSON, name: 'boris' }, atMs: NOW_MS };

/** Each is of another work: the same one would be the same job. */
const draft = (providerId: number, more: Partial<NewJob> = {}): NewJob => ({
  providerId,
  kind: 'links.change',
  actor: PERSON,
  totalCount: 2,
  params: `{"toId":${Math.random()}}`,
  createdAtMs: NOW_MS - 10,
  dueAtMs: NOW_MS,
  among: ['links.change', 'links.remove'],
  countMax: 2,
  ...more,
});

async function added(store: Store, providerId: number, more: Partial<NewJob> = {}) {
  const job = await store.addJob(draft(providerId, more));
  if (job === 'job_limit_reached') throw new Error(job);
  return job.id;
}

/** A provider with two links and a claimed job. */
async function addClaimed(store: Store, more: Partial<NewJob> = {}) {
  const door = await addDoor(store);
  const otherId = await addLink(store, door.providerId, { installCode: 'OtherLink001' });
  const id = await added(store, door.providerId, more);
  await store.claimJob('one', TIMES, NO_WAIT);
  const hold = { id, providerId: door.providerId, owner: 'one', afterId: 0 };
  return { ...door, otherId, id, hold };
}

const stateOf = async (store: Store, providerId: number, id: number) => {
  const job = await store.findJob(providerId, id);
  return job && { state: job.state, seen: job.seenCount, changed: job.changedCount };
};

const limitsOf = async (store: Store, providerId: number) =>
  (await store.listLinksOf(providerId, { id: null, beforeId: null, countMax: 9 })).map(
    ({ installLimit }) => installLimit,
  );

const deedsOf = async (store: Store) =>
  (await auditEntries({ store })).map(({ action, name }) => `${action} by ${name}`);

const step = (linkIds: readonly number[], nextId: number | null) => ({
  linkIds,
  nextId,
  change: { installLimit: 7 },
  nowMs: NOW_MS,
});

export const jobContract: Record<keyof JobStore, Suite> = {
  addJob(opened) {
    test('up to so many unfinished ones of these kinds', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      await added(store, providerId);
      await added(store, providerId, { kind: 'links.remove' });
      expect(await store.addJob(draft(providerId))).toBe('job_limit_reached');
      const small = { kind: 'link.free', among: ['link.free'], countMax: 1 } as const;
      expect(await added(store, providerId, small)).toBeGreaterThan(0);
      expect(await store.addJob(draft(providerId, small))).toBe('job_limit_reached');
    });

    test('the same one of the same person, as long as it waits, is one', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const dueAtMs = NOW_MS + 9;
      const one = draft(providerId, { createdAtMs: NOW_MS, dueAtMs, countMax: 1 });
      const made = await store.addJob(one);
      expect(made).toEqual({ id: expect.any(Number), dueAtMs });
      const later = { ...one, createdAtMs: NOW_MS + 8, dueAtMs: NOW_MS + 17 };
      expect(await store.addJob(later)).toEqual(made);
      const others = [
        { ...later, createdAtMs: dueAtMs },
        { ...later, params: '{}' },
        { ...later, actor: { ...PERSON, name: 'boris' } },
        { ...later, kind: 'links.remove' as const },
      ];
      for (const other of others) expect(await store.addJob(other)).toBe('job_limit_reached');
    });
  },

  findJob(opened) {
    test('of the provider alone', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const id = await added(store, providerId, { params: '{}' });
      expect(await store.findJob(providerId, id)).toEqual({
        id,
        providerId,
        providerCode: 'Provide1',
        kind: 'links.change',
        params: '{}',
        actor: PERSON,
        state: 'waiting',
        afterId: 0,
        totalCount: 2,
        seenCount: 0,
        changedCount: 0,
        problem: null,
        createdAtMs: NOW_MS - 10,
        dueAtMs: NOW_MS,
        endedAtMs: null,
      });
      expect(await store.findJob(providerId + 1, id)).toBeNull();
    });
  },

  listJobs(opened) {
    test('all that are unfinished, and the last that ended', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const ids: number[] = [];
      for (let n = 0; n < 4; n++) ids.push(await added(store, providerId, { countMax: 9 }));
      for (const id of ids.slice(0, 3)) await store.cancelJob(providerId, id, CANCELS);
      const [, second, third, fourth] = ids;
      const listed = await store.listJobs(providerId, 2, 1);
      expect(listed.map(({ id }) => id)).toEqual([fourth ?? 0, third ?? 0, second ?? 0]);
      expect(await store.listJobs(providerId + 1, 2, 1)).toEqual([]);
    });
  },

  cancelJob(opened) {
    test('before it begins nothing is changed or logged', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const id = await added(store, providerId);
      expect(await store.cancelJob(providerId + 1, id, CANCELS)).toBe('job_not_found');
      const before = await deedsOf(store);
      expect(await store.cancelJob(providerId, id, CANCELS)).toBe('ok');
      expect(await store.cancelJob(providerId, id, CANCELS)).toBe('job_ended');
      expect(await store.claimJob('one', TIMES, NO_WAIT)).toBeNull();
      expect(await deedsOf(store)).toEqual(before);
    });

    test('between two steps: what was done stays, is logged, and no step follows', async () => {
      const { store } = opened();
      const { hold, id, installId, otherId, providerId } = await addClaimed(store);
      expect(await store.stepLinks(hold, step([installId], installId))).toBe(true);
      expect(await store.cancelJob(providerId, id, CANCELS)).toBe('ok');
      const after = { ...hold, afterId: installId };
      expect(await store.stepLinks(after, step([otherId], null))).toBe(false);
      expect(await stateOf(store, providerId, id)).toEqual({
        state: 'cancelled',
        seen: 1,
        changed: 1,
      });
      expect((await auditEntries({ store })).at(-1)).toMatchObject({
        action: 'install.update-many',
        name: 'anna',
        object: { ended: 'cancelled', links: 1, stopped_by: 'boris' },
      });
    });
  },

  claimJob(opened) {
    test('one worker has it until its claim is over', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const id = await added(store, providerId);
      expect(await store.claimJob('one', { ...TIMES, nowMs: NOW_MS - 1 }, NO_WAIT)).toBeNull();
      expect(await store.claimJob('one', TIMES, NO_WAIT)).toMatchObject({ id, state: 'running' });
      expect(await store.claimJob('two', TIMES, NO_WAIT)).toBeNull();
      expect(await store.claimJob('one', TIMES, NO_WAIT)).toMatchObject({ id });
      const later = { nowMs: NOW_MS + 1_000, leaseUntilMs: NOW_MS + 2_000 };
      expect(await store.claimJob('two', later, NO_WAIT)).toMatchObject({ id });
    });

    test('from a worker whose clock was set back', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const id = await added(store, providerId);
      await store.claimJob('one', TIMES, NO_WAIT);
      const earlier = { nowMs: NOW_MS - 9_000, leaseUntilMs: NOW_MS - 8_000 };
      expect(await store.claimJob('two', earlier, NO_WAIT)).toMatchObject({ id });
    });

    test('waits while a webhook of the provider has too many events', async () => {
      const { store } = opened();
      const { providerId } = await listening(store);
      await added(store, providerId);
      await addLink(store, providerId, { installCode: 'OtherLink001' });
      expect(await store.claimJob('one', TIMES, 1)).toBeNull();
      expect(await store.claimJob('one', TIMES, 2)).not.toBeNull();
    });

    test('does not wait for a disabled webhook, nor with a single link', async () => {
      const { store } = opened();
      const { own, providerId } = await listening(store);
      await addLink(store, providerId, { installCode: 'OtherLink001' });
      const many = await added(store, providerId);
      const single = { kind: 'link.free', among: ['link.free'] } as const;
      const id = await added(store, providerId, { ...single, dueAtMs: NOW_MS });
      expect(await store.claimJob('one', TIMES, 1)).toMatchObject({ id });
      await store.cancelJob(providerId, id, CANCELS);
      expect(await store.claimJob('one', TIMES, 1)).toBeNull();
      const disabled = { atMs: NOW_MS, why: 'disabled by its owner' };
      await store.updateWebhook(own, providerId, { disabled }, ACT);
      expect(await store.claimJob('one', TIMES, 1)).toMatchObject({ id: many });
    });
  },

  stepLinks(opened) {
    test('changes links with the position, and logs all of them once at the end', async () => {
      const { store } = opened();
      const { hold, id, installId, otherId, providerId } = await addClaimed(store);
      const before = (await deedsOf(store)).length;
      expect(await store.stepLinks(hold, step([installId], installId))).toBe(true);
      expect(await stateOf(store, providerId, id)).toEqual({
        state: 'running',
        seen: 1,
        changed: 1,
      });
      // The same step again, as a worker that was stopped in between would make it.
      expect(await store.stepLinks(hold, step([installId], installId))).toBe(false);
      const after = { ...hold, afterId: installId };
      expect(await store.stepLinks({ ...after, owner: 'two' }, step([otherId], null))).toBe(false);
      expect(await store.stepLinks(after, step([otherId], null))).toBe(true);
      expect(await stateOf(store, providerId, id)).toEqual({ state: 'done', seen: 2, changed: 2 });
      expect(await limitsOf(store, providerId)).toEqual([7, 7]);
      expect((await deedsOf(store)).slice(before)).toEqual(['install.update-many by anna']);
      expect((await auditEntries({ store })).at(-1)?.object).toEqual({
        job: id,
        links: 2,
        looked_at: 2,
      });
    });

    test('a limit below the devices of a link leaves it, and is not counted', async () => {
      const { store } = opened();
      const { hold, id, installId, otherId, providerId } = await addClaimed(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      const change = { installLimit: 1 };
      const all = { linkIds: [installId, otherId, 999], nextId: null, change, nowMs: NOW_MS };
      expect(await store.stepLinks(hold, all)).toBe(true);
      expect(await stateOf(store, providerId, id)).toEqual({ state: 'done', seen: 3, changed: 1 });
    });

    test('removes links with their slots; their codes make no link again', async () => {
      const { store } = opened();
      const { hold, installId, otherId, providerId } = await addClaimed(store, {
        kind: 'links.remove',
      });
      await knock(store, 'a');
      const all = { linkIds: [installId, otherId], nextId: null, change: null, nowMs: NOW_MS };
      expect(await store.stepLinks(hold, all)).toBe(true);
      expect(await limitsOf(store, providerId)).toEqual([]);
      const ended = await store.findEnded(providerId, { installCode: 'OtherLink001' });
      expect(ended).toBe('install_code_ended');
      expect((await deedsOf(store)).at(-1)).toBe('install.remove-many by anna');
    });
  },

  workOnSlots(opened) {
    const work = { hwid: null, installCode: null, nowMs: NOW_MS };
    const counts = async (store: Store, id: number) => (await store.findLinkById(id))?.deviceCount;

    test('frees the slot of one HWID, once', async () => {
      const { store } = opened();
      const { hold, installId: linkId } = await addClaimed(store, { kind: 'link.free' });
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      const one = { ...work, linkId, hwid: 'a' };
      expect(await store.workOnSlots(hold, one)).toEqual({ deviceIds: [] });
      expect(await counts(store, linkId)).toBe(1);
      expect((await deedsOf(store)).at(-1)).toBe('hwid.delete by anna');
      await knock(store, 'a');
      expect(await store.workOnSlots(hold, one)).toBe('lost');
      expect(await counts(store, linkId)).toBe(2);
    });

    test('frees all slots of a link', async () => {
      const { store } = opened();
      const { hold, id, installId, providerId } = await addClaimed(store);
      for (const hwid of ['a', 'b']) await knock(store, hwid);
      await store.workOnSlots(hold, { ...work, linkId: installId });
      expect(await counts(store, installId)).toBe(0);
      expect(await stateOf(store, providerId, id)).toMatchObject({ state: 'done' });
    });

    test('revokes a link; a code that is taken changes nothing', async () => {
      const { store } = opened();
      const { hold, id, installId: linkId, providerId } = await addClaimed(store);
      await knock(store, 'a');
      const taken = { ...work, linkId, installCode: 'OtherLink001' };
      expect(await store.workOnSlots(hold, taken)).toBe('install_code_exists');
      expect(await counts(store, linkId)).toBe(1);
      const revoked = await store.workOnSlots(hold, { ...taken, installCode: 'NewCode00001' });
      expect(revoked).toEqual({ deviceIds: [expect.any(Number)] });
      expect(await store.findLinkById(linkId)).toMatchObject({
        installCode: 'NewCode00001',
        deviceCount: 0,
      });
      expect(await stateOf(store, providerId, id)).toMatchObject({ state: 'done' });
    });

    test('of a link that was removed meanwhile: the job has failed, and says why', async () => {
      const { store } = opened();
      const { hold, id, installId, providerId } = await addClaimed(store);
      await store.removeLink(providerId, installId, ACT);
      await store.workOnSlots(hold, { ...work, linkId: installId });
      expect(await store.findJob(providerId, id)).toMatchObject({
        state: 'failed',
        problem: 'install_not_found',
      });
    });
  },

  failJob(opened) {
    test('ends the job of the claim with its reason', async () => {
      const { store } = opened();
      const { hold, id, providerId } = await addClaimed(store);
      await store.failJob({ ...hold, owner: 'two' }, 'not this one', NOW_MS);
      expect(await stateOf(store, providerId, id)).toMatchObject({ state: 'running' });
      await store.failJob(hold, 'unknown filter', NOW_MS);
      expect(await store.findJob(providerId, id)).toMatchObject({
        state: 'failed',
        problem: 'unknown filter',
        endedAtMs: NOW_MS,
      });
    });
  },

  findNextJobMs(opened) {
    test('the time at which one is due and free; null without one', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      expect(await store.findNextJobMs('one')).toBeNull();
      await added(store, providerId, { dueAtMs: NOW_MS + 5 });
      expect(await store.findNextJobMs('one')).toBe(NOW_MS + 5);
      const times = { nowMs: NOW_MS + 5, leaseUntilMs: NOW_MS + 50 };
      const job = await store.claimJob('one', times, NO_WAIT);
      expect(await store.findNextJobMs('one')).toBe(0);
      expect(await store.findNextJobMs('two')).toBe(NOW_MS + 50);
      await store.cancelJob(providerId, job?.id ?? 0, CANCELS);
      expect(await store.findNextJobMs('one')).toBeNull();
    });
  },

  forgetJobs(opened) {
    test('those that ended before a time', async () => {
      const { store } = opened();
      const { providerId } = await addDoor(store);
      const old = await added(store, providerId, { countMax: 9 });
      const open = await added(store, providerId, { countMax: 9 });
      await store.cancelJob(providerId, old, CANCELS);
      expect(await store.forgetJobs(NOW_MS)).toBe(false);
      expect(await store.findJob(providerId, old)).not.toBeNull();
      expect(await store.forgetJobs(NOW_MS + 1)).toBe(false);
      expect(await store.findJob(providerId, old)).toBeNull();
      expect(await store.findJob(providerId, open)).not.toBeNull();
    });
  },
};
