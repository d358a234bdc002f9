/** PasarGuard 5.2.1 (`app/routers/user.py`, `app/operation/subscription.py`). */

import { OAUTH_SIGN_IN } from './account.ts';
import { type AskSettings, bearer, type PanelApi, segmentOf, unexpected } from './api.ts';
import {
  asBytes,
  asEnd,
  asText,
  asTime,
  type Cells,
  givenLimit,
  groupsBy,
  isDisabled,
  jsonIn,
  noteOf,
  numberIn,
  ownLimitIn,
  type PanelDevice,
  type PanelRows,
  type PanelSchema,
  rowsOf,
  stateOf,
} from './cells.ts';
import { countersIn, type PanelCutOff, splitProtocols, without } from './credentials.ts';
import type { SignedForm } from './key-form.ts';
import { type HwidSettings, type PanelLimit, zeroIsUnlimited } from './limit-rule.ts';
import { type ListReader, listIn, usersAt } from './lists.ts';
import {
  bytesIn,
  countIn,
  idIn,
  isEmpty,
  limitIn,
  only,
  type PanelRecord,
  recordIn,
  timeIn,
  zeroIsNone,
} from './record.ts';
import type { PanelReason } from './refusal.ts';
import type { PanelTraits } from './traits.ts';

/** The settings in the role of an admin; `override`: they replace those of all. */
interface HwidRole {
  readonly mode: unknown;
  readonly fallback: number | null;
}

function pasarguardLimit(own: number | null, role: HwidRole, settings: HwidSettings): PanelLimit {
  if (own !== null) return zeroIsUnlimited(own);
  if (role.mode === 'disabled') return null;
  const overrides = role.mode === 'override';
  if (!overrides && !settings.isOn) return null;
  // Neither has a number: the panel admits all.
  return zeroIsUnlimited((overrides ? role.fallback : null) ?? settings.fallback ?? 0);
}

const NO_ROLE: HwidRole = { mode: null, fallback: null };

/** Returns the HWID settings in the role of an admin. */
async function roleOf(admin: unknown, settings: AskSettings): Promise<HwidRole> {
  const { username } = recordIn(admin);
  if (typeof username !== 'string') return NO_ROLE;
  const path = `/api/admins?username=${encodeURIComponent(username)}`;
  return settings(path, (answer) => roleIn(answer, username));
}

function roleIn(answer: unknown, username: string): HwidRole {
  const { admins } = recordIn(answer);
  const found = Array.isArray(admins) ? admins.map(recordIn) : [];
  const own = found.find((one) => one['username'] === username);
  const { mode, fallback_limit: limit } = recordIn(recordIn(own?.['role'])['hwid']);
  return { mode, fallback: countIn(limit) };
}

const hwidIn = ({ enabled, fallback_limit: limit }: PanelRecord): HwidSettings => ({
  isOn: enabled !== false,
  fallback: countIn(limit),
});

const hwidOfAll = (answer: unknown) => hwidIn(recordIn(recordIn(answer)['hwid']));

/** The scopes in a role: the users of the admin himself, and those of all. */
const SCOPE = { own: 1, all: 2 };

/**
 * Returns whether a role shows the users of all admins. `read` decides for one user, and
 * `read_simple`, of which nothing means all, for the list.
 */
function seesAll({ is_owner: isOwner, permissions }: PanelRecord): boolean {
  if (isOwner === true) return true;
  const { read, read_simple: list } = recordIn(recordIn(permissions)['users']);
  const isAll = read === true || recordIn(read)['scope'] === SCOPE.all;
  return isAll && recordIn(list)['scope'] !== SCOPE.own;
}

const KEY = /^pasarguard\/(?:(\d+)|name\/(.+))$/;

/** Returns the function of the HWID settings in the role of an admin. */
function rolesOfAdmins(rows: PanelRows): (adminId: string) => HwidRole {
  const roles = new Map(
    rowsOf(rows, 'admin_roles').map((row) => {
      const { mode, fallback_limit: limit } = jsonIn(row['hwid']);
      return [asText(row['id']), { mode, fallback: numberIn(limit) }];
    }),
  );
  const roleOf = new Map(
    rowsOf(rows, 'admins').map((row) => [asText(row['id']), asText(row['role_id'])]),
  );
  return (adminId) => roles.get(roleOf.get(adminId) ?? '') ?? NO_ROLE;
}

const deviceIn = (device: Cells): PanelDevice => ({
  hwid: asText(device['hwid']),
  isHash: false,
  os: asText(device['device_os']),
  osVersion: asText(device['os_version']),
  deviceName: asText(device['device_model']),
  firstSeenAtMs: asTime(device['created_at']),
  lastSeenAtMs: asTime(device['last_used_at']),
});

/** The most by which two readings of one time differ, ms: some databases round. */
const ROUNDED_MS = 1_000;

/**
 * Returns the rule of devices that came with the user of that time or later. On SQLite the panel
 * gives a new user the number of a deleted one, whose devices it keeps.
 */
const isSince =
  (createdAtMs: number | null) =>
  ({ firstSeenAtMs }: PanelDevice): boolean =>
    createdAtMs === null || firstSeenAtMs === null || firstSeenAtMs >= createdAtMs - ROUNDED_MS;

const database: PanelSchema = {
  tables: {
    users: [
      ...['id', 'username', 'status', 'note', 'hwid_limit', 'admin_id', 'created_at'],
      ...['expire', 'data_limit', 'used_traffic'],
    ],
    user_hwids: [
      ...['user_id', 'hwid', 'device_os', 'os_version', 'device_model', 'created_at'],
      'last_used_at',
    ],
    settings: ['hwid'],
    admins: ['id', 'role_id'],
    admin_roles: ['id', 'hwid'],
  },
  deviceTable: 'user_hwids',
  userTables: ['users'],
  readUsers(rows) {
    const roleOf = rolesOfAdmins(rows);
    const { enabled, fallback_limit: limit } = jsonIn(rowsOf(rows, 'settings')[0]?.['hwid']);
    const common = { isOn: enabled !== false, fallback: numberIn(limit) };
    const devices = groupsBy(rowsOf(rows, 'user_hwids'), (row) => asText(row['user_id']));
    return rowsOf(rows, 'users')
      .values()
      .map((row) => {
        const id = asText(row['id']);
        const own = ownLimitIn(row['hwid_limit']);
        const createdAtMs = asTime(row['created_at']);
        return {
          id,
          key: id,
          name: asText(row['username']),
          note: noteOf(row['username'], row['note']),
          ...givenLimit(pasarguardLimit(own, roleOf(asText(row['admin_id'])), common)),
          isDisabled: isDisabled(row),
          state: stateOf(row),
          endsAtMs: asEnd(row['expire']),
          totalBytes: asBytes(row['data_limit']) || null,
          usedBytes: asBytes(row['used_traffic']),
          createdAtMs,
          panelCreatedAtMs: createdAtMs,
          devices: (devices.get(id) ?? []).map(deviceIn).filter(isSince(createdAtMs)),
        };
      });
  },
};

async function readAll(reader: ListReader): Promise<void> {
  reader.add('settings', recordIn(await reader.get('/api/settings')));
  for (const admin of listIn(recordIn(await reader.get('/api/admins'))['admins'])) {
    const role = recordIn(admin['role']);
    reader.add('admins', { id: admin['id'], role_id: role['id'] });
    reader.add('admin_roles', role);
  }
  const ids: string[] = [];
  await reader.pages({
    table: 'users',
    field: 'users',
    nameOf: (user) => asText(user['id']),
    page: async (at) => {
      const answer = recordIn(await reader.get(usersAt(at)));
      const users = listIn(answer['users']).map((user) => {
        return { ...user, admin_id: recordIn(user['admin'])['id'] };
      });
      return { ...answer, users };
    },
    onNew: (id) => ids.push(id),
  });
  if (!reader.wants('user_hwids')) return;
  for (const [at, id] of ids.entries()) {
    // A text could lead to another path.
    if (!/^\d+$/.test(id)) throw reader.unusable('/api/users');
    // The user of an answer of 404 was deleted meanwhile.
    const { hwids } = recordIn(await reader.get(`/api/user/${id}/hwids`, [200, 404]));
    for (const hwid of listIn(hwids)) reader.add('user_hwids', { ...hwid, user_id: id });
    reader.onProgress(at + 1, ids.length);
  }
}

/** It has no headers about HWIDs: its apps show the detail. */
const DETAILS: Readonly<Record<PanelReason, readonly [status: number, detail: string]>> = {
  hwid_required: [403, 'HWID header required'],
  link_limit_reached: [403, 'Device limit reached'],
  link_not_found: [404, 'Not Found'],
  link_disabled: [404, 'Not Found'],
};

const LACKS = ['PasarGuard does not store the app of a device.'];

/** `app/utils/jwt.py`: numbers of users; names until version 3.1. */
const keys: SignedForm = {
  pattern: String.raw`pasarguard/(?:[1-9]\d{0,14}|name/[\w@.-]{1,128})`,
  rule: 'pasarguard/ID or pasarguard/name/NAME',
  keyOfUser: (id) => `pasarguard/${id}`,
  // A name may look like a number.
  keyOfName: (name) => `pasarguard/name/${name}`,
  oldNames: 'pasarguard/name/',
  idAndTime: /^v[23],([1-9]\d{0,14}),(\d{1,12})$/,
  hasMac: true,
  digestsInHex: true,
  strangersText: (random, time) => `v3,${random + 1},${time}`,
};

/** Returns the name of the admin of a user; null: it has none. */
const ownerIn = (admin: unknown): unknown => recordIn(admin)['username'] ?? null;

const api: PanelApi = {
  // It has API keys besides the tokens of admins, which are JWTs.
  headersOf: (token) => ({ ...bearer(token), ...(!token.includes('.') && { 'x-api-key': token }) }),
  signIn: OAUTH_SIGN_IN,
  view: {
    path: '/api/admin',
    adminIn(answer) {
      const { username, role, is_sudo: isSudo } = recordIn(answer);
      // Older versions have no roles.
      return isSudo === true || seesAll(recordIn(role)) ? '' : idIn(username) || 'unknown';
    },
  },
  idIn: (key) => KEY.exec(key)?.[1],
  async *keysFor(id) {
    yield keys.keyOfUser(id);
  },
  listsKeys: false,
  userPath(key) {
    const [, id, name = ''] = KEY.exec(key) ?? [];
    const segment = id === undefined ? segmentOf(name) : `by-id/${id}`;
    return segment ? `/api/user/${segment}` : null;
  },
  // It says that there is no such user.
  ofOtherAdmin: null,
  userIn(answer) {
    const record = recordIn(answer);
    if (isEmpty(record)) return null;
    const { status } = record;
    const id = idIn(record['id']);
    if (typeof status !== 'string' || id === '') throw unexpected();
    const owner = ownerIn(record['admin']);
    return {
      id,
      // The days of a user on hold begin at the first connection.
      isActive: status === 'active' || status === 'on_hold',
      createdAtMs: timeIn(record['created_at']),
      endsAtMs: asEnd(record['expire']),
      totalBytes: zeroIsNone(record['data_limit']),
      usedBytes: bytesIn(record['used_traffic']),
      subscriptionUrl: idIn(record['subscription_url']),
      belongsTo: (panelAdmin) => owner === panelAdmin,
      record: {
        ...only(record, 'hwid_limit'),
        admin: only(recordIn(record['admin']), 'username'),
      },
    };
  },
  async limitOf(record, settings) {
    const own = limitIn(record['hwid_limit']);
    if (own !== null) return pasarguardLimit(own, NO_ROLE, hwidIn({}));
    const common = await settings('/api/settings', hwidOfAll);
    return pasarguardLimit(null, await roleOf(record['admin'], settings), common);
  },
  strangersKey: () => 'pasarguard/999999999',
  strangersRecord: { admin: { username: 'gatepost_asks_for_no_admin' } },
};

/** `app/db/crud/user.py`, `modify_user`: a PUT without the next plan deletes it. */
const cutOff: PanelCutOff = {
  owner: "the name of the user's admin",
  find: async ({ id }) => (/^[1-9]\d{0,14}$/.test(id) ? [id] : []),
  async read(id, ask) {
    const path = `/api/user/by-id/${id}`;
    const answer = await ask(path);
    if (answer === null) return null;
    const record = recordIn(answer);
    const { admin, next_plan: nextPlan, proxy_settings: settings, username } = record;
    if (idIn(record['id']) !== id || typeof username !== 'string') throw unexpected();
    const owner = ownerIn(admin);
    const { credentials, rest } = splitProtocols(recordIn(settings));
    const counters = countersIn(record, 'used_traffic', 'lifetime_used_traffic');
    const fields = without(record, ...LIVELY, ...Object.keys(counters), 'admin', 'proxy_settings');
    return {
      keys: [keys.keyOfUser(id), keys.keyOfName(username)],
      credentials,
      counters,
      others: { ...fields, admin: owner, proxy_settings: rest },
      belongsTo: (panelAdmin) => owner === panelAdmin,
      change: () => ({
        method: 'PUT',
        path,
        body: { proxy_settings: rest, ...(nextPlan != null && { next_plan: nextPlan }) },
      }),
    };
  },
  isDone: () => true,
  interval: {
    path: '/api/settings',
    read: (answer) => countIn(recordIn(recordIn(answer)['subscription'])['update_interval']),
  },
};

/** Fields that change when the user is read, connects or is changed. */
const LIVELY = ['subscription_url', 'online_at', 'edit_at'];

export const PASARGUARD: PanelTraits = {
  title: 'PasarGuard',
  version: '5.2.1',
  keys,
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: false,
  keysAreExact: false,
  statusOfNoUser: 404,
  routes: { clash: ['clash', 'clash_meta'], singBox: ['sing_box'] },
  pageHasServers: true,
  hasOwnButton: true,
  queryNames: ['period', 'start', 'end'],
  api,
  cutOff,
  lacks: { database: LACKS, api: LACKS },
  refusalOf(reason) {
    const [status, detail] = DETAILS[reason];
    const headers = { 'content-type': 'application/json' };
    return { status, headers, body: JSON.stringify({ detail }) };
  },
  database,
  readAll,
};
