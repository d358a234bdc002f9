/** Deeds of the operator about panels that are followed. */

import { actAt } from './audit/entry.ts';
import type { Core } from './core.ts';
import { fromStore, type Refused } from './outcome.ts';

/**
 * Agrees to the pass that waits for a panel. Refuses `follow_not_found` for a host that is not
 * followed, and `follow_not_held` if no pass waits.
 */
export const acceptFollow = async (
  core: Core,
  host: string,
  nowMs: number,
): Promise<'ok' | Refused<'follow_not_found' | 'follow_not_held'>> =>
  fromStore(await core.store.acceptFollow(host, actAt(core, nowMs)));
