/** A new webhook has a URL or a chat, and what belongs to it alone. */

import { expect, test } from 'bun:test';
import { addWebhook, editWebhook, targetOf } from '../../src/core/webhook.ts';
import { readSettings } from '../../src/core/webhook-fields.ts';

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

test.each([
  [1, { events: 'backup.failed' }, /^events must be all, or of link\.created/],
  [null, { events: ['link.full'] }, /^events must be all, or of backup\.failed/],
  [1, { shows: 'phone,all' }, 'with must be none, or of note, phone'],
  [1, { locale: 'de' }, 'locale must be en, ru, zh or fa'],
] as const)('settings of owner %p do not fit: %p', (owner, given, detail) => {
  expect(readSettings(owner, given)).toMatchObject({ detail: expect.stringMatching(detail) });
});

test('settings are read as lists and between commas', () => {
  const read = { events: ['link.full', 'key.rotated'], shows: [] } as const;
  expect(readSettings(1, { events: 'key.rotated, link.full', shows: 'none' })).toEqual(
    read as never,
  );
  expect(readSettings(1, read)).toEqual(read as never);
  expect(readSettings(null, { events: 'all' })).toEqual({ events: [] });
});

test('the core reads settings itself, whatever a surface let pass', async () => {
  const core = {} as Parameters<typeof addWebhook>[0];
  const given = { events: ['backup.failed'] } as const;
  const target = { kind: 'telegram', chat: '-100' } as const;
  const webhook = { providerId: 1, target } as unknown as Parameters<typeof editWebhook>[1];
  const misfit = { says: 'malformed', detail: expect.stringMatching(/^events must be all/) };
  expect(await addWebhook(core, 1, { target, token: 'x', ...given }, 0)).toMatchObject(misfit);
  expect(await editWebhook(core, webhook, given, 0)).toMatchObject(misfit);
});
