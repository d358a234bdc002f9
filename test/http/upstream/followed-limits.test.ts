/** Limits at the door where the panel is followed: it is asked for keys that no pass has seen. */

import { afterEach, expect, test } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { call } from '../../support/app.ts';
import { type FollowingApp, someUser, startFollowing } from '../../support/followed-panel.ts';
import { type Panel, startPanel } from '../../support/panel.ts';
import { API_TOKEN } from '../../support/panel-api.ts';
import { bind } from '../../support/shop.ts';
import { exchange, HOST } from '../../support/upstream.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const KNOWN = someUser(1, { limit: 2, key: 'known-key-1234' });
const LATER = someUser(2, { limit: 1, key: 'later-key-5678' });

/** Starts the panel's own server, the API that lists users, and an appliance that follows it. */
async function start(more: Partial<Upstream> = {}): Promise<FollowingApp & { pages: Panel }> {
  const pages = await startPanel();
  closers.push(() => pages.stop());
  const secretOf = (file: string) => (file === '/token' ? API_TOKEN : null);
  const options = { secretOf };
  const on = await startFollowing('remnawave', [KNOWN], { limits: 'panel', ...more }, options);
  closers.push(() => on.stop());
  on.set({ url: pages.url });
  await bind(on.app, on.own, hostHash(HOST));
  on.panel.odd = (path) => {
    const key = /by-short-uuid\/(.+)$/.exec(path)?.[1];
    if (key === undefined) return null;
    const limit = [KNOWN, LATER].find((user) => user.key === key)?.limit ?? null;
    return Response.json({ response: { id: 9, status: 'ACTIVE', hwidDeviceLimit: limit } });
  };
  return { ...on, pages };
}

const enter = async (on: FollowingApp, key: string, hwid: string) => {
  const port = Number(new URL(on.app.url).port);
  return (await exchange(port, 'GET', `/sub/${key}`, { 'x-hwid': hwid })).status;
};
const questionsIn = (on: FollowingApp) =>
  on.panel.asked.filter((path) => path.includes('by-short-uuid'));

test('only keys that the last pass does not have are asked about', async () => {
  const on = await start();
  await on.pass();
  for (const hwid of ['a', 'b', 'a']) expect(await enter(on, KNOWN.key, hwid)).toBe(200);
  expect(await enter(on, KNOWN.key, 'c')).toBe(404);
  on.app.clock.advance(3_600_001);
  expect(await enter(on, KNOWN.key, 'c')).toBe(404);
  expect(questionsIn(on)).toEqual([]);
  expect(await enter(on, LATER.key, 'a')).toBe(200);
  expect(questionsIn(on)).toHaveLength(1);
  expect(await on.link(LATER)).toMatchObject({ installLimit: 1 });
  on.panel.users = [KNOWN, { ...LATER, limit: 4 }];
  await on.pass();
  expect(await on.link(LATER)).toMatchObject({ installLimit: 4 });
  on.app.clock.advance(3_600_001);
  await enter(on, LATER.key, 'a');
  expect(questionsIn(on)).toHaveLength(1);
});

test('a limit that was set by hand stays, whatever the panel says', async () => {
  const on = await start();
  await on.pass();
  const { id = 0 } = (await on.link(KNOWN)) ?? {};
  const set = { id: String(id), install_limit: '7' };
  expect((await call(on.app, '/api/update-install', on.own, set)).json).toMatchObject({ rc: 1 });
  on.panel.users = [{ ...KNOWN, limit: 3 }];
  await on.pass();
  for (let hour = 0; hour < 2; hour++) {
    on.app.clock.advance(3_600_001);
    expect(await enter(on, KNOWN.key, `hwid-${hour}`)).toBe(200);
  }
  expect(await on.link(KNOWN)).toMatchObject({ installLimit: 7 });
});

test('more devices than a lowered limit stay, and each that leaves lowers it', async () => {
  const on = await start({ limits: 'panel' });
  on.panel.users = [{ ...KNOWN, limit: 3 }];
  await on.pass();
  for (const hwid of ['a', 'b', 'c']) expect(await enter(on, KNOWN.key, hwid)).toBe(200);
  on.panel.users = [{ ...KNOWN, limit: 1 }];
  await on.pass();
  const { installCode = '' } = (await on.link(KNOWN)) ?? {};
  const link = () => on.app.core.store.findLink(installCode);
  expect(await link()).toMatchObject({ installLimit: 3, limitWanted: 1, deviceCount: 3 });
  for (const [hwid, left] of [
    ['a', 2],
    ['b', 1],
  ] as const) {
    const of = { install_code: installCode, hwid };
    expect((await call(on.app, '/api/delete-hwid', on.own, of)).json).toMatchObject({ rc: 1 });
    expect(await link()).toMatchObject({ installLimit: left, deviceCount: left });
    await on.pass();
    expect(await link()).toMatchObject({ installLimit: left, deviceCount: left });
  }
});

test('with limits of its own, Gatepost keeps them', async () => {
  const on = await start({ limits: 'own', defaultLimit: 4 });
  await on.pass();
  on.panel.users = [{ ...KNOWN, limit: 9 }];
  await on.pass();
  expect(await on.link(KNOWN)).toMatchObject({ installLimit: 4 });
});
