/** Remnawave 3.3.2 and its subscription page (`modules/users`, `modules/subscription`). */

import { bearer, type PanelApi, segmentOf, unexpected } from './api.ts';
import {
  asBytes,
  asEnd,
  asText,
  asTime,
  type Cells,
  givenLimit,
  groupsBy,
  isDisabled,
  isTrue,
  jsonIn,
  noteOf,
  numberIn,
  type PanelSchema,
  rowsOf,
  stateOf,
} from './cells.ts';
import { countersIn, type PanelCutOff, without } from './credentials.ts';
import { type HwidSettings, type PanelLimit, zeroIsUnlimited } from './limit-rule.ts';
import { type ListReader, listIn, PAGE } from './lists.ts';
import {
  bytesIn,
  countIn,
  idIn,
  isEmpty,
  only,
  type PanelRecord,
  recordIn,
  timeIn,
  zeroIsNone,
} from './record.ts';
import { NOT_FOUND } from './refusal.ts';
import type { PanelTraits } from './traits.ts';

/** `settings`: those of the user's external squad, else of the panel; null: there are none. */
function remnawaveLimit(own: number | null, settings: HwidSettings | null): PanelLimit {
  if (own !== null) return zeroIsUnlimited(own);
  return settings?.isOn ? zeroIsUnlimited(settings.fallback) : null;
}

/** Reads the settings of the panel or of an external squad; null: it has none. */
function hwidSettingsIn(answer: unknown): HwidSettings | null {
  const { hwidSettings } = recordIn(recordIn(answer)['response']);
  if (typeof hwidSettings !== 'object' || hwidSettings === null) return null;
  const { enabled, fallbackDeviceLimit } = recordIn(hwidSettings);
  return { isOn: enabled === true, fallback: countIn(fallbackDeviceLimit) };
}

/** Reads the settings of the panel or of a squad; null: it has none. */
function settingsOfRow(row: Cells | undefined): HwidSettings | null {
  const settings = jsonIn(row?.['hwid_settings']);
  if (Object.keys(settings).length === 0) return null;
  return { isOn: isTrue(settings['enabled']), fallback: numberIn(settings['fallbackDeviceLimit']) };
}

/** Returns the used traffic of a user; older versions have it beside the limit. */
const usedIn = ({ userTraffic, usedTrafficBytes }: PanelRecord): unknown =>
  recordIn(userTraffic)['usedTrafficBytes'] ?? usedTrafficBytes;

const database: PanelSchema = {
  tables: {
    users: [
      ...['id', 't_id', 'uuid', 'short_uuid', 'username', 'status', 'description', 'created_at'],
      ...['hwid_device_limit', 'external_squad_uuid', 'expire_at'],
      ...['traffic_limit_bytes', 'used_traffic_bytes'],
    ],
    hwid_user_devices: [
      ...['hwid', 'user_id', 'user_uuid', 'platform', 'os_version', 'device_model', 'user_agent'],
      ...['created_at', 'updated_at'],
    ],
    subscription_settings: ['hwid_settings'],
    external_squads: ['uuid', 'hwid_settings'],
  },
  deviceTable: 'hwid_user_devices',
  userTables: ['users'],
  readUsers(rows) {
    const common = settingsOfRow(rowsOf(rows, 'subscription_settings')[0]);
    const ofSquad = new Map(
      rowsOf(rows, 'external_squads').map((row) => [asText(row['uuid']), settingsOfRow(row)]),
    );
    const ownerOf = (row: Cells) => asText(row['user_id']) || asText(row['user_uuid']);
    const devices = groupsBy(rowsOf(rows, 'hwid_user_devices'), ownerOf);
    return rowsOf(rows, 'users')
      .values()
      .map((row) => {
        const [id, uuid] = [asText(row['id']) || asText(row['t_id']), asText(row['uuid'])];
        const own = numberIn(row['hwid_device_limit']);
        // A squad without its own settings has those of the panel.
        const settings = ofSquad.get(asText(row['external_squad_uuid'])) ?? common;
        const createdAtMs = asTime(row['created_at']);
        return {
          // Older versions call it t_id, and refer to devices by the UUID.
          id: id || uuid,
          key: asText(row['short_uuid']),
          name: asText(row['username']),
          note: noteOf(row['username'], row['description']),
          ...givenLimit(remnawaveLimit(own, settings)),
          isDisabled: isDisabled(row),
          state: stateOf(row),
          endsAtMs: asEnd(row['expire_at']),
          totalBytes: asBytes(row['traffic_limit_bytes']) || null,
          usedBytes: asBytes(row['used_traffic_bytes']),
          createdAtMs,
          panelCreatedAtMs: createdAtMs,
          devices: [...(devices.get(id) ?? []), ...(devices.get(uuid) ?? [])].map((device) => ({
            hwid: asText(device['hwid']),
            isHash: false,
            os: asText(device['platform']),
            osVersion: asText(device['os_version']),
            deviceName: asText(device['device_model']),
            userAgent: asText(device['user_agent']),
            firstSeenAtMs: asTime(device['created_at']),
            lastSeenAtMs: asTime(device['updated_at']),
          })),
        };
      });
  },
};

async function readAll(reader: ListReader): Promise<void> {
  const answer = async (path: string) => recordIn(recordIn(await reader.get(path))['response']);
  reader.add('subscription_settings', await answer('/api/subscription-settings'));
  const { externalSquads } = await answer('/api/external-squads');
  for (const squad of listIn(externalSquads)) reader.add('external_squads', squad);
  const page = (path: string) => (at: number) => answer(`${path}?start=${at}&size=${PAGE}`);
  await reader.pages({
    table: 'users',
    field: 'users',
    nameOf: ({ uuid, shortUuid }) => asText(uuid) || asText(shortUuid),
    page: async (at) => {
      const answer = await page('/api/users')(at);
      const users = listIn(answer['users']).map((user) => {
        return { ...user, usedTrafficBytes: usedIn(user) };
      });
      return { ...answer, users };
    },
  });
  if (!reader.wants('hwid_user_devices')) return;
  await reader.pages({
    table: 'hwid_user_devices',
    field: 'devices',
    nameOf: ({ hwid, userId, userUuid }) => JSON.stringify([hwid, userId ?? userUuid]),
    page: page('/api/hwid/devices'),
  });
}

/** Returns the names and UUIDs of the squads of a user. */
const ownersOf = (squads: unknown, externalSquadUuid: unknown): string[] => [
  idIn(externalSquadUuid),
  ...listIn(squads).flatMap(({ uuid, name }) => [idIn(uuid), idIn(name)]),
];

const api: PanelApi = {
  // It drops connections that no proxy forwards.
  headersOf: (token) => ({
    ...bearer(token),
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'https',
  }),
  signIn: null,
  view: null,
  idIn: () => undefined,
  async *keysFor(id, ask) {
    const segment = segmentOf(id);
    const answer = segment ? await ask(`/api/users/${segment}`) : null;
    if (answer !== null) yield idIn(recordIn(recordIn(answer)['response'])['shortUuid']);
  },
  listsKeys: false,
  userPath(key) {
    const segment = segmentOf(key);
    return segment ? `/api/users/by-short-uuid/${segment}` : null;
  },
  ofOtherAdmin: null,
  userIn(answer) {
    if (answer === null) return null;
    const record = recordIn(recordIn(answer)['response']);
    if (isEmpty(record)) throw unexpected();
    const owners = ownersOf(record['activeInternalSquads'], record['externalSquadUuid']);
    return {
      // Older versions call it tId.
      id: idIn(record['id']) || idIn(record['tId']) || idIn(record['uuid']) || null,
      isActive: record['status'] === 'ACTIVE',
      createdAtMs: timeIn(record['createdAt']),
      endsAtMs: asEnd(record['expireAt']),
      totalBytes: zeroIsNone(record['trafficLimitBytes']),
      usedBytes: bytesIn(usedIn(record)),
      subscriptionUrl: '',
      belongsTo: (panelAdmin) => owners.includes(panelAdmin),
      record: only(record, 'hwidDeviceLimit', 'externalSquadUuid'),
    };
  },
  async limitOf(record, settings) {
    const own = countIn(record['hwidDeviceLimit']);
    if (own !== null) return remnawaveLimit(own, null);
    const squad = segmentOf(idIn(record['externalSquadUuid']));
    if (squad === null) throw unexpected();
    const ofSquad = squad && (await settings(`/api/external-squads/${squad}`, hwidSettingsIn));
    return remnawaveLimit(
      null,
      ofSquad || (await settings('/api/subscription-settings', hwidSettingsIn)),
    );
  },
  strangersKey: () => crypto.randomUUID(),
  strangersRecord: {},
};

const SECRETS = ['trojanPassword', 'vlessUuid', 'ssPassword'];
/** Fields that change when the user connects, fetches or is changed. */
const LIVELY = ['subRevokedAt', 'updatedAt', 'subscriptionUrl', 'lastTriggeredThreshold'];

const cutOff: PanelCutOff = {
  owner: "the name or UUID of the user's squad",
  // Before version 3 users have UUIDs, and some of those versions change the key of the link too.
  find: async ({ id }) => (/^[1-9]\d{0,14}$/.test(id) ? [id] : []),
  async read(id, ask) {
    const answer = await ask(`/api/users/${id}`);
    if (answer === null) return null;
    const record = recordIn(recordIn(answer)['response']);
    if (idIn(record['id']) !== id || idIn(record['shortUuid']) === '') throw unexpected();
    const { activeInternalSquads: squads, externalSquadUuid, shortUuid, userTraffic } = record;
    const owners = ownersOf(squads, externalSquadUuid);
    return {
      keys: [idIn(shortUuid)],
      credentials: Object.fromEntries(SECRETS.map((name) => [name, idIn(record[name])])),
      counters: countersIn(recordIn(userTraffic), 'usedTrafficBytes', 'lifetimeUsedTrafficBytes'),
      others: without(record, ...LIVELY, ...SECRETS, 'userTraffic'),
      belongsTo: (panelAdmin) => owners.includes(panelAdmin),
      change: () => ({
        method: 'POST',
        path: `/api/users/${id}/actions/revoke`,
        body: { revokeOnlyPasswords: true },
      }),
    };
  },
  isDone: () => true,
  interval: null,
};

export const REMNAWAVE: PanelTraits = {
  title: 'Remnawave',
  version: '3.3.2, not run',
  keys: 'plain',
  limitMeaningNone: null,
  givesLimits: true,
  keysHaveDelimiters: false,
  keysAreExact: false,
  statusOfNoUser: null,
  routes: { clash: ['clash', 'mihomo', 'stash'], singBox: ['singbox'] },
  pageHasServers: true,
  hasOwnButton: false,
  queryNames: [],
  api,
  cutOff,
  lacks: { database: [], api: [] },
  // It answers with servers whose names are the reason; v2rayTUN reads `x-hwid-limit`.
  refusalOf: (reason) =>
    reason === 'hwid_required' || reason === 'link_limit_reached'
      ? { status: 200, headers: { 'x-hwid-limit': 'true' }, body: null }
      : NOT_FOUND,
  database,
  readAll,
};
