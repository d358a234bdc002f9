/** When the home link of a device moves: all cells of the rule. */

import { expect, test } from 'bun:test';
import { DAY_MS } from '../../src/core/calendar.ts';
import { TOKEN_IDLE_DAYS } from '../../src/core/message/registration-rule.ts';
import { movesHome } from '../../src/core/ride/home.ts';

const SEEN_MS = 20_000 * DAY_MS + 5;
/** The last ms on which it does not move. */
const LAST_MS = 20_001 * DAY_MS - 1 + TOKEN_IDLE_DAYS * DAY_MS;

test.each([
  [false, LAST_MS, false],
  [false, LAST_MS + 1, true],
  [true, LAST_MS, false],
  [true, LAST_MS + 1, false],
])('registered %p, at %d: %p', (isRegistered, nowMs, expected) => {
  expect(movesHome({ seenAtMs: SEEN_MS, isRegistered }, nowMs)).toBe(expected);
});
