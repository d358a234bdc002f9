/** Writes of the phones that send one HWID of a link, and the event about them. */

import { utcDay } from '../../core/calendar.ts';
import { doubtUntil, EVENTS_PER_DAY } from '../../core/copied-hwid.ts';
import { hwidCopied, hwidsCopied } from '../../core/event/happenings.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { Phone } from '../../core/port/phone.ts';
import type { PhoneSight } from '../../core/port/slot.ts';
import type { Notes, Statements, Step } from '../backend.ts';
import { firstPhoneSteps } from './first-phone.ts';
import { newsOf } from './phone.ts';
import { type PhoneHere, type PhonesDoor, phoneStatements } from './phone-rows.ts';
import { shared } from './shared.ts';

/** The report of a call. */
interface Report {
  /** Undefined: phones of the HWID are not distinguished. */
  sight: PhoneSight | undefined;
  /** The facts that change those of the device. */
  reported: DeviceFacts;
}

/** Returns the steps of writes that have locked the link. */
export const phoneSavingSteps = shared((backend: Statements) => {
  const on = phoneStatements(backend);
  const firsts = firstPhoneSteps(backend);

  /** Saves what a call says of the phones of a HWID. The write has locked the door. */
  function* save(
    notes: Notes,
    { phone, link: { installId, providerId } }: { phone: PhoneHere; link: PhonesDoor['link'] },
    askingId: number,
  ): Step<void> {
    const { isDoubtful, isOwn, isTold, judged: of, nowMs, phones } = phone;
    const deviceId = phone.sentId ?? askingId;
    const slot = { installId, deviceId };
    if (isDoubtful) yield* on.doubt.run({ ...slot, untilMs: doubtUntil(nowMs) });
    for (const number of of.drops) yield* on.drop.run({ ...slot, number });
    const self = of.phone;
    const isSaved = of.saves.some((one) => one.number === self.number);
    const known = phones.find(({ number }) => number === self.number);
    // One beyond the bound of a slot is not saved; its name is found by its facts.
    const isNewOwn = isOwn && (known !== undefined || isSaved) && known?.ownHwid !== phone.hwid;
    const saves = isNewOwn && !isSaved;
    for (const one of saves ? [...of.saves, self] : of.saves) {
      const { number, door, family, app, state } = one;
      const { modelHash: hash, firstSeenAtMs, lastSeenAtMs } = one;
      const row = { number, door, family, app, state, firstSeenAtMs, lastSeenAtMs };
      yield* on.save.run({ ...slot, ...row, modelHash: hash });
    }
    if (of.saves.length > 0 || saves) yield* on.mark.run({ installId });
    if (isNewOwn) yield* on.own.run({ ...slot, number: self.number, ownDeviceId: askingId });
    if (of.found.length === 0 || !isTold) return;
    yield* on.told.run({ ...slot, nowMs });
    const all = new Map<number, Phone>(phones.map((one) => [one.number, one]));
    for (const one of of.saves) all.set(one.number, one);
    yield* tell(notes, { providerId, installId }, [...all.values()], phone);
  }

  /** Adds the event, within the bound of the provider for a day; the write has locked it. */
  function* tell(
    notes: Notes,
    { providerId, installId }: { providerId: number; installId: number },
    phones: readonly Phone[],
    { hwid, nowMs }: PhoneHere,
  ): Step<void> {
    const day = utcDay(nowMs);
    const before = yield* on.before.get({ providerId });
    if (before === null) return;
    const isToday = before.copiedDay === day;
    const more = isToday ? 0 : before.copiedCount - EVENTS_PER_DAY;
    if (more > 0) {
      notes.event(providerId, nowMs, () => hwidsCopied(more, before.copiedDay));
    }
    const count = isToday ? before.copiedCount + 1 : 1;
    yield* on.count.run({ providerId, day, count });
    if (count > EVENTS_PER_DAY) return;
    notes.event(providerId, nowMs, () => hwidCopied(installId, hwid, phones));
  }

  return {
    /**
     * Saves what a call says of the phones of a HWID, before the facts of its device become those
     * that it told: a trigger takes a change without phones for a doubt. The write has locked the
     * door.
     */
    *saveBefore(notes: Notes, door: PhonesDoor, { sight, reported }: Report): Step<void> {
      const { link, phone } = door;
      if (sight) yield* firsts.keepOthers(door, sight, reported);
      if (!phone || phone.isOwn || phone.sentId === null) return;
      yield* save(notes, { link, phone }, phone.sentId);
    },

    /** The same after the slot was taken: for devices and slots that may be new. */
    *saveAfter(
      notes: Notes,
      door: PhonesDoor,
      { sight, reported }: Report,
      askingId: number,
    ): Step<void> {
      const { link, phone } = door;
      if (sight) yield* firsts.keepOwn(door, sight, reported);
      if (!phone || !(phone.isOwn || phone.sentId === null)) return;
      yield* save(notes, { link, phone }, askingId);
    },

    /** Returns the HWID of the token's device, if it is a HWID or a further phone of it. */
    *holderOf(tokenHash: Uint8Array, hwid: string): Step<string | null> {
      return (yield* on.holder.get({ tokenHash, hwid }))?.hwid ?? null;
    },

    /** Saves what a call says of known phones, which the link refused: no new phone. */
    *see(notes: Notes, door: { phone: PhoneHere; link: PhonesDoor['link'] }): Step<boolean> {
      const { phone } = door;
      const saves = newsOf(phone);
      if (saves.length === 0 || phone.sentId === null) return false;
      const judged = { ...phone.judged, saves, drops: [] };
      const seen = { ...phone, judged, isOwn: false, isDoubtful: false };
      yield* save(notes, { ...door, phone: seen }, phone.sentId);
      return true;
    },

    /** Gives the phones of a HWID to another link, unless that knows some of it. */
    *move(ids: { fromId: number; toId: number; deviceId: number }): Step<void> {
      if ((yield* on.move.run(ids)) > 0) yield* on.mark.run({ installId: ids.toId });
    },
  };
});
