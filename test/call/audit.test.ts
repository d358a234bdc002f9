/** What a call leaves in the audit log is what its record says. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { AnyCall } from '../../src/call/call.ts';
import { directCalls } from '../../src/call/direct-calls.ts';
import { type CallName, type Given, RECORDS } from '../../src/call/table.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { UNDO_MS } from '../../src/core/job/job.ts';
import { jobStep } from '../../src/core/job/step.ts';
import { scheduleAt } from '../../src/core/message/schedule.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { notify } from '../support/messaging.ts';
import { operatorBrowser } from '../support/operator.ts';
import { addLink, bind, enter, expectOk, HASH } from '../support/shop.ts';

let app: TestApp;
let operator: ConsoleBrowser;
const made = new Set<string>();
const ALL: readonly (readonly [string, AnyCall])[] = [
  ...RECORDS,
  ...Object.entries<AnyCall>(directCalls),
];

beforeAll(async () => {
  app = await startTestApp();
  operator = await operatorBrowser(app);
});
afterAll(() => app.close());

/** Has two phones take turns with one HWID of a link. */
async function copyHwid(installid: string): Promise<void> {
  for (const os_name of ['android', 'ios', 'android', 'ios']) {
    app.clock.advance(1_000);
    await expectOk(call(app, '/install', null, { id: HASH, installid, hwid: 'four', os_name }));
  }
}

const newestBlocks = () => app.core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 20);

/** Compares the actions of the entries that `act` leaves with those of the record. */
async function compared<T>(name: string, act: () => Promise<T>): Promise<T> {
  const known = new Set((await newestBlocks()).map(({ number }) => number));
  const got = await act();
  const left = (await newestBlocks()).filter(({ number }) => !known.has(number));
  const actions = left.flatMap(({ entries }) =>
    (JSON.parse(entries) as { action: string }[]).map(({ action }) => action),
  );
  // The first look of an operator at a provider is an entry of its own.
  const own = [...new Set(actions)].filter((action) => action !== 'provider.visit');
  const audit: readonly string[] = ALL.find(([one]) => one === name)?.[1].audit ?? [];
  expect([name, own.filter((action) => !audit.includes(action))]).toEqual([name, []]);
  expect([name, own.length > 0]).toEqual([name, audit.length > 0]);
  made.add(name);
  return got;
}

const make = <N extends CallName>(name: N, given: Given<N>) =>
  compared(name, () => operator.get(name, given));

/** Makes a call whose job changes what it names later. */
const makeLater = <N extends CallName>(name: N, given: Given<N>) =>
  compared(name, async () => {
    const got = await operator.get(name, given);
    app.clock.advance(UNDO_MS);
    while (await jobStep(app.core, 'test', app.clock.nowMs()));
    return got;
  });

test('calls about a provider', async () => {
  const shop = await seedProvider(app);
  const at = shop.code;
  await make('overview.read', { at });
  const { id } = await make('links.add', { at, limit: 1, note: '' });
  await make('links.edit', { at, id, limit: 2 });
  await make('links.list', {
    at,
    filter: { search: null, status: null, isFull: false },
    ids: [],
    isOldest: false,
    beyondId: null,
    countMax: 10,
  });
  await make('links.remove', { at, id });
  const draft = { key: null, code: null, limit: 1, note: null };
  await make('links.add-many', { at, drafts: [draft] });
  await bind(app, shop, hostHash('sub.example.com'));
  const { id: botId } = await make('bots.add', { at, host: 'sub.example.com', name: 'bot' });
  await make('bots.remove', { at, id: botId });
  const { reminder } = await make('reminders.add', {
    at,
    kind: 'traffic',
    amount: 50,
    texts: { en: 'Half' },
    enabled: 1,
  });
  await make('reminders.set', { at, id: reminder.id, amount: 60 });
  await make('reminders.remove', { at, id: reminder.id });
  await make('reminders.defaults', { at });
  await make('reminders.confirm', { at, untilMs: app.clock.nowMs() });
  const { id: providerId } = (await app.core.store.findProvider(at)) ?? { id: 0 };
  await app.core.store.stopReminders(providerId, { moved: 9, links: 9 }, app.clock.nowMs());
  await make('reminders.resume', { at });
  await make('reminders.hours', { at, timeZone: '+04:30' });
  const { id: domainId } = await make('domains.add', { at, hash: 'b'.repeat(64), name: 'b' });
  await make('domains.delete', { at, id: domainId });
  const target = { kind: 'webhook', url: 'https://bot.example.com/', scheme: 'v1' } as const;
  const { id: hook } = await make('webhooks.add', { at, target, token: null, events: [] });
  await make('webhooks.edit', { at, id: hook, isEnabled: false });
  await make('webhooks.rotate', { at, id: hook, token: null });
  await make('webhooks.remove', { at, id: hook });
  const { id: key } = await make('keys.add', { at, name: 'bot', scope: 'read', days: null });
  await make('keys.remove', { at, id: key });
  const { secret } = await make('staff.invite', { at, role: 'reader' });
  const bert = new ConsoleBrowser(app.url);
  await bert.get('session.invited', { secret, name: 'bert' });
  const member = (await operator.get('staff.list', { at })).find(({ name }) => name === 'bert');
  await make('staff.change-role', { at, id: member?.id ?? 0, role: 'sender' });
  await make('staff.remove', { at, id: member?.id ?? 0 });
  await make('page.set', { at, my: 1, myName: 'b', myColor: '', supportUrl: '' });
});

test('calls about the appliance', async () => {
  const { code } = await make('providers.add', { name: 'b', plan: 'pro' });
  await make('providers.edit', { code, name: 'c' });
  await make('providers.edit', { code, isSuspended: true });
  await make('providers.edit', { code, isSuspended: false });
  await make('providers.rotate', { code, keepOldHours: 0 });
  await make('providers.list', { search: '', afterId: null });
  await make('providers.remove', { code });
  const { secret } = await make('accounts.invite', { role: 'observer' });
  const anna = new ConsoleBrowser(app.url);
  await anna.get('session.invited', { secret, name: 'anna' });
  const id = (await operator.get('accounts.list', {})).find(({ name }) => name === 'anna')?.id ?? 0;
  await make('accounts.change-role', { id, role: 'operator' });
  await make('accounts.end-sessions', { name: 'anna' });
  await make('accounts.reset', { name: 'anna' });
  await make('accounts.remove', { id });
});

test('calls about devices and messages', async () => {
  const shop = await seedProvider(app);
  const at = shop.code;
  await bind(app, shop);
  const { id: linkId, code } = await addLink(app, shop);
  for (const hwid of ['one', 'two', 'three']) await enter(app, hwid, code);
  const body = {
    specific_device_toggle: true,
    hwid: 'one',
    PushNotificationForm: { body: 'hello', type_push: 'optional', expire_days: 1 },
  };
  const sent = await make('send.notification', { at, body });
  await make('sends.block', { id: sent.id });
  const command = { specific_device_toggle: true, hwid: 'one', action_type: 'update-subscription' };
  await make('send.command', { at, body: command });
  const day = scheduleAt(app.clock.nowMs() + 3_600_000);
  const later = await notify(
    app,
    shop,
    'later',
    { hwid: 'one', specific_device_toggle: true },
    day,
  );
  await make('messages.cancel', { at, id: later });
  await makeLater('slots.free', { at, linkId, hwid: 'one' });
  await makeLater('slots.free-all', { at, linkId });
  await enter(app, 'four', code);
  await copyHwid(code);
  await make('phones.ignore', { at, installCode: code, installId: null, hwid: 'four' });
  const ok = async (path: string, query: Record<string, string | number>) =>
    expect((await call(app, path, shop, query)).json).toMatchObject({ rc: 1 });
  await compared('links.free', () => ok('/api/free-slots', { install_code: code }));
  await compared('policy.set', () => ok('/api/policy', { inactive_days: 9 }));
  const { authKey } = await operator.get('keys.add', {
    at,
    name: 'ties',
    scope: 'ties',
    days: null,
  });
  const ties = { ...shop, authKey };
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    expect((await call(app, path, ties, {}, init)).json).toMatchObject({ rc: 1 });
  };
  const given = [{ install_code: code, subscription_key: 'a-panel-key' }];
  await compared('links.give-keys', () => post('/api/set-keys', { links: given }));
  const filter = { search: null, status: null, isFull: false };
  await makeLater('links.bulk', { at, filter, change: { limit: 9 } });
  await make('devices.forget', { hwid: 'two' });
  await makeLater('links.revoke', { at, linkId });
  await compared('links.revoke-now', () => ok('/api/revoke-install', { id: linkId }));
});

test('calls about the machine', async () => {
  await make('backups.prepare', { passphrase: 'a long passphrase' });
  const { code: provider } = await seedProvider(app);
  const keys = { host: 'sub.example.com', url: app.url, default_limit: 1, provider };
  await make('upstreams.put', { keys, more: '', isNew: true });
  await make('upstreams.remove', { host: keys.host });
});

/**
 * Calls whose entries need more than one step: those of a job that was stopped on its way, and of
 * ties and cut-offs, whose deeds the scenarios and the contract of the store compare.
 */
const ELSEWHERE = [
  ...['jobs.cancel', 'ties.make', 'ties.switch', 'ties.undo'],
  ...['cuts.ask', 'cuts.cancel', 'bars.lift', 'links.name'],
];

test('each call that changes something is made here, or is named', () => {
  const changing = ALL.filter(([, { audit, may }]) => may !== null && audit.length > 0);
  const rest = changing.flatMap(([name]) => (made.has(name) ? [] : [name]));
  expect<string[]>([...rest].sort()).toEqual([...ELSEWHERE].sort());
});
