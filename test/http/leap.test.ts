/**
 * A machine's clock leaps under the doors: what ends a right ends by the clock that comes first,
 * and what moves after a while moves by neither alone. docs/time.md has the table.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { addKey } from '../../src/core/account/keys.ts';
import {
  beginSecondFactor,
  confirmSecondFactor,
  isGoodCode,
} from '../../src/core/account/second-factor.ts';
import { invite } from '../../src/core/account/sign-in.ts';
import { isRefused } from '../../src/core/outcome.ts';
import { rotateKey } from '../../src/core/provider.ts';
import { hashKey } from '../../src/core/secret.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { byLink, REFUSED, register, tryRegister } from '../support/messaging.ts';
import { operatorBrowser, operatorEntry } from '../support/operator.ts';
import { addLink, enter, expectOk, HASH, LINK, seedShop } from '../support/shop.ts';
import { codeAt } from '../support/totp.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TEN_YEARS_MS = 3_653 * DAY_MS;

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp({ gateUpstreams: [] });
});
afterEach(() => app.close());

const follow = () => app.timekeeper.keep(app.core.store);

async function leap(ms: number): Promise<void> {
  app.clock.leap(ms);
  await follow();
}

/** Lets time pass on both clocks, a minute at a time as a server sees it. */
async function pass(ms: number): Promise<void> {
  app.clock.advance(ms);
  await follow();
}

const nowMs = () => app.timekeeper.nowMs();

/** A right: how it is made, and whether it still opens something. */
type Right = () => Promise<{ lifeMs: number; opens: () => Promise<boolean> }>;

async function providerOf(code: string) {
  const found = await app.core.store.findProvider(code);
  if (found === null) throw new Error('no provider');
  return found;
}

const mayList = async (by: { code: string; authKey: string }) =>
  (await call(app, '/api/list-install', by)).json.rc === 1;

const RIGHTS: Record<string, Right> = {
  'a session': async () => {
    const browser = await operatorBrowser(app);
    const opens = async () => (await browser.refusal('session.list', {})) === undefined;
    return { lifeMs: 12 * HOUR_MS, opens };
  },
  'a link for one use': async () => {
    const secret = await operatorEntry(app);
    const opens = async () => {
      const browser = new ConsoleBrowser(app.url);
      return (await browser.refusal('session.entry', { secret })) === undefined;
    };
    return { lifeMs: 10 * MINUTE_MS, opens };
  },
  'an invitation': async () => {
    const secret = await invite(
      app.core,
      { providerId: null, role: 'operator', isOperators: true },
      nowMs(),
    );
    if (isRefused(secret)) throw new Error(secret.says);
    const opens = async () =>
      (await app.core.store.findOneTime('invitation', hashKey(secret), nowMs())) !== null;
    return { lifeMs: 10 * MINUTE_MS, opens };
  },
  'a key of a part of the API': async () => {
    const own = await seedShop(app);
    const { id } = await providerOf(own.code);
    const given = { name: 'bot', scope: 'read', untilMs: nowMs() + 5 * HOUR_MS };
    const made = await addKey(app.core, id, given, nowMs());
    if (isRefused(made)) throw new Error(made.says);
    return { lifeMs: 5 * HOUR_MS, opens: () => mayList({ ...own, authKey: made.authKey }) };
  },
  'the key before a rotation': async () => {
    const own = await seedShop(app);
    await rotateKey(app.core, own.code, 5 * HOUR_MS, nowMs());
    return { lifeMs: 5 * HOUR_MS, opens: () => mayList(own) };
  },
};

/** A session lives longer by its use, and a link ends by it. */
const isChangedByUse = (name: string) => /session|one use/.test(name);

/** Whose end is a day that the operator named: a cut does not move it. */
async function activeProvider() {
  const own = await seedShop(app);
  const activeUntilMs = nowMs() + 5 * HOUR_MS;
  await app.core.store.updateProvider(
    own.code,
    { activeUntilMs },
    { actor: app.core.actor(), atMs: nowMs() },
  );
  const opens = async () =>
    (await call(app, '/api/add-install', own, { install_limit: 1 })).json.rc === 1;
  return { lifeMs: 5 * HOUR_MS, opens };
}

describe.each([...Object.entries(RIGHTS), ["a provider's end", activeProvider] as const])(
  '%s',
  (name, make) => {
    test('lives no longer because the clock went back', async () => {
      const { lifeMs, opens } = await make();
      await leap(-TEN_YEARS_MS);
      await pass(lifeMs - MINUTE_MS);
      if (!isChangedByUse(name)) expect(await opens()).toBe(true);
      await pass(2 * MINUTE_MS);
      expect(await opens()).toBe(false);
      // It has ended for the right clock too.
      await leap(TEN_YEARS_MS);
      expect(await opens()).toBe(false);
    });

    test('ends by a clock that went ahead', async () => {
      const { opens } = await make();
      app.clock.leap(TEN_YEARS_MS);
      expect(await opens()).toBe(false);
    });
  },
);

describe.each(Object.entries(RIGHTS))('%s of a clock that was ahead', (name, make) => {
  test('lives its longest life by the steady clock', async () => {
    await leap(TEN_YEARS_MS);
    const { lifeMs, opens } = await make();
    await leap(-TEN_YEARS_MS);
    if (!isChangedByUse(name)) expect(await opens()).toBe(true);
    // A key before a rotation may live for a week.
    await pass(name.includes('rotation') ? 7 * DAY_MS + MINUTE_MS : lifeMs + MINUTE_MS);
    expect(await opens()).toBe(false);
  });
});

test('no code of an authenticator app is taken twice, whatever the clock says', async () => {
  const { core } = app;
  await operatorEntry(app);
  const account = async () => {
    const found = await core.store.findAccount('olga');
    if (found === null) throw new Error('no account');
    return found;
  };
  const begun = await beginSecondFactor(core, await account(), nowMs());
  if (isRefused(begun)) throw new Error(begun.says);
  const code = codeAt(begun.uri, nowMs());
  expect(isRefused(await confirmSecondFactor(core, await account(), code, nowMs()))).toBe(false);
  for (const ms of [0, HOUR_MS * 2, -HOUR_MS * 4, TEN_YEARS_MS, -TEN_YEARS_MS, HOUR_MS * 2]) {
    await leap(ms);
    expect(await isGoodCode(core, await account(), code, nowMs())).toBe(false);
    expect(await isGoodCode(core, await account(), code, app.clock.nowMs())).toBe(false);
  }
});

describe('a clock ten years ahead moves nothing that moves after a while', () => {
  test('a full link frees no slot of a device that was seen', async () => {
    const own = await seedShop(app);
    const { id } = await addLink(app, own, LINK, 1);
    await expectOk(
      call(app, '/api/update-install', own, { id, inactive_days: 30, same_phone: 'replace' }),
    );
    await enter(app, 'phone');
    await leap(TEN_YEARS_MS);
    const knock = { id: HASH, installid: LINK, os_name: 'android' };
    const newcomer = await call(app, '/install', null, { ...knock, hwid: 'other' });
    expect(newcomer.json.rc).toBe(0);
    expect((await tryRegister(app, byLink('other', LINK))).json.rc).toBe(0);
    // Who has a slot comes in.
    await enter(app, 'phone');
    await leap(-TEN_YEARS_MS);
    await pass(32 * DAY_MS);
    await expectOk(call(app, '/install', null, { ...knock, hwid: 'other' }));
  });

  test('a claimed inbox stays with its link, and a home link stays', async () => {
    const own = await seedShop(app);
    const other = 'LinkCode0002';
    const { id } = await addLink(app, own);
    const { id: otherId } = await addLink(app, own, other);
    for (const code of [LINK, other]) await enter(app, 'phone', code);
    await register(app, byLink('phone', LINK));
    // The first slot of the phone is now on the other link, which claims only what is idle.
    await expectOk(call(app, '/api/delete-hwid', own, { install_code: LINK, hwid: 'phone' }));
    await enter(app, 'tablet');
    const db = besideOf(app);
    const home = () =>
      db
        .query<{ home: number }, []>(
          `SELECT home_install_id AS home FROM device_provider
           WHERE device_id = (SELECT id FROM device WHERE hwid = 'tablet')`,
        )
        .get()?.home;
    await leap(TEN_YEARS_MS);
    expect((await tryRegister(app, byLink('phone', other))).json).toEqual(REFUSED);
    await enter(app, 'tablet', other);
    expect(home()).toBe(id);
    await leap(-TEN_YEARS_MS);
    await pass(40 * DAY_MS);
    expect((await tryRegister(app, byLink('phone', other))).json.rc).toBe(1);
    await enter(app, 'tablet', other);
    expect(home()).toBe(otherId);
    db.close();
  });

  test('a call that is repeated with its key is made once', async () => {
    const own = await seedShop(app);
    const add = () =>
      call(app, '/api/add-install', own, { install_limit: 1, idempotency_key: 'once' });
    const { id } = (await add()).json;
    await leap(TEN_YEARS_MS);
    expect((await add()).json.id).toBe(id);
  });
});

test('metrics say how far a clock leapt, and that deletion is suspended', async () => {
  const read = async () =>
    (await app.metrics.text()).match(/^gatepost_(clock_lead_seconds|deletion_suspended) .*$/gm);
  expect(await read()).toEqual(['gatepost_clock_lead_seconds 0', 'gatepost_deletion_suspended 0']);
  await leap(-2 * HOUR_MS);
  expect(await read()).toEqual([
    'gatepost_clock_lead_seconds -7200',
    'gatepost_deletion_suspended 1',
  ]);
});
