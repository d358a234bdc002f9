import { describe, expect, test } from 'bun:test';
import {
  type KeyInPath,
  type KeyPath,
  type KeyReading,
  keyIn,
  mayPass,
  type PassPath,
  readKeyPath,
  readPassPath,
  readPath,
  readRequestPath,
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

type Reading = Partial<Pick<KeyReading, 'key' | 'panel'>>;

/** Reads the key of a request; a text that begins with `must` is the rule that it breaks. */
function foundIn(path: string, texts: string[], reading: Reading = {}): KeyInPath | string | null {
  const keyPaths = templates(...texts);
  const read = readRequestPath(path);
  if (read === null) return 'no path';
  const found = keyIn({ key: 'plain', secret: null, panel: null, ...reading, keyPaths }, read);
  return isRefused(found) ? misfitOf(found) : found;
}

function keyOf(path: string, ...texts: string[]): string | null {
  const found = foundIn(path, texts);
  return found === null || typeof found === 'string' ? found : found.key;
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

const RULE = 'must be 1 to 256 visible characters without / and \\';

test('what stands in the place of the key and can be none is told from another path', () => {
  expect(keyOf('/sub/ab%20cd', '/sub/{key}')).toBe(RULE);
  expect(keyOf(`/sub/${'k'.repeat(257)}`, '/sub/{key}')).toBe(RULE);
  expect(keyOf(`/sub/${'%F0%9F%94%91'.repeat(256)}`, '/sub/{key}')).toBe('🔑'.repeat(256));
});

describe('the one segment that only a key may be', () => {
  test.each([
    ['a coded letter', '/sub/%61b', 'ab'],
    ['all letters coded', '/sub/%61%62/clash', 'ab'],
    ['a coded digit and a tilde', '/sub/k%31%7e', 'k1~'],
    ['a coded dot among others', '/sub/a%2eb', 'a.b'],
  ])('has %s', (_what, path, key) => {
    expect(readPath(path)).toBeNull();
    expect(keyOf(path, '/sub/{key}')).toBe(key);
  });

  test.each([
    ['a literal', '/%73ub/k1'],
    ['a segment behind the key', '/sub/k1/%63lash'],
    ['two segments', '/%73ub/%6b1'],
  ])('is not %s', (_what, path) => {
    const found = keyOf(path, '/sub/{key}') ?? '';
    expect(['no path', 'must be a path that all servers read alike']).toContain(found);
    expect(mayPass([{ segments: ['sub'], isFolder: true }], [], readRequestPath(path) ?? [])).toBe(
      false,
    );
  });

  test.each([
    ['dots', '/sub/%2e%2E'],
    ['a dot', '/sub/%2e'],
    ['a slash', '/sub/a%2fb'],
    ['a backslash', '/sub/a%5cb'],
    ['NUL', '/sub/a%00'],
    ['a line break', '/sub/a%0d'],
    ['DEL', '/sub/a%7f'],
    ['half a code', '/sub/%61%6'],
    ['bytes that are no UTF-8', '/sub/%61%ff'],
    ['a raw backslash', '/sub/a\\b%61'],
    ['over 4096 characters', `/sub/${'%61'.repeat(1_400)}`],
  ])('has no %s', (_what, path) => {
    expect(readRequestPath(path)).toBeNull();
  });

  test.each([';', '%25', '%3b', '&', '%26', '%3F', '%23'])(
    'has %p where the panel cuts nothing there',
    (sign) => {
      const path = `/sub/a${sign}b/clash`;
      expect(keyOf(path, '/sub/{key}')).toStartWith('must have no ; % & ? and #');
      const marzban = foundIn(path, ['/sub/{key}'], { panel: 'marzban' });
      expect(marzban).toStartWith('must have no ; % & ? and #');
      const key = `a${decodeURIComponent(sign)}b`;
      expect(foundIn(path, ['/sub/{key}'], { panel: '3x-ui' })).toEqual({ key, isProven: true });
    },
  );
});

describe('a key in its exact spelling', () => {
  const encoded = (key: string, panel: Reading['panel'] = '3x-ui') =>
    foundIn(`/sub/${encodeURIComponent(key)}`, ['/sub/{key}'], { panel });

  test.each([
    ['a letter and a sign above it', 'и\u0306', 'й'],
    ['an accent in the middle', 'anne\u0301', 'anné'],
    ['wide letters', 'ａｂｃ', 'abc'],
    ['a ligature', 'ofﬁce', 'office'],
    ['Korean syllables', '\u1112\u1161\u11ab', '한'],
    ['a wide slash', 'a／b', 'a/b'],
    ['a number in a circle', '①', '1'],
  ])('had another one before: %s', (_what, key, before) => {
    expect(encoded(key)).toEqual({ key, isProven: true, former: { key: before, isSame: false } });
    const folded = { key: before, isProven: true, former: { key, isSame: true } };
    for (const panel of [null, 'remnawave'] as const) {
      expect(encoded(key, panel)).toEqual(before.includes('/') ? RULE : folded);
    }
  });

  test.each(['й', "!()'*,$", '"<>^`{|}', '\ue000', '🔑', '❤️', '👩‍💻', '👋🏽'])(
    'has no other one: %p',
    (key) => {
      expect(encoded(key)).toEqual({ key, isProven: true });
    },
  );

  test.each([
    ['a blank that does not break', 'a\u00a0b'],
    ['no width between two letters', 'a\u200bb'],
    ['joiners', 'a\u200db'],
    ['a mark of direction', 'a\u202eb'],
    ['a soft hyphen', 'a\u00adb'],
    ['a variation of a sign', 'a\ufe0f'],
    ['an invisible letter', 'a\u3164'],
    ['a mark at its beginning that is none', '\ufeffa'],
    ['a control character', 'a\u0085'],
    ['a sign for bytes of no letter', 'a\ufffd'],
  ])('is none with %s', (_what, key) => {
    expect(encoded(key)).toBe(RULE);
  });

  test.each([
    ['overlong', '%C1%A1'],
    ['half of a letter', '%D0'],
    ['half of a pair', '%ED%A0%80'],
    ['beyond Unicode', '%F4%90%80%80'],
    ['Latin-1', '%E9'],
  ])('is no path: %s', (_what, key) => {
    expect(readRequestPath(`/sub/${key}`)).toBeNull();
  });
});

describe('a UUID of Hiddify', () => {
  const UUID = '3f1c2a5e-8b7d-4c21-9e0f-6a5b4c3d2e1f';
  const uuidOf = (path: string) => foundIn(path, ['/CL/{key}'], { key: 'hiddify' });

  test.each([
    ['as the panel writes it', UUID, undefined],
    ['in capitals', UUID.toUpperCase(), UUID.toUpperCase()],
    ['in mixed case', `3F${UUID.slice(2)}`, `3F${UUID.slice(2)}`],
    ['percent-encoded', `%33${UUID.slice(1)}`, undefined],
    ['percent-encoded capitals', `3%46${UUID.slice(2)}`, `3F${UUID.slice(2)}`],
  ])('is one key: %s', (_what, written, before) => {
    const former = before === undefined ? {} : { former: { key: before, isSame: true } };
    expect(uuidOf(`/CL/${written}/auto`)).toEqual({ key: UUID, isProven: true, ...former });
  });

  test.each([
    ...['0', '00', 'client', 'api', 'static', `${UUID}0`, UUID.replaceAll('-', ''), `{${UUID}}`],
    ...[`urn:uuid:${UUID}`, UUID.replace('f', 'ｆ'), UUID.replace('3', 'g')],
  ])('is not %p', (text) => {
    expect(uuidOf(`/CL/${encodeURIComponent(text)}/${UUID}`)).toBe('must be a UUID');
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
