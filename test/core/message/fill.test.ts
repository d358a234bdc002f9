/** Placeholders of messages, filled. */

import { describe, expect, test } from 'bun:test';
import { texts } from '../../../src/console/texts/en/messages.ts';
import { byteLength } from '../../../src/core/json-input.ts';
import {
  fillHtml,
  fillText,
  longestFilled,
  PLACEHOLDER_NAMES,
  unknownPlaceholder,
} from '../../../src/core/message/fill.ts';

const DAY_MS = 86_400_000;
const GB = 1024 ** 3;
const END_MS = Date.UTC(2026, 11, 3);

const VALUES = {
  endsAtMs: END_MS,
  totalBytes: 50 * GB,
  usedBytes: 37.5 * GB,
  deviceCount: 2,
  installLimit: 3,
  greeting: 'Anna',
};
const NOTHING = {
  endsAtMs: null,
  totalBytes: null,
  usedBytes: null,
  deviceCount: null,
  installLimit: null,
  greeting: null,
};
const before = (days: number) => ({ nowMs: END_MS - days * DAY_MS, timeZone: '+03:00' });
const fill = (text: string, tag?: string, days = 3) => fillText(text, VALUES, before(days), tag);

describe('values have the language of their text', () => {
  const all = '{days_left}; {end_date}; {traffic_left}; {traffic_used}; {devices}/{limit}';
  const cases: [tag: string, filled: string][] = [
    ['en', '3 days; December 3, 2026; 12.5 GB; 37.5 GB; 2/3'],
    ['ru', '3 дня; 3 декабря 2026 г.; 12,5 ГБ; 37,5 ГБ; 2/3'],
    ['zh', '3天; 2026年12月3日; 12.5 GB; 37.5 GB; 2/3'],
    ['fa', '۳ روز; ۱۲ آذر ۱۴۰۵; ۱۲٫۵ گیگابایت; ۳۷٫۵ گیگابایت; ۲/۳'],
    ['pt_BR', '3 dias; 3 de dezembro de 2026; 12,5 GB; 37,5 GB; 2/3'],
    ['xx', '3 days; December 3, 2026; 12.5 GB; 37.5 GB; 2/3'],
    ['no tag', '3 days; December 3, 2026; 12.5 GB; 37.5 GB; 2/3'],
  ];
  // ICU puts blanks that do not break into numbers and dates.
  for (const [tag, filled] of cases) {
    test(tag, () => expect(fill(all, tag).replaceAll(/[\u00a0\u202f]/g, ' ')).toBe(filled));
  }

  test('plural forms', () => {
    const days = (tag: string, ...counts: number[]) =>
      counts.map((count) => fill('{days_left}', tag, count).replaceAll('\u00a0', ' '));
    expect(days('en', 0, 1, 2)).toEqual(['0 days', '1 day', '2 days']);
    expect(days('ru', 1, 2, 5, 21)).toEqual(['1 день', '2 дня', '5 дней', '21 день']);
  });

  test('a text without a tag has the language of its script', () => {
    expect(fill('Осталось {days_left}')).toBe('Осталось 3 дня');
    expect(fill('剩余 {days_left}')).toBe('剩余 3天');
    expect(fill('{days_left} left')).toBe('3 days left');
  });

  test('the date is that of the zone', () => {
    const at = (timeZone: string) => fillText('{end_date}', VALUES, { nowMs: 0, timeZone }, 'en');
    expect(at('-05:00')).toBe('December 2, 2026');
    expect(at('Asia/Tehran')).toBe('December 3, 2026');
  });
});

describe('what has no value', () => {
  test('has the fallback of the text, or a dash', () => {
    for (const name of PLACEHOLDER_NAMES) {
      const filled = fillText(`{${name}|soon} {${name}} {${name}|}`, NOTHING, before(3));
      expect(filled).toBe('soon – ');
    }
  });

  test('an end that has passed and traffic over its total are nothing left', () => {
    expect(fill('{days_left}', 'en', -9)).toBe('0 days');
    const used = { ...VALUES, usedBytes: 60 * GB };
    expect(fillText('{traffic_left}', used, before(3), 'en')).toBe('0 byte');
  });

  test('half a day is a day, and so is a minute', () => {
    expect(fill('{days_left}', 'en', 0.5)).toBe('1 day');
    expect(fill('{days_left}', 'en', 1 / 1_440)).toBe('1 day');
  });
});

describe('what is no placeholder stays', () => {
  const others = ['{', '{}', '{days_left', '{"json": 1}', '{ 1 }', 'plain'];
  for (const text of others) {
    test(text, () => {
      expect(fill(text)).toBe(text);
      expect(unknownPlaceholder(text)).toBeNull();
    });
  }

  // A sender who asks to fill placeholders meant one; other messages have them as they are.
  const slips = ['{Days_left}', '{ days_left }', '{days left}', '{x1}', '{осталось}'];
  for (const slip of [...slips, `{days_left|${'x'.repeat(61)}}`]) {
    test(slip, () => {
      expect(fill(slip)).toBe(slip);
      expect(unknownPlaceholder(`{days_left|soon} ${slip}`)).toBe(slip);
    });
  }

  test('a name that we do not have is told', () => {
    expect(unknownPlaceholder('{days_left} {note}')).toBe('{note}');
    expect(unknownPlaceholder('{constructor}')).toBe('{constructor}');
    expect(fill('{note} {constructor}')).toBe('{note} {constructor}');
  });
});

describe('values are text', () => {
  const evil = '<a href="https://evil">&</a>';

  test('in HTML they are escaped, and tags have none', () => {
    const html = '<a href="https://x/?{greeting}">{greeting}</a> {days_left}';
    const filled = fillHtml(html, { ...VALUES, greeting: evil }, before(3));
    expect(filled).toBe(
      '<a href="https://x/?{greeting}">&lt;a href=&quot;https://evil&quot;&gt;&amp;&lt;/a&gt;</a> 3 days',
    );
  });

  test('a value that looks like a placeholder is not filled again', () => {
    expect(fillText('{greeting}', { ...VALUES, greeting: '{limit}' }, before(3))).toBe('{limit}');
  });

  test('no value is longer than the bound of its language', () => {
    const samples = [0, 1, 3, 5, 22, 101, 999, 1_234, 3_652].flatMap((days) =>
      [1, 700, 2 ** 20 * 999.4, 2 ** 40 * 1.5, 2 ** 53 - 1].map((usedBytes, n) => ({
        endsAtMs: END_MS + (days - n / 5) * DAY_MS,
        totalBytes: 2 ** 53 - 1,
        usedBytes,
        deviceCount: 100,
        installLimit: 99,
        greeting: '"'.repeat(40),
      })),
    );
    for (const tag of ['en', 'ru', 'zh', 'fa', 'de', 'ar', 'ml', 'pl', 'pt_BR', 'xx']) {
      for (const name of PLACEHOLDER_NAMES) {
        const bound = byteLength(longestFilled(`{${name}}`, tag));
        for (const values of samples) {
          const time = { nowMs: END_MS - DAY_MS, timeZone: '+03:00' };
          const filled = fillHtml(`{${name}}`, values, time, tag);
          expect(byteLength(filled)).toBeLessThanOrEqual(bound);
        }
        expect(bound).toBeLessThanOrEqual(240);
      }
    }
  });

  test('a fallback counts if it is longer', () => {
    const fallback = 'я'.repeat(60);
    expect(longestFilled(`{limit|${fallback}}`, 'ru')).toHaveLength(120);
    expect(longestFilled('<b>{limit}</b> {note}', 'ru')).toBe('<b>xxx</b> {note}');
  });
});

test('the console explains each placeholder', () => {
  expect(Object.keys(texts.compose.placeholders)).toEqual([...PLACEHOLDER_NAMES]);
});
