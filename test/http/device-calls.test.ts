/** The calls that apps make by themselves, as apps make them. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { randomCode } from '../../src/core/secret.ts';
import { NO_TERMS } from '../../src/core/slot.ts';
import { ACT } from '../support/actor.ts';
import { call, startTestApp, type TestApp } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import { type Newcomer, newcomer } from '../support/door.ts';
import { rawRequest } from '../support/raw.ts';
import { addLink, bind, HASH, seedShop } from '../support/shop.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';

let app: TestApp;
let own: Newcomer['own'];
let code: string;
let hwid: string;
let install: Newcomer['install'];
let checkIn: Newcomer['checkIn'];
let known: Newcomer['known'];
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  ({ own, code, hwid, install, checkIn, known } = await newcomer(app));
});

/** How often the database was written while `action` ran, as a second connection sees it. */
async function hasWritten(action: () => Promise<unknown>): Promise<boolean> {
  const db = openBeside(app.dataDir);
  try {
    const version = () => JSON.stringify(db.query('PRAGMA data_version').get());
    const before = version();
    await action();
    return version() !== before;
  } finally {
    db.close();
  }
}

describe('what a device says of itself', () => {
  const facts = {
    os: 'android',
    osVersion: '15',
    deviceName: 'Pixel 9',
    appVersion: '2.1.0',
    userAgent: 'App/2.1.0/Android',
  };

  test('comes in headers', async () => {
    const reply = await install(
      {},
      {
        'x-hwid': hwid,
        'x-device-os': 'Android',
        'x-ver-os': '15',
        'x-device-model': 'Pixel 9',
        'x-app-version': '2.1.0',
        'user-agent': 'App/2.1.0/Android',
      },
    );
    expect(reply.json.rc).toBe(1);
    expect(await known()).toMatchObject(facts);
  });

  test('comes in the query', async () => {
    const query = {
      hwid,
      os_name: 'Android',
      os_version: '15',
      device_model: 'Pixel 9',
      app_version: '2.1.0',
    };
    await install(query, { 'user-agent': 'App/2.1.0/Android' });
    expect(await known()).toMatchObject(facts);
  });

  test('a header goes before the query, an empty one does not', async () => {
    const query = { hwid, os_name: 'iOS', device_model: 'iPhone' };
    await install(query, { 'x-device-os': 'Android', 'x-device-model': '' });
    expect(await known()).toMatchObject({ os: 'android', deviceName: 'iPhone' });
  });

  test('names of parameters come in any case', async () => {
    const query = `ID=${HASH}&InstallID=${code}&HwId=${hwid}&OS_Name=iOS&Device_Model=iPhone`;
    const reply = await rawRequest(app, 'GET', `/install?${query}`);
    expect(JSON.parse(reply.text).rc).toBe(1);
    expect(await known()).toMatchObject({ os: 'ios', deviceName: 'iPhone' });
  });

  test('one parameter under two cases is given twice', async () => {
    const query = `id=${HASH}&installid=${code}&hwid=${hwid}&HWID=${hwid}`;
    const reply = await rawRequest(app, 'GET', `/install?${query}`);
    expect(JSON.parse(reply.text)).toEqual({ rc: 0, msg: 'HWID is required' });
    expect(await known()).toBeUndefined();
  });

  test.each([
    ['UTF-8 in a header', Buffer.from('Телефон Ё 😀'), 'Телефон Ё 😀'],
    ['Latin-1 in a header', Buffer.from('T\xe9l\xe9phone', 'latin1'), 'Téléphone'],
  ])('%s is understood', async (_, bytes, name) => {
    const headers = [`x-hwid: ${hwid}`, Buffer.concat([Buffer.from('x-device-model: '), bytes])];
    await rawRequest(app, 'GET', `/install?id=${HASH}&installid=${code}`, headers);
    expect((await known())?.deviceName).toBe(name);
  });

  test('is cut and tidied, never a reason to turn it away', async () => {
    const query = { hwid, device_model: ` a\n\u0000b ${'я'.repeat(200)}`, os_name: '\u001b' };
    expect((await install(query)).json.rc).toBe(1);
    expect(await known()).toMatchObject({ os: '', deviceName: `a b ${'я'.repeat(124)}` });
  });

  test('given twice, it counts as not said', async () => {
    const query = `id=${HASH}&installid=${code}&hwid=${hwid}&os_name=iOS&os_name=Android`;
    expect(JSON.parse((await rawRequest(app, 'GET', `/install?${query}`)).text).rc).toBe(1);
    expect((await known())?.os).toBe('');
  });

  test('is refreshed, and silence erases nothing', async () => {
    await install({ hwid, os_name: 'Android', os_version: '14', device_model: 'Pixel 9' });
    await install({ hwid, os_version: '15' });
    expect(await known()).toMatchObject({ os: 'android', osVersion: '15', deviceName: 'Pixel 9' });
    app.clock.advance(DAY_MS);
    await checkIn({ hwid, app_version: '3' });
    expect(await known()).toMatchObject({
      os: 'android',
      osVersion: '15',
      deviceName: 'Pixel 9',
      appVersion: '3',
      lastSeenAtMs: app.clock.nowMs(),
    });
    const listed = await call(app, '/api/list-hwid', own, { install_code: code });
    expect(listed.json.data[0].device_name).toBe('Pixel 9');
  });

  test('a device that says nothing has an empty name, not null', async () => {
    await install({ hwid });
    const listed = await call(app, '/api/list-hwid', own, { install_code: code });
    expect(listed.json.data[0]).toMatchObject({ hwid, device_name: '' });
  });
});

describe('/install', () => {
  test('a HWID on two links holds a slot on each, as one device', async () => {
    const { code: other } = await addLink(app, own, null);
    await install({ hwid });
    expect((await install({ hwid, installid: other })).json.install_count).toBe(1);
    expect((await app.core.store.findDevice(hwid))?.installs).toHaveLength(2);
  });

  test('again with nothing new on the same day writes nothing', async () => {
    await install({ hwid, os_name: 'iOS' });
    expect(await hasWritten(() => install({ hwid, os_name: 'iOS' }))).toBe(false);
    expect(await hasWritten(() => install({ hwid }, { 'user-agent': 'another' }))).toBe(true);
    app.clock.advance(DAY_MS);
    expect(await hasWritten(() => install({ hwid, os_name: 'iOS' }))).toBe(true);
  });

  test('a denial writes nothing', async () => {
    const denied = [{ hwid: '' }, { hwid, installid: randomCode(12) }, { hwid, id: 'b' }];
    for (const query of denied) {
      expect(await hasWritten(() => install(query))).toBe(false);
    }
    expect(await known()).toBeUndefined();
  });

  test('answers of every kind say that HWIDs matter', async () => {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const reply = await rawRequest(app, method, '/install', ['content-length: 0']);
      expect(reply.headers.get('x-hwid-active')).toBe('true');
      expect(reply.status).toBe(200);
    }
  });

  test('a slot that was freed is free for the next device', async () => {
    for (const name of ['1', '2', '3']) await install({ hwid: hwid + name });
    expect((await install({ hwid })).json.msg).toBe('Install limit reached');
    await call(app, '/api/delete-hwid', own, { install_code: code, hwid: `${hwid}2` });
    expect((await install({ hwid })).json).toMatchObject({ rc: 1, install_count: 3 });
    expect((await install({ hwid: `${hwid}2` })).json.msg).toBe('Install limit reached');
  });

  test('a disabled link enabled again still has its devices', async () => {
    await install({ hwid });
    const [link] = (await call(app, '/api/list-install', own)).json.data;
    await call(app, '/api/update-install', own, { id: link.id, status: 5 });
    expect((await install({ hwid })).json).toEqual({ rc: 0, msg: 'Install disabled' });
    await call(app, '/api/update-install', own, { id: link.id, status: 10 });
    expect((await install({ hwid })).json).toMatchObject({ rc: 1, install_count: 1 });
  });

  test('a binding deleted and added again opens the link again', async () => {
    const [{ id }] = (await call(app, '/api/list-domain', own)).json.data;
    await call(app, '/api/delete-domain', own, { id });
    expect((await install({ hwid })).json.msg).toBe('Install not found');
    await bind(app, own);
    expect((await install({ hwid })).json.rc).toBe(1);
  });
});

describe('what a device said at one provider', () => {
  test('another one neither reads nor changes', async () => {
    const rival = await seedShop(app);
    const { code: theirs } = await addLink(app, rival, null);
    await install({ hwid, device_model: 'Pixel 9', os_name: 'Android' });
    const listed = async (by: Credentials, install_code: string) =>
      (await call(app, '/api/list-hwid', by, { install_code })).json.data[0].device_name;
    const knock = { id: HASH, installid: theirs, hwid };
    await call(app, '/install', null, knock);
    expect(await listed(rival, theirs)).toBe('');
    await call(app, '/install', null, { ...knock, device_model: '<script>', os_name: 'iOS' });
    await call(app, '/provider', null, { id: rival.code, hwid, device_model: 'x' });
    expect(await listed(own, code)).toBe('Pixel 9');
    const at = (await app.core.store.findDevice(hwid))?.seenBy;
    expect(at?.find(({ providerCode }) => providerCode === own.code)).toMatchObject({
      os: 'android',
      deviceName: 'Pixel 9',
    });
  });

  test('decides what it gets: calls without proof turn no registered device', async () => {
    const body = { hwid, os: 'android', install_code: code, domain_hash: HASH };
    await call(
      app,
      '/device/register',
      null,
      {},
      {
        method: 'POST',
        body: JSON.stringify(body),
      },
    );
    app.clock.advance(DAY_MS);
    await checkIn({ hwid, os_name: 'iOS', domain_hash: HASH });
    await install({ hwid, os_name: 'iOS', device_model: 'new' });
    const at = (await app.core.store.findDevice(hwid))?.seenBy[0];
    expect(at).toMatchObject({ os: 'android', deviceName: 'new', isRegistered: true });
    // Nor does it write again and again.
    expect(await hasWritten(() => install({ hwid, os_name: 'iOS' }))).toBe(false);
  });
});

describe('/provider', () => {
  test('the same device twice in a day writes nothing', async () => {
    const query = { hwid, domain_hash: HASH };
    expect(await hasWritten(() => checkIn(query))).toBe(true);
    expect(await hasWritten(() => checkIn(query))).toBe(false);
    app.clock.advance(DAY_MS);
    expect(await hasWritten(() => checkIn(query))).toBe(true);
    expect((await app.core.store.findDevice(hwid))?.seenBy).toMatchObject([
      { providerCode: own.code, lastSeenAtMs: app.clock.nowMs() },
    ]);
  });

  test('a day is a UTC day', async () => {
    app.clock.set(Math.ceil(app.clock.nowMs() / DAY_MS) * DAY_MS - 1);
    expect(await hasWritten(() => checkIn({ hwid }))).toBe(true);
    app.clock.advance(1);
    expect(await hasWritten(() => checkIn({ hwid }))).toBe(true);
    app.clock.advance(DAY_MS - 1);
    expect(await hasWritten(() => checkIn({ hwid }))).toBe(false);
  });

  test('a device seen without a binding is linked when it names one later that day', async () => {
    await checkIn({ hwid });
    expect((await app.core.store.findDevice(hwid))?.domains).toEqual([]);
    await checkIn({ hwid, domain_hash: HASH });
    expect((await app.core.store.findDevice(hwid))?.domains).toHaveLength(1);
  });

  test('what is no hash counts as none', async () => {
    const basic = '{"rc":1,"msg":"Ok","status":"basic"}';
    expect((await checkIn({ hwid, domain_hash: 'x' })).text).toBe(basic);
    const twice = `id=${own.code}&hwid=${hwid}&domain_hash=${HASH}&domain_hash=${HASH}`;
    const reply = await rawRequest(app, 'GET', `/provider?${twice}`);
    expect(reply.text).toBe(basic);
    expect((await app.core.store.findDevice(hwid))?.domains).toEqual([]);
  });

  test('tells whether the device is linked, as long as it is', async () => {
    const status = async (query: Record<string, string> = {}) =>
      (await checkIn({ hwid, ...query })).json.status;
    expect([await status(), await status({ domain_hash: HASH })]).toEqual(['basic', 'extended']);
    // From then on without the hash too, on another day as well.
    expect(await status()).toBe('extended');
    app.clock.advance(DAY_MS);
    expect(await status()).toBe('extended');
    const [{ id }] = (await call(app, '/api/list-domain', own)).json.data;
    await call(app, '/api/delete-domain', own, { id });
    expect([await status(), await status({ domain_hash: HASH })]).toEqual(['basic', 'basic']);
    await bind(app, own);
    await install({ hwid });
    await call(app, '/api/delete-domain', own, { id });
    expect(await status()).toBe('extended');
  });

  test('tells nothing of other providers', async () => {
    const rival = await seedShop(app);
    await checkIn({ hwid, domain_hash: HASH });
    const { json } = await call(app, '/provider', null, { id: rival.code, hwid });
    expect(json.status).toBe('basic');
  });

  test('takes no slot, and a slot is no tie', async () => {
    await checkIn({ hwid, domain_hash: HASH });
    expect((await app.core.store.findDevice(hwid))?.installs).toEqual([]);
    const other = `${hwid}-other`;
    await install({ hwid: other });
    expect((await app.core.store.findDevice(other))?.domains).toEqual([]);
  });
});

test('HEAD registers nothing', async () => {
  const before = await takeSnapshot(app);
  await rawRequest(app, 'HEAD', `/install?id=${HASH}&installid=${code}&hwid=${hwid}`);
  await rawRequest(app, 'HEAD', `/provider?id=${own.code}&domain_hash=${HASH}&hwid=${hwid}`);
  expect(difference(before, await takeSnapshot(app))).toEqual([]);
});

describe('a link that moved in with a short code', () => {
  test.each([8, 9, 11, 12])(
    'of %d letters and digits is found by it everywhere',
    async (length) => {
      const moved = randomCode(length);
      const providerId = (await app.core.store.findProvider(own.code))?.id ?? 0;
      const rest = { note: null, createdAtMs: 0, installCountMax: 9 };
      const draft = { ...NO_TERMS, providerId, installLimit: 2, ...rest };
      await app.core.store.addLink({ ...draft, installCode: moved }, ACT);

      expect((await install({ installid: moved, hwid })).json.install_count).toBe(1);
      const registration = { hwid: `${hwid}-2`, install_code: moved, domain_hash: HASH };
      const init = { method: 'POST', body: JSON.stringify(registration) };
      expect((await call(app, '/device/register', null, {}, init)).json.rc).toBe(1);
      const listed = await call(app, '/api/list-hwid', own, { install_code: moved });
      expect(listed.json.data).toHaveLength(2);
      const freed = await call(app, '/api/delete-hwid', own, { install_code: moved, hwid });
      expect(freed.json).toEqual({ rc: 1, msg: 'Ok', install_count: 1 });
    },
  );

  test.each([7, 13])('of %d letters and digits is none', async (length) => {
    const none = randomCode(length);
    expect((await install({ installid: none, hwid })).json.msg).toBe('Install not found');
    const listed = await call(app, '/api/list-hwid', own, { install_code: none });
    expect(listed.headers.get('x-error-detail')).toBe(
      'install_code must be 8 to 12 letters and digits',
    );
  });

  test.each([8, 11, 13])('of %d letters and digits is none that a new link may have', async (n) => {
    const query = { install_limit: 1, install_code: randomCode(n) };
    const added = await call(app, '/api/add-install', own, query);
    expect(added.headers.get('x-error-detail')).toBe('install_code must be 12 letters and digits');
  });
});
