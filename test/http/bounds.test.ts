/** What calls leave behind, filled to its bound: the next is refused, and nothing grows. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { KEPT_BYTES_EACH } from '../../src/core/send.ts';
import { forgetStrangers, prune } from '../../src/jobs/keep.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { addLink, bind, enter, HASH } from '../support/shop.ts';
import { takeSnapshot } from '../support/snapshot.ts';
import { readText } from '../support/tree.ts';

const DAYS = { ledgerDays: 90, distributionDays: 365, deviceDays: 180 };

let app: TestApp;
let own: Credentials;
let other: Credentials;

async function start(options: Parameters<typeof startTestApp>[0] = {}): Promise<void> {
  app = await startTestApp(options);
  own = await seedProvider(app);
  other = await seedProvider(app);
}

afterEach(() => app.close());

const get = (path: string, by: Credentials | null, query: Record<string, string | number> = {}) =>
  call(app, path, by, query);
const post = (path: string, by: Credentials | null, body: unknown) =>
  call(app, path, by, {}, { method: 'POST', body: JSON.stringify(body) });

/** How many rows each table has that has any. */
async function rows(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const key of (await takeSnapshot(app)).keys()) {
    const [table = ''] = key.split(' ');
    counts[table] = (counts[table] ?? 0) + 1;
  }
  return counts;
}

/** Says it `count` times more; each is refused with the text and the detail, and leaves no row. */
async function refusedAlways(
  ask: (n: number) => ReturnType<typeof call>,
  msg: string,
  detail: RegExp,
): Promise<void> {
  const before = await rows();
  for (let n = 0; n < 5; n++) {
    const reply = await ask(n);
    expect(reply.json).toEqual({ rc: 0, msg });
    expect(reply.headers.get('x-error-detail')).toMatch(detail);
  }
  expect(await rows()).toEqual(before);
  // A bound is no fault: the log has lines of those that the disk or the program is to blame for.
  expect(app.logLines).toEqual([]);
}

const hash = (n: number) => n.toString(16).padStart(64, '0');
const commandTo = (data: string) => ({
  action_type: 'import-data',
  import_data: data,
  os: ['android'],
});

test('bindings', async () => {
  await start({ bounds: { domainsPerProviderMax: 3 } });
  const add = (n: number, by = own) => get('/api/add-domain', by, { domain_hash: hash(n) });
  for (let n = 0; n < 3; n++) expect((await add(n)).json.rc).toBe(1);
  await refusedAlways((n) => add(10 + n), 'Error save domain', /as many bindings/);
  expect((await add(1)).json).toMatchObject({ rc: 2, id: expect.any(Number) });
  expect((await add(10, other)).json.rc).toBe(1);
});

describe('sends', () => {
  test('in a minute, of both kinds together', async () => {
    await start({ bounds: { sendsPerMinuteMax: 3 } });
    await bind(app, own);
    await get('/provider', null, {
      id: own.code,
      domain_hash: HASH,
      hwid: 'a',
      os_name: 'Android',
    });
    const form = { body: 'Hello', type_push: 'optional', expire_days: 1 };
    const notify = () =>
      post('/remote/notification', own, { PushNotificationForm: form, hwid: 'a' });
    const send = (by = own) => post('/remote/command', by, commandTo('x'));
    expect((await notify()).json.rc).toBe(1);
    for (let n = 0; n < 2; n++) expect((await send()).json.rc).toBe(1);
    await refusedAlways(() => send(), 'Failed to save command', /in a minute/);
    await refusedAlways(() => notify(), 'Failed to save notification', /in a minute/);
    expect((await send(other)).json.rc).toBe(1);
    app.clock.advance(60_000);
    expect((await send()).json.rc).toBe(1);
  });

  test('bytes, until what was sent is pruned with its ledger', async () => {
    const keptBytesMax = 4 * (KEPT_BYTES_EACH + 100_000);
    await start({ bounds: { keptBytesMax } });
    const send = (by = own) => post('/remote/command', by, commandTo('x'.repeat(70_000)));
    let sentCount = 0;
    while ((await send()).json.rc === 1) sentCount += 1;
    expect(sentCount).toBe(4);
    await refusedAlways(() => send(), 'Failed to save command', /bytes .* are kept/);
    expect((await send(other)).json.rc).toBe(1);
    await app.deliver();
    app.clock.advance(91 * DAY_MS);
    await prune(app.core, DAYS, app.clock.nowMs());
    expect((await send()).json.rc).toBe(1);
    expect((await get('/remote/list', own)).json.data).toHaveLength(5);
    app.clock.advance(366 * DAY_MS);
    await prune(app.core, DAYS, app.clock.nowMs());
    expect((await get('/remote/list', own)).json.data).toHaveLength(1);
  });

  test('bytes besides the payload, as many as the triggers count', async () => {
    await start();
    for (const file of ['sqlite/0005_bounds.sql', 'postgres/0001_triggers.sql']) {
      const lengths = readText(`migrations/${file}`).match(
        /octet_length\(\w+\.target_hwid\) . \d+/g,
      );
      const bytes = new Set(lengths?.map((text) => Number(text.split(' ').at(-1))));
      expect([...bytes]).toEqual([KEPT_BYTES_EACH]);
    }
  });

  test('recipients: refused when as many are kept, blocked when they became as many', async () => {
    await start({ bounds: { ledgerRowsMax: 2 } });
    await bind(app, own);
    for (const hwid of ['a', 'b', 'c']) {
      const facts = { domain_hash: HASH, hwid, os_name: 'Android' };
      await get('/provider', null, { id: own.code, ...facts });
    }
    const send = () => post('/remote/command', own, commandTo('x'));
    const ids = [(await send()).json.id, (await send()).json.id];
    await app.deliver();
    expect((await rows())['recipient']).toBe(3);
    const list = (await get('/remote/list', own)).json.data;
    expect(list.map(({ id, status }: { id: number; status: number }) => [id, status])).toEqual([
      [ids[1], 140],
      [ids[0], 100],
    ]);
    await refusedAlways(send, 'Failed to save command', /recipients/);
  });
});

describe('devices of nobody', () => {
  beforeEach(() => start());

  const bounds = { deviceDays: 180, strangersMax: 3 };
  const keep = async () => {
    await prune(app.core, DAYS, app.clock.nowMs());
    await forgetStrangers(app.core, bounds, app.clock.nowMs());
  };
  const ofDevices = async () => {
    const counts = await rows();
    return ['device', 'device_provider', 'device_token'].map((table) => counts[table] ?? 0);
  };
  const visit = (n: number) =>
    get('/provider', null, { id: own.code, hwid: `visitor-${n}`, os_name: 'Android' });
  const register = (n: number) =>
    post('/device/register', null, { hwid: `registered-${n}`, os: 'android' });

  test('no more than the number, however they came, and with all that they left', async () => {
    for (let n = 0; n < 4; n++) {
      await visit(n);
      await register(n);
      app.clock.advance(1);
    }
    expect(await ofDevices()).toEqual([8, 4, 4]);
    await keep();
    expect(await ofDevices()).toEqual([3, 0, 3]);
    // Who registered stays before who did not; then the newest.
    expect(await app.core.store.findDevice('registered-0')).toBeNull();
    expect(await app.core.store.findDevice('registered-3')).not.toBeNull();
  });

  test('none that was not seen for 180 days', async () => {
    await visit(1);
    await register(1);
    app.clock.advance(180 * DAY_MS);
    await keep();
    expect((await rows())['device']).toBe(2);
    app.clock.advance(1);
    await keep();
    expect(await ofDevices()).toEqual([0, 0, 0]);
  });

  test('whoever shows its token is seen, registered or not', async () => {
    const { device_token: token } = (await register(1)).json;
    for (let day = 0; day < 200; day += 50) {
      app.clock.advance(50 * DAY_MS);
      const headers = { authorization: `Bearer ${token}` };
      expect((await call(app, '/device/inbox', null, {}, { headers })).json.rc).toBe(1);
    }
    await keep();
    expect(await app.core.store.findDevice('registered-1')).not.toBeNull();
  });

  test('a link or a binding that is off is no reason to forget anybody', async () => {
    await bind(app, own);
    const { id } = await addLink(app, own);
    await enter(app, 'slot');
    await get('/provider', null, { id: own.code, domain_hash: HASH, hwid: 'tied' });
    await get('/api/update-install', own, { id, status: 5 });
    await get('/api/delete-domain', own, { id: 1 });
    app.clock.advance(400 * DAY_MS);
    await keep();
    for (const hwid of ['slot', 'tied']) {
      expect(await app.core.store.findDevice(hwid)).not.toBeNull();
    }
  });
});
