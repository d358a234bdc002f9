/** The door for the phones that send one HWID of a link: core/phones.ts tells them apart. */

import { barHashOf } from '../../core/bar.ts';
import { sameUtcDay } from '../../core/calendar.ts';
import {
  copyRule,
  derivedHwids,
  isDue,
  NOT_ITS_OWN,
  sharedSighting,
} from '../../core/copied-hwid.ts';
import { derivedFrom, isSharedHwid } from '../../core/formats.ts';
import { sightingOf } from '../../core/phone-traits.ts';
import { areAlike, type Judged, judgeSighting, type Sighting } from '../../core/phones.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { Phone, PhoneTraits } from '../../core/port/phone.ts';
import type { NoLink, PhoneSight, SlotKey } from '../../core/port/slot.ts';
import { modelHash } from '../../core/secret.ts';
import type { Statements, Step } from '../backend.ts';
import { fullLinkSteps } from './full-link.ts';
import { type PhoneHere, type PhoneRow, type PhonesDoor, phoneStatements } from './phone-rows.ts';
import { shared } from './shared.ts';

/** Returns the known phones that a refused call changes: in their state, or once a day. */
export const newsOf = ({
  judged,
  phones,
  nowMs,
}: Pick<PhoneHere, 'judged' | 'phones' | 'nowMs'>): Phone[] =>
  judged.saves.filter((phone) => {
    const known = phones.find(({ number }) => number === phone.number);
    return known && (known.state !== phone.state || !sameUtcDay(known.lastSeenAtMs, nowMs));
  });

/** Returns the further phone with a slot of its own that a phone of another door is. */
const twinOf = (phone: Phone, phones: readonly PhoneRow[]): PhoneRow | undefined =>
  phones.find((one) => one.ownHwid !== null && one.door !== phone.door && areAlike(one, phone));

/** Returns the steps that find the door for a phone. */
export const phoneSteps = shared((backend: Statements) => {
  const on = phoneStatements(backend);
  const { policyOn } = fullLinkSteps(backend);
  let key: Uint8Array | null = null;

  /** Returns what facts say of a phone; `isShared`: of apps that send no HWID. */
  function* sighting(
    door: Sighting['door'],
    facts: DeviceFacts,
    isShared: boolean,
  ): Step<Sighting> {
    key ??= (yield* on.key.get())?.key ?? new Uint8Array();
    const secret = key;
    const seen = sightingOf(door || 'install', facts, (model) => modelHash(secret, model));
    return isShared ? sharedSighting({ ...seen, door }) : { ...seen, door };
  }

  /** Finds the slot that a phone had before it was forgotten: one with its traits, and its name. */
  function* formerName(installId: number, hwid: string, phone: Phone): Step<string | null> {
    const hwids = derivedHwids(hwid, 2);
    for (const { hwid: name, ...facts } of yield* on.left.all({ installId, hwids })) {
      const former = yield* sighting('', facts, isSharedHwid(hwid));
      if (areAlike(former, phone)) return name;
    }
    return null;
  }

  /** Returns the end of the bar of a phone that sends a HWID; null: none holds. */
  function* barOf(
    { hasBars, link: { installId } }: PhonesDoor,
    hwid: string,
    phone: PhoneTraits,
    nowMs: number,
  ): Step<number | null> {
    const bars = hasBars ? yield* on.bars.all({ installId }) : [];
    const alike = bars.filter(
      (bar) => nowMs < bar.untilMs && areAlike({ ...bar, door: '' }, phone),
    );
    if (alike.length === 0) return null;
    const hashes = new Set(derivedHwids(hwid, 2).map(barHashOf));
    return alike.find(({ hwidHash }) => hashes.has(hwidHash))?.untilMs ?? null;
  }

  /** Returns the HWID for a phone that has no slot of its own; null: all names are taken. */
  function* freeName(installId: number, hwid: string, deviceId: number, phone: Phone) {
    const former = yield* formerName(installId, hwid, phone);
    if (former !== null) return former;
    for (const name of derivedHwids(hwid, phone.number)) {
      const named = yield* on.named.get({ hwid: name, deviceId, installId });
      if (named === null || named.isTaken === 0) return name;
    }
    return null;
  }

  /** Returns whether the facts of a device are those of its slot. */
  function* isItsOwn(installId: number, deviceId: number, phones: readonly PhoneRow[]) {
    if (phones.length > 0) return true;
    const slot = yield* on.slot.get({ installId, deviceId });
    return slot !== null && slot.doubtUntilMs !== NOT_ITS_OWN;
  }

  /** Judges the phone; null: the door has nothing to tell apart. */
  function* judged(
    { device, hasPhones, link: { installId } }: PhonesDoor,
    sight: PhoneSight,
    deviceId: number,
  ): Step<{ judged: Judged; phones: PhoneRow[]; isDoubtful: boolean } | null> {
    const phones = hasPhones ? yield* on.phones.all({ installId, deviceId }) : [];
    if (phones.length === 0 && device === null) return null;
    const isOwn = device !== null && (yield* isItsOwn(installId, deviceId, phones));
    const before = isOwn ? yield* sighting('', device, sight.isShared) : null;
    const seen = yield* sighting(sight.door, sight.facts, sight.isShared);
    const lastSeenAtMs = device?.lastSeenAtMs ?? 0;
    const all = judgeSighting({ phones, before, lastSeenAtMs }, seen, sight.nowMs);
    const isKept = ({ number }: Phone) => phones.some((one) => one.number === number);
    const of = sight.isUnproved ? { ...all, saves: all.saves.filter(isKept) } : all;
    const isNew = phones.length === 0 && before === null;
    const isDoubtful = !sight.isUnproved && (of.isFirstWord || isNew);
    return { judged: of, phones, isDoubtful };
  }

  /** Returns whether the slot's first phone is that of its link. */
  function* isSure(installId: number, deviceId: number, nowMs: number): Step<boolean> {
    const slot = yield* on.slot.get({ installId, deviceId });
    return slot === null || nowMs >= slot.doubtUntilMs;
  }

  return {
    sighting,

    /**
     * Returns the door for the phone that asks: that of its HWID, or that of its own, which
     * `doorOf` finds.
     */
    *at<D extends PhonesDoor>(
      door: D,
      { hwid, sight }: Pick<SlotKey, 'hwid'> & { sight: PhoneSight },
      doorOf: (hwid: string) => Step<D | NoLink>,
    ): Step<D | NoLink> {
      const { installId } = door.link;
      const { nowMs } = sight;
      const deviceId = door.byHash?.deviceId ?? door.knownId;
      if (deviceId !== undefined && derivedFrom(hwid) !== null && door.mayBeDerived) {
        if ((yield* on.isDerived.get({ installId, deviceId })) !== null) {
          return { ...door, isDerived: true };
        }
      }
      const found = deviceId === undefined ? null : yield* judged(door, sight, deviceId);
      if (deviceId === undefined || found === null) {
        const seen = yield* sighting(sight.door, sight.facts, sight.isShared);
        const barredUntilMs = door.device ? null : yield* barOf(door, hwid, seen, nowMs);
        return barredUntilMs === null ? door : { ...door, barredUntilMs };
      }
      const { judged: of, phones, isDoubtful } = found;
      const row = phones.find(({ number }) => number === of.phone.number);
      const own = row?.ownHwid ?? twinOf(of.phone, phones)?.ownHwid ?? null;
      const isNews = of.saves.length > 0 || of.drops.length > 0 || isDoubtful;
      if (own === null && of.phone.state !== 'first' && of.phone.state !== 'ignored') {
        const barredUntilMs = yield* barOf(door, hwid, of.phone, nowMs);
        if (barredUntilMs !== null) return { ...door, barredUntilMs };
      }
      // Whatever the rule, it asks as a device with one phone does.
      if (!isNews && own === null && of.phone.state !== 'certain') return door;
      const link = yield* policyOn(installId);
      if (link === null) return door;
      const rule = copyRule(link.policy, sight.isShared);
      if (rule === 'off' && phones.every(({ ownHwid }) => ownHwid === null)) return door;
      const isTold = rule !== 'off' && isDue(phones, nowMs);
      const sentId = door.byHash ? null : deviceId;
      const facts = { sentId, judged: of, phones, isTold, isDoubtful, nowMs };
      const here = { ...facts, hwid, isNews, isNewsOfKnown: newsOf(facts).length > 0 };
      const isCertain = of.phone.state === 'certain';
      const isFurther = isCertain && (yield* isSure(installId, deviceId, nowMs));
      if (own === null && !(isFurther && (rule === 'count' || rule === 'refuse'))) {
        return { ...door, phone: { ...here, isRefused: false, isOwn: false } };
      }
      if (own !== null) {
        const its = yield* doorOf(own);
        if (typeof its === 'string') return its;
        const isCounted = rule === 'count' && of.phone.state !== 'ignored';
        // A bar holds under each rule until it ends or is lifted.
        const isBarred = its.barredUntilMs !== undefined && nowMs < its.barredUntilMs;
        if (isBarred || its.device !== null || (isCounted && isFurther)) {
          return { ...its, phone: { ...here, hwid: own, isRefused: false, isOwn: true } };
        }
        const isRefused = rule === 'refuse' && isFurther;
        return { ...door, phone: { ...here, isRefused, isOwn: false } };
      }
      const isKept = of.saves.length > 0 || row !== undefined;
      const name =
        rule === 'count' && isKept ? yield* freeName(installId, hwid, deviceId, of.phone) : null;
      if (name === null) return { ...door, phone: { ...here, isRefused: true, isOwn: false } };
      const its = yield* doorOf(name);
      if (typeof its === 'string') return its;
      return { ...its, phone: { ...here, hwid: name, isRefused: false, isOwn: true } };
    },
  };
});
