/** All calls, by all roles, at the own provider and another: made from the table. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type CallName, RIGHTS } from '../../../src/core/account/roles.ts';
import { openSession } from '../../../src/core/account/session.ts';
import { APPLIANCE_ROLES, PROVIDER_ROLES, type Role } from '../../../src/core/port/account.ts';
import { RECORDS } from '../../../src/call/table.ts';
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

test.each(RECORDS.map(([name]) => name))('%s', async (name) => {
  const { at, roles }: { at: string; roles: readonly Role[] } = RIGHTS[name];
  for (const role of browsers.keys()) {
    const isEverywhere = (APPLIANCE_ROLES as readonly Role[]).includes(role);
    const isOpen = at === 'open' || at === 'self';
    const may = isOpen || roles.includes(role);
    expect([name, role, await isRefused(role, name, own)]).toEqual([name, role, !may]);
    const mayThere = isOpen || (may && (isEverywhere || at === 'appliance'));
    const there = await isRefused(role, name, foreign);
    expect([name, role, 'elsewhere', there]).toEqual([name, role, 'elsewhere', !mayThere]);
  }
});

test('a row and its record agree on where the call is', () => {
  const places = RECORDS.map(([name, { kind }]) => [name, RIGHTS[name].at, kind]);
  const fits = { open: ['open'], self: ['owner', 'account'], provider: ['staff'] };
  const odd = places.filter(([, at = '', kind = '']) => {
    const kinds: readonly string[] = at === 'appliance' ? ['owner'] : fits[at as keyof typeof fits];
    return !kinds.includes(kind);
  });
  expect(odd).toEqual([]);
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
