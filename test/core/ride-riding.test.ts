/** What rides on one answer: how often it is read and rendered, and for whom. */

import { describe, expect, test } from 'bun:test';
import { PUSH } from '../../src/core/port/distribution.ts';
import type { LinkFacts } from '../../src/core/port/fill.ts';
import type { AdmittedDevice } from '../../src/core/port/link.ts';
import type { Maybe } from '../../src/core/port/maybe.ts';
import type { DoorRides, ProviderRides, Ride } from '../../src/core/port/ride.ts';
import { type Fetch, Rides, type RideWay } from '../../src/core/ride/riding.ts';
import { readAnnounce } from '../../src/core/ride/text.ts';

const payload = (body: string) =>
  JSON.stringify({ body, locales: { RU: { body: `${body} по-русски` } }, type_push: 'optional' });

const ride = (distributionId: number, more: Partial<Ride> = {}): Ride => ({
  distributionId,
  notificationType: PUSH,
  os: 'ios',
  part: 'message',
  payload: payload(`text ${distributionId}`),
  createdAtMs: 10,
  fromMs: 100,
  untilMs: 200,
  ...more,
});

const DOOR: DoorRides = {
  version: 1,
  untilMs: 300,
  deviceId: 7,
  namedUntilMs: 0,
  homeSinceMs: 5,
  supportUrl: null,
  webPageUrl: null,
};
const FACTS = { os: 'ios', osVersion: '', deviceName: '', appVersion: '', userAgent: 'INCY/2.1.0' };
const WAY: RideWay = { level: 'on', providerId: null, hosts: [] };

/** A store that counts its reads. */
function storeWith(rides: readonly Ride[], more: Partial<ProviderRides> = {}) {
  const terms = { ride: null, ridesOnDesktop: false, supportUrl: null, webPageUrl: null };
  const state = {
    found: { ...terms, buttonsAlways: false, version: 1, rides, ...more } as ProviderRides,
    named: [] as readonly Ride[],
    facts: null as LinkFacts | null,
    factReads: 0,
    reads: { general: 0, named: 0 },
  };
  const store = {
    findRides: (): Maybe<ProviderRides> => {
      state.reads.general += 1;
      return state.found;
    },
    findNamedRides: (): Maybe<readonly Ride[]> => {
      state.reads.named += 1;
      return state.named;
    },
    findLinkFacts: (): Maybe<LinkFacts | null> => {
      state.factReads += 1;
      return state.facts;
    },
  };
  return Object.assign(state, { store, rides: new Rides(store) });
}

function fetchOf(door: Partial<DoorRides> = {}, more: Partial<Fetch> = {}): Fetch {
  const link = { providerId: 3, rides: { ...DOOR, ...door }, facts: FACTS } as AdmittedDevice;
  return { link, isShared: false, languages: () => [], ...more };
}

const said = (riders: Awaited<ReturnType<Rides['on']>>) =>
  riders === null ? null : readAnnounce(riders.headers['announce'] ?? '');

describe('what is read', () => {
  test('is nothing where the door knows of nothing', async () => {
    const at = storeWith([ride(1)]);
    const { rides: _rides, ...link } = fetchOf().link;
    expect(await at.rides.on(fetchOf({}, { link }), WAY, 150)).toBeNull();
    const { facts: _facts, ...unread } = fetchOf().link;
    expect(await at.rides.on(fetchOf({}, { link: unread }), WAY, 150)).toBeNull();
    expect(at.reads).toEqual({ general: 0, named: 0 });
  });

  test('is nothing after the end of all that rode, unless the link has a button', async () => {
    const at = storeWith([ride(1)]);
    const none = { untilMs: 300, namedUntilMs: 290 };
    expect(await at.rides.on(fetchOf(none), WAY, 300)).toBeNull();
    expect(at.reads).toEqual({ general: 0, named: 0 });
    expect(await at.rides.on(fetchOf(none), WAY, 299)).toMatchObject({ isDue: true });
    await at.rides.on(fetchOf({ untilMs: 0, namedUntilMs: 301 }), WAY, 300);
    expect(at.reads.named).toBe(1);
    const button = { ...none, webPageUrl: 'https://example.com/' };
    expect(await at.rides.on(fetchOf(button), WAY, 300)).toMatchObject({ isDue: false });
  });

  test('is read once for each version, and rendered once a language', async () => {
    const at = storeWith([ride(1)]);
    const first = await at.rides.on(fetchOf(), WAY, 150);
    const second = await at.rides.on(fetchOf(), WAY, 160);
    const languages = () => ['ru'];
    const other = await at.rides.on(fetchOf({}, { languages }), WAY, 150);
    expect([said(first), said(other)]).toEqual(['text 1', 'text 1 по-русски']);
    expect(second?.headers).toBe(first?.headers ?? {});
    expect(at.reads).toEqual({ general: 1, named: 0 });
    at.found = { ...at.found, version: 2, rides: [ride(2)] };
    expect(said(await at.rides.on(fetchOf(), WAY, 150))).toBe('text 1');
    expect(said(await at.rides.on(fetchOf({ version: 2 }), WAY, 150))).toBe('text 2');
    expect(at.reads).toEqual({ general: 2, named: 0 });
  });

  test('and of renderings some thousands are kept, whatever languages callers choose', async () => {
    const at = storeWith([ride(1)]);
    const headersOf = async (providerId: number, language: string) => {
      const { link } = fetchOf();
      const fetch = fetchOf({}, { link: { ...link, providerId }, languages: () => [language] });
      return (await at.rides.on(fetch, WAY, 150))?.headers ?? {};
    };
    const first = await headersOf(1, 'ru');
    expect(await headersOf(1, 'ru')).toBe(first);
    for (let n = 0; n < 8_192; n++) await headersOf(2 + (n % 60), `x-${n}`);
    expect(await headersOf(1, 'ru')).not.toBe(first);
  });

  test('is read for a link that is new, whatever was read before', async () => {
    const at = storeWith([ride(1)]);
    await at.rides.on(fetchOf(), WAY, 150);
    at.found = { ...at.found, version: 2, rides: [ride(2)] };
    const { rides: _rides, ...link } = fetchOf().link;
    const fetch = fetchOf({}, { link: { ...link, isNew: true } });
    expect(said(await at.rides.on(fetch, WAY, 150))).toBe('text 2');
  });

  test('is read once for many that ask at once, and again for what it could not know', async () => {
    const at = storeWith([ride(1)]);
    const open: (() => void)[] = [];
    const slow = {
      ...at.store,
      findRides: () =>
        new Promise<ProviderRides>((resolve) => {
          const found = at.store.findRides() as ProviderRides;
          open.push(() => resolve(found));
        }),
    };
    const rides = new Rides(slow);
    const early = [rides.on(fetchOf(), WAY, 150), rides.on(fetchOf(), WAY, 150)];
    at.found = { ...at.found, version: 2, rides: [ride(2)] };
    const late = rides.on(fetchOf({ version: 2 }), WAY, 150);
    expect(at.reads.general).toBe(1);
    open.shift()?.();
    expect((await Promise.all(early)).map(said)).toEqual(['text 1', 'text 1']);
    expect(at.reads.general).toBe(2);
    open.shift()?.();
    expect(said(await late)).toBe('text 2');
  });

  test('a failed read is tried again', async () => {
    const at = storeWith([ride(1)]);
    let isAway = true;
    const rides = new Rides({
      ...at.store,
      findRides: async () => (isAway ? Promise.reject(new Error('away')) : at.found),
    });
    await expect(Promise.resolve(rides.on(fetchOf(), WAY, 150))).rejects.toThrow('away');
    isAway = false;
    expect(said(await rides.on(fetchOf(), WAY, 150))).toBe('text 1');
  });
});

describe('what names devices', () => {
  const named = { namedUntilMs: 200 };

  test('is read where the door has the mark, on the home link, if anything may ride', async () => {
    const at = storeWith([]);
    at.named = [ride(9, { os: null })];
    const on = (door: Partial<DoorRides>, way = WAY, more: Partial<Fetch> = {}) =>
      at.rides.on(fetchOf(door, more), way, 150);
    for (const none of [
      await on({}),
      await on({ namedUntilMs: 150 }),
      await on({ ...named, homeSinceMs: null }),
      await on({ ...named, deviceId: null }),
      await on(named, { ...WAY, level: 'off' }),
      await on(named, WAY, { isShared: true }),
    ]) {
      expect(none).toBeNull();
    }
    expect(at.reads.named).toBe(0);
    expect(said(await on(named))).toBe('text 9');
    expect(await on({ ...named, homeSinceMs: 10 })).toBeNull();
    expect(at.reads).toEqual({ general: 1, named: 2 });
  });

  test('is rendered for its device alone', async () => {
    const at = storeWith([ride(1)]);
    at.named = [ride(9, { os: null })];
    expect(said(await at.rides.on(fetchOf(named), WAY, 150))).toBe('text 9');
    at.named = [];
    expect(said(await at.rides.on(fetchOf(named), WAY, 150))).toBe('text 1');
  });
});

test('the lower level holds, that of the way or that of the provider', async () => {
  const off = storeWith([ride(1)], { ride: 'off' });
  expect(await off.rides.on(fetchOf(), WAY, 150)).toBeNull();
  const at = storeWith([ride(1)]);
  expect(await at.rides.on(fetchOf(), { ...WAY, level: 'off' }, 150)).toBeNull();
});

test('buttons: those of the link before those of the provider, whatever rides', async () => {
  const ofProvider = { supportUrl: 'https://p.example/', webPageUrl: 'https://w.example/' };
  const at = storeWith([], { ...ofProvider, buttonsAlways: true });
  const off = { ...WAY, level: 'off' as const };
  const riders = await at.rides.on(fetchOf({ supportUrl: 'https://l.example/' }), off, 150);
  expect(riders).toMatchObject({
    isDue: false,
    headers: {},
    buttons: { supportUrl: 'https://l.example/', webPageUrl: 'https://w.example/' },
    buttonsAlways: true,
  });
});

test('an app that shows nothing: something is due, without headers', async () => {
  const at = storeWith([ride(1)]);
  const facts = { ...FACTS, userAgent: 'v2rayNG/1.10.20' };
  const fetch = fetchOf();
  const riders = await at.rides.on({ ...fetch, link: { ...fetch.link, facts } }, WAY, 150);
  expect(riders).toMatchObject({ app: 'v2rayNG', isDue: true, headers: {}, carried: [] });
});

test('what is kept is bounded: languages of callers, and messages of providers', async () => {
  const at = storeWith([ride(1)]);
  const render = (language: string) =>
    at.rides.on(fetchOf({}, { languages: () => [language] }), WAY, 150);
  const first = await render('de');
  for (let count = 0; count < 300; count++) await render(`x-${count}`);
  expect((await render('de'))?.headers).not.toBe(first?.headers ?? {});
  const long = 'x'.repeat(600);
  expect((await render(long))?.headers).not.toBe((await render(long))?.headers ?? {});

  at.found = { ...at.found, rides: [ride(1, { payload: payload('y'.repeat(3_000_000)) })] };
  const of = (providerId: number) => {
    const fetch = fetchOf();
    return at.rides.on({ ...fetch, link: { ...fetch.link, providerId } }, WAY, 150);
  };
  const before = at.reads.general;
  for (const id of [11, 12, 13, 11, 12, 13]) await of(id);
  expect(at.reads.general - before).toBe(3 + 3);
});

describe('placeholders', () => {
  const DAY_MS = 86_400_000;
  const facts = (greeting: string): LinkFacts => ({
    endsAtMs: 3 * DAY_MS,
    totalBytes: 2 ** 31,
    usedBytes: 2 ** 30,
    readAtMs: 0,
    deviceCount: 2,
    installLimit: 3,
    greeting,
    timeZone: null,
  });
  const body = '{greeting|friend}: {days_left|soon}, {traffic_left|some}, {devices}/{limit}';
  const asked = (more: object) => JSON.stringify({ body, type_push: 'optional', ...more });

  test('are filled with the link of each answer, which no other answer has', async () => {
    const at = storeWith([ride(1, { payload: asked({ fill: 1 }) })]);
    const of = async (greeting: string, more: Partial<Fetch> = {}) => {
      at.facts = facts(greeting);
      return said(await at.rides.on(fetchOf({}, more), WAY, 150));
    };
    expect(await of('Anna')).toBe('Anna: 3 days, 1 GB, 2/3');
    expect(await of('Boris')).toBe('Boris: 3 days, 1 GB, 2/3');
    // Apps without a HWID share a device: the address alone shows no figures.
    expect(await of('Anna', { isShared: true })).toBe('Anna: soon, some, 2/3');
    at.facts = null;
    expect(said(await at.rides.on(fetchOf(), WAY, 150))).toBe('friend: soon, some, –/–');
    expect(at.reads).toEqual({ general: 1, named: 0 });
  });

  test('stay as they are without the mark, and nothing more is read', async () => {
    const at = storeWith([ride(1, { payload: asked({}) })]);
    expect(said(await at.rides.on(fetchOf(), WAY, 150))).toBe(body);
    expect(at.factReads).toBe(0);
  });

  test('keep the bound of what apps show once they are filled', async () => {
    const long = `${'word '.repeat(36)}{greeting} {greeting} {greeting}`;
    const at = storeWith([ride(1, { payload: asked({ body: long, fill: 1 }) })]);
    at.facts = facts('G'.repeat(40));
    const text = said(await at.rides.on(fetchOf(), WAY, 150)) ?? '';
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text).toEndWith('…');
  });
});
