/** The phones that send one HWID, for people, and their end. */

import * as deeds from '../../core/audit/deeds.ts';
import { EVENTS_PER_DAY } from '../../core/copied-hwid.ts';
import { hwidsCopied } from '../../core/event/happenings.ts';
import { isSharedHwid } from '../../core/formats.ts';
import type { PhoneStore, SlotPhone } from '../../core/port/phone.ts';
import type { SlotStore } from '../../core/port/slot.ts';
import { isAdmitted, judge } from '../../core/slot.ts';
import type { Backend } from '../backend.ts';
import { columns, ONE, sql } from '../statement-text.ts';
import { doorSteps } from './door.ts';
import { lookUpStatements } from './look-ups.ts';
import { phoneSteps } from './phone.ts';
import { phoneSavingSteps } from './phone-saving.ts';

/** Phones that a step deletes. */
const FORGET_STEP = 1_000;

/** Names that further phones of a HWID can have: core/copied-hwid.ts. */
const DERIVED_MAX = 100;

function statements(backend: Backend) {
  const { prepare, join } = backend;
  const oldest = sql`FROM slot_phone WHERE last_seen_at_ms < :seenBeforeMs
    ORDER BY last_seen_at_ms LIMIT ${FORGET_STEP}`;
  return {
    list: prepare(sql`
        SELECT ${columns(
          { f: 'slot_phone', d: 'device', o: 'device?', p: 'device_provider?' },
          `d.hwid, f.number, f.door, f.family, f.app, f.state, f.firstSeenAtMs, f.lastSeenAtMs,
            f.modelHash, o.hwid AS ownHwid, p.os, p.osVersion, p.deviceName, p.userAgent`,
        )}
        FROM slot_phone f ${join} install i ON i.id = f.install_id
          ${join} device d ON d.id = f.device_id
          LEFT JOIN device o ON o.id = f.own_device_id
          LEFT JOIN device_provider p
            ON p.device_id = f.device_id AND p.provider_id = i.provider_id
        WHERE f.install_id = :installId ORDER BY d.hwid, f.number`),
    isDerived: prepare(sql`
        SELECT ${ONE} FROM device d ${join} slot_phone f ON f.own_device_id = d.id
        WHERE d.hwid = :hwid LIMIT 1`),
    ignore: prepare(sql`
        UPDATE slot_phone SET state = 'ignored'
        WHERE install_id = :installId AND device_id = :deviceId
          AND state IN ('pending', 'hint', 'certain')`),
    untold: prepare(sql`
        SELECT ${columns('provider', 'id AS providerId')} FROM provider
        WHERE copied_day < :day AND copied_count > ${EVENTS_PER_DAY} LIMIT 1`),
    copied: prepare(sql`
        SELECT ${columns('provider', 'copiedDay, copiedCount')} FROM provider
        WHERE id = :providerId`),
    settle: prepare(sql`
        UPDATE provider SET copied_count = 0 WHERE id = :providerId`),
    derived: prepare(sql`
        SELECT DISTINCT ${columns({ o: 'device' }, 'o.hwid')}
        FROM device d ${join} slot_phone f ON f.device_id = d.id
          ${join} device o ON o.id = f.own_device_id
        WHERE d.hwid = :hwid ORDER BY o.hwid LIMIT ${DERIVED_MAX}`),
    links: prepare(sql`SELECT DISTINCT ${columns('slot_phone', 'installId')} FROM (
        SELECT install_id ${oldest}) slot_phone`),
    forget: prepare(sql`
        DELETE FROM slot_phone WHERE install_id ${backend.among('installIds')}
          AND last_seen_at_ms < :seenBeforeMs`),
    forgetBarred: prepare(sql`
        UPDATE slot_bar SET family = '', app = '', model_hash = ''
        WHERE (install_id, hwid_hash) IN (SELECT install_id, hwid_hash FROM slot_bar
          WHERE family <> '' OR model_hash <> '' LIMIT ${FORGET_STEP})`),
    unmark: prepare(sql`
        UPDATE install SET has_phones = 0 WHERE id ${backend.among('installIds')}
          AND NOT EXISTS (SELECT 1 FROM slot_phone f WHERE f.install_id = install.id)`),
  };
}

export function phoneNoun(backend: Backend): PhoneStore & Pick<SlotStore, 'seePhone'> {
  const find = lookUpStatements(backend);
  const { findDoorLocked } = doorSteps(backend);
  const { sighting } = phoneSteps(backend);
  const { see } = phoneSavingSteps(backend);
  const on = statements(backend);

  return {
    listPhones: (installId) =>
      backend.read(function* () {
        const phones: SlotPhone[] = [];
        for (const row of yield* on.list.all({ installId })) {
          const { family, app, modelHash, os, osVersion, deviceName, userAgent, ...phone } = row;
          const facts = {
            os: os ?? '',
            osVersion: osVersion ?? '',
            deviceName: deviceName ?? '',
            appVersion: '',
            userAgent: userAgent ?? '',
          };
          const last = yield* sighting('', facts, isSharedHwid(row.hwid));
          const isLast = modelHash !== '' && last.modelHash === modelHash && last.app === app;
          phones.push({ ...phone, family, app, model: isLast ? facts.deviceName : '' });
        }
        return phones;
      }),

    isDerivedHwid: (hwid) =>
      backend.read(function* () {
        return (yield* on.isDerived.get({ hwid })) !== null;
      }),

    ignorePhones: ({ installId, providerId }, hwid, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        yield* backend.lockRows({ install: [installId] });
        const device = yield* find.deviceId.get({ hwid });
        if (device === null) return false;
        const count = yield* on.ignore.run({ installId, deviceId: device.id });
        if (count === 0) return false;
        notes.audit(act, deeds.ignoreCopies(installId, hwid, count), providerId);
        return true;
      }),

    seePhone: (key, nowMs) =>
      backend.write(function* (notes) {
        const door = yield* findDoorLocked(key);
        if (typeof door === 'string' || door.phone === undefined) return false;
        if (isAdmitted(judge(door, backend.leastMs(nowMs)))) return false;
        return yield* see(notes, { ...door, phone: door.phone });
      }),

    endCopied: async (day, nowMs) => {
      const found = await backend.read(() => on.untold.get({ day }));
      if (found === null) return false;
      const { providerId } = found;
      return backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const row = yield* on.copied.get({ providerId });
        if (row === null || row.copiedDay >= day) return false;
        const more = row.copiedCount - EVENTS_PER_DAY;
        if (more <= 0) return false;
        yield* on.settle.run({ providerId });
        notes.event(providerId, nowMs, () => hwidsCopied(more, row.copiedDay));
        return true;
      });
    },

    listDerived: async (hwid) =>
      (await backend.read(() => on.derived.all({ hwid }))).map((row) => row.hwid),

    forgetPhones: async (seenBeforeMs) => {
      const found = await backend.read(() => on.links.all({ seenBeforeMs }));
      if (found.length === 0) return false;
      const installIds = found.map(({ installId }) => installId);
      await backend.write(function* () {
        yield* backend.lockRows({ install: installIds });
        yield* on.forget.run({ installIds, seenBeforeMs });
        yield* on.unmark.run({ installIds });
      });
      return true;
    },

    forgetBarredPhones: async () => (await backend.change(() => on.forgetBarred.run())) > 0,
  };
}
