/** Joins two links of one customer, whose keys were two spellings of one. */

import type { JoiningLink, LinkJoinStore } from '../../core/port/link-join.ts';
import { DEVICES_MAX } from '../../core/slot.ts';
import type { Backend } from '../backend.ts';
import { linkMergeSteps, type MergingLink } from './link-merge.ts';
import { tombstoneSteps } from './tombstone.ts';

export function linkJoinNoun(backend: Backend): LinkJoinStore {
  const links = linkMergeSteps(backend);
  const tombstones = tombstoneSteps(backend);

  /** Finds both links of a join and locks them with the devices of the second one, in order. */
  function* findBoth({ providerId, installId, keyHash }: JoiningLink) {
    const here = yield* links.findById(providerId, installId);
    const other = yield* links.findByKey(providerId, keyHash);
    if (here === null || other === null) return { here, other };
    const [kept, ending] = isFirst(here, other) ? [here, other] : [other, here];
    yield* links.lockBoth(ending.id, kept.id);
    return {
      here: yield* links.findById(providerId, installId),
      other: yield* links.findByKey(providerId, keyHash),
    };
  }

  return {
    joinLinks: (joining, act) =>
      backend.write(function* (notes) {
        const { providerId, keyHash } = joining;
        yield* backend.lockProvider(providerId);
        const ended = yield* tombstones.find(providerId, { subscriptionKeyHash: keyHash });
        const { here, other } = yield* findBoth(joining);
        if (here === null || here.subscriptionKeyHash === keyHash || ended !== null) return;
        const kept = other === null || isFirst(here, other) ? here : other;
        if (other !== null) {
          const from = kept === here ? other : here;
          // Above its limit until they leave.
          const room = DEVICES_MAX - kept.deviceCount;
          yield* links.merge(notes, { from, to: kept, room, providerId }, act);
        }
        if (kept !== here) return;
        yield* links.giveKey(notes, { providerId, link: kept, keyHash }, act);
      }),
  };
}

/** Returns true if a link was made before another one. */
function isFirst(one: MergingLink, other: MergingLink): boolean {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs < other.createdAtMs;
  return one.id < other.id;
}
