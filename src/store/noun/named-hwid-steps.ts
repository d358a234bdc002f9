/** Named HWIDs, as steps of writes. */

import { hwidOfHash } from '../../core/formats.ts';
import type { DeviceFacts } from '../../core/port/device.ts';
import { hwidHash } from '../../core/secret.ts';
import type { Backend, Step } from '../backend.ts';
import { namedRows } from './named-hwid-rows.ts';
import { shared } from './shared.ts';
import { slotEndSteps } from './slot-end.ts';

interface MovingName extends DeviceFacts {
  nameId: number;
  hwid: string;
  namedAtMs: number;
}

/** Steps of writes that have locked the provider and the links. */
export const namedSteps = shared((backend: Backend) => {
  const on = namedRows(backend);
  const { lowerLimit, unmarkHashes } = slotEndSteps(backend);

  return {
    /** Frees the place of a named HWID. Returns false if it is not named there. */
    *free({ installId, hwid }: { installId: number; hwid: string }): Step<boolean> {
      const name = yield* on.findName.get({ installId, hwid });
      if (name === null) return false;
      yield* on.drop.run(name);
      yield* unmarkHashes(installId);
      yield* lowerLimit(installId);
      return true;
    },

    /** Frees the places of HWIDs that were named since a time. Returns their number. */
    *freeAll(installId: number, sinceMs: number): Step<number> {
      const names = yield* on.list.all({ installId });
      const count = names.filter(({ namedAtMs }) => namedAtMs >= sinceMs).length;
      if (count === 0) return 0;
      yield* on.dropSince.run({ installId, sinceMs });
      yield* unmarkHashes(installId);
      yield* lowerLimit(installId);
      return count;
    },

    /** Lists up to `room` named HWIDs of a link that another one lacks, the latest first. */
    *moving(fromId: number, toId: number, room: number) {
      const names = yield* on.onlyHere.all({ fromId, toId });
      const held = new Set((yield* on.held.all({ installId: toId })).map(({ hwid }) => hwid));
      // A slot stored under its hash is that of the HWID.
      const missing = names.filter(({ hwid }) => !held.has(hwidOfHash(hwidHash(hwid))));
      return missing.slice(0, Math.max(0, room));
    },

    /** Gives named HWIDs of a link, which the write has locked, to another one. */
    *move(moving: readonly MovingName[], toId: number, providerId: number): Step<void> {
      for (const { nameId, ...name } of moving) {
        yield* on.drop.run({ nameId });
        yield* on.add.run({ ...name, installId: toId, providerId });
      }
      if (moving.length > 0) yield* on.mark.run({ installId: toId });
    },

    /**
     * Drops the names on a link of the devices that come to it from another one. Returns their
     * number.
     */
    *dropHeld(fromId: number, toId: number): Step<number> {
      const found = new Set<number>();
      for (const { nameId } of yield* on.heldElsewhere.all({ fromId, toId })) found.add(nameId);
      const names = yield* on.list.all({ installId: toId });
      const byHash = new Map(names.map(({ hwid }) => [hwidOfHash(hwidHash(hwid)), hwid]));
      const hwids = [...byHash.keys()];
      for (const { hwid } of yield* on.onLink.all({ installId: fromId, hwids })) {
        const name = byHash.get(hwid);
        const row = name && (yield* on.findName.get({ installId: toId, hwid: name }));
        if (row) found.add(row.nameId);
      }
      for (const nameId of found) yield* on.drop.run({ nameId });
      return found.size;
    },
  };
});
