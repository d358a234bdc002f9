/** Checks what bots do here: whether the links that they make are used. */

import { about, type Finding } from '../base/finding.ts';
import { counted } from '../core/counted.ts';
import type { UnusedLinks } from '../store/kind.ts';

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
