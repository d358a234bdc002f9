/** Odd values in messages: no header is split, none is over its bound. */

import { expect, test } from 'bun:test';
import { APPS } from '../../src/core/app/table.ts';
import { SETTING_KEYS } from '../../src/core/message/setting-table.ts';
import { HEADERS_BYTES_MAX, type Riding, rideHeaders } from '../../src/core/ride/headers.ts';
import { partsOf, type RidingPayload } from '../../src/core/ride/parts.ts';
import { settingsOf } from '../../src/core/ride/setting.ts';
import { announceWith } from '../../src/core/ride/text.ts';
import { Random } from '../support/random.ts';

const PIECES = [
  ...['搬家'.repeat(50), '搬'.repeat(200), 'Переезд '.repeat(20), '\u0301'.repeat(300)],
  ...['\r\n', '\n', '\r', '\0', '\t', ' ', ':', ';', ',', '"', '\\', '%0d%0a', '\u2028', '\u0085'],
  ...[
    'set-cookie: a=b',
    'x-hwid-limit: true',
    'base64:',
    '0',
    'announce',
    'providerid',
    '__proto__',
  ],
  ...[
    'Слово',
    '搬家',
    'می\u200cشود',
    '👨‍👩‍👧',
    '🇷🇺',
    'e\u0301'.repeat(9),
    '\ud83d',
    '\udc00',
    '\ufeff',
    'ÿ',
  ],
  ...['<b>', '</p><p>', '<br>', '&amp;', '<a href="https://a.example">', 'x'.repeat(90), '9', '-'],
  ...['https://a.example/', 'tg://resolve', 'javascript:', '@', '#', '?', 'new.example', '[::1]'],
];
const KEYS = [
  ...new Set([
    ...SETTING_KEYS.map(({ key }) => key),
    ...APPS.flatMap((app) => settingsOf(app).map(({ key }) => key)),
    ...['announce', 'set-cookie', 'providerid', 'new-url', '__proto__', 'x-hwid-limit'],
  ]),
];
const LANGUAGES = ['ru', 'EN', 'CN', 'fa-IR', '__proto__', '', 'x\r\ny', 'zh_Hant_TW'];
const HOSTS = ['new.example', 'a.example'];

const random = new Random(22);
const word = (most: number) =>
  Array.from({ length: random.int(0, most) }, () => random.pick(PIECES)).join('');
/** Values that fit some setting. */
const FITTING = [
  ...['com.a.b,'.repeat(110), 'x'.repeat(250), `https://a.example/${'y'.repeat(400)}`],
  ...[
    true,
    false,
    0,
    1,
    'on',
    '',
    '3-9',
    ' 50 - 100 ',
    'tlshello',
    '1-3',
    'lastused',
    'tcp',
    'icon',
  ],
  ...[
    'off',
    'bypass',
    '77.88.8.8',
    'https://dns.example/q',
    'com.a.b, com.c',
    '10.0.0.0/8',
    'rand',
  ],
];
const value = (): unknown =>
  random.pick([
    () => random.pick<unknown>(FITTING),
    () => word(random.pick([2, 6, 40])),
    () => random.pick<unknown>([null, {}, [], -1, 1e21, 0.5]),
  ])();

function note(): RidingPayload {
  const locale = () => ({ title: word(9), body: word(60), 'link-for-open': word(5) });
  return {
    title: word(20),
    body: word(100),
    type_push: random.pick(['force', 'optional']),
    expire_days: 1,
    link_for_open: random.chance(0.5) ? `https://a.example/${word(30)}` : word(5),
    locales: { RU: locale(), CN: locale(), [random.pick(['FA', 'constructor'])]: locale() },
  };
}

function command(): RidingPayload {
  const change = () => ({
    action_type: 'sub-change',
    change_type: random.pick(['domain', 'url']),
    change_value: random.chance(0.4) ? `https://a.example/${word(9)}` : word(5),
  });
  const settings = () => ({
    action_type: 'set-settings',
    settings: Object.fromEntries(
      Array.from({ length: random.int(1, 30) }, () => [random.pick(KEYS), value()]),
    ),
  });
  return random.pick([change, settings, settings])() as RidingPayload;
}

function rides(): Riding[] {
  return Array.from({ length: random.int(1, 4) }, (_, at) => {
    const payload = random.chance(0.5) ? note() : command();
    const phase = random.chance(0.15) ? ('clears' as const) : ('rides' as const);
    const parts = 'action_type' in payload ? partsOf(20, payload) : ['message'];
    return parts.map((part) => ({ distributionId: at + 1, part, payload, phase }));
  }).flat();
}

/** Headers that an app may get by the table. */
const tableOf = new Map(
  [null, ...APPS].map((app) => [
    app,
    new Set([
      'announce',
      ...(app?.name === 'Happ' ? ['providerid'] : []),
      ...(app?.reads ?? []).map((row) => row.header),
      ...settingsOf(app).flatMap((row) => row.headers.map(({ header }) => header)),
    ]),
  ]),
);

const LONGEST: Readonly<Record<string, number>> = {
  announce: 2007,
  'sub-info-text': 807,
  'sub-info-button-text': 107,
  'announce-url': 512,
  'sub-info-button-link': 512,
  'new-url': 512,
  'new-domain': 253,
  'change-user-agent': 256,
};

const textOf = (announce: string) => Buffer.from(announce.slice(7), 'base64').toString();

function expectShown(text: string, lengthMax = 200) {
  expect(text.length).toBeLessThanOrEqual(lengthMax);
  expect(text.split('\n').length).toBeLessThanOrEqual(5);
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toMatch(/[^\P{Cc}\n]/u);
}

test('2,000 odd messages: headers are in the table, in ASCII, one line each, within 2 KB', () => {
  let headersSeen = 0;
  let fullest = 0;
  for (let at = 0; at < 2000; at++) {
    const app = random.pick([null, ...APPS, ...Array(8).fill(APPS.slice(0, 4)).flat()]);
    const languages = [random.pick(LANGUAGES), random.pick(LANGUAGES)];
    const providerId = random.pick([null, 'Ab12Cd34', 'Ab12Cd34', word(2)]);
    const made = rideHeaders(rides(), { app, languages, providerId, hosts: HOSTS });
    const entries = Object.entries(made.headers);
    headersSeen += entries.length;

    // Throws for what no header may have; the wire has what was given.
    expect(Object.fromEntries(new Headers(made.headers))).toEqual(made.headers);
    for (const [name, sent] of entries) {
      expect(tableOf.get(app)?.has(name)).toBe(true);
      expect(sent).toMatch(/^(?:[!-~](?:[ -~]*[!-~])?)?$/);
      expect(sent.length).toBeLessThanOrEqual(LONGEST[name] ?? 1000);
    }
    const bytes = entries.reduce((sum, [name, sent]) => sum + `${name}: ${sent}\r\n`.length, 0);
    expect(bytes).toBeLessThanOrEqual(HEADERS_BYTES_MAX);
    fullest = Math.max(fullest, bytes);

    const { announce } = made.headers;
    // An app that keeps a text is sent an empty one.
    const isEmpty = announce === undefined || (announce === 'base64:' && app?.keepsText);
    expect(isEmpty).toBe(made.announceText === null);
    if (announce !== undefined && made.announceText !== null) {
      const lengthMax = app?.textLengthMax ?? 200;
      expect(textOf(announce)).toBe(made.announceText);
      expectShown(made.announceText, lengthMax);
      expectShown(textOf(announceWith(word(40), made.announceText, 'both')), lengthMax);
    }
    for (const { what } of made.carried) expect(what).toMatch(/^[a-z0-9, -]{6,48}$/);
  }
  expect(headersSeen).toBeGreaterThan(1500);
  expect(fullest).toBeGreaterThan(1600);
});
