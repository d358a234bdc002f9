/** What users see of messages that ride: rendered here, read by the rules of their apps. */

import { describe, expect, test } from 'bun:test';
import { appOf } from '../../src/core/app/find.ts';
import { APPS } from '../../src/core/app/table.ts';
import {
  HEADERS_BYTES_MAX,
  type RideTo,
  type Riding,
  rideHeaders,
} from '../../src/core/ride/headers.ts';
import { partsOf, type RidingPayload } from '../../src/core/ride/parts.ts';
import { announceWith } from '../../src/core/ride/text.ts';
import {
  LINKED_APPS,
  NOTHING,
  RIDING_APPS,
  ridingApp,
  SHOWING_APPS,
  type Shown,
} from '../support/riding-apps.ts';

const PROVIDER_ID = 'Ab12Cd34';
const LINK = 'https://shop.example/pay?id=7';

const NOTE = {
  title: 'Moving',
  body: 'We <b>move</b> tonight.<br>Stay &amp; wait',
  type_push: 'optional',
  expire_days: 3,
  link_for_open: LINK,
  locales: {
    RU: { title: 'Переезд', body: 'Мы <b>переезжаем</b> 🚚' },
    CN: { body: '今晚搬家' },
    FA: {
      title: 'جابجایی',
      body: 'امشب جابجا می\u200cشویم',
      'link-for-open': 'tg://resolve?domain=x',
    },
  },
};

const riding = (payload: unknown, part = 'message', more: Partial<Riding> = {}): Riding => ({
  distributionId: 7,
  part,
  payload: payload as RidingPayload,
  phase: 'rides',
  ...more,
});

const to = (agent: string, more: Partial<RideTo> = {}): RideTo => ({
  app: appOf(agent),
  languages: ['en'],
  providerId: null,
  hosts: [],
  ...more,
});

/** What the user of an app sees of these rides. */
function seen(
  name: string,
  rides: readonly Riding[],
  more: Partial<RideTo> = {},
  before = NOTHING,
) {
  const app = ridingApp(name);
  return app.shows(new Headers(rideHeaders(rides, to(app.userAgent, more)).headers), before);
}

const sees = (shown: Partial<Shown>): Shown => ({ ...NOTHING, ...shown });

const settings = (values: Record<string, unknown>): Riding[] =>
  partsOf(20, { action_type: 'set-settings', settings: values }).map((part) =>
    riding({ action_type: 'set-settings', settings: values }, part),
  );

const change = (type: string, value: string) =>
  riding({ action_type: 'sub-change', change_type: type, change_value: value }, type);

describe('a notification', () => {
  const ENGLISH = 'Moving\nWe move tonight.\nStay & wait';

  test.each([
    ['en', ENGLISH],
    ['ru-RU', 'Переезд\nМы переезжаем 🚚'],
    ['zh-CN', 'Moving\n今晚搬家'],
    ['cn', 'Moving\n今晚搬家'],
    ['fa', 'جابجایی\nامشب جابجا می\u200cشویم'],
    ['de', ENGLISH],
  ])('in %s', (language, announcement) => {
    const link = language === 'fa' ? 'tg://resolve?domain=x' : LINK;
    for (const { name } of RIDING_APPS) {
      const shown = seen(name, [riding(NOTE)], { languages: [language] });
      // Clod Clash takes links of https alone.
      const isRead = LINKED_APPS.includes(name) && !(name.startsWith('Clod') && language === 'fa');
      if (SHOWING_APPS.includes(name)) {
        expect([name, shown]).toEqual([name, sees({ announcement, link: isRead ? link : null })]);
      } else if (shown !== null) expect(shown).toEqual(NOTHING);
    }
  });

  test('of 300 characters ends at a word with an ellipsis, in every app', () => {
    const body = 'слова и слова '.repeat(30);
    for (const name of ['Happ', 'INCY', 'FlClashX', 'Koala Clash', 'Prizrak-Box']) {
      const text = seen(name, [riding({ ...NOTE, body, locales: {} })])?.announcement ?? '';
      expect(text).toMatch(/^Moving\n(?:слова|и)(?: (?:слова|и))*…$/);
      expect([...text].length).toBeGreaterThan(190);
    }
  });

  test('of more than five lines ends in the fifth', () => {
    const body = '<p>1</p><p>2</p><p>3</p><p>4</p><p>5</p>';
    const text = seen('INCY', [riding({ ...NOTE, body })])?.announcement;
    expect(text).toBe('Moving\n1\n2\n3\n4…');
  });

  test('of an image alone does not ride', () => {
    const body = '<img src="https://img.example/a.png">';
    const image = riding({ body, type_push: 'force', expire_days: 1 });
    expect(rideHeaders([image], to('x'))).toEqual({ headers: {}, announceText: null, carried: [] });
  });

  test('keeps its title in one line', () => {
    const note = riding({ ...NOTE, title: ' a\r\nb\0\u2028c ', body: 'd', locales: {} });
    expect(seen('INCY', [note])?.announcement).toBe('a b c\nd');
  });

  test('reaches an unknown app as an announcement alone, and a silent one not at all', () => {
    const { headers, announceText, carried } = rideHeaders([riding(NOTE)], to('Streisand/1'));
    expect(headers).toEqual({ announce: `base64:${Buffer.from(ENGLISH).toString('base64')}` });
    expect(announceText).toBe(ENGLISH);
    expect(carried).toEqual([{ distributionId: 7, what: 'announce' }]);
    expect(rideHeaders([riding(NOTE)], to('Karing/1.2'))).toEqual({
      headers: {},
      announceText: null,
      carried: [],
    });
  });

  test('a link is in ASCII, or left out', () => {
    const linked = (link: string) => seen('INCY', [riding({ ...NOTE, link_for_open: link })])?.link;
    expect(linked('https://магазин.example/оплата')).toBe(
      'https://xn--80aairftm.example/%D0%BE%D0%BF%D0%BB%D0%B0%D1%82%D0%B0',
    );
    expect(linked('happ://add/x')).toBe('happ://add/x');
    for (const odd of ['javascript:alert(1)', `https://a.example/${'x'.repeat(600)}`, 'a b']) {
      expect(linked(odd)).toBeNull();
    }
  });

  test('of two the first one rides', () => {
    const rides = [
      riding(NOTE),
      riding({ ...NOTE, title: 'Older' }, 'message', { distributionId: 6 }),
    ];
    const { announceText, carried } = rideHeaders(rides, to('Happ/4', { providerId: PROVIDER_ID }));
    expect(announceText).toBe(ENGLISH);
    expect(carried).toEqual([{ distributionId: 7, what: 'announce, sub-info' }]);
  });

  test("stands beside a panel's own announcement", () => {
    const { announceText } = rideHeaders([riding(NOTE)], to('INCY/1'));
    const announce = announceWith('Pay by Friday', announceText ?? '', 'both');
    expect(ridingApp('INCY').shows(new Headers({ announce }))?.announcement).toBe(
      `${ENGLISH}\nPay by Friday`,
    );
  });
});

describe('the box of Happ', () => {
  const boxed = { providerId: PROVIDER_ID };

  test.each([
    ['en', 'Open'],
    ['ru', 'Открыть'],
    ['zh-CN', '打开'],
    ['fa-IR', 'باز کردن'],
    ['de', 'Open'],
  ])('has a button in %s: %s', (language, button) => {
    const shown = seen('Happ', [riding(NOTE)], { ...boxed, languages: [language] });
    const text = shown?.announcement ?? '';
    const link = language.startsWith('fa') ? 'tg://resolve?domain=x' : LINK;
    expect(shown?.box).toEqual({ text, color: 'blue', button, link });
  });

  test('is red for a forced message, and absent without a Provider ID', () => {
    const forced = riding({ ...NOTE, type_push: 'force' });
    expect(seen('Happ', [forced], boxed)?.box?.color).toBe('red');
    expect(seen('Happ', [forced])?.box).toBeNull();
    expect(rideHeaders([forced], to('INCY/1', boxed)).headers).not.toContainKey('providerid');
    for (const odd of ['', 'a b', 'a\r\nb', 'ё', 'x'.repeat(65)]) {
      const { headers } = rideHeaders([forced], to('Happ/4', { providerId: odd }));
      expect(Object.keys(headers)).toEqual(['announce']);
    }
  });

  test('goes with the end of the message, and its button with one that has no link', () => {
    const before = seen('Happ', [riding(NOTE)], boxed) ?? NOTHING;
    expect(before.box).not.toBeNull();
    const ended = [riding(NOTE, 'message', { phase: 'clears' })];
    expect(rideHeaders(ended, to('Happ/4', boxed))).toEqual({
      headers: { providerid: PROVIDER_ID, 'sub-info-text': '' },
      announceText: null,
      carried: [],
    });
    expect(seen('Happ', ended, boxed, before)).toEqual(NOTHING);
    expect(rideHeaders(ended, to('Happ/4')).headers).toEqual({});
    expect(rideHeaders(ended, to('INCY/1', boxed)).headers).toEqual({});
    const { link_for_open: _, ...bare } = NOTE;
    const next = seen('Happ', [riding(bare)], boxed, before);
    expect(next?.box).toEqual({ ...before.box, button: null, link: LINK } as never);
  });

  test('stays while a newer message rides, whatever has ended', () => {
    const rides = [riding(NOTE, 'message', { phase: 'clears', distributionId: 6 }), riding(NOTE)];
    expect(seen('Happ', rides, boxed)?.box?.text).toContain('Moving');
  });

  test('leaves its button out if the link has no room', () => {
    const link = `https://shop.example/${'x'.repeat(480)}`;
    const body = '服务器'.repeat(100);
    const note = riding({ ...NOTE, body, locales: {}, link_for_open: link });
    const box = seen('Happ', [note], boxed)?.box;
    expect(box?.text).toHaveLength(200);
    expect(box?.button).toBeNull();
  });
});

describe('settings', () => {
  const VALUES = {
    'fragmentation-enable': 'on',
    'fragmentation-packets': '1-3',
    'fragmentation-length': ' 50 - 100',
    'fragmentation-interval': 5,
    'subscription-autoconnect': true,
    'ping-type': 'proxy-head',
    'per-app-proxy-mode': 'on',
    'per-app-proxy-list': 'com.a.b, com.c\norg.d',
    'change-user-agent': 'Mozilla/5.0 (X11)',
    'my.own': 'x',
    'local-dns-enable': true,
  };
  const open = { providerId: PROVIDER_ID };

  test('ride as each app names and values them', () => {
    expect(seen('Happ', settings(VALUES), open)?.settings).toEqual({
      'fragmentation-enable': '1',
      'fragmentation-packets': '1-3',
      'fragmentation-length': '50-100',
      'fragmentation-interval': '5',
      'subscription-autoconnect': '1',
      'ping-type': 'proxy-head',
      'per-app-proxy-mode': 'on',
      'per-app-proxy-list': 'com.a.b,com.c,org.d',
      'change-user-agent': 'Mozilla/5.0 (X11)',
    });
    expect(seen('INCY', settings(VALUES))?.settings).toEqual({
      'fragmentation-enable': '1',
      'fragmentation-packets': '1-3',
      'fragmentation-length': '50-100',
      'fragmentation-interval': '5-5',
      'per-app-proxy-enable': '1',
      'per-app-proxy-mode': 'proxy',
      'per-app-proxy-list': 'com.a.b,com.c,org.d',
    });
    for (const agent of ['Happ/4', 'koala-clash/1', 'FlClash X/1', 'x']) {
      expect(rideHeaders(settings(VALUES), to(agent)).headers).toEqual({});
    }
  });

  test('are stamped by name, or counted', () => {
    const carried = (values: Record<string, unknown>) =>
      rideHeaders(settings(values), to('Happ/4', open)).carried;
    expect(carried({ 'ping-type': 'tcp', 'mux-enable': 0 })).toEqual([
      { distributionId: 7, what: 'ping-type, mux-enable' },
    ]);
    expect(carried(VALUES)).toEqual([{ distributionId: 7, what: '9 settings' }]);
    expect(carried({ 'my.own': 1 })).toEqual([]);
  });

  test('ride once a key, the first one, and not after their end', () => {
    const [newer] = settings({ 'ping-type': 'tcp' });
    const [older] = settings({ 'ping-type': 'icmp' });
    if (newer === undefined || older === undefined) throw new Error('no ride');
    const both = [newer, { ...older, distributionId: 6 }];
    const { headers, carried } = rideHeaders(both, to('Happ/4', open));
    expect(headers).toEqual({ providerid: PROVIDER_ID, 'ping-type': 'tcp' });
    expect(carried).toEqual([{ distributionId: 7, what: 'ping-type' }]);
    const ended = rideHeaders([{ ...newer, phase: 'clears' }], to('Happ/4', open));
    expect(ended).toEqual({ headers: {}, announceText: null, carried: [] });
  });

  test('are taken back by an empty header of Happ, and in INCY without a header', () => {
    const before = seen('Happ', settings(VALUES), open) ?? NOTHING;
    const back = settings({ 'ping-type': '', 'per-app-proxy-mode': '' });
    expect(seen('Happ', back, open, before)?.settings).not.toContainAnyKeys([
      ...['ping-type', 'per-app-proxy-mode'],
    ]);
    const { headers, carried } = rideHeaders(back, to('INCY/1'));
    expect(headers).toEqual({});
    expect(carried).toEqual([{ distributionId: 7, what: 'per-app-proxy-mode' }]);
  });

  test.each([
    ['mode off', { 'per-app-proxy-mode': 'off' }, { 'per-app-proxy-enable': '0' }],
    ['another choice', { 'fragmentation-packets': '1-2' }, {}],
    ['a range backwards', { 'fragmentation-length': '9-1' }, {}],
    ['an address', { 'server-address-resolve-dns-ip': '77.88.8.8' }, null],
    ['IPv6', { 'server-address-resolve-dns-ip': '2a02:6b8::feed:ff' }, null],
    ['no address', { 'server-address-resolve-dns-ip': '77.88.8.888' }, {}],
    ['a port', { 'server-address-resolve-dns-ip': '77.88.8.8:53' }, {}],
    ['a URL', { 'server-address-resolve-dns-domain': 'https://dns.example/q' }, null],
    ['no URL', { 'server-address-resolve-dns-domain': 'dns.example' }, {}],
    ['no app', { 'per-app-proxy-list': 'com.a b;c' }, {}],
    ['a longer list', { 'per-app-proxy-list': 'com.a.b,'.repeat(130) }, {}],
    ['an object', { 'fragmentation-enable': {} }, {}],
  ])('INCY: %s', (_, values, headers) => {
    const carriage = rideHeaders(settings(values), to('INCY/1'));
    expect(carriage.headers).toEqual((headers ?? values) as Record<string, string>);
    expect(carriage.carried).toHaveLength(Object.keys(headers ?? values).length === 0 ? 0 : 1);
  });

  test.each([
    ['numbers within bounds', { 'mux-tcp-connections': -1 }, '-1'],
    ['numbers outside', { 'mux-tcp-connections': 1025 }, undefined],
    ['a name that only opens', { 'subscriptions-expand-now': false }, undefined],
    [
      'networks',
      { 'exclude-routes': '192.168.1.0/24, fd00::/8 10.0.0.1' },
      '192.168.1.0/24, fd00::/8 10.0.0.1',
    ],
    ['too many networks', { 'exclude-routes': '10.0.0.0/8,'.repeat(99).slice(0, -1) }, undefined],
    ['no networks', { 'exclude-routes': '10.0.0.0/8/8' }, undefined],
    ['an agent of 256', { 'change-user-agent': 'x'.repeat(256) }, 'x'.repeat(256)],
    ['an agent of 257', { 'change-user-agent': 'x'.repeat(257) }, undefined],
    ['an agent with a line break', { 'change-user-agent': 'a\r\nset-cookie: b' }, undefined],
    ['an agent that is not ASCII', { 'change-user-agent': 'Хром' }, undefined],
  ])('Happ: %s', (_, values, header) => {
    const { headers } = rideHeaders(settings(values), to('Happ/4', open));
    expect(headers[Object.keys(values)[0] ?? '']).toBe(header as string);
  });
});

describe('a new domain or URL', () => {
  const hosts = ['new.example', 'xn--e1afmkfd.example'];
  const moved = (ride: Riding, name = 'Happ') =>
    seen(name, [ride], { providerId: PROVIDER_ID, hosts })?.moved;

  test('rides to the apps that take it, with a host of the operator’s file', () => {
    expect(moved(change('domain', 'New.example'))).toBe('new.example');
    expect(moved(change('domain', 'пример.example'))).toBe('xn--e1afmkfd.example');
    expect(moved(change('domain', 'new.example'), 'Koala Clash')).toBe('new.example');
    for (const name of ['Prizrak-Box', 'Clod Clash', 'Clod Clash for Android', 'FlClashX']) {
      expect(moved(change('domain', 'new.example'), name)).toBe('new.example');
      const url = name === 'FlClashX' ? null : 'https://new.example/1';
      expect(moved(change('url', 'https://new.example/1'), name)).toBe(url as string);
    }
    expect(moved(change('domain', 'new.example'), 'INCY')).toBeNull();
    expect(moved(change('url', 'https://new.example:8443/s/1'))).toBe(
      'https://new.example:8443/s/1',
    );
    expect(moved(change('url', 'https://new.example/1'), 'Koala Clash')).toBeNull();
    expect(seen('Happ', [change('domain', 'new.example')], { hosts })?.moved).toBeNull();
  });

  test.each([
    ['domain', 'evil.example'],
    ['domain', 'new.example:8443'],
    ['domain', 'new.example/x'],
    ['domain', 'a.new.example'],
    ['url', 'https://evil.example/'],
    ['url', 'https://new.example@evil.example/'],
    ['url', 'https://evil.example/@new.example'],
    ['url', 'https://user:pass@new.example/'],
    ['url', 'https://new.example\\@evil.example/'],
    ['url', 'happ://new.example/'],
    ['url', 'https://[::1]/'],
    ['url', `https://new.example/${'x'.repeat(600)}`],
  ])('%s %s does not ride', (type, value) => {
    const ride = change(type, value);
    expect(rideHeaders([ride], to('Happ/4', { providerId: PROVIDER_ID, hosts }))).toEqual({
      headers: {},
      announceText: null,
      carried: [],
    });
  });

  test.each([
    ['https://new.example\\.evil.example/1', 'https://new.example/.evil.example/1'],
    ['https:///new.example/1', 'https://new.example/1'],
    ['https:new.example/1', 'https://new.example/1'],
    ['https://new%2eexample/1', 'https://new.example/1'],
  ])('%s rides as every parser reads it', (value, expected) => {
    expect(moved(change('url', value))).toBe(expected);
  });

  test('an update of the subscription has no header, and is done by the fetch', () => {
    const update = riding({ action_type: 'update-subscription' }, 'update');
    expect(rideHeaders([update], to('x')).carried).toEqual([{ distributionId: 7, what: 'update' }]);
    expect(rideHeaders([update], to('x')).headers).toEqual({});
  });
});

test('the notification goes first, the others in their order, as far as there is room', () => {
  const list = { 'per-app-proxy-list': 'com.a.b,'.repeat(100) };
  const agent = { 'change-user-agent': 'x'.repeat(250) };
  const rides = [...settings(list), riding(NOTE), ...settings({ 'ping-type': 'tcp' })];
  const filled = [...rides, ...settings(agent), ...settings({ 'mux-enable': true })];
  const note = { ...NOTE, body: '服务器'.repeat(100), locales: {}, title: '' };
  const full = filled.map((ride) => (ride.part === 'message' ? riding(note) : ride));
  const { headers } = rideHeaders(full, to('Happ/4', { providerId: PROVIDER_ID }));
  const names = Object.keys(headers);
  expect(names[0]).toBe('announce');
  expect(names).not.toContain('per-app-proxy-list');
  expect(names.slice(-2)).toEqual(['ping-type', 'mux-enable']);
  const bytes = Object.entries(headers).join('').length;
  expect(bytes).toBeGreaterThan(1600);
  expect(bytes).toBeLessThanOrEqual(HEADERS_BYTES_MAX);
});

test('there is room for the longest text of a panel beside a short message', () => {
  const list = {
    'per-app-proxy-list': 'com.a.b,'.repeat(120),
    'change-user-agent': 'x'.repeat(250),
  };
  const note = riding({ body: 'Hi', type_push: 'force', expire_days: 1 });
  const { headers, announceText } = rideHeaders(
    [note, ...settings(list)],
    to('Happ/4', { providerId: PROVIDER_ID }),
  );
  expect(headers).toContainKeys(['sub-info-text', 'per-app-proxy-list']);
  const announce = announceWith('搬'.repeat(300), announceText ?? '', 'both');
  const bytes = Object.entries({ ...headers, announce }).map((pair) => pair.join(': ').length + 2);
  const total = bytes.reduce((sum, length) => sum + length, 0);
  expect(total).toBeGreaterThan(1850);
  expect(total).toBeLessThanOrEqual(HEADERS_BYTES_MAX);
});

test('every app of the table takes what it reads', () => {
  const more = { providerId: PROVIDER_ID, hosts: ['new.example'] };
  for (const app of APPS) {
    const rides = [
      riding(NOTE),
      change('domain', 'new.example'),
      change('url', 'https://new.example/'),
    ];
    const { headers } = rideHeaders(rides, { app, languages: [], ...more });
    expect(Object.keys(headers).filter((name) => name !== 'providerid')).toEqual(
      app.reads.map((row) => row.header),
    );
  }
});
