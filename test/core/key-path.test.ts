import { describe, expect, test } from 'bun:test';
import {
  type KeyPath,
  keyIn,
  mayPass,
  type PassPath,
  readKeyPath,
  readPassPath,
  readPath,
} from '../../src/core/key-path.ts';
import { isRefused } from '../../src/core/outcome.ts';
import { misfitOf } from '../support/refusal.ts';

function templates(...texts: string[]): KeyPath[] {
  return texts.map((text) => {
    const read = readKeyPath(text);
    if (isRefused(read)) throw new Error(read.detail);
    return read;
  });
}

function keyOf(path: string, ...texts: string[]): string | null {
  const keyPaths = templates(...texts);
  const found = keyIn({ keyPaths, key: 'plain', secret: null }, readPath(path) ?? []);
  return isRefused(found) ? misfitOf(found) : (found?.key ?? null);
}

describe('a path is read', () => {
  test.each([
    ['/', []],
    ['/sub/k1', ['sub', 'k1']],
    ['/sub/k1/', ['sub', 'k1']],
    ['/Sub/~a.b_c-d', ['Sub', '~a.b_c-d']],
    ['/a%20b/%D1%8F/%3d', ['a b', 'я', '=']],
    ['/...', ['...']],
    ["/!$&'()*+,=:@", ["!$&'()*+,=:@"]],
  ])('%s', (path, segments) => {
    expect(readPath(path)).toEqual(segments);
  });

  test.each([
    ['no path', ''],
    ['a path without a slash', 'sub/k1'],
    ['an empty segment', '/sub//k1'],
    ['an empty first segment, which is a host to some', '//sub/k1'],
    ['two slashes at the end', '/sub/k1//'],
    ['a dot segment', '/sub/./k1'],
    ['two dots', '/a/../sub/k1'],
    ['two dots at the end', '/sub/k1/..'],
    ['a coded dot', '/a/%2e%2e/sub/k1'],
    ['a half coded dot segment', '/a/.%2E/sub/k1'],
    ['a coded slash', '/sub%2fk1'],
    ['a coded letter', '/%73ub/k1'],
    ['a coded digit', '/sub/k%31'],
    ['a coded tilde', '/sub/%7ek1'],
    ['a coded per cent sign', '/sub/%2573'],
    ['a coded question mark', '/sub/k1%3Finstallid=A'],
    ['a coded hash', '/sub/k1%23'],
    ['a coded NUL', '/sub/k1%00'],
    ['a coded line break', '/sub/k1%0d%0a'],
    ['a backslash', '/sub\\k1'],
    ['a coded backslash', '/sub%5Ck1'],
    ['a parameter of a segment', '/sub;v=1/k1'],
    ['a coded parameter', '/sub/k1%3bv'],
    ['a fragment', '/sub/k1#a'],
    ['a query', '/sub/k1?a'],
    ['a blank', '/sub/k 1'],
    ['a letter that nobody coded', '/sub/я'],
    ['a code of half a byte', '/sub/%4'],
    ['a code of no byte', '/sub/%zz'],
    ['bytes that are no UTF-8', '/sub/%ff'],
    ['a path of over 4096 characters', `/${'a'.repeat(4096)}`],
  ])('not with %s', (_what, path) => {
    expect(readPath(path)).toBeNull();
  });

  test('up to its 4096th character', () => {
    expect(readPath(`/${'a'.repeat(4095)}`)).toEqual(['a'.repeat(4095)]);
  });
});

test.each([
  ['/sub/{key}', '/sub/abcd', 'abcd'],
  ['/sub/{key}', '/SUB/AbCd/', 'AbCd'],
  ['/Sub/{key}', '/sub/abcd/clash/meta', 'abcd'],
  ['/sub/{key}/', '/sub/abcd', 'abcd'],
  ['/{key}', '/abcd', 'abcd'],
  [`/${'a'.repeat(249)}/{key}`, `/${'a'.repeat(249)}/abcd`, 'abcd'],
  ['/p/{key}/sub', '/p/abcd/SUB/all', 'abcd'],
  ['/sub/{key}', '/sub/dXNlciwx%3D', 'dXNlciwx='],
  ['/sub/{key}', '/sub/a+b@example.com', 'a+b@example.com'],
  // Texts that operators of 3x-ui chose.
  ['/sub/{key}', '/sub/7', '7'],
  ['/{key}', '/abc', 'abc'],
  ['/sub/{key}', '/sub/anna:phone', 'anna:phone'],
  ['/sub/{key}', '/sub/anna%3Aphone', 'anna:phone'],
  ['/sub/{key}', '/sub/%D0%9C%D0%B0%D1%88%D0%B0', 'Маша'],
  ['/sub/{key}', '/sub/%E5%AE%B6%E6%97%8F', '家族'],
])('%s finds the key of %s', (template, path, key) => {
  expect(keyOf(path, template)).toBe(key);
});

test.each([
  ['/sub/{key}', '/'],
  ['/sub/{key}', '/sub'],
  ['/sub/{key}', '/sub/'],
  ['/sub/{key}', '/api/abcd'],
  ['/p/{key}/sub', '/p/abcd'],
  ['/p/{key}/sub', '/p/abcd/other'],
])('%s does not fit %s', (template, path) => {
  expect(keyOf(path, template)).toBeNull();
});

test('what stands in the place of the key and can be none is told from another path', () => {
  const rule = 'must be 1 to 256 letters and digits of any script, . _ ~ = @ : + and -';
  expect(keyOf('/sub/ab%20cd', '/sub/{key}')).toBe(rule);
  expect(keyOf(`/sub/${'k'.repeat(257)}`, '/sub/{key}')).toBe(rule);
});

describe('a key that two servers could read differently', () => {
  const encoded = (key: string) => keyOf(`/sub/${encodeURIComponent(key)}`, '/sub/{key}');

  test.each([
    ['one letter, or a letter and a sign above it', 'й', 'и\u0306'],
    ['an accent in the middle', 'anné', 'anne\u0301'],
    ['wide letters', 'abc', 'ａｂｃ'],
    ['a ligature', 'ofﬁce'.normalize('NFKC'), 'ofﬁce'],
    ['Korean syllables', '한국', '\u1112\u1161\u11ab\u1100\u116e\u11a8'],
  ])('is one key: %s', (_what, key, other) => {
    expect(other).not.toBe(key);
    expect([encoded(key), encoded(other)]).toEqual([key, key]);
  });

  test.each([
    ['a wide slash', 'a／b'],
    ['a wide dot', '．．'],
    ['a blank that does not break', 'a\u00a0b'],
    ['no width between two letters', 'a\u200bb'],
    ['joiners', 'a\u200db'],
    ['a mark of direction', 'a\u202eb'],
    ['a soft hyphen', 'a\u00adb'],
    ['a variation of a sign', 'a\ufe0f'],
    ['an invisible letter', 'a\u3164'],
    ['a mark at its beginning that is none', '\ufeffa'],
    ['a private sign', '\ue000'],
  ])('is none: %s', (_what, key) => {
    expect(encoded(key)).toStartWith('must be 1 to 256');
  });

  test.each([
    ['overlong', '%C1%A1'],
    ['half of a letter', '%D0'],
    ['half of a pair', '%ED%A0%80'],
    ['beyond Unicode', '%F4%90%80%80'],
    ['Latin-1', '%E9'],
  ])('is no path: %s', (_what, key) => {
    expect(readPath(`/sub/${key}`)).toBeNull();
  });
});

describe('a path that may pass', () => {
  function passing(...texts: string[]): PassPath[] {
    return texts.map((text) => {
      const read = readPassPath(text);
      if (isRefused(read)) throw new Error(read.detail);
      return read;
    });
  }
  const passes = (path: string, texts: string[], ...keyTexts: string[]) =>
    mayPass(passing(...texts), templates(...keyTexts), readPath(path) ?? []);

  test.each([
    ['/assets/*', '/assets/a.js', true],
    ['/assets/*', '/assets/a/b/c', true],
    ['/assets/*', '/assets', false],
    ['/assets/*', '/assets/', false],
    ['/assets/*', '/Assets/a.js', false],
    ['/assets/*', '/x/assets/a.js', false],
    ['/favicon.ico', '/favicon.ico', true],
    ['/favicon.ico', '/favicon.ico/', true],
    ['/favicon.ico', '/favicon.ico/x', false],
    ['/%D1%8F/*', '/%d1%8f/x', true],
  ])('%s lets %s pass: %p', (text, path, expected) => {
    expect(passes(path, [text])).toBe(expected);
    expect(passes(path, [text], '/{key}')).toBe(expected);
    expect(passes(path, ['/none', text], '/sub/{key}')).toBe(expected);
  });

  test('goes before a template only if the place of the key is written out', () => {
    expect(passes('/sub/abcd', ['/sub/*'], '/sub/{key}')).toBe(false);
    expect(passes('/sub/abcd', ['/sub/*'], '/SUB/{key}')).toBe(false);
    expect(passes('/sub/info', ['/sub/info'], '/sub/{key}')).toBe(true);
    expect(passes('/sub/info/x', ['/sub/info/*'], '/sub/{key}')).toBe(true);
    expect(passes('/sub/abcd', ['/sub/*'], '/{key}')).toBe(true);
    expect(passes('/sub/abcd', ['/sub/*'], '/{key}', '/sub/{key}')).toBe(false);
    expect(passes('/p/abcd/sub', ['/p/*'], '/p/{key}/sub')).toBe(false);
    expect(passes('/p/abcd', ['/p/*'], '/p/{key}/sub')).toBe(true);
  });

  test.each(['', '/', '/*', '*', 'assets/*', '/a/*/b', '/a*', '/a/**', '/a/../b', '/a;b', '/{k}'])(
    '%p is none',
    (text) => {
      expect(misfitOf(readPassPath(text))).toStartWith('must be a path such as /favicon.ico');
    },
  );
});

test('the first template that fits holds', () => {
  expect(keyOf('/sub/clash/abcd', '/sub/clash/{key}', '/sub/{key}')).toBe('abcd');
  expect(keyOf('/sub/clash/abcd', '/sub/{key}', '/sub/clash/{key}')).toBe('clash');
  expect(keyOf('/s/abcd', '/sub/{key}', '/s/{key}')).toBe('abcd');
  expect(keyOf('/sub/abcd')).toBeNull();
});

test.each([
  ['no key', '/sub/'],
  ['a key that is part of a segment', '/sub/x{key}'],
  ['two keys', '/{key}/{key}'],
  ['no slash', 'sub/{key}'],
  ['an odd path', '/a/../{key}'],
  ['braces of another name', '/sub/{token}'],
  ['no path at all', '{key}'],
  ['over 256 characters', `/${'a'.repeat(251)}/{key}`],
])('%s is no template', (_what, text) => {
  expect(misfitOf(readKeyPath(text))).toStartWith('must be a path of which one segment is {key}');
});
