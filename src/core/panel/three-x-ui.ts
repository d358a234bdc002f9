/** 3x-ui after 3.6.0 (`sub/`, `service/client_hwid.go`, main of 2026-08-23). */

import type { Figures } from '../port/subscription-figures.ts';
import { bearer, type PanelApi, Silent, unexpected } from './api.ts';
import {
  asBytes,
  asEnd,
  asText,
  asTime,
  type Cells,
  givenLimit,
  groupsBy,
  isTrue,
  jsonIn,
  noteOf,
  numberIn,
  type PanelRows,
  type PanelSchema,
  rowsOf,
} from './cells.ts';
import { type PanelLimit, zeroIsUnlimited } from './limit-rule.ts';
import { type ListReader, listIn } from './lists.ts';
import {
  countIn,
  isEmpty,
  only,
  type PanelRecord,
  recordIn,
  timeIn,
  zeroIsNone,
} from './record.ts';
import { NOT_FOUND } from './refusal.ts';
import { clientKeys, isOf, threeXUiCutOff } from './three-x-ui-cut-off.ts';
import type { PanelTraits } from './traits.ts';

/**
 * Returns the largest limit of the enabled clients of a subscription. Without any it opens nothing;
 * the limits of all of them count, so that the link keeps its limit until one is enabled again.
 */
function threeXUiLimit(
  clients: readonly { isEnabled: boolean; limit: number | null }[],
): PanelLimit {
  const enabled = clients.filter(({ isEnabled }) => isEnabled);
  const asked = enabled.length > 0 ? enabled : clients;
  return zeroIsUnlimited(asked.reduce((most, { limit }) => Math.max(most, limit ?? 0), 0));
}

/** Returns the clients of 3x-ui; older versions store them in the settings of inbounds. */
function clientsOf(rows: PanelRows): readonly Cells[] {
  if (rows.has('clients')) return rowsOf(rows, 'clients');
  return rowsOf(rows, 'inbounds').flatMap((inbound) => {
    const { clients } = jsonIn(inbound['settings']);
    const list = Array.isArray(clients) ? (clients as Record<string, unknown>[]) : [];
    return list.map(({ email, subId, enable, comment, created_at, expiryTime, totalGB }) => ({
      email,
      sub_id: subId,
      enable,
      comment,
      created_at,
      expiry_time: expiryTime,
      total_gb: totalGB,
      limit_hwid: 0,
    }));
  });
}

/** Returns the end of a subscription: when its last client ends; null: one has none. */
function endOfClients(clients: readonly Cells[]): number | null {
  const ends = clients.map((client) => asEnd(client['expiry_time']) ?? Infinity);
  const lastMs = ends.reduce((last, endMs) => Math.max(last, endMs), 0);
  return Number.isFinite(lastMs) && lastMs > 0 ? lastMs : null;
}

/** Returns a sum; null: a part is null. */
const sumOf = (counts: readonly (number | null)[]): number | null =>
  counts.reduce((all, one) => (all === null || one === null ? null : all + one), 0);

/** Returns the used traffic of a client; a new one may have no row. */
const usedOf = ({ up = 0, down = 0 }: Cells): number | null => sumOf([asBytes(up), asBytes(down)]);

/**
 * Returns the traffic of a subscription, as `AggregateTrafficByEmails` of `sub/service.go` sums it:
 * one client without a total has the subscription unlimited. `totalGB` is in bytes.
 */
const trafficOf = (clients: readonly PanelRecord[]): Pick<Figures, 'totalBytes' | 'usedBytes'> => ({
  totalBytes: sumOf(clients.map(({ totalGB }) => zeroIsNone(totalGB))),
  usedBytes: sumOf(clients.map(({ traffic }) => usedOf(recordIn(traffic)))),
});

const database: PanelSchema = {
  tables: {
    clients: [
      ...['email', 'sub_id', 'enable', 'limit_hwid', 'comment', 'created_at'],
      ...['expiry_time', 'total_gb'],
    ],
    client_traffics: ['email', 'up', 'down'],
    client_hwids: [
      ...['sub_id', 'hwid_hash', 'first_seen', 'last_seen', 'user_agent', 'device_os'],
      ...['os_version', 'device_model'],
    ],
    inbounds: ['settings'],
  },
  deviceTable: 'client_hwids',
  userTables: ['clients', 'inbounds'],
  readUsers(rows) {
    const subOf = (row: Cells) => asText(row['sub_id']).trim();
    const devices = groupsBy(rowsOf(rows, 'client_hwids'), subOf);
    const traffics = rowsOf(rows, 'client_traffics');
    const used =
      traffics.length === 0
        ? null
        : new Map(traffics.map((row) => [asText(row['email']), usedOf(row) ?? 0]));
    return groupsBy(clientsOf(rows), subOf)
      .entries()
      .map(([key, clients]) => {
        const limits = clients.map((client) => ({
          isEnabled: isTrue(client['enable']),
          limit: numberIn(client['limit_hwid']),
        }));
        const emails = [...new Set(clients.map(({ email }) => asText(email)))];
        const times = clients.map((client) => asTime(client['created_at']) ?? Infinity);
        const createdAtMs = Math.min(...times.slice(0, 100));
        const comment = clients.map((client) => asText(client['comment'])).find(Boolean);
        const isEnabled = limits.some((client) => client.isEnabled);
        return {
          id: null,
          key,
          name: emails[0] ?? '',
          note: noteOf(emails.slice(0, 10).join(', '), comment),
          ...givenLimit(threeXUiLimit(limits)),
          isDisabled: !isEnabled,
          // It disables clients that ended, too.
          state: isEnabled ? 'active' : 'disabled',
          endsAtMs: endOfClients(clients),
          totalBytes: sumOf(clients.map((client) => asBytes(client['total_gb']) || null)),
          usedBytes: used && sumOf(emails.map((email) => used.get(email) ?? 0)),
          createdAtMs: Number.isFinite(createdAtMs) ? createdAtMs : null,
          // Clients of a subscription come and go, and a migration changes their dates.
          panelCreatedAtMs: null,
          devices: (devices.get(key) ?? []).map((device) => ({
            hwid: asText(device['hwid_hash']).toLowerCase(),
            isHash: true,
            os: asText(device['device_os']),
            osVersion: asText(device['os_version']),
            deviceName: asText(device['device_model']),
            userAgent: asText(device['user_agent']),
            firstSeenAtMs: asTime(device['first_seen']),
            lastSeenAtMs: asTime(device['last_seen']),
          })),
        };
      });
  },
};

async function readAll(reader: ListReader): Promise<void> {
  const { obj, success } = recordIn(await reader.get('/panel/api/clients/list'));
  if (success !== true) throw reader.unusable('/panel/api/clients/list');
  reader.table('clients');
  for (const client of listIn(obj)) {
    reader.add('clients', { ...client, total_gb: client['totalGB'] });
    const traffic = recordIn(client['traffic']);
    if (!isEmpty(traffic)) reader.add('client_traffics', { ...traffic, email: client['email'] });
  }
}

/**
 * Returns the part of a key by which a search finds its clients: the panel makes all letters of a
 * search small, but SQLite only those of ASCII in the sub ids that it compares.
 */
function searchFor(key: string): string {
  const parts = key.split(/(?![A-Z])\p{Changes_When_Lowercased}/u);
  return encodeURIComponent(parts.reduce((a, b) => (b.length > a.length ? b : a), ''));
}

const api: PanelApi = {
  // To others it hides a wrong token behind a 404.
  headersOf: (token) => ({ ...bearer(token), 'x-requested-with': 'XMLHttpRequest' }),
  signIn: null,
  view: null,
  idIn: () => null,
  keysFor: (_, ask) => clientKeys(ask),
  listsKeys: true,
  // The search also matches names and comments.
  userPath: (key) => `/panel/api/clients/list/paged?search=${searchFor(key)}&pageSize=200`,
  ofOtherAdmin: null,
  userIn(answer, key) {
    const { obj, success } = recordIn(answer);
    const { items, filtered } = recordIn(obj);
    if (success !== true || !Array.isArray(items)) throw unexpected();
    const clients = items.map(recordIn).filter((client) => client['subId'] === key);
    // Another page may have more clients of this key.
    if (Number(filtered) > items.length) throw new Silent('API_MANY');
    if (clients.length === 0) return null;
    const times = clients.map((client) => timeIn(client['createdAt']) ?? Number.POSITIVE_INFINITY);
    const createdAtMs = Math.min(...times);
    // The last client that ends; one without an end has no date.
    const ends = clients.map((client) => asEnd(client['expiryTime']) ?? Number.POSITIVE_INFINITY);
    const endsAtMs = Math.max(...ends);
    const owners = clients.map((client) => only(client, 'group', 'inboundIds'));
    return {
      id: null,
      isActive: clients.some((client) => client['enable'] === true),
      createdAtMs: Number.isFinite(createdAtMs) ? createdAtMs : null,
      endsAtMs: Number.isFinite(endsAtMs) ? endsAtMs : null,
      ...trafficOf(clients),
      subscriptionUrl: '',
      belongsTo: (panelAdmin) =>
        owners.every(({ group, inboundIds }) => isOf(panelAdmin, group, inboundIds)),
      record: { clients: clients.map((client) => only(client, 'enable', 'limitHwid')) },
    };
  },
  async limitOf({ clients }) {
    const all = Array.isArray(clients) ? clients.map(recordIn) : [];
    return threeXUiLimit(
      all.map(({ enable, limitHwid }) => ({
        isEnabled: enable === true,
        limit: countIn(limitHwid),
      })),
    );
  },
  strangersKey: () => crypto.randomUUID(),
  strangersRecord: {},
};

export const THREE_X_UI: PanelTraits = {
  title: '3x-ui',
  version: '3.6.0',
  keys: 'plain',
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: true,
  keysAreExact: true,
  statusOfNoUser: 404,
  routes: { clash: ['clash'], singBox: [] },
  pageHasServers: true,
  hasOwnButton: true,
  queryNames: ['format', 'html', 'view'],
  api,
  cutOff: threeXUiCutOff((key) => api.userPath(key)),
  lacks: {
    database: [
      '3x-ui stores hashes of HWIDs: the HWID of a device is known when it first comes here.',
    ],
    api: [
      'The API of 3x-ui has no devices: import its database, or wait until each device takes a slot.',
    ],
  },
  refusalOf: () => NOT_FOUND,
  database,
  readAll,
};
