/** The policy of a provider's slots: an extension of the contract. */

import { Type } from '@sinclair/typebox';
import {
  BUTTONS,
  COOL_DOWN_HOURS,
  ENFORCE,
  INACTIVE_DAYS,
  RIDE,
  RIDE_DESKTOP,
  SAME_PHONE,
  WHEN_FULL,
  WITHOUT_HWID,
} from '../../core/formats.ts';
import type { OwnRideTerms } from '../../core/port/ride.ts';
import { changePolicy } from '../../core/provider.ts';
import { NO_POLICY, policyOf } from '../../core/slot.ts';
import { optional, providerEndpoint } from '../endpoint.ts';
import {
  buttonParams,
  buttonsIn,
  choice,
  DEFAULT,
  oneOf,
  orNull,
  own,
  policyIn,
  policyParams,
} from './params.ts';

const integerOf = ({ minimum, maximum }: { minimum: number; maximum: number }, example: number) =>
  Type.Integer({ minimum, maximum, examples: [example] });

const ButtonUrl = orNull(Type.String({ examples: ['https://example.com/support'] }));

interface RideParams {
  ride: 'off' | 'notifications' | typeof DEFAULT | null;
  ride_desktop: 0 | 1 | null;
  buttons: 'missing' | 'always' | null;
}

/** Returns the terms of rides in a call. */
function rideIn({ ride, ride_desktop, buttons }: RideParams): Partial<OwnRideTerms> {
  return {
    ...(ride !== null && { ride: own(ride) }),
    ...(ride_desktop !== null && { rideDesktop: ride_desktop }),
    ...(buttons !== null && { buttons: buttons === 'always' ? buttons : null }),
  };
}

const policyEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/policy',
  repeat: 'same',
  needs: 'main',
  summary: 'Read or change the policy of all links',
  description:
    'An extension of the public contract: the policy of the links that have none of their own. Changes all given parameters together, and answers the policy that holds.',
  params: {
    ...policyParams('unknown_error', 'the appliance'),
    ride: optional(oneOf([...RIDE.values, DEFAULT]), {
      misfit: 'unknown_error',
      about:
        'The most of the messages that rides on subscriptions, in the headers that apps read: `off`, or `notifications` and no commands. `default` is what the operator set, which it never exceeds.',
    }),
    ride_desktop: optional(
      { schema: choice(RIDE_DESKTOP.values), rule: RIDE_DESKTOP.rule },
      {
        misfit: 'unknown_error',
        about:
          '1: general notifications ride to other systems than iOS and Android too, whatever their `os`.',
      },
    ),
    ...buttonParams('unknown_error', 'none'),
    buttons: optional(oneOf(BUTTONS.values), {
      misfit: 'unknown_error',
      about: 'Whether the buttons stand only where the panel sends none (`missing`), or `always`.',
    }),
  },
  fields: {
    ok: {
      inactive_days: integerOf(INACTIVE_DAYS, 0),
      when_full: choice(WHEN_FULL.values),
      cool_down_hours: integerOf(COOL_DOWN_HOURS, 24),
      enforce: choice(ENFORCE.values),
      without_hwid: choice(WITHOUT_HWID.values),
      same_phone: choice(SAME_PHONE.values),
      ride: choice([...RIDE.values, DEFAULT]),
      ride_desktop: choice(RIDE_DESKTOP.values),
      support_url: ButtonUrl,
      web_page_url: ButtonUrl,
      buttons: choice(BUTTONS.values),
    },
  },
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, params, nowMs }) {
    const change = { ...policyIn(params), ...buttonsIn(params), ...rideIn(params) };
    const set = await changePolicy(core, provider, change, nowMs);
    const policy = policyOf(set, NO_POLICY);
    return {
      says: 'ok',
      body: {
        inactive_days: policy.inactiveDays,
        when_full: policy.whenFull,
        cool_down_hours: policy.coolDownHours,
        enforce: policy.enforce,
        without_hwid: policy.withoutHwid,
        same_phone: policy.samePhone,
        ride: set.ride ?? DEFAULT,
        ride_desktop: set.rideDesktop,
        support_url: set.supportUrl,
        web_page_url: set.webPageUrl,
        buttons: set.buttons ?? 'missing',
      },
    };
  },
});

export const policyEndpoints = [policyEndpoint];
