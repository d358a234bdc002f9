/** A new webhook has a URL or a chat, and what belongs to it alone. */

import { expect, test } from 'bun:test';
import { targetOf } from '../../src/core/webhook.ts';

const NONE = { url: null, signature: null, chat: null, token: null, locale: null, shows: null };
const URL = { ...NONE, url: 'https://bot.example.com' };
const CHAT = { ...NONE, chat: '-100', token: 'token' };

test.each([
  ['nothing', NONE, 'url_or_chat'],
  ['both', { ...URL, ...CHAT, url: URL.url }, 'url_or_chat'],
  ['a chat without a token', { ...CHAT, token: null }, 'token_missing'],
  ['a chat with a signature', { ...CHAT, signature: 'v1' as const }, 'signature_of_chat'],
  ['a URL with a token', { ...URL, token: 'token' }, 'token_of_url'],
  ['a URL with a locale', { ...URL, locale: 'fa' as const }, 'locale_of_url'],
  ['a URL with facts', { ...URL, shows: [] }, 'shows_of_url'],
])('%s is no target', (_, given, fault) => {
  expect(targetOf<string>(given)).toBe(fault as never);
});

test('what is not given has its default', () => {
  expect(targetOf<string>(URL)).toEqual({ kind: 'webhook', url: URL.url, scheme: 'v1' });
  const chat = { kind: 'telegram' as const, chat: '-100', locale: 'en' as const, shows: [] };
  expect(targetOf<string>(CHAT)).toEqual(chat);
});
