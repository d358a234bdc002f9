import { describe, expect, test } from 'bun:test';
import { type KeyPath, keyIn, readKeyPath, readPath } from '../../src/core/key-path.ts';
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
  const found = keyIn(templates(...texts), readPath(path) ?? []);
  return isRefused(found) ? misfitOf(found) : found;
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
  const rule = 'must be 4 to 256 letters, digits, . _ ~ = @ + and -';
  expect(keyOf('/sub/abc', '/sub/{key}')).toBe(rule);
  expect(keyOf('/sub/ab%20cd', '/sub/{key}')).toBe(rule);
  expect(keyOf(`/sub/${'k'.repeat(257)}`, '/sub/{key}')).toBe(rule);
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
