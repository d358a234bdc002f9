/**
 * The home link of a device at a provider: that of its first slot, which alone carries what is for
 * this device. A HWID is no secret: a stranger can take a slot with it on another link. So the home
 * link moves only as places move (core/message/registration-rule.ts): with a registration, or after
 * a long silence.
 */

import { DAY_MS, lastMsOfDay } from '../calendar.ts';
import { TOKEN_IDLE_DAYS } from '../message/registration-rule.ts';

/** The home of a device that calls with another link. */
export interface Home {
  /** Time at which its slot was last seen, to a UTC day, also of one that ended. */
  seenAtMs: number;
  /** True: a registration by a link holds the place, and moves it. */
  isRegistered: boolean;
}

/** Returns true if the link that the device calls with becomes its home link. */
export function movesHome({ seenAtMs, isRegistered }: Home, nowMs: number): boolean {
  return !isRegistered && nowMs > lastMsOfDay(seenAtMs) + TOKEN_IDLE_DAYS * DAY_MS;
}
