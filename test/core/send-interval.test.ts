/** One general notification in five minutes: over HTTP, with two servers, across a restart. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { GENERAL_INTERVAL_MS } from '../../src/core/send.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { besideOf } from '../support/beside.ts';
import { makeDevices, openCoreOn, putOnLinks } from '../support/delivery.ts';

const TOO_SOON = 'You can send general notifications only once every 5 minutes';
const AT_ONCE = 40;

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(() => app.close());

/** A provider with one Android device. */
async function seed(): Promise<Credentials> {
  const credentials = await seedProvider(app);
  const db = besideOf(app);
  const found = db
    .query<{ id: number }, [string]>('SELECT id FROM provider WHERE code = ?')
    .get(credentials.code);
  putOnLinks({ db }, found ?? { id: 0 }, makeDevices({ db }, [`${credentials.code}-1`]));
  db.close();
  return credentials;
}

const FORM = { body: 'Hello', type_push: 'optional', expire_days: 1 };

async function send(
  server: { url: string },
  credentials: Credentials,
  body: Record<string, unknown> = { os: ['android'] },
  form: Record<string, unknown> = {},
): Promise<string> {
  const text = JSON.stringify({ PushNotificationForm: { ...FORM, ...form }, ...body });
  const init = { method: 'POST', body: text };
  const reply = await call(server, '/remote/notification', credentials, {}, init);
  return reply.json.msg;
}

const count = (said: string[], what: string) => said.filter((one) => one === what).length;

test(`of ${AT_ONCE} at once exactly one wins`, async () => {
  const credentials = await seed();
  for (let round = 0; round < 3; round++) {
    const sends = Array.from({ length: AT_ONCE }, () => send(app, credentials));
    const said = await Promise.all(sends);
    expect([count(said, 'Ok'), count(said, TOO_SOON)]).toEqual([1, AT_ONCE - 1]);
    app.clock.advance(GENERAL_INTERVAL_MS);
  }
  const list = await call(app, '/remote/list', credentials);
  expect(list.json.data).toHaveLength(3);
});

test('two servers on one database: still one', async () => {
  const credentials = await seed();
  const core = await openCoreOn(app.place, app.clock);
  const other = await startTestApp({ clock: app.clock }, () => core);
  for (let round = 0; round < 5; round++) {
    const sends = Array.from({ length: AT_ONCE }, (_, n) => send(n % 2 ? app : other, credentials));
    const said = await Promise.all(sends);
    expect([count(said, 'Ok'), count(said, TOO_SOON)]).toEqual([1, AT_ONCE - 1]);
    app.clock.advance(GENERAL_INTERVAL_MS);
  }
  await other.close();
  await core.store.close();
});

describe('what counts', () => {
  test('five minutes to the millisecond, from the acceptance', async () => {
    const credentials = await seed();
    expect(await send(app, credentials)).toBe('Ok');
    app.clock.advance(GENERAL_INTERVAL_MS - 1);
    expect(await send(app, credentials)).toBe(TOO_SOON);
    app.clock.advance(1);
    expect(await send(app, credentials)).toBe('Ok');
  });

  test('a restart forgets nothing', async () => {
    const credentials = await seed();
    expect(await send(app, credentials)).toBe('Ok');
    app.clock.advance(GENERAL_INTERVAL_MS - 1);
    const core = await openCoreOn(app.place, app.clock);
    const restarted = await startTestApp({ clock: app.clock }, () => core);
    expect(await send(restarted, credentials)).toBe(TOO_SOON);
    app.clock.advance(1);
    expect(await send(restarted, credentials)).toBe('Ok');
    await restarted.close();
    await core.store.close();
  });

  test('one that was cancelled', async () => {
    const credentials = await seed();
    const schedule = { send_date: '2026-11-21', send_time: '12:00' };
    expect(await send(app, credentials, { os: ['android'] }, schedule)).toBe('Ok');
    const list = await call(app, '/remote/list', credentials);
    const { id } = list.json.data[0];
    expect((await call(app, '/remote/cancel', credentials, { id })).json).toMatchObject({ rc: 1 });
    expect(await send(app, credentials)).toBe(TOO_SOON);
  });

  test('not one that was refused, whatever for', async () => {
    const credentials = await seed();
    const refused = [
      await send(app, credentials, { os: ['ios'] }),
      await send(app, credentials, { os: [] }),
      await send(app, credentials, { os: ['android'] }, { body: 'x'.repeat(4096) }),
      await send(app, credentials, { os: ['android'] }, { expire_days: 0 }),
      await send(app, credentials, { hwid: 'unknown' }),
    ];
    expect(refused).toEqual([
      'No devices found for selected OS and your provider IDs',
      'No devices found for selected OS and your provider IDs',
      'Message too large (max 4096 bytes)',
      'Unknown error',
      'Device with this HWID not found',
    ]);
    expect(await send(app, credentials)).toBe('Ok');
    app.clock.advance(GENERAL_INTERVAL_MS / 2);
    expect(await send(app, credentials)).toBe(TOO_SOON);
    // Being refused did not begin the time anew.
    app.clock.advance(GENERAL_INTERVAL_MS / 2);
    expect(await send(app, credentials)).toBe('Ok');
  });

  test('not one to named devices, not a command, not another provider\u2019s', async () => {
    const credentials = await seed();
    const hwid = `${credentials.code}-1`;
    expect(await send(app, credentials, { hwid, os: ['android'] })).toBe('Ok');
    const body = JSON.stringify({ action_type: 'update-subscription', os: ['android'] });
    const init = { method: 'POST', body };
    const sent = await call(app, '/remote/command', credentials, {}, init);
    expect(sent.json).toMatchObject({ rc: 1 });
    expect(await send(app, await seed())).toBe('Ok');
    expect(await send(app, credentials)).toBe('Ok');
    expect(await send(app, credentials, { hwid })).toBe('Ok');
  });

  test('a clock set back holds nobody up for longer than five minutes', async () => {
    const credentials = await seed();
    expect(await send(app, credentials)).toBe('Ok');
    app.clock.advance(-24 * 3_600_000);
    expect(await send(app, credentials)).toBe('Ok');
    app.clock.advance(GENERAL_INTERVAL_MS - 1);
    expect(await send(app, credentials)).toBe(TOO_SOON);
  });
});
