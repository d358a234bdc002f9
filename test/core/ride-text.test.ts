/** Texts in headers: what is cut where, and what stands beside a panel's own. */

import { describe, expect, test } from 'bun:test';
import { localeOf } from '../../src/core/message/locale.ts';
import { languagesOf } from '../../src/core/ride/languages.ts';
import { announceWith, cutText, encodeText, tidyLines } from '../../src/core/ride/text.ts';

const decoded = (header: string) => Buffer.from(header.replace('base64:', ''), 'base64').toString();

describe('a text is cut', () => {
  test('not at all within the bounds', () => {
    const text = 'x'.repeat(200);
    expect(cutText(text)).toBe(text);
    expect(cutText('1\n2\n3\n4\n5')).toBe('1\n2\n3\n4\n5');
  });

  test('at a word, with an ellipsis within the bound', () => {
    const text = `${'слово '.repeat(32)}длинноеслово`;
    expect(text).toHaveLength(204);
    expect(cutText(text)).toBe(`${'слово '.repeat(32).trim()}…`);
    expect(cutText('one two three', 8, 1)).toBe('one two…');
    expect(cutText('one two three', 7, 1)).toBe('one…');
    expect(cutText('one two three', 9, 1)).toBe('one two…');
  });

  test('inside a word that is longer than half of the bound', () => {
    expect(cutText('x'.repeat(300))).toBe(`${'x'.repeat(199)}…`);
    expect(cutText(`see ${'y'.repeat(300)}`)).toBe(`see ${'y'.repeat(195)}…`);
    expect(cutText('服务器'.repeat(100))).toHaveLength(200);
  });

  test('after five lines', () => {
    expect(cutText('1\n2\n3\n4\n5\n6')).toBe('1\n2\n3\n4\n5…');
    const long = Array(6).fill('x'.repeat(60)).join('\n');
    expect(cutText(long)).toBe(`${long.slice(0, 182)}…`);
  });

  test.each([
    ['a family', '👨‍👩‍👧'],
    ['a flag', '🇷🇺'],
    ['a letter with marks', 'e\u0301\u0323'],
    ['an emoji', '😀'],
  ])('never inside %s', (_, grapheme) => {
    for (let before = 190; before < 200; before++) {
      const cut = cutText('x'.repeat(before) + grapheme.repeat(5));
      expect(cut.length).toBeLessThanOrEqual(200);
      const marks = cut.slice(before).replace('…', '');
      expect(marks).toBe(grapheme.repeat(marks.length / grapheme.length));
    }
  });

  test('inside a grapheme that is longer than the bound, but never inside a code point', () => {
    const zalgo = `x${'\u0301'.repeat(500)}`;
    expect(cutText(zalgo)).toBe(`${zalgo.slice(0, 199)}…`);
    const joined = Array(90).fill('😀').join('\u200d');
    for (let lengthMax = 2; lengthMax < 20; lengthMax++) {
      expect(cutText(joined, lengthMax, 1).isWellFormed()).toBe(true);
    }
  });
});

test('lines have no control characters, empty lines or double blanks', () => {
  expect(tidyLines(' a\r\n\r\n b \u2028\n\n c\0d\te  f\u007f ')).toBe('a\nb\nc d e f');
  expect(tidyLines('می\u200cخواهم')).toBe('می\u200cخواهم');
  expect(tidyLines('\ud83d!')).toBe('\ufffd!');
});

describe('beside the announcement of a panel', () => {
  const ours = 'We moved';
  const theirs = 'Pay by Friday';

  test.each([
    ['message', theirs, ours],
    ['panel', theirs, theirs],
    ['panel', null, ours],
    ['panel', '', ours],
    ['panel', '0', ours],
    ['panel', 'base64:MA==', ours],
    ['both', theirs, `${ours}\n${theirs}`],
    ['both', null, ours],
    ['both', '0', ours],
    ['both', 'base64:gIA=', ours],
  ] as const)('%s with %p', (mode, panel, text) => {
    expect(decoded(announceWith(panel, ours, mode))).toBe(
      mode === 'panel' && panel === theirs ? decoded(theirs) : text,
    );
  });

  test.each([
    ['plain', 'Цены прежние'],
    ['as bytes', Buffer.from('Цены прежние').toString('latin1')],
    ['base64', encodeText('Цены прежние')],
    ['the URL-safe alphabet', `base64:${Buffer.from('Цены прежние').toString('base64url')}`],
  ])('it is read: %s', (_, panel) => {
    expect(decoded(announceWith(panel, ours, 'both'))).toBe(`${ours}\nЦены прежние`);
  });

  test('both alphabets of base64 mean the same', () => {
    const odd = '???>>>~~~ÿÿÿ';
    const url = Buffer.from(odd).toString('base64url');
    expect(url).toMatch(/[-_]/);
    expect(decoded(announceWith(`base64:${url}`, ours, 'both'))).toBe(`${ours}\n${odd}`);
  });

  test('the panel stays as it is where it goes first', () => {
    expect(announceWith(theirs, ours, 'panel')).toBe(theirs);
  });

  test("the panel's part is cut first", () => {
    const long = 'panel '.repeat(60);
    const both = decoded(announceWith(long, ours, 'both'));
    expect(both.startsWith(`${ours}\npanel panel`)).toBe(true);
    expect(both.endsWith('panel…')).toBe(true);
    expect(both.length).toBeLessThanOrEqual(200);
    expect(decoded(announceWith(long, 'x'.repeat(198), 'both'))).toBe('x'.repeat(198));
    expect(decoded(announceWith(long, 'x'.repeat(300), 'both'))).toBe('x'.repeat(300));
    expect(decoded(announceWith('1\n2\n3', 'a\nb\nc', 'both'))).toBe('a\nb\nc\n1\n2…');
    expect(decoded(announceWith('1', 'a\nb\nc\nd\ne', 'both'))).toBe('a\nb\nc\nd\ne');
  });

  test('a header of megabytes costs nothing', () => {
    const both = decoded(announceWith(`base64:${'QUFB'.repeat(500_000)}`, ours, 'both'));
    expect(both).toHaveLength(200);
  });
});

describe('the languages of a request', () => {
  test.each([
    [{ 'accept-language': 'en;q=0.5, ru-RU, de;q=0' }, ['ru-ru', 'en']],
    [{ 'x-device-locale': 'CN' }, ['zh-cn']],
    [{ 'x-device-locale': ' zh_Hant ' }, ['zh-hant']],
    [{ 'accept-language': 'fa', 'x-device-locale': 'FA' }, ['fa']],
    [{ 'accept-language': '*', 'x-device-locale': '' }, []],
    [{ 'x-device-locale': 'x'.repeat(36) }, []],
    [{}, []],
  ])('%p', (headers, languages) => {
    expect(languagesOf(new Headers(headers as Record<string, string>))).toEqual(languages);
  });

  test('are bounded', () => {
    const many = Array.from({ length: 5000 }, (_, at) => `x${at}`).join();
    expect(languagesOf(new Headers({ 'accept-language': many }))).toHaveLength(16);
  });
});

describe('the locale of several languages', () => {
  const locales = { EN: 'en', CN: 'cn', 'pt-BR': 'br' };

  test.each([
    [['de', 'en'], 'Hallo', 'en'],
    [['zh-Hans-CN'], 'Hello', 'cn'],
    [['CN'], 'Hello', 'cn'],
    [['pt-PT', 'en'], 'Hello', 'br'],
    [['ru', 'en'], 'Привет', undefined],
    [['ru', 'en'], 'Olá', 'en'],
    [['fa-IR', 'en'], 'سلام', undefined],
    [['de', 'ru', 'en'], 'Привет', undefined],
    [['__proto__', 'constructor'], 'Hello', undefined],
    [[], 'Hello', undefined],
  ])('of %p beside %p is %p', (languages, body, found) => {
    expect(localeOf(locales, languages, body)).toBe(found);
  });
});
