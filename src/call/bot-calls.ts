/** Calls about bots that fetch subscriptions for their customers. */

import { OWN } from '../core/account/roles.ts';
import { addBot, removeBot } from '../core/bot.ts';
import { type DoerFor, lookCall, sharedCall } from './call.ts';
import { atProvider, id, text } from './inputs.ts';

export const botCalls = {
  'bots.list': lookCall(OWN, atProvider({}), async ({ core, provider }) =>
    core.store.listBots(provider.id),
  ),
  /** Returns the secret, this once. */
  'bots.add': sharedCall(
    OWN,
    ['bot.add'],
    { commands: ['bot add'] },
    atProvider({ host: text(253), name: text(64) }),
    ({ core, nowMs, provider }: DoerFor, given) => addBot(core, provider, given, nowMs),
  ),
  'bots.remove': sharedCall(
    OWN,
    ['bot.remove'],
    { commands: ['bot remove'] },
    atProvider({ id }),
    ({ core, nowMs, provider }: DoerFor, given) => removeBot(core, provider, given.id, nowMs),
  ),
};
