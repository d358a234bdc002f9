/** The providers of a command: `--provider CODE`, the only one, or for a list all. */

import { OperatorError } from '../base/operator-error.ts';
import type { Core } from '../core/core.ts';
import type { Maybe } from '../core/port/maybe.ts';
import type { Provider } from '../core/port/provider.ts';
import { refusal } from './refusal.ts';
import { providerCodeValue } from './values.ts';

export interface ProviderOptions {
  provider?: string;
}

export const PROVIDER = [
  '--provider <code>',
  'the provider; not needed if there is only one',
  providerCodeValue,
] as const;

/** The option of a list that has all providers without it. */
export const OF_PROVIDER = [PROVIDER[0], 'only of this provider', providerCodeValue] as const;

/** Most codes that an error lists. */
const LISTED_MAX = 20;

/**
 * Returns the provider of the options, or the only one. Throws {@link OperatorError}:
 * `provider_not_found`, or `provider_required` with the codes if there are several.
 */
export async function providerOf(
  { store }: Core,
  { provider: code }: ProviderOptions,
): Promise<Readonly<Provider>> {
  if (code !== undefined) return named(store, code);
  const [only, ...others] = await store.listProviders();
  if (only === undefined) throw noProvider();
  if (others.length === 0) return only;
  const codes = [only, ...others].map((provider) => `${provider.code} (${provider.name})`);
  const rest = codes.length > LISTED_MAX ? `, and ${codes.length - LISTED_MAX} more` : '';
  throw new OperatorError(
    `there are several providers, so give --provider: ${codes.slice(0, LISTED_MAX).join(', ')}${rest}`,
    'provider_required',
  );
}

/** Returns the code of the options; null without one. Throws `provider_not_found`. */
export async function codeOf(
  { store }: Core,
  { provider: code }: ProviderOptions,
): Promise<string | null> {
  return code === undefined ? null : (await named(store, code)).code;
}

/** A record with its owner: the code of its provider, or null for the operator. */
export type Owned<T> = T & { providerCode: string | null };

/** The column of a list that says whose each record is. */
export const ownerName = ({ provider_code: code }: { provider_code: string | null }): string =>
  code ?? 'operator';

/**
 * Lists the records of the provider of the options; without one, first those of the operator, then
 * those of all providers. Throws {@link OperatorError} `provider_not_found`, also if only providers
 * have such records and there is none.
 */
export async function listOwned<T>(
  { store }: Core,
  { provider: code }: ProviderOptions,
  readProviders: (providerId: number) => Maybe<readonly T[]>,
  readOperators?: () => Maybe<readonly T[]>,
): Promise<Owned<T>[]> {
  const providers = code === undefined ? await store.listProviders() : [await named(store, code)];
  const own = code === undefined ? await readOperators?.() : undefined;
  if (own === undefined && providers.length === 0) throw noProvider();
  const lists = [(own ?? []).map((record): Owned<T> => ({ ...record, providerCode: null }))];
  for (const { id, code: providerCode } of providers) {
    lists.push((await readProviders(id)).map((record) => ({ ...record, providerCode })));
  }
  return lists.flat();
}

async function named(store: Core['store'], code: string): Promise<Readonly<Provider>> {
  const found = await store.findProvider(code);
  if (found === null) throw refusal('provider_not_found', code);
  return found;
}

const noProvider = () =>
  new OperatorError(
    "there is no provider: 'gatepost provider add --name NAME' creates one",
    'provider_not_found',
  );
