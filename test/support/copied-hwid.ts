/**
 * A model of links whose HWIDs are copied, and of honest households (test/support/phone-world.ts),
 * before the rule of core/phones.ts.
 *
 * The rule was tuned with the seeds 1 to 3 and 46011 to 46015. Of the latter one household was
 * refused, which mended the rule. Since then it is frozen, and {@link SEEDS}, new to it, judge.
 */

import { sameUtcDay } from '../../src/core/calendar.ts';
import { changesNoFact, mergeUnproven } from '../../src/core/device.ts';
import { NO_FACTS } from '../../src/core/device-facts.ts';
import { factsFrom } from '../../src/core/door.ts';
import { derivedHwid } from '../../src/core/formats.ts';
import { sightingOf } from '../../src/core/phone-traits.ts';
import { judgeSighting } from '../../src/core/phones.ts';
import type { DeviceFacts } from '../../src/core/port/device.ts';
import type { Phone } from '../../src/core/port/phone.ts';
import { KINDS, type Kind, MAKES, type Sender, schedule, World } from './phone-world.ts';

/** None of them tuned the rule. */
export const SEEDS = [8_101, 8_102, 8_103, 8_104, 8_105] as const;

type Rule = 'off' | 'tell' | 'count' | 'refuse';

interface Slot {
  phones: Map<number, Phone>;
  facts: DeviceFacts;
  lastSeenAtMs: number;
}

/** What happened on a link. Devices are those on a HWID that another had first. */
interface Fate {
  isTold: boolean;
  /** True: told before a copy and the first device had both fetched three times since it came. */
  isToldByTwo: boolean;
  copies: number;
  /** Copies that were found out at all, and before both had fetched three times. */
  found: number;
  foundByTwo: number;
  /** Devices that got a slot of their own, that were refused as copies, or as over the limit. */
  counted: number;
  refused: number;
  full: number;
}

/** A gate with one link: what the store keeps, and what each door does with the rule's answer. */
class Gate {
  readonly #slots = new Map<string, Slot>();
  readonly #first = new Map<string, Sender>();
  /** Of each copy: its fetches, and those of the first device since it came. */
  readonly #fetches = new Map<Sender, { own: number; first: number }>();
  /** The phone that a device was taken for last. */
  readonly #phones = new Map<Sender, number>();
  readonly found = new Set<Sender>();
  readonly foundByTwo = new Set<Sender>();
  readonly counted = new Set<Sender>();
  readonly refused = new Set<Sender>();
  readonly full = new Set<Sender>();

  constructor(
    readonly world: World,
    readonly limit: number,
    readonly rule: Rule,
  ) {}

  fetch(sender: Sender, atMs: number): void {
    const { hwid } = sender;
    const first = this.#first.get(hwid) ?? sender;
    this.#first.set(hwid, first);
    if (first === sender) {
      for (const [copy, count] of this.#fetches) if (copy.hwid === hwid) count.first += 1;
    } else {
      const count = this.#fetches.get(sender) ?? { own: 0, first: 0 };
      this.#fetches.set(sender, { ...count, own: count.own + 1 });
    }
    const reported = sender.facts(atMs);
    const slot = this.#slots.get(hwid);
    if (slot !== undefined) {
      this.#knock(sender, slot, reported, atMs);
      return;
    }
    if (this.#slots.size >= this.limit) return;
    const facts = this.world.chance(0.05) ? NO_FACTS : factsFrom(reported, null);
    this.#slots.set(hwid, { phones: new Map(), facts, lastSeenAtMs: atMs });
  }

  #knock(sender: Sender, slot: Slot, reported: DeviceFacts, atMs: number): void {
    const known = { ...slot.facts, lastSeenAtMs: slot.lastSeenAtMs, isRegistered: false };
    const facts = factsFrom(reported, slot.facts);
    if (changesNoFact(known, facts)) {
      if (!sameUtcDay(slot.lastSeenAtMs, atMs)) slot.lastSeenAtMs = atMs;
      return;
    }
    if (this.rule !== 'off' && !this.#judge(sender, slot, facts, atMs)) return;
    slot.facts = mergeUnproven(known, facts);
    slot.lastSeenAtMs = atMs;
  }

  /** Returns whether the device goes on as that of the HWID. */
  #judge(sender: Sender, slot: Slot, facts: DeviceFacts, atMs: number): boolean {
    const before = sightingOf('', slot.facts, hash);
    const known = { phones: [...slot.phones.values()], before, lastSeenAtMs: slot.lastSeenAtMs };
    const judged = judgeSighting(known, sightingOf(sender.door, facts, hash), atMs);
    for (const number of judged.drops) slot.phones.delete(number);
    for (const phone of judged.saves) slot.phones.set(phone.number, phone);
    const { isUnsaved, phone } = judged;
    this.#phones.set(sender, phone.number);
    for (const { number } of judged.found) {
      for (const [one, its] of this.#phones) {
        if (its === number && one.hwid === sender.hwid) this.#find(one);
      }
    }
    if (phone.state !== 'certain') return true;
    this.#find(sender);
    if (this.rule === 'refuse') this.refused.add(sender);
    if (this.rule !== 'count') return this.rule === 'tell';
    const hwid = isUnsaved ? null : derivedHwid(sender.hwid, phone.number);
    if (hwid !== null && (this.#slots.has(hwid) || this.#slots.size < this.limit)) {
      this.#slots.set(hwid, { phones: new Map(), facts, lastSeenAtMs: atMs });
      this.counted.add(sender);
    } else {
      this.full.add(sender);
    }
    return false;
  }

  #find(sender: Sender): void {
    if (this.found.has(sender)) return;
    this.found.add(sender);
    const { own, first } = this.#fetches.get(sender) ?? { own: 9, first: 9 };
    if (Math.min(own, first) <= 2) this.foundByTwo.add(sender);
  }

  get fate(): Fate {
    return {
      isTold: this.found.size > 0,
      isToldByTwo: this.foundByTwo.size > 0,
      copies: this.#fetches.size,
      found: this.found.size,
      foundByTwo: this.foundByTwo.size,
      counted: this.counted.size,
      refused: this.refused.size,
      full: this.full.size,
    };
  }
}

const hash = (model: string) => model;

/** The sums over the links of a kind under a rule: see {@link Fate}. */
export interface Sum extends Omit<Record<keyof Fate, number>, 'isTold' | 'isToldByTwo'> {
  links: number;
  told: number;
  toldByTwo: number;
}

/** Plays the links of a seed; `share` is the part of 10,000. */
export function playLinks(seed: number, rule: Rule, share = 1): Record<Kind, Sum> {
  const sums = Object.entries(KINDS).map(([name, { links }], at): [Kind, Sum] => {
    const kind = name as Kind;
    const sum: Sum = { ...NOTHING };
    for (let number = 0; number < links * share; number++) {
      // Each link is the same under each rule.
      const fate = fateOf(kind, seed * 1e6 + at * 1e5 + number, rule);
      sum.links += 1;
      sum.told += fate.isTold ? 1 : 0;
      sum.toldByTwo += fate.isToldByTwo ? 1 : 0;
      for (const part of PARTS) sum[part] += fate[part];
    }
    return [kind, sum];
  });
  return Object.fromEntries(sums) as Record<Kind, Sum>;
}

const PARTS = ['copies', 'found', 'foundByTwo', 'counted', 'refused', 'full'] as const;
const NOTHING: Sum = {
  links: 0,
  told: 0,
  toldByTwo: 0,
  copies: 0,
  found: 0,
  foundByTwo: 0,
  counted: 0,
  refused: 0,
  full: 0,
};

/** Plays one link. */
export function fateOf(
  kind: Kind,
  seed: number,
  rule: Rule,
  onFetch?: (hwid: string, facts: DeviceFacts, atMs: number) => void,
): Fate {
  const world = new World(seed);
  const { limit, senders } = MAKES[kind](world);
  const gate = new Gate(world, limit, rule);
  for (const { sender, atMs } of schedule(world, senders)) {
    gate.fetch(sender, atMs);
    onFetch?.(sender.hwid, sender.facts(atMs), atMs);
  }
  return gate.fate;
}

const RULES_PLAYED = ['tell', 'count', 'refuse'] as const;

/** Returns the sums of all seeds, by rule and kind. */
function sumsOf(
  playSeed: (seed: number, rule: Rule) => Record<Kind, Sum>,
  seeds: readonly number[],
): Record<(typeof RULES_PLAYED)[number], Record<Kind, Sum>> {
  const sums = RULES_PLAYED.map((rule) => {
    const played = seeds.map((seed) => playSeed(seed, rule));
    const kinds = (Object.keys(KINDS) as Kind[]).map((kind): [Kind, Sum] => {
      const sum: Sum = { ...NOTHING };
      for (const of of played) {
        for (const part of Object.keys(sum) as (keyof Sum)[]) sum[part] += of[kind][part];
      }
      return [kind, sum];
    });
    return [rule, Object.fromEntries(kinds)];
  });
  return Object.fromEntries(sums);
}

/** Returns the table of docs/gate.md. */
export function tableOf(
  playSeed: (seed: number, rule: Rule) => Record<Kind, Sum>,
  seeds: readonly number[],
): string {
  const { tell, count, refuse } = sumsOf(playSeed, seeds);
  const whole = (number: number) => number.toLocaleString('en-US');
  const part = (number: number, of: number) =>
    of === 0 || number === 0 ? '0' : `${whole(number)} (${((100 * number) / of).toFixed(1)} %)`;
  const lines = (Object.keys(KINDS) as Kind[]).map((kind) => {
    const { links, told, toldByTwo, copies } = tell[kind];
    const cells = [
      ...[KINDS[kind].is, whole(links), part(told, links), part(toldByTwo, links)],
      ...[kind === 'household' ? '' : whole(copies)],
      ...[part(count[kind].counted, copies), part(count[kind].full, copies)],
      part(refuse[kind].refused, copies),
    ];
    return `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
  });
  return [TABLE_HEAD, '|---|---|---|---|---|---|---|---|', ...lines].join('\n');
}

const TABLE_HEAD =
  '| Links with | Links | `tell`: told | within two fetches each | Copies | `count`: a slot of its own | refused, the link is full | `refuse`: refused |';

/** Returns a page with the table in the place of the one before. */
export const withTable = (page: string, table: string): string =>
  page.replace(/^\| Links with \|.*\n(?:\|.*\n)*/m, () => `${table}\n`);
