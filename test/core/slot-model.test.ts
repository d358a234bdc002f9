/**
 * Devices, policies and time at random, against a small model in memory: after each step every
 * answer, slot and end. A failure prints its seed and the shortest way to it.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DAY_MS, sameUtcDay } from '../../src/core/calendar.ts';
import { checkIn } from '../../src/core/device.ts';
import { addDomain } from '../../src/core/domain.ts';
import { admitDevice } from '../../src/core/door.ts';
import { addInstall, freeSlot, updateInstall } from '../../src/core/install.ts';
import type { Policy } from '../../src/core/port/slot.ts';
import { NO_POLICY, policyOf } from '../../src/core/slot.ts';
import { seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { playModel } from '../support/model.ts';

const FACTS = { os: 'ios', osVersion: '', deviceName: '', appVersion: '', userAgent: '' };
const HASH = 'a'.repeat(64);
const HOUR_MS = DAY_MS / 24;
const START_MS = Date.UTC(2026, 10, 20, 12);

interface ModelSlot {
  hwid: string;
  registeredMs: number;
  seenMs: number;
}

interface ModelLink {
  limit: number;
  policy: Policy;
  replacedMs: number | null;
  /** In the order of their registration. */
  slots: ModelSlot[];
  /** `why hwid for`, the first to end first. */
  story: string[];
}

/** The rule in other words than the program's. */
class Model {
  readonly links: ModelLink[] = [2, 1].map((limit) => ({
    limit,
    policy: policyOf(NO_POLICY, NO_POLICY),
    replacedMs: null,
    slots: [],
    story: [],
  }));
  readonly calledMs = new Map<string, number>();
  /** The last sight of a device anywhere that was written. */
  readonly sightMs = new Map<string, number>();

  seen({ hwid, seenMs }: ModelSlot): number {
    return Math.max(seenMs, this.calledMs.get(hwid) ?? 0);
  }

  #slotsOf(hwid: string): ModelSlot[] {
    return this.links.flatMap(({ slots }) => slots.filter((slot) => slot.hwid === hwid));
  }

  knock(link: ModelLink, hwid: string, nowMs: number): string {
    const own = link.slots.find((slot) => slot.hwid === hwid);
    if (own !== undefined) {
      if (!sameUtcDay(this.seen(own), nowMs)) this.#see(own, nowMs);
      return 'in';
    }
    if (link.slots.length === link.limit && !this.#makeRoom(link, hwid, nowMs)) return 'full';
    const slot = { hwid, registeredMs: nowMs, seenMs: nowMs };
    link.slots.push(slot);
    this.#see(slot, nowMs);
    return 'in';
  }

  #see(slot: ModelSlot, nowMs: number): void {
    slot.seenMs = nowMs;
    this.sightMs.set(slot.hwid, nowMs);
  }

  #makeRoom(link: ModelLink, hwid: string, nowMs: number): boolean {
    const [oldest] = link.slots.toSorted((a, b) => this.seen(a) - this.seen(b));
    if (oldest === undefined) return false;
    const { inactiveDays, whenFull, coolDownHours } = link.policy;
    const fullDays = Math.floor((nowMs - (this.#dayAfter(this.seen(oldest)) - 1)) / DAY_MS);
    const coolMs = link.replacedMs === null ? Number.POSITIVE_INFINITY : nowMs - link.replacedMs;
    let why = '';
    if (inactiveDays > 0 && fullDays >= inactiveDays) why = 'inactive';
    else if (whenFull === 'replace-oldest' && coolMs >= coolDownHours * HOUR_MS) why = 'replaced';
    if (why === '') return false;
    if (why === 'replaced') link.replacedMs = nowMs;
    this.end(link, oldest.hwid, why, hwid);
    return true;
  }

  #dayAfter(ms: number): number {
    return new Date(ms).setUTCHours(24, 0, 0, 0);
  }

  end(link: ModelLink, hwid: string, why: string, newcomer: string | null): void {
    const kept = link.slots.filter((slot) => slot.hwid !== hwid);
    if (kept.length < link.slots.length) link.story.push(`${why} ${hwid} ${newcomer}`);
    link.slots = kept;
  }

  call(hwid: string, nowMs: number): void {
    const slots = this.#slotsOf(hwid);
    const sightMs = this.sightMs.get(hwid) ?? -DAY_MS;
    const times = slots.length > 0 ? slots.map((slot) => this.seen(slot)) : [sightMs];
    if (times.every((ms) => sameUtcDay(ms, nowMs))) return;
    this.calledMs.set(hwid, nowMs);
    this.sightMs.set(hwid, nowMs);
  }
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const link = fc.constantFrom(0, 0, 1);
const hwid = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const policy = fc.record({
  inactiveDays: fc.constantFrom(0, 1, 2),
  whenFull: fc.constantFrom('refuse', 'replace-oldest'),
  coolDownHours: fc.constantFrom(1, 30),
});
const hours = fc.constantFrom(0, 1, 5, 24, 30, 49);
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('knock' as const), link, hwid, hours }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('call' as const), hwid, hours }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('free' as const), link, hwid, hours }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('policy' as const), link, policy, hours }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function play(steps: readonly Step[]): Promise<void> {
  const { code } = await seedProvider(app);
  const provider = await app.core.store.findProvider(code);
  if (provider === null) throw new Error('the provider is not there');
  const { core } = app;
  await addDomain(core, provider, HASH, null, START_MS);
  const model = new Model();
  const links: { id: number; installCode: string }[] = [];
  for (const { limit: installLimit } of model.links) {
    const draft = { installCode: null, installLimit, note: null };
    const added = await addInstall(core, provider, draft, START_MS);
    if (!('id' in added)) throw new Error(added.says);
    links.push(added);
  }
  let nowMs = START_MS;
  const named = (name: string) => `${code}-${name}`;

  async function make(one: Step): Promise<void> {
    nowMs += one.hours * HOUR_MS + 1;
    const wanted = model.links['link' in one ? one.link : 0] as ModelLink;
    const { id, installCode } = links['link' in one ? one.link : 0] ?? { id: 0, installCode: '' };
    if (one.do === 'policy') {
      wanted.policy = one.policy as Policy;
      await updateInstall(core, provider as never, id, wanted.policy, nowMs);
      return;
    }
    const device = named(one.hwid);
    if (one.do === 'call') {
      model.call(one.hwid, nowMs);
      const call = { providerCode: code, domainHash: null, hwid: device };
      await checkIn(core, call, FACTS, nowMs);
    } else if (one.do === 'free') {
      model.end(wanted, one.hwid, 'deleted', null);
      await freeSlot(core, provider as never, { installCode, installId: null }, device, nowMs);
    } else {
      const call = { installCode, domainHash: HASH, hwid: device };
      const answer = await admitDevice(core, call, FACTS, nowMs);
      expect('says' in answer ? 'full' : 'in').toBe(model.knock(wanted, one.hwid, nowMs));
    }
  }

  for (const one of steps) {
    await make(one);
    for (const [n, { id }] of links.entries()) {
      const expected = model.links[n] as ModelLink;
      const selector = { installCode: null, installId: id };
      const slots = await core.store.listSlots(provider.id, selector, null, 9);
      if (typeof slots === 'string') throw new Error(slots);
      expect(slots.toReversed()).toMatchObject(
        expected.slots.map((slot) => ({
          hwid: named(slot.hwid),
          registeredAtMs: slot.registeredMs,
          lastSeenAtMs: model.seen(slot),
        })),
      );
      expect(slots).toHaveLength(expected.slots.length);
      const { ends } = await core.store.readLinkStory(id);
      const short = (name: string | null) => name?.slice(code.length + 1) ?? null;
      expect(
        ends.map((end) => `${end.why} ${short(end.hwid)} ${short(end.forHwid)}`).reverse(),
      ).toEqual(expected.story);
    }
  }
}

test('slots, sights and ends are those of the model', async () => {
  const steps = fc.array(step, { minLength: 10, maxLength: 60 });
  await playModel(steps, play, { runsMin: 10, runsMax: 40, seconds: 8 });
}, 240_000);
