/** The meaning of a panel's tables: limits, states, keys and times as the panel reads them. */

import { expect, test } from 'bun:test';
import { linkOfUser, type PanelRules } from '../../../src/core/moving/panel-user.ts';
import { asTime, type Cells, type PanelUser } from '../../../src/core/panel/cells.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import type { PanelKind } from '../../../src/core/panel/kind.ts';
import { subscriptionKeyHash } from '../../../src/core/secret.ts';

const usersOf = (kind: PanelKind, tables: Record<string, Cells[]>) => [
  ...PANEL_TRAITS[kind].database.readUsers(new Map(Object.entries(tables))),
];
const limitsOf = (users: PanelUser[]) => users.map(({ limit }) => limit);

const settings = (limit: unknown, enabled: unknown = true) =>
  JSON.stringify({ enabled, fallbackDeviceLimit: limit });

test('Remnawave: the limit of the user, else of its squad, else of the panel', () => {
  const users = [7, 0, null, null, null].map((limit, at) => ({
    id: String(at),
    short_uuid: `key${at}`,
    hwid_device_limit: limit,
    external_squad_uuid: [null, null, null, 'own', 'none'][at],
  }));
  const tables = {
    users,
    subscription_settings: [{ hwid_settings: settings(4) }],
    external_squads: [
      { uuid: 'own', hwid_settings: settings(2) },
      { uuid: 'none', hwid_settings: null },
    ],
  };
  expect(limitsOf(usersOf('remnawave', tables))).toEqual([7, null, 4, 2, 4]);
  expect(limitsOf(usersOf('remnawave', { users }))).toEqual([7, null, null, null, null]);
  // Switched off, it gives no limit; a squad decides for its users.
  const off = { ...tables, subscription_settings: [{ hwid_settings: settings(4, false) }] };
  expect(limitsOf(usersOf('remnawave', off))).toEqual([7, null, null, 2, null]);
});

test('Remnawave before its third version joins devices by the UUID', () => {
  const [user] = usersOf('remnawave', {
    users: [{ t_id: 5, uuid: 'u', short_uuid: 'k' }],
    hwid_user_devices: [
      { hwid: 'a', user_uuid: 'u' },
      { hwid: 'b', user_uuid: 'v' },
    ],
  });
  expect(user).toMatchObject({ id: '5', devices: [{ hwid: 'a' }] });
});

test('3x-ui: a subscription has the largest limit of its enabled clients', () => {
  const client = (sub: string, enable: boolean | number, limit: number, email = 'e') => ({
    email,
    sub_id: sub,
    enable,
    limit_hwid: limit,
    comment: '',
    created_at: 0,
  });
  const users = usersOf('3x-ui', {
    clients: [
      ...[client('a', 1, 2, 'x'), client(' a ', 1, 5, 'y'), client('a', 0, 9, 'z')],
      ...[client('b', 0, 3), client('c', true, 0)],
    ],
  });
  expect(users.map(({ key, limit, isDisabled, note }) => [key, limit, isDisabled, note])).toEqual([
    ['a', 5, false, 'x, y, z'],
    ['b', 3, true, 'e'],
    ['c', null, false, 'e'],
  ]);
});

test('3x-ui before its third version keeps clients in inbounds', () => {
  const clients = [{ email: 'e', subId: 's', enable: true, comment: 'c' }];
  const inbounds = [{ settings: JSON.stringify({ clients }) }, { settings: 'broken' }];
  expect(usersOf('3x-ui', { inbounds })).toMatchObject([
    { key: 's', note: 'e · c', limit: null, isDisabled: false },
  ]);
});

test('PasarGuard: the role of the admin overrides the fallback, or switches it off', () => {
  const roles = ['override', 'use_global', 'disabled', 'override'];
  const tables = {
    users: [...roles.keys(), 9].map((at) => ({ id: at, admin_id: at, hwid_limit: null })),
    admins: [...roles.keys()].map((id) => ({ id, role_id: id })),
    admin_roles: roles.map((mode, id) => ({
      id,
      hwid: JSON.stringify({ mode, fallback_limit: id === 3 ? null : 2 }),
    })),
    settings: [{ hwid: '{"fallback_limit":6}' }],
  };
  expect(limitsOf(usersOf('pasarguard', tables))).toEqual([2, 6, null, 6, 6]);
  const own = [
    { id: 1, hwid_limit: 3 },
    { id: 2, hwid_limit: '0' },
  ];
  expect(limitsOf(usersOf('pasarguard', { ...tables, users: own }))).toEqual([3, null]);
  // Switched off, it gives a limit only by a role that overrides it.
  const off = { ...tables, settings: [{ hwid: '{"enabled":false,"fallback_limit":6}' }] };
  expect(limitsOf(usersOf('pasarguard', off))).toEqual([2, null, null, 6, null]);
});

test('PasarGuard: a new user has no device of the deleted one whose number it got', () => {
  const device = (hwid: string, at: string | null) => ({ user_id: 7, hwid, created_at: at });
  const user_hwids = [
    device('of-the-old', '2026-03-01 09:59:58'),
    // Some databases round times to seconds.
    device('rounded', '2026-03-01 10:00:00'),
    device('later', '2026-03-02 00:00:00.5'),
    device('at-no-time', null),
  ];
  const users = [{ id: 7, username: 'anna', created_at: '2026-03-01 10:00:00.6' }];
  const named = (created_at: string | null) =>
    usersOf('pasarguard', { users: users.map((user) => ({ ...user, created_at })), user_hwids })
      .flatMap(({ devices }) => devices)
      .map(({ hwid }) => hwid);
  expect(named('2026-03-01 10:00:00.6')).toEqual(['rounded', 'later', 'at-no-time']);
  expect(named(null)).toEqual(['of-the-old', 'rounded', 'later', 'at-no-time']);
});

test.each([
  ['2026-01-02 03:04:05.678901', Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
  ['2026-01-02 03:04:05', Date.UTC(2026, 0, 2, 3, 4, 5)],
  ['2026-01-02 03:04:05.6+03', Date.UTC(2026, 0, 2, 0, 4, 5, 600)],
  ['2026-01-02T03:04:05.678Z', Date.UTC(2026, 0, 2, 3, 4, 5, 678)],
  ['2026-01-02 03:04:05+0530', Date.UTC(2026, 0, 1, 21, 34, 5)],
  ['2026-01-02', Date.UTC(2026, 0, 2)],
  [1_767_323_045_000, 1_767_323_045_000],
  ['0001-01-01 00:00:00', null],
  ['soon', null],
  [0, null],
  [null, null],
])('time %p', (cell, atMs) => {
  expect(asTime(cell)).toBe(atMs);
});

const USER: PanelUser = {
  id: '1',
  key: 'k1',
  name: 'anna',
  note: 'anna',
  limit: 2,
  isUnlimited: false,
  isDisabled: false,
  state: 'active',
  endsAtMs: null,
  totalBytes: null,
  usedBytes: null,
  createdAtMs: 5,
  panelCreatedAtMs: 5,
  devices: [],
};
const RULES: PanelRules = {
  panel: 'remnawave',
  kind: 'remnawave',
  unlimitedAs: 3,
  nowMs: 99,
  disablesDisabled: false,
  view: '',
};
const device = (hwid: string, firstSeenAtMs: number | null = 7) => ({
  hwid,
  isHash: false,
  os: 'iPadOS',
  osVersion: '',
  deviceName: '',
  userAgent: '',
  firstSeenAtMs,
  lastSeenAtMs: null,
});

test.each([
  [2, 2],
  [100, 100],
  [101, 3],
  [null, 3],
])('the limit %p becomes %p', (limit, wanted) => {
  const draft = linkOfUser({ ...USER, limit }, undefined, RULES);
  expect(draft).toMatchObject({ install: { installLimit: wanted } });
});

test('without a limit a link is left out, or keeps what it has', () => {
  const rules = { ...RULES, unlimitedAs: null };
  expect(linkOfUser({ ...USER, limit: null }, undefined, rules)).toBeNull();
  const before = {
    installLimit: 7,
    status: 10,
    note: null,
    subscriptionKeyHash: null,
    devicesUntilMs: 0,
  };
  const kept = { install: { installLimit: 7 } };
  expect(linkOfUser({ ...USER, limit: null }, before, rules)).toMatchObject(kept);
});

test('keys are those that the gate reads from addresses', () => {
  const hashOf = (kind: PanelKind, key: string) => {
    const draft = linkOfUser({ ...USER, key }, undefined, { ...RULES, kind });
    return draft && 'install' in draft ? draft.install.terms?.subscriptionKeyHash : draft;
  };
  expect(hashOf('remnawave', 'k1')).toBe(subscriptionKeyHash('k1'));
  expect(hashOf('marzban', 'anna')).toBe(subscriptionKeyHash('marzban/anna'));
  expect(hashOf('pasarguard', '12')).toBe(subscriptionKeyHash('pasarguard/12'));
  expect(hashOf('remnawave', 'a/b')).toMatchObject({ says: 'malformed' });
  expect(hashOf('3x-ui', '')).toMatchObject({ says: 'malformed' });
});

test('devices come in order, those beyond the limit stay, HWIDs that are none are counted', () => {
  const devices = [
    device('b', 9),
    device('a', 8),
    device('c', 10),
    device('no-hwid-1'),
    device(''),
  ];
  const draft = linkOfUser({ ...USER, devices }, undefined, RULES);
  expect(draft).toMatchObject({
    unusable: 2,
    install: { overMax: 3, slots: [{ hwid: 'a', os: 'ios' }, { hwid: 'b' }, { hwid: 'c' }] },
  });
  const many = Array.from({ length: 101 }, (_, n) => device(`h${n}`));
  expect(linkOfUser({ ...USER, devices: many }, undefined, RULES)).toMatchObject({
    unusable: 1,
    install: { overMax: 100 },
  });
});

test.each([
  ['as Latin-1', Buffer.from('Телефон Анны 📱').toString('latin1'), 'Телефон Анны 📱'],
  ['as UTF-8', 'Телефон Анны 📱', 'Телефон Анны 📱'],
  ['as Latin-1 that is no UTF-8', 'Ã‰té né', 'Ã‰té né'],
  ['as Latin-1 of letters with accents', 'Téléphone', 'Téléphone'],
])('the facts of a device that the panel read %s are those that it sent', (_, read, sent) => {
  const one = { ...device('a'), deviceName: read };
  expect(linkOfUser({ ...USER, devices: [one] }, undefined, RULES)).toMatchObject({
    install: { slots: [{ hwid: 'a', deviceName: sent }] },
  });
});
