/** The terms of a provider in the form of the console, and the search for providers. */

import { actAt } from './audit/entry.ts';
import { endOfDateMs } from './calendar.ts';
import type { Core } from './core.ts';
import {
  AUTH_KEY,
  BUTTON_URL,
  COOL_DOWN_HOURS,
  ENFORCE,
  INACTIVE_DAYS,
  KEEP_OLD_HOURS,
  type Reader,
  RIDE,
  RIDE_DESKTOP,
  readOneLine,
  readPlan,
  readProviderCode,
  SAME_PHONE,
  WHEN_FULL,
  WITHOUT_HWID,
  whole,
} from './formats.ts';
import { fromStore, isRefused, type Misfit, malformed, Refused } from './outcome.ts';
import type { EndedByRotation, Provider, ProviderChange } from './port/provider.ts';
import { addProvider, type Credentials, rotateKey } from './provider.ts';
import { nextTurn } from './turn.ts';

const HOUR_MS = 3_600_000;
const LINK_CAP = whole(0, 999_999_999);

/** Terms of a provider from a form; absent ones stay. Null is the default, or no end. */
interface GivenTerms {
  name?: string | undefined;
  plan?: string | undefined;
  /** The last day in UTC+3, `YYYY-MM-DD`. */
  lastDay?: string | null | undefined;
  linkCountMax?: number | null | undefined;
  isSuspended?: boolean | undefined;
  inactiveDays?: number | null | undefined;
  whenFull?: string | null | undefined;
  coolDownHours?: number | null | undefined;
  enforce?: number | null | undefined;
  withoutHwid?: string | null | undefined;
  samePhone?: string | null | undefined;
  /** The highest level of rides; null: the operator's setting. */
  ride?: string | null | undefined;
  /** 1: notifications also ride to desktop systems. */
  rideDesktop?: number | undefined;
  supportUrl?: string | null | undefined;
  webPageUrl?: string | null | undefined;
  /** `always`; null: buttons are added only where the panel sends none. */
  buttons?: string | null | undefined;
}

const readName: Reader<string> = (value) => {
  const name = readOneLine(typeof value === 'string' ? value.trim() : value);
  return name === '' ? malformed('must not be blank') : name;
};

const readEnd: Reader<number> = (value) =>
  endOfDateMs(String(value)) ?? malformed('must be a date, YYYY-MM-DD');

const orNull =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value) =>
    value === null ? null : read(value);

const readButtons: Reader<'always'> = (value) =>
  value === 'always' ? value : malformed('must be always, or nothing');

type ReadTerm = Reader<string | number | null>;

/** Readers of terms, with the fields of the record that they set. */
const TERMS: readonly [given: keyof GivenTerms, field: keyof ProviderChange, ReadTerm][] = [
  ['name', 'name', readName],
  ['plan', 'plan', readPlan],
  ['lastDay', 'activeUntilMs', orNull(readEnd)],
  ['linkCountMax', 'installCountMax', orNull(LINK_CAP.read)],
  ['inactiveDays', 'inactiveDays', orNull(INACTIVE_DAYS.read)],
  ['whenFull', 'whenFull', orNull(WHEN_FULL.read)],
  ['coolDownHours', 'coolDownHours', orNull(COOL_DOWN_HOURS.read)],
  ['enforce', 'enforce', orNull(ENFORCE.read)],
  ['withoutHwid', 'withoutHwid', orNull(WITHOUT_HWID.read)],
  ['samePhone', 'samePhone', orNull(SAME_PHONE.read)],
  ['ride', 'ride', orNull(RIDE.read)],
  ['rideDesktop', 'rideDesktop', RIDE_DESKTOP.read],
  ['supportUrl', 'supportUrl', orNull(BUTTON_URL.read)],
  ['webPageUrl', 'webPageUrl', orNull(BUTTON_URL.read)],
  ['buttons', 'buttons', orNull(readButtons)],
];

function readTerms(given: GivenTerms): ProviderChange | Misfit {
  const change: Record<string, string | number | null> = {};
  for (const [name, field, read] of TERMS) {
    if (given[name] === undefined) continue;
    const value = read(given[name]);
    if (isRefused(value)) return malformed(`${name} ${value.detail}`);
    change[field] = value;
  }
  return change;
}

/** Changes a provider. Refuses `provider_not_found`, and returns a misfit for an invalid term. */
export async function editProvider(
  core: Core,
  code: string,
  given: GivenTerms,
  nowMs: number,
): Promise<'ok' | Misfit | Refused<'provider_not_found'>> {
  const terms = readTerms(given);
  if (isRefused(terms)) return terms;
  const { isSuspended } = given;
  const known = await core.store.findProvider(code);
  if (known === null) return new Refused('provider_not_found');
  // A second suspension keeps the time of the first.
  const suspendedAtMs = isSuspended ? (known.suspendedAtMs ?? nowMs) : null;
  const change = { ...terms, ...(isSuspended !== undefined && { suspendedAtMs }) };
  return fromStore(await core.store.updateProvider(code, change, actAt(core, nowMs)));
}

/** A new provider; one that moves here has its code and key already. */
interface GivenProvider extends GivenTerms {
  name: string;
  plan: string;
  code?: string | undefined;
  authKey?: string | undefined;
}

/**
 * Adds a provider from a form. Refuses `provider_code_exists`, and returns a misfit for an invalid
 * term.
 */
export async function addGivenProvider(
  core: Core,
  { code, authKey, ...given }: GivenProvider,
  nowMs: number,
): Promise<Credentials | Misfit | Refused<'provider_code_exists'>> {
  const terms = readTerms({ lastDay: null, linkCountMax: null, ...given });
  if (isRefused(terms)) return terms;
  if (code !== undefined && isRefused(readProviderCode(code)))
    return malformed('code is 8 letters and digits');
  if (authKey !== undefined && isRefused(AUTH_KEY.read(authKey))) {
    return malformed(`the key must be ${AUTH_KEY.rule}`);
  }
  const draft = terms as Required<Pick<ProviderChange, 'name' | 'plan'>> & ProviderChange;
  const { activeUntilMs = null, installCountMax = null } = terms;
  return addProvider(core, { ...draft, activeUntilMs, installCountMax, code, authKey }, nowMs);
}

/** Gives a provider a new key; the old one stays valid for these hours. */
export async function rotateKeyFor(
  core: Core,
  code: string,
  keepOldHours: number,
  nowMs: number,
): Promise<(Credentials & EndedByRotation) | Misfit | Refused<'provider_not_found'>> {
  const hours = KEEP_OLD_HOURS.read(keepOldHours);
  if (isRefused(hours)) return malformed(`keepOldHours ${hours.detail}`);
  return rotateKey(core, code, hours * HOUR_MS, nowMs);
}

/**
 * Providers of a read, and the most reads of a search, which stays short with thousands of
 * providers.
 */
const READ_COUNT = 200;
const READS_MAX = 10;

/**
 * Finds providers whose name or code contains a text, in the order of ids after `afterId`, with the
 * id after which the search continues; null: the end. A page may be empty although the search
 * continues.
 */
export async function searchProviders(
  core: Core,
  { search, afterId, countMax }: { search: string; afterId: number; countMax: number },
): Promise<{ providers: Provider[]; nextId: number | null }> {
  const wanted = search.trim().toLowerCase();
  const providers: Provider[] = [];
  let after = afterId;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const read = await core.store.pageProviders(after, READ_COUNT);
    for (const provider of read) {
      after = provider.id;
      const { code, name } = provider;
      if (!`${code}\n${name}`.toLowerCase().includes(wanted)) continue;
      providers.push(provider);
      if (providers.length === countMax) return { providers, nextId: after };
    }
    if (read.length < READ_COUNT) return { providers, nextId: null };
    await nextTurn();
  }
  return { providers, nextId: after };
}
