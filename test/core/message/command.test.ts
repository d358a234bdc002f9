import { describe, expect, test } from 'bun:test';
import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { ACTION_TYPES, composeCommand, readActionType } from '../../../src/core/message/command.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { isMisfit, misfitOf } from '../../support/refusal.ts';

const refused = (body: Record<string, unknown>) => misfitOf(composeCommand(body));

/** One row for each value: a bare array in a table would be spread over the arguments. */
const rows = (...values: unknown[]) => values.map((value) => [value]);

/** What panels send along whether it is needed or not. */
const UNNEEDED = {
  settings: {},
  hwid: '',
  os: 7,
  import_data: ['x'],
  change_type: 'x',
  change_value: 1,
  input_data: 'x',
};

describe('action_type', () => {
  test.each(
    rows(undefined, null, '', 'Import-Data', 'import_data', 'reboot', 1, {}, ['import-data']),
  )('%j is refused', (action) => {
    expect(refused({ action_type: action, import_data: 'x' })).toStartWith('action_type must be');
  });

  test('is read apart, because it is checked before the targets', () => {
    for (const action of ACTION_TYPES) expect(readActionType({ action_type: action })).toBe(action);
    expect(isMisfit(readActionType({}))).toBe(true);
  });
});

describe('import-data', () => {
  const compose = (data: unknown) =>
    composeCommand({ ...UNNEEDED, action_type: 'import-data', import_data: data });

  test.each([
    ['x', 'eA=='],
    ['vless://a@b:1#Привет', 'dmxlc3M6Ly9hQGI6MSPQn9GA0LjQstC10YI='],
    ['line\r\nbreak 😀', 'bGluZQ0KYnJlYWsg8J+YgA=='],
  ])('%j is passed on as base64 of its UTF-8', (data, encoded) => {
    expect(compose(data)).toEqual({
      payload: { action_type: 'import-data', 'input-data': encoded },
    });
  });

  test('any text comes back from the base64 as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (data) => {
        const composed = compose(data);
        if (data.trim() === '') return isRefused(composed) && composed.says === 'import_data_empty';
        if (isRefused(composed)) return false;
        const encoded = (composed.payload as { 'input-data': string })['input-data'];
        return (
          new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(encoded, 'base64')) ===
          data
        );
      }),
    );
  });

  test.each([undefined, null, '', ' ', '\r\n\t'])('%j is empty', (data) => {
    expect(compose(data)).toMatchObject({ says: 'import_data_empty' });
  });

  test.each(rows(1, 0, true, false, {}, ['x'], 'half a pair \udc00'))('%j is refused', (data) => {
    expect(refused({ action_type: 'import-data', import_data: data })).toStartWith('import_data ');
  });
});

test('update-subscription looks at nothing else', () => {
  expect(composeCommand({ ...UNNEEDED, action_type: 'update-subscription' })).toEqual({
    payload: { action_type: 'update-subscription' },
  });
});

describe('set-settings', () => {
  const compose = (settings: unknown) =>
    composeCommand({ ...UNNEEDED, action_type: 'set-settings', settings });

  test('passes settings on in their types', () => {
    const settings = { 'ping-type': 'tcp', 'fragmentation-length': 10, 'app-auto-start': 'true' };
    expect(compose(settings)).toEqual({ payload: { action_type: 'set-settings', settings } });
  });

  test('a custom key named problem is taken', () => {
    const settings = { problem: 'x' };
    expect(compose(settings)).toEqual({ payload: { action_type: 'set-settings', settings } });
  });

  test.each(rows(undefined, null, '', {}, [], 'x'))('%j is empty', (settings) => {
    expect(compose(settings)).toMatchObject({ says: 'settings_empty' });
  });

  test('an odd custom key is left out and named, the rest goes', () => {
    expect(compose({ 'my key': 1, 'ping-type': 'tcp' })).toEqual({
      payload: { action_type: 'set-settings', settings: { 'ping-type': 'tcp' } },
      note: expect.stringContaining('settings key mykey must be 1 to 64'),
    });
  });

  test('a bad value is named', () => {
    expect(refused({ action_type: 'set-settings', settings: { 'ping-type': 'x' } })).toContain(
      'ping-type',
    );
  });
});

const body = (type: unknown, value: unknown) => ({
  ...UNNEEDED,
  action_type: 'sub-change',
  change_type: type,
  change_value: value,
});
const LABEL_63 = 'a'.repeat(63);

describe('sub-change', () => {
  test.each([
    ['domain', 'example.com'],
    ['domain', 'Sub.Example.COM'],
    ['domain', 'xn--e1afmkfd.xn--p1ai'],
    ['domain', '10.20.30.40'],
    ['domain', '255.255.255.255'],
    ['domain', '1a.2b'],
    ['domain', 'localhost'],
    ['domain', 'example.com:8443'],
    ['domain', 'Sub.Example.com:1'],
    ['domain', '10.20.30.40:65535'],
    ['domain', '_dmarc.my_host.example.com'],
    ['domain', 'a_b:80'],
    ['domain', `${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(61)}`],
    ['url', 'https://example.com'],
    ['url', 'HTTP://example.com:8080/sub/x?y=z#w'],
    ['url', 'https://user:pass@10.0.0.1/x'],
    ['url', 'https://[::1]/x'],
    ['url', 'https://пример.рф/путь'],
  ])('%s %s is passed on as it is', (type, value) => {
    expect(composeCommand(body(type, value))).toEqual({
      payload: { action_type: 'sub-change', change_type: type as 'url', change_value: value },
    });
  });

  test.each([
    ['пример.рф', 'xn--e1afmkfd.xn--p1ai'],
    ['ПРИМЕР.рф:8443', 'xn--e1afmkfd.xn--p1ai:8443'],
    ['faß.example', 'xn--fa-hia.example'],
    ['مثال.example', 'xn--mgbh0fb.example'],
    ['例え。example', 'xn--r8jz45g.example'],
    ['ab-я_1.example.com', 'xn--ab-_1-i1e.example.com'],
  ])('the international domain %s is sent as %s', (value, sent) => {
    const [, host = ''] = /^([^:]+)/.exec(value) ?? [];
    expect(domainToASCII(host)).toBe(sent.replace(/:\d+$/, ''));
    expect(composeCommand(body('domain', value))).toEqual({
      payload: { action_type: 'sub-change', change_type: 'domain', change_value: sent },
    });
  });
});

describe('sub-change of what does not fit', () => {
  test.each(rows(undefined, null, '', 'Domain', 'host', 1, ['url']))(
    'change_type %j is refused',
    (type) => {
      expect(refused(body(type, 'https://example.com'))).toStartWith('change_type must be');
    },
  );

  test.each(rows(undefined, null, '', 1, true, {}, ['x']))(
    'change_value %j is refused',
    (value) => {
      for (const type of ['domain', 'url']) {
        expect(refused(body(type, value))).toStartWith('change_value ');
      }
    },
  );

  test.each([
    'https://example.com',
    'example.com:',
    'example.com:0',
    'example.com:080',
    'example.com:65536',
    'example.com:80:80',
    'example.com:http',
    'example.com:8080/x',
    'user@example.com',
    'example.com/x',
    'example.com.',
    '.com',
    'a..b',
  ])('domain %j is refused', (value) => {
    expect(refused(body('domain', value))).toStartWith('change_value must be a host name');
  });
  test.each([
    'при мер.рф',
    'пример.рф/x',
    'пример.рф.',
    'пример..рф',
    '１２７.0.0.1',
    'xn--a.com',
    '%41.com',
    'a\u202eb.com',
    'половина\ud83d.рф',
    `${'я'.repeat(63)}.рф`,
    '-a.com',
    'a-.com',
    'a b',
    ' a.com',
    'a.com\n',
    '999.1.1.1',
    '1.2.3',
  ])('domain %j is refused', (value) => {
    expect(refused(body('domain', value))).toStartWith('change_value must be a host name');
  });
  test.each([
    `a${LABEL_63}.com`,
    `${LABEL_63}.${LABEL_63}.${LABEL_63}.${'a'.repeat(62)}`,
    `${`${LABEL_63}.`.repeat(4)}com`,
    '01.2.3.4',
    '[::1]',
    '*.a.com',
    '\0',
  ])('domain %j is refused', (value) => {
    expect(refused(body('domain', value))).toStartWith('change_value must be a host name');
  });

  test.each([
    'example.com',
    '//example.com',
    'ftp://example.com',
    'tg://x',
    'https://',
    'https:/a',
    'https:a',
  ])('url %j is refused', (value) => {
    expect(refused(body('url', value))).toStartWith('change_value must be an absolute http');
  });
  test.each([
    'javascript:alert(1)',
    'https://a b',
    ' https://a',
    'https://a\n',
    'https://a\\b',
    'https://a:99999',
  ])('url %j is refused', (value) => {
    expect(refused(body('url', value))).toStartWith('change_value must be an absolute http');
  });

  test('a url may have 8192 characters', () => {
    const longest = 'https://example.com/'.padEnd(8192, 'x');
    const change = { change_type: 'url' as const, change_value: longest };
    const payload = { action_type: 'sub-change' as const, ...change };
    expect(composeCommand(body('url', longest))).toEqual({ payload });
    expect(refused(body('url', `${longest}x`))).toContain('of up to 8192 characters');
  });

  test('a host name that is accepted is the host that a URL parser makes of it', () => {
    const host = fc.oneof(
      fc.domain(),
      fc.ipV4(),
      fc.string({
        unit: fc.constantFrom('a', 'Z', '1', '-', '.', '_', ':', '/', '@', 'ж', ' '),
        maxLength: 12,
      }),
    );
    fc.assert(
      fc.property(host, (value) => {
        const composed = composeCommand(body('domain', value));
        if (isRefused(composed)) return true;
        const { change_value: sent } = composed.payload as { change_value: string };
        const [host, port = '443'] = sent.split(':');
        const url = new URL(`https://${value}/`);
        return url.hostname === host?.toLowerCase() && (url.port || '443') === port;
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(fc.domain(), (value) => !isRefused(composeCommand(body('domain', value)))),
    );
  });
});

test('any body makes a payload, a refusal, or a detail that fits a header', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(...ACTION_TYPES, 'domain', 'url', 'a.b'),
  );
  const anyBody = fc.record(
    {
      action_type: fc.oneof(value, fc.constantFrom(...ACTION_TYPES)),
      import_data: value,
      settings: fc.oneof(value, fc.dictionary(fc.string(), value)),
      change_type: value,
      change_value: value,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(anyBody, (given) => {
      const composed = composeCommand(given);
      if (isMisfit(composed)) return misfitOf(composed) !== '';
      if (!isRefused(composed)) return 'payload' in composed;
      return ['import_data_empty', 'settings_empty'].includes(composed.says);
    }),
    { numRuns: 1000 },
  );
});
