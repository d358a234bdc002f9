/** Checks the use of links that bots make, and how often bots fetch for their customers. */

import { about, type Finding } from '../base/finding.ts';
import { DAY_MS } from '../core/calendar.ts';
import { counted } from '../core/counted.ts';
import type { BotFetches, UnusedLinks } from '../store/kind.ts';

const say = about('gate');

/**
 * Warns of links without devices beside links that the proxy made later: customers fetch by keys
 * that the bot gave to no link. A link whose customer has not come yet is no sign of it, so most
 * links must be empty.
 */
export function checkUnusedLinks(unused: readonly UnusedLinks[]): Finding[] {
  return unused
    .filter(({ emptyCount, usedCount }) => emptyCount > usedCount)
    .map(({ code, emptyCount, host, madeCount }) =>
      say.warning(
        'bot_links_unused',
        `your bot's links are not used: ${counted(emptyCount, 'link')} of provider ${code} without a subscription key ${emptyCount === 1 ? 'has' : 'have'} no device, and the gate made ${counted(madeCount, 'link')} at ${host} by itself later`,
        'let the bot give subscription_key to add-install, or tie keys to its links: docs/bots.md, "The bot\'s link and the panel\'s key"',
        host,
      ),
    );
}

/**
 * Says how many subscriptions trusted bots fetched without a HWID, whose limit is the bot's to
 * keep; warns where a bot got as many answers of a key as it may.
 */
export function checkBotFetches(fetches: readonly BotFetches[]): Finding[] {
  return fetches.map(({ code, day, fetchCount, host, keyCount, name, usedUpCount }) => {
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const what = `bot '${name}' of provider ${code} fetched ${counted(keyCount, 'key')} at ${host} without a HWID on ${date}: ${counted(fetchCount, 'answer')}`;
    if (usedUpCount === 0) return say.ok(what);
    return say.warning(
      'bot_fetches_used_up',
      `${what}; ${counted(usedUpCount, 'key')} as often as it may`,
      'let the bot forward x-hwid of its customers, or keep an answer for an hour: docs/bots.md, "A bot that fetches the panel for its customers"',
      host,
    );
  });
}
