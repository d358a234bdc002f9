/** A provider without a subscription: what the API refuses, the console refuses. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { CallName } from '../../../src/call/table.ts';
import { ACT } from '../../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('nothing is changed or sent without a subscription; what is there is seen', async () => {
  const of = await seedProvider(app, { plan: 'enterprise' });
  const at = of.code;
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key: of.authKey });
  const { id: linkId } = await browser.get('links.add', { at, limit: 1, note: '' });
  const target = { kind: 'telegram', chat: '-100', locale: 'en' } as const;
  const token = '123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  const { id } = await browser.get('webhooks.add', { at, target, token, events: [] });
  const domainHash = 'b'.repeat(64);
  const { id: domainId } = await browser.get('domains.add', { at, hash: domainHash, name: '' });
  await app.core.store.updateProvider(at, { suspendedAtMs: app.clock.nowMs() }, ACT);
  expect((await call(app, '/api/webhook-remove', of, { id })).json.msg).toContain('subscription');
  const filter = { search: null, status: null, isFull: false };
  const body = {};
  const draft = { key: null, code: null, limit: 1, note: null };
  const changes: Partial<Record<CallName, object>> = {
    'webhooks.add': { target, token, events: [] },
    'webhooks.edit': { id, isEnabled: false },
    'webhooks.rotate': { id, token },
    'webhooks.test': { id },
    'webhooks.remove': { id },
    'domains.add': { hash: domainHash, name: '' },
    'domains.delete': { id: domainId },
    'links.add': { limit: 1, note: '' },
    'links.add-many': { drafts: [draft] },
    'links.edit': { id: linkId, limit: 2 },
    'links.remove': { id: linkId },
    'links.bulk': { filter, change: null },
    'links.revoke': { linkId },
    'slots.free': { linkId, hwid: 'phone-1' },
    'slots.free-all': { linkId },
    'messages.cancel': { id: 1 },
    'send.notification': { body },
    'send.command': { body },
    'page.set': { my: 1, myName: '', myColor: '', supportUrl: '' },
    'send.check': { kind: 'push', body },
  };
  for (const [name, given] of Object.entries(changes)) {
    const says = await browser.refusal(name as CallName, { at, ...given } as never);
    expect(`${name} ${says}`).toBe(`${name} subscription_required`);
  }
  expect((await browser.get('webhooks.list', { at })).webhooks).toHaveLength(1);
  expect((await browser.get('overview.read', { at })).isSuspended).toBe(true);
});
