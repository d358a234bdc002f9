/** Tokens of Marzban and PasarGuard: whose they are, and which the panel signed. */

import { describe, expect, test } from 'bun:test';
import { keyIn, readKeyPath, readPath } from '../../../src/core/key-path.ts';
import { isRefused } from '../../../src/core/outcome.ts';
import { isSigned, readPanelToken } from '../../../src/core/panel/token.ts';
import { readPlainKey, readSubscriptionKey } from '../../../src/core/subscription-key.ts';
import { formOf } from '../../support/signed-form.ts';
import {
  digestToken,
  jwtToken,
  MARZBAN_FORMS,
  macToken,
  OTHER_SECRET,
  PASARGUARD_FORMS,
  SECRET,
} from '../../support/signing-panel.ts';

const NOW_S = 1_767_225_600;
const JWT_OF_ALICE =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGljZV8xIiwiYWNjZXNzIjoic3Vic2NyaXB0aW9uIiwiaWF0IjoxNzY3MjI1NjAwfQ.KhW2-F0lzY-VrrKJ3jxwMf2emAtjJAA_GBg8-_j2AT4';

/** Made by the functions of the panels' own sources, in Python, with this secret. */
const OF_PANELS = [
  ['marzban', 'marzban/alice_1', 'YWxpY2VfMSwxNzY3MjI1NjAwppkRGgev9M'],
  ['marzban', 'marzban/alice_1', JWT_OF_ALICE],
  ['pasarguard', 'pasarguard/7', 'djIsNywxNzY3MjI1NjAwqJXPQQ1IeW'],
  ['pasarguard', 'pasarguard/7', 'djIsNywxNzY3MjI1NjAwa895cf410d'],
  [
    'pasarguard',
    'pasarguard/7',
    'djMsNywxNzY3MjI1NjAw.KvAe8Qi4ph-m8N-yK491C07MpNECK9OOOOwvkVB66Nw',
  ],
  ['pasarguard', 'pasarguard/name/alice_1', 'YWxpY2VfMSwxNzY3MjI1NjAwppkRGgev9M'],
  ['pasarguard', 'pasarguard/name/alice_1', JWT_OF_ALICE],
] as const;

test.each(OF_PANELS)('a token of %s is of %s: %.20s', (panel, key, text) => {
  const token = readPanelToken(formOf(panel), text);
  if (token === null) throw new Error('it was not read');
  expect(token.key).toBe(key);
  expect(isSigned(token, SECRET)).toBe(true);
  expect(isSigned(token, OTHER_SECRET)).toBe(false);
  for (const at of [3, text.length - 12, text.length - 5]) {
    const other = text[at] === 'A' ? 'B' : 'A';
    const bent = readPanelToken(formOf(panel), text.slice(0, at) + other + text.slice(at + 1));
    expect(bent !== null && isSigned(bent, SECRET)).toBe(false);
  }
});

test('all tokens of one user have one key, which is that of an import', () => {
  for (const [at, make] of MARZBAN_FORMS.entries()) {
    const token = readPanelToken(formOf('marzban'), make('bob.2@x', NOW_S + at));
    expect(token?.key).toBe('marzban/bob.2@x');
  }
  for (const [at, make] of PASARGUARD_FORMS.entries()) {
    const token = readPanelToken(formOf('pasarguard'), make('12345', NOW_S + at));
    expect(token?.key).toBe('pasarguard/12345');
  }
});

describe('is no token, whoever signed it:', () => {
  const claims = { sub: 'bob', access: 'subscription', iat: NOW_S };
  test.each([
    ['less than a panel reads', 'marzban', digestToken('b,1')],
    ['an endless text', 'marzban', digestToken(`${'b'.repeat(128)},${'1'.repeat(300)}`)],
    ['a name without a time', 'marzban', digestToken('bob-without-a-time')],
    ['a name with a blank', 'marzban', digestToken(`bob 2,${NOW_S}`)],
    ['no name', 'marzban', digestToken(`,${NOW_S}`)],
    ['three parts', 'marzban', digestToken(`v2,7,${NOW_S}`)],
    ['a token of PasarGuard', 'marzban', macToken(`v3,7,${NOW_S}`)],
    ['a name that is signed as PasarGuard signs', 'marzban', macToken(`bob,${NOW_S}`)],
    ['another version', 'pasarguard', macToken(`v4,7,${NOW_S}`)],
    ['a number with a nought before', 'pasarguard', macToken(`v3,07,${NOW_S}`)],
    ['a number with a sign', 'pasarguard', macToken(`v3,+7,${NOW_S}`)],
    ['a number with a blank', 'pasarguard', macToken(`v3, 7,${NOW_S}`)],
    ['no user', 'pasarguard', macToken(`v3,0,${NOW_S}`)],
    ['a short signature', 'pasarguard', macToken(`v3,7,${NOW_S}`).slice(0, -1)],
    ['a second spelling', 'marzban', `Ym9i.LDE${'A'.repeat(10)}`],
    ['stray bits at the end', 'marzban', `Ym9iLDF${'A'.repeat(10)}`],
    ['a token for an admin', 'marzban', jwtToken({ ...claims, access: 'admin' })],
    ['one more claim', 'marzban', jwtToken({ ...claims, exp: 1 })],
    ['no time', 'marzban', jwtToken({ sub: 'bob', access: 'subscription' })],
    ['a name that is no text', 'marzban', jwtToken({ ...claims, sub: ['bob'] })],
    ['a name with a slash', 'marzban', jwtToken({ ...claims, sub: 'bob/2' })],
    ['four parts', 'marzban', `${jwtToken(claims)}.x`],
    ['claims that are no JSON', 'marzban', `${jwtToken({}).split('.')[0]}.AAAA.${'A'.repeat(43)}`],
    ['no claims', 'marzban', `${jwtToken({}).split('.')[0]}.bnVsbA.${'A'.repeat(43)}`],
    ['a plain key', 'marzban', 'a1b2c3d4e5f6g7h8'],
    ['the key of a link', 'marzban', 'marzban/alice_1'],
  ] as const)('%s', (_why, panel, text) => {
    expect(readPanelToken(formOf(panel), text)).toBeNull();
  });
});

test('no path spells the key of a token, and an operator may', () => {
  for (const key of ['marzban/bob.2@x', 'pasarguard/7', 'pasarguard/name/bob']) {
    expect(readSubscriptionKey(key)).toBe(key);
    expect(isRefused(readPlainKey(key))).toBe(true);
    expect(readPath(`/sub/${encodeURIComponent(key)}`)).toBeNull();
  }
  for (const key of ['marzban/', 'marzban/a/b', 'pasarguard/07', 'hiddify/1', '/marzban/a']) {
    expect(isRefused(readSubscriptionKey(key))).toBe(true);
  }
});

test('a path with a token is read by its kind, and proven by the secret alone', () => {
  const template = readKeyPath('/sub/{key}');
  if (isRefused(template)) throw new Error(template.detail);
  const of = (key: 'plain' | 'marzban', secret: string | null, token: string) =>
    keyIn({ keyPaths: [template], key, secret, panel: null }, ['sub', token, 'info']);
  const token = digestToken(`bob,${NOW_S}`);
  expect(of('plain', SECRET, token)).toEqual({ key: token, isProven: true });
  const bob = { key: 'marzban/bob', token: { text: token, signedAtMs: NOW_S * 1_000 } };
  expect(of('marzban', SECRET, token)).toEqual({ ...bob, isProven: true });
  expect(of('marzban', null, token)).toEqual({ ...bob, isProven: false });
  expect(isRefused(of('marzban', OTHER_SECRET, token))).toBe(true);
  expect(isRefused(of('marzban', null, 'marzban'))).toBe(true);
});
