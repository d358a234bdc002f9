/**
 * Who may register a HWID, and what its token then opens. A HWID is no secret: everybody here
 * knows everybody's.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import {
  ack,
  byBinding,
  byLink,
  expectRefused,
  notify,
  order,
  readable,
  register,
  sendSecret,
  tryRegister,
} from '../support/messaging.ts';
import { addLink, enter, HASH, LINK, seedShop } from '../support/shop.ts';
import { until } from '../support/until.ts';

const SECOND = 'LinkCode0002';
const DEAD = 'Device token error';

let app: TestApp;
let shop: Credentials;
let rival: Credentials;
beforeEach(async () => {
  app = await startTestApp();
  shop = await seedShop(app);
  rival = await seedShop(app);
  await addLink(app, shop, LINK);
});
afterEach(() => app.close());

describe('a HWID alone', () => {
  test('of a device that is linked opens nothing that comes to it from its provider', async () => {
    await enter(app, 'on-link', LINK);
    await call(app, '/provider', null, { id: shop.code, domain_hash: HASH, hwid: 'bound' });
    for (const hwid of ['on-link', 'bound']) {
      await sendSecret(app, shop, 'before', hwid);
      const token = await register(app, { hwid });
      await sendSecret(app, shop, 'after', hwid);
      expect(await readable(app, token)).toEqual([]);
    }
  });

  test('of a registered device is refused, and its token lives on', async () => {
    const token = await register(app, byLink('victim', LINK));
    await sendSecret(app, shop);
    await expectRefused(app, { hwid: 'victim' });
    expect(await readable(app, token)).toEqual(['secret']);
  });

  test('that nobody had opens what an unbound device gets from then on, and nothing else', async () => {
    await tryRegister(app, { hwid: 'other' });
    const before = await register(app, { hwid: 'victim' });
    const first = { action_type: 'import-data', hwid: 'victim', import_data: 'x' };
    await order(app, shop, first);
    await app.deliver();
    expect(await readable(app, before)).toEqual(['import-data']);
    app.clock.advance(1);
    // Now it becomes a customer's: what the shop sends to its customers is not the token's.
    await enter(app, 'victim', LINK);
    await sendSecret(app, shop);
    expect(await readable(app, before)).toEqual(['import-data']);
    // Whoever has the link has the shop's messages, and no others.
    const owner = await register(app, byLink('victim', LINK));
    expect(await readable(app, before)).toEqual(['import-data']);
    expect(await readable(app, owner)).toEqual(['secret']);
  });

  test('opens nothing that was sent to the HWID before', async () => {
    // Known to the appliance, linked to nobody.
    await call(app, '/provider', null, { id: shop.code, hwid: 'victim' });
    await order(app, shop, { action_type: 'import-data', hwid: 'victim', import_data: 'x' });
    await app.deliver();
    app.clock.advance(1);
    expect(await readable(app, await register(app, { hwid: 'victim' }))).toEqual([]);
  });
});

describe("somebody else's link", () => {
  const THEIRS = 'TheirCode001';
  beforeEach(() => addLink(app, rival, THEIRS));

  test("with the victim's HWID put on it takes no token away", async () => {
    const token = await register(app, byLink('victim', LINK));
    app.clock.advance(1);
    await enter(app, 'victim', THEIRS);
    await sendSecret(app, shop);
    const theirs = await register(app, byLink('victim', THEIRS));
    await sendSecret(app, shop, 'later');
    expect(await readable(app, theirs)).toEqual([]);
    expect(await readable(app, token)).toEqual(['secret', 'later']);
  });

  test('registers a HWID that has no token, and opens nothing of the other provider', async () => {
    await enter(app, 'victim', LINK);
    await sendSecret(app, shop);
    app.clock.advance(1);
    const thief = await register(app, byLink('victim', THEIRS));
    await notify(app, rival, 'of the rival', { hwid: 'victim' });
    await sendSecret(app, shop, 'another secret');
    expect(await readable(app, thief)).toEqual(['of the rival']);
    await ack(app, thief, [{ id: 1, state: 'received' }]);
    // Whoever comes with the shop's link finds all that is the shop's, and nothing else.
    const owner = await register(app, byLink('victim', LINK));
    expect(await readable(app, thief)).toEqual(['of the rival']);
    expect(await readable(app, owner)).toEqual(['secret', 'another secret']);
  });

  test("another customer's link of the same provider neither registers nor reads", async () => {
    await addLink(app, shop, SECOND);
    await enter(app, 'victim', LINK);
    await sendSecret(app, shop);
    await expectRefused(app, byLink('victim', SECOND));
    await enter(app, 'victim', SECOND);
    await expectRefused(app, byLink('victim', SECOND));
    const owner = await register(app, byLink('victim', LINK));
    await expectRefused(app, byLink('victim', SECOND));
    expect(await readable(app, owner)).toEqual(['secret']);
  });

  test('takes no token from a device that was linked by a binding', async () => {
    const token = await register(app, byBinding('victim', shop));
    await addLink(app, shop, SECOND);
    app.clock.advance(1);
    await expectRefused(app, byLink('victim', SECOND));
    await enter(app, 'victim', SECOND);
    await expectRefused(app, byLink('victim', SECOND));
    await register(app, byLink('victim', THEIRS));
    await sendSecret(app, shop);
    expect(await readable(app, token)).toEqual(['secret']);
  });

  test('opens nothing from before the HWID came onto it', async () => {
    await enter(app, 'victim', LINK);
    await sendSecret(app, shop);
    await call(app, '/api/delete-hwid', shop, { install_code: LINK, hwid: 'victim' });
    app.clock.advance(1);
    await addLink(app, shop, SECOND);
    const thief = await register(app, byLink('victim', SECOND));
    expect(await readable(app, thief)).toEqual([]);
  });

  test('that is refused for any reason takes no slot', async () => {
    const token = await register(app, byLink('victim', LINK));
    await addLink(app, shop, SECOND);
    await expectRefused(app, byLink('victim', SECOND));
    const listed = await call(app, '/api/list-install', shop);
    expect(listed.json.data[0]).toMatchObject({ install_code: SECOND, install_count: 0 });
    expect(await readable(app, token)).toEqual([]);
  });
});

describe('a link', () => {
  test('that the HWID is on registers it again after a reinstall; the old token dies', async () => {
    const old = await register(app, byLink('phone', LINK));
    await sendSecret(app, shop, 'before', 'phone');
    app.clock.advance(1);
    const fresh = await register(app, byLink('phone', LINK));
    expect(await readable(app, old)).toBe(DEAD);
    expect((await ack(app, old, [{ id: 1, state: 'received' }])).json.msg).toBe(DEAD);
    expect(await readable(app, fresh)).toEqual(['before']);
  });

  test('registers again the device of two providers, for its own provider alone', async () => {
    await addLink(app, rival, SECOND);
    const first = await register(app, byLink('phone', LINK));
    app.clock.advance(1);
    const both = await register(app, byLink('phone', SECOND), first);
    await sendSecret(app, shop, 'of the shop', 'phone');
    await notify(app, rival, 'of the rival', { hwid: 'phone' });
    await app.deliver();
    expect(await readable(app, both)).toEqual(['of the shop', 'of the rival']);
    const second = await register(app, byLink('phone', SECOND));
    expect(await readable(app, second)).toEqual(['of the rival']);
    const again = await register(app, byLink('phone', LINK), second);
    expect(await readable(app, again)).toEqual(['of the shop', 'of the rival']);
  });

  test('that is disabled registers nobody, and its device loses nothing to another link', async () => {
    const token = await register(app, byLink('phone', LINK));
    await call(app, '/api/update-install', shop, { id: 1, status: 5 });
    for (const hwid of ['phone', 'new']) {
      expect((await tryRegister(app, byLink(hwid, LINK))).json.msg).toBe('Install disabled');
    }
    await addLink(app, shop, SECOND);
    await enter(app, 'phone', SECOND);
    await expectRefused(app, byLink('phone', SECOND));
    await expectRefused(app, byBinding('phone', shop));
    await sendSecret(app, shop, 'still its own', 'phone');
    expect(await readable(app, token)).toEqual(['still its own']);
  });

  test("whose provider's binding is disabled does not register", async () => {
    await register(app, byLink('phone', LINK));
    await call(app, '/api/delete-domain', shop, { id: 1 });
    for (const hwid of ['phone', 'new']) {
      expect((await tryRegister(app, byLink(hwid, LINK))).json.msg).toBe('Install not found');
    }
  });
});

describe('a binding', () => {
  test('registers a device that never had a token, once', async () => {
    const token = await register(app, byBinding('phone', shop));
    await expectRefused(app, byBinding('phone', shop));
    await register(app, byBinding('phone', rival));
    await sendSecret(app, shop, 'hello', 'phone');
    expect(await readable(app, token)).toEqual(['hello']);
  });

  test('does not speak for a device on a link', async () => {
    await enter(app, 'phone', LINK);
    await sendSecret(app, shop, 'before', 'phone');
    await expectRefused(app, byBinding('phone', shop));
    await sendSecret(app, shop, 'after', 'phone');
    const byTheLink = await register(app, byLink('phone', LINK));
    expect(await readable(app, byTheLink)).toEqual(['before', 'after']);
  });

  test('opens nothing from before', async () => {
    await call(app, '/provider', null, { id: shop.code, domain_hash: HASH, hwid: 'victim' });
    await sendSecret(app, shop);
    app.clock.advance(1);
    const token = await register(app, byBinding('victim', shop));
    await sendSecret(app, shop, 'from now on');
    expect(await readable(app, token)).toEqual(['from now on']);
  });

  test('that is disabled unlinks: neither what comes nor what waits is readable', async () => {
    const token = await register(app, byBinding('phone', shop));
    await sendSecret(app, shop, 'waiting', 'phone');
    await call(app, '/api/delete-domain', shop, { id: 1 });
    expect(await readable(app, token)).toEqual([]);
    const again = { domain_hash: HASH };
    await call(app, '/api/add-domain', shop, again);
    expect(await readable(app, token)).toEqual(['waiting']);
  });
});

describe('limits', () => {
  test('wrong tokens are answered late beyond a number a minute, good ones never', async () => {
    const strict = await startTestApp({ authFailuresPerMinuteMax: 1 });
    try {
      const good = await register(strict, { hwid: 'x' });
      expect(await readable(strict, 'w'.repeat(43))).toBe(DEAD);
      const late = readable(strict, 'w'.repeat(43));
      await until('the answer waits', () => strict.clock.sleeperCount === 1);
      expect(await readable(strict, good)).toEqual([]);
      strict.clock.advance(1_000);
      expect(await late).toBe(DEAD);
    } finally {
      await strict.close();
    }
  });

  test("a provider without a binding of its own has no devices through another's", async () => {
    const stranger = await seedProvider(app);
    expect((await tryRegister(app, byBinding('phone', stranger))).json.msg).toBe(
      'Domain not found',
    );
  });
});
