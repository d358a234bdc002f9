/** A month of reminders with a thousand customers: docs and `bench` have no other figures of it. */

import { expect, test } from 'bun:test';
import { TAGS } from '../support/reminder-customers.ts';
import { Month } from '../support/reminder-month.ts';

test('each of a thousand customers is reminded in time, once, and not after paying', async () => {
  const report = await Month.live({ customers: 1_000, seed: 47, killChance: 0.2 });
  expect(report.faults).toEqual([]);
  expect(report.payments).toBeGreaterThan(1_900);
  expect(report.kills).toBeGreaterThan(300);
  for (const tag of TAGS) {
    for (const count of Object.values(report.sent[tag])) expect(count).toBeGreaterThan(5);
  }
}, 3_600_000);
