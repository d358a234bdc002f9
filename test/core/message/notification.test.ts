import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { PUSH_ENCODED_MAX } from '../../../src/core/formats.ts';
import {
  composeNotification,
  encodePayload,
  type NotificationPayload,
} from '../../../src/core/message/notification.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { isMisfit, misfitOf } from '../../support/refusal.ts';
import { XSS_VECTORS } from '../../support/xss-vectors.ts';

const MINIMAL = { body: 'Hello', type_push: 'force', expire_days: 3 };

function accepted(form: unknown): NotificationPayload {
  const composed = composeNotification(form);
  if (isRefused(composed)) throw new Error(`refused: ${JSON.stringify(composed)}`);
  return composed;
}

const refused = (form: unknown) => misfitOf(composeNotification(form));

describe('form', () => {
  test('may have 64 locales', () => {
    const codes = Array.from({ length: 65 }, (_, at) =>
      String.fromCharCode(97 + (at >> 3), 97 + (at & 7)),
    );
    const locales = Object.fromEntries(codes.map((code) => [code, { title: 'x' }]));
    expect(refused({ ...MINIMAL, locales })).toBe('locales must not hold more than 64 locales');
    const { [codes[64] as string]: _, ...fewer } = locales;
    expect(accepted({ ...MINIMAL, locales: fewer }).locales).toEqual(fewer);
  });

  test('the minimal form is delivered as it is', () => {
    expect(JSON.stringify(accepted(MINIMAL))).toBe(
      '{"body":"Hello","type_push":"force","expire_days":3}',
    );
  });

  test('the full form keeps its fields, filtered, in the order of the table, without schedule', () => {
    const form = {
      send_time: '10:00',
      send_date: '2026-12-01',
      expire_days: '365',
      type_push: 'optional',
      locales: {
        RU: { title: 'Привет', body: '<b>мир</b><script>x</script>', 'link-for-open': 'happ://x' },
        'pt-BR': { body: 'Olá' },
        zh_CN: { title: '<b>', other: 1 },
      },
      background_image: 'https://a.example/x.png',
      link_for_open: 'tg://resolve?domain=x',
      body: '<i>x</i><h1>y</h1>',
      title: '5 > 3 <b>& "x"</b>\n',
      unknown: 'field',
    };
    expect(JSON.stringify(accepted(form))).toBe(
      JSON.stringify({
        title: '5 > 3 <b>& "x"</b>\n',
        body: '<i>x</i>y',
        link_for_open: 'tg://resolve?domain=x',
        background_image: 'https://a.example/x.png',
        locales: {
          RU: { title: 'Привет', body: '<b>мир</b>', 'link-for-open': 'happ://x' },
          'pt-BR': { body: 'Olá' },
          zh_CN: { title: '<b>' },
        },
        type_push: 'optional',
        expire_days: 365,
      }),
    );
  });

  test('null and empty fields count as absent', () => {
    const empty = { title: '', body: null, 'link-for-open': '' };
    const form = { ...MINIMAL, title: null, link_for_open: '', background_image: null };
    for (const locales of [null, '', [], {}, { RU: {}, EN: null, FA: [], CN: empty }]) {
      expect(accepted({ ...form, locales })).toEqual(MINIMAL as NotificationPayload);
    }
  });

  test.each([[undefined], [null], ['x'], [[]], [1]])('the form must be an object: %j', (form) => {
    expect(refused(form)).toContain('PushNotificationForm');
  });

  test('the link to open counts under either name, and is delivered as the specification has it', () => {
    const link = 'https://a.example/x';
    const other = 'tg://other';
    const form = {
      ...MINIMAL,
      'link-for-open': link,
      locales: { RU: { link_for_open: link }, EN: { link_for_open: '', 'link-for-open': other } },
    };
    expect(accepted(form)).toEqual({
      ...(MINIMAL as NotificationPayload),
      link_for_open: link,
      locales: { RU: { 'link-for-open': link }, EN: { 'link-for-open': other } },
    });
  });

  test('of two links to open the name of the specification wins, and the other is not looked at', () => {
    const link = 'https://a.example/x';
    for (const other of ['https://b.example/', 'javascript:x', 7]) {
      const locales = { RU: { 'link-for-open': link, link_for_open: other } };
      const form = { ...MINIMAL, link_for_open: link, 'link-for-open': other, locales };
      expect(accepted(form)).toEqual({
        ...(MINIMAL as NotificationPayload),
        link_for_open: link,
        locales: { RU: { 'link-for-open': link } },
      });
    }
  });

  test('what is wrong in a link to open is named as it was sent', () => {
    const bad = 'intent://x#Intent;end';
    expect(refused({ ...MINIMAL, 'link-for-open': bad })).toStartWith('link-for-open must be');
    expect(refused({ ...MINIMAL, locales: { RU: { link_for_open: bad } } })).toStartWith(
      'locales.RU.link_for_open must be',
    );
  });

  const BAD: [string, unknown[]][] = [
    ['title', [1, true, {}, [], 'half a pair \ud83d']],
    ['body', [null, '', undefined, 1, {}, ' \n', '<b></b>', '<script>x</script>', '&nbsp;\u200b']],
    ['body', ['<img src="/x.png">', '<img title=" src=">', '<!-- x -->', '\udc00 half a pair']],
    ['link_for_open', ['javascript:alert(1)', 'JavaScript:x', ' javascript:x', 'java\tscript:x']],
    ['link_for_open', ['data:text/html,x', 'file:///x', 'vbscript:x', '/x', '//a.example', 'a.b']],
    ['link_for_open', ['intent:#Intent;end', 'INTENT://x', 'android-app://com.example/http/x']],
    ['link_for_open', ['tg://x#Intent;component=a/b;end', 'itms-services://?action=x', 'shell:x']],
    ['link_for_open', ['https://', 'https:a.example', 'https:///a', 'http://a b', 'https://[x', 1]],
    [
      'link_for_open',
      ['tg:', 'x:y', '://x', 'https://a.example\\x', ' https://a.example', 'tg:\n'],
    ],
    [
      'background_image',
      ['tg://x', 'data:image/png;base64,AA==', 'x.png', 'ftp://a.example/x', {}],
    ],
    ['locales', ['RU', 1, true, ['RU']]],
    ['type_push', [undefined, null, '', 'FORCE', 'both', 1, true]],
    ['expire_days', [undefined, null, '', 0, 366, -1, 1.5, '0', '366', '+1', ' 1', '1.0', '1e1']],
    ['expire_days', [Number.POSITIVE_INFINITY, Number.NaN, true, '0x1', [3], '9'.repeat(400)]],
  ];
  test.each(BAD)('%s is refused as %j', (field, values) => {
    for (const value of values) {
      expect(refused({ ...MINIMAL, [field]: value })).toStartWith(`${field} `);
    }
  });

  test('expire_days takes 1 to 365 as number or digits', () => {
    for (const days of [1, 365]) {
      expect(accepted({ ...MINIMAL, expire_days: days }).expire_days).toBe(days);
      expect(accepted({ ...MINIMAL, expire_days: String(days) }).expire_days).toBe(days);
    }
  });

  test.each(['RU', 'ru', 'eng', 'abcdefgh', 'pt-BR', 'zh_CN', 'zh-Hans', 'es-419', 'valueOf'])(
    'locale key %s is kept as given',
    (key) => {
      const locales = { [key]: { title: 'x' } };
      expect(JSON.stringify(accepted({ ...MINIMAL, locales }).locales)).toBe(
        JSON.stringify(locales),
      );
    },
  );

  test.each([
    '',
    'R',
    'abcdefghi',
    'RU-',
    'RU-B',
    'R1',
    'РУ',
    'RU\r\nx',
    '__proto__',
    'x'.repeat(999),
  ])('locale key %j is refused', (key) => {
    const locales = JSON.parse(`{${JSON.stringify(key)}:{"title":"x"}}`);
    expect(refused({ ...MINIMAL, locales })).toStartWith('locales.');
  });

  test('what is wrong in a locale is named with the locale', () => {
    const wrong = (content: unknown) => refused({ ...MINIMAL, locales: { RU: content } });
    expect(wrong('x')).toStartWith('locales.RU must');
    expect(wrong({ title: 1 })).toStartWith('locales.RU.title ');
    expect(wrong({ body: '<p></p>' })).toStartWith('locales.RU.body ');
    expect(wrong({ 'link-for-open': 'javascript:x' })).toStartWith('locales.RU.link-for-open ');
  });

  test('no form makes anything but a payload, a refusal or a detail that fits a header', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('force', 'optional', '7', ...XSS_VECTORS),
    );
    const form = fc.record(
      {
        title: value,
        body: value,
        link_for_open: value,
        background_image: value,
        locales: fc.oneof(value, fc.dictionary(fc.string(), value)),
        type_push: value,
        expire_days: value,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), form), (given) => {
        const composed = composeNotification(given);
        if (isMisfit(composed)) return misfitOf(composed) !== '';
        return isRefused(composed) ? composed.says === 'message_too_large' : 'body' in composed;
      }),
      { numRuns: 1000 },
    );
  });
});

describe('size', () => {
  /**
   * Computed apart from the source: bytes of UTF-8 by TextEncoder, base64 by its own arithmetic.
   */
  const encodedLength = (payload: unknown) =>
    Math.ceil(new TextEncoder().encode(JSON.stringify(payload)).length / 3) * 4;

  /** A form whose payload has exactly `bytes` bytes of JSON, padded with ASCII after `start`. */
  function formOfBytes(start: string, bytes: number) {
    const empty = { title: start, ...MINIMAL };
    const padding = bytes - new TextEncoder().encode(JSON.stringify(empty)).length;
    return { ...empty, title: start + 'x'.repeat(padding) };
  }

  test('4096 encoded bytes are accepted, the next possible size is not', () => {
    // Base64 comes in steps of four: 3070 to 3072 bytes make 4096, 3073 make 4100.
    for (const bytes of [3070, 3071, 3072]) {
      expect(encodePayload(accepted(formOfBytes('', bytes)))).toHaveLength(PUSH_ENCODED_MAX);
    }
    expect(composeNotification(formOfBytes('', 3073))).toMatchObject({ says: 'message_too_large' });
  });

  test('text of several bytes a character counts in bytes', () => {
    const start = fc.string({
      unit: fc.constantFrom('a', 'ж', '漢', '😀', '"', '\n'),
      maxLength: 400,
    });
    fc.assert(
      fc.property(start, fc.integer({ min: 3060, max: 3085 }), (text, bytes) => {
        const form = formOfBytes(text, bytes);
        if (encodedLength(form) > 4096) {
          expect(composeNotification(form)).toMatchObject({ says: 'message_too_large' });
        } else {
          const encoded = encodePayload(accepted(form));
          expect(encoded).toHaveLength(encodedLength(form));
          expect(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'))).toEqual(form);
        }
      }),
    );
  });

  test('what counts is the filtered HTML', () => {
    const padded = { ...MINIMAL, body: `x<!--${'x'.repeat(16_000)}-->` };
    expect(accepted(padded).body).toBe('x');
    // Each `&` becomes `&amp;`.
    expect(composeNotification({ ...MINIMAL, body: '&'.repeat(700) })).toMatchObject({
      says: 'message_too_large',
    });
  });

  test('texts that are too large together are not judged one by one', () => {
    const canParse = spyOn(URL, 'canParse');
    try {
      const link = `https://${'я.'.repeat(80_000)}`;
      expect(composeNotification({ ...MINIMAL, link_for_open: link })).toMatchObject({
        says: 'message_too_large',
      });
      expect(composeNotification({ ...MINIMAL, background_image: link })).toMatchObject({
        says: 'message_too_large',
      });
      expect(canParse).not.toHaveBeenCalled();
      const entries = ['RU', 'EN', 'CN'].map((key) => [
        key,
        { 'link-for-open': `https://example.com/${'я'.repeat(600)}` },
      ]);
      const locales = Object.fromEntries(entries);
      expect(composeNotification({ ...MINIMAL, locales })).toMatchObject({
        says: 'message_too_large',
      });
      expect(canParse).toHaveBeenCalledTimes(2);
    } finally {
      canParse.mockRestore();
    }
  });

  test.each([
    ['text', 'x'.repeat(250_000)],
    ['nested tags', '<b>'.repeat(80_000)],
    ['tags that are closed out of order', '<b>'.repeat(2500) + '</p>'.repeat(5000)],
  ])('a flood of %s is too large, and other mistakes are still named', (_, body) => {
    expect(composeNotification({ ...MINIMAL, body })).toMatchObject({ says: 'message_too_large' });
    expect(refused({ ...MINIMAL, body, type_push: 'x' })).toStartWith('type_push ');
  });

  test('elements are counted apart from their ends, whether or not they stay', () => {
    const filtered = (body: string) => composeNotification({ ...MINIMAL, body });
    expect(accepted({ ...MINIMAL, body: `x${'<q>'.repeat(512)}` }).body).toBe('x');
    expect(accepted({ ...MINIMAL, body: `x${'<q></q>'.repeat(480)}` }).body).toBe('x');
    expect(filtered(`x${'<q>'.repeat(513)}`)).toMatchObject({ says: 'message_too_large' });
    expect(filtered(`x${'</q>'.repeat(1001)}`)).toMatchObject({ says: 'message_too_large' });
  });

  test('the bound on HTML holds for all locales together', () => {
    const locales = Object.fromEntries(
      ['RU', 'EN', 'CN', 'FA'].map((key) => [key, { body: `x<!--${'x'.repeat(5000)}-->` }]),
    );
    expect(composeNotification({ ...MINIMAL, locales })).toMatchObject({
      says: 'message_too_large',
    });
  });
});
