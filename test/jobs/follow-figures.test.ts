/** Passes over a followed panel bring end and traffic, for providers that want them. */

import { afterEach, describe, expect, test } from 'bun:test';
import { PANELS, type PanelKind } from '../../src/core/panel/kind.ts';
import { call } from '../support/app.ts';
import {
  EVERY_MS,
  type FollowingApp,
  someUser,
  startFollowing,
} from '../support/followed-panel.ts';

const HOUR_MS = 3_600_000;
const GB = 1024 ** 3;
const END_MS = Date.UTC(2027, 0, 1);

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const USERS = Array.from({ length: 7 }, (_, n) => someUser(n + 1));
const [ANNA = someUser(1)] = USERS;

async function start(kind: PanelKind, { isOn = true } = {}) {
  const on = await startFollowing(kind, USERS);
  closers.push(() => on.stop());
  if (isOn) await call(on.app, '/api/policy', on.own, { subscription_figures: '1' });
  return on;
}

const keptOf = async (on: FollowingApp, user = ANNA) =>
  on.app.core.store.findSubscriptionFigures((await on.link(user))?.id ?? 0);

const SAID = { endsAtMs: END_MS, totalBytes: 8 * GB, usedBytes: 2 * GB, source: 'panel' };

describe.each([...PANELS])('%s', (kind) => {
  test('the first pass keeps the figures of each link, a later one those that moved', async () => {
    const on = await start(kind);
    await on.pass();
    for (const user of USERS) expect(await keptOf(on, user)).toMatchObject(SAID);
    on.panel.users = USERS.map((user) => ({ ...user, usedBytes: user.id * GB }));
    await on.pass(HOUR_MS);
    for (const { id, ...user } of USERS) {
      expect(await keptOf(on, { ...user, id })).toMatchObject({ usedBytes: id * GB });
    }
  });
});

test('passes of one hour read them once', async () => {
  const on = await start('marzban');
  const { clock } = on.app;
  await on.pass();
  // To the begin of an hour.
  clock.advance(HOUR_MS - (clock.nowMs() % HOUR_MS));
  await on.pass(0);
  on.panel.users = USERS.map((user) => ({ ...user, usedBytes: 7 * GB }));
  for (let turn = 0; turn < 5; turn++) await on.pass();
  expect((await keptOf(on))?.usedBytes).toBe(2 * GB);
  await on.pass(HOUR_MS - 5 * EVERY_MS);
  expect((await keptOf(on))?.usedBytes).toBe(7 * GB);
});

describe('nothing is kept', () => {
  test('for a provider that did not switch it on', async () => {
    const on = await start('marzban', { isOn: false });
    await on.pass();
    expect(await keptOf(on)).toBeNull();
  });

  test('with privacy.keep = "less"', async () => {
    const on = await start('marzban');
    Object.assign(on.app.core.limits, { privacyKeep: 'less' });
    await on.pass();
    expect(await keptOf(on)).toBeNull();
  });

  test('of a pass that changes nothing', async () => {
    const on = await start('marzban');
    await on.pass();
    on.panel.users = USERS.slice(0, 3).map((user) => ({ ...user, usedBytes: 7 * GB }));
    await on.pass(HOUR_MS);
    expect((await on.follow()).held).not.toBeNull();
    expect((await keptOf(on))?.usedBytes).toBe(2 * GB);
  });
});
