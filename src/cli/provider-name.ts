/** The provider of a command: `--provider CODE`, or the only one. */

import type { Core } from '../core/core.ts';
import type { Provider } from '../core/port/provider.ts';
import { OperatorError } from '../operator-error.ts';
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
  if (code !== undefined) {
    const found = await store.findProvider(code);
    if (found === null) throw refusal('provider_not_found', code);
    return found;
  }
  const [only, ...others] = await store.listProviders();
  if (only === undefined) {
    throw new OperatorError(
      "there is no provider: 'gatepost provider add --name NAME' creates one",
      'provider_not_found',
    );
  }
  if (others.length === 0) return only;
  const codes = [only, ...others].map((provider) => `${provider.code} (${provider.name})`);
  const rest = codes.length > LISTED_MAX ? `, and ${codes.length - LISTED_MAX} more` : '';
  throw new OperatorError(
    `there are several providers, so give --provider: ${codes.slice(0, LISTED_MAX).join(', ')}${rest}`,
    'provider_required',
  );
}
