/** What a call leaves in the audit log is what its record says. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type CallName, type Given, RECORDS } from '../../src/call/table.ts';
import { seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { operatorBrowser } from '../support/operator.ts';

let app: TestApp;
let operator: ConsoleBrowser;
const made = new Set<CallName>();

beforeAll(async () => {
  app = await startTestApp();
  operator = await operatorBrowser(app);
});
afterAll(() => app.close());

const newestBlocks = () => app.core.store.readAuditBack(Number.MAX_SAFE_INTEGER, 20);

/** Makes a call, and compares the actions of the entries that it left with those of its record. */
async function make<N extends CallName>(name: N, given: Given<N>) {
  const known = new Set((await newestBlocks()).map(({ number }) => number));
  const got = await operator.get(name, given);
  const left = (await newestBlocks()).filter(({ number }) => !known.has(number));
  const actions = left.flatMap(({ entries }) =>
    (JSON.parse(entries) as { action: string }[]).map(({ action }) => action),
  );
  // The first look of an operator at a provider is an entry of its own.
  const own = [...new Set(actions)].filter((action) => action !== 'provider.visit');
  const audit: readonly string[] = RECORDS.find(([one]) => one === name)?.[1].audit ?? [];
  expect([name, own.filter((action) => !audit.includes(action))]).toEqual([name, []]);
  expect([name, own.length > 0]).toEqual([name, audit.length > 0]);
  made.add(name);
  return got;
}

test('calls about a provider', async () => {
  const at = (await seedProvider(app)).code;
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

/** Calls that need a message, a device or an upstream, or whose job leaves the entries later. */
const ELSEWHERE = [
  ...['jobs.cancel', 'links.bulk', 'slots.free', 'slots.free-all', 'links.revoke'],
  ...['messages.cancel', 'send.notification', 'send.command', 'sends.block'],
  ...['devices.forget', 'backups.prepare', 'upstreams.put', 'upstreams.remove'],
];

test('each call that changes something is made here, or is named', () => {
  const changing = RECORDS.filter(([, { audit, may }]) => may !== null && audit.length > 0);
  const rest = changing.flatMap(([name]) => (made.has(name) ? [] : [name]));
  expect<string[]>([...rest].sort()).toEqual([...ELSEWHERE].sort());
});
