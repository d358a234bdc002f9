/** Those who tell webhooks of events, by the kind of target. */

import type { Tellers } from '../core/outbox/carrier.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import { StandardTeller } from './standard.ts';
import { type TelegramSettings, TelegramTeller } from './telegram/teller.ts';

/** The settings are read at each call, so that a change holds at once. */
export function makeTellers(settings: TelegramSettings, outgoing: Pick<Outgoing, 'send'>): Tellers {
  return {
    webhook: new StandardTeller(outgoing),
    telegram: new TelegramTeller(outgoing, settings),
  };
}
