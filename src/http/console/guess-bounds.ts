/** The bounds of guesses at passwords and codes in the console. */

import { MARK_MS } from '../../core/account/known-browser.ts';
import type { GuessBounds, Passwords } from '../../core/account/sign-in.ts';
import { MinuteLimiter } from '../bound/limiter.ts';

const HOUR_MS = 3_600_000;
/**
 * The most wrong codes of a second factor in a minute: one of a million codes is right for 90 s.
 */
const WRONG_CODES_PER_MINUTE_MAX = 5;
/** The most wrong tries at an account in an hour by browsers in which it did not sign in before. */
const WRONG_TRIES_PER_HOUR_MAX = 1_000;
/** The most wrong tries by a browser in which it did. */
const MARK_TRIES_MAX = 10;

/** Makes the bounds of a server; several nodes count each for itself. */
export const makeGuessBounds = (passwords: Passwords): GuessBounds => ({
  passwords,
  wrongCodes: new MinuteLimiter(() => WRONG_CODES_PER_MINUTE_MAX),
  wrongTries: new MinuteLimiter(() => WRONG_TRIES_PER_HOUR_MAX, HOUR_MS),
  markTries: new MinuteLimiter(() => MARK_TRIES_MAX, MARK_MS),
});
