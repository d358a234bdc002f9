/** A server that follows a panel by its API, in a process that is killed. */

import { afterEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { besideOf } from '../support/beside.ts';
import { knownIn, linksIn, prepare } from '../support/follow-served.ts';
import { type ListingPanel, someUser, startListingPanel } from '../support/followed-panel.ts';
import { API_TOKEN } from '../support/panel-api.ts';
import { childrenOf } from '../support/panel-import.ts';
import { lookedAt, openStoreOf, startServe, temporaryFolder } from '../support/process.ts';
import { PATIENCE_MS, until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses(20 * PATIENCE_MS);

const panels: ListingPanel[] = [];
afterEach(async () => {
  for (const panel of panels.splice(0)) await panel.stop();
});

/** As {@link prepare}, for the API of a panel. */
function prepareApi(panel: ListingPanel) {
  if (!panels.includes(panel)) panels.push(panel);
  const token = join(temporaryFolder(), 'token');
  writeFileSync(token, API_TOKEN, { mode: 0o600 });
  return prepare([
    ...['key = "marzban"', 'panel = "marzban"'],
    ...[`panel_url = "${panel.url}"`, `panel_token_file = "${token}"`],
  ]);
}

/** Makes the next pass due, as when its time has come; ends the claim of a killed server. */
async function makeDue(dataDir: string): Promise<void> {
  const db = besideOf(await lookedAt(dataDir));
  db.run('UPDATE follow SET next_at_ms = 0, lease_until_ms = 0');
  db.close();
}

const USERS = Array.from({ length: 120 }, (_, n) => someUser(n + 1));
/** The most servers that are started until one is killed in its pass. */
const TRIES_MAX = 20;

/**
 * Kills a server in its first pass. On a busy machine the pass may have ended by then: another
 * server begins anew.
 */
async function killedInPass(panel: ListingPanel) {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const { dataDir, args } = await prepareApi(panel);
    const first = await startServe({ dataDir, args });
    const store = await openStoreOf(dataDir);
    await until('some users are known', async () => (await knownIn(store)).length > 10);
    await first.stop('SIGKILL');
    if ((await knownIn(store)).length < USERS.length) return { args, dataDir, store };
    await store.close();
  }
  throw new Error('no server was killed in its pass');
}

test('a reader or a server that is killed in a pass changes no link wrongly', async () => {
  const panel = startListingPanel('marzban', [...USERS]);
  panel.pageCount = 40;
  const { args, dataDir, store } = await killedInPass(panel);
  expect((await store.listFollows())[0]?.pass).toBeNull();
  await makeDue(dataDir);
  const second = await startServe({ dataDir, args });
  const hasPassed = async () => (await store.listFollows())[0]?.pass?.userCount === USERS.length;
  await until('a whole pass', hasPassed, 4 * PATIENCE_MS);
  expect(await linksIn(store)).toHaveLength(USERS.length);

  // The panel hangs on its second page, and the process that reads is killed.
  const before = { links: await linksIn(store), known: await knownIn(store) };
  const { promise: isHanging, resolve: hangs } = Promise.withResolvers<void>();
  panel.users = USERS.slice(0, 60);
  panel.odd = (path) => {
    if (!/offset=[1-9]/.test(path)) return null;
    hangs();
    return new Promise(() => {});
  };
  await makeDue(dataDir);
  await isHanging;
  const [reader = 0] = childrenOf(second.pid);
  process.kill(reader, 'SIGKILL');
  const failed = async () => (await store.listFollows())[0]?.failure;
  expect(await until('the pass fails', failed)).toMatchObject({ problem: 'unreadable', count: 1 });
  expect({ links: await linksIn(store), known: await knownIn(store) }).toEqual(before);
  expect(childrenOf(second.pid)).toEqual([]);
  panel.odd = null;
  panel.users = [...USERS];
  await makeDue(dataDir);
  const recovers = async () => (await store.listFollows())[0]?.failure === null;
  await until('the panel is followed again', recovers);
  await store.close();
  expect(await second.stop()).toMatchObject({ code: 0 });
  expect(second.troubles()).toHaveLength(1);
  expect(second.troubles()[0]).toContain('follow_failed');
  expect(second.stderr()).not.toContain(API_TOKEN);
});
