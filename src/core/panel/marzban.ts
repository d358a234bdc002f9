/** Marzban 0.8.4 (`app/routers/user.py`, `app/dependencies.py`). */

import { OAUTH_SIGN_IN } from './account.ts';
import { bearer, type PanelApi, segmentOf, unexpected } from './api.ts';
import {
  asBytes,
  asEnd,
  asText,
  asTime,
  isDisabled,
  noteOf,
  type PanelSchema,
  rowsOf,
  stateOf,
} from './cells.ts';
import { countersIn, type PanelCutOff, splitProtocols, without } from './credentials.ts';
import type { SignedForm } from './key-form.ts';
import { type ListReader, usersAt } from './lists.ts';
import { bytesIn, idIn, isEmpty, recordIn, timeIn, zeroIsNone } from './record.ts';
import { NOT_FOUND } from './refusal.ts';
import type { PanelTraits } from './traits.ts';

const nameIn = (key: string) => /^marzban\/(.+)$/.exec(key)?.[1];

const database: PanelSchema = {
  tables: {
    users: [
      ...['username', 'status', 'note', 'created_at', 'expire', 'data_limit', 'used_traffic'],
    ],
  },
  deviceTable: null,
  userTables: ['users'],
  readUsers: (rows) =>
    rowsOf(rows, 'users')
      .values()
      .map((row) => ({
        id: asText(row['username']),
        key: asText(row['username']),
        name: asText(row['username']),
        note: noteOf(row['username'], row['note']),
        limit: null,
        isUnlimited: false,
        isDisabled: isDisabled(row),
        state: stateOf(row),
        endsAtMs: asEnd(row['expire']),
        totalBytes: asBytes(row['data_limit']) || null,
        usedBytes: asBytes(row['used_traffic']),
        createdAtMs: asTime(row['created_at']),
        panelCreatedAtMs: asTime(row['created_at']),
        devices: [],
      })),
};

async function readAll(reader: ListReader): Promise<void> {
  await reader.pages({
    table: 'users',
    field: 'users',
    nameOf: (user) => asText(user['username']),
    page: async (at) => recordIn(await reader.get(usersAt(at))),
  });
}

const LACKS = [
  'Marzban stores neither limits nor devices: each device takes a slot when it first comes.',
];

const keyOf = (name: string) => `marzban/${name}`;

/** `app/utils/jwt.py`. */
const keys: SignedForm = {
  pattern: String.raw`marzban/[\w@.-]{1,128}`,
  rule: 'marzban/NAME',
  keyOfUser: keyOf,
  keyOfName: keyOf,
  oldNames: null,
  idAndTime: null,
  hasMac: false,
  digestsInHex: false,
  strangersText: (random, time) => `${random.toString(36)},${time}`,
};

/** Returns the name of the admin of a user; null: it has none. */
const ownerIn = (admin: unknown): unknown => recordIn(admin)['username'] ?? null;

const api: PanelApi = {
  headersOf: bearer,
  signIn: OAUTH_SIGN_IN,
  view: {
    path: '/api/admin',
    adminIn(answer) {
      const { username, is_sudo: isSudo } = recordIn(answer);
      return isSudo === true ? '' : idIn(username) || 'unknown';
    },
  },
  idIn: nameIn,
  async *keysFor(id) {
    yield keyOf(id);
  },
  listsKeys: false,
  userPath(key) {
    const name = segmentOf(nameIn(key) ?? '');
    return name ? `/api/user/${name}` : null;
  },
  ofOtherAdmin: /^You're not allowed$/,
  userIn(answer) {
    const record = recordIn(answer);
    if (isEmpty(record)) return null;
    const { status, username } = record;
    if (typeof status !== 'string' || typeof username !== 'string') throw unexpected();
    const owner = ownerIn(record['admin']);
    return {
      id: username,
      // The days of a user on hold begin at the first connection.
      isActive: status === 'active' || status === 'on_hold',
      createdAtMs: timeIn(record['created_at']),
      endsAtMs: asEnd(record['expire']),
      totalBytes: zeroIsNone(record['data_limit']),
      usedBytes: bytesIn(record['used_traffic']),
      subscriptionUrl: idIn(record['subscription_url']),
      belongsTo: (panelAdmin) => owner === panelAdmin,
      record: {},
    };
  },
  // It knows no devices.
  limitOf: async () => null,
  strangersKey: () => 'marzban/gatepost_asks_for_no_user',
  strangersRecord: {},
};

/** Fields that change when the user is read, connects or fetches. */
const LIVELY = ['links', 'subscription_url', 'online_at', 'sub_updated_at', 'sub_last_user_agent'];

/** `app/db/crud.py`, `update_user`: a protocol that a PUT leaves out is deleted. */
const cutOff: PanelCutOff = {
  owner: "the name of the user's admin",
  find: async ({ id, hasKey }) => (hasKey(keyOf(id)) ? [id] : []),
  async read(name, ask) {
    const path = api.userPath(keyOf(name));
    const answer = path === null ? null : await ask(path);
    if (path === null || answer === null) return null;
    const record = recordIn(answer);
    const { admin, next_plan: nextPlan, proxies, username } = record;
    if (username !== name) throw unexpected();
    const owner = ownerIn(admin);
    const { credentials, rest } = splitProtocols(recordIn(proxies));
    const counters = countersIn(record, 'used_traffic', 'lifetime_used_traffic');
    const fields = without(record, ...LIVELY, ...Object.keys(counters), 'admin', 'proxies');
    return {
      keys: [keyOf(name)],
      credentials,
      counters,
      others: { ...fields, admin: owner, proxies: rest },
      belongsTo: (panelAdmin) => owner === panelAdmin,
      change: () => ({
        method: 'PUT',
        path,
        // A plan that was paid ahead is deleted by a PUT without it.
        body: { proxies: rest, ...(nextPlan != null && { next_plan: nextPlan }) },
      }),
    };
  },
  isDone: () => true,
  interval: null,
};

export const MARZBAN: PanelTraits = {
  title: 'Marzban',
  version: '0.8.4',
  keys,
  limitMeaningNone: null,
  givesLimits: false,
  keysHaveDelimiters: false,
  keysAreExact: false,
  statusOfNoUser: 404,
  routes: { clash: ['clash', 'clash-meta'], singBox: ['sing-box'] },
  pageHasServers: true,
  hasOwnButton: true,
  queryNames: ['start', 'end'],
  api,
  cutOff,
  lacks: { database: LACKS, api: LACKS },
  refusalOf: () => NOT_FOUND,
  database,
  readAll,
};
