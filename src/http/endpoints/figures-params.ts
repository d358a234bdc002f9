/** Figures of subscriptions in the API: who may read them, how they choose links, their form. */

import { type Static, Type } from '@sinclair/typebox';
import type { Need } from '../../core/account/keys.ts';
import { figuresNotKept } from '../../core/figures-filter.ts';
import type { Misfit } from '../../core/outcome.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { ShownFigures } from '../../core/port/subscription-figures.ts';
import { optional } from '../endpoint.ts';
import { forms, orNull, WireTime } from './params.ts';

/** The needs of figures: a key that leaks from a bot must not tell when each customer pays. */
export const NEEDS_FIGURES =
  'Needs a key with the scope `figures`, and `subscription_figures` of `policy`. An extension of the public contract.';

const NO_SCOPE = "auth_key may not read figures of subscriptions: this needs a key for 'figures'";

/** Returns the refusal of figures for the key and the provider of a call. */
export function refusedFigures(call: {
  provider: Provider;
  may(need: Need): boolean;
}): Misfit | { says: 'auth_error'; detail: string } | null {
  if (!call.may('figures')) return { says: 'auth_error', detail: NO_SCOPE };
  return figuresNotKept(call.provider);
}

/** Makes the parameters of `readFiguresWish`. */
export const figuresParams = (ending = '') => ({
  ends_in_days: optional(forms.figuresDays, {
    misfit: 'unknown_error',
    about: `Links whose subscription ends within so many days.${ending} ${NEEDS_FIGURES}`,
  }),
  ended: optional(forms.flag, {
    misfit: 'unknown_error',
    about: `1: links whose subscription has ended.${ending} ${NEEDS_FIGURES}`,
  }),
  traffic_over: optional(forms.trafficPercent, {
    misfit: 'unknown_error',
    about: `Links that used at least so many per cent of their traffic.${ending} ${NEEDS_FIGURES}`,
  }),
  unread_days: optional(forms.figuresDays, {
    misfit: 'unknown_error',
    about: `Links that are older than so many days, and whose figures were not read for so long.${ending} ${NEEDS_FIGURES}`,
  }),
});

const Bytes = Type.Integer({ minimum: 0, examples: [53_687_091_200] });

/** The figures of the subscription of a link. */
export const Subscription = Type.Object(
  {
    ends_at: orNull(WireTime),
    total_bytes: orNull(Bytes),
    used_bytes: orNull(Bytes),
    read_at: { ...WireTime, description: 'When the panel said so.' },
  },
  { title: 'Subscription' },
);

/** Returns figures as an answer has them. */
export const subscriptionView = (
  { endsAtMs, totalBytes, usedBytes, readAtMs }: ShownFigures,
  time: (ms: number) => string,
): Static<typeof Subscription> => ({
  ends_at: endsAtMs === null ? null : time(endsAtMs),
  total_bytes: totalBytes,
  used_bytes: usedBytes,
  read_at: time(readAtMs),
});
