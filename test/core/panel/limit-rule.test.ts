/** One rule for the limit of a user: imports and the API at the door give the same. */

import { expect, test } from 'bun:test';
import { settingsBy } from '../../../src/core/panel/api.ts';
import type { Cells } from '../../../src/core/panel/cells.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import type { PanelKind } from '../../../src/core/panel/kind.ts';
import { panelApiUser, panelLimitOf } from '../../../src/core/panel/user.ts';

type Tables = Record<string, Cells[]>;
type Answers = Record<string, unknown>;

/** A user in the database of a panel and in its API, and the limit that both must give. */
type Case = [string, Tables, Answers, number | null];

const KEY = 'k1';
const UUID = '00000010-aaaa-4bbb-8ccc-d00000000000';
const hwid = (fields: object) => JSON.stringify(fields);

function remnawave(
  own: number | null,
  common: object | null,
  squad: object | null = null,
): [Tables, Answers] {
  const user = { id: 1, short_uuid: KEY, hwid_device_limit: own, external_squad_uuid: 's' };
  return [
    {
      users: [user],
      subscription_settings: [{ hwid_settings: common && hwid(common) }],
      external_squads: [{ uuid: 's', hwid_settings: squad && hwid(squad) }],
    },
    {
      [`/api/users/by-short-uuid/${KEY}`]: {
        response: { shortUuid: KEY, hwidDeviceLimit: own, externalSquadUuid: 's' },
      },
      '/api/external-squads/s': { response: { hwidSettings: squad } },
      '/api/subscription-settings': { response: { hwidSettings: common } },
    },
  ];
}

function threeXUi(...clients: [isEnabled: boolean, limit: number][]): [Tables, Answers] {
  return [
    {
      clients: clients.map(([enable, limit]) => ({ sub_id: KEY, enable, limit_hwid: limit })),
    },
    {
      '/panel/api/clients/list/paged': {
        success: true,
        obj: {
          items: clients.map(([enable, limit]) => ({ subId: KEY, enable, limitHwid: limit })),
          filtered: clients.length,
        },
      },
    },
  ];
}

function pasarguard(own: number | null, role: object, common: object): [Tables, Answers] {
  return [
    {
      users: [{ id: 7, hwid_limit: own, admin_id: 1 }],
      admins: [{ id: 1, role_id: 1 }],
      admin_roles: [{ id: 1, hwid: hwid(role) }],
      settings: [{ hwid: hwid(common) }],
    },
    {
      '/api/user/by-id/7': {
        id: 7,
        status: 'active',
        hwid_limit: own,
        admin: { username: 'root' },
      },
      '/api/admins': { admins: [{ username: 'root', role: { hwid: role } }] },
      '/api/settings': { hwid: common },
    },
  ];
}

function hiddify(own: number): [Tables, Answers] {
  return [
    { user: [{ id: 1, uuid: UUID, max_ips: own }] },
    { [`/api/v2/admin/user/${UUID}/`]: { id: 1, enable: true, max_ips: own } },
  ];
}

const on = { enabled: true };
const off = { enabled: false };
const CASES: Record<Exclude<PanelKind, 'marzban'>, Case[]> = {
  remnawave: [
    ['own', ...remnawave(4, { ...off, fallbackDeviceLimit: 9 }), 4],
    ['0', ...remnawave(0, { ...on, fallbackDeviceLimit: 9 }), null],
    ['fallback', ...remnawave(null, { ...on, fallbackDeviceLimit: 5 }), 5],
    ['switched off', ...remnawave(null, { ...off, fallbackDeviceLimit: 5 }), null],
    ['no settings', ...remnawave(null, null), null],
    ['squad', ...remnawave(null, off, { ...on, fallbackDeviceLimit: 2 }), 2],
    [
      'squad switched off',
      ...remnawave(null, { ...on, fallbackDeviceLimit: 5 }, { ...off, fallbackDeviceLimit: 2 }),
      null,
    ],
  ],
  '3x-ui': [
    ['largest', ...threeXUi([true, 2], [true, 4]), 4],
    ['enabled', ...threeXUi([true, 2], [false, 4]), 2],
    ['none enabled', ...threeXUi([false, 2], [false, 3]), 3],
    ['0', ...threeXUi([true, 0], [false, 3]), null],
  ],
  pasarguard: [
    ['own', ...pasarguard(4, { mode: 'disabled' }, off), 4],
    ['0', ...pasarguard(0, {}, { ...on, fallback_limit: 5 }), null],
    // Its API takes any whole number.
    ['below 0', ...pasarguard(-1, {}, { ...on, fallback_limit: 5 }), null],
    ['fallback', ...pasarguard(null, { mode: 'use_global' }, { ...on, fallback_limit: 5 }), 5],
    ['no fallback', ...pasarguard(null, {}, on), null],
    ['switched off', ...pasarguard(null, {}, { ...off, fallback_limit: 5 }), null],
    ['role off', ...pasarguard(null, { mode: 'disabled' }, { ...on, fallback_limit: 5 }), null],
    ['role', ...pasarguard(null, { mode: 'override', fallback_limit: 2 }, off), 2],
    ['role without', ...pasarguard(null, { mode: 'override' }, { ...off, fallback_limit: 5 }), 5],
  ],
  hiddify: [
    ['that of its form', ...hiddify(10_000), null],
    ['own', ...hiddify(4), 4],
    ['default', ...hiddify(100), null],
    ['0', ...hiddify(0), null],
    ['99', ...hiddify(99), 99],
  ],
};

const ALL = Object.entries(CASES).flatMap(([kind, cases]) =>
  cases.map((one) => [kind as PanelKind, ...one] as const),
);
const KEYS: Partial<Record<PanelKind, string>> = {
  pasarguard: 'pasarguard/7',
  hiddify: UUID,
};

test.each(ALL)('%s: %s', async (kind, _, tables, answers, limit) => {
  const [user] = PANEL_TRAITS[kind].database.readUsers(new Map(Object.entries(tables)));
  expect(user?.limit).toBe(limit);
  const ask = async (path: string) => answers[path.split('?', 1)[0] ?? ''] ?? null;
  const said = await panelLimitOf(
    kind,
    await panelApiUser(kind, KEYS[kind] ?? KEY, ask),
    settingsBy(ask),
  );
  expect(typeof said === 'number' ? said : null).toBe(limit);
});
