/** A PostgreSQL whose disk is full: reads go on, and each write says that it failed. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Store } from '../../src/core/port/store.ts';
import { ACT } from '../support/actor.ts';
import { describePostgres } from '../support/needs.ts';
import { type OwnPostgres, startPostgres } from '../support/postgres.ts';
import type { TestDatabase } from '../support/postgres-data.ts';
import { MAY_MOUNT, mountSmallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';
import { expectQuiet, faultsOf, WatchedStore } from '../support/watched-store.ts';
import { addProvider, linkDraft } from './contract/fixture.ts';

/** As whom PostgreSQL runs if the tests run as root. */
const NOBODY = 65_534;

describePostgres('PostgreSQL on a full disk', () => {
  let server: OwnPostgres;
  let watched: WatchedStore;
  let database: TestDatabase;
  let store: Store;

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop('crash'));
  beforeEach(async () => {
    watched = await WatchedStore.open(server);
    ({ database, store } = watched);
  });
  afterEach(() => watched.close());

  test.skipIf(!MAY_MOUNT)(
    'a disk that is full: reads go on, writes are told of once',
    async () => {
      const { id } = await addProvider(store, 'Provide1');
      const disk = mountSmallDisk(8, `uid=${NOBODY}`);
      if (disk === null) throw new Error('no disk was mounted');
      chmodSync(dirname(disk.folder), 0o755);
      try {
        await database.sql.unsafe(`CREATE TABLESPACE small LOCATION '${disk.folder}'`);
        await database.sql.unsafe('ALTER TABLE install SET TABLESPACE small');
        await database.sql.unsafe('GRANT CREATE ON TABLESPACE small TO gatepost');
        await watched.set("ALTER SYSTEM SET temp_tablespaces = 'small'");
        disk.fill();
        let n = 0;
        const add = () => {
          n += 1;
          const installCode = `Code${10_000_000 + n}`;
          return store.addLink(linkDraft(id, { installCode, note: 'x'.repeat(255) }), ACT);
        };
        await until('a write fails', () =>
          add().then(
            () => false,
            () => true,
          ),
        );
        await watched.looks('%gatepost_room%', 3);
        expectQuiet(await faultsOf(20, add));
        expect((await watched.readiness.problem())?.detail).toEndWith('No space left on device');
        expect(await store.listProviders()).toHaveLength(1);
        expect(watched.told()).toEqual(['database_away', 'not_ready']);
        disk.clear();
        await watched.expectEnd(add);
      } finally {
        await watched.set('ALTER SYSTEM RESET temp_tablespaces');
        await database.sql.unsafe('ALTER TABLE install SET TABLESPACE pg_default');
        await database.sql.unsafe('DROP TABLESPACE small');
        disk.unmount();
      }
    },
    30_000,
  );
});
