/** A server that follows a panel by its database on the same machine. */

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { knownIn, linksIn, prepare } from '../support/follow-served.ts';
import { makeUser, writePanel } from '../support/panel-world.ts';
import { openStoreOf, startServe, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

test('a file of the panel on this machine is followed', async () => {
  const file = join(temporaryFolder(), 'panel.db');
  writePanel('marzban', file, [1, 2, 3].map(makeUser));
  const { dataDir, args } = await prepare([
    ...['key = "marzban"', `panel_file = "${file}"`, 'follow_notes = true'],
  ]);
  const server = await startServe({ dataDir, args });
  const store = await openStoreOf(dataDir);
  await until('the users are known', async () => (await knownIn(store)).length === 3);
  expect((await store.listFollows())[0]).toMatchObject({
    source: expect.stringMatching(/marzban$/),
  });
  expect((await linksIn(store)).map(({ installLimit }) => installLimit)).toEqual([3, 3, 3]);
  await store.close();
  await server.stop();
  expect(server.troubles()).toEqual([]);
});
