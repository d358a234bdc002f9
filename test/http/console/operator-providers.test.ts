/** The operator's calls about providers: credentials once, terms, the end, and visits. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { authenticate } from '../../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { operatorBrowser } from '../../support/operator.ts';

let app: TestApp;
let operator: ConsoleBrowser;
beforeAll(async () => {
  app = await startTestApp();
  operator = await operatorBrowser(app);
});
afterAll(() => app.close());

const isKey = async (code: string, key: string) =>
  (await authenticate(app.core, code, key, app.clock.nowMs())) !== null;

const TERMS = { name: 'Shop', plan: 'pro' } as const;

test('a provider is added with its terms; the key is shown once', async () => {
  const added = await operator.get('providers.add', {
    ...TERMS,
    lastDay: '2027-01-31',
    linkCountMax: 7,
    whenFull: 'replace-oldest',
  });
  expect(await isKey(added.code, added.authKey)).toBe(true);
  const shown = await operator.get('providers.show', { code: added.code });
  expect(shown).toMatchObject({
    ...TERMS,
    lastDay: '2027-01-31',
    linkCountMax: 7,
    linkCount: 0,
    isActive: true,
    own: { whenFull: 'replace-oldest', inactiveDays: null },
    oldKeyUntilMs: null,
  });
  const all = await operator.get('providers.list', { search: '', afterId: null });
  for (const answer of [shown, all]) {
    expect(JSON.stringify(answer)).not.toMatch(new RegExp(`${added.authKey}|key_?hash`, 'i'));
  }
  expect((await app.core.store.findProvider(added.code))?.activeUntilMs).toBe(
    Date.parse('2027-01-31T21:00:00Z'),
  );
});

test('one that moves in keeps its code and key; a code is there once', async () => {
  const given = { ...TERMS, code: 'MOVEDIN1', authKey: 'k'.repeat(32) };
  expect(await operator.get('providers.add', given)).toEqual({
    code: 'MOVEDIN1',
    authKey: 'k'.repeat(32),
  });
  expect(await operator.refusal('providers.add', given)).toBe('provider_code_exists');
  expect(await operator.refusal('providers.add', { ...given, code: 'short' })).toBe('malformed');
  expect(await operator.refusal('providers.add', { ...given, authKey: 'x' })).toBe('malformed');
});

test.each([
  ['a blank name', { name: '  ' }, 'name must not be blank'],
  ['two lines', { name: 'a\nb' }, 'name must be one line of up to 255 characters in UTF-8'],
  ['no such day', { lastDay: '2027-02-30' }, 'lastDay must be a date, YYYY-MM-DD'],
  ['too many days', { inactiveDays: 3_651 }, 'inactiveDays must be a whole number from 0 to 3650'],
  ['a third state', { enforce: 2 }, 'enforce must be 0 or 1'],
  ['a script as a button', { supportUrl: 'javascript:alert(1)' }, 'supportUrl must be an http'],
  ['a third answer', { rideDesktop: 2 }, 'rideDesktop must be 0 or 1'],
])('%s is refused, and nothing changes', async (_, change, detail) => {
  const { code } = await seedProvider(app);
  const before = await app.core.store.findProvider(code);
  const outcome = await operator.call('providers.edit', { code, ...change });
  expect(outcome).toEqual({ refused: 'malformed', detail: expect.stringContaining(detail) });
  expect(await app.core.store.findProvider(code)).toEqual(before);
});

test('terms change alone; a second suspension keeps the time of the first', async () => {
  const { code } = await seedProvider(app);
  const read = () => app.core.store.findProvider(code);
  const before = await read();
  await operator.get('providers.edit', { code, plan: 'basic', coolDownHours: 3, linkCountMax: 0 });
  expect(await read()).toEqual({
    ...before,
    plan: 'basic',
    coolDownHours: 3,
    installCountMax: 0,
  } as never);
  const firstMs = app.clock.nowMs();
  await operator.get('providers.edit', { code, isSuspended: true });
  app.clock.advance(60_000);
  await operator.get('providers.edit', { code, isSuspended: true });
  expect(await read()).toMatchObject({ suspendedAtMs: firstMs });
  expect(await operator.get('providers.show', { code })).toMatchObject({ isActive: false });
  await operator.get('providers.edit', { code, isSuspended: false, linkCountMax: null });
  expect(await read()).toMatchObject({ suspendedAtMs: null, installCountMax: null, plan: 'basic' });
  const unknown = { code: 'Unknown1', plan: 'pro' } as const;
  expect(await operator.refusal('providers.edit', unknown)).toBe('provider_not_found');
});

test('a new key overlaps with the old one for as long as asked', async () => {
  const { authKey, code } = await seedProvider(app);
  const rotated = await operator.get('providers.rotate', { code, keepOldHours: 2 });
  expect([await isKey(code, rotated.authKey), await isKey(code, authKey)]).toEqual([true, true]);
  const { oldKeyUntilMs } = await operator.get('providers.show', { code });
  expect(oldKeyUntilMs).toBe(app.clock.nowMs() + 2 * 3_600_000);
  app.clock.advance(2 * 3_600_000);
  expect([await isKey(code, rotated.authKey), await isKey(code, authKey)]).toEqual([true, false]);
  expect(await operator.refusal('providers.rotate', { code, keepOldHours: 169 })).toBe('malformed');
});

test('a removal ends keys and records', async () => {
  const credentials = await seedProvider(app);
  await call(app, '/api/add-install', credentials, { install_limit: '2' });
  const { code } = credentials;
  expect(await operator.get('providers.remove', { code })).toBe('ok');
  expect(await isKey(code, credentials.authKey)).toBe(false);
  expect(await operator.refusal('providers.show', { code })).toBe('provider_not_found');
  expect(await operator.refusal('providers.remove', { code })).toBe('provider_not_found');
});

test('many providers are found by a part of name or code, slice by slice', async () => {
  for (let n = 0; n < 60; n++) await seedProvider(app, { name: `Магазин ${n}` });
  const search = 'мАГазин';
  const first = await operator.get('providers.list', { search, afterId: null });
  expect(first.rows).toHaveLength(50);
  const rest = await operator.get('providers.list', { search, afterId: first.nextId });
  expect(rest).toMatchObject({ nextId: null });
  expect([...first.rows, ...rest.rows].map(({ name }) => name)).toEqual(
    Array.from({ length: 60 }, (_, n) => `Магазин ${n}`),
  );
  const one = first.rows[3]?.code ?? '';
  const found = await operator.get('providers.list', { search: one.toLowerCase(), afterId: null });
  expect(found.rows.map(({ code }) => code)).toEqual([one]);
});

test('the provider sees who opened its pages, once a session, and what was changed', async () => {
  const { authKey, code } = await seedProvider(app);
  const observer = await operatorBrowser(app, 'oskar', 'observer');
  for (const browser of [operator, observer, operator]) {
    await browser.get('overview.read', { at: code });
  }
  await operator.get('providers.edit', { code, plan: 'pro' });
  await operator.get('keys.add', { at: code, name: 'bot', scope: 'read', days: null });
  const provider = new ConsoleBrowser(app.url);
  await provider.get('session.key', { code, key: authKey });
  const { rows } = await provider.get('activity.list', {
    at: code,
    who: 'account',
    group: null,
    before: null,
  });
  expect(rows.map(({ action, name }) => `${name} ${action}`)).toEqual([
    ...['olga key.add', 'olga provider.set', 'oskar provider.visit', 'olga provider.visit'],
  ]);
  const again = await operatorBrowser(app);
  await again.get('links.list', {
    at: code,
    isOldest: false,
    beyondId: null,
    countMax: 1,
    filter: { search: null, isFull: false, status: null },
  });
  const after = await provider.get('activity.list', {
    at: code,
    who: 'account',
    group: null,
    before: null,
  });
  expect(after.rows).toHaveLength(5);
});

test('staff with a role at the provider visits nobody', async () => {
  const { authKey, code } = await seedProvider(app);
  const provider = new ConsoleBrowser(app.url);
  await provider.get('session.key', { code, key: authKey });
  await provider.get('overview.read', { at: code });
  const { rows } = await provider.get('activity.list', {
    at: code,
    who: null,
    group: null,
    before: null,
  });
  expect(rows.map(({ action }) => action)).not.toContain('provider.visit');
});
