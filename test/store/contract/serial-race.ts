/**
 * Many short races in a row, each for a provider or a link of its own. Whatever the answers are,
 * there must be an order of the calls that explains all of them: calls to one provider, and calls
 * to one link, go one after the other, over however many connections and processes they come.
 */

import { expect } from 'bun:test';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { ALL, addDoor, addProvider, FACTS, HASH, heard, linkDraft, NOW_MS } from './fixture.ts';
import {
  at,
  claimedIds,
  draft,
  lease,
  onLink,
  registration,
  send,
  statusOf,
  to,
  tokenHash,
  UNGUARDED,
} from './message-fixture.ts';
import { hasOrder, type Model } from './order.ts';
import { type Given, RACERS, type Race } from './race.ts';

const ROUNDS = 12;

interface Round {
  number: number;
  providerId: number;
  /** A link or a distribution, if the race is for one. */
  id: number;
}

interface Serial<State> extends Model<State> {
  callCount: number;
  /** Makes what is raced for; says its provider, and what else has an id. */
  given(store: Store, number: number): Promise<{ providerId: number; id?: number }>;
  call(store: Store, round: Round, n: number): Promise<unknown>;
  /** What the store holds at the end, as the model would say it. */
  end(store: Store, round: Round): Promise<State>;
}

function serial<State>(of: Serial<State>): Race {
  const roundAt = (given: Given, number: number): Round => ({
    number,
    providerId: given[`provider ${number}`] ?? 0,
    id: given[`id ${number}`] ?? 0,
  });
  // A racer makes one call after the other, and every RACERS-th is its.
  const goesBefore = (one: number, other: number) => one < other && (other - one) % RACERS === 0;
  return {
    atOnce: 1,
    callCount: ROUNDS * of.callCount,
    async given(store) {
      const given: Record<string, number> = {};
      for (let number = 0; number < ROUNDS; number++) {
        const { providerId, id = 0 } = await of.given(store, number);
        Object.assign(given, { [`provider ${number}`]: providerId, [`id ${number}`]: id });
      }
      return given;
    },
    call: (store, given, n) =>
      of.call(store, roundAt(given, Math.floor(n / of.callCount)), n % of.callCount),
    async check(store, given, answers) {
      for (let number = 0; number < ROUNDS; number++) {
        const own = answers.slice(number * of.callCount, (number + 1) * of.callCount);
        const end = await of.end(store, roundAt(given, number));
        const isEnd = (state: State) => Bun.deepEquals(state, end);
        const isExplained = hasOrder(of, own, isEnd, goesBefore);
        expect({ number, own, end, isExplained }).toEqual({ number, own, end, isExplained: true });
      }
    },
  };
}

const providerCode = (number: number) => `Provid${10 + number}`;
const linkCode = (number: number) => `SerialLink${10 + number}`;
/** What matters of an answer that holds an id. */
const orAdded = (answer: unknown) => (typeof answer === 'object' ? 'added' : answer);
const oneProvider = async (store: Store, number: number) => ({
  providerId: (await addProvider(store, providerCode(number))).id,
});

/** The code that each call wants, several the same one. */
const CODES = [0, 1, 2, 3, 0, 4, 1, 5, 2];
const LINKS_MAX = 4;
const codeOf = (number: number, n: number) => `Round${10 + number}Code${CODES[n]}`;

const links: Serial<readonly number[]> = {
  callCount: CODES.length,
  given: oneProvider,
  call: async (store, { number, providerId }, n) => {
    const more = { installCode: codeOf(number, n), installCountMax: LINKS_MAX };
    return orAdded(await store.addLink(linkDraft(providerId, more), ACT));
  },
  start: [],
  step: (codes, n) => {
    const code = CODES[n] ?? 0;
    if (codes.includes(code)) return ['install_code_exists', codes];
    if (codes.length >= LINKS_MAX) return ['install_code_limit_reached', codes];
    return ['added', [...codes, code].sort()];
  },
  end: async (store, { providerId }) =>
    (await store.listLinksOf(providerId, ALL))
      .map(({ installCode }) => Number(installCode.at(-1)))
      .sort(),
};

type SlotCall =
  | readonly ['knock' | 'free' | 'register', hwid: string]
  | readonly ['limit', limit: number];

/** Three racers take turns at these: what one frees or grants, another takes. */
const SLOT_CALLS: readonly SlotCall[] = [
  ['knock', 'a'],
  ['knock', 'b'],
  ['register', 'c'],
  ['free', 'a'],
  ['limit', 1],
  ['knock', 'a'],
  ['limit', 3],
  ['register', 'd'],
  ['free', 'b'],
];

interface LinkState {
  limit: number;
  hwids: readonly string[];
}

const slots: Serial<LinkState> = {
  callCount: SLOT_CALLS.length,
  async given(store, number) {
    const door = await addDoor(store, providerCode(number), linkCode(number));
    return { providerId: door.providerId, id: door.installId };
  },
  async call(store, { number, providerId, id }, n) {
    const [kind, what] = SLOT_CALLS[n] ?? ['limit', 0];
    if (kind === 'limit') {
      const changed = await store.updateLink(providerId, id, { installLimit: what }, ACT);
      return typeof changed === 'string' ? changed : changed.says;
    }
    const hwid = `${what}-${number}`;
    if (kind === 'free') {
      return store.freeSlot(providerId, { installCode: null, installId: id }, hwid, ACT);
    }
    if (kind === 'register') {
      const shown = onLink(linkCode(number));
      const wanted = registration(hwid, { shown, tokenHash: tokenHash(hwid) });
      return orAdded(await store.registerDevice(wanted));
    }
    const key = { installCode: linkCode(number), domainHash: HASH, hwid };
    const admitted = heard(await store.takeSlot(key, FACTS, NOW_MS));
    if (typeof admitted === 'string') return admitted;
    const { installLimit, deviceCount } = admitted;
    return { installLimit, deviceCount };
  },
  start: { limit: 2, hwids: [] },
  step: ({ limit, hwids }, n) => {
    const [kind, what] = SLOT_CALLS[n] ?? ['limit', 0];
    if (kind === 'limit') {
      if (what < hwids.length) return ['install_limit_below_count', { limit, hwids }];
      return ['ok', { limit: what, hwids }];
    }
    const others = hwids.filter((hwid) => hwid !== what);
    if (kind === 'free') return [{ deviceCount: others.length }, { limit, hwids: others }];
    const isOn = others.length < hwids.length;
    if (!isOn && hwids.length >= limit) return ['link_limit_reached', { limit, hwids }];
    const after = { limit, hwids: [...others, what].sort() };
    if (kind === 'register') return ['added', after];
    return [{ installLimit: limit, deviceCount: after.hwids.length }, after];
  },
  async end(store, { providerId, id }) {
    const link = { installCode: null, installId: id };
    const found = await store.listSlots(providerId, link, null, 100);
    const [install] = await store.listLinksOf(providerId, ALL);
    if (typeof found === 'string' || install === undefined) throw new Error('there is no link');
    const hwids = found.map(({ hwid }) => hwid.slice(0, 1)).sort();
    return { limit: install.installLimit, hwids };
  },
};

/** Unbound recipients of each send; 0: a general notification. */
const UNBOUND = [0, 2, 0, 1, 2, 0, 3, 1, 0];
const QUOTA = 4;
const SENDS_MAX = 3;

interface SendState {
  sends: number;
  generals: number;
  unbound: number;
}

const sends: Serial<SendState> = {
  callCount: UNBOUND.length,
  given: oneProvider,
  async call(store, { providerId }, n) {
    const unboundCount = UNBOUND[n] ?? 0;
    const guards = {
      generalIntervalMs: unboundCount === 0 ? 300_000 : null,
      unboundQuota: unboundCount === 0 ? null : { sinceMs: 0, countMax: QUOTA },
      bounds: { ...UNGUARDED.bounds, sendsPerMinuteMax: SENDS_MAX },
    };
    const hwids = Array.from({ length: unboundCount }, (_, i) => `unbound-${i}`);
    const target = unboundCount === 0 ? {} : { notificationType: 20 as const, ...to(...hwids) };
    const wanted = draft(providerId, { ...target, unboundCount });
    return orAdded(await store.addDistribution(wanted, guards, ACT));
  },
  start: { sends: 0, generals: 0, unbound: 0 },
  step: (state, n) => {
    const unbound = UNBOUND[n] ?? 0;
    if (unbound > 0 && state.unbound + unbound > QUOTA) return ['unbound_quota_exceeded', state];
    if (unbound === 0 && state.generals > 0) return ['general_too_soon', state];
    if (state.sends >= SENDS_MAX) return ['too_many_sends', state];
    const generals = state.generals + (unbound === 0 ? 1 : 0);
    const after = { sends: state.sends + 1, generals, unbound: state.unbound + unbound };
    return ['added', after];
  },
  async end(store, { providerId }) {
    const sent = await store.listDistributions(providerId, ALL);
    const commands = sent.filter(({ notificationType }) => notificationType === 20);
    const unbound = commands.flatMap(({ targetHwid }) => targetHwid.split(',')).length;
    return { sends: sent.length, generals: sent.length - commands.length, unbound };
  },
};

const cancels: Serial<number> = {
  callCount: 6,
  async given(store, number) {
    const { providerId } = await oneProvider(store, number);
    const id = await send(store, providerId, at(NOW_MS + 3_600_000));
    await claimedIds(store);
    await store.moveDistribution(lease(id), 10, 20);
    return { providerId, id };
  },
  call: async (store, { providerId, id }, n) => {
    if (n % 3 === 0) return store.moveDistribution(lease(id), 20, 5);
    if (n % 3 === 1) return store.blockDistribution(id, [10, 20, 5], NOW_MS, ACT);
    const guard = { from: [10, 20, 30], dueFromMs: NOW_MS, nowMs: NOW_MS };
    return store.cancelDistribution(providerId, id, guard, ACT);
  },
  start: 20,
  step: (status, n) => {
    if (n % 3 === 0) return status === 20 ? [true, 5] : [false, status];
    const [from, to] = n % 3 === 1 ? [[10, 20, 5], 140] : [[10, 20, 30], 130];
    return from.includes(status) ? ['ok', to] : [status, status];
  },
  end: (store, { id }) => statusOf(store, id),
};

/** Whose token each registration of the one HWID shows; null: none. */
const SHOWN = [null, null, null, 0, 1, 2, 3, 4, 5];
const word = (number: number, n: number) => tokenHash(`round ${number} call ${n}`);

const registrations: Serial<number | null> = {
  callCount: SHOWN.length,
  given: oneProvider,
  async call(store, { number }, n) {
    const held = SHOWN[n] ?? null;
    const heldTokenHash = held === null ? null : word(number, held);
    const wanted = { tokenHash: word(number, n), heldTokenHash };
    return orAdded(await store.registerDevice(registration(`hwid-${number}`, wanted)));
  },
  start: null,
  step: (holder, n) => {
    const isOwn = holder === null || holder === SHOWN[n];
    return isOwn ? ['added', n] : ['registration_refused', holder];
  },
  async end(store, { number }) {
    const holders: number[] = [];
    for (const n of SHOWN.keys()) {
      if ((await store.findDeviceByToken(word(number, n))) !== null) holders.push(n);
    }
    expect(holders).toHaveLength(1);
    return holders[0] ?? null;
  },
};

export const SERIAL_RACES: Readonly<Record<string, Race>> = {
  'for links, in the order of some queue': serial(links),
  'for the slots of a link that grows and shrinks, in the order of some queue': serial(slots),
  'for what a provider may send, in the order of some queue': serial(sends),
  'between cancels, blocks and workers, in the order of some queue': serial(cancels),
  'to register one HWID, in the order of some queue': serial(registrations),
};
