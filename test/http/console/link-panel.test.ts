/** Calls of the console about one link. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hwidOfHash } from '../../../src/core/formats.ts';
import { hwidHash } from '../../../src/core/secret.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { moveIn } from '../../support/moving-in.ts';

const DOMAIN_HASH = 'c'.repeat(64);

let app: TestApp;
let browser: ConsoleBrowser;
let at: string;
beforeAll(async () => {
  app = await startTestApp();
  const { code, authKey } = await seedProvider(app);
  at = code;
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code, key: authKey });
  await browser.get('domains.add', { at, hash: DOMAIN_HASH, name: 'sub.example.com' });
});
afterAll(() => app.close());

async function knock(installid: string, hwid: string, model = 'Pixel 9') {
  const facts = { hwid, os_name: 'Android', device_model: model, app_version: '3.1' };
  return (await call(app, '/install', null, { id: DOMAIN_HASH, installid, ...facts })).json.rc;
}

async function refusedAt(linkId: number) {
  // Refused devices are kept in groups.
  await app.core.store.saveFigures();
  return (await browser.get('links.show', { at, id: linkId })).refused;
}

test('a phone with a new HWID is seen on the link, and at its door', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 2, note: 'Anna' });
  expect(await knock(code, 'old')).toBe(1);
  app.clock.advance(3_600_000);
  expect(await knock(code, 'new')).toBe(1);
  expect(await knock(code, 'third')).toBe(0);
  const shown = await browser.get('links.show', { at, id });
  expect(shown).toMatchObject({ code, note: 'Anna', limit: 2, deviceCount: 2, status: 10 });
  expect(shown.devices.map(({ hwid, wasHwid }) => [hwid, wasHwid])).toEqual([
    ['new', 'old'],
    ['old', null],
  ]);
  expect(shown.devices[0]).toMatchObject({ os: 'android', deviceName: 'Pixel 9' });
  // The newer one joined in the same minute: that is another phone.
  expect(await refusedAt(id)).toMatchObject([
    { hwid: 'third', reason: 'link_limit_reached', remedy: 'room', wasHwid: 'old', count: 1 },
  ]);
});

test('what would let a refused device in', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 1, note: '' });
  await knock(code, 'first', 'A');
  await knock(code, 'second', 'B');
  const remedies = async () => (await refusedAt(id)).map(({ remedy }) => remedy);
  expect(await remedies()).toEqual(['room']);
  await browser.get('links.edit', { at, id, limit: 2 });
  expect(await remedies()).toEqual(['now']);
  await browser.get('links.edit', { at, id, status: 5 });
  expect(await remedies()).toEqual(['enable']);
  await browser.get('links.edit', { at, id, status: 10 });
  const [domain] = await browser.get('domains.list', { at });
  await browser.get('domains.delete', { at, id: domain?.id ?? 0 });
  expect(await remedies()).toEqual(['domain']);
  await browser.get('domains.add', { at, hash: DOMAIN_HASH, name: '' });
  await call(app, '/install', null, { id: DOMAIN_HASH, installid: code });
  expect((await remedies()).sort()).toEqual(['hwid', 'now']);
});

test('a device whose domain is not bound needs its domain, whatever else is bound', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 3, note: '' });
  const hash = '9'.repeat(64);
  await call(app, '/install', null, { id: hash, installid: code, hwid: 'x' });
  const remedy = async () => (await refusedAt(id)).map((one) => `${one.reason} ${one.remedy}`);
  expect(await remedy()).toEqual(['link_domain_not_bound domain']);
  app.clock.advance(1_000);
  await browser.get('domains.add', { at, hash, name: '' });
  expect(await remedy()).toEqual(['link_domain_not_bound now']);
});

test('is changed within the bounds, and removed', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 3, note: 'a' });
  for (const hwid of ['x', 'y']) await knock(code, hwid);
  expect(await browser.refusal('links.edit', { at, id, limit: 1 })).toBe(
    'install_limit_below_count',
  );
  expect(await browser.refusal('links.edit', { at, id, limit: 0 })).toBe('malformed');
  await browser.get('links.edit', { at, id, note: '' });
  expect((await browser.get('links.show', { at, id })).note).toBeNull();
  await browser.get('links.remove', { at, id });
  expect(await browser.refusal('links.show', { at, id })).toBe('install_not_found');
});

test('has its final link in the forms of apps', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 3, note: '' });
  const url = 'https://sub.example.com/s/abc#old';
  const forms = await browser.get('links.final', { at, id, url, title: 'My VPN' });
  const of = Object.fromEntries(forms.map(({ app: name, text }) => [name, text]));
  expect(of['plain']).toBe(`https://sub.example.com/s/abc#My%20VPN?installid=${code}`);
  expect(of['query']).toBe(`https://sub.example.com/s/abc?installid=${code}#My%20VPN`);
  for (const wrong of ['javascript:alert(1)', 'https://a:b@sub.example.com/s', 'https://']) {
    const odd = { at, id, url: wrong, title: null };
    expect(await browser.refusal('links.final', odd)).toBe('malformed');
  }
  // The final link of another link was pasted.
  const pasted = ' https://sub.example.com/s?a=%20&InstallID=other&installid#My?installid=other';
  const [plain] = await browser.get('links.final', { at, id, url: pasted, title: ' ' });
  expect(plain?.text).toBe(`https://sub.example.com/s?a=%20#sub.example.com?installid=${code}`);
});

test('a link of another provider is unknown', async () => {
  const other = await seedProvider(app);
  const added = await call(app, '/api/add-install', other, { install_limit: 1 });
  const { id } = added.json;
  for (const name of ['links.show', 'links.remove', 'links.edit'] as const) {
    expect([name, await browser.refusal(name, { at, id })]).toEqual([name, 'install_not_found']);
  }
});

test('a device that its hash alone names is shown as such, until it comes', async () => {
  const { id, code } = await browser.get('links.add', { at, limit: 2, note: '' });
  const hwid = hwidOfHash(hwidHash('moved'));
  await moveIn(app, at, code, hwid);
  await knock(code, 'here');
  const shown = await browser.get('links.show', { at, id });
  expect(shown.devices.map((device) => [device.hwid, device.isByHash])).toEqual([
    ['here', false],
    [hwid, true],
  ]);
  expect(await knock(code, 'moved')).toBe(1);
  const after = await browser.get('links.show', { at, id });
  expect(after.devices.map((device) => [device.hwid, device.isByHash])).toEqual([
    ['moved', false],
    ['here', false],
  ]);
});
