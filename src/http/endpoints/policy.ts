/** The policy of a provider's slots: an extension of the contract. */

import { directCalls } from '../../call/direct-calls.ts';
import type { OwnMy } from '../../core/port/my.ts';
import type { OwnBot, OwnTerms } from '../../core/port/provider.ts';
import type { OwnQuiet } from '../../core/port/reminder.ts';
import type { OwnRideTerms } from '../../core/port/ride.ts';
import { NO_POLICY, policyOf } from '../../core/slot.ts';
import {
  BOT_TERMS,
  MY_TERMS,
  OWN_TERMS,
  POLICY_TERMS,
  QUIET_TERMS,
  RIDE_TERMS,
  type Terms,
} from '../../core/terms.ts';
import { callEndpoint } from '../endpoint.ts';
import { paramsOf, schemasOf, termsReader, valuesOf } from './term-params.ts';

/** Returns the origin of a default. */
function above(field: string): string {
  if (field in POLICY_TERMS) return 'that of the appliance';
  if (field === 'timeZone') return 'UTC+3';
  if (field === 'rc2Body') return 'what the operator set';
  return field === 'ride' ? 'what the operator set, which it never exceeds' : 'none';
}

const readTerms = termsReader(OWN_TERMS);
type OwnOthers = OwnRideTerms & OwnMy & OwnBot & OwnQuiet;
const OTHERS: Terms<OwnOthers> = { ...RIDE_TERMS, ...MY_TERMS, ...BOT_TERMS, ...QUIET_TERMS };

const policyEndpoint = callEndpoint(directCalls['policy.set'], {
  method: 'GET',
  repeat: 'same',
  summary: 'Read or change the policy of all links',
  description:
    'An extension of the public contract: the policy of the links that have none of their own. Changes all given parameters together, and answers the policy that holds.',
  params: paramsOf(OWN_TERMS, 'unknown_error', above),
  fields: { ok: { ...schemasOf(POLICY_TERMS), ...schemasOf(OTHERS) } },
  says: ['ok', 'unknown_error'],
  given: ({ params }) => readTerms<OwnTerms>(params),
  reply(set) {
    const policy = policyOf(set, NO_POLICY);
    return {
      says: 'ok',
      body: { ...valuesOf(POLICY_TERMS, policy), ...valuesOf<OwnOthers>(OTHERS, set) },
    };
  },
});

export const policyEndpoints = [policyEndpoint];
