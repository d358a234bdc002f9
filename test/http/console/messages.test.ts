/** Messages after they were accepted, and the activity of a provider, by the console's calls. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { openSession } from '../../../src/core/account/session.ts';
import { pageAudit } from '../../../src/core/audit/page.ts';
import type { Role } from '../../../src/core/port/account.ts';
import type { Credentials } from '../../../src/core/provider.ts';
import { ACT } from '../../support/actor.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { byBinding, post, register } from '../../support/messaging.ts';
import { bind, HASH } from '../../support/shop.ts';

const MINUTE_MS = 60_000;

let app: TestApp;
let own: Credentials;
let browser: ConsoleBrowser;
let at: string;

beforeAll(async () => {
  app = await startTestApp();
});
beforeEach(async () => {
  await app.reset();
  own = await seedProvider(app);
  at = own.code;
  await bind(app, own);
  browser = await browserOf(own);
});
afterAll(() => app.close());

async function browserOf({ code, authKey: key }: Credentials): Promise<ConsoleBrowser> {
  const made = new ConsoleBrowser(app.url);
  await made.get('session.key', { code, key });
  return made;
}

async function browserAs(role: Role): Promise<ConsoleBrowser> {
  const providerId = (await app.core.store.findProvider(at))?.id ?? 0;
  const grant = { providerId, role };
  const nowMs = app.clock.nowMs();
  const draft = { name: role, grant, countMax: 9, createdAtMs: nowMs, invitation: null };
  const added = await app.core.store.addAccount(draft, ACT);
  if (typeof added === 'string') throw new Error(added);
  const owner = { accountId: added.id, providerId: null, keyHash: null };
  const signedIn = { owner, actor: { kind: 'account', name: role } } as const;
  const made = new ConsoleBrowser(app.url);
  const from = { client: '127.0.0.1', agent: '' };
  made.cookie = `__Host-gatepost=${await openSession(app.core, from, signedIn, 'link', nowMs)}`;
  return made;
}

const checkIn = (hwid: string, device_name = '') => {
  const query = { id: at, domain_hash: HASH, hwid, os_name: 'android', device_model: device_name };
  return call(app, '/provider', null, query);
};

async function send(path: string, body: object, by = own): Promise<number> {
  const sent = await call(app, path, by, {}, { method: 'POST', body: JSON.stringify(body) });
  if (sent.json.rc !== 1) throw new Error(sent.text);
  return sent.json.id;
}
const FORM = { title: 'Hello', body: '<b>Good</b> day', type_push: 'optional', expire_days: 1 };
const notify = (form: object = {}, target: object = { os: ['android'] }) =>
  send('/remote/notification', { PushNotificationForm: { ...FORM, ...form }, ...target });
const command = (more: object) => send('/remote/command', { os: ['android'], ...more });

/** The time in UTC+3, as a send has it. */
function inMinutes(minutes: number) {
  const local = new Date(app.clock.nowMs() + (180 + minutes) * MINUTE_MS).toISOString();
  return { send_date: local.slice(0, 10), send_time: local.slice(11, 16) };
}

const listed = async (more: object = {}) => {
  const page = { at, show: 'all', kind: null, ids: null, beforeId: null } as const;
  return (await browser.get('messages.list', { ...page, ...more })).rows;
};

test('a list has state, targets and times of each message', async () => {
  await checkIn('phone');
  const sent = await notify();
  await app.deliver();
  const update = await command({ action_type: 'update-subscription', hwid: 'phone' });
  const later = await command({ action_type: 'update-subscription', ...inMinutes(60) });
  const all = await listed();
  expect(all.map(({ id }) => id)).toEqual([later, update, sent]);
  expect(all).toMatchObject([
    { kind: 'command', state: 'scheduled', action: 'update-subscription', os: ['android'] },
    { kind: 'command', state: 'queued', os: null, hwids: ['phone'], dueAtMs: null },
    { kind: 'push', state: 'sent', title: 'Hello', recipients: 1, sent: 1, failed: 0 },
  ]);
  const dueAtMs = all[0]?.dueAtMs ?? 0;
  expect(dueAtMs).toBeGreaterThan(app.clock.nowMs() + 59 * MINUTE_MS);
  expect(all.map(({ cancelUntilMs }) => cancelUntilMs)).toEqual([
    dueAtMs - 10 * MINUTE_MS,
    ...[null, null],
  ]);
  expect((await listed({ show: 'scheduled' })).map(({ id }) => id)).toEqual([later]);
  expect((await listed({ show: 'running' })).map(({ id }) => id)).toEqual([update]);
  expect((await listed({ show: 'ended' })).map(({ id }) => id)).toEqual([sent]);
  expect(await listed({ show: 'failed' })).toEqual([]);
  expect((await listed({ kind: 'push' })).map(({ id }) => id)).toEqual([sent]);
  expect((await listed({ ids: [sent, later] })).map(({ id }) => id)).toEqual([later, sent]);
});

test('the panel has what a message says, as text', async () => {
  await checkIn('phone');
  const locales = { ru: { title: 'Привет', body: '<i>День</i>' } };
  const link_for_open = 'https://site.example/a';
  const push = await notify({ locales, link_for_open });
  expect(await browser.get('messages.show', { at, id: push })).toMatchObject({
    content: {
      kind: 'push',
      texts: [
        { locale: '', title: 'Hello', body: 'Good day', link: link_for_open },
        { locale: 'ru', title: 'Привет', body: 'День', link: '' },
      ],
    },
    reach: null,
  });
  const data = await command({ action_type: 'import-data', import_data: 'привет' });
  expect((await browser.get('messages.show', { at, id: data })).content).toEqual({
    kind: 'command',
    action: 'import-data',
    text: 'привет',
    isCut: false,
  });
  const long = await command({ action_type: 'import-data', import_data: 'ж'.repeat(5_000) });
  expect((await browser.get('messages.show', { at, id: long })).content).toMatchObject({
    text: 'ж'.repeat(4_000),
    isCut: true,
  });
  const plain = await command({ action_type: 'update-subscription' });
  expect((await browser.get('messages.show', { at, id: plain })).content).toMatchObject({
    text: '',
  });
});

test('cancelling is possible until ten minutes before, and its refusals are those of the API', async () => {
  await checkIn('phone');
  const soon = await command({ action_type: 'update-subscription', ...inMinutes(9) });
  const later = await command({ action_type: 'update-subscription', ...inMinutes(60) });
  expect(await browser.refusal('messages.cancel', { at, id: soon })).toBe('cancel_too_late');
  expect(await browser.get('messages.cancel', { at, id: later })).toBe('ok');
  expect(await browser.refusal('messages.cancel', { at, id: later })).toBe('cancel_failed');
  expect(await browser.refusal('messages.cancel', { at, id: 999 })).toBe('notification_not_found');
  expect((await listed({ ids: [later] }))[0]).toMatchObject({
    state: 'cancelled',
    cancelUntilMs: null,
  });
  await app.core.store.updateProvider(at, { suspendedAtMs: 1 }, ACT);
  expect(await browser.refusal('messages.cancel', { at, id: soon })).toBe('subscription_required');
});

test('the ledger has each device, and its counts are those of its slices', async () => {
  await checkIn('silent', '<b>Phone</b>');
  const token = await register(app, byBinding('phone', own));
  const id = await notify();
  await app.deliver();
  await post(app, '/device/ack', { items: [{ id, state: 'opened' }] }, token);
  expect((await browser.get('messages.show', { at, id })).reach).toMatchObject({
    recipients: 2,
    ways: { inbox: 1, stream: 0, push: 0, fetch: 0, unknown: 0, none: 1 },
    isAtLeast: false,
  });
  const { totals, nextId } = await browser.get('messages.count', { at, id, afterId: null });
  expect([totals.sent, totals.received, totals.opened, nextId]).toEqual([2, 1, 1, null]);
  const ledger = async (show: 'all' | 'waiting' | 'opened' | 'failed') =>
    (await browser.get('messages.ledger', { at, id, show, afterId: null })).rows;
  const rows = await ledger('all');
  expect(rows).toMatchObject([
    { hwid: 'phone', isReachable: true, openedAtMs: expect.any(Number) },
    { hwid: 'silent', isReachable: false, deviceName: '<b>Phone</b>', receivedAtMs: null },
  ]);
  expect(Object.keys(rows[0] ?? {})).not.toContain('deviceId');
  expect(await ledger('waiting')).toEqual(rows.slice(1));
  expect(await ledger('opened')).toEqual(rows.slice(0, 1));
  expect(await ledger('failed')).toEqual([]);
});

test('a page of a filter continues where the reads of a call ended', async () => {
  await checkIn('phone');
  const id = await notify();
  await app.deliver();
  const of = { hwid: 'x', state: 'sent', receivedAtMs: null, openedAtMs: null, executedAtMs: null };
  const read: unknown[] = [];
  // A ledger of any length, of which nothing fits.
  const store = new Proxy(app.core.store, {
    get: (target, name) =>
      name === 'listReceipts'
        ? async (_: unknown, after: { deviceId?: number } | null, countMax: number) => {
            read.push(after);
            const from = (after?.deviceId ?? 10_000) - 1;
            return Array.from({ length: countMax }, (_, n) => ({
              ...of,
              id: from - n,
              deviceId: from - n,
            }));
          }
        : Reflect.get(target, name).bind(target),
  });
  const { pageLedger } = await import('../../../src/core/message/sent.ts');
  const page = { show: 'opened', after: null, countMax: 50 } as const;
  const core = { ...app.core, store };
  expect(await pageLedger(core, { providerId: 1, distributionId: id }, page)).toEqual({
    rows: [],
    nextId: 10_000 - 8 * 500,
  });
  expect(read).toHaveLength(8);
});

test('another provider sees nothing of a message', async () => {
  await checkIn('phone');
  const id = await notify();
  await app.deliver();
  const other = await seedProvider(app);
  const theirs = await browserOf(other);
  const there = { at: other.code, id };
  expect(await theirs.refusal('messages.show', there)).toBe('notification_not_found');
  expect(await theirs.refusal('messages.cancel', there)).toBe('notification_not_found');
  const ledger = await theirs.get('messages.ledger', { ...there, show: 'all', afterId: null });
  expect(ledger.rows).toEqual([]);
  const { totals } = await theirs.get('messages.count', { ...there, afterId: null });
  expect(totals.sent).toBe(0);
});

const activity = async (more: object = {}, by = browser) =>
  by.get('activity.list', { at, who: null, group: null, before: null, ...more });

test('activity has the own entries alone, filtered, in pages', async () => {
  const other = await seedProvider(app);
  await bind(app, other);
  for (let n = 0; n < 3; n++) await call(app, '/api/add-install', own, { install_limit: '2' });
  const { rows, next } = await activity();
  expect(rows.map(({ action }) => action)).toEqual([
    ...(['install.add', 'install.add', 'install.add'] as const),
    ...(['session.open', 'domain.add', 'provider.add'] as const),
  ]);
  expect(next).toBeNull();
  expect(rows[0]).toMatchObject({ who: 'provider', name: at, object: { install_limit: 2 } });
  expect((await activity({ group: 'links' })).rows).toHaveLength(3);
  expect((await activity({ who: 'operator' })).rows).toMatchObject([{ action: 'provider.add' }]);
  const seen: number[] = [];
  const page = { providerCode: at, who: null, group: null, countMax: 2 };
  for (let before = null; ; ) {
    const found = await pageAudit(app.core, { ...page, before });
    seen.push(...found.entries.map(({ number }) => number));
    if (found.next === null) break;
    before = found.next as never;
  }
  expect(seen).toEqual(rows.map(({ number }) => number));
});

test('addresses of the staff are for those who keep it', async () => {
  await call(app, '/api/add-install', own, { install_limit: '2' });
  const fromOf = (rows: readonly { action: string; from: string | null }[], action: string) =>
    rows.find((row) => row.action === action)?.from;
  const { rows } = await activity();
  expect(fromOf(rows, 'install.add')).toBe('127.0.0.1');
  expect(fromOf(rows, 'provider.add')).toBeNull();
  const { rows: support } = await activity({}, await browserAs('support'));
  expect(fromOf(support, 'install.add')).toBeNull();
  const reader = await browserAs('reader');
  const all = { at, who: null, group: null, before: null };
  expect(await reader.refusal('activity.list', all)).toBe('no_right');
});

test('a page of activity reads a bounded number of blocks, and continues', async () => {
  let reads = 0;
  const entry = { at: '2026-11-20T00:00:00.000Z', who: 'operator', name: 'x', from: 'local' };
  const entries = JSON.stringify([
    ...[{ ...entry, action: 'provider.set', provider: 'Another1', object: {} }],
  ]);
  const store = new Proxy(app.core.store, {
    get: (target, name) =>
      name === 'readAuditBack'
        ? async (before: number, countMax: number) => {
            reads++;
            const from = Math.min(before, 100_000);
            return Array.from({ length: countMax }, (_, n) => ({ number: from - 1 - n, entries }));
          }
        : Reflect.get(target, name).bind(target),
  });
  const page = { providerCode: at, who: null, group: null, before: null, countMax: 50 };
  const end = 100_000 - 32 * 32;
  expect(await pageAudit({ ...app.core, store }, page)).toEqual({
    entries: [],
    next: { block: end, entry: end },
  });
  expect(reads).toBe(32);
});

test('a page may end within a block; entries of others in it are not shown', async () => {
  const entry = (provider: string) => ({
    at: '2026-11-20T00:00:00.000Z',
    who: 'operator',
    name: at,
    from: 'local',
    action: 'provider.set',
    provider,
    object: {},
  });
  const entries = [entry(at), entry('Another1'), entry(at), entry(at)];
  const block = { number: 4, atMs: 0, entries: JSON.stringify(entries) };
  const store = new Proxy(app.core.store, {
    get: (target, name) =>
      name === 'readAuditBack'
        ? async (before: number) => (before > block.number ? [block] : [])
        : Reflect.get(target, name).bind(target),
  });
  const core = { ...app.core, store };
  const page = { providerCode: at, who: null, group: null, countMax: 2 };
  const first = await pageAudit(core, { ...page, before: null });
  expect(first.entries.map(({ number }) => number)).toEqual([4, 3]);
  const rest = await pageAudit(core, { ...page, before: first.next });
  expect(rest.entries.map(({ number }) => number)).toEqual([1]);
});
