/**
 * Tells the phones apart that send one HWID. People type the same HWID into the apps of all their
 * devices, or a proxy sends one for everybody. No address or network is looked at.
 *
 * | Two sightings at one door | are |
 * |---|---|
 * | have different families of systems | two phones, once the older one comes again |
 * | have different models in one app | two phones, once the older one comes again |
 * | have different models in different apps | a hint: apps spell models differently |
 * | differ in the version of app or system, or in the app alone | one phone |
 * | one lacks the family, the model or a known app | not told apart by it |
 *
 * A phone that was replaced or renamed never comes again. A new version of an app may spell models
 * differently, and its user may go back to the old one. So two models from two versions of one app
 * are two phones only once they take turns: three changes, the last two within three days. The same
 * holds for a system that the `User-Agent` alone shows.
 */

import { DAY_MS, MINUTE_MS, sameUtcDay } from './calendar.ts';
import type { Phone, PhoneState, PhoneTraits } from './port/phone.ts';

/** The traits of the phone behind a HWID, as one call has them. */
export interface Sighting extends PhoneTraits {
  /** The version in the `User-Agent`; empty: it has none. It is not kept. */
  version: string;
}

/** The most phones of a slot. */
export const PHONES_MAX = 8;
/** The most further phones that a slot gets in a UTC day. */
export const NEW_PHONES_PER_DAY = 4;
/** A phone is forgotten when it was not seen for so long. */
export const PHONE_KEPT_MS = 30 * DAY_MS;
/** Turns are counted within this time. */
const TURNS_MS = 3 * DAY_MS;
/** Sooner changes are those of a person who tries settings, or of an app that tries names. */
const TURN_GAP_MS = 10 * MINUTE_MS;

/** A slot before a call. */
interface SlotSeen {
  /** Its phones; none are kept before a second one came. */
  phones: readonly Phone[];
  /** The traits in the facts of the slot; null: they may be those of another link. */
  before: Sighting | null;
  /** When the device of the slot was last seen. */
  lastSeenAtMs: number;
}

/** The result of {@link judgeSighting}. */
export interface Judged {
  /** The phone that called, as it is now. */
  phone: Phone;
  /** The phones to save, with their new states; most often none. */
  saves: readonly Phone[];
  /** The numbers of phones to delete, before others are saved. */
  drops: readonly number[];
  /** The phones that became certain by this call. */
  found: readonly Phone[];
  /** True: a new phone that is not saved, because the slot has as many as it may. */
  isUnsaved: boolean;
  /** True: the first facts of a slot of which none were known. */
  isFirstWord: boolean;
}

/**
 * Judges a call of a slot's HWID. Writes nothing. Drops phones that were not seen for 30 days. When
 * the first phone is among them, it stays the first as long as the facts of the slot are its own,
 * because others were refused; else the earliest of the others is the first at its next call.
 */
export function judgeSighting(slot: SlotSeen, seen: Sighting, nowMs: number): Judged {
  const { before, lastSeenAtMs, phones } = slot;
  const live = phones
    .map((phone) => datedBy(phone, before, lastSeenAtMs))
    .filter((phone) => nowMs - phone.lastSeenAtMs < PHONE_KEPT_MS);
  const numbers = new Set(live.map(({ number }) => number));
  const drops = phones.map(({ number }) => number).filter((number) => !numbers.has(number));
  const comes: Phone = { ...phoneOf(seen, nowMs), number: 1, state: 'first' };
  const first = before && firstBy(before, lastSeenAtMs);
  if (live.length > 0) {
    const all = first !== null && isOnlyOf(first, live) ? [first, ...live] : live;
    const judged = judgeAmong(all, seen, slot, nowMs);
    const owed = live.filter((phone) => isOwed(phone, phones, judged.saves));
    return { ...judged, saves: [...judged.saves, ...owed], drops };
  }

  if (before === null || first === null) {
    return { ...NOTHING_NEW, phone: comes, saves: [comes], drops };
  }
  if (!saysAnything(before) || nowMs - lastSeenAtMs >= PHONE_KEPT_MS) {
    const isFirstWord = !saysAnything(before) && saysAnything(seen);
    return { ...NOTHING_NEW, phone: comes, drops, isFirstWord };
  }
  if (difference(first, seen) === null) return { ...NOTHING_NEW, phone: first, drops };
  const judged = judgeAmong([first], seen, slot, nowMs);
  return { ...judged, saves: [first, ...judged.saves], drops };
}

/** Returns the first phone that the facts of a slot say. */
export const firstBy = (before: Sighting, seenAtMs: number): Phone => ({
  ...phoneOf(before, seenAtMs),
  number: 1,
  state: 'first',
});

/** Returns whether no kept phone is the first, and the facts of the slot are those of none. */
const isOnlyOf = (first: Phone, live: readonly Phone[]) =>
  saysAnything(first) &&
  live.every((phone) => phone.state !== 'first' && difference(phone, first) !== null);

const NOTHING_NEW = { saves: [], drops: [], found: [], isUnsaved: false, isFirstWord: false };

const phoneOf = ({ door, family, app, modelHash }: PhoneTraits, atMs: number) => ({
  door,
  family,
  app,
  modelHash,
  firstSeenAtMs: atMs,
  lastSeenAtMs: atMs,
});

/**
 * Returns a phone with a later sight, of which it is not known at which door and in which app it
 * was. It lies so far back that it is no turn.
 */
const keptAlive = (phone: Phone, seenAtMs: number): Phone => {
  const lastSeenAtMs = Math.max(phone.lastSeenAtMs, seenAtMs - TURNS_MS);
  return { ...phone, lastSeenAtMs };
};

/** The sights of a phone are saved when another one calls in between; the slot has the later. */
const datedBy = (phone: Phone, before: Sighting | null, lastSeenAtMs: number): Phone =>
  before !== null && isSame(phone, before) ? keptAlive(phone, lastSeenAtMs) : phone;

/** Returns whether only the slot has the day on which a phone was last seen. */
const isOwed = (phone: Phone, kept: readonly Phone[], saves: readonly Phone[]) =>
  !saves.some(({ number }) => number === phone.number) &&
  kept.some(
    ({ lastSeenAtMs, number }) =>
      number === phone.number && !sameUtcDay(lastSeenAtMs, phone.lastSeenAtMs),
  );

export const saysAnything = ({ family, modelHash }: PhoneTraits) =>
  family !== '' || modelHash !== '';

/** Returns whether two have the same facts, at the same door as far as it is known. */
export const isSame = (one: PhoneTraits, other: PhoneTraits) =>
  one.family === other.family &&
  one.app === other.app &&
  one.modelHash === other.modelHash &&
  isSameDoor(one, other);

const isSameDoor = (one: PhoneTraits, other: PhoneTraits) =>
  one.door === '' || other.door === '' || one.door === other.door;

/**
 * Families of which one device may name several: a router is a Linux, and some apps are known to
 * run on a desktop alone.
 */
const ONE_DEVICE: readonly (readonly string[])[] = [
  ['linux', 'openwrt'],
  ['desktop', 'windows'],
  ['desktop', 'macos'],
  ['desktop', 'linux'],
];

/** Returns whether two known families are those of two devices. */
export const areTwoFamilies = (one: string, other: string) =>
  one !== other && !ONE_DEVICE.some((both) => both.includes(one) && both.includes(other));

/** Returns what tells two apart, whatever their doors; null: nothing. */
function difference(one: PhoneTraits, other: PhoneTraits): 'family' | 'model' | 'hint' | null {
  const areKnown = one.family !== '' && other.family !== '';
  if (areKnown && areTwoFamilies(one.family, other.family)) return 'family';
  const [a, b] = [one.modelHash, other.modelHash];
  if (a === '' || b === '' || a === b) return null;
  const isComparable = one.app !== '' && one.app === other.app;
  return isComparable && a.startsWith('i:') === b.startsWith('i:') ? 'model' : 'hint';
}

/** Returns whether two, of any doors, may be two phones. */
export const areApart = (one: PhoneTraits, other: PhoneTraits): boolean =>
  difference(one, other) !== null;

/** Returns whether two, of any doors, have one model, and no two systems. */
export const areAlike = (one: PhoneTraits, other: PhoneTraits): boolean =>
  saysAnything(one) && one.modelHash === other.modelHash && difference(one, other) === null;

const isFurther = (one: PhoneTraits, other: PhoneTraits) =>
  ['family', 'model'].includes(difference(one, other) ?? '');

function judgeAmong(live: readonly Phone[], seen: Sighting, slot: SlotSeen, nowMs: number): Judged {
  const here = live.filter((phone) => isSameDoor(phone, seen));
  const known = saysAnything(seen) ? matchOf(here, seen) : firstOf(live);
  if (known === null) return judgeNew(live, here, seen, nowMs);
  if (!saysAnything(seen)) return { ...NOTHING_NEW, phone: known };

  const found = here
    .filter((other) => isProved(known, other, { seen, slot, nowMs }))
    .flatMap((other) => laterOf(known, other))
    .map((phone): Phone => ({ ...phone, state: 'certain' }));
  const self = found.find(({ number }) => number === known.number) ?? known;
  const judged = learned(promoted(self, live), here, seen, nowMs);
  const isExact = isSame(judged, seen);
  const phone = isExact ? { ...judged, lastSeenAtMs: nowMs } : keptAlive(judged, nowMs);
  const isSaved =
    phone.state !== known.state ||
    phone.firstSeenAtMs !== known.firstSeenAtMs ||
    !sameUtcDay(known.lastSeenAtMs, phone.lastSeenAtMs) ||
    (isExact && here.some((other) => isOpen(known, other)));
  const others = found.filter((one) => one !== self);
  return { ...NOTHING_NEW, phone, found, saves: [...(isSaved ? [phone] : []), ...others] };
}

const firstOf = (live: readonly Phone[]): Phone | null =>
  live.find(({ state }) => state === 'first') ?? live[0] ?? null;

/** Returns the phone of a sighting; of several the one that has most rights; null: it is new. */
function matchOf(here: readonly Phone[], seen: Sighting): Phone | null {
  const alike = here.filter((phone) => difference(phone, seen) === null);
  const same = alike.filter((phone) => isSame(phone, seen));
  return (
    same.find(({ door }) => door !== '') ??
    same[0] ??
    alike.find(({ state }) => state === 'first') ??
    alike.find(({ state }) => state === 'ignored') ??
    alike[0] ??
    null
  );
}

interface Call {
  seen: Sighting;
  slot: SlotSeen;
  nowMs: number;
}

/**
 * Apps that name no system in a header. Their `User-Agent` shows it, which people and other apps
 * choose too, and try one after another.
 */
const SHOWS_FAMILY: readonly string[] = [
  'Clash Meta for Android',
  'FlClash',
  'Hiddify',
  'v2rayN',
  'v2rayNG',
];

/** Returns whether a call of a phone proves that another one is not the same. */
function isProved(known: Phone, other: Phone, { seen, slot, nowMs }: Call): boolean {
  // A copy proves nothing: it comes again after the owner got a new phone, too.
  if (known.state === 'certain' || other.state === 'certain') return false;
  if (known.door === '' || other.door === '') return false;
  if (!isFurther(known, other) || !isFurther(seen, other)) return false;
  const isBack = known.firstSeenAtMs < other.firstSeenAtMs;
  const isFamily = difference(known, other) === 'family';
  const isShown = [known, other, seen].some(({ app }) => SHOWS_FAMILY.includes(app));
  if (isBack && isFamily && !isShown) return true;
  // A call of another app, or one that says less, may be that of another phone.
  if (!isSame(known, seen)) return false;
  if (isBack && !isFamily && isOneVersion(other, seen, slot)) return true;
  return tookTurns(known, other, nowMs);
}

/**
 * Returns whether the other phone, which called last, had the same version of the app. Facts of
 * several calls are merged, so those of the slot count only if they are of that call alone.
 */
const isOneVersion = (other: Phone, seen: Sighting, { before, lastSeenAtMs }: SlotSeen) =>
  seen.version !== '' &&
  before?.version === seen.version &&
  isSame(before, other) &&
  other.lastSeenAtMs === lastSeenAtMs;

/** Returns whether two called in turns: the other, this one, the other, and now this one. */
const tookTurns = (known: Phone, other: Phone, nowMs: number) =>
  other.firstSeenAtMs < known.lastSeenAtMs &&
  known.lastSeenAtMs + TURN_GAP_MS <= other.lastSeenAtMs &&
  other.lastSeenAtMs + TURN_GAP_MS <= nowMs &&
  nowMs - known.lastSeenAtMs <= TURNS_MS;

/** Returns the one of two that came later; empty: its state is decided. */
function laterOf(one: Phone, other: Phone): Phone[] {
  const [early, late] = one.firstSeenAtMs <= other.firstSeenAtMs ? [one, other] : [other, one];
  const further = late.state === 'first' ? early : late;
  return further.state === 'pending' || further.state === 'hint' ? [further] : [];
}

/** Returns whether the sights of two decide yet whether they are one. */
const isOpen = (one: Phone, other: Phone) =>
  isFurther(one, other) && [one, other].some(({ state }) => state === 'pending');

function promoted(phone: Phone, live: readonly Phone[]): Phone {
  const isLed = live.some(
    ({ firstSeenAtMs, state }) => state === 'first' || firstSeenAtMs < phone.firstSeenAtMs,
  );
  return isLed ? phone : { ...phone, state: 'first' };
}

/**
 * Adds what a sighting says to the facts of a phone: its door, and what the first one did not say.
 * Sights before that do not count at that door.
 */
function learned(phone: Phone, here: readonly Phone[], seen: Sighting, nowMs: number): Phone {
  const { family, app, modelHash } = seen;
  const isAlone = here.every((other) => other.number === phone.number || isFurther(other, seen));
  const isFuller = phone.state === 'first' && phone.modelHash === '' && modelHash !== '' && isAlone;
  if (isFuller) {
    const facts = { door: seen.door, family: family || phone.family, app, modelHash };
    return { ...phone, ...facts, firstSeenAtMs: nowMs };
  }
  const isAdopted = phone.door === '' && isSame(phone, seen);
  return isAdopted ? { ...phone, door: seen.door, firstSeenAtMs: nowMs } : phone;
}

function judgeNew(
  live: readonly Phone[],
  here: readonly Phone[],
  seen: Sighting,
  nowMs: number,
): Judged {
  const state = stateOfNew(live, here, seen);
  const numbers = new Set(live.map(({ number }) => number));
  let number = 2;
  while (numbers.has(number)) number += 1;
  const phone: Phone = { ...phoneOf(seen, nowMs), number, state };
  const today = live.filter((one) => one.state !== 'first' && sameUtcDay(one.firstSeenAtMs, nowMs));
  const [oldest] = live
    .filter((one) => one.state === 'pending' || one.state === 'hint')
    .sort((one, other) => one.lastSeenAtMs - other.lastSeenAtMs);
  const hasRoom = live.length < PHONES_MAX;
  if (!hasRoom && oldest === undefined) {
    // One more phone of a HWID that is certainly on many is a copy like them.
    const isCopy = state === 'pending' && live.some((one) => one.state === 'certain');
    const unsaved: Phone = isCopy ? { ...phone, state: 'certain' } : phone;
    return { ...NOTHING_NEW, phone: unsaved, isUnsaved: true };
  }
  if (today.length >= NEW_PHONES_PER_DAY) return { ...NOTHING_NEW, phone, isUnsaved: true };
  const saved = hasRoom || oldest === undefined ? phone : { ...phone, number: oldest.number };
  return { ...NOTHING_NEW, phone: saved, saves: [saved] };
}

function stateOfNew(live: readonly Phone[], here: readonly Phone[], seen: Sighting): PhoneState {
  const isFirst = live.some(
    (one) => one.state === 'first' && isSame({ ...one, door: seen.door }, seen),
  );
  if (isFirst) return 'first';
  return here.length === 0 || here.some((one) => isFurther(one, seen)) ? 'pending' : 'hint';
}
