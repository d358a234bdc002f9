/** What a device token opens, for how long, and where it is never to be found. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { hashKey } from '../../src/core/secret.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import {
  ack,
  byBinding,
  byLink,
  expectRefused,
  notify,
  post,
  REFUSED,
  readable,
  register,
  sendSecret,
  tryRegister,
} from '../support/messaging.ts';
import { addLink, enter, LINK, seedShop } from '../support/shop.ts';
import { takeSnapshot } from '../support/snapshot.ts';

const SECOND = 'LinkCode0002';
const DEAD = 'Device token error';

let app: TestApp;
let shop: Credentials;
beforeEach(async () => {
  app = await startTestApp();
  shop = await seedShop(app);
  await addLink(app, shop, LINK);
});
afterEach(() => app.close());

/** A value of the database, as bytes to search in. */
const asBytes = (value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(String(value));

describe('a token', () => {
  test('that is shown registers again and keeps what it opened', async () => {
    const old = await register(app, byLink('phone', LINK));
    await sendSecret(app, shop, 'waiting', 'phone');
    const fresh = await register(app, { hwid: 'phone' }, old);
    expect(fresh).not.toBe(old);
    expect(await readable(app, old)).toBe(DEAD);
    expect(await readable(app, fresh)).toEqual(['waiting']);
  });

  test('of another device opens and registers nothing but its own', async () => {
    const token = await register(app, byLink('phone', LINK));
    const other = await register(app, byLink('tablet', LINK));
    await sendSecret(app, shop, 'for the phone', 'phone');
    expect(await readable(app, other)).toEqual([]);
    await ack(app, other, [{ id: 1, state: 'received' }]);
    expect(await readable(app, token)).toEqual(['for the phone']);
    await expectRefused(app, { hwid: 'phone' }, other);
  });

  test('that was replaced does not register again', async () => {
    const old = await register(app, byLink('phone', LINK));
    await register(app, { hwid: 'phone' }, old);
    await expectRefused(app, { hwid: 'phone' }, old);
  });

  test('of a forgotten device is dead', async () => {
    const token = await register(app, byLink('phone', LINK));
    await app.core.store.forgetDevice('phone', ACT);
    expect(await readable(app, token)).toBe(DEAD);
  });

  test('is nowhere to be found: not in the files, not in the log', async () => {
    const token = await register(app, byLink('phone', LINK));
    const second = await register(app, { hwid: 'phone' }, token);
    await readable(app, second);
    await post(app, '/device/ack', '{', second);
    const bytes =
      app.database === null
        ? readdirSync(app.dataDir).map((name) => readFileSync(join(app.dataDir, name)))
        : [...(await takeSnapshot(app)).values()].flatMap(Object.values).map(asBytes);
    for (const secret of [token, second]) {
      const raw = Buffer.from(secret, 'base64url');
      for (const needle of [Buffer.from(secret), raw, Buffer.from(raw.toString('hex'))]) {
        expect(bytes.some((file) => file.includes(needle))).toBe(false);
      }
      expect(app.logLines.join('\n')).not.toContain(secret);
    }
    // The search would have found it: the hash is there.
    expect(bytes.some((file) => file.includes(Buffer.from(hashKey(second))))).toBe(true);
  });
});

test('of simultaneous registrations exactly one wins, and the others opened nothing', async () => {
  for (const draft of [{ hwid: 'new' }, byBinding('bound', shop), byLink('linked', LINK)]) {
    const replies = await Promise.all(Array.from({ length: 10 }, () => tryRegister(app, draft)));
    const tokens = replies.flatMap(({ json }) => (json.rc === 1 ? [json.device_token] : []));
    const alive = [];
    for (const token of tokens) if ((await readable(app, token)) !== DEAD) alive.push(token);
    expect(alive).toHaveLength(1);
    const refusals = replies.filter(({ json }) => json.rc === 0).map(({ json }) => json);
    expect(refusals).toEqual(refusals.map(() => REFUSED));
  }
});

test('a device that is freed gets no more, not even what waits, unless something else links it', async () => {
  await addLink(app, shop, SECOND);
  const token = await register(app, byLink('phone', LINK));
  await enter(app, 'phone', SECOND);
  await sendSecret(app, shop, 'waiting', 'phone');
  await call(app, '/api/delete-hwid', shop, { install_code: LINK, hwid: 'phone' });
  expect(await readable(app, token)).toEqual(['waiting']);
  await call(app, '/api/delete-hwid', shop, { install_code: SECOND, hwid: 'phone' });
  expect(await readable(app, token)).toBe('Device token error');
  await enter(app, 'other', LINK);
  await notify(app, shop, 'to all', { os: ['android'] });
  await app.deliver();
  expect(await readable(app, token)).toBe('Device token error');
});

test('a device that is freed between the call and the delivery gets nothing', async () => {
  const token = await register(app, byLink('phone', LINK));
  await register(app, byLink('other', LINK));
  await notify(app, shop, 'by name', { hwid: 'phone' });
  await notify(app, shop, 'to all', { os: ['android'] });
  await call(app, '/api/delete-hwid', shop, { install_code: LINK, hwid: 'phone' });
  await app.deliver();
  expect(await readable(app, token)).toBe('Device token error');
  const next = await register(app, byLink('phone', LINK));
  expect(await readable(app, next)).toEqual([]);
});
