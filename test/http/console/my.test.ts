/** Calls of the console about the page of users. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { fieldsOf, only, outside, usualOf } from '../../../src/core/field.ts';
import type { OwnMy } from '../../../src/core/port/my.ts';
import type { Provider } from '../../../src/core/port/provider.ts';
import { MY_TERMS } from '../../../src/core/terms.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { auditEntries } from '../../support/audit.ts';
import { ConsoleBrowser } from '../../support/console.ts';

let app: TestApp;
let browser: ConsoleBrowser;
let at: string;
let authKey: string;
beforeAll(async () => {
  app = await startTestApp({ bounds: { myUrl: 'https://gatepost.example.org' } });
  const { code, authKey: key } = await seedProvider(app);
  [at, authKey] = [code, key];
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code, key });
});
afterAll(() => app.close());

const GIVEN = { my: 1, myName: ' Northwind ', myColor: '#0f766e', supportUrl: '' };

test('the page is switched on with its look, and a link has its address and a preview', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 2, note: '' });
  expect(await browser.get('page.show', { at })).toEqual({
    own: { ...usualOf<OwnMy>(MY_TERMS), myCutOff: 0, supportUrl: null, webPageUrl: null },
    isForbidden: false,
    previewUrl: null,
    coolDownHours: 24,
  });
  expect((await browser.get('links.show', { at, id })).pageUrl).toBeNull();
  expect((await fetch(`${app.url}/my?link=${code}`)).status).toBe(404);
  await browser.get('page.set', { at, ...GIVEN });
  const address = `https://gatepost.example.org/my?link=${code}`;
  expect(await browser.get('page.show', { at })).toMatchObject({
    own: { my: 1, myName: 'Northwind', myColor: '#0f766e', supportUrl: null },
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
  ['myName', { myName: 'a\nb' }],
  ['myName', { myName: 'x'.repeat(65) }],
  ['myColor', { myColor: 'red' }],
  ['myColor', { myColor: '}*{x:' }],
  ['supportUrl', { supportUrl: 'javascript:alert(1)' }],
])('an odd %s is refused, and changes nothing', async (field, odd) => {
  const before = await browser.get('page.show', { at });
  const reply = await browser.call('page.set', { at, ...GIVEN, ...odd });
  expect(reply).toMatchObject({ refused: 'malformed' });
  expect(JSON.stringify(reply)).toContain(field);
  expect(await browser.get('page.show', { at })).toEqual(before);
});

test('the console shows what the API set, the API what the console set, and both what is stored', async () => {
  const own = { my: 1, myName: 'Southwind', myColor: '#123abc' } as const;
  const given = { page: 1, page_name: 'Southwind', page_color: '#123abc' };
  const of = await app.core.store.findProvider(at);
  const ask = { code: at, authKey };
  expect((await call(app, '/api/policy', ask, given)).json).toMatchObject(given);
  expect((await browser.get('page.show', { at })).own).toMatchObject(own);
  await browser.get('page.set', { at, ...GIVEN });
  const { json } = await call(app, '/api/policy', ask);
  const after = await app.core.store.findProvider(at);
  expect(after).toEqual({ ...of, ...only(after as Provider, fieldsOf(MY_TERMS)) } as Provider);
  expect(json).toMatchObject(outside(MY_TERMS, after as Provider));
  expect(json).toMatchObject({ page: 1, page_name: 'Northwind', page_color: '#0f766e' });
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
