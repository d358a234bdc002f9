/** Sends that come together wait once for the row of their provider, and for one commit. */

import type { Store } from '../../../core/port/store.ts';
import { type Acceptance, acceptance, type Offer } from '../../noun/acceptance.ts';
import { postgresBackend } from '../backend.ts';
import type { Context } from '../context.ts';
import { runOn } from '../dialect.ts';
import { TurnGroup } from '../group.ts';

/** Sends of one commit, and commits at a time, each of another party. */
const COUNT_MAX = 32;
const UNDER_WAY_MAX = 4;

export function acceptanceInGroups(context: Context): Pick<Store, 'addDistribution'> {
  const accept = acceptance(postgresBackend(context));
  const group = new TurnGroup<Offer, Acceptance>(context.db, {
    run: (offers) => context.write((w) => runOn(w, accept(w.notes, offers))),
    itemsMax: COUNT_MAX,
    inFlightMax: UNDER_WAY_MAX,
    isWrite: true,
    isOfOneParty: true,
  });
  return { addDistribution: (draft, guards, act) => group.ask({ draft, guards, act }) };
}
