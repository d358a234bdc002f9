/** Each setting of a provider and of a link, when it changes, is in the entry with both values. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AuditEntry, Changes } from '../../../src/core/audit/entry.ts';
import { DAY_MS } from '../../../src/core/calendar.ts';
import type { OwnLink } from '../../../src/core/port/link.ts';
import type { ProviderChange } from '../../../src/core/port/provider.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { type Engine, makeProvider, openEngine } from '../../support/delivery.ts';

let engine: Engine;
let code: string;
let providerId: number;
let linkId: number;
beforeAll(async () => {
  engine = await openEngine();
  ({ code, id: providerId } = await makeProvider(engine));
  const facts = { installCode: 'LinkCode0001', installLimit: 2, note: null, createdAtMs: 0 };
  const draft = { ...NO_TERMS, providerId, ...facts, installCountMax: 9 };
  const added = await engine.core.store.addLink(draft, ACT);
  if (typeof added === 'string') throw new Error(added);
  linkId = added.id;
});
afterAll(() => engine.close());

async function newEntries(change: () => Promise<unknown>): Promise<AuditEntry[]> {
  const before = (await auditEntries(engine.core)).length;
  await change();
  return (await auditEntries(engine.core)).slice(before);
}

/** A value of each setting, as it was before, and its entry. */
type Table<Change> = {
  [Name in keyof Required<Change>]: readonly [
    was: NonNullable<Change[Name]> | null,
    set: NonNullable<Change[Name]>,
    entry: Changes,
  ];
};

const SUPPORT = 'https://example.com/support';
const SITE = 'https://example.com/';
const END_MS = Date.UTC(2027, 0, 1);
const POLICY = {
  inactiveDays: [null, 30, { inactive_days: [null, 30] }],
  whenFull: [null, 'replace-oldest', { when_full: [null, 'replace-oldest'] }],
  coolDownHours: [null, 48, { cool_down_hours: [null, 48] }],
  enforce: [null, 0, { enforce: [null, 0] }],
  withoutHwid: [null, 'refuse', { without_hwid: [null, 'refuse'] }],
  samePhone: [null, 'ask', { same_phone: [null, 'ask'] }],
  samePhoneHours: [null, 12, { same_phone_hours: [null, 12] }],
  copiedHwid: [null, 'count', { copied_hwid: [null, 'count'] }],
  whenNew: [null, 'refuse', { when_new: [null, 'refuse'] }],
  supportUrl: [null, SUPPORT, { support_url: [null, SUPPORT] }],
  webPageUrl: [null, SITE, { web_page_url: [null, SITE] }],
} as const;

// A setting without a row does not compile.
const OF_PROVIDER: Table<ProviderChange> = {
  ...POLICY,
  name: ['test', 'other', { name: 'changed' }],
  plan: ['enterprise', 'basic', { plan: ['enterprise', 'basic'] }],
  activeUntilMs: [null, END_MS, { active_until: [null, '2027-01-01T00:00:00.000Z'] }],
  installCountMax: [null, 7, { max_links: [null, 7] }],
  suspendedAtMs: [null, END_MS - DAY_MS, { suspended_at: [null, '2026-12-31T00:00:00.000Z'] }],
  ride: [null, 'off', { ride: [null, 'off'] }],
  rideDesktop: [0, 1, { ride_desktop: [null, 1] }],
  buttons: [null, 'always', { buttons: [null, 'always'] }],
  rc2Body: [null, 'on', { rc2_body: [null, 'on'] }],
  shortCodes: [0, 1, { short_codes: [null, 1] }],
  discovery: [0, 1, { discovery: [null, 'on'] }],
  subscriptionFigures: [0, 1, { subscription_figures: [null, 'on'] }],
  quietFrom: [null, '22:00', { quiet_from: [null, '22:00'] }],
  quietTo: [null, '08:00', { quiet_to: [null, '08:00'] }],
  timeZone: [null, '+04:30', { time_zone: [null, '+04:30'] }],
  my: [0, 1, { page: [null, 'on'] }],
  myName: [null, 'Northwind', { page_name: 'changed' }],
  myColor: [null, '#0f766e', { page_color: [null, '#0f766e'] }],
  myTraffic: [0, 1, { page_traffic: [null, 'on'] }],
  myCutOff: [0, 1, { page_cut_off: [null, 'on'] }],
};

const KEY_HASH = 'ab'.repeat(32);
const OF_LINK: Table<OwnLink> = {
  ...POLICY,
  installLimit: [2, 5, { install_limit: [2, 5] }],
  note: [null, 'Anna', { note: 'changed' }],
  greeting: [null, 'Anna', { greeting: 'changed' }],
  status: [10, 5, { status: [10, 5] }],
  subscriptionKeyHash: [null, KEY_HASH, { subscription_key: 'changed' }],
};

const swapped = (entry: Changes): Changes =>
  Object.fromEntries(
    Object.entries(entry).map(([name, values]) => [
      name,
      values === 'changed' ? values : [values[1], values[0]],
    ]),
  );

describe('of a provider', () => {
  test.each(Object.entries(OF_PROVIDER))('%s', async (name, [was, set, change]) => {
    const update = (value: unknown) => () =>
      engine.core.store.updateProvider(code, { [name]: value }, ACT);
    const action = name === 'suspendedAtMs' ? 'provider.suspend' : 'provider.set';
    const back = name === 'suspendedAtMs' ? 'provider.resume' : 'provider.set';
    expect(await newEntries(update(set))).toMatchObject([{ action, provider: code, change }]);
    // A change to the same value is none.
    expect(await newEntries(update(set))).toEqual([]);
    const undone = { action: back, provider: code, change: swapped(change) };
    expect(await newEntries(update(was))).toMatchObject([undone]);
  });
});

describe('of a link', () => {
  test.each(Object.entries(OF_LINK))('%s', async (name, [was, set, change]) => {
    const update = (value: unknown) => () =>
      engine.core.store.updateLink(providerId, linkId, { [name]: value }, ACT);
    const entry = { action: 'install.update', object: { id: linkId }, provider: code } as const;
    expect(await newEntries(update(set))).toMatchObject([{ ...entry, change }]);
    expect(await newEntries(update(set))).toEqual([]);
    expect(await newEntries(update(was))).toMatchObject([{ ...entry, change: swapped(change) }]);
  });
});

test('a new provider and a new link have their own terms in the entry', async () => {
  const { core } = engine;
  const terms = Object.fromEntries(Object.entries(POLICY).map(([name, [, set]]) => [name, set]));
  const facts = Object.assign(
    {},
    ...Object.values(POLICY).map(([, set, entry]) => ({ [Object.keys(entry)[0] ?? '']: set })),
  );
  const draft = { ...NO_TERMS, ...terms, subscriptionKeyHash: KEY_HASH, providerId };
  const link = { installCode: 'LinkCode0002', installLimit: 3, note: 'Boris', createdAtMs: 0 };
  const [added] = await newEntries(() =>
    core.store.addLink({ ...draft, ...link, installCountMax: 9 }, ACT),
  );
  expect(added?.object).toEqual({
    id: expect.any(Number),
    install_limit: 3,
    subscription_key: 'set',
    ...facts,
  });

  const own = { ...terms, ride: 'off', rideDesktop: 1, buttons: 'always' } as const;
  const first = { plan: 'pro', activeUntilMs: END_MS, installCountMax: 7 } as const;
  const rest = { code: 'Provide2', keyHash: new Uint8Array(32).fill(171), name: 'x' };
  const [made] = await newEntries(() =>
    core.store.addProvider({ ...own, ...first, ...rest, createdAtMs: 0 }, ACT),
  );
  expect(made?.object).toEqual({
    key: 'abababab',
    plan: 'pro',
    active_until: '2027-01-01T00:00:00.000Z',
    max_links: 7,
    ride: 'off',
    ride_desktop: 1,
    buttons: 'always',
    ...facts,
  });
});
