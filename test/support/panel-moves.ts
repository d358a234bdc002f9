/**
 * Users of a panel move in from its own database, and the process that brings them is killed three
 * times on the way. Then the panel goes on: a limit changes, users come and go.
 *
 * PANEL_SCALE=1 bun test test/e2e/import-panel.test.ts does it with 20,000 users of each panel.
 */

import { expect } from 'bun:test';
import { join } from 'node:path';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import { keyOf, linkOf, makeUser, type WorldUser, writePanel } from './panel-world.ts';
import {
  addProviderByCommand,
  binary,
  databaseOf,
  openStoreOf,
  plainEnv,
  run,
  temporaryFolder,
} from './process.ts';
import { isAskedFor, scaleOf } from './scale.ts';
import { PATIENCE_MS, until } from './until.ts';

const SCALE = scaleOf('PANEL_SCALE', { short: 0.05, long: 1 });
const USERS = Math.round(20_000 * SCALE);
/** The longest that one panel takes, ms. */
export const PANEL_MOVE_MS = (10 + 100 * SCALE) * PATIENCE_MS;

interface Exported {
  subscription_key_hash: string;
  hwids: Record<string, unknown>[];
  [field: string]: unknown;
}

/** The links of a provider by their key, without what each import draws anew. */
async function exported(dataDir: string, code: string): Promise<Map<string, Exported>> {
  const { stdout } = await run(['export', code, '--data', dataDir]);
  const links = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).install)
    .filter((link) => link !== undefined);
  return new Map(links.map((link) => [link.subscription_key_hash, link]));
}

function expectLinks(
  links: ReadonlyMap<string, Exported>,
  kind: PanelKind,
  users: readonly WorldUser[],
): void {
  expect(links.size).toBe(users.length);
  const [wanted, found] = [new Map<string, unknown>(), new Map<string, unknown>()];
  for (const user of users) {
    const { over_max: overMax, ...link } = linkOf(kind, user, 3);
    const here = links.get(link.subscription_key_hash);
    const fields = Object.keys(link);
    wanted.set(user.name, { ...link, over: overMax });
    found.set(user.name, {
      ...Object.fromEntries(fields.map((field) => [field, here?.[field]])),
      hwids: (here?.hwids ?? []).map(({ app_version: _, ...one }) => one),
      over: here?.['over_max'] ?? null,
    });
  }
  expect(found).toEqual(wanted);
}

async function linkCount(dataDir: string, code: string): Promise<number> {
  const store = await openStoreOf(dataDir);
  const provider = await store.findProvider(code);
  await store.close();
  return provider?.installCount ?? 0;
}

/** Starts the import and kills it once there are that many links. */
async function killedAt(count: number, words: readonly string[], dataDir: string, code: string) {
  const database = await databaseOf(dataDir);
  const env = plainEnv(database ? { GATEPOST_DATABASE_URL: database.url } : {});
  const child = Bun.spawn([binary(), ...words], {
    env,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'ignore',
  });
  const store = await openStoreOf(dataDir);
  const here = async () => (await store.findProvider(code))?.installCount ?? 0;
  await until(`${count} links`, async () => (await here()) >= count);
  child.kill('SIGKILL');
  await child.exited;
  await store.close();
  expect(child.signalCode).toBe('SIGKILL');
}

/** Moves the users of a panel in, and plays what comes after. */
export async function movePanelIn(kind: PanelKind): Promise<void> {
  const dataDir = join(temporaryFolder(), 'data');
  const { code } = await addProviderByCommand(dataDir, '--plan', 'pro');
  const file = join(temporaryFolder(), 'panel');
  const users = Array.from({ length: USERS }, (_, n) => makeUser(n));
  writePanel(kind, file, users);
  const words = ['import', file, '--panel', kind, '--code', code, '--unlimited-as', '3'];
  const all = [...words, '--json', '--data', dataDir];
  const began = performance.now();

  const checked = JSON.parse((await run([...all, '--check'])).stdout);
  expect(checked).toMatchObject({ check: true, users: USERS, links: { added: 0 } });
  expect(await linkCount(dataDir, code)).toBe(0);

  for (const share of [0.1, 0.3, 0.6]) {
    await killedAt(Math.ceil(USERS * share), all, dataDir, code);
  }
  expect(await linkCount(dataDir, code)).toBeLessThan(USERS);
  const first = await run(all);
  expect(first.stderr.replace(/^\d+ of .*\n/gm, '')).toBe('');
  const summary = JSON.parse(first.stdout);
  expect(summary).toMatchObject({
    complete: true,
    gone: 0,
    unusable: 0,
    links: { different: 0 },
  });
  expect(summary.links.added + summary.links.present).toBe(USERS);
  const links = await exported(dataDir, code);
  expectLinks(links, kind, users);

  // Again: nothing changes.
  const again = JSON.parse((await run(all)).stdout);
  expect(again.links).toMatchObject({ added: 0, present: USERS, updated: 0, different: 0 });
  expect(again.hwids.added).toBe(0);
  expect(await exported(dataDir, code)).toEqual(links);

  // The panel goes on: a limit and a name change, one user is new, one is gone.
  const changed = { ...makeUser(1), limit: 6, comment: 'paid more' };
  const later = [changed, makeUser(USERS), ...users.slice(2)];
  const mine = links.get(linkOf(kind, makeUser(2), 3).subscription_key_hash);
  const own = ['link', 'set', String(mine?.['install_code']), '--note', 'mine', '--data', dataDir];
  expect((await run(own)).code).toBe(0);
  writePanel(kind, file, later);
  const third = JSON.parse((await run([...all, '--disable-gone'])).stdout);
  expect(third.links).toMatchObject({ added: 1, updated: 2, different: 0, present: USERS - 2 });
  expect(third.gone).toBe(1);
  const now = await exported(dataDir, code);
  const goneUser = { ...makeUser(0), isGone: true };
  const here = now.get(linkOf(kind, makeUser(2), 3).subscription_key_hash);
  expect(here?.['note']).toBe('mine');
  now.set(here?.subscription_key_hash ?? '', { ...here, note: mine?.['note'] } as Exported);
  expectLinks(now, kind, [goneUser, ...later]);
  expect(keyOf(kind, changed)).toBe(keyOf(kind, makeUser(1)));
  if (isAskedFor('PANEL_SCALE')) {
    console.log({ kind, USERS, tookMs: Math.round(performance.now() - began), third });
  }
}
