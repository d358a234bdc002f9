import { expect, test } from 'bun:test';
import { addWebhook, updateWebhook } from '../../../src/core/audit/deeds.ts';
import type { Webhook } from '../../../src/core/port/webhook.ts';

const URL = 'https://bot.example.com/a-secret';
const HOOK: Pick<Webhook, 'id' | 'target' | 'events' | 'disabled'> = {
  id: 1,
  target: { kind: 'webhook', url: URL, scheme: 'v1' },
  events: [],
  disabled: null,
};
const CHAT: typeof HOOK = { ...HOOK, target: { kind: 'telegram', chat: '-100', locale: 'en' } };

test('the entry of a new webhook has its kind and events, and no address', () => {
  expect(addWebhook(HOOK).object).toEqual({ id: 1, kind: 'webhook', events: 'all' });
});

test.each<[string, typeof HOOK, typeof HOOK, object | undefined]>([
  ['nothing', HOOK, HOOK, undefined],
  ['the kinds', HOOK, { ...HOOK, events: ['link.full'] }, { events: ['all', 'link.full'] }],
  ['the end', HOOK, { ...HOOK, disabled: { atMs: 1, why: 'x' } }, { enabled: [true, false] }],
  [
    'the address',
    HOOK,
    { ...HOOK, target: { kind: 'webhook', url: `${URL}2`, scheme: 'v1' } },
    { address: 'changed' },
  ],
  [
    'the scheme',
    HOOK,
    { ...HOOK, target: { kind: 'webhook', url: URL, scheme: 'v1a' } },
    { scheme: ['v1', 'v1a'] },
  ],
  [
    'all of a chat',
    CHAT,
    { ...CHAT, target: { kind: 'telegram', chat: '-101', locale: 'fa', shows: ['note', 'phone'] } },
    { locale: ['en', 'fa'], with: ['', 'note,phone'], address: 'changed' },
  ],
])('an entry holds what differs: %s', (_, before, after, change) => {
  expect(updateWebhook(before, after)?.change).toEqual(change as never);
});
