/** The overview of a provider: the use of its bounds, and whether it may change anything. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ACT } from '../../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('says how much of each bound is used', async () => {
  const { code: at, authKey: key } = await seedProvider(app, { plan: 'enterprise' });
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key });
  const uses = async () => {
    const { quotas } = await browser.get('overview.read', { at });
    return Object.fromEntries(quotas.map(({ name, used }) => [name, used]));
  };
  const none = { links: 0, domains: 0, webhooks: 0, keys: 0, sends: 0, ledger_rows: 0 };
  expect(await uses()).toEqual({ ...none, kept_bytes: 0 });
  await browser.get('domains.add', { at, hash: 'a'.repeat(64), name: '' });
  const { code } = await browser.get('links.add', { at, limit: 1, note: '' });
  await browser.get('keys.add', { at, name: 'shop', scope: 'read', days: null });
  const query = { id: 'a'.repeat(64), installid: code, hwid: 'x', os_name: 'Android' };
  await call(app, '/install', null, query);
  const PushNotificationForm = { body: 'x', type_push: 'optional', expire_days: 7 };
  const body = { PushNotificationForm, specific_device_toggle: true, hwid: 'x' };
  await browser.get('send.notification', { at, body });
  const used = await uses();
  expect(used).toMatchObject({ ...none, links: 1, domains: 1, keys: 1, sends: 1 });
  expect(used['kept_bytes']).toBeGreaterThan(200);
  app.clock.advance(60_000);
  expect(await uses()).toMatchObject({ sends: 0, kept_bytes: used['kept_bytes'] });
  const limits = (await browser.get('overview.read', { at })).quotas;
  expect(limits.find(({ name }) => name === 'links')?.max).toBe(
    app.core.limits.linksPerProviderMax,
  );
});

test('says whether a domain is active, a disabled one is not', async () => {
  const { code: at, authKey: key } = await seedProvider(app);
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key });
  const hasDomain = async () => (await browser.get('overview.read', { at })).hasDomain;
  expect(await hasDomain()).toBe(false);
  await browser.get('domains.add', { at, hash: 'b'.repeat(64), name: '' });
  expect(await hasDomain()).toBe(true);
  const [domain] = await browser.get('domains.list', { at });
  await browser.get('domains.delete', { at, id: domain?.id ?? 0 });
  expect(await hasDomain()).toBe(false);
  expect((await browser.get('setup.read', { at })).hasDomain).toBe(false);
});

test('says when the subscription is over', async () => {
  const { code: at, authKey: key } = await seedProvider(app);
  const browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key });
  const read = () => browser.get('overview.read', { at });
  expect(await read()).toMatchObject({ isActive: true, isSuspended: false });
  await app.core.store.updateProvider(at, { activeUntilMs: app.clock.nowMs() }, ACT);
  expect(await read()).toMatchObject({ isActive: false, isSuspended: false });
});
