/** Reads the policy of a full link and the slots that it may free for a new device. */

import type { FullLink, OldestSlot, OwnPolicy, SlotKey } from '../../core/port/slot.ts';
import { isSameApp, type PhoneFacts, phoneIn } from '../../core/same-phone.ts';
import { looksAtSlots, policyOf } from '../../core/slot.ts';
import { POLICY_FIELDS } from '../../core/terms.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, ofTable, sql, values } from '../statement-text.ts';
import { slotSeen, withDevice } from './look-ups.ts';
import { shared } from './shared.ts';

type SlotHere = OldestSlot & { slotId: number };

/** The parts of a key that describe the device and the caller. */
export type Asking = Pick<SlotKey, 'hwid' | 'enforces' | 'isFirst' | 'reported'>;

/** The parts of a door that only a full link needs. */
export interface FullDoor {
  full: (FullLink & { oldest: SlotHere; former: SlotHere | null }) | null;
  counts: boolean;
}

function statements(backend: Statements) {
  const { prepare, join, once } = backend;
  const slots = sql`
    SELECT ${columns(
      { s: 'install_device', d: 'device' },
      's.id AS slotId, d.hwid, s.registeredAtMs',
    )},
      ${values<{ lastSeenAtMs: number }>({ lastSeenAtMs: slotSeen(backend) })},
      ${columns({ p: 'device_provider' }, 'p.userAgent')}
    FROM install_device s ${join} device d ON d.id = s.device_id ${withDevice(backend)}
    WHERE s.install_id = ${once('installId')}`;
  const oldestFirst = sql.raw('ORDER BY "lastSeenAtMs", s.registered_at_ms, s.id');
  return {
    policy: prepare(sql`
        SELECT ${columns({ i: 'install', o: 'provider' }, [
          'i.replacedAtMs',
          'i.limitWanted',
          ...ofTable('i', POLICY_FIELDS),
          ...ofTable('o', POLICY_FIELDS, 'provider'),
        ])}
        FROM install i ${join} provider o ON o.id = i.provider_id
        WHERE i.id = ${once('installId')}`),
    oldest: prepare(sql`${slots} ${oldestFirst} LIMIT 1`),
    /** The slots of phones with the same model and system. */
    alike: prepare(sql`
        ${slots} AND p.device_name = :deviceName AND p.os = :os ${oldestFirst}`),
  };
}

/** Returns the steps that read a full link. */
export const fullLinkSteps = shared((backend: Statements) => {
  const on = statements(backend);

  /** Reads the policy that applies to a link. */
  function* policyOn(
    installId: number,
    enforces?: boolean,
  ): Step<Pick<FullLink, 'policy' | 'replacedAtMs' | 'limitWanted'> | null> {
    const row = yield* on.policy.get({ installId });
    if (row === null) return null;
    const { limitWanted, replacedAtMs } = row;
    const ofProvider: OwnPolicy = {
      inactiveDays: row.providerInactiveDays,
      whenFull: row.providerWhenFull,
      coolDownHours: row.providerCoolDownHours,
      enforce: row.providerEnforce,
      withoutHwid: row.providerWithoutHwid,
      samePhone: row.providerSamePhone,
      samePhoneHours: row.providerSamePhoneHours,
      copiedHwid: row.providerCopiedHwid,
      whenNew: row.providerWhenNew,
    };
    return { policy: policyOf(row, ofProvider, enforces), limitWanted, replacedAtMs };
  }

  /** Finds the slot of the phone that the device probably is. */
  function* formerOf(installId: number, phone: PhoneFacts | null): Step<SlotHere | null> {
    if (phone === null) return null;
    const { deviceName, os } = phone;
    const alike = yield* on.alike.all({ installId, deviceName, os });
    return alike.find(({ userAgent }) => isSameApp(phone, userAgent)) ?? null;
  }

  /**
   * Reads a full link for a new device: its policy, and the slots to free unless the link only
   * counts.
   */
  function* fullDoor(
    installId: number,
    { enforces, reported }: Pick<SlotKey, 'enforces' | 'reported'>,
  ): Step<FullDoor> {
    const link = yield* policyOn(installId, enforces);
    if (link?.policy.enforce === 0) return { full: null, counts: true };
    const isFreeing = link !== null && looksAtSlots(link.policy);
    const oldest = isFreeing ? yield* on.oldest.get({ installId }) : null;
    if (!isFreeing || oldest === null) return { full: null, counts: false };
    const phone = link.policy.samePhone === 'off' ? null : phoneIn(reported);
    const former = yield* formerOf(installId, phone);
    return { full: { ...link, oldest, former }, counts: false };
  }

  /** Returns true if a new device on the full link would change more than the link. */
  function* changesMore(installId: number, enforces?: boolean): Step<boolean> {
    const link = yield* policyOn(installId, enforces);
    return link !== null && (link.policy.enforce === 0 || looksAtSlots(link.policy));
  }

  return { changesMore, fullDoor, policyOn };
});
