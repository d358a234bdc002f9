/** Passes over a followed panel: what they bring, by the API of each panel. */

import { afterEach, expect, test } from 'bun:test';
import { PANELS, type PanelKind } from '../../src/core/panel/kind.ts';
import { auditEntries } from '../support/audit.ts';
import { type FollowingApp, someUser, startFollowing } from '../support/followed-panel.ts';

let following: FollowingApp | null = null;
afterEach(async () => {
  await following?.stop();
  following = null;
});

async function start(...given: Parameters<typeof startFollowing>): Promise<FollowingApp> {
  following = await startFollowing(...given);
  return following;
}

const GIVES_LIMITS: readonly PanelKind[] = ['remnawave', '3x-ui', 'pasarguard', 'hiddify'];

test.each([...PANELS])('%s: new users get links, and what changed is taken over', async (kind) => {
  const users = [1, 2, 3, 4, 5, 6, 7].map((id) => someUser(id));
  const on = await start(kind, users, { limits: 'panel', followNotes: true });
  await on.pass();
  const limit = GIVES_LIMITS.includes(kind) ? 2 : 3;
  const first = await on.link(someUser(1));
  expect(first).toMatchObject({ installLimit: limit, status: 10 });
  expect(first?.note).toContain('user1');
  expect(await on.known()).toHaveLength(7);
  const counts = { userCount: 7, addedCount: 7, changedCount: 0, goneCount: 0, missingCount: 0 };
  expect(await on.follow()).toMatchObject({ view: '', failure: null, pass: counts });

  // Marzban knows a user by the name alone.
  const renamed = kind === 'marzban' ? {} : { name: 'anna' };
  on.panel.users[0] = someUser(1, { ...renamed, note: 'pays late', limit: 5 });
  on.panel.users.push(someUser(8, { limit: 0 }));
  await on.pass();
  const changed = await on.link(someUser(1));
  expect(changed).toMatchObject({
    id: first?.id ?? 0,
    installLimit: GIVES_LIMITS.includes(kind) ? 5 : 3,
  });
  expect(changed?.note).toContain('pays late');
  expect(changed?.note).toContain(kind === 'marzban' ? 'user1' : 'anna');
  const unlimited = GIVES_LIMITS.includes(kind) ? 100 : 3;
  expect(await on.link(someUser(8))).toMatchObject({ installLimit: unlimited });
  expect((await on.follow()).pass).toMatchObject({ addedCount: 1, changedCount: 1 });
  const entries = await auditEntries(on.app.core);
  const imports = entries.filter(({ action }) => action === 'install.import');
  expect(imports).toHaveLength(9);
  expect(new Set(imports.map(({ name }) => name))).toEqual(new Set(['panel']));
});

test.each([...PANELS])('%s: keeps hashes, states and ends, and no name', async (kind) => {
  const endsAtMs = Date.UTC(2027, 0, 1);
  const on = await start(kind, [someUser(1, { name: 'anna', note: 'of Boris', endsAtMs })]);
  await on.pass();
  const [known] = await on.known();
  expect(known).toMatchObject({ state: 'active', endsAtMs, note: null, missedCount: 0 });
  expect((await on.link(someUser(1, { name: 'anna' })))?.note).toBeNull();
  const told = JSON.stringify([await on.known(), await on.follow(), on.app.logLines]);
  expect(told).not.toMatch(/anna|Boris/);
});

const ENDED: Readonly<Record<PanelKind, readonly (readonly [string, string])[]>> = {
  remnawave: [
    ['disabled', 'disabled'],
    ['expired', 'expired'],
    ['limited', 'limited'],
  ],
  '3x-ui': [['disabled', 'disabled']],
  pasarguard: [
    ['disabled', 'disabled'],
    ['expired', 'expired'],
    ['on_hold', 'on_hold'],
  ],
  marzban: [
    ['limited', 'limited'],
    ['disabled', 'disabled'],
    ['on_hold', 'on_hold'],
  ],
  hiddify: [['disabled', 'disabled']],
};

test.each([...PANELS])('%s: a state of the panel disables no link', async (kind) => {
  const on = await start(kind, [someUser(1)]);
  await on.pass();
  for (const [state, kept] of ENDED[kind]) {
    on.panel.users = [someUser(1, { state: state as 'disabled' })];
    await on.pass();
    expect((await on.known())[0]).toMatchObject({ state: kept });
    expect(await on.link(someUser(1))).toMatchObject({ status: 10 });
  }
});

test('a fresh key of a user is that of the same link', async () => {
  const on = await start('remnawave', [someUser(1), someUser(2)]);
  await on.pass();
  const before = await on.link(someUser(1));
  on.panel.users[0] = someUser(1, { key: 'a-fresh-key' });
  await on.pass();
  expect(await on.link(someUser(1))).toBeNull();
  expect(await on.link(someUser(1, { key: 'a-fresh-key' }))).toMatchObject({ id: before?.id ?? 0 });
});

test('what was removed here is not made again', async () => {
  const on = await start('remnawave', [someUser(1)]);
  await on.pass();
  const link = await on.link(someUser(1));
  const act = { actor: on.app.core.actor(), atMs: on.app.clock.nowMs() };
  await on.app.core.store.removeLink(on.providerId, link?.id ?? 0, act);
  on.panel.users = [someUser(1, { limit: 7, state: 'expired' })];
  await on.pass();
  expect(await on.link(someUser(1))).toBeNull();
});
