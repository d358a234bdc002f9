/** What `gatepost doctor` says of installations whose data is in PostgreSQL. */

import { join } from 'node:path';
import { noPostgres } from '../support/postgres.ts';
import { freshDatabase, type TestDatabase } from '../support/postgres-data.ts';
import { startServe } from '../support/process.ts';
import {
  type Asked,
  type Scene,
  type Situation,
  standIn,
  testSituations,
} from '../support/situation.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** Makes a database of Gatepost, does something to it, and asks with it. */
async function inDatabase(
  scene: Scene,
  change: (database: TestDatabase) => Promise<unknown> = async () => undefined,
): Promise<Asked> {
  const database = await freshDatabase();
  scene.ends.push(() => database.drop());
  await change(database);
  const env = { GATEPOST_DATABASE_URL: database.url };
  standIn(scene, env);
  return { standIn: false, env, nowMs: Date.now() };
}

const SITUATIONS: readonly Situation[] = [
  { situation: 'nothing is wrong', says: [], make: (scene) => inDatabase(scene) },
  {
    situation: 'the server does not answer',
    says: ['PROBLEM database_unreachable'],
    make: () => ({ env: { GATEPOST_DATABASE_URL: 'postgres://a@127.0.0.1:9/a' } }),
  },
  {
    situation: 'the data moved to a file',
    says: ['PROBLEM database_moved'],
    words: /^its data moved to a file in \/var\/lib\/gatepost on gate1$/,
    make: (scene) =>
      inDatabase(
        scene,
        ({ sql }) => sql`UPDATE gatepost_schema
          SET move = 'left', moved_to = 'a file in /var/lib/gatepost on gate1'`,
      ),
  },
  {
    situation: 'the data have not all arrived',
    says: ['PROBLEM database_move_unfinished'],
    make: (scene) =>
      inDatabase(scene, ({ sql }) => sql`UPDATE gatepost_schema SET move = 'arriving'`),
  },
  {
    situation: 'a newer version migrated the database',
    says: ['PROBLEM schema_newer'],
    todo: 'gatepost 7.1.0 made it: use that version or a newer one',
    make: (scene) =>
      inDatabase(
        scene,
        ({ sql }) => sql`UPDATE gatepost_schema
          SET version = 999, readable_from = 999, program = '7.1.0'`,
      ),
  },
  {
    situation: 'no server runs here, and no other node',
    says: ['PROBLEM server_not_running'],
    make: async (scene) => {
      const asked = await inDatabase(scene);
      // Frees the lock of the stand-in.
      scene.ends.pop()?.();
      return asked;
    },
  },
  {
    situation: 'no server runs here, and another node serves',
    says: ['warning node_not_running'],
    words: /^no server runs on \/.*\/data; the database is served by node-two$/,
    make: async (scene) => {
      const databases: TestDatabase[] = [];
      const asked = await inDatabase(scene, async (database) => databases.push(database));
      scene.ends.pop()?.();
      const other = await startServe({
        dataDir: join(scene.folder, 'other'),
        env: { ...asked.env, GATEPOST_DATABASE_NODE: 'node-two' },
      });
      scene.ends.push(() => other.stop());
      // It lists itself a moment after it serves.
      await until('the node is listed', async () => {
        const rows = await databases[0]?.sql.unsafe('SELECT name FROM node');
        return rows?.length > 0;
      });
      return { ...asked, nowMs: Date.now() };
    },
  },
];

testSituations(SITUATIONS.map((one) => ({ ...one, isPossible: noPostgres === null })));
