/** The name that was meant by an unknown one: of a setting, a variable, a key of a table. */

import { expect, test } from 'bun:test';
import { nearest } from '../../src/config/nearest.ts';
import { settingRows } from '../../src/config/settings/index.ts';

const KEYS = settingRows.map(([, { key }]) => key);

test.each([
  ['a letter too few', 'server.hst', 'server.host'],
  ['two letters exchanged', 'server.prot', 'server.port'],
  ['another case', 'Server.Port', 'server.port'],
  ['another section', 'gate.trusted_proxies', 'server.trusted_proxies'],
  ['no section', 'trusted_proxies', 'server.trusted_proxies'],
  ['an abbreviation', 'tls.cert', 'tls.certificate'],
  ["another program's name for it", 'tls.cert_file', 'tls.certificate'],
  ['the singular', 'server.trusted_proxy', 'server.trusted_proxies'],
])('%s', (_, given, meant) => {
  expect(nearest(given, KEYS)).toBe(meant);
});

test.each(['nonsense', 'server.colour', 'x', '', 'a'.repeat(100_000)])(
  '%p is near none',
  (given) => {
    expect(nearest(given, KEYS)).toBeNull();
  },
);

test('a long name is compared with none', () => {
  const of = (length: number) => nearest('a'.repeat(length), ['a'.repeat(length)]);
  expect([of(100), of(101)]).toEqual(['a'.repeat(100), null]);
});

test('each setting is nearest to itself', () => {
  for (const key of KEYS) expect(nearest(key, KEYS)).toBe(key);
});
