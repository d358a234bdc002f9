/** A month of reminders with few customers; reminder-month-long.test.ts has a thousand. */

import { expect, test } from 'bun:test';
import { TAGS } from '../support/reminder-customers.ts';
import { Month } from '../support/reminder-month.ts';

test('each customer is reminded in time and in the own language, once, and not after paying', async () => {
  const report = await Month.live({ customers: 40, seed: 47, stepMinutes: 120, killChance: 0.3 });
  expect(report.faults).toEqual([]);
  expect(report.payments).toBeGreaterThan(60);
  expect(report.kills).toBeGreaterThan(25);
  for (const tag of TAGS) {
    expect(Object.values(report.sent[tag]).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(0);
  }
  expect(Object.keys(report.seen).length).toBeGreaterThan(5);
}, 300_000);

test('where the API of the panel can be asked, nothing is sent after a payment that no app has seen', async () => {
  const report = await Month.live({
    customers: 30,
    seed: 48,
    stepMinutes: 120,
    asksPanel: true,
  });
  expect(report.faults).toEqual([]);
  expect(report.beforeToldOf).toBe(0);
  expect(Object.values(report.sent.B72).reduce((sum, one) => sum + one, 0)).toBeGreaterThan(20);
}, 300_000);
