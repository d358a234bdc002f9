import { expect, test } from 'bun:test';
import { endOf, FAILED, SENT, SENT_WITH_ERRORS } from '../../../src/core/message/status.ts';

test.each([
  // Sent, failed, final status.
  [0, 0, FAILED],
  [0, 2, FAILED],
  [2, 0, SENT],
  [1, 1, SENT_WITH_ERRORS],
])('%i sent and %i failed recipients end as %i', (sentCount, failedCount, status) => {
  expect(endOf(sentCount, failedCount)).toBe(status);
});
