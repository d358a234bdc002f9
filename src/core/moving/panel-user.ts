/** A user of a panel with its devices, and the link that it becomes. */

import { tidyFacts } from '../device.ts';
import { factsOf } from '../device-facts.ts';
import {
  hwidOfHash,
  INSTALL_LIMIT,
  ONE_LINE_LENGTH_MAX,
  readDomainHash,
  readOwnHwid,
  readPlainKey,
  readSubscriptionKey,
} from '../formats.ts';
import { isRecord } from '../json-input.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';
import { keyOfPanelUser } from '../panel/token.ts';
import type { DeviceFacts } from '../port/device.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED } from '../port/link.ts';
import type { ImportedLink, ImportedSlot, PanelFacts, PanelNotes } from '../port/moving.ts';
import { randomCode, subscriptionKeyHash } from '../secret.ts';
import { NO_TERMS } from '../slot.ts';
import { tidyFact, utf8InLatin1 } from '../text.ts';

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

export interface PanelUser {
  /** The permanent id of the user in the panel; null: the key is the id. */
  id: string | null;
  key: string;
  name: string;
  note: string;
  /** The limit; null: the panel sets none. */
  limit: number | null;
  isDisabled: boolean;
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

/** The rules by which users become links. */
export interface PanelRules {
  panel: string;
  /** How the panel writes keys; see {@link keyOf}. */
  kind: string;
  /** The limit of a new link whose user has none; null: the user is omitted. */
  unlimitedAs: number | null;
  /** True: links of users that are disabled in the panel become disabled. */
  disablesDisabled: boolean;
  /** The part of the panel that was read: see {@link PanelFacts}. */
  view: string;
  nowMs: number;
}

/** Returns the key of a user's link in the form that the gate reads from addresses. */
function keyOf(kind: string, { key }: PanelUser): string | Misfit {
  if (key === '') return NO_KEY;
  if (kind === 'marzban') return userKey(keyOfPanelUser({ panel: 'marzban', name: key }));
  if (kind === 'pasarguard') return userKey(keyOfPanelUser({ panel: 'pasarguard', id: key }));
  const plain = readPlainKey(key);
  if (isRefused(plain)) return malformed(`its subscription key ${plain.detail}`);
  // Hiddify compares UUIDs as numbers.
  return kind === 'hiddify' ? plain.toLowerCase() : plain;
}

/** The panel opens no subscription for such a user. */
export const NO_KEY = malformed('it has no subscription key');

function userKey(key: string): string | Misfit {
  return isRefused(readSubscriptionKey(key)) ? NO_NAME : key;
}

const NO_NAME = malformed('its name must be 1 to 128 letters, digits, . _ @ and -');

/**
 * Returns the id by which a link remembers its user: without an id in the panel, the hash of the
 * key.
 */
export function panelUserOf({ panel, kind }: PanelRules, user: PanelUser): string {
  const key = keyOf(kind, user);
  const name = user.id ?? (isRefused(key) ? '' : subscriptionKeyHash(key));
  return `${panel}:${name}`;
}

/**
 * Returns the hashes by which a link may have the user's key: that of the key, and that of its
 * Unicode form NFKC, which versions before 0.18.0 stored. Null: the user has no valid key.
 */
export function keyHashesOf({ kind }: PanelRules, user: PanelUser) {
  const key = keyOf(kind, user);
  if (isRefused(key)) return null;
  const isUser = kind === 'marzban' || kind === 'pasarguard';
  const former = isUser ? key : user.key.normalize('NFKC');
  return { now: subscriptionKeyHash(key), former: subscriptionKeyHash(former) };
}

interface PanelLinkDraft {
  install: ImportedLink & { panel: PanelNotes };
  /** Devices whose HWID is invalid for Gatepost. */
  unusable: number;
  isMended: boolean;
}

/**
 * Makes the link of a user. `before` has the terms of the last import: a panel without a limit
 * changes no limit. Returns null for a user without a limit that must be omitted.
 */
export function linkOfUser(
  user: PanelUser,
  before: PanelFacts | undefined,
  rules: PanelRules,
): PanelLinkDraft | Misfit | null {
  const key = keyOf(rules.kind, user);
  if (isRefused(key)) return key;
  const limit = isLimit(user.limit) ? user.limit : (before?.installLimit ?? rules.unlimitedAs);
  if (limit === null) return null;
  const { nowMs, disablesDisabled, view } = rules;
  const createdAtMs = user.createdAtMs ?? nowMs;
  const usable = user.devices.flatMap((device) => slotOf(device, createdAtMs, nowMs));
  const slots = usable.toSorted((a, b) => a.registeredAtMs - b.registeredAtMs);
  const held = slots.slice(0, INSTALL_LIMIT.maximum);
  const note = tidyFact(user.note.toWellFormed(), ONE_LINE_LENGTH_MAX);
  return {
    install: {
      id: null,
      installCode: randomCode(12),
      installLimit: limit,
      createdAtMs,
      status: user.isDisabled && disablesDisabled ? INSTALL_DISABLED : INSTALL_ACTIVE,
      note: note || null,
      terms: { ...NO_TERMS, subscriptionKeyHash: subscriptionKeyHash(key) },
      // Devices beyond the limit stay; new ones are refused.
      ...(held.length > limit && { overMax: held.length }),
      panelUser: panelUserOf(rules, user),
      panel: {
        // The panel refuses such a user itself.
        keepsStatus: user.isDisabled && !disablesDisabled,
        isPanelLimit: isLimit(user.limit),
        panelCreatedAtMs: user.panelCreatedAtMs ?? before?.panelCreatedAtMs ?? null,
        view,
      },
      slots: held,
    },
    unusable: user.devices.length - held.length,
    isMended: note !== user.note,
  };
}

/** The most by which two readings of one creation time differ, ms: some databases round. */
const ROUNDED_MS = 1_000;

/** Returns true if the user was made again since the last import: it is another customer. */
export function isAnother({ panelCreatedAtMs }: PanelUser, before: PanelFacts): boolean {
  const beforeMs = before.panelCreatedAtMs ?? null;
  return panelCreatedAtMs !== null && beforeMs !== null && panelCreatedAtMs - beforeMs > ROUNDED_MS;
}

/** Returns true if a link can have the limit. */
export const isLimit = (limit: number | null): limit is number =>
  limit !== null && limit <= INSTALL_LIMIT.maximum;

function slotOf(device: PanelDevice, createdAtMs: number, nowMs: number): ImportedSlot[] {
  const { hwid: sent, isHash } = device;
  const hwid = isHash ? readDomainHash(sent) : readOwnHwid(sent);
  if (isRefused(hwid)) return [];
  const firstSeenAtMs = device.firstSeenAtMs ?? Math.min(createdAtMs, nowMs);
  const lastSeenAtMs = Math.max(firstSeenAtMs, device.lastSeenAtMs ?? firstSeenAtMs);
  return [
    {
      hwid: isHash ? hwidOfHash(hwid) : hwid,
      // Panels in Python and Node.js read headers as Latin-1.
      ...tidyFacts(factsOf((fact) => utf8InLatin1(device[fact] ?? '').toWellFormed())),
      registeredAtMs: firstSeenAtMs,
      firstSeenAtMs,
      lastSeenAtMs,
      slotSeenAtMs: lastSeenAtMs,
    },
  ];
}
