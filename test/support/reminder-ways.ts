/** Ways in which commands about reminders come to fail: test/cli/error-codes.test.ts. */

import { REMINDERS_MAX } from '../../src/core/reminder-fields.ts';

const add = (amount: number) => ['reminder', 'add', 'traffic', `${amount}`, '--text', 'en=Hi'];

export const reminderWays = (
  addProvider: () => Promise<unknown>,
  run: (words: string[]) => Promise<unknown>,
) => {
  const after = (amounts: number[], words: string[]) => async () => {
    await addProvider();
    for (const amount of amounts) await run(add(amount));
    return words;
  };
  return {
    reminder_not_found: [
      after([], ['reminder', 'set', '7', '--enabled', 'yes']),
      after([], ['reminder', 'remove', '7']),
    ],
    reminder_exists: [after([80], add(80))],
    reminder_limit_reached: [
      after(
        Array.from({ length: REMINDERS_MAX }, (_, n) => n + 1),
        add(90),
      ),
    ],
  };
};
