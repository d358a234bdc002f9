/** Opens the stores that the contract tests: of the kind that `TEST_STORE` names. */

import { type Store, withMethods } from '../../../src/core/port/store.ts';
import { freshPlace } from '../../support/app.ts';
import { FEW_CONNECTIONS, openPlace } from '../../support/place.ts';
import { runRace } from '../../support/race.ts';
import { strictStore } from '../../support/strict-store.ts';
import { CLOCK, type OpenedStore } from './fixture.ts';

type Fresh = Awaited<ReturnType<typeof freshPlace>>;
/** By connections: an emptied database whose store is open. PostgreSQL's processes know it then. */
const resting = new Map<number, Fresh & { first: Store }>();

/**
 * Opens an empty store, and others beside it with so many connections each. A store of PostgreSQL
 * that `mayRest` stays open, for the next test: to open one takes half of most of them.
 */
export async function openContractStore(
  connections = FEW_CONNECTIONS,
  mayRest = false,
): Promise<OpenedStore & { dataDir: string }> {
  const rested = mayRest ? resting.get(connections) : undefined;
  resting.delete(connections);
  const { place, database, drop } = rested ?? (await freshPlace());
  const openOne = () => openPlace(place, { clock: CLOCK, connections });
  const first = rested?.first ?? (await openOne());
  const rests = mayRest && database !== null;
  const stores: Store[] = [];
  // The contract holds for a store that answers at once, and for one that never does.
  const strictOf = (store: Store, isSlow: boolean): Store => {
    let isClosed = rests && store === first;
    const close = async () => {
      if (!isClosed) await store.close();
      isClosed = true;
    };
    const opened = withMethods(store, { close });
    stores.push(opened);
    return strictStore(opened, { isSlow });
  };
  return {
    dataDir: place.dataDir,
    store: strictOf(first, false),
    openBeside: async () => strictOf(await openOne(), true),
    race: (shares) => runRace(place, shares),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      if (!rests) return drop();
      await first.saveFigures();
      await database.empty();
      resting.set(connections, { place, database, drop, first });
    },
  };
}
