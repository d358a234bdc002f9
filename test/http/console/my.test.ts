/** Calls of the console about the page of users. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { auditEntries } from '../../support/audit.ts';
import { ConsoleBrowser } from '../../support/console.ts';

let app: TestApp;
let browser: ConsoleBrowser;
let at: string;
beforeAll(async () => {
  app = await startTestApp({ bounds: { myUrl: 'https://gatepost.example.org' } });
  const { code, authKey } = await seedProvider(app);
  at = code;
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code, key: authKey });
});
afterAll(() => app.close());

const GIVEN = { isOn: true, name: ' Northwind ', color: '#0f766e', supportUrl: '' };

test('the page is switched on with its look, and a link has its address and a preview', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 2, note: '' });
  expect(await browser.get('page.show', { at })).toEqual({
    isOn: false,
    name: null,
    color: null,
    supportUrl: null,
    isForbidden: false,
    previewUrl: null,
    coolDownHours: 24,
  });
  expect((await browser.get('links.show', { at, id })).pageUrl).toBeNull();
  expect((await fetch(`${app.url}/my?link=${code}`)).status).toBe(404);
  await browser.get('page.set', { at, ...GIVEN });
  const address = `https://gatepost.example.org/my?link=${code}`;
  expect(await browser.get('page.show', { at })).toMatchObject({
    isOn: true,
    name: 'Northwind',
    color: '#0f766e',
    previewUrl: address,
  });
  expect((await browser.get('links.show', { at, id })).pageUrl).toBe(address);
  const html = await (await fetch(`${app.url}/my?link=${code}`)).text();
  expect(html).toContain('Northwind');
  expect(html).toContain('--brand:#0f766e;--on:#fff');
  expect((await auditEntries(app.core)).at(-1)).toMatchObject({
    action: 'provider.set',
    change: { page: [null, 'on'], page_name: 'changed' },
  });
  await browser.get('links.edit', { at, id, status: 5 });
  expect((await browser.get('links.show', { at, id })).pageUrl).toBeNull();
});

test.each([
  ['name', { name: 'a\nb' }],
  ['name', { name: 'x'.repeat(65) }],
  ['color', { color: 'red' }],
  ['color', { color: '}*{x:' }],
  ['supportUrl', { supportUrl: 'javascript:alert(1)' }],
])('an odd %s is refused, and changes nothing', async (field, odd) => {
  const before = await browser.get('page.show', { at });
  const reply = await browser.call('page.set', { at, ...GIVEN, ...odd });
  expect(reply).toMatchObject({ refused: 'malformed' });
  expect(JSON.stringify(reply)).toContain(field);
  expect(await browser.get('page.show', { at })).toEqual(before);
});

test('a page that the operator forbids says so', async () => {
  const forbidding = await startTestApp({ bounds: { myPath: '' } });
  try {
    const of = await seedProvider(forbidding);
    const other = new ConsoleBrowser(forbidding.url);
    await other.get('session.key', { code: of.code, key: of.authKey });
    expect(await other.get('page.show', { at: of.code })).toMatchObject({ isForbidden: true });
    expect((await call(forbidding, '/api/list-install', of)).json.rc).toBe(1);
  } finally {
    await forbidding.close();
  }
});
