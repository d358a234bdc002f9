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
import { hwidOfHash } from '../../src/core/formats.ts';
import { addLink, freeSlot, updateLink } from '../../src/core/link.ts';
import type { Policy } from '../../src/core/port/slot.ts';
import { hwidHash } from '../../src/core/secret.ts';
import { NO_POLICY, policyOf } from '../../src/core/slot.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { playModel } from '../support/model.ts';

const PHONES: Readonly<Record<string, string>> = { a: 'P', b: 'P', c: 'P', d: 'Q', e: 'Q' };
/** What a panel knows of a device, and with its app what the device reports. */
const known = (hwid: string) => ({
  os: 'ios',
  osVersion: '',
  deviceName: PHONES[hwid] ?? '',
  appVersion: '',
  userAgent: '',
});
const facts = (hwid: string) => ({ ...known(hwid), userAgent: 'Happ/1' });
const HASH = 'a'.repeat(64);
const HOUR_MS = DAY_MS / 24;
const START_MS = Date.UTC(2026, 10, 20, 12);

interface ModelSlot {
  hwid: string;
  /** Held by the hash of the HWID. */
  isHash?: boolean;
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

  seen({ hwid, isHash, seenMs }: ModelSlot): number {
    return isHash ? seenMs : Math.max(seenMs, this.calledMs.get(hwid) ?? 0);
  }

  #slotsOf(hwid: string): ModelSlot[] {
    return this.links.flatMap(({ slots }) =>
      slots.filter((slot) => slot.hwid === hwid && !slot.isHash),
    );
  }

  knock(link: ModelLink, hwid: string, nowMs: number): string {
    const own = link.slots.find((slot) => slot.hwid === hwid);
    if (own?.isHash) {
      link.slots = link.slots.filter((slot) => slot !== own);
      link.slots.push({ hwid, registeredMs: own.registeredMs, seenMs: nowMs });
      this.sightMs.set(hwid, nowMs);
      return 'in';
    }
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

  /** A panel knows the device by its hash. */
  move(link: ModelLink, hwid: string, nowMs: number): void {
    const isHere = link.slots.some((slot) => slot.hwid === hwid);
    if (isHere || link.slots.length >= link.limit) return;
    link.slots.push({ hwid, isHash: true, registeredMs: nowMs, seenMs: nowMs });
  }

  #see(slot: ModelSlot, nowMs: number): void {
    slot.seenMs = nowMs;
    this.sightMs.set(slot.hwid, nowMs);
  }

  #makeRoom(link: ModelLink, hwid: string, nowMs: number): boolean {
    const byAge = link.slots.toSorted(
      (a, b) => this.seen(a) - this.seen(b) || a.registeredMs - b.registeredMs,
    );
    const [oldest] = byAge;
    if (oldest === undefined) return false;
    const { inactiveDays, whenFull, coolDownHours } = link.policy;
    const fullDays = Math.floor((nowMs - (this.#dayAfter(this.seen(oldest)) - 1)) / DAY_MS);
    const coolMs = link.replacedMs === null ? Number.POSITIVE_INFINITY : nowMs - link.replacedMs;
    let why = '';
    const former = byAge.find((slot) => !slot.isHash && PHONES[slot.hwid] === PHONES[hwid]);
    const isSilent = former && nowMs - (this.#dayAfter(this.seen(former)) - 1) >= 7 * DAY_MS;
    if (isSilent && link.policy.samePhone === 'replace' && coolMs >= coolDownHours * HOUR_MS) {
      link.replacedMs = nowMs;
      this.#endSlot(link, former, 'replaced', hwid);
      return true;
    }
    if (inactiveDays > 0 && fullDays >= inactiveDays) why = 'inactive';
    else if (whenFull === 'replace-oldest' && coolMs >= coolDownHours * HOUR_MS) why = 'replaced';
    if (why === '') return false;
    if (why === 'replaced') link.replacedMs = nowMs;
    this.#endSlot(link, oldest, why, hwid);
    return true;
  }

  #dayAfter(ms: number): number {
    return new Date(ms).setUTCHours(24, 0, 0, 0);
  }

  end(link: ModelLink, hwid: string, why: string, newcomer: string | null): void {
    const own = link.slots.find((slot) => slot.hwid === hwid && !slot.isHash);
    if (own !== undefined) this.#endSlot(link, own, why, newcomer);
  }

  #endSlot(link: ModelLink, ended: ModelSlot, why: string, newcomer: string | null): void {
    link.story.push(`${why} ${ended.isHash ? '#' : ''}${ended.hwid} ${newcomer}`);
    link.slots = link.slots.filter((slot) => slot !== ended);
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
  samePhone: fc.constantFrom('off', 'replace', 'replace'),
});
const hours = fc.constantFrom(0, 1, 5, 24, 30, 49, 200);
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('knock' as const), link, hwid, hours }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('call' as const), hwid, hours }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('free' as const), link, hwid, hours }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), link, hwid, hours }) },
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
    const added = await addLink(core, provider, draft, START_MS);
    if (!('id' in added)) throw new Error(added.says);
    links.push(added);
  }
  let nowMs = START_MS;
  const named = (name: string) => `${code}-${name}`;
  const hashed = (name: string) => hwidOfHash(hwidHash(named(name)));
  const shown = new Map(Object.keys(PHONES).map((name) => [hashed(name), `#${name}`]));

  async function make(one: Step): Promise<void> {
    nowMs += one.hours * HOUR_MS + 1;
    const wanted = model.links['link' in one ? one.link : 0] as ModelLink;
    const { id, installCode } = links['link' in one ? one.link : 0] ?? { id: 0, installCode: '' };
    if (one.do === 'policy') {
      wanted.policy = one.policy as Policy;
      await updateLink(core, provider as never, id, wanted.policy, nowMs);
      return;
    }
    const device = named(one.hwid);
    if (one.do === 'call') {
      model.call(one.hwid, nowMs);
      const call = { providerCode: code, domainHash: null, hwid: device };
      await checkIn(core, call, facts(one.hwid), nowMs);
    } else if (one.do === 'move') {
      model.move(wanted, one.hwid, nowMs);
      const seen = { registeredAtMs: nowMs, firstSeenAtMs: nowMs, lastSeenAtMs: nowMs };
      const slot = { hwid: hashed(one.hwid), ...known(one.hwid), ...seen, slotSeenAtMs: nowMs };
      const link = { id, installCode, installLimit: wanted.limit, status: 10, note: null };
      const moved = { ...link, createdAtMs: START_MS, slots: [slot] };
      const rules = { installCountMax: 100, updates: false };
      await core.store.importLink(provider?.id ?? 0, moved, rules, ACT);
    } else if (one.do === 'free') {
      model.end(wanted, one.hwid, 'deleted', null);
      await freeSlot(core, provider as never, { installCode, installId: null }, device, nowMs);
    } else {
      const call = { installCode, domainHash: HASH, hwid: device };
      const answer = await admitDevice(core, call, facts(one.hwid), nowMs);
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
          hwid: slot.isHash ? hashed(slot.hwid) : named(slot.hwid),
          registeredAtMs: slot.registeredMs,
          lastSeenAtMs: model.seen(slot),
        })),
      );
      expect(slots).toHaveLength(expected.slots.length);
      const { ends } = await core.store.readLinkStory(id);
      const short = (name: string | null) =>
        name && (shown.get(name) ?? name.slice(code.length + 1));
      expect(
        ends.map((end) => `${end.why} ${short(end.hwid)} ${short(end.forHwid)}`).reverse(),
      ).toEqual(expected.story);
    }
  }
}

test('slots, sights and ends are those of the model', async () => {
  const steps = fc.array(step, { minLength: 10, maxLength: 60 });
  await playModel(steps, play, { runsMin: 10, runsMax: 40, seconds: 4 });
}, 240_000);
