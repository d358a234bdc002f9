/**
 * The first phones of slots whose device has several slots at a provider, which share its facts:
 * see core/copied-hwid.ts. Most such devices are one phone, of which nothing is saved.
 */

import { copyRule, NOT_ITS_OWN } from '../../core/copied-hwid.ts';
import {
  areApart,
  firstBy,
  isSame,
  PHONE_KEPT_MS,
  type Sighting,
  saysAnything,
} from '../../core/phones.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import type { Phone } from '../../core/port/phone.ts';
import type { PhoneSight } from '../../core/port/slot.ts';
import { POLICY_TERMS } from '../../core/terms.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { fullLinkSteps } from './full-link.ts';
import { lookUpStatements, slotSeen, withDevice } from './look-ups.ts';
import { phoneSteps } from './phone.ts';
import { type PhonesDoor, phoneStatements } from './phone-rows.ts';
import { shared } from './shared.ts';

/** The most slots of a device that keep their first phones by one call. */
const KEPT_MAX = 32;

/** A slot of the device on another link, of which no phones are kept. */
interface Sharing {
  installId: number;
  lastSeenAtMs: number;
  /** 1: its link does not tell phones apart. */
  isOff: number;
}

function statements(backend: Statements) {
  const { prepare, join } = backend;
  const isSharing = sql`s.device_id = :deviceId AND s.provider_id = :providerId
    AND s.install_id <> :installId AND s.doubt_until_ms <> ${NOT_ITS_OWN}
    AND NOT EXISTS (SELECT 1 FROM slot_phone f
      WHERE f.install_id = s.install_id AND f.device_id = s.device_id)`;
  const rule = sql`coalesce(i.copied_hwid, o.copied_hwid, ${sql.raw(`'${POLICY_TERMS.copiedHwid.usual}'`)})`;
  return {
    sharing: prepare(sql`
        SELECT ${columns({ s: 'install_device' }, 's.installId')},
          ${values<Omit<Sharing, 'installId'>>({
            lastSeenAtMs: slotSeen(backend),
            isOff: sql`CAST(${rule} = 'off' AS integer)`,
          })}
        FROM install_device s ${withDevice(backend)} ${join} install i ON i.id = s.install_id
          ${join} provider o ON o.id = i.provider_id
        WHERE ${isSharing} ORDER BY s.id LIMIT ${KEPT_MAX + 1}`),
    setApart: prepare(sql`
        UPDATE install_device AS s SET doubt_until_ms = ${NOT_ITS_OWN} WHERE ${isSharing}`),
  };
}

export const firstPhoneSteps = shared((backend: Statements) => {
  const on = { ...statements(backend), ...phoneStatements(backend) };
  const { atProvider } = lookUpStatements(backend);
  const { policyOn } = fullLinkSteps(backend);
  const { sighting } = phoneSteps(backend);

  /** Lists slots that share facts with the device that asks. */
  function* sharing({ knownId, link, phone }: PhonesDoor): Step<Sharing[]> {
    if (knownId === undefined || phone?.isOwn) return [];
    const { installId, providerId } = link;
    return yield* on.sharing.all({ deviceId: knownId, providerId, installId });
  }

  function* save(installId: number, deviceId: number, first: Phone): Step<void> {
    const { number, door, family, app, modelHash, state, firstSeenAtMs, lastSeenAtMs } = first;
    const row = { number, door, family, app, modelHash, state, firstSeenAtMs, lastSeenAtMs };
    yield* on.save.run({ installId, deviceId, ...row });
    yield* on.mark.run({ installId });
  }

  /** Returns the traits in the facts of a device at a provider. */
  function* factsOf(deviceId: number, providerId: number, isShared: boolean) {
    const facts = yield* atProvider.get({ deviceId, providerId });
    return facts && (yield* sighting('', facts, isShared));
  }

  return {
    sharing,

    /**
     * Keeps the first phones of the device's slots on other links, before its facts become those
     * of another phone. The write has locked these links.
     */
    *keepOthers(door: PhonesDoor, sight: PhoneSight, reported: DeviceFacts): Step<void> {
      const { knownId, link } = door;
      const others = yield* sharing(door);
      if (knownId === undefined || others.length === 0) return;
      const { providerId, installId } = link;
      const before = yield* factsOf(knownId, providerId, sight.isShared);
      const seen = yield* sighting(sight.door, reported, sight.isShared);
      if (before === null || !areApart(before, seen)) return;
      const kept = others.slice(0, KEPT_MAX).filter(({ isOff }) => isOff === 0);
      for (const { installId: otherId, lastSeenAtMs } of kept) {
        if (sight.nowMs - lastSeenAtMs >= PHONE_KEPT_MS) continue;
        yield* save(otherId, knownId, firstBy(before, lastSeenAtMs));
      }
      yield* on.setApart.run({ deviceId: knownId, providerId, installId });
    },

    /** Keeps the first phone of a new slot whose device has facts of another phone. */
    *keepOwn(door: PhonesDoor, sight: PhoneSight, reported: DeviceFacts): Step<void> {
      const { byHash, device, isNamed, knownId, phone } = door;
      const isNew = device === null || byHash !== undefined || isNamed === true;
      if (!isNew || knownId === undefined) return;
      if (phone?.isOwn || (phone?.judged.saves.length ?? 0) > 0) return;
      const { installId, providerId } = door.link;
      const all = yield* factsOf(knownId, providerId, sight.isShared);
      const own: Sighting = yield* sighting(sight.door, reported, sight.isShared);
      if (all === null || isSame(all, own)) return;
      const link = yield* policyOn(installId);
      const isOff = link === null || copyRule(link.policy, sight.isShared) === 'off';
      if (!isOff && saysAnything(own)) {
        yield* save(installId, knownId, firstBy(own, sight.nowMs));
      } else {
        yield* on.doubt.run({ installId, deviceId: knownId, untilMs: NOT_ITS_OWN });
      }
    },
  };
});
