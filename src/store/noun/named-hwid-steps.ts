/** Named HWIDs, as steps of writes. */

import type { Backend, Step } from '../backend.ts';
import { namedRows } from './named-hwid-rows.ts';
import { shared } from './shared.ts';
import { slotEndSteps } from './slot-end.ts';

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

    /** Gives up to `room` named HWIDs of a link to another one. */
    *move(fromId: number, toId: number, providerId: number, room: number): Step<void> {
      const names = yield* on.onlyHere.all({ fromId, toId });
      for (const { nameId, ...name } of names.slice(0, Math.max(0, room))) {
        yield* on.drop.run({ nameId });
        yield* on.add.run({ ...name, installId: toId, providerId });
      }
      if (names.length > 0) yield* on.mark.run({ installId: toId });
    },

    /**
     * Drops the names on a link of the devices that come to it from another one. Returns their
     * number.
     */
    *dropHeld(fromId: number, toId: number): Step<number> {
      const names = yield* on.heldElsewhere.all({ fromId, toId });
      for (const name of names) yield* on.drop.run(name);
      return names.length;
    },
  };
});
