/** Hiddify 10.80.11; its API of the second version (`panel/commercial/restapi/v2/admin`). */

import { DAY_MS } from '../calendar.ts';
import type { PanelUserState } from '../port/follow.ts';
import { type PanelApi, unexpected } from './api.ts';
import {
  asBytes,
  asText,
  asTime,
  type Cells,
  givenLimit,
  isTrue,
  noteOf,
  numberIn,
  type PanelSchema,
  rowsOf,
} from './cells.ts';
import { type PanelLimit, zeroIsUnlimited } from './limit-rule.ts';
import { type ListReader, listIn } from './lists.ts';
import { bytesIn, countIn, idIn, isEmpty, only, recordIn } from './record.ts';
import { NOT_FOUND } from './refusal.ts';
import type { PanelTraits } from './traits.ts';

/** `max_ips` of users from its API. Its form and old versions write 1,000 or 10,000. */
const MAX_IPS_MEANING_NONE = 100;

function hiddifyLimit(own: number | null): PanelLimit {
  return own !== null && own >= MAX_IPS_MEANING_NONE ? null : zeroIsUnlimited(own);
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Returns true for a user that Hiddify has marked as deleted, by a flag or by a time. */
const isDeleted = (row: Cells) =>
  ['deleted', 'is_deleted', 'deleted_at'].some((column) => {
    const cell = row[column];
    return isTrue(cell) || /^[1-9]\d{3}-/.test(asText(cell));
  });

/** Returns the end of a user; null: its days begin with the first connection. */
function endOfDays(row: Cells): number | null {
  const days = numberIn(row['package_days']);
  const startMs = asTime(row['start_date']);
  return days === null || startMs === null ? null : startMs + days * DAY_MS;
}

/** `current_usage_GB` and `usage_limit_GB` of its API, as rows have them. */
const [USED_GB, ALLOWED_GB] = ['current_usage__g_b', 'usage_limit__g_b'] as const;

const GB = 1024 ** 3;
const gigabytesIn = (value: unknown) => bytesIn(typeof value === 'number' ? value * GB : null);

/** Returns the state of a user; only the API says whether days or traffic are left. */
function stateOfUser(row: Cells): PanelUserState {
  if (!isTrue(row['enable'])) return 'disabled';
  const hasEnded = row['is_active'] !== undefined && !isTrue(row['is_active']);
  if (!hasEnded) return asText(row['start_date']) === '' ? 'on_hold' : 'active';
  const isUsedUp = Number(row[USED_GB]) >= Number(row[ALLOWED_GB]);
  return isUsedUp ? 'limited' : 'expired';
}

const database: PanelSchema = {
  tables: {
    user: [
      ...['id', 'uuid', 'name', 'comment', 'enable', 'max_ips', 'start_date'],
      ...['deleted', 'is_deleted', 'deleted_at'],
      ...['package_days', 'is_active', USED_GB, ALLOWED_GB, 'usage_limit', 'current_usage'],
    ],
  },
  deviceTable: null,
  userTables: ['user'],
  readUsers: (rows) =>
    rowsOf(rows, 'user')
      .values()
      .filter((row) => !isDeleted(row))
      .map((row) => ({
        id: asText(row['id']) || null,
        key: asText(row['uuid']),
        name: asText(row['name']),
        note: noteOf(row['name'], row['comment']),
        ...givenLimit(hiddifyLimit(numberIn(row['max_ips']))),
        isDisabled: !isTrue(row['enable']),
        state: stateOfUser(row),
        endsAtMs: endOfDays(row),
        totalBytes: asBytes(row['usage_limit']) ?? gigabytesIn(row[ALLOWED_GB]),
        usedBytes: asBytes(row['current_usage']) ?? gigabytesIn(row[USED_GB]),
        createdAtMs: asTime(row['start_date']),
        // A renewal changes the only date of a user; its number lasts.
        panelCreatedAtMs: null,
        devices: [],
      })),
};

const USERS = '/api/v2/admin/user/';

async function readAll(reader: ListReader): Promise<void> {
  reader.table('user');
  for (const user of listIn(await reader.get(USERS))) reader.add('user', user);
}

const LACKS = ['Hiddify stores no devices: each device takes a slot when it first comes.'];

const api: PanelApi = {
  headersOf: (token) => ({ 'hiddify-api-key': token }),
  signIn: null,
  view: {
    path: '/api/v2/admin/me/',
    adminIn(answer) {
      const { mode, uuid } = recordIn(answer);
      return mode === 'super_admin' ? '' : idIn(uuid) || 'unknown';
    },
  },
  idIn: () => undefined,
  async *keysFor(_, ask) {
    for (const { uuid } of listIn(await ask(USERS))) yield idIn(uuid).toLowerCase();
  },
  listsKeys: true,
  // To another key it answers 500.
  userPath: (key) => (UUID.test(key) ? `/api/v2/admin/user/${key}/` : null),
  ofOtherAdmin: /^You don't have permission to access this user$/,
  userIn(answer) {
    const record = recordIn(answer);
    if (isEmpty(record)) return null;
    const { enable, is_active: isActive = true } = record;
    if (typeof enable !== 'boolean') throw unexpected();
    return {
      id: idIn(record['id']) || null,
      // `is_active` is false once days or traffic are used up.
      isActive: enable && isActive === true,
      createdAtMs: null,
      endsAtMs: endOfDays(record),
      // It has no user without a limit.
      totalBytes: gigabytesIn(record['usage_limit_GB']),
      usedBytes: gigabytesIn(record['current_usage_GB']),
      subscriptionUrl: '',
      // It has no cut-off, without which there is no `panel_admin`.
      belongsTo: () => true,
      record: only(record, 'max_ips'),
    };
  },
  limitOf: async (record) => hiddifyLimit(countIn(record['max_ips'])),
  strangersKey: () => crypto.randomUUID(),
  strangersRecord: {},
};

export const HIDDIFY: PanelTraits = {
  title: 'Hiddify',
  version: '10.80.11',
  // It compares UUIDs as numbers.
  keys: 'uuid',
  limitMeaningNone: MAX_IPS_MEANING_NONE,
  givesLimits: false,
  keysHaveDelimiters: false,
  keysAreExact: false,
  statusOfNoUser: 302,
  routes: {
    clash: ['clash', 'clashmeta'],
    singBox: ['singbox', 'singbox.json', 'full-singbox.json'],
  },
  pageHasServers: false,
  hasOwnButton: true,
  queryNames: [
    'asn',
    'base64',
    'darkmode',
    'domain',
    'fragment',
    'fragment_v1',
    'mode',
    'phttp',
    'ptls',
    'pwa',
  ],
  api,
  cutOff: {
    why: 'the UUID of a user of Hiddify is also the key of the link: new credentials end the link',
  },
  lacks: { database: LACKS, api: LACKS },
  refusalOf: () => NOT_FOUND,
  database,
  readAll,
};
