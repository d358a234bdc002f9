/** A month of reminders, with few customers; test/jobs/reminder-month-long.test.ts has a thousand. */

import { expect, test } from 'bun:test';
import { Month, TAGS } from '../support/reminder-month.ts';

test('who is reminded, when, in which language: nobody twice, nobody after paying, nobody missed', async () => {
  const report = await Month.live({ customers: 40, seed: 47, stepMinutes: 60, killChance: 0.3 });
  expect(report.faults).toEqual([]);
  expect(report.payments).toBeGreaterThan(60);
  expect(report.kills).toBeGreaterThan(50);
  for (const tag of TAGS) {
    expect(Object.values(report.sent[tag]).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(0);
  }
  expect(Object.keys(report.seen).length).toBeGreaterThan(5);
});
