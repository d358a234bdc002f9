/** Decides which sessions of the console see figures of subscriptions. */

import { figuresNotKept } from '../core/figures-filter.ts';
import type { Refused } from '../core/outcome.ts';
import type { FiguresFilter } from '../core/port/subscription-figures.ts';
import { keyed, type Staff } from './call.ts';

/** Why a page shows no figures; `shown`: it does. */
type FiguresState = 'shown' | 'not_kept' | 'no_account';

/**
 * Returns whether a page shows figures. The key of a bot opens the console, too, and a stolen one
 * must not tell when each customer pays.
 */
export function figuresStateOf(staff: Pick<Staff, 'provider' | 'signedIn'>): FiguresState {
  if (figuresNotKept(staff.provider) !== null) return 'not_kept';
  return keyed(staff) === null ? 'shown' : 'no_account';
}

/** Returns whether a filter has a condition about figures. */
const isFigured = (filter: FiguresFilter): boolean =>
  [filter.endsFromMs, filter.endsBeforeMs, filter.usedPercent, filter.unreadSinceMs].some(
    (one) => one != null,
  );

/** Refuses a filter of figures to a session by the provider's key: its answers would tell them. */
export const refusedFilter = (
  staff: Pick<Staff, 'provider' | 'signedIn'>,
  filter: FiguresFilter,
): Refused<'no_account'> | null => (isFigured(filter) ? keyed(staff) : null);
