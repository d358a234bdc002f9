/** What rides, on the headers of an answer. */

import { afterAll, describe, expect, test } from 'bun:test';
import { makeLog } from '../../src/base/log.ts';
import type { Core } from '../../src/core/core.ts';
import { PUSH } from '../../src/core/port/distribution.ts';
import type { AdmittedDevice } from '../../src/core/port/link.ts';
import type { CarriedStamp, ProviderRides, Ride } from '../../src/core/port/ride.ts';
import type { Riders } from '../../src/core/ride/riding.ts';
import { encodeText } from '../../src/core/ride/text.ts';
import { addRiders, intervalHeader, stampsOf } from '../../src/http/ride/answer.ts';
import { RideDesk } from '../../src/http/ride/desk.ts';
import { keepFresh } from '../../src/http/upstream/headers.ts';
import { Random } from '../support/random.ts';
import { NOTHING, RIDING_APPS } from '../support/riding-apps.ts';

/** The apps that show more than 200 characters. */
const LONGER = new Map([
  ['Clod Clash', 500],
  ['Clod Clash for Android', 300],
]);

const BUTTONS = { supportUrl: 'https://help.example/ours', webPageUrl: 'https://ours.example/' };
const riders = (more: Partial<Riders> = {}): Riders => ({
  headers: {},
  announceText: null,
  carried: [],
  app: 'INCY',
  isDue: true,
  buttons: { supportUrl: null, webPageUrl: null },
  buttonsAlways: false,
  hasMy: false,
  hasDiscovery: false,
  hasFigures: false,
  ...more,
});
const MESSAGE = {
  headers: { announce: encodeText('ours'), 'sub-info-text': 'ours' },
  announceText: 'ours',
  carried: [
    { distributionId: 1, what: 'announce, sub-info' },
    { distributionId: 2, what: 'announce' },
  ],
};

describe('buttons', () => {
  const added = (panel: Record<string, string>, buttonsAlways: boolean) => {
    const headers = new Headers(panel);
    addRiders(headers, riders({ buttons: BUTTONS, buttonsAlways }), 'message');
    return [headers.get('support-url'), headers.get('profile-web-page-url')];
  };
  test('stand where the panel has none, or always if the provider says so', () => {
    const panel = { 'support-url': 'https://help.example/panel', 'profile-web-page-url': '' };
    expect(added(panel, false)).toEqual(['https://help.example/panel', 'https://ours.example/']);
    expect(added(panel, true)).toEqual(['https://help.example/ours', 'https://ours.example/']);
  });
  test('that of the page of users replaces the one that a panel sends with each answer', () => {
    const headers = new Headers({
      'support-url': 'https://help.example/panel',
      'profile-web-page-url': 'https://sub.example.org/sub/KEY',
    });
    addRiders(headers, riders({ buttons: BUTTONS, replacesPage: true }), 'message');
    expect(headers.get('profile-web-page-url')).toBe('https://ours.example/');
    expect(headers.get('support-url')).toBe('https://help.example/panel');
  });
});

test('where the announcement of the panel stays, the stamp names what went out beside it', () => {
  const headers = new Headers({ announce: 'panel' });
  expect(addRiders(headers, riders(MESSAGE), 'panel')).toEqual([
    { distributionId: 1, what: 'sub-info' },
  ]);
  expect([headers.get('announce'), headers.get('sub-info-text')]).toEqual(['panel', 'ours']);
  for (const none of ['', '0']) {
    const bare = new Headers({ announce: none });
    expect(addRiders(bare, riders(MESSAGE), 'panel')).toBe(MESSAGE.carried);
    expect(bare.get('announce')).toBe(encodeText('ours'));
  }
});

test('a header of the panel that comes twice is there once', () => {
  const headers = new Headers({ announce: 'one' });
  headers.append('announce', 'two');
  addRiders(headers, riders(MESSAGE), 'message');
  expect(headers.get('announce')).toBe(encodeText('ours'));
});

test('the interval of the settings replaces that of the panel; 0 leaves it', () => {
  const headers = new Headers({ 'profile-update-interval': '12' });
  const set = (hours: number) => {
    for (const [name, value] of Object.entries(intervalHeader(hours))) headers.set(name, value);
  };
  set(0);
  expect(headers.get('profile-update-interval')).toBe('12');
  set(1);
  expect(headers.get('profile-update-interval')).toBe('1');
});

const PHONE = { deviceId: 7, hwid: 'phone' };

test('stamps are cut to 64 characters', () => {
  const [stamp] = stampsOf([{ distributionId: 1, what: 'x'.repeat(80) }], PHONE, 'happ', 5);
  expect(stamp).toEqual({
    distributionId: 1,
    ...PHONE,
    atMs: 5,
    carried: `happ: ${'x'.repeat(58)}`,
  });
});

test.each([
  [{}, 'private, no-cache', 'x-hwid, accept-language, x-device-locale, user-agent'],
  [
    { 'cache-control': 'public, max-age=60', vary: 'Accept-Encoding, User-Agent' },
    'private, no-cache',
    'Accept-Encoding, User-Agent, x-hwid, accept-language, x-device-locale',
  ],
  [{ 'cache-control': 'No-Store', vary: '*' }, 'private, no-cache, no-store', '*'],
])('an answer of %p with a message: %p, %p', (panel, control, vary) => {
  const headers = new Headers(panel as Record<string, string>);
  keepFresh(headers);
  expect([headers.get('cache-control'), headers.get('vary')]).toEqual([control, vary]);
});

/** A desk whose store holds this, and notes stamps. */
function deskWith(findRides: () => ProviderRides) {
  const stamps: CarriedStamp[] = [];
  const lines: string[] = [];
  const store = { findRides, noteCarried: (some: CarriedStamp[]) => void stamps.push(...some) };
  const log = makeLog(
    { logFormat: 'json', logLevel: 'info' },
    () => 0,
    (line) => lines.push(line),
  );
  const desk = new RideDesk({
    core: { store } as unknown as Core,
    log,
    settings: { rideHosts: [] },
    secretOf: () => 'Provider1',
  });
  return { desk, lines, stamps };
}
const DOOR = {
  version: 1,
  untilMs: 200,
  deviceId: 7,
  namedUntilMs: 0,
  homeSinceMs: 5,
  supportUrl: null,
  webPageUrl: null,
};
const linkOf = (userAgent: string, version = 1) =>
  ({
    providerId: 3,
    hwid: 'phone',
    rides: { ...DOOR, version },
    facts: { os: 'ios', osVersion: '', deviceName: '', appVersion: '', userAgent },
  }) as AdmittedDevice;
const REQUEST = new Request('http://localhost/');
const WAY = { ride: 'on', providerIdFile: '/id' } as const;

test('what cannot be read does not ride, which is logged once a minute', async () => {
  const fail = () => {
    throw new Error('the database is away');
  };
  // At once, and with a promise.
  for (const findRides of [fail, () => Promise.resolve().then(fail)]) {
    const { desk, lines } = deskWith(findRides as unknown as () => ProviderRides);
    const fetch = {
      request: REQUEST,
      link: linkOf('INCY/1'),
      isShared: false,
      myUrl: () => null,
    };
    for (let count = 0; count < 3; count++) expect(await desk.on(fetch, WAY, null, 150)).toBeNull();
    expect(lines.filter((line) => line.includes('rides_not_read'))).toHaveLength(1);
  }
});

test('a device that took its slot with this answer is stamped by its HWID', () => {
  const { desk, stamps } = deskWith(() => ({}) as ProviderRides);
  const carried = [{ distributionId: 1, what: 'announce' }];
  const { hwid: _hwid, ...unread } = linkOf('INCY/1');
  desk.note(carried, unread, 'incy', 5);
  desk.note([], linkOf('INCY/1'), 'incy', 5);
  expect(stamps).toEqual([]);
  const { rides: _rides, ...fresh } = linkOf('INCY/1');
  desk.note(carried, linkOf('INCY/1'), 'incy', 5);
  desk.note(carried, fresh, 'incy', 5);
  expect(stamps).toMatchObject([
    { ...PHONE, carried: 'incy: announce' },
    { deviceId: null, hwid: 'phone' },
  ]);
});

describe('2,000 odd texts', () => {
  let found: ProviderRides;
  const { desk } = deskWith(() => found);
  let said = new Headers();
  const server = Bun.serve({ port: 0, fetch: () => new Response('servers', { headers: said }) });
  afterAll(() => server.stop(true));

  test('split no header, and each app shows one text within its bounds', async () => {
    const random = new Random(22);
    const odd = [
      '\r\n',
      '\n',
      '\r',
      '\0',
      '\u2028',
      '\u0085',
      'x-evil: 1',
      '🚀',
      'ی',
      '中',
      '\ud83d',
    ];
    const more = ['<b>', '&amp;', ' ', '"', ',', ';', ':', '\t', 'a'.repeat(90), '\u202e', 'é'];
    const pieces = [...odd, ...more];
    const text = () => Array.from({ length: random.int(1, 9) }, () => random.pick(pieces)).join('');
    for (let version = 1; version <= 2_000; version++) {
      const app = RIDING_APPS[version % RIDING_APPS.length] ?? RIDING_APPS[0];
      const link = `https://example.com/${encodeURIComponent(text().toWellFormed())}`;
      const payload = { title: text(), body: text(), link_for_open: link, type_push: 'force' };
      const ride: Ride = {
        distributionId: version,
        notificationType: PUSH,
        os: 'ios',
        part: 'message',
        payload: JSON.stringify(payload),
        createdAtMs: 10,
        fromMs: 100,
        untilMs: 200,
      };
      const terms = { ride: null, ridesOnDesktop: false, supportUrl: null, webPageUrl: null };
      const off = { buttonsAlways: false, hasMy: false, hasDiscovery: false, hasFigures: false };
      found = { ...terms, ...off, version, rides: [ride] };
      const fetched = {
        request: REQUEST,
        link: linkOf(app?.userAgent ?? '', version),
        isShared: false,
        myUrl: () => null,
      };
      const due = await desk.on(fetched, WAY, null, 150);
      said = new Headers({ 'content-type': 'text/plain' });
      const names = new Set(['content-type', 'date', 'content-length']);
      if (due !== null) addRiders(said, due, 'message');
      for (const name of said.keys()) names.add(name);
      const { headers } = await fetch(server.url);
      expect([...headers.keys()].filter((name) => !names.has(name))).toEqual([]);
      const bytes = [...said].reduce(
        (sum, [name, value]) => sum + name.length + value.length + 4,
        0,
      );
      expect(bytes).toBeLessThan(2_100);
      const shown = app?.shows(headers) ?? NOTHING;
      const lengthMax = LONGER.get(app?.name ?? '') ?? 200;
      expect((shown.announcement ?? '').length).toBeLessThanOrEqual(lengthMax);
      expect((shown.announcement ?? '').split('\n').length).toBeLessThanOrEqual(5);
    }
  });
});
