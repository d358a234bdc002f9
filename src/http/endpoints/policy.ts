/** The policy of a provider's slots: an extension of the contract. */

import { Type } from '@sinclair/typebox';
import {
  COOL_DOWN_HOURS,
  ENFORCE,
  INACTIVE_DAYS,
  WHEN_FULL,
  WITHOUT_HWID,
} from '../../core/formats.ts';
import { changePolicy } from '../../core/provider.ts';
import { NO_POLICY, policyOf } from '../../core/slot.ts';
import { providerEndpoint } from '../endpoint.ts';
import { choice, policyIn, policyParams } from './params.ts';

const integerOf = ({ minimum, maximum }: { minimum: number; maximum: number }, example: number) =>
  Type.Integer({ minimum, maximum, examples: [example] });

const policyEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/policy',
  repeat: 'same',
  summary: 'Read or change the policy of all links',
  description:
    'An extension of the public contract: the policy of the links that have none of their own. Changes all given parameters together, and answers the policy that holds.',
  params: policyParams('unknown_error', 'the appliance'),
  fields: {
    ok: {
      inactive_days: integerOf(INACTIVE_DAYS, 0),
      when_full: choice(WHEN_FULL.values),
      cool_down_hours: integerOf(COOL_DOWN_HOURS, 24),
      enforce: choice(ENFORCE.values),
      without_hwid: choice(WITHOUT_HWID.values),
    },
  },
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, params, nowMs }) {
    const own = await changePolicy(core, provider, policyIn(params), nowMs);
    const policy = policyOf(own, NO_POLICY);
    return {
      says: 'ok',
      body: {
        inactive_days: policy.inactiveDays,
        when_full: policy.whenFull,
        cool_down_hours: policy.coolDownHours,
        enforce: policy.enforce,
        without_hwid: policy.withoutHwid,
      },
    };
  },
});

export const policyEndpoints = [policyEndpoint];
