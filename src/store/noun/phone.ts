/** The phones that send one HWID of a link: core/phones.ts tells them apart. */

import { DAY_MS, sameUtcDay } from '../../core/calendar.ts';
import {
  copyRule,
  derivedHwids,
  doubtUntil,
  EVENTS_PER_DAY,
  isDue,
  sharedSighting,
} from '../../core/copied-hwid.ts';
import { hwidCopied, hwidsCopied } from '../../core/event/happenings.ts';
import { derivedFrom } from '../../core/formats.ts';
import { sightingOf } from '../../core/phone-traits.ts';
import { type Judged, judgeSighting, type Phone, type Sighting } from '../../core/phones.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { NoLink, PhoneAtDoor, PhoneSight, Policy, SlotKey } from '../../core/port/slot.ts';
import { modelHash } from '../../core/secret.ts';
import type { Notes, Statements, Step } from '../backend.ts';
import { columns, ONE, sql, values } from '../statement-text.ts';
import type { DoorHere } from './door.ts';
import { fullLinkSteps } from './full-link.ts';
import { shared } from './shared.ts';

interface PhoneRow extends Phone {
  /** The HWID of its own; null: it has none. */
  ownHwid: string | null;
  /** When it last was in an event; 0: never. */
  toldAtMs: number;
}

/** The phone at a door, and what a write saves. */
export interface PhoneHere extends PhoneAtDoor {
  /** The device with the HWID that it sends; null: the device that asks. */
  sentId: number | null;
  judged: Judged;
  /** True: it has, or gets, a slot of its own. */
  isOwn: boolean;
  /** True: the first phone is in doubt from now on. */
  isDoubtful: boolean;
  /** True: an event is due if the call finds a further phone. */
  isTold: boolean;
  phones: readonly PhoneRow[];
  nowMs: number;
}

/** Returns the known phones that a refused call changes: by its first one of a day, or by their state. */
const newsOf = ({
  judged,
  phones,
  nowMs,
}: Pick<PhoneHere, 'judged' | 'phones' | 'nowMs'>): Phone[] =>
  judged.saves.filter((phone) => {
    const known = phones.find(({ number }) => number === phone.number);
    return known && (known.state !== phone.state || !sameUtcDay(known.lastSeenAtMs, nowMs));
  });

const ofSlot = sql`install_id = :installId AND device_id = :deviceId`;

function statements({ prepare, join, once }: Statements) {
  return {
    key: prepare(sql`SELECT ${columns('signing_key', 'key')} FROM signing_key`),
    phones: prepare(sql`
        SELECT ${columns(
          { f: 'slot_phone', d: 'device?' },
          `f.number, f.door, f.family, f.app, f.modelHash, f.state, f.firstSeenAtMs,
            f.lastSeenAtMs, f.toldAtMs, d.hwid AS ownHwid`,
        )}
        FROM slot_phone f LEFT JOIN device d ON d.id = f.own_device_id
        WHERE f.install_id = ${once('installId')} AND f.device_id = ${once('deviceId')}
        ORDER BY f.number`),
    slot: prepare(sql`
        SELECT ${columns({ s: 'install_device', p: 'device_provider' }, 's.doubtUntilMs, p.slotCount')}
        FROM install_device s ${join} device_provider p
          ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE s.install_id = :installId AND s.device_id = :deviceId`),
    isDerived: prepare(sql`
        SELECT ${ONE} FROM slot_phone WHERE own_device_id = :deviceId
          AND install_id = :installId LIMIT 1`),
    /** A device with the name; `isTaken` unless it is a further phone of the HWID elsewhere. */
    named: prepare(sql`
        SELECT ${values<{ isTaken: number }>({
          isTaken: sql`CAST(NOT EXISTS (
            SELECT 1 FROM slot_phone f WHERE f.own_device_id = d.id AND f.device_id = :deviceId)
            OR EXISTS (SELECT 1 FROM slot_phone f
              WHERE f.own_device_id = d.id AND f.install_id = :installId) AS integer)`,
        })}
        FROM device d WHERE d.hwid = :hwid`),
    save: prepare(sql`
        INSERT INTO slot_phone AS f (install_id, device_id, number, door, family, app, model_hash,
          state, first_seen_at_ms, last_seen_at_ms)
        VALUES (:installId, :deviceId, :number, :door, :family, :app, :modelHash, :state,
          :firstSeenAtMs, :lastSeenAtMs)
        ON CONFLICT (install_id, device_id, number) DO UPDATE SET door = excluded.door,
          family = excluded.family, app = excluded.app, model_hash = excluded.model_hash,
          state = excluded.state, first_seen_at_ms = excluded.first_seen_at_ms,
          last_seen_at_ms = excluded.last_seen_at_ms`),
    drop: prepare(sql`
        DELETE FROM slot_phone WHERE ${ofSlot} AND number = :number`),
    own: prepare(sql`
        UPDATE slot_phone SET own_device_id = :ownDeviceId WHERE ${ofSlot} AND number = :number`),
    mark: prepare(sql`
        UPDATE install SET has_phones = 1 WHERE id = :installId AND has_phones = 0`),
    doubt: prepare(sql`
        UPDATE install_device SET doubt_until_ms = :untilMs WHERE ${ofSlot}`),
    holder: prepare(sql`
        SELECT ${columns({ d: 'device' }, 'd.hwid')}
        FROM device_token t ${join} device d ON d.id = t.device_id
        WHERE t.token_hash = :tokenHash AND (d.hwid = :hwid OR EXISTS (
          SELECT 1 FROM slot_phone f ${join} device x ON x.id = f.device_id
          WHERE f.own_device_id = d.id AND x.hwid = :hwid))`),
    told: prepare(sql`
        UPDATE slot_phone SET told_at_ms = :nowMs WHERE ${ofSlot}`),
    before: prepare(sql`
        SELECT ${columns('provider', 'copiedDay, copiedCount')} FROM provider WHERE id = :providerId`),
    count: prepare(sql`
        UPDATE provider SET copied_day = :day, copied_count = :count WHERE id = :providerId`),
    move: prepare(sql`
        UPDATE slot_phone SET install_id = :toId
        WHERE install_id = :fromId AND device_id = :deviceId AND NOT EXISTS (
          SELECT 1 FROM slot_phone o WHERE o.install_id = :toId AND o.device_id = :deviceId)`),
  };
}

/** Returns the steps of the door and of its writes. */
export const phoneSteps = shared((backend: Statements) => {
  const on = statements(backend);
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

  /** Returns the HWID for a phone that has no slot of its own; null: all names are taken. */
  function* freeName(installId: number, hwid: string, deviceId: number, number: number) {
    for (const name of derivedHwids(hwid, number)) {
      const named = yield* on.named.get({ hwid: name, deviceId, installId });
      if (named === null || named.isTaken === 0) return name;
    }
    return null;
  }

  /** Judges the phone; null: the door has nothing to tell apart. */
  function* judged(
    door: DoorHere,
    sight: PhoneSight,
    policy: Policy,
    deviceId: number,
  ): Step<{
    judged: Judged;
    phones: PhoneRow[];
    doubtUntilMs: number;
    isDoubtful: boolean;
  } | null> {
    const { installId } = door.link;
    const phones = door.hasPhones ? yield* on.phones.all({ installId, deviceId }) : [];
    if (phones.length === 0 && door.device === null) return null;
    const hasOwn = phones.some(({ ownHwid }) => ownHwid !== null);
    if (copyRule(policy, sight.isShared) === 'off' && !hasOwn) return null;
    const slot = door.device && (yield* on.slot.get({ installId, deviceId }));
    const { device } = door;
    const isItsOwn = slot?.slotCount === 1;
    const before = device && isItsOwn ? yield* sighting('', device, sight.isShared) : null;
    const seen = yield* sighting(sight.door, sight.facts, sight.isShared);
    const lastSeenAtMs = door.device?.lastSeenAtMs ?? 0;
    const all = judgeSighting({ phones, before, lastSeenAtMs }, seen, sight.nowMs);
    const isKept = ({ number }: Phone) => phones.some((one) => one.number === number);
    const of = sight.isUnproved ? { ...all, saves: all.saves.filter(isKept) } : all;
    const isNew = phones.length === 0 && before === null;
    const isDoubtful = !sight.isUnproved && (of.isFirstWord || isNew);
    return { judged: of, phones, doubtUntilMs: slot?.doubtUntilMs ?? 0, isDoubtful };
  }

  /** Saves what a call says of the phones of a HWID. The write has locked the door. */
  function* save(
    notes: Notes,
    { phone, link: { installId, providerId } }: { phone: PhoneHere; link: DoorHere['link'] },
    askingId: number,
  ): Step<void> {
    const { isDoubtful, isOwn, isTold, judged: of, nowMs, phones } = phone;
    const deviceId = phone.sentId ?? askingId;
    const slot = { installId, deviceId };
    if (isDoubtful) yield* on.doubt.run({ ...slot, untilMs: doubtUntil(nowMs) });
    for (const number of of.drops) yield* on.drop.run({ ...slot, number });
    const self = of.phone;
    const isNewOwn =
      isOwn && phones.find(({ number }) => number === self.number)?.ownHwid !== phone.hwid;
    const saves = isNewOwn && !of.saves.some((one) => one.number === self.number);
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

  return {
    sighting,

    /**
     * Returns the door for the phone that asks: that of its HWID, or that of its own, which
     * `doorOf` finds.
     */
    *at(
      door: DoorHere,
      { hwid, sight }: Pick<SlotKey, 'hwid'> & { sight: PhoneSight },
      doorOf: (hwid: string) => Step<DoorHere | NoLink>,
    ): Step<DoorHere | NoLink> {
      const { installId } = door.link;
      const deviceId = door.byHash?.deviceId ?? door.knownId;
      if (deviceId === undefined) return door;
      if (derivedFrom(hwid) !== null && door.hasPhones) {
        if ((yield* on.isDerived.get({ installId, deviceId })) !== null) {
          return { ...door, isDerived: true };
        }
      }
      const link = yield* policyOn(installId);
      if (link === null) return door;
      const found = yield* judged(door, sight, link.policy, deviceId);
      if (found === null) return door;
      const { judged: of, phones, doubtUntilMs, isDoubtful } = found;
      const { nowMs } = sight;
      const rule = copyRule(link.policy, sight.isShared);
      const row = phones.find(({ number }) => number === of.phone.number);
      const isTold = rule !== 'off' && isDue(phones, nowMs);
      const sentId = door.byHash ? null : deviceId;
      const isNews = of.saves.length > 0 || of.drops.length > 0 || isDoubtful;
      const facts = { sentId, judged: of, phones, isTold, isDoubtful, nowMs };
      const isNewsOfKnown = newsOf(facts).length > 0;
      const here = { ...facts, hwid, isNews, isNewsOfKnown };
      const isFurther = of.phone.state === 'certain' && nowMs >= doubtUntilMs;
      const own = row?.ownHwid ?? null;
      if (own === null && !(isFurther && (rule === 'count' || rule === 'refuse'))) {
        return { ...door, phone: { ...here, isRefused: false, isOwn: false } };
      }
      if (own !== null) {
        const its = yield* doorOf(own);
        if (typeof its === 'string') return its;
        const isCounted = rule === 'count' && of.phone.state !== 'ignored';
        if (its.device !== null || (isCounted && isFurther)) {
          return { ...its, phone: { ...here, hwid: own, isRefused: false, isOwn: true } };
        }
        const isRefused = rule === 'refuse' && isFurther;
        return { ...door, phone: { ...here, isRefused, isOwn: false } };
      }
      const isKept = of.saves.length > 0 || row !== undefined;
      const name =
        rule === 'count' && isKept
          ? yield* freeName(installId, hwid, deviceId, of.phone.number)
          : null;
      if (name === null) return { ...door, phone: { ...here, isRefused: true, isOwn: false } };
      const its = yield* doorOf(name);
      if (typeof its === 'string') return its;
      return { ...its, phone: { ...here, hwid: name, isRefused: false, isOwn: true } };
    },

    /**
     * Saves what a call says of the phones of a HWID, before the facts of its device change: a
     * trigger takes a change without phones for a doubt. The write has locked the door.
     */
    *saveBefore(notes: Notes, { link, phone }: Pick<DoorHere, 'link' | 'phone'>): Step<void> {
      if (!phone || phone.isOwn || phone.sentId === null) return;
      yield* save(notes, { link, phone }, phone.sentId);
    },

    /** The same for a device that may be new: one of a further phone, or of a hash. */
    *saveAfter(
      notes: Notes,
      { link, phone }: Pick<DoorHere, 'link' | 'phone'>,
      askingId: number,
    ): Step<void> {
      if (!phone || !(phone.isOwn || phone.sentId === null)) return;
      yield* save(notes, { link, phone }, askingId);
    },

    /** Returns the HWID of the token's device, if it is a HWID or a further phone of it. */
    *holderOf(tokenHash: Uint8Array, hwid: string): Step<string | null> {
      return (yield* on.holder.get({ tokenHash, hwid }))?.hwid ?? null;
    },

    /** Saves what a call says of known phones, which the link refused: no new phone. */
    *see(notes: Notes, door: { phone: PhoneHere; link: DoorHere['link'] }): Step<boolean> {
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

  /** Adds the event, within the bound of the provider for a day; the write has locked it. */
  function* tell(
    notes: Notes,
    { providerId, installId }: { providerId: number; installId: number },
    phones: readonly Phone[],
    { hwid, nowMs }: PhoneHere,
  ): Step<void> {
    const day = Math.floor(nowMs / DAY_MS);
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
});
