/** All calls, by all roles, at the own provider and another: made from the table. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { CallName } from '../../../src/call/table.ts';
import { RECORDS } from '../../../src/call/table.ts';
import { openSession } from '../../../src/core/account/session.ts';
import { APPLIANCE_ROLES, PROVIDER_ROLES, type Role } from '../../../src/core/port/account.ts';
import { ACT } from '../../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

let app: TestApp;
let own: string;
let foreign: string;
const browsers = new Map<Role, ConsoleBrowser>();

beforeAll(async () => {
  app = await startTestApp();
  own = (await seedProvider(app)).code;
  foreign = (await seedProvider(app)).code;
  const providerId = (await app.core.store.findProvider(own))?.id ?? 0;
  for (const role of [...APPLIANCE_ROLES, ...PROVIDER_ROLES]) {
    const isAppliance = (APPLIANCE_ROLES as readonly Role[]).includes(role);
    const grant = { providerId: isAppliance ? null : providerId, role };
    const nowMs = app.clock.nowMs();
    const draft = { name: role, grant, countMax: 9, createdAtMs: nowMs, invitation: null };
    const added = await app.core.store.addAccount(draft, ACT);
    if (typeof added === 'string') throw new Error(added);
    const owner = { accountId: added.id, providerId: null, keyHash: null };
    const signedIn = { owner, actor: { kind: 'account', name: role } } as const;
    const from = { client: '127.0.0.1', agent: '' };
    const browser = new ConsoleBrowser(app.url);
    const token = await openSession(app.core, from, signedIn, 'link', nowMs);
    browser.cookie = `__Host-gatepost=${token}`;
    browsers.set(role, browser);
  }
});
afterAll(() => app.close());

const isRefused = async (role: Role, name: CallName, at: string) =>
  // An input that fits no call: the right is asked before.
  (await browsers.get(role)?.refusal(name, { at, unfit: true } as never)) === 'no_right';

test.each(RECORDS)('%s', async (name, { kind, may: roles }) => {
  for (const role of browsers.keys()) {
    const isEverywhere = (APPLIANCE_ROLES as readonly Role[]).includes(role);
    const may = roles === null || roles.includes(role);
    expect([name, role, await isRefused(role, name, own)]).toEqual([name, role, !may]);
    const mayThere = roles === null || (may && (isEverywhere || kind === 'appliance'));
    const there = await isRefused(role, name, foreign);
    expect([name, role, 'elsewhere', there]).toEqual([name, role, 'elsewhere', !mayThere]);
  }
});

test('calls about a provider or the appliance name their roles, and no other call does', () => {
  for (const [name, { kind, may }] of RECORDS) {
    expect([name, may !== null]).toEqual([name, kind === 'provider' || kind === 'appliance']);
  }
});

test('readers look, senders do not touch keys, support adds nothing, observers change nothing', async () => {
  expect(await isRefused('reader', 'links.list', own)).toBe(false);
  expect(await isRefused('reader', 'links.add', own)).toBe(true);
  expect(await isRefused('sender', 'keys.add', own)).toBe(true);
  expect(await isRefused('support', 'links.add', own)).toBe(true);
  expect(await isRefused('observer', 'domains.add', foreign)).toBe(true);
  expect(await isRefused('owner', 'staff.invite', foreign)).toBe(true);
  expect(await isRefused('owner', 'providers.list', own)).toBe(true);
});

test('an unknown provider is answered as one of others', async () => {
  expect(await isRefused('operator', 'links.list', 'Unknown1')).toBe(true);
});
