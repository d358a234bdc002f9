/** Jobs of the console, from their call to the last link, step by step on a fake clock. */

import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test';
import { actingAs } from '../../src/core/core.ts';
import {
  cancelJob,
  changeLinks,
  endSlotsLater,
  listJobs,
  previewChange,
  UNDO_MS,
} from '../../src/core/job/job.ts';
import { jobStep } from '../../src/core/job/step.ts';
import { addLink, updateLink } from '../../src/core/link.ts';
import type { LinkFilter } from '../../src/core/link-filter.ts';
import { isRefused } from '../../src/core/outcome.ts';
import { WriteFailed, withMethods } from '../../src/core/port/store.ts';
import { hashKey, keyFingerprint } from '../../src/core/secret.ts';
import { ACT } from '../support/actor.ts';
import { auditEntries } from '../support/audit.ts';
import {
  type Engine,
  makeDevices,
  makeProvider,
  openEngine,
  putOnLinks,
} from '../support/delivery.ts';

const ALL: LinkFilter = { search: null, status: null, isFull: false };
const LINKS = 120;

let engine: Engine;
let provider: Awaited<ReturnType<typeof makeProvider>>;
beforeEach(async () => {
  engine = await openEngine();
  provider = await makeProvider(engine);
});
afterEach(() => engine.close());

async function addLinks(count = LINKS, note = 'alpha') {
  for (let n = 0; n < count; n++) await addOne(note);
}

async function addOne(note: string) {
  const draft = { installCode: null, installLimit: 3, note };
  const added = await addLink(engine.core, provider, draft, engine.clock.nowMs());
  if (isRefused(added)) throw new Error(added.says);
  return added.id;
}

/** Takes steps until none is due; returns how many there were. */
async function runDue(owner = 'one'): Promise<number> {
  for (let steps = 0; ; steps++) {
    if (!(await jobStep(engine.core, owner, engine.clock.nowMs()))) return steps;
  }
}

const limits = async () => {
  const page = { id: null, beforeId: null, countMax: 5_000 };
  const links = await engine.core.store.listLinksOf(provider.id, page);
  return links.map((one) => one.installLimit);
};

const change = (filter: LinkFilter, what: Parameters<typeof changeLinks>[3]) =>
  changeLinks(engine.core, provider, filter, what, engine.clock.nowMs());

test('begins after ten seconds, goes over all that match, and none that came later', async () => {
  await addLinks();
  await addLinks(3, 'other');
  const filter = { ...ALL, search: 'alpha' };
  expect(await change({ ...filter, search: 'nothing' }, null)).toMatchObject({ says: 'no_links' });
  const added = await change(filter, { installLimit: 9 });
  expect(added).toEqual({ id: expect.any(Number), dueAtMs: engine.clock.nowMs() + UNDO_MS });
  await addLinks(2);
  expect(await runDue()).toBe(0);
  engine.clock.advance(UNDO_MS);
  expect(await runDue()).toBeGreaterThan(2);
  expect((await limits()).filter((limit) => limit === 9)).toHaveLength(LINKS);
  const [job] = await listJobs(engine.core, provider);
  expect(job).toMatchObject({ state: 'done', totalCount: LINKS, changedCount: LINKS });
  const entries = (await auditEntries(engine.core)).filter(({ action }) => /-many$/.test(action));
  expect(entries.map(({ object }) => object)).toEqual([
    { job: job?.id ?? 0, links: LINKS, looked_at: LINKS },
  ]);
});

test('a link with more devices than a step may end is removed, in a step of its own', async () => {
  const hwids = Array.from({ length: 96 }, (_, n) => `phone-${n}`);
  const devices = makeDevices(engine, hwids);
  putOnLinks(engine, provider, devices.slice(0, 60), 60);
  putOnLinks(engine, provider, devices.slice(60), 12);
  await change(ALL, null);
  engine.clock.advance(UNDO_MS);
  const left: number[] = [];
  while (await jobStep(engine.core, 'one', engine.clock.nowMs()))
    left.push((await limits()).length);
  // The step ends 60 slots, then three times 12 with their links.
  expect(left).toEqual([3, 0]);
});

test('taken back within ten seconds, it changes nothing', async () => {
  await addLinks(3);
  const added = await change(ALL, null);
  if (isRefused(added)) throw new Error(added.says);
  const other = await makeProvider(engine);
  const { core, clock } = engine;
  expect(await cancelJob(core, other, added.id, clock.nowMs())).toMatchObject({
    says: 'job_not_found',
  });
  expect(await cancelJob(core, provider, added.id, clock.nowMs())).toBe('ok');
  clock.advance(UNDO_MS);
  expect(await runDue()).toBe(0);
  expect(await limits()).toEqual([3, 3, 3]);
});

test('jobs of two providers take turns', async () => {
  await addLinks();
  const first = provider;
  await change(ALL, { installLimit: 9 });
  provider = await makeProvider(engine);
  await addLinks(3);
  engine.clock.advance(1);
  await change(ALL, null);
  engine.clock.advance(UNDO_MS);
  await jobStep(engine.core, 'one', engine.clock.nowMs());
  engine.clock.advance(1);
  await jobStep(engine.core, 'one', engine.clock.nowMs());
  expect(await limits()).toEqual([]);
  provider = first;
  expect((await limits()).filter((limit) => limit === 9).length).toBeLessThan(LINKS);
});

test('a preview counts, and shows the first', async () => {
  await addLinks(7);
  const id = await addOne('beta');
  expect(await previewChange(engine.core, provider, ALL, null)).toMatchObject({
    count: 8,
    refusedCount: 0,
    deviceCount: 0,
    examples: { length: 5 },
  });
  const found = await previewChange(engine.core, provider, { ...ALL, search: 'beta' }, null);
  expect(found).toMatchObject({ count: 1, examples: [{ id, note: 'beta' }] });
});

test('a preview counts the links that have more devices than the new limit', async () => {
  const devices = makeDevices(engine, ['one', 'two', 'three']);
  putOnLinks(engine, provider, devices);
  const refused = async (installLimit: number) => {
    const found = await previewChange(engine.core, provider, ALL, { installLimit });
    return [found.refusedCount, found.deviceCount];
  };
  expect(await refused(3)).toEqual([0, 3]);
  expect(await refused(2)).toEqual([1, 3]);
});

test('a preview ends when its caller leaves', async () => {
  const hwids = Array.from({ length: 501 }, (_, n) => `phone-${n}`);
  putOnLinks(engine, provider, makeDevices(engine, hwids), 1);
  expect(await previewChange(engine.core, provider, ALL, null)).toMatchObject({ count: 501 });
  const left = await previewChange(engine.core, provider, ALL, null, AbortSignal.abort());
  expect(left).toMatchObject({ count: 500 });
});

test('other calls run between the slices of a preview', async () => {
  const hwids = Array.from({ length: 1_501 }, (_, n) => `phone-${n}`);
  putOnLinks(engine, provider, makeDevices(engine, hwids), 1);
  let sliceCount = 0;
  let turnCount = 0;
  const listed: number[] = [];
  const tick = () => {
    turnCount += 1;
    if (sliceCount < 4) setImmediate(tick);
  };
  setImmediate(tick);
  const { store } = engine.core;
  const core = {
    ...engine.core,
    store: withMethods(store, {
      listLinkSlice: async (...args) => {
        sliceCount += 1;
        listed.push(turnCount);
        return store.listLinkSlice(...args);
      },
    }),
  };
  expect(await previewChange(core, provider, ALL, null)).toMatchObject({ count: 1_501 });
  expect(new Set(listed).size).toBe(4);
});

test('a provider has five unfinished jobs over many links, and a hundred about one', async () => {
  const linkId = await addOne('alpha');
  for (let limit = 1; limit <= 5; limit++) {
    expect(await change(ALL, { installLimit: limit })).toMatchObject({ id: expect.any(Number) });
  }
  const sixth = await change(ALL, { installLimit: 6 });
  expect(sixth).toMatchObject({ says: 'job_limit_reached' });
  const { core, clock } = engine;
  const ends = [
    { kind: 'link.revoke', linkId },
    { kind: 'link.free-all', linkId },
    { kind: 'link.free', linkId, hwid: 'phone' },
  ] as const;
  const refused: number[] = [];
  for (let n = 0; n <= 100; n++) {
    const work = ends[n % ends.length] ?? ends[0];
    // The same work is another job once the earlier one is due.
    const nowMs = clock.nowMs() + n * UNDO_MS;
    if (isRefused(await endSlotsLater(core, provider, work, nowMs))) refused.push(n);
  }
  expect(refused).toEqual([100]);
});

test('a device that lost its slot is signalled, and a taken code is drawn again', async () => {
  const [device = 0] = makeDevices(engine, ['phone']);
  const [linkId = 0] = putOnLinks(engine, provider, [device]);
  const { core, clock } = engine;
  await endSlotsLater(core, provider, { kind: 'link.revoke', linkId }, clock.nowMs());
  clock.advance(UNDO_MS);
  const signalled = spyOn(core.signals, 'messagesFor');
  const workOnSlots = () => Promise.resolve('install_code_exists' as const);
  const unlucky = { ...core, store: withMethods(core.store, { workOnSlots }) };
  expect(await jobStep(unlucky, 'one', clock.nowMs())).toBe(true);
  expect(signalled).not.toHaveBeenCalled();
  await runDue();
  expect(signalled.mock.calls.map(([id]) => id)).toContain(device);
  expect(await listJobs(core, provider)).toMatchObject([{ state: 'done' }]);
});

test('a link of another provider is unknown to jobs about one', async () => {
  const linkId = await addOne('alpha');
  const other = await makeProvider(engine);
  const { core, clock } = engine;
  for (const kind of ['link.free-all', 'link.revoke'] as const) {
    const refused = await endSlotsLater(core, other, { kind, linkId }, clock.nowMs());
    expect(refused).toMatchObject({ says: 'install_not_found' });
  }
  await endSlotsLater(core, provider, { kind: 'link.revoke', linkId }, clock.nowMs());
  const before = (await core.store.findLinkById(linkId))?.installCode;
  clock.advance(UNDO_MS);
  expect(await runDue()).toBe(1);
  const after = (await core.store.findLinkById(linkId))?.installCode;
  expect(after).toHaveLength(12);
  expect(after).not.toBe(before);
});

test('a job that another version saved has failed, and others go on', async () => {
  await addLinks(1);
  await change(ALL, { installLimit: 9 });
  engine.db.run(`UPDATE job SET params = '{"toId":9,"filter":{"colour":"red"}}'`);
  engine.clock.advance(UNDO_MS);
  expect(await runDue()).toBe(1);
  const [job] = await engine.core.store.listJobs(provider.id, 9, 10_000);
  expect(job).toMatchObject({ state: 'failed', problem: 'not_understood' });
  // The list is not lost with it.
  expect(await listJobs(engine.core, provider)).toMatchObject([{ id: job?.id, work: null }]);
  expect(await limits()).toEqual([3]);
});

test('a job that meets a fault at each step has failed, and others go on', async () => {
  const { core, clock } = engine;
  const linkId = await addOne('alpha');
  await endSlotsLater(core, provider, { kind: 'link.free-all', linkId }, clock.nowMs());
  await change(ALL, { installLimit: 9 });
  clock.advance(UNDO_MS);
  const broken = (fault: Error) => ({
    ...core,
    store: withMethods(core.store, {
      workOnSlots: () => Promise.reject(fault),
    }),
  });
  const faults = { id: 0, count: 0 };
  const stepOn = (fault: Error) => jobStep(broken(fault), 'one', clock.nowMs(), faults);
  // A disk that is full, or a server that is away, is no fault of the job.
  for (let n = 0; n < 4; n++) await expect(stepOn(new WriteFailed('full'))).rejects.toThrow('full');
  for (let n = 0; n < 2; n++) await expect(stepOn(new Error('odd'))).rejects.toThrow('odd');
  expect((await listJobs(core, provider)).map(({ state }) => state)).toEqual([
    'waiting',
    'running',
  ]);
  await expect(stepOn(new Error('odd'))).rejects.toThrow('odd');
  expect(await runDue()).toBe(1);
  expect(await listJobs(core, provider)).toMatchObject([
    { state: 'done' },
    { state: 'failed', problem: 'fault' },
  ]);
});

test('a step that succeeds resets the count of faults: the job goes on', async () => {
  await addLinks();
  const { core, clock } = engine;
  await change(ALL, { installLimit: 9 });
  clock.advance(UNDO_MS);
  const stepLinks = () => Promise.reject(new Error('odd'));
  const broken = { ...core, store: withMethods(core.store, { stepLinks }) };
  const faults = { id: 0, count: 0 };
  for (let n = 0; n < 2; n++) {
    for (let m = 0; m < 2; m++) {
      await expect(jobStep(broken, 'one', clock.nowMs(), faults)).rejects.toThrow('odd');
    }
    expect(await jobStep(core, 'one', clock.nowMs(), faults)).toBe(true);
  }
  await runDue();
  expect(await listJobs(core, provider)).toMatchObject([{ state: 'done', changedCount: LINKS }]);
});

test('of a provider whose subscription is over, a job does not go on', async () => {
  await addLinks(60);
  const { core, clock } = engine;
  await change(ALL, { installLimit: 9 });
  clock.advance(UNDO_MS);
  await jobStep(core, 'one', clock.nowMs());
  await core.store.updateProvider(provider.code, { suspendedAtMs: clock.nowMs() }, ACT);
  clock.advance(1);
  await runDue();
  expect(await listJobs(core, provider)).toMatchObject([
    { state: 'failed', problem: 'subscription_required', changedCount: 50 },
  ]);
  expect((await limits()).filter((limit) => limit === 3)).toHaveLength(10);
});

test('of more links than the person saw, none is changed', async () => {
  await addLinks(2);
  const { core, clock } = engine;
  const filter = { ...ALL, search: 'alpha' };
  const limit = { installLimit: 9 };
  const shown = (count: number) => changeLinks(core, provider, filter, limit, clock.nowMs(), count);
  expect(await shown(1)).toMatchObject({ says: 'more_links_match' });
  const other = await addOne('beta');
  expect(await shown(2)).toMatchObject({ id: expect.any(Number) });
  await updateLink(core, provider, other, { note: 'alpha too' }, clock.nowMs());
  clock.advance(UNDO_MS);
  await runDue();
  expect(await listJobs(core, provider)).toMatchObject([
    { state: 'failed', problem: 'more_links_match', changedCount: 2 },
  ]);
  expect((await limits()).sort()).toEqual([3, 9, 9]);
});

test('a second click adds no second job', async () => {
  const { core, clock } = engine;
  const linkId = await addOne('alpha');
  const revoke = () => {
    const work = { kind: 'link.revoke', linkId } as const;
    return endSlotsLater(core, provider, work, clock.nowMs());
  };
  const first = await revoke();
  clock.advance(UNDO_MS - 1);
  expect(await revoke()).toEqual(first);
  clock.advance(1);
  // This one came too late to be the same.
  expect(await revoke()).not.toEqual(first);
});

test('of a person who lost the role, or a key that was changed, a job does not go on', async () => {
  await addLinks(2);
  const { core, clock } = engine;
  const account = async (name: string) => {
    const grant = { providerId: provider.id, role: 'sender' } as const;
    const draft = { name, grant, countMax: 9, createdAtMs: 0, invitation: null };
    const added = await core.store.addAccount(draft, ACT);
    if (typeof added === 'string') throw new Error(added);
    return { id: added.id, as: actingAs(core, () => ({ kind: 'account', name, from: 'local' })) };
  };
  const [anna, boris] = [await account('anna'), await account('boris')];
  const key = keyFingerprint(provider.keyHash);
  const keyed = actingAs(core, () => ({
    kind: 'provider',
    name: provider.code,
    from: '',
    key,
  }));
  const ask = (as: typeof core, installLimit: number) =>
    changeLinks(as, provider, ALL, { installLimit }, clock.nowMs());
  await ask(anna.as, 4);
  await ask(boris.as, 5);
  await ask(keyed, 6);
  await core.store.changeRole(boris.id, { providerId: provider.id, role: 'reader' }, ACT);
  await core.store.rotateKey(provider.code, hashKey('another key'), 0, ACT);
  clock.advance(UNDO_MS);
  await runDue();
  const jobs = await core.store.listJobs(provider.id, 9, 10_000);
  expect(jobs.reverse().map(({ problem, state }) => `${state} ${problem}`)).toEqual([
    ...['done null', 'failed no_right', 'failed no_right'],
  ]);
  expect(await limits()).toEqual([4, 4]);
});
