/** Users of a panel with devices in its own tables, and the links that they must become. */

import { writeFileSync } from 'node:fs';
import { hwidOfHash } from '../../src/core/formats.ts';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import { mysqlDump, type PanelTable, pgDump, type Row, writeSqlite } from './panel-tables.ts';

const BEGAN_MS = Date.UTC(2025, 2, 4, 5, 6, 7);
const sha256 = (text: string) => Bun.SHA256.hash(text, 'hex');

export interface WorldDevice {
  hwid: string;
  os: string;
  osVersion: string;
  model: string;
  agent: string;
  firstMs: number;
  lastMs: number;
}

export interface WorldUser {
  n: number;
  name: string;
  comment: string;
  /** Null: the panel's fallback; 0: without a limit. */
  limit: number | null;
  isDisabled: boolean;
  /** True: the panel no longer has the user, and its link was disabled. */
  isGone?: boolean;
  createdMs: number;
  devices: WorldDevice[];
}

/** Texts that dumps write in ways of their own. */
const COMMENTS = [
  '',
  "O'Brien",
  'tab\there',
  'back\\slash \\N',
  'two\nlines',
  'Анна “ю” 😀',
  '(a),(b);',
];
export const FALLBACK = 4;

/** Each seventh has more devices than its limit. */
export function makeUser(n: number): WorldUser {
  const createdMs = BEGAN_MS + n * 1000;
  const count = n % 7 === 6 ? 5 : n % 4;
  return {
    n,
    name: `user_${n}`,
    comment: COMMENTS[n % COMMENTS.length] ?? '',
    limit: n % 5 === 0 ? null : n % 11 === 3 ? 0 : n % 13 === 5 ? 250 : 1 + (n % 6),
    isDisabled: n % 9 === 4,
    createdMs,
    devices: Array.from({ length: count }, (_, at) => ({
      hwid: `device-${n}-${at}-0123456789`,
      os: at % 2 === 0 ? 'Android' : 'iOS',
      osVersion: `1${at}`,
      model: `Phone “${at}”`,
      agent: `Happ/3.${at}`,
      firstMs: createdMs + 60_000 * (at + 1),
      lastMs: createdMs + 90_000_000 * (at + 1),
    })),
  };
}

const spaced = (atMs: number) => new Date(atMs).toISOString().replace('T', ' ').replace('Z', '');
const statusOf = ({ isDisabled, n }: WorldUser) =>
  isDisabled ? 'disabled' : (['active', 'limited', 'expired'][n % 3] ?? 'active');

function remnawave(users: readonly WorldUser[]): PanelTable[] {
  return [
    {
      name: 'hwid_user_devices',
      definition: `CREATE TABLE public.hwid_user_devices (
    hwid character varying(64) NOT NULL,
    platform text,
    os_version text,
    device_model text,
    user_agent text,
    created_at timestamp(3) without time zone DEFAULT now() NOT NULL,
    updated_at timestamp(3) without time zone DEFAULT now() NOT NULL,
    user_id bigint NOT NULL,
    request_ip text
);`,
      rows: users.flatMap(({ n, devices }) =>
        devices.map((one) => ({
          hwid: one.hwid,
          platform: one.os,
          os_version: one.osVersion,
          device_model: one.model,
          user_agent: one.agent,
          created_at: spaced(one.firstMs),
          updated_at: spaced(one.lastMs),
          user_id: n + 1,
          request_ip: null,
        })),
      ),
    },
    {
      name: 'external_squads',
      definition: `CREATE TABLE public.external_squads (
    uuid uuid NOT NULL,
    hwid_settings jsonb
);`,
      rows: [],
    },
    {
      name: 'subscription_settings',
      definition: `CREATE TABLE public.subscription_settings (
    uuid uuid DEFAULT gen_random_uuid() NOT NULL,
    custom_remarks jsonb NOT NULL,
    hwid_settings jsonb
);`,
      rows: [
        {
          uuid: '0b5a7b2e-3d0e-4a7e-9d64-000000000001',
          custom_remarks: '{}',
          hwid_settings: `{"enabled": true, "fallbackDeviceLimit": ${FALLBACK}, "maxDevicesAnnounce": null}`,
        },
      ],
    },
    {
      name: 'users',
      definition: `CREATE TABLE public.users (
    id bigint NOT NULL,
    short_uuid text NOT NULL,
    username text NOT NULL,
    status character varying(10) DEFAULT 'ACTIVE'::character varying NOT NULL,
    expire_at timestamp(3) without time zone NOT NULL,
    description text,
    hwid_device_limit integer,
    external_squad_uuid uuid,
    created_at timestamp(3) without time zone DEFAULT now() NOT NULL
);`,
      rows: users.map((user) => ({
        id: user.n + 1,
        short_uuid: keyOf('remnawave', user),
        username: user.name,
        status: statusOf(user).toUpperCase(),
        expire_at: '2027-01-01 00:00:00',
        description: user.comment,
        hwid_device_limit: user.limit,
        external_squad_uuid: null,
        created_at: spaced(user.createdMs),
      })),
    },
  ];
}

function xui(users: readonly WorldUser[]): PanelTable[] {
  return [
    {
      name: 'clients',
      definition: `CREATE TABLE \`clients\` (\`id\` integer PRIMARY KEY AUTOINCREMENT,
\`email\` text NOT NULL,
\`sub_id\` text,
\`uuid\` text,
\`limit_ip\` integer,
\`limit_hwid\` integer DEFAULT 0,
\`expiry_time\` integer,
\`enable\` numeric DEFAULT true,
\`tg_id\` integer,
\`group_name\` text DEFAULT '',
\`comment\` text,
\`created_at\` integer,
\`updated_at\` integer)`,
      rows: users.map((user) => ({
        email: user.name,
        sub_id: keyOf('3x-ui', user),
        uuid: 'u',
        limit_ip: 9,
        // The panel has no fallback.
        limit_hwid: user.limit ?? FALLBACK,
        expiry_time: 0,
        enable: !user.isDisabled,
        tg_id: 0,
        comment: user.comment,
        created_at: user.createdMs,
        updated_at: 0,
      })),
    },
    {
      name: 'client_hwids',
      definition: `CREATE TABLE \`client_hwids\` (\`id\` integer PRIMARY KEY AUTOINCREMENT,
\`sub_id\` text NOT NULL,
\`hwid_hash\` text NOT NULL,
\`first_seen\` integer NOT NULL,
\`last_seen\` integer NOT NULL,
\`user_agent\` text,
\`device_os\` text,
\`os_version\` text,
\`device_model\` text)`,
      rows: users.flatMap((user) =>
        user.devices.map((one) => ({
          sub_id: keyOf('3x-ui', user),
          hwid_hash: sha256(one.hwid),
          first_seen: one.firstMs,
          last_seen: one.lastMs,
          user_agent: one.agent,
          device_os: one.os,
          os_version: one.osVersion,
          device_model: one.model,
        })),
      ),
    },
  ];
}

function marzban(users: readonly WorldUser[]): PanelTable[] {
  return [
    {
      name: 'users',
      definition: `CREATE TABLE users (
	id INTEGER NOT NULL,
	username VARCHAR(34) COLLATE "NOCASE",
	status VARCHAR(8) NOT NULL,
	used_traffic BIGINT,
	expire INTEGER,
	created_at DATETIME,
	note VARCHAR(500),
	PRIMARY KEY (id)
)`,
      rows: users.map((user) => ({
        id: user.n + 1,
        username: user.name,
        status: statusOf(user),
        used_traffic: 0,
        expire: null,
        created_at: `${spaced(user.createdMs)}000`,
        note: user.comment,
      })),
    },
  ];
}

function pasarguard(users: readonly WorldUser[]): PanelTable[] {
  const [admin, role] = [7, 4];
  const hwid = (more: Row) => JSON.stringify({ enabled: true, forced: false, ...more });
  return [
    {
      name: 'admin_roles',
      definition: `CREATE TABLE \`admin_roles\` (
  \`id\` bigint(20) NOT NULL AUTO_INCREMENT,
  \`name\` varchar(64) NOT NULL,
  \`hwid\` longtext NOT NULL CHECK (json_valid(\`hwid\`)),
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`uq_admin_roles_name\` (\`name\`)
) ENGINE=InnoDB;`,
      rows: [
        { id: role, name: 'seller', hwid: hwid({ mode: 'override', fallback_limit: FALLBACK }) },
      ],
    },
    {
      name: 'admins',
      definition: `CREATE TABLE \`admins\` (
  \`id\` bigint(20) NOT NULL AUTO_INCREMENT,
  \`username\` varchar(34) NOT NULL,
  \`role_id\` bigint(20) NOT NULL,
  PRIMARY KEY (\`id\`)
) ENGINE=InnoDB;`,
      rows: [{ id: admin, username: 'seller', role_id: role }],
    },
    {
      name: 'settings',
      definition: `CREATE TABLE \`settings\` (
  \`id\` bigint(20) NOT NULL AUTO_INCREMENT,
  \`hwid\` longtext NOT NULL,
  PRIMARY KEY (\`id\`)
) ENGINE=InnoDB;`,
      rows: [{ id: 1, hwid: hwid({ fallback_limit: 90 }) }],
    },
    {
      name: 'user_hwids',
      definition: `CREATE TABLE \`user_hwids\` (
  \`id\` bigint(20) NOT NULL AUTO_INCREMENT,
  \`user_id\` bigint(20) NOT NULL,
  \`hwid\` varchar(256) NOT NULL,
  \`device_os\` varchar(256) DEFAULT NULL,
  \`os_version\` varchar(128) DEFAULT NULL,
  \`device_model\` varchar(256) DEFAULT NULL,
  \`created_at\` datetime NOT NULL,
  \`last_used_at\` datetime NOT NULL,
  PRIMARY KEY (\`id\`),
  CONSTRAINT \`fk_user_hwids_user_id_users\` FOREIGN KEY (\`user_id\`) REFERENCES \`users\` (\`id\`)
    ON DELETE CASCADE
) ENGINE=InnoDB;`,
      rows: users.flatMap(({ n, devices }) =>
        devices.map((one, at) => ({
          id: n * 10 + at,
          user_id: n + 1,
          hwid: one.hwid,
          device_os: one.os,
          os_version: one.osVersion,
          device_model: one.model,
          created_at: spaced(one.firstMs),
          last_used_at: spaced(one.lastMs),
        })),
      ),
    },
    {
      name: 'users',
      definition: `CREATE TABLE \`users\` (
  \`id\` bigint(20) NOT NULL AUTO_INCREMENT,
  \`username\` varchar(128) NOT NULL,
  \`status\` enum('active','disabled','limited','expired','on_hold') NOT NULL,
  \`note\` varchar(500) DEFAULT NULL,
  \`hwid_limit\` bigint(20) DEFAULT NULL,
  \`admin_id\` bigint(20) DEFAULT NULL,
  \`created_at\` datetime NOT NULL,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`ix_users_username\` (\`username\`)
) ENGINE=InnoDB;`,
      rows: users.map((user) => ({
        id: user.n + 1,
        username: user.name,
        status: statusOf(user),
        note: user.comment,
        hwid_limit: user.limit,
        admin_id: admin,
        created_at: spaced(user.createdMs),
      })),
    },
  ];
}

function hiddify(users: readonly WorldUser[]): PanelTable[] {
  return [
    {
      name: 'user',
      definition: `CREATE TABLE \`user\` (
  \`id\` int(11) NOT NULL AUTO_INCREMENT,
  \`uuid\` varchar(36) NOT NULL,
  \`name\` varchar(512) NOT NULL,
  \`comment\` varchar(512) DEFAULT NULL,
  \`max_ips\` int(11) NOT NULL,
  \`start_date\` date DEFAULT NULL,
  \`enable\` tinyint(1) NOT NULL,
  PRIMARY KEY (\`id\`),
  UNIQUE KEY \`ix_user_uuid\` (\`uuid\`)
) ENGINE=InnoDB;`,
      rows: users.map((user) => ({
        id: user.n + 1,
        uuid: keyOf('hiddify', user),
        name: user.name,
        comment: user.comment,
        max_ips: user.limit ?? FALLBACK,
        start_date: spaced(user.createdMs).slice(0, 10),
        enable: !user.isDisabled,
      })),
    },
  ];
}

/** Writes the database of a panel, in the form in which most of its operators have it. */
export function writePanel(kind: PanelKind, file: string, users: readonly WorldUser[]): void {
  if (kind === 'remnawave') writeFileSync(file, pgDump(remnawave(users)));
  if (kind === '3x-ui') writeSqlite(file, xui(users)).close();
  if (kind === 'marzban') writeSqlite(file, marzban(users)).close();
  if (kind === 'pasarguard') writeFileSync(file, mysqlDump(pasarguard(users)));
  if (kind === 'hiddify') writeFileSync(file, mysqlDump(hiddify(users)));
}

export const tablesOf = { remnawave, '3x-ui': xui, marzban, pasarguard, hiddify };

/** The key in the addresses of a user's subscription. */
export function keyOf(kind: PanelKind, { n, name }: WorldUser): string {
  const hash = sha256(`${kind} ${n}`);
  if (kind === 'hiddify') {
    return [8, 4, 4, 4, 12].map((length, at) => hash.slice(at * 12, at * 12 + length)).join('-');
  }
  if (kind === 'marzban') return `marzban/${name}`;
  return kind === 'pasarguard' ? `pasarguard/${n + 1}` : hash.slice(0, 16);
}

/** The line of an export that the user's link must have, without id and code. */
export function linkOf(kind: PanelKind, user: WorldUser, unlimitedAs: number) {
  const { name, comment, createdMs, devices } = user;
  const said = kind === 'marzban' ? 0 : (user.limit ?? FALLBACK);
  const limit = said === 0 || said > 100 ? unlimitedAs : said;
  const note = [name, comment.replaceAll(/[\t\n]/g, ' ')].filter(Boolean).join(' · ');
  const held = kind === 'marzban' || kind === 'hiddify' ? [] : devices;
  const dayMs = 86_400_000;
  return {
    // Users that the panel has disabled have active links: the panel refuses them.
    install_limit: limit,
    status: user.isGone ? 5 : 10,
    note,
    created_at_ms: kind === 'hiddify' ? createdMs - (createdMs % dayMs) : createdMs,
    subscription_key_hash: sha256(keyOf(kind, user)),
    over_max: held.length > limit ? held.length : null,
    hwids: held.map((one) => ({
      hwid: kind === '3x-ui' ? hwidOfHash(sha256(one.hwid)) : one.hwid,
      registered_at_ms: one.firstMs,
      os: one.os.toLowerCase(),
      os_version: one.osVersion,
      device_name: one.model,
      user_agent: kind === 'pasarguard' ? '' : one.agent,
      first_seen_at_ms: one.firstMs,
      // Hashes are slots; all others are named, and have not come here.
      ...(kind === '3x-ui'
        ? { last_seen_at_ms: one.lastMs, slot_seen_at_ms: one.lastMs }
        : { last_seen_at_ms: one.firstMs, is_named: true }),
    })),
  };
}
