/** The policy of a provider's slots: an extension of the contract. */

import type { OwnMy } from '../../core/port/my.ts';
import type { OwnTerms } from '../../core/port/provider.ts';
import type { OwnRideTerms } from '../../core/port/ride.ts';
import { changePolicy } from '../../core/provider.ts';
import { NO_POLICY, policyOf } from '../../core/slot.ts';
import { MY_TERMS, OWN_TERMS, POLICY_TERMS, RIDE_TERMS, type Terms } from '../../core/terms.ts';
import { providerEndpoint } from '../endpoint.ts';
import { paramsOf, schemasOf, termsReader, valuesOf } from './term-params.ts';

/** Returns the origin of a default. */
function above(field: string): string {
  if (field in POLICY_TERMS) return 'that of the appliance';
  return field === 'ride' ? 'what the operator set, which it never exceeds' : 'none';
}

const readTerms = termsReader(OWN_TERMS);
const OTHERS: Terms<OwnRideTerms & OwnMy> = { ...RIDE_TERMS, ...MY_TERMS };

const policyEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/policy',
  repeat: 'same',
  needs: 'main',
  summary: 'Read or change the policy of all links',
  description:
    'An extension of the public contract: the policy of the links that have none of their own. Changes all given parameters together, and answers the policy that holds.',
  params: paramsOf(OWN_TERMS, 'unknown_error', above),
  fields: { ok: { ...schemasOf(POLICY_TERMS), ...schemasOf(OTHERS) } },
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, params, nowMs }) {
    const set = await changePolicy(core, provider, readTerms<OwnTerms>(params), nowMs);
    const policy = policyOf(set, NO_POLICY);
    return {
      says: 'ok',
      body: { ...valuesOf(POLICY_TERMS, policy), ...valuesOf<OwnRideTerms & OwnMy>(OTHERS, set) },
    };
  },
});

export const policyEndpoints = [policyEndpoint];
