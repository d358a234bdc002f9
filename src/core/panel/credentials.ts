/** The form in which the table of panels describes how the credentials of a user are made new. */

import { createHash } from 'node:crypto';
import { isRecord } from '../json-input.ts';
import type { AskPanel } from './api.ts';
import type { PanelRecord } from './record.ts';

/** A call that changes a user. */
interface ChangeCall {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: PanelRecord;
}

/** A user, or a part of it, with credentials of its own: secret, and kept in memory alone. */
export interface CredentialHolder {
  /** The keys of links that its subscription may have. */
  readonly keys: readonly string[];
  /** The credentials by name, such as `vless.id`; absent ones are left out. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Counters that traffic may raise meanwhile. */
  readonly counters: Readonly<Record<string, number>>;
  /** Every other field that no reading by itself changes. */
  readonly others: PanelRecord;
  /** Returns whether the user belongs to a `panel_admin`. */
  belongsTo(panelAdmin: string): boolean;
  /** The call that makes all of the credentials new and leaves the rest. */
  change(): ChangeCall;
}

/** The user of a link, by what the link knows of it. */
export interface TiedPanelUser {
  /** The id at the panel, or the hash of the key. */
  readonly id: string;
  /** Returns whether this is the key of the link. */
  hasKey(key: string): boolean;
}

export interface PanelCutOff {
  /** The meaning of `panel_admin` at this panel, for people. */
  readonly owner: string;
  /**
   * Returns the names by which `read` finds all holders of the user of a link; none: the panel has
   * no such user. Throws {@link Silent}.
   */
  find(user: TiedPanelUser, ask: AskPanel): Promise<readonly string[]>;
  /** Reads a holder; null: there is none. Throws {@link Silent}. */
  read(name: string, ask: AskPanel): Promise<CredentialHolder | null>;
  /** Returns whether an answer with 2xx to a change says that it was done. */
  isDone(answer: unknown): boolean;
  /** Reads the hours after which apps fetch again; null: the API does not say. */
  readonly interval: null | { readonly path: string; read(answer: unknown): number | null };
}

/** Why a panel has no cut-off, as a sentence for people. */
export interface NoCutOff {
  readonly why: string;
}

/** The most names of fields in an outcome. */
const FIELDS_MAX = 16;
const FIELD = /^[\w.-]{1,80}$/;
const DEPTH_MAX = 4;
const PRINT_LENGTH = 16;

/**
 * Returns the names of the fields that must not differ and do: other fields, lowered counters, and
 * credentials that are gone.
 */
export function differencesOf(before: CredentialHolder, after: CredentialHolder): string[] {
  const lowered = Object.entries(before.counters).filter(
    ([name, count]) => (after.counters[name] ?? Number.NEGATIVE_INFINITY) < count,
  );
  const gone = Object.keys(before.credentials).filter((name) => !after.credentials[name]);
  const names = [
    ...changedIn(before.others, after.others, DEPTH_MAX),
    ...lowered.map(([name]) => name),
    ...gone,
  ];
  // A name that a user chose is none of a field.
  const known = names.map((name) => (FIELD.test(name) ? name : 'another field'));
  return [...new Set(known)].slice(0, FIELDS_MAX);
}

function changedIn(before: PanelRecord, after: PanelRecord, depth: number): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const [one, other] = [before[name] ?? null, after[name] ?? null];
    if (isRecord(one) && isRecord(other) && depth > 1) {
      return changedIn(one, other, depth - 1).map((inner) => `${name}.${inner}`);
    }
    return sortedText(one) === sortedText(other) ? [] : [name];
  });
}

/** Writes a value so that the order of fields and of lists makes no difference. */
function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).toSorted().join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, one]) => `${name}:${sortedText(one)}`);
  return `{${fields.toSorted().join()}}`;
}

/** Returns whether each credential has another value than before. */
export const isRenewed = (before: CredentialHolder, after: CredentialHolder): boolean =>
  Object.entries(before.credentials).every(([name, value]) => after.credentials[name] !== value);

/** Returns a print of the credentials, by which a later look finds that they are the same. */
export function printOf({ credentials }: CredentialHolder): string {
  const text = JSON.stringify(Object.entries(credentials).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(text).digest('hex').slice(0, PRINT_LENGTH);
}

/** Returns all fields but some. */
export const without = (record: PanelRecord, ...names: readonly string[]): PanelRecord =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

/** Returns the whole numbers among some fields. */
export const countersIn = (
  record: PanelRecord,
  ...names: readonly string[]
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const count = record[name];
      return typeof count === 'number' ? [[name, count]] : [];
    }),
  );

/** Returns the numbers in a `panel_admin` such as `inbound:1,2`; none: it lists no inbounds. */
export const inboundsIn = (panelAdmin: string): string[] =>
  /^inbound:(\d+(?:,\d+)*)$/.exec(panelAdmin)?.[1]?.split(',') ?? [];

/** The credentials in the settings of a protocol. */
const SECRETS = ['id', 'password', 'auth', 'private_key', 'public_key'];

/**
 * Splits the settings of protocols, as Marzban and PasarGuard have them, into credentials and the
 * rest, which a change must repeat: what it leaves out is set back.
 */
export function splitProtocols(protocols: PanelRecord): {
  credentials: Record<string, string>;
  rest: Record<string, PanelRecord>;
} {
  const credentials: Record<string, string> = {};
  const rest: Record<string, PanelRecord> = {};
  for (const [protocol, settings] of Object.entries(protocols)) {
    if (!isRecord(settings)) continue;
    rest[protocol] = without(settings, ...SECRETS);
    for (const name of SECRETS) {
      const value = settings[name];
      if (typeof value === 'string' && value !== '') credentials[`${protocol}.${name}`] = value;
    }
  }
  return { credentials, rest };
}
