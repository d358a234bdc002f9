/**
 * Apps whose rows were corrected by their sources of 2026: what rides to them, what stays, and how
 * a send counts them, through Gatepost as the proxy and through `/gate`.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call } from '../support/app.ts';
import { announced } from '../support/refused-apps.ts';
import {
  block,
  command,
  frontRiding,
  LINK_URL,
  ofApp,
  ride,
  seen,
  TEXTS,
} from '../support/rides.ts';
import { ridingApp } from '../support/riding-apps.ts';
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, keyPath } from '../support/upstream.ts';

const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
  gateRide: 'on',
  rideHosts: ['new.example.org'],
  bounds: { gateRide: 'on', rideHosts: ['new.example.org'] },
} as const;
const KEY = 'key-of-today';
const MINUTE_MS = 60_000;

let at: Fronted;
beforeEach(async () => {
  at = await frontRiding(undefined, { ride: 'on' }, OPTIONS);
  await expectOk(
    call(at.app, '/api/add-install', at.own, { install_limit: 9, subscription_key: KEY }),
  );
});
afterEach(() => at.stop());

type Door = (
  hwid: string,
  app: string,
) => Promise<{ status: number; headers: ReadonlyMap<string, string> }>;
const proxy: Door = (hwid, app) => at.get(`/sub/${KEY}`, hwid, ofApp(app));
const gate: Door = async (hwid, app) => {
  const about = { 'x-original-uri': `/sub/${KEY}`, 'x-forwarded-host': HOST, 'x-hwid': hwid };
  const asked = await fetch(`${at.app.url}/gate`, { headers: { ...about, ...ofApp(app) } });
  return { status: asked.status, headers: new Map(asked.headers) };
};
const DOORS: [string, Door][] = [
  ['the proxy', proxy],
  ['/gate', gate],
];

const NEW_APPS = ['Prizrak-Box', 'Clod Clash', 'Clod Clash for Android'];
const SILENT = ['v2rayN', 'NekoBox', 'Clash Party', 'Clash Meta for Android', 'v2rayNG'];

describe.each(DOORS)('through %s', (name, door) => {
  test('a notification is shown with its link, and silent apps get nothing', async () => {
    await ride(at.app, at.own);
    for (const app of NEW_APPS) {
      const shown = seen(app, await door(app.replaceAll(' ', '-'), app));
      expect([app, shown.announcement, shown.link]).toEqual([app, TEXTS.en, LINK_URL]);
    }
    for (const app of SILENT) {
      const { headers, status } = await door(app.replaceAll(' ', '-'), app);
      expect([app, status < 300, headers.has('announce'), headers.has('announce-url')]).toEqual([
        ...[app, true, false, false],
      ]);
    }
    // What a closed app shows is not known: it gets the announcement alone.
    const { headers } = await door('rocket', 'Shadowrocket');
    expect(announced(new Headers([...headers]))).toBe(TEXTS.en);
    expect(headers.has('announce-url')).toBe(false);
  });

  test('each gets as much of a text as it shows', async () => {
    await ride(at.app, at.own, { title: 'T', body: 'слова '.repeat(150), locales: {} });
    const lengthIn = async (app: string) =>
      seen(app, await door(app.replaceAll(' ', '-'), app)).announcement?.length ?? 0;
    for (const [app, most] of [
      ['Prizrak-Box', 200],
      ['Clod Clash for Android', 300],
      ['Clod Clash', 500],
      ['INCY', 200],
    ] as const) {
      const length = await lengthIn(app);
      expect([app, length > most - 10, length <= most]).toEqual([app, true, true]);
    }
  });

  test('a new domain rides to those that follow one, without a Provider ID', async () => {
    for (const app of [...NEW_APPS, 'FlClashX']) await door(app.replaceAll(' ', '-'), app);
    at.app.clock.advance(1);
    const change = { change_type: 'domain', change_value: 'new.example.org' };
    const to = { os: ['android'], specific_device_toggle: false };
    await command(at.app, at.own, { action_type: 'sub-change', ...change, ...to });
    at.app.clock.advance(10 * MINUTE_MS);
    for (const app of [...NEW_APPS, 'FlClashX']) {
      const shown = seen(app, await door(app.replaceAll(' ', '-'), app));
      expect([app, shown.moved]).toEqual([app, 'new.example.org']);
    }
  });

  test('Prizrak-Box is sent an empty text, where it is known that the panel has none', async () => {
    const id = await ride(at.app, at.own);
    const shown = seen('Prizrak-Box', await door('box', 'Prizrak-Box'));
    at.app.clock.advance(MINUTE_MS);
    await block(at.app, id);
    const ended = await door('box', 'Prizrak-Box');
    const after = ridingApp('Prizrak-Box').shows(new Headers([...ended.headers]), shown);
    expect(ended.headers.get('announce') ?? null).toBe(name === '/gate' ? null : 'base64:');
    expect(after?.announcement ?? null).toBe(name === '/gate' ? TEXTS.en : null);
    for (const app of ['Clod Clash', 'INCY', 'Koala Clash']) {
      expect((await door(app.replaceAll(' ', '-'), app)).headers.has('announce')).toBe(false);
    }
    at.app.clock.advance(2 * MINUTE_MS);
    expect((await door('box', 'Prizrak-Box')).headers.has('announce')).toBe(false);
  });

  test('a full link gives Clod Clash the reason in the header of its notice too', async () => {
    const limit = { install_limit: 1, subscription_key: 'key-of-one' };
    await expectOk(call(at.app, '/api/add-install', at.own, limit));
    const ask = async (hwid: string, app: string) => {
      const asked =
        name === '/gate'
          ? await fetch(`${at.app.url}/gate`, {
              headers: {
                ...ofApp(app),
                'x-original-uri': '/sub/key-of-one',
                'x-forwarded-host': HOST,
                'x-hwid': hwid,
              },
            })
          : await at.get('/sub/key-of-one', hwid, ofApp(app));
      return { status: asked.status, headers: new Headers([...asked.headers]) };
    };
    expect((await ask('first', 'Clod Clash')).status).toBeLessThan(300);
    for (const app of ['Clod Clash', 'Clod Clash for Android']) {
      const { headers, status } = await ask('second', app);
      expect([status > 400, headers.get('x-hwid-max-devices-reached')]).toEqual([true, 'true']);
      expect(headers.get('clod-hwid-limit')).toBe(headers.get('announce'));
    }
    for (const app of ['Prizrak-Box', 'FlClashX', 'Happ']) {
      expect((await ask('second', app)).headers.has('clod-hwid-limit')).toBe(false);
    }
  });
});

test('behind the proxy the text of the panel stands again in Prizrak-Box', async () => {
  const { app } = at;
  const theirs = Buffer.from('of the panel').toString('base64');
  await at.stop();
  at = await frontRiding(
    ({ send }) =>
      send(`HTTP/1.1 200 OK\r\nannounce: base64:${theirs}\r\ncontent-length: 6\r\n\r\nvless:`),
    { ride: 'on' },
    OPTIONS,
  );
  expect(at.app).not.toBe(app);
  const link = { install_limit: 9, subscription_key: KEY };
  await expectOk(call(at.app, '/api/add-install', at.own, link));
  const id = await ride(at.app, at.own);
  expect(seen('Prizrak-Box', await proxy('box', 'Prizrak-Box')).announcement).toBe(TEXTS.en);
  at.app.clock.advance(MINUTE_MS);
  await block(at.app, id);
  expect(seen('Prizrak-Box', await proxy('box', 'Prizrak-Box')).announcement).toBe('of the panel');
});

test('a send counts unknown apps apart: in its header and its details', async () => {
  for (const app of ['Happ', 'Prizrak-Box', 'Shadowrocket', 'v2rayN']) await proxy(app, app);
  at.app.clock.advance(6 * MINUTE_MS);
  const form = { body: 'x', type_push: 'optional', expire_days: 1 };
  const hwid = 'Happ,Prizrak-Box,Shadowrocket,v2rayN';
  const sent = await call(
    at.app,
    '/remote/notification',
    at.own,
    {},
    { method: 'POST', body: JSON.stringify({ PushNotificationForm: form, hwid }) },
  );
  expect(sent.headers.get('x-reach')).toBe(
    'recipients=4; reachable=0; now=0; push=0; fetch=2; cannot=1; not-known=1; within-hours=12; guess=1',
  );
  await at.app.deliver();
  const { json } = await call(at.app, '/remote/list', at.own, { details: 1 });
  const [record] = json.data as Record<string, unknown>[];
  expect(record).toMatchObject({ at_next_fetch: 2, not_known: 1, cannot: 1 });
});
