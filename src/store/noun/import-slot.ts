/**
 * Imported slots: chooses those that find room on their link, and the order in which rows change.
 */

import { NOT_ITS_OWN } from '../../core/copied-hwid.ts';
import { mergeFacts } from '../../core/device.ts';
import { factsOf } from '../../core/device-facts.ts';
import { hashInHwid, isSharedHwid, sharedHwid } from '../../core/formats.ts';
import type { DeviceAtProvider, DeviceFacts } from '../../core/port/device.ts';
import type { ImportedSlot } from '../../core/port/moving.ts';
import { hwidHash } from '../../core/secret.ts';
import type { Backend, Step } from '../backend.ts';
import { sql } from '../statement-text.ts';
import { knownDeviceSteps } from './known-device.ts';
import { linkStatements } from './link-rows.ts';
import { namedRows } from './named-hwid-rows.ts';

/** Chooses the opposite of a device's call, because the known facts are later here. */
const knownWins = (known: DeviceAtProvider, moved: DeviceFacts) => mergeFacts(moved, known);

/** A slot to add to a locked link. */
export interface NewSlot {
  installId: number;
  providerId: number;
  slot: ImportedSlot;
  nowMs: number;
}

const byHwid = ({ slot: a }: NewSlot, { slot: b }: NewSlot) =>
  Number(a.hwid > b.hwid) - Number(a.hwid < b.hwid);

function statements({ prepare, among }: Backend) {
  return {
    /** The device has facts of another link. */
    setApart: prepare(sql`
        UPDATE install_device SET doubt_until_ms = ${NOT_ITS_OWN}
        WHERE install_id = :installId AND device_id = :deviceId`),
    /** Makes doors look for hashes of HWIDs. */
    markHashes: prepare(sql`
        UPDATE install SET has_hashes = 1 WHERE id ${among('ids')}`),
    /**
     * Links come in the order of their ids, and the device may have been on the newer link first.
     */
    firstHomes: prepare(sql`
      UPDATE device_provider AS p SET home_install_id = (
        SELECT s.install_id FROM install_device s
        WHERE s.device_id = p.device_id AND s.provider_id = p.provider_id
        ORDER BY s.registered_at_ms, s.id LIMIT 1)
      WHERE p.provider_id = :providerId AND p.device_id ${among('deviceIds')}
        AND p.slot_count > 1 AND p.token_id IS NULL
        AND p.home_left_at_ms IS NULL AND p.home_moved_at_ms = 0`),
  };
}

/** Returns the steps that choose and add slots. */
export function slotImport(backend: Backend) {
  const rows = linkStatements(backend);
  const keep = knownDeviceSteps(backend);
  const on = statements(backend);
  const named = namedRows(backend);

  /** Returns when the provider saw the device before; null: it did not know it. */
  function keepFacts(
    slot: ImportedSlot,
    deviceId: number,
    providerId: number,
  ): Step<number | null> {
    const facts = factsOf((fact) => slot[fact]);
    const { lastSeenAtMs } = slot;
    const seenAfter = (beforeMs: number | null) => Math.max(beforeMs ?? 0, lastSeenAtMs);
    return keep.keepFacts(deviceId, providerId, facts, seenAfter, knownWins);
  }

  return {
    /** Chooses the HWIDs that a locked link lacks and has room for. */
    *choose(
      { installId, isNew }: { installId: number; isNew: boolean },
      room: number,
      imported: readonly ImportedSlot[],
    ) {
      // The link may have another id than at its source.
      const slots = imported.map((slot) =>
        isSharedHwid(slot.hwid) ? { ...slot, hwid: sharedHwid(installId) } : slot,
      );
      const here = isNew || slots.length === 0 ? [] : yield* named.held.all({ installId });
      // A HWID and its hash are one device.
      const known = [...here, ...slots];
      const isByHash = known.some(({ hwid }) => hashInHwid(hwid) !== null);
      const storedHwid = ({ hwid }: { hwid: string }) => (isByHash ? hwidHash(hwid) : hwid);
      const names = new Set(here.map(storedHwid));
      const missing = slots.filter(
        (slot) => !names.has(storedHwid(slot)) && names.add(storedHwid(slot)),
      );
      const added = missing.slice(0, Math.max(0, room));
      const counts = {
        slotsAdded: added.length,
        slotsPresent: slots.length - missing.length,
        slotsWithoutRoom: missing.length - added.length,
      };
      return { added, left: missing.slice(added.length), counts };
    },

    /**
     * Adds the slots of several links, and the HWIDs that are named. Adds new devices in the order
     * of locks.
     */
    *add(all: readonly NewSlot[]): Step<void> {
      const slots = all.filter(({ slot }) => !slot.isNamed);
      for (const { installId, providerId, slot } of all) {
        if (!slot.isNamed) continue;
        const { hwid, registeredAtMs: namedAtMs } = slot;
        const facts = factsOf((fact) => slot[fact]);
        yield* named.add.run({ installId, providerId, hwid, namedAtMs, ...facts });
      }
      const ids = new Map<string, number>();
      yield* backend.together(
        slots.toSorted(byHwid).map(
          ({ slot: { hwid, firstSeenAtMs, lastSeenAtMs } }) =>
            function* () {
              ids.set(hwid, yield* keep.seeImported(hwid, firstSeenAtMs, lastSeenAtMs));
            },
        ),
      );
      const idOf = ({ hwid }: ImportedSlot) => ids.get(hwid) as number;
      const apart = new Set<NewSlot>();
      const byPlace = Map.groupBy(slots, ({ slot, providerId }) => `${providerId} ${slot.hwid}`);
      yield* backend.together(
        [...byPlace.values()].map(
          (own) =>
            function* () {
              for (const one of own) {
                const { slot, providerId } = one;
                const seenBeforeMs = yield* keepFacts(slot, idOf(slot), providerId);
                if (seenBeforeMs !== null) apart.add(one);
              }
            },
        ),
      );
      // Triggers count a slot at the device's provider, which must know the device first.
      yield* backend.together(
        slots.map(({ installId, providerId, slot, nowMs }) => () => {
          const { registeredAtMs, slotSeenAtMs: lastSeenAtMs = nowMs } = slot;
          const times = { registeredAtMs, lastSeenAtMs };
          return rows.takeSlot.run({ installId, deviceId: idOf(slot), providerId, ...times });
        }),
      );
      for (const { installId, slot } of apart) {
        yield* on.setApart.run({ installId, deviceId: idOf(slot) });
      }
      const hashed = all.filter(({ slot }) => slot.isNamed || hashInHwid(slot.hwid) !== null);
      if (hashed.length > 0) {
        yield* on.markHashes.run({ ids: [...new Set(hashed.map(({ installId }) => installId))] });
      }
      for (const [providerId, own] of Map.groupBy(slots, (slot) => slot.providerId)) {
        yield* on.firstHomes.run({ providerId, deviceIds: own.map(({ slot }) => idOf(slot)) });
      }
    },
  };
}
