/** Rows of a panel's database, and the users and devices that are read from them. */

import { isRecord } from '../json-input.ts';
import type { DeviceFacts } from '../port/device.ts';
import type { PanelUserState } from '../port/follow.ts';
import type { Figures } from '../port/subscription-figures.ts';
import type { PanelLimit } from './limit-rule.ts';
import { bytesIn } from './record.ts';

/** A row of a panel's table, from a dump, a database or JSON. */
export type Cells = Readonly<Record<string, unknown>>;

/** A device; facts that the panel does not store are absent. */
export interface PanelDevice extends Partial<DeviceFacts> {
  hwid: string;
  /** True: the panel stores only the SHA-256 of the HWID. */
  isHash: boolean;
  /** The time of the first use; null: the panel does not store it. */
  firstSeenAtMs: number | null;
  lastSeenAtMs: number | null;
}

export interface PanelUser extends Figures {
  /** The permanent id of the user in the panel; null: the key is the id. */
  id: string | null;
  key: string;
  name: string;
  note: string;
  /** The limit; null: the panel sets none, or says that there is none. */
  limit: number | null;
  /** True: the panel says that there is no limit. */
  isUnlimited: boolean;
  isDisabled: boolean;
  state: PanelUserState;
  createdAtMs: number | null;
  /**
   * The time at which the panel made the user, by which another user of the same id is known; null:
   * the panel has none that lasts.
   */
  panelCreatedAtMs: number | null;
  devices: PanelDevice[];
}

export function asText(cell: unknown): string {
  return typeof cell === 'string' ? cell : typeof cell === 'number' ? String(cell) : '';
}

/** Reads a boolean in the forms of SQLite, MySQL, PostgreSQL and JSON. */
export const isTrue = (cell: unknown): boolean =>
  cell === true || cell === 1 || ['1', 't', 'true', '\u0001'].includes(asText(cell).toLowerCase());

/** Reads an object in a column of JSON; returns an empty one if it is none. */
export function jsonIn(cell: unknown): Record<string, unknown> {
  if (isRecord(cell)) return cell;
  try {
    const value: unknown = JSON.parse(asText(cell) || '{}');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

const TIME = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;

/** Reads a time, in UTC if it has no zone, or a number of milliseconds; null: none. */
export function asTime(cell: unknown): number | null {
  const text = asText(cell);
  const parts = TIME.exec(text);
  if (parts === null) return /^[1-9]\d{11,13}$/.test(text) ? Number(text) : null;
  const [, date, time = '00:00:00', fraction = '', zone = 'Z'] = parts;
  const offset = /^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone.replace(/^(...)(\d\d)$/, '$1:$2');
  const atMs = Date.parse(`${date}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${offset}`);
  return Number.isNaN(atMs) || atMs < 0 ? null : atMs;
}

/** The least number of ms that is a time; a smaller one is a number of seconds. */
const SECONDS_BELOW = 1e11;

/** Reads the end of a user: a time as {@link asTime}, or a number of seconds. Null: none. */
export function asEnd(cell: unknown): number | null {
  const text = asText(cell);
  if (!/^[1-9]\d{0,14}$/.test(text)) return asTime(cell);
  const number = Number(text);
  return number < SECONDS_BELOW ? number * 1_000 : number;
}

/** Rows of a panel by table; a missing table has none. */
export type PanelRows = ReadonlyMap<string, readonly Cells[]>;

export interface PanelSchema {
  /** The columns to read, by table. Versions of a panel differ, so columns may be missing. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** The table of devices; null: it has none. */
  readonly deviceTable: string | null;
  /** The tables of users, of which the first that exists counts. */
  readonly userTables: readonly string[];
  /** Yields users one by one: a copy of all would double the memory. */
  readUsers(rows: PanelRows): Iterable<PanelUser>;
}

/** Returns a schema whose devices are not read. */
export function withoutDevices(schema: PanelSchema): PanelSchema {
  const { deviceTable, tables } = schema;
  const others = Object.entries(tables).filter(([name]) => name !== deviceTable);
  return { ...schema, tables: Object.fromEntries(others) };
}

export const rowsOf = (rows: PanelRows, table: string) => rows.get(table) ?? [];

/** Returns the whole number in a cell; null: none. */
export function numberIn(cell: unknown): number | null {
  const text = asText(cell);
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Returns a number of bytes, of which 0 is one; null: none. */
export function asBytes(cell: unknown): number | null {
  const text = asText(cell);
  return text === '' ? null : bytesIn(Number(text));
}

/** Returns a user's own limit, 0 for one below: see `limitIn` of core/panel. */
export const ownLimitIn = (cell: unknown): number | null =>
  /^-\d{1,15}$/.test(asText(cell)) ? 0 : numberIn(cell);

/** Returns the limit that a panel gives a user. */
export const givenLimit = (said: PanelLimit): Pick<PanelUser, 'limit' | 'isUnlimited'> => ({
  limit: typeof said === 'number' ? said : null,
  isUnlimited: said === 'unlimited',
});

/** Joins the name of a user and the panel's notes about it. */
export const noteOf = (...parts: readonly unknown[]) =>
  parts
    .map((part) => asText(part).trim())
    .filter((part) => part !== '')
    .join(' · ');

const STATES: readonly PanelUserState[] = ['on_hold', 'disabled', 'expired', 'limited'];

/** Returns the state in the column `status`. */
export function stateOf(row: Cells): PanelUserState {
  const status = asText(row['status']).toLowerCase();
  return STATES.find((state) => state === status) ?? 'active';
}

export const isDisabled = (row: Cells) => stateOf(row) === 'disabled';

/** Groups rows by the text in a column. */
export const groupsBy = (rows: readonly Cells[], column: (row: Cells) => string) =>
  Map.groupBy(rows, column);
