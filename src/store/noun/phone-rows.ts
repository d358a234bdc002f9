/** Rows of phones that send one HWID of a link. */

import type { Judged } from '../../core/phones.ts';
import type { Phone } from '../../core/port/phone.ts';
import type { Door, PhoneAtDoor } from '../../core/port/slot.ts';
import type { Statements } from '../backend.ts';
import { columns, ONE, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';

export interface PhoneRow extends Phone {
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

/** The parts of a door that the phones of its HWID change. */
export interface PhonesDoor extends Omit<Door, 'byHash'> {
  byHash?: { deviceId: number; registeredAtMs: number };
  /** The device with the HWID, with or without a slot here; absent: there is none. */
  knownId?: number;
  phone?: PhoneHere;
}

const ofSlot = sql`install_id = :installId AND device_id = :deviceId`;

export const phoneStatements = shared(({ among, hex, prepare, join, once }: Statements) => {
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
        SELECT ${columns('install_device', 'doubtUntilMs')} FROM install_device WHERE ${ofSlot}`),
    /** The bars of further phones. */
    bars: prepare(sql`
        SELECT ${columns('slot_bar', 'family, app, modelHash, untilMs')},
          ${values<{ hwidHash: string }>({ hwidHash: hex('hwid_hash') })}
        FROM slot_bar WHERE install_id = :installId AND (family <> '' OR model_hash <> '')`),
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
    /** The slots of some HWIDs of which no phone is known any more. */
    left: prepare(sql`
        SELECT ${columns({ d: 'device' }, 'd.hwid')},
          ${columns(
            { p: 'device_provider' },
            'p.os, p.osVersion, p.deviceName, p.appVersion, p.userAgent',
          )}
        FROM device d ${join} install_device s ON s.device_id = d.id
          ${join} device_provider p
            ON p.device_id = s.device_id AND p.provider_id = s.provider_id
        WHERE d.hwid ${among('hwids', 'text')} AND s.install_id = ${once('installId')}
          AND NOT EXISTS (SELECT 1 FROM slot_phone f
            WHERE f.own_device_id = d.id AND f.install_id = s.install_id)
        ORDER BY d.id`),
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
});
