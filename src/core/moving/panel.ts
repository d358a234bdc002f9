/**
 * The databases of panels: the tables and columns of users and devices, and their meaning (the
 * schema of each panel, and the place where it checks the limit).
 */

import type { PanelKind } from '../panel/kind.ts';
import {
  type HwidRole,
  type HwidSettings,
  hiddifyLimit,
  type PanelLimit,
  pasarguardLimit,
  remnawaveLimit,
  threeXUiLimit,
} from '../panel/limit-rule.ts';
import {
  asText,
  asTime,
  type Cells,
  isTrue,
  jsonIn,
  type PanelDevice,
  type PanelUser,
} from './panel-user.ts';

/** Rows of a panel by table; a missing table has none. */
export type PanelRows = ReadonlyMap<string, readonly Cells[]>;

export interface PanelSchema {
  /** The columns to read, by table. Versions of a panel differ, so columns may be missing. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** The tables of users, of which one must exist. */
  readonly userTables: readonly string[];
  /** Yields users one by one: a copy of all would double the memory. */
  readUsers(rows: PanelRows): Iterable<PanelUser>;
}

const rowsOf = (rows: PanelRows, table: string) => rows.get(table) ?? [];

/** Returns the whole number in a cell; null: none. */
function numberIn(cell: unknown): number | null {
  const text = asText(cell);
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Returns a user's own limit, 0 for one below: see `limitIn` of core/panel. */
const ownLimitIn = (cell: unknown): number | null =>
  /^-\d{1,15}$/.test(asText(cell)) ? 0 : numberIn(cell);

/** Returns a limit; null: the panel has none for the user. */
const limitOf = (said: PanelLimit): number | null => (typeof said === 'number' ? said : null);

/** Joins the name of a user and the panel's notes about it. */
const noteOf = (...parts: readonly unknown[]) =>
  parts
    .map((part) => asText(part).trim())
    .filter((part) => part !== '')
    .join(' · ');

const isDisabled = (row: Cells) => asText(row['status']).toLowerCase() === 'disabled';

/** Groups rows by the text in a column. */
const groupsBy = (rows: readonly Cells[], column: (row: Cells) => string) =>
  Map.groupBy(rows, column);

/** Reads the settings of the panel or of a squad; null: it has none. */
function remnawaveSettings(row: Cells | undefined): HwidSettings | null {
  const settings = jsonIn(row?.['hwid_settings']);
  if (Object.keys(settings).length === 0) return null;
  return { isOn: isTrue(settings['enabled']), fallback: numberIn(settings['fallbackDeviceLimit']) };
}

const REMNAWAVE: PanelSchema = {
  tables: {
    users: [
      ...['id', 't_id', 'uuid', 'short_uuid', 'username', 'status', 'description', 'created_at'],
      ...['hwid_device_limit', 'external_squad_uuid'],
    ],
    hwid_user_devices: [
      ...['hwid', 'user_id', 'user_uuid', 'platform', 'os_version', 'device_model', 'user_agent'],
      ...['created_at', 'updated_at'],
    ],
    subscription_settings: ['hwid_settings'],
    external_squads: ['uuid', 'hwid_settings'],
  },
  userTables: ['users'],
  readUsers(rows) {
    const common = remnawaveSettings(rowsOf(rows, 'subscription_settings')[0]);
    const ofSquad = new Map(
      rowsOf(rows, 'external_squads').map((row) => [asText(row['uuid']), remnawaveSettings(row)]),
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
          limit: limitOf(remnawaveLimit(own, settings)),
          isDisabled: isDisabled(row),
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

/** Returns the clients of 3x-ui; older versions store them in the settings of inbounds. */
function clientsOf(rows: PanelRows): readonly Cells[] {
  if (rows.has('clients')) return rowsOf(rows, 'clients');
  return rowsOf(rows, 'inbounds').flatMap((inbound) => {
    const { clients } = jsonIn(inbound['settings']);
    const list = Array.isArray(clients) ? (clients as Record<string, unknown>[]) : [];
    return list.map(({ email, subId, enable, comment, created_at }) => ({
      email,
      sub_id: subId,
      enable,
      comment,
      created_at,
      limit_hwid: 0,
    }));
  });
}

const X_UI: PanelSchema = {
  tables: {
    clients: ['email', 'sub_id', 'enable', 'limit_hwid', 'comment', 'created_at'],
    client_hwids: [
      ...['sub_id', 'hwid_hash', 'first_seen', 'last_seen', 'user_agent', 'device_os'],
      ...['os_version', 'device_model'],
    ],
    inbounds: ['settings'],
  },
  userTables: ['clients', 'inbounds'],
  readUsers(rows) {
    const subOf = (row: Cells) => asText(row['sub_id']).trim();
    const devices = groupsBy(rowsOf(rows, 'client_hwids'), subOf);
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
        return {
          id: null,
          key,
          name: emails[0] ?? '',
          note: noteOf(emails.slice(0, 10).join(', '), comment),
          limit: limitOf(threeXUiLimit(limits)),
          isDisabled: !limits.some(({ isEnabled }) => isEnabled),
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

const NO_ROLE: HwidRole = { mode: null, fallback: null };

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

const PASARGUARD: PanelSchema = {
  tables: {
    users: ['id', 'username', 'status', 'note', 'hwid_limit', 'admin_id', 'created_at'],
    user_hwids: [
      ...['user_id', 'hwid', 'device_os', 'os_version', 'device_model', 'created_at'],
      'last_used_at',
    ],
    settings: ['hwid'],
    admins: ['id', 'role_id'],
    admin_roles: ['id', 'hwid'],
  },
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
          limit: limitOf(pasarguardLimit(own, roleOf(asText(row['admin_id'])), common)),
          isDisabled: isDisabled(row),
          createdAtMs,
          panelCreatedAtMs: createdAtMs,
          devices: (devices.get(id) ?? []).map(
            (device): PanelDevice => ({
              hwid: asText(device['hwid']),
              isHash: false,
              os: asText(device['device_os']),
              osVersion: asText(device['os_version']),
              deviceName: asText(device['device_model']),
              firstSeenAtMs: asTime(device['created_at']),
              lastSeenAtMs: asTime(device['last_used_at']),
            }),
          ),
        };
      });
  },
};

const MARZBAN: PanelSchema = {
  tables: { users: ['username', 'status', 'note', 'created_at'] },
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
        isDisabled: isDisabled(row),
        createdAtMs: asTime(row['created_at']),
        panelCreatedAtMs: asTime(row['created_at']),
        devices: [],
      })),
};

/** Returns true for a user that Hiddify has marked as deleted, by a flag or by a time. */
const isDeleted = (row: Cells) =>
  ['deleted', 'is_deleted', 'deleted_at'].some((column) => {
    const cell = row[column];
    return isTrue(cell) || /^[1-9]\d{3}-/.test(asText(cell));
  });

const HIDDIFY: PanelSchema = {
  tables: {
    user: [
      ...['id', 'uuid', 'name', 'comment', 'enable', 'max_ips', 'start_date'],
      ...['deleted', 'is_deleted', 'deleted_at'],
    ],
  },
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
        limit: limitOf(hiddifyLimit(numberIn(row['max_ips']))),
        isDisabled: !isTrue(row['enable']),
        createdAtMs: asTime(row['start_date']),
        // A renewal changes the only date of a user; its number lasts.
        panelCreatedAtMs: null,
        devices: [],
      })),
};

export const PANEL_SCHEMAS: Readonly<Record<PanelKind, PanelSchema>> = {
  remnawave: REMNAWAVE,
  '3x-ui': X_UI,
  pasarguard: PASARGUARD,
  marzban: MARZBAN,
  hiddify: HIDDIFY,
};
