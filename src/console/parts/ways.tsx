/** The devices of a message by the ways to them: the same table before a send and after it. */

import type { Got } from '../../call/table.ts';
import { texts } from '../state.ts';
import { number } from './format.ts';

type Count = NonNullable<Got<'send.check'>['count']>;
type Way = keyof Count['ways'];

const WAYS: readonly Way[] = ['inbox', 'stream', 'push', 'fetch', 'unknown', 'none'];

function lookOf(way: Way, count: number): string {
  if (way === 'fetch' || way === 'unknown') return count > 0 || way === 'fetch' ? 'late' : '';
  if (way !== 'none') return 'good';
  return count > 0 ? 'bad' : '';
}

export function Ways({ of }: { of: Omit<Count, 'recipients' | 'reachable'> }) {
  const words = texts.messages;
  const { isAtLeast, isGuess, ways, withinHours } = of;
  const { fetch, fetchGuess, ...names } = words.way;
  const labels = { ...names, fetch: (isGuess ? fetchGuess : fetch)(withinHours) };
  return (
    <dl class="ways-of">
      {WAYS.map((way) => (
        <div class={`way ${lookOf(way, ways[way])}`} key={way}>
          <dt>{labels[way]}</dt>
          <dd>{isAtLeast ? words.atLeast(number(ways[way])) : number(ways[way])}</dd>
        </div>
      ))}
    </dl>
  );
}
