/** Opens the stores that the contract tests: of the kind that `TEST_STORE` names. */

import { type Store, withMethods } from '../../../src/core/port/store.ts';
import { freshPlace } from '../../support/app.ts';
import { FEW_CONNECTIONS, openPlace } from '../../support/place.ts';
import { runRace } from '../../support/race.ts';
import { strictStore } from '../../support/strict-store.ts';
import { CLOCK, type OpenedStore } from './fixture.ts';

/** Opens a fresh, empty store, and others beside it with so many connections each. */
export async function openContractStore(
  connections = FEW_CONNECTIONS,
): Promise<OpenedStore & { dataDir: string }> {
  const { place, drop } = await freshPlace();
  const stores: Store[] = [];
  const openOne = async (isSlow: boolean): Promise<Store> => {
    const store = await openPlace(place, { clock: CLOCK, connections });
    let isClosed = false;
    const close = async () => {
      if (!isClosed) await store.close();
      isClosed = true;
    };
    const opened = withMethods(store, { close });
    stores.push(opened);
    // The contract holds for a store that answers at once, and for one that never does.
    return strictStore(opened, { isSlow });
  };
  return {
    dataDir: place.dataDir,
    store: await openOne(false),
    openBeside: () => openOne(true),
    race: (shares) => runRace(place, shares),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await drop();
    },
  };
}
