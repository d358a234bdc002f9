/** A user of a panel with its devices, and the link that it becomes. */

import { tidyFacts } from '../device.ts';
import { factsOf } from '../device-facts.ts';
import {
  hwidOfHash,
  INSTALL_LIMIT,
  ONE_LINE_LENGTH_MAX,
  readDomainHash,
  readOwnHwid,
} from '../formats.ts';
import { readNamedHwid } from '../named-hwid.ts';
import { isRefused, type Misfit, malformed } from '../outcome.ts';
import type { PanelDevice, PanelUser } from '../panel/cells.ts';
import { PANEL_TRAITS } from '../panel/index.ts';
import { type PanelKind, signs } from '../panel/kind.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED } from '../port/link.ts';
import type { ImportedLink, ImportedSlot, PanelFacts, PanelNotes } from '../port/moving.ts';
import { randomCode, subscriptionKeyHash } from '../secret.ts';
import { NO_TERMS } from '../slot.ts';
import { readPlainKey, readSubscriptionKey } from '../subscription-key.ts';
import { tidyFact, utf8InLatin1 } from '../text.ts';

/** The rules by which users become links. */
export interface PanelRules {
  panel: string;
  /** How the panel writes keys; see {@link keyOf}. */
  kind: PanelKind;
  /** The limit of a new link whose user has none; null: the user is omitted. */
  unlimitedAs: number | null;
  /** True: links of users that are disabled in the panel become disabled. */
  disablesDisabled: boolean;
  /** The part of the panel that was read: see {@link PanelFacts}. */
  view: string;
  nowMs: number;
}

/** Returns the key of a user's link in the form that the gate reads from addresses. */
function keyOf(kind: PanelKind, { key }: PanelUser): string | Misfit {
  if (key === '') return NO_KEY;
  const { keys } = PANEL_TRAITS[kind];
  if (typeof keys === 'object') return userKey(keys.keyOfUser(key));
  const plain = readPlainKey(key);
  if (isRefused(plain)) return malformed(`its subscription key ${plain.detail}`);
  return keys === 'uuid' ? plain.toLowerCase() : plain;
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
  const former = signs(kind) ? key : user.key.normalize('NFKC');
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
      // A device that has not come here is none; a hash is its own slot.
      slots: held.map((slot) =>
        isRefused(readNamedHwid(slot.hwid)) ? slot : { ...slot, isNamed: true as const },
      ),
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
