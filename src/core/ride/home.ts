/**
 * The home link of a device at a provider: the link of its first slot. Only the home link carries
 * messages for this device. A HWID is no secret: a stranger can take a slot with it on another
 * link. So the home link moves only by a registration, or after a long silence, by the rule of
 * core/message/registration-rule.ts.
 */

import { DAY_MS, lastMsOfDay } from '../calendar.ts';
import { TOKEN_IDLE_DAYS } from '../message/registration-rule.ts';

/** The home link of a device that calls with another link. */
export interface Home {
  /** The day on which its slot was last seen, UTC ms; a slot that ended counts too. */
  seenAtMs: number;
  /** True: a registration by a link sets the home link. */
  isRegistered: boolean;
}

/** Returns true if the link of the call becomes the home link. */
export function movesHome({ seenAtMs, isRegistered }: Home, nowMs: number): boolean {
  return !isRegistered && nowMs > lastMsOfDay(seenAtMs) + TOKEN_IDLE_DAYS * DAY_MS;
}
