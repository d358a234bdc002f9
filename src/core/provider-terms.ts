/** The terms of a provider in the form of the console, and the search for providers. */

import { endOfDateMs } from './calendar.ts';
import type { Core } from './core.ts';
import { type Fields, readGiven } from './field.ts';
import { folded } from './fold.ts';
import { AUTH_KEY, type Format, KEEP_OLD_HOURS, readProviderCode } from './formats.ts';
import { isRefused, type Misfit, malformed, Refused } from './outcome.ts';
import type { OwnMy, OwnMyCut } from './port/my.ts';
import type {
  EndedByRotation,
  GivenProviderTerms,
  Provider,
  ProviderChange,
  ProviderTerms,
} from './port/provider.ts';
import { addProvider, type Credentials, changeProvider, rotateKey } from './provider.ts';
import {
  BOT_TERMS,
  FIGURE_TERMS,
  MY_CUT_TERMS,
  MY_TERMS,
  OWN_POLICY_TERMS,
  PROVIDER_FIELDS,
  QUIET_TERMS,
  RIDE_TERMS,
} from './terms.ts';
import { nextTurn } from './turn.ts';

type OwnPage = OwnMy & OwnMyCut;

const HOUR_MS = 3_600_000;

/** A provider's terms as a form has them: without its page, which has a form of its own. */
export interface FormTerms
  extends Omit<
    ProviderTerms,
    'activeUntilMs' | 'installCountMax' | 'suspendedAtMs' | keyof OwnPage
  > {
  /** The last day in UTC+3, `YYYY-MM-DD`. */
  lastDay: string | null;
  linkCountMax: number | null;
}

const LAST_DAY: Format<string> = {
  rule: 'a date, YYYY-MM-DD',
  read: (day) =>
    endOfDateMs(String(day)) === null ? malformed('must be a date, YYYY-MM-DD') : String(day),
};

export const FORM_TERMS = {
  name: PROVIDER_FIELDS.name,
  plan: PROVIDER_FIELDS.plan,
  lastDay: { format: LAST_DAY, usual: null },
  linkCountMax: PROVIDER_FIELDS.installCountMax,
  ...OWN_POLICY_TERMS,
  ...RIDE_TERMS,
  ...BOT_TERMS,
  ...FIGURE_TERMS,
  ...QUIET_TERMS,
} satisfies Fields<FormTerms>;

/** The form with the page of users, which is a form of its own in the console. */
const ALL_TERMS: Fields<FormTerms & OwnPage> = {
  ...FORM_TERMS,
  ...MY_TERMS,
  ...MY_CUT_TERMS,
};

/** Terms of a provider from a form; absent ones stay. Null is the default, or no end. */
type GivenTerms = { readonly [F in keyof (FormTerms & OwnPage)]?: unknown };

function readTerms(given: GivenTerms): ProviderChange | Misfit {
  const terms = readGiven<FormTerms & OwnPage>(ALL_TERMS, given);
  if (isRefused(terms)) return terms;
  const { lastDay, linkCountMax: installCountMax, ...same } = terms;
  return {
    ...same,
    ...(lastDay !== undefined && { activeUntilMs: endOfDateMs(lastDay ?? '') }),
    ...(installCountMax !== undefined && { installCountMax }),
  };
}

/** Changes a provider. Refuses `provider_not_found`, and returns a misfit for an invalid term. */
export async function editProvider(
  core: Core,
  code: string,
  { isSuspended, ...given }: GivenTerms & { isSuspended?: boolean | undefined },
  nowMs: number,
): Promise<'ok' | Misfit | Refused<'provider_not_found'>> {
  const terms = readTerms(given);
  if (isRefused(terms)) return terms;
  const known = await core.store.findProvider(code);
  if (known === null) return new Refused('provider_not_found');
  // A second suspension keeps the time of the first.
  const suspendedAtMs = isSuspended ? (known.suspendedAtMs ?? nowMs) : null;
  const change = { ...terms, ...(isSuspended !== undefined && { suspendedAtMs }) };
  return changeProvider(core, code, change, nowMs);
}

/** A new provider; one that moves here has its code and key already. */
type GivenProvider = GivenTerms & {
  name: string;
  plan: string;
  code?: string | undefined;
  authKey?: string | undefined;
};

/**
 * Adds a provider from a form. Refuses `provider_code_exists`, and returns a misfit for an invalid
 * term.
 */
export async function addGivenProvider(
  core: Core,
  { code, authKey, ...given }: GivenProvider,
  nowMs: number,
): Promise<Credentials | Misfit | Refused<'provider_code_exists'>> {
  const terms = readTerms(given);
  if (isRefused(terms)) return terms;
  if (code !== undefined && isRefused(readProviderCode(code)))
    return malformed('code is 8 letters and digits');
  if (authKey !== undefined && isRefused(AUTH_KEY.read(authKey))) {
    return malformed(`the key must be ${AUTH_KEY.rule}`);
  }
  return addProvider(core, { ...(terms as GivenProviderTerms), code, authKey }, nowMs);
}

/** A new key: a random one unless given. The old one stays valid for hours, or for ms. */
export interface KeyRotation {
  keepOldHours?: number;
  keepOldMs?: number;
  authKey?: string | undefined;
}

/** Gives a provider a new key. */
export async function rotateKeyFor(
  core: Core,
  code: string,
  { keepOldHours = 0, keepOldMs, authKey }: KeyRotation,
  nowMs: number,
): Promise<(Credentials & EndedByRotation) | Misfit | Refused<'provider_not_found'>> {
  const hours = KEEP_OLD_HOURS.read(keepOldHours);
  if (isRefused(hours)) return malformed(`keepOldHours ${hours.detail}`);
  return rotateKey(core, code, keepOldMs ?? hours * HOUR_MS, nowMs, authKey);
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
  const wanted = folded(search.trim());
  const providers: Provider[] = [];
  let after = afterId;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const read = await core.store.pageProviders(after, READ_COUNT);
    for (const provider of read) {
      after = provider.id;
      const { code, name } = provider;
      if (!folded(`${code}\n${name}`).includes(wanted)) continue;
      providers.push(provider);
      if (providers.length === countMax) return { providers, nextId: after };
    }
    if (read.length < READ_COUNT) return { providers, nextId: null };
    await nextTurn();
  }
  return { providers, nextId: after };
}
