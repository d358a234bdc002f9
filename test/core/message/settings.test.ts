import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { SETTING_KEYS } from '../../../src/core/message/setting-table.ts';
import { CUSTOM_SETTING_KEY, readSettings } from '../../../src/core/message/settings.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { isMisfit, misfitOf } from '../../support/refusal.ts';
import { readText } from '../../support/tree.ts';

// The specification's table once more, by hand, so that a slip in the source does not go unnoticed.
const WORDS = ['true', 'false', '1', '0', 'on', 'off', 'yes', 'no'];
const FLAG = {
  good: [true, false, 1, 0, ...WORDS, ...WORDS.map((word) => word.toUpperCase()), 'True', 'oFf'],
  bad: ['y', 'enabled', 2, -1, 0.5, '01', ' true', 'true\n', 'ｔrue'],
};
const SIZE = {
  good: [
    ...[0, 1, 100, 999_999_999_999_999, '100', '1-3', '100-200', '5-5'],
    ...['1 - 2', '100 -200', ' 5 ', ' 1- 3 '],
  ],
  bad: [
    ...[' ', -1, 1.5, 1e15, '3-1', '3 - 1', '1-', '-1', '- 1', '1-2-3', 'a', '0x1', true],
    ...['1'.repeat(16), '1 2', '1-2 3', '1\t-2', '1-2\n'],
  ],
};
const TEXT = {
  good: ['x', 'Привет 😀', 'a,b c', 'true', '1\t2', 'one\r\ntwo', '\0'],
  bad: [1, 0, true, false],
};
const HEADER = {
  good: ['x', 'Mozilla/5.0 (X11)', 'Привет 😀', '1\t2'],
  bad: [1, true, 'a\rb', 'a\nb', '\r\n', 'a\r\nx-injected: 1', 'a\0b'],
};
const choice = (...values: string[]) => ({
  good: values,
  bad: ['other', `${values[0]} `, `${values[0]}\n`, values[0]?.toUpperCase(), 1, true],
});
const DOCUMENTED: Record<string, { good: unknown[]; bad: unknown[] }> = {
  'fragmentation-enable': FLAG,
  'fragmentation-packets': choice('tlshello', '1-3', '1-2', '1-5'),
  'fragmentation-length': SIZE,
  'fragmentation-interval': SIZE,
  'local-dns-enable': FLAG,
  'subscription-auto-update-enable': FLAG,
  'subscription-auto-update-open-enable': FLAG,
  'subscription-always-hwid-enable': FLAG,
  'subscription-autoconnect': FLAG,
  'subscription-ping-onopen-enabled': FLAG,
  'subscription-autoconnect-type': choice('lastused', 'lowestdelay', 'random'),
  'notification-subs-expire': FLAG,
  'check-url-via-proxy': TEXT,
  'ping-type': choice('proxy', 'tcp', 'icmp', 'proxy-head'),
  'fragmentation-type': choice('xray', 'advanced'),
  'fragmentation-advanced-param': TEXT,
  'change-user-agent': HEADER,
  'app-auto-start': FLAG,
  'server-address-resolve-enable': FLAG,
  'server-address-resolve-dns-ip': TEXT,
  'server-address-resolve-dns-domain': TEXT,
  'per-app-proxy-mode': choice('off', 'on', 'bypass'),
  'per-app-proxy-list': TEXT,
};
const BOUNDED = (min: number, max: number) => ({
  good: [min, max, `${min}`, `${max}`],
  bad: [min - 1, max + 1, `${max + 1}`, min + 0.5, '', ' ', 'x', true].filter((one) => one !== ''),
});
const LINK = { good: ['https://a.example/x'], bad: ['a.example', 'javascript:x', 1, true] };
const TEXTS = { good: ['x', 'Привет 😀'], bad: [1, false] };
const WORDS_OF = (length: number) => ({
  good: ['x', '😀'.repeat(length)],
  bad: ['x'.repeat(length + 1), 1, false],
});
const JSON_OR_TEXT = { good: [{ a: [1] }, {}, 'resetcolors'], bad: [1, true, [1]] };
/** The list of the newer documents, by hand too. */
const NEWER: Record<string, { good: unknown[]; bad: unknown[] }> = {
  'fragmentation-maxsplit': SIZE,
  'noises-enable': FLAG,
  'noises-packet-type': choice('array', 'str', 'hex', 'base64'),
  'noises-packet': TEXTS,
  'noises-delay': SIZE,
  'noises-rand': SIZE,
  'noises-rand-range': SIZE,
  'mux-enable': FLAG,
  'mux-tcp-connections': BOUNDED(-1, 1024),
  'mux-xudp-connections': BOUNDED(-1, 1024),
  'mux-quic': choice('reject', 'allow', 'skip'),
  'sniffing-enable': FLAG,
  'proxy-enable': FLAG,
  'tun-enable': FLAG,
  'tun-mode': choice('system', 'gvisor'),
  'tun-type': choice('singbox', 'tun2proxy', 'default'),
  'exclude-routes': TEXTS,
  'exclude-routes-set': TEXTS,
  'dns-from-json-enable': FLAG,
  'per-app-proxy-list-invert': TEXTS,
  'per-app-proxy-list-set': TEXTS,
  'include-all-networks-enable': FLAG,
  'exclude-local-networks-enable': FLAG,
  'exclude-apns-enable': FLAG,
  'proxy-ping-timeout': BOUNDED(5, 15),
  'ping-result': choice('time', 'icon'),
  'color-profile': JSON_OR_TEXT,
  'hide-settings': FLAG,
  'hide-vpn-icon': FLAG,
  'subscription-pin': FLAG,
  'subscriptions-collapse': FLAG,
  'subscriptions-expand-now': FLAG,
  'subscriptions-sort-type': choice('without', 'ping', 'alphabet'),
  'dont-use-filter': FLAG,
  'manual-block-user-agent': FLAG,
  'user-agent-geo-files': HEADER,
  'routing-enable': FLAG,
  'custom-tunnel-config': JSON_OR_TEXT,
  'sub-info-color': choice('red', 'blue', 'green'),
  'sub-info-text': WORDS_OF(200),
  'sub-info-button-text': WORDS_OF(25),
  'sub-info-button-link': LINK,
  'sub-expire': FLAG,
  'sub-expire-button-link': LINK,
  'new-url': LINK,
  'new-domain': TEXTS,
};
/** No documented key takes these. */
const NEVER_GOOD = [null, [], {}, ['x'], { a: 1 }, 'half \ud83d', Number.POSITIVE_INFINITY];

/** One row for each value: a bare array in a table would be spread over the arguments. */
const rows = (...values: unknown[]) => values.map((value) => [value]);

const refused = (settings: unknown) => misfitOf(readSettings(settings));

const keysOf = (isNewer: boolean) =>
  SETTING_KEYS.filter((row) => (row.isNewer ?? false) === isNewer).map((row) => row.key);

test('the table has the keys of the specification in its order, and the newer ones', () => {
  expect(keysOf(false)).toEqual(Object.keys(DOCUMENTED));
  expect(keysOf(true)).toEqual(Object.keys(NEWER));
});

describe.each(Object.entries(NEWER))('%s, of newer documents', (key, { good, bad }) => {
  test.each([...good, ''].map((value) => [value]))('takes %j', (value) => {
    expect(readSettings({ [key]: value })).toEqual({ settings: { [key]: value } as never });
  });

  test.each([...bad, null, []].map((value) => [value]))('passes %j on, and says so', (value) => {
    expect(readSettings({ [key]: value })).toEqual({
      settings: { [key]: value } as never,
      note: expect.stringMatching(
        new RegExp(`^settings key ${key} should be [ -~]+; it was passed on as it is$`),
      ),
    });
  });
});

test('of newer keys the first that does not fit is named, behind what was left out', () => {
  const read = readSettings(
    JSON.parse('{"a b":1,"mux-quic":"maybe","ping-type":"tcp","tun-mode":7,"mux-enable":[1e999]}'),
  );
  expect(read).toEqual({
    settings: { 'mux-quic': 'maybe', 'ping-type': 'tcp', 'tun-mode': 7 },
    note: 'settings key ab must be 1 to 64 letters, digits, dots, hyphens and underscores; it was left out, and so were 1 more; settings key mux-quic should be one of reject, allow, skip; it was passed on as it is, as were 1 more',
  });
  expect(refused({ 'mux-quic': 'maybe', 'ping-type': 'udp' })).toContain('ping-type');
});

describe.each(Object.entries(DOCUMENTED))('%s', (key, { good, bad }) => {
  test.each([...good, ''].map((value) => [value]))(
    'takes %j and delivers it in its type',
    (value) => {
      expect(readSettings({ [key]: value })).toEqual({ settings: { [key]: value } as never });
    },
  );

  test.each([...bad, ...NEVER_GOOD].map((value) => [value]))('refuses %j by name', (value) => {
    expect(refused({ [key]: value })).toStartWith(`settings key ${key} must`);
    expect(refused({ 'my-key': 'x', [key]: value })).toContain(key);
  });
});

test('the rule of a switch names all its words', () => {
  for (const word of WORDS) {
    expect(refused({ 'subscription-autoconnect': 'enabled' })).toMatch(new RegExp(`\\b${word}\\b`));
  }
});

/** Settings with one that is documented beside what may be left out. */
const beside = (odd: string) => JSON.parse(`{"ping-type":"tcp",${odd}}`);

describe('custom keys', () => {
  test.each(['x', '0', 'My.Key_1-2', 'a'.repeat(64), 'constructor', 'toString', 'hasOwnProperty'])(
    '%s takes any JSON value, which is passed on as it is',
    (key) => {
      const tunnel = { mode: 'tun', routes: [{ to: '10.0.0.0/8', via: null }], '': {} };
      const values = ['', 'x', 'a\r\nb\0', -1.5, 0, true, false, null, [], {}, tunnel, [[tunnel]]];
      for (const value of values) {
        const read = readSettings({ [key]: value });
        expect(JSON.stringify(read)).toBe(JSON.stringify({ settings: { [key]: value } }));
      }
    },
  );

  test('nested as deep as JSON may be, with the name of a prototype inside', () => {
    const json = `{"x":${'{"__proto__":['.repeat(15)}1${']}'.repeat(15)}}`;
    const read = readSettings(JSON.parse(json));
    expect(JSON.stringify(read)).toBe(`{"settings":${json}}`);
  });

  test.each(['', '-x', '.x', '_x', '__proto__', 'a b', 'a\r\nb', 'a:b', 'ключ', 'a'.repeat(65)])(
    '%j is no key: it is left out, and alone it is refused',
    (key) => {
      const odd = `${JSON.stringify(key)}:{"polluted":true}`;
      expect(refused(JSON.parse(`{${odd}}`))).toContain('must be 1 to 64');
      expect(readSettings(beside(odd))).toEqual({
        settings: { 'ping-type': 'tcp' },
        note: expect.stringMatching(
          /^settings key [!-~]* must be 1 to 64 [ -~]*; it was left out$/,
        ),
      });
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    },
  );

  test.each(['1e999', '[1,[-1e999]]', '"\\ud83d"', '{"a":["x","\\udc00"]}', '{"\\ud83d":1}'])(
    'a value that JSON cannot carry to a device is left out: %s',
    (json) => {
      expect(refused(JSON.parse(`{"mine":${json}}`))).toStartWith('settings key mine must hold');
      expect(readSettings(beside(`"mine":${json}`))).toEqual({
        settings: { 'ping-type': 'tcp' },
        note: expect.stringContaining('settings key mine must hold'),
      });
    },
  );

  test('the first of several is named, and the others are counted', () => {
    const read = readSettings(beside('"a b":1,"ключ":2,"c d":3,"fine":4'));
    expect(read).toMatchObject({ settings: { 'ping-type': 'tcp', fine: 4 } });
    expect((read as { note: string }).note).toMatch(
      /^settings key ab .*; it was left out, and so were 2 more$/,
    );
  });

  test('a wrong value of a documented key refuses the set, whatever is odd beside it', () => {
    expect(refused({ 'a b': 1, x: 1, 'ping-type': 'udp' })).toContain('ping-type');
  });

  test('a long or strange key is not repeated in full', () => {
    expect(refused({ ['x'.repeat(100_000)]: 1 }).length).toBeLessThan(200);
    expect(refused({ 'Привет\r\nx-injected: 1': 1 })).toStartWith('settings key x-injected:1 must');
  });

  test('a key named constructor changes nothing but itself', () => {
    const read = readSettings(JSON.parse('{"constructor":"x"}'));
    expect(Object.getPrototypeOf((read as { settings: object }).settings)).toBe(Object.prototype);
    expect({}.constructor).toBe(Object);
  });
});

describe('the object', () => {
  test.each(
    rows(
      undefined,
      null,
      '',
      ' ',
      {},
      [],
      ['x'],
      1,
      true,
      'x',
      '[]',
      '{}',
      'null',
      '{"a":',
      '"{}"',
    ),
  )('%j is empty', (settings) => {
    expect(readSettings(settings)).toMatchObject({ says: 'settings_empty' });
  });

  test('may come as a string of JSON', () => {
    const settings = { 'ping-type': 'tcp', 'fragmentation-length': 10, x: true };
    expect(readSettings(JSON.stringify(settings))).toEqual({ settings });
    expect(refused('{"ping-type":"x"}')).toContain('ping-type');
  });

  test('nested a hundred thousand deep is no fault', () => {
    expect(readSettings(`{"a":${'['.repeat(100_000)}`)).toMatchObject({ says: 'settings_empty' });
  });

  test('the first bad key is the one that is named', () => {
    expect(refused({ 'app-auto-start': true, 'ping-type': 'x', 'local-dns-enable': 7 })).toContain(
      'ping-type',
    );
  });

  test('256 keys are taken, and no more', () => {
    const settings = Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`k${at}`, at]));
    expect(refused(settings)).toBe('settings must not hold more than 256 keys');
    const { k256: _, ...fewer } = settings;
    expect(readSettings(fewer)).toEqual({ settings: fewer });
  });

  test('anything is delivered as it came, or left out or refused with a sentence', () => {
    const key = fc.oneof(
      fc.constantFrom(...Object.keys(DOCUMENTED)),
      fc.string(),
      fc.stringMatching(CUSTOM_SETTING_KEY),
    );
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue({ maxDepth: 3 })), (settings) => {
        const read = readSettings(settings);
        if (isMisfit(read)) return misfitOf(read) !== '';
        if (isRefused(read)) return Object.keys(settings).length === 0;
        if (!/^[\x20-\x7e]{0,500}$/.test(read.note ?? '')) return false;
        const passedOn = Object.entries(settings).filter(([name]) =>
          Object.hasOwn(read.settings, name),
        );
        return JSON.stringify(read.settings) === JSON.stringify(Object.fromEntries(passedOn));
      }),
      { numRuns: 1000 },
    );
  });
});

test('docs/bots.md has the pattern of custom keys', () => {
  expect(readText('docs/bots.md')).toContain(CUSTOM_SETTING_KEY.source);
});
