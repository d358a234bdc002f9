/** Calls of the console that send: the rules are those of the API. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

const DOMAIN_HASH = 'd'.repeat(64);

let app: TestApp;
let browser: ConsoleBrowser;
let at: string;
let of: Awaited<ReturnType<typeof seedProvider>>;
beforeAll(async () => {
  app = await startTestApp();
  of = await seedProvider(app, { plan: 'enterprise' });
  at = of.code;
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key: of.authKey });
  await browser.get('domains.add', { at, hash: DOMAIN_HASH, name: '' });
  const { code: link } = await browser.get('links.add', { at, limit: 3, note: '' });
  for (const hwid of ['phone-1', 'phone-2']) {
    const query = { id: DOMAIN_HASH, installid: link, hwid, os_name: 'Android' };
    await call(app, '/install', null, query);
  }
});
afterAll(() => app.close());

const TO_ANDROID = { specific_device_toggle: false, os: ['android'] };
const form = (body: string, more = {}) => ({
  PushNotificationForm: { body, type_push: 'optional', expire_days: 7, ...more },
});

test('a preview is filtered, sized, and in each language', async () => {
  const locales = { ru: { title: 'Привет', body: 'ру' } };
  const body = form('a <b>b</b><script>x</script>', { title: 'Hi', locales });
  const preview = await browser.get('send.preview', { at, body });
  expect(preview.texts).toEqual([
    { locale: '', title: 'Hi', link: '', tree: ['a ', { tag: 'b', children: ['b'] }] },
    { locale: 'ru', title: 'Привет', link: '', tree: ['ру'] },
  ]);
  // A language without a title has that of all.
  const bare = form('a', { title: 'Hi', locales: { fa: { body: 'b' } } });
  const { texts } = await browser.get('send.preview', { at, body: bare });
  expect(texts[1]).toMatchObject({ locale: 'fa', title: 'Hi', tree: ['b'] });
  expect([preview.bytes > 100, preview.bytesMax]).toEqual([true, 4096]);
  const large = form('x'.repeat(3_100));
  expect(await browser.refusal('send.preview', { at, body: large })).toBe('message_too_large');
});

test('a preview with placeholders shows three links of the provider, and the longest size', async () => {
  const body = { ...form('<b>{greeting|you}</b> {limit}'), fill: 1 };
  const [{ id } = { id: 0 }] = (await call(app, '/api/list-install', of)).json.data;
  await browser.get('links.edit', { at, id, greeting: 'Anna <3' });
  for (let n = 0; n < 3; n++) await browser.get('links.add', { at, limit: 9, note: '' });
  const preview = await browser.get('send.preview', { at, body });
  expect(preview.texts).toMatchObject([{ tree: [{ children: ['{greeting|you}'] }, ' {limit}'] }]);
  expect(preview).toMatchObject({ isFilled: true, bytesMax: 4096 });
  expect(preview.examples).toHaveLength(3);
  expect(preview.examples[0]?.texts).toMatchObject([{ tree: [{ children: ['you'] }, ' 9'] }]);
  const bare = await browser.get('send.preview', { at, body: { ...body, fill: 0 } });
  expect([bare.examples, bare.isFilled, bare.bytes < preview.bytes]).toEqual([[], false, true]);
  const unknown = { ...form('{note}'), fill: 1 };
  expect(await browser.refusal('send.preview', { at, body: unknown })).toBe('malformed');
  await browser.get('links.edit', { at, id, greeting: null });
});

test('a check counts and sends nothing; a send is the API’s', async () => {
  const body = { ...form('hello'), ...TO_ANDROID };
  const checked = await browser.get('send.check', { at, kind: 'push', body });
  expect(checked).toMatchObject({ id: 0, dueAtMs: null, count: { recipients: 2, reachable: 0 } });
  expect((await listed()).rows).toEqual([]);
  const { id } = await browser.get('send.notification', { at, body });
  expect(id).toBeGreaterThan(0);
  expect(await browser.refusal('send.notification', { at, body })).toBe('general_too_soon');
  expect(await browser.refusal('send.check', { at, kind: 'push', body })).toBe('general_too_soon');
  const named = { ...form('test'), specific_device_toggle: true, hwid: 'phone-1', os: null };
  expect((await browser.get('send.notification', { at, body: named })).count?.recipients).toBe(1);
  const unknown = { ...named, hwid: 'nobody-s' };
  expect(await browser.refusal('send.notification', { at, body: unknown })).toBe(
    'device_not_found',
  );
  const source = await browser.get('send.source', { at, id });
  expect(source).toMatchObject({ kind: 'push', os: ['android'], payload: { body: 'hello' } });
});

function listed() {
  const page = { show: 'all', kind: null, beforeId: null, ids: null } as const;
  return browser.get('messages.list', { at, ...page });
}

const ANY = {
  os: null,
  appVersion: null,
  language: null,
  seenSinceMs: null,
  unseenSinceMs: null,
  domainId: null,
  link: null,
};

test('a filter finds devices, and the send has the filter', async () => {
  const { code, id: linkId } = await browser.get('links.add', { at, limit: 9, note: 'Office' });
  const hwids = Array.from({ length: 7 }, (_, n) => `desk-${n}`);
  for (const hwid of hwids) {
    const query = { id: DOMAIN_HASH, installid: code, hwid, os_name: 'Windows' };
    await call(app, '/install', null, { ...query, app_version: '3.1' });
  }
  expect(linkId).toBeGreaterThan(0);
  const found = await browser.get('send.find', { at, search: { ...ANY, link: 'office' } });
  expect(found).toMatchObject({
    isPart: false,
    count: 7,
    systems: ['Windows'],
    appVersions: ['3.1'],
  });
  expect(found.examples).toHaveLength(7);
  const filtered = { at, body: form('to the office'), segment: { ...ANY, link: 'office' } };
  const checked = await browser.get('send.check', { ...filtered, kind: 'push' });
  expect(checked.count?.recipients).toBe(7);
  const { id } = await browser.get('send.notification', { ...filtered, once: 'office-1' });
  expect((await browser.get('send.notification', { ...filtered, once: 'office-1' })).id).toBe(id);
  const other = { ...filtered, segment: { ...ANY, link: 'offic' }, once: 'office-1' };
  expect(await browser.refusal('send.notification', other)).toBe('malformed');
  expect((await browser.get('send.source', { at, id })).hwids).toBe('');
  const [row] = (await listed()).rows;
  expect(row).toMatchObject({ id, hwids: [], hwidCount: 0, os: null, isByFilter: true });
  const update = { ...filtered, body: { action_type: 'update-subscription' } };
  expect((await browser.get('send.check', { ...update, kind: 'command' })).count?.recipients).toBe(
    7,
  );
  const none = { ...filtered, segment: { ...ANY, link: 'nobody' } };
  expect(await browser.refusal('send.notification', none)).toBe('no_devices_found');
});

test('the console names more HWIDs than the API takes, up to 500', async () => {
  const hwid = Array.from({ length: 7 }, (_, n) => `desk-${n}`).join(',');
  const body = { ...form('to the office'), specific_device_toggle: true, hwid };
  const { id } = await browser.get('send.notification', { at, body });
  expect((await browser.get('send.source', { at, id })).hwids).toBe(hwid);
  const api = await call(
    app,
    '/remote/notification',
    of,
    {},
    { method: 'POST', body: JSON.stringify(body) },
  );
  expect(api.headers.get('x-error-detail')).toBe('hwid must name at most 5 HWIDs');
  const [row] = (await listed()).rows;
  expect(row).toMatchObject({ id, hwids: hwid.split(',').slice(0, 5), hwidCount: 7 });
  const many = Array.from({ length: 501 }, (_, n) => `x${n}`).join(',');
  const over = { ...body, hwid: many };
  expect(await browser.refusal('send.notification', { at, body: over })).toBe('malformed');
});

test('a device that left since the search gets nothing: the filter is of the send', async () => {
  const { code, id: linkId } = await browser.get('links.add', { at, limit: 2, note: 'Leaving' });
  for (const hwid of ['stays', 'leaves']) {
    await call(app, '/install', null, { id: DOMAIN_HASH, installid: code, hwid, os_name: 'iOS' });
  }
  const search = { ...ANY, link: 'leaving' };
  const found = await browser.get('send.find', { at, search });
  const filtered = { at, body: form('x'), segment: search };
  const checked = await browser.get('send.check', { ...filtered, kind: 'push' });
  expect([found.count, checked.count?.recipients]).toEqual([2, 2]);
  await call(app, '/api/delete-hwid', of, { install_code: code, hwid: 'leaves' });
  expect((await browser.get('send.notification', filtered)).count?.recipients).toBe(1);
  expect(linkId).toBeGreaterThan(0);
});

test('one that is scheduled has to wait for five minutes too', async () => {
  const { opensAtMs } = await browser.get('send.opens', { at });
  expect(opensAtMs).not.toBeNull();
  const later = new Date(app.clock.nowMs() + 27 * 3_600_000).toISOString();
  const when = { send_date: later.slice(0, 10), send_time: later.slice(11, 16) };
  const body = { ...form('later', when), ...TO_ANDROID };
  expect(await browser.refusal('send.check', { at, kind: 'push', body })).toBe('general_too_soon');
});

test('it says when the next message to all is accepted', async () => {
  const { nowMs, opensAtMs } = await browser.get('send.opens', { at });
  expect((opensAtMs ?? 0) - nowMs).toBeGreaterThan(0);
  expect((opensAtMs ?? 0) - nowMs).toBeLessThanOrEqual(300_000);
  const other = await seedProvider(app, { plan: 'enterprise' });
  const away = new ConsoleBrowser(app.url);
  await away.get('session.key', { code: other.code, key: other.authKey });
  expect((await away.get('send.opens', { at: other.code })).opensAtMs).toBeNull();
});

test('commands have the settings of the API, with what was left out', async () => {
  const table = await browser.get('send.settings', { at });
  expect(table.find(({ key }) => key === 'ping-type')?.values).toContain('tcp');
  const body = { action_type: 'set-settings', settings: { 'ping-type': 'tcp' }, ...TO_ANDROID };
  expect(await browser.get('send.command', { at, body })).toMatchObject({ notes: [] });
  const wrong = { ...body, settings: { 'ping-type': 'loud' } };
  expect(await browser.refusal('send.command', { at, body: wrong })).toBe('malformed');
  const odd = { ...body, settings: { 'mux-quic': 'maybe' } };
  expect(await browser.get('send.command', { at, body: odd })).toMatchObject({
    notes: [expect.stringContaining('mux-quic should be one of')],
  });
  const moved = { ...TO_ANDROID, action_type: 'sub-change', change_type: 'domain' };
  // The form says in the reader's language that the old domain must still answer.
  const check = await browser.get('send.check', {
    at,
    kind: 'command' as const,
    body: { ...moved, change_value: 'new.example.com' },
  });
  expect(check.notes).toEqual([]);
});

test('a message of another provider is no source', async () => {
  const other = await seedProvider(app);
  const away = new ConsoleBrowser(app.url);
  await away.get('session.key', { code: other.code, key: other.authKey });
  expect(await away.refusal('send.source', { at: other.code, id: 1 })).toBe(
    'notification_not_found',
  );
});

test('with a name a send is made once', async () => {
  const body = { ...form('once'), specific_device_toggle: true, hwid: 'phone-1' };
  const once = crypto.randomUUID();
  const first = await browser.get('send.notification', { at, body, once });
  const again = await browser.get('send.notification', { at, body, once });
  expect(again).toEqual({ id: first.id, count: null, dueAtMs: null, notes: [] });
  const other = { ...body, hwid: 'phone-2' };
  expect(await browser.refusal('send.notification', { at, body: other, once })).toBe('malformed');
  const command = { action_type: 'update-subscription', ...TO_ANDROID };
  expect(await browser.refusal('send.command', { at, body: command, once })).toBe('malformed');
});

test('imported data may be as long as in the API; more is refused in words', async () => {
  const data = (length: number) => ({
    action_type: 'import-data',
    import_data: 'x'.repeat(length),
    specific_device_toggle: true,
    hwid: 'phone-1',
  });
  const check = (length: number) =>
    browser.call('send.check', { at, kind: 'command', body: data(length) });
  expect(await check(250 * 1024)).toMatchObject({ ok: { id: 0 } });
  expect(await check(300 * 1024)).toEqual({
    refused: 'malformed',
    detail: 'the body must not be longer than 263168 bytes',
  });
  const stranger = new ConsoleBrowser(app.url);
  const code = 'x'.repeat(20 * 1024);
  expect(await stranger.call('session.key', { code, key: '' })).toMatchObject({
    refused: 'malformed',
    detail: expect.stringContaining('large bodies'),
  });
  expect(await stranger.refusal('send.settings', { at })).toBe('signed_out');
});

test('a message that was sent says that it has placeholders, and shows them', async () => {
  app.clock.advance(10 * 60_000);
  const body = { ...form('{greeting} {x}'), ...TO_ANDROID };
  const { id: plain } = await browser.get('send.notification', { at, body });
  app.clock.advance(10 * 60_000);
  const asked = { ...form('{greeting}'), ...TO_ANDROID, fill: 1 };
  const { id } = await browser.get('send.notification', { at, body: asked });
  const shown = (await browser.get('messages.show', { at, id })).content;
  expect(shown).toMatchObject({ isFilled: true, texts: [{ body: '{greeting}' }] });
  const other = (await browser.get('messages.show', { at, id: plain })).content;
  expect(other).toMatchObject({ isFilled: false, texts: [{ body: '{greeting} {x}' }] });
  // A copy asks for it again.
  expect((await browser.get('send.source', { at, id })).payload).toMatchObject({ fill: 1 });
});
