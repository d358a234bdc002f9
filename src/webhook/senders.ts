/** The senders of events, by the kind of target. */

import type { EventSenders } from '../core/outbox/carrier.ts';
import type { Outgoing } from '../outgoing/outgoing.ts';
import { StandardSender } from './standard.ts';
import { TelegramSender, type TelegramSettings } from './telegram/sender.ts';

/**
 * Makes the senders. The settings are read at each call, so that a change applies at once.
 * `publicUrl` returns the URL of this server for people; null: no setting names one.
 */
export function makeEventSenders(
  settings: TelegramSettings,
  outgoing: Pick<Outgoing, 'send'>,
  publicUrl: () => string | null = () => null,
): EventSenders {
  return {
    webhook: new StandardSender(outgoing),
    telegram: new TelegramSender(outgoing, settings, publicUrl),
  };
}
