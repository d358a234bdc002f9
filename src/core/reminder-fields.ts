/** The fields of reminders that can be set, one row each. */

import type { NoFormat } from './field.ts';
import type { OwnReminder, ReminderTexts } from './port/reminder.ts';

/** A reminder whose texts are one value, which can be compared. */
export interface FlatReminder extends Omit<OwnReminder, 'texts'> {
  texts: string;
}

export const flatReminder = ({ kind, amount, texts, pushText, enabled }: OwnReminder) =>
  ({ kind, amount, texts: textsJson(texts), pushText, enabled }) satisfies FlatReminder;

/** Returns the texts in one order of their languages. */
export const textsJson = (texts: ReminderTexts): string =>
  JSON.stringify(Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))));

export const REMINDER_AUDIT = {
  kind: {},
  amount: {},
  texts: { audit: 'text' },
  pushText: {},
  enabled: {},
} as const satisfies NoFormat<FlatReminder>;
