/**
 * Who gets what rides, through Gatepost as the proxy and through `/gate`: no HWID is a secret, and
 * a link may be that of another person.
 */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';

import { hostHash } from '../../src/core/host-name.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call } from '../support/app.ts';
import { byBinding, register } from '../support/messaging.ts';
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
import { expectOk } from '../support/shop.ts';
import { type Fronted, HOST, keyPath } from '../support/upstream.ts';

const OPTIONS = {
  trustedProxies: parseTrustedProxies(['127.0.0.1']),
  gateKeyPaths: [keyPath('/sub/{key}')],
  gateRide: 'on',
  rideHosts: ['new.example.org'],
  gateProviderIdFile: '/id',
  secretOf: (file: string) => (file === '/id' ? 'Provider1' : null),
} as const;
const WAY = { ride: 'on', providerIdFile: '/id', updateIntervalHours: 6 } as const;
const [HOME, OTHER] = ['key-of-home', 'key-of-other'];
const NONE = { os: ['ios', 'android'], specific_device_toggle: false };

let at: Fronted;
beforeEach(async () => {
  at = await frontRiding(undefined, WAY, OPTIONS);
  at.app.settings.gateUpdateIntervalHours = 6;
  for (const key of [HOME, OTHER]) {
    const link = { install_limit: 9, subscription_key: key };
    await expectOk(call(at.app, '/api/add-install', at.own, link));
  }
});
afterEach(() => at.stop());

const MINUTE_MS = 60_000;
type Headers = Record<string, string>;
/** Fetches as an app; returns the status and the headers of the answer, or of that to the proxy. */
type Door = (
  hwid: string | null,
  key?: string,
  more?: Headers,
  method?: string,
) => Promise<{
  status: number;
  headers: ReadonlyMap<string, string>;
}>;

const proxy: Door = async (hwid, key = HOME, more = ofApp('Happ')) =>
  at.get(`/sub/${key}`, hwid, more);
const gate: Door = async (hwid, key = HOME, more = ofApp('Happ'), method = 'GET') => {
  const about = {
    'x-original-uri': `/sub/${key}`,
    'x-forwarded-host': HOST,
    'x-original-method': method,
    ...(hwid !== null && { 'x-hwid': hwid }),
  };
  const { status, headers } = await fetch(`${at.app.url}/gate`, { headers: { ...about, ...more } });
  return { status, headers: new Map(headers) };
};
const DOORS: [string, Door, string][] = [
  ['the proxy', proxy, 'happ'],
  ['/gate', gate, 'proxy'],
];

async function carriedTo(id: number, hwid: string): Promise<string | null | undefined> {
  await at.app.core.store.saveFigures();
  const found = await at.app.core.store.findDistribution(id, 10);
  return found?.missing.find((row) => row.hwid === hwid)?.carried;
}

describe.each(DOORS)('through %s', (_name, door, by) => {
  const announced = async (...from: Parameters<Door>) => {
    const { announcement } = seen('Happ', await door(...from));
    return announcement;
  };
  /** Makes the slot of a device older than what is sent next. */
  const settle = async (hwid: string, key?: string) => {
    await door(hwid, key);
    at.app.clock.advance(1);
  };

  test('a general notification is the same for all: no answer tells whom a row names', async () => {
    const token = await register(at.app, byBinding('old', at.own, hostHash(HOST)));
    await settle('old');
    const id = await ride(at.app, at.own);
    for (const hwid of ['old', 'new']) {
      for (const key of [HOME, OTHER]) expect(await announced(hwid, key)).toBe(TEXTS.en);
    }
    const { json } = await call(
      at.app,
      '/device/inbox',
      null,
      {},
      {
        headers: { authorization: `Bearer ${token}` },
      },
    );
    expect(json.data).toHaveLength(1);
    expect(await announced('old')).toBe(TEXTS.en);
    expect(await carriedTo(id, 'elsewhere')).toBeNull();
  });

  test('a device that is new is shown it, and one that has a slot is stamped', async () => {
    await settle('phone');
    const id = await ride(at.app, at.own);
    expect(await announced('phone')).toBe(TEXTS.en);
    expect(await announced('newcomer')).toBe(TEXTS.en);
    expect(await carriedTo(id, 'phone')).toBe(`${by}: announce, sub-info`);
    expect(await carriedTo(id, 'newcomer')).toBeUndefined();
  });

  test('one that names HWIDs rides on the home link alone, to a slot older than it', async () => {
    await settle('phone');
    await settle('phone', OTHER);
    const id = await ride(at.app, at.own, { to: { hwid: 'phone' } });
    expect(await announced('phone', OTHER)).toBeNull();
    expect(await announced('other')).toBeNull();
    expect(await announced('phone')).toBe(TEXTS.en);
    expect(await carriedTo(id, 'phone')).toBe(`${by}: announce, sub-info`);
    await block(at.app, id);
    expect(await announced('phone')).toBeNull();
  });

  test('the box of Happ goes with the Provider ID, and is taken away as long as it was there', async () => {
    const id = await ride(at.app, at.own, { type_push: 'force' });
    const got = await door('phone', HOME, ofApp('Happ', 'RU'));
    expect(got.headers.get('providerid')).toBe('Provider1');
    const shown = seen('Happ', got);
    const text = TEXTS.ru;
    expect(shown.box).toEqual({ text, color: 'red', button: 'Открыть', link: LINK_URL });
    at.app.clock.advance(MINUTE_MS);
    await block(at.app, id);
    at.app.clock.advance(MINUTE_MS - 1);
    const ended = await door('phone', HOME, ofApp('Happ', 'RU'));
    // nginx hands on no empty header.
    expect(ended.headers.get('sub-info-text')).toBe(by === 'happ' ? '' : '0');
    expect(seen('Happ', ended, shown)).toMatchObject({ announcement: null, box: null });
    at.app.clock.advance(1);
    expect((await door('phone')).headers.has('sub-info-text')).toBe(false);
  });

  test('a command rides ten minutes after it was accepted, to slots older than it', async () => {
    await settle('phone');
    await settle('phone', OTHER);
    const settings = { 'ping-type': 'tcp', 'x-own': 'y' };
    await command(at.app, at.own, { ...NONE, action_type: 'set-settings', settings });
    const shown = async (...from: Parameters<Door>) => seen('Happ', await door(...from)).settings;
    at.app.clock.advance(10 * MINUTE_MS - 1);
    expect(await shown('phone')).toEqual({});
    at.app.clock.advance(1);
    expect(await shown('phone')).toEqual({ 'ping-type': 'tcp' });
    expect(await shown('phone', OTHER)).toEqual({});
    expect(await shown('newcomer')).toEqual({});
    at.app.settings.gateRide = 'notifications';
    const [upstream] = at.app.settings.gateUpstreams;
    if (upstream) at.app.settings.gateUpstreams = [{ ...upstream, ride: 'notifications' }];
    expect(await shown('phone')).toEqual({});
  });

  test.each([
    ['domain', 'new.example.org', 'new.example.org'],
    ['domain', 'thief.example.org', null],
  ])('a new %s %p moves the subscription to %p', async (change_type, change_value, moved) => {
    await settle('phone');
    const change = { ...NONE, action_type: 'sub-change', change_type, change_value };
    await command(at.app, at.own, change);
    at.app.clock.advance(10 * MINUTE_MS);
    expect(seen('Happ', await door('phone')).moved).toBe(moved);
    expect(seen('Koala Clash', await door('phone', HOME, ofApp('Koala Clash'))).moved).toBe(moved);
    at.app.settings.rideHosts = [];
    expect(seen('Happ', await door('phone', HOME, ofApp('Happ'))).moved).toBeNull();
  });

  test('an app that sends no HWID: a slot of its kind shows general notifications alone', async () => {
    const policy = (without_hwid: string) =>
      expectOk(call(at.app, '/api/policy', at.own, { without_hwid }));
    await policy('count');
    await door(null);
    at.app.clock.advance(1);
    await ride(at.app, at.own);
    const settings = { 'ping-type': 'tcp' };
    await command(at.app, at.own, { ...NONE, action_type: 'set-settings', settings });
    at.app.clock.advance(10 * MINUTE_MS);
    const shown = seen('Happ', await door(null));
    expect([shown.announcement, shown.settings]).toEqual([TEXTS.en, {}]);
    await policy('pass');
    expect(await announced(null)).toBeNull();
  });

  test('the word of the provider holds at the next fetch', async () => {
    const policy = (terms: Record<string, string | number>) =>
      expectOk(call(at.app, '/api/policy', at.own, terms));
    await ride(at.app, at.own);
    const onDesktop = ofApp('Koala Clash', 'FA', 'Windows');
    const desktop = async () => seen('Koala Clash', await door('pc', HOME, onDesktop)).announcement;
    expect([await announced('phone'), await desktop()]).toEqual([TEXTS.en, null]);
    await policy({ ride_desktop: 1 });
    expect([await announced('phone'), await desktop()]).toEqual([TEXTS.en, TEXTS.fa]);
    await policy({ ride: 'off' });
    expect([await announced('phone'), await desktop()]).toEqual([null, null]);
    await policy({ ride: 'default', ride_desktop: 0 });
    expect([await announced('phone'), await desktop()]).toEqual([TEXTS.en, null]);
  });

  test('buttons go out, whatever rides: those of the link, else of the provider', async () => {
    const buttons = async () => {
      const { support, page } = seen('INCY', await door('phone', HOME, ofApp('INCY')));
      return [support, page];
    };
    const [support_url, web_page_url] = ['https://help.example/', 'https://www.example/'];
    expect(await buttons()).toEqual([null, null]);
    await expectOk(
      call(at.app, '/api/policy', at.own, { support_url, web_page_url, buttons: 'always' }),
    );
    expect(await buttons()).toEqual([support_url, web_page_url]);
    const link = { support_url: 'https://link.example/' };
    const { json } = await expectOk(
      call(at.app, '/api/list-install', at.own, { subscription_key: HOME }),
    );
    await expectOk(call(at.app, '/api/update-install', at.own, { ...link, id: json.data[0].id }));
    expect(await buttons()).toEqual(['https://link.example/', web_page_url]);
    await expectOk(call(at.app, '/api/policy', at.own, { buttons: 'missing' }));
    // A proxy that asks /gate does not tell which the panel has.
    const shown = by === 'proxy' ? [null, null] : ['https://link.example/', web_page_url];
    expect(await buttons()).toEqual(shown);
  });

  test('an app stays what it was known as behind another User-Agent', async () => {
    await settle('phone');
    await ride(at.app, at.own);
    const hidden = { ...ofApp('Happ'), 'User-Agent': 'Mozilla/5.0' };
    expect(seen('Happ', await door('phone', HOME, hidden)).box?.text).toBe(TEXTS.en);
    expect(seen('Happ', await door('stranger', HOME, hidden)).box).toBeNull();
  });

  test('apps fetch again after the hours of the settings, whether something rides or not', async () => {
    expect((await door('phone')).headers.get('profile-update-interval')).toBe('6');
    await ride(at.app, at.own);
    expect((await door('phone')).headers.get('profile-update-interval')).toBe('6');
  });
});

describe('/gate', () => {
  test('names what rides for the proxy, and hands nothing out for HEAD or while it is off', async () => {
    const { status, headers } = await gate('phone');
    expect([status, [...headers.keys()].includes('x-gatepost-rides')]).toEqual([204, false]);
    await ride(at.app, at.own);
    const names = async (...from: Parameters<Door>) =>
      (await gate(...from)).headers.get('x-gatepost-rides') ?? null;
    expect(await names('phone', HOME, ofApp('INCY'))).toBe('announce, announce-url');
    expect(await names('quiet', HOME, ofApp('v2rayNG'))).toBe('none');
    expect(await names('phone', HOME, ofApp('INCY'), 'HEAD')).toBeNull();
    at.app.settings.gateRide = 'off';
    expect(await names('phone', HOME, ofApp('INCY'))).toBeNull();
  });
});
