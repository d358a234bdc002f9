import { expect, test } from 'bun:test';
import { retryAfterMs } from '../../src/core/outbox/retry-after.ts';

const NOW = Date.UTC(2026, 10, 22, 12, 0, 0);
const DAY_MS = 86_400_000;

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['999999999', DAY_MS],
  ['Sun, 22 Nov 2026 12:01:30 GMT', 90_000],
  ['Sunday, 22-Nov-26 12:01:30 GMT', 90_000],
  ['Sun Nov 22 12:01:30 2026', 90_000],
  ['Sun, 22 Nov 2026 11:00:00 GMT', 0],
  ['Sun, 22 Nov 2099 12:00:00 GMT', DAY_MS],
])("'%s' asks for %d ms", (header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms);
});

test.each([null, '', '-1', '1.5', 'soon', '1e3', '99999999999', 'Sun, 99 Nov', '0x10', 'x 2026'])(
  '%p asks for nothing',
  (header) => expect(retryAfterMs(header, NOW)).toBeNull(),
);
