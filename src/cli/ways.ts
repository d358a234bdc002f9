/** How a message comes to its recipients: the same facts and table before a send and after it. */

import { counted } from '../core/counted.ts';
import { nowOf } from '../core/device-reach.ts';
import { type ReachWays, WAYS } from '../core/port/message-reach.ts';
import type { TargetCount } from '../core/target-count.ts';
import { table } from './table.ts';

/** Returns the ways to the recipients, as JSON; null: they are not counted. */
export function waysFacts(count: TargetCount | null) {
  const { ways, withinHours, isGuess } = count ?? {};
  return {
    reachable: count?.reachable ?? null,
    now: ways ? nowOf(ways) : null,
    by_inbox: ways?.inbox ?? null,
    by_stream: ways?.stream ?? null,
    by_push: ways?.push ?? null,
    at_next_fetch: ways?.fetch ?? null,
    not_known: ways?.unknown ?? null,
    within_hours: withinHours ?? null,
    within_is_guess: isGuess ?? null,
    cannot: ways?.none ?? null,
  };
}

const NAMES: Readonly<Record<keyof ReachWays, string>> = {
  inbox: 'by inbox',
  stream: 'by stream',
  push: 'by push',
  fetch: 'at the next fetch',
  unknown: 'not known',
  none: 'never',
};

function meaningOf(way: keyof ReachWays, { withinHours, isGuess }: TargetCount): string {
  const hours = counted(withinHours, 'hour');
  const source = isGuess ? ', if the panel sets no other interval' : '';
  return {
    inbox: 'when their apps ask for messages',
    stream: 'at once while their apps hold a stream, else when they ask',
    push: 'a gateway wakes their apps',
    fetch: `within ${hours}${source}`,
    unknown: 'with their next fetch too; whether their apps show it is not known',
    none: 'their apps neither ask for messages nor show any of a subscription',
  }[way];
}

/** Returns a line for each way; the counts add up to the recipients. */
export function waysTable(count: TargetCount): string {
  const least = count.isAtLeast ? 'at least ' : '';
  const rows = WAYS.map((way) => ({
    way: NAMES[way],
    recipients: `${least}${count.ways[way]}`,
    meaning: meaningOf(way, count),
  }));
  return table(rows, { HOW: 'way', RECIPIENTS: 'recipients', WHEN: 'meaning' });
}
