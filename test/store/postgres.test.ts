/** The contract on PostgreSQL, and what holds in the database whoever writes to it. */

import type { Store } from '../../src/core/port/store.ts';
import { withMethods } from '../../src/core/port/store.ts';
import { describePostgres } from '../support/needs.ts';
import { openPlace } from '../support/place.ts';
import { freshDatabase } from '../support/postgres-data.ts';
import { runRace } from '../support/race.ts';
import { strictStore } from '../support/strict-store.ts';
import { CLOCK, type OpenedStore } from './contract/fixture.ts';
import { storeContract } from './contract.ts';

async function open(): Promise<OpenedStore> {
  const database = await freshDatabase();
  const place = { dataDir: '', databaseUrl: database.url };
  const stores: Store[] = [];
  const openOne = async (isSlow: boolean): Promise<Store> => {
    const store = await openPlace(place, { clock: CLOCK });
    let isClosed = false;
    const close = async () => {
      if (!isClosed) await store.close();
      isClosed = true;
    };
    const opened = withMethods(store, { close });
    stores.push(opened);
    return strictStore(opened, { isSlow });
  };
  return {
    store: await openOne(false),
    openBeside: () => openOne(true),
    race: (shares) => runRace(place, shares),
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await database.drop();
    },
  };
}

describePostgres('PostgreSQL', () => storeContract('the PostgreSQL store', open));
