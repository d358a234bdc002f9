/** The fields of reminders that can be set, one row each, with the bounds of the amounts. */

import type { Fields, NoFormat } from './field.ts';
import { choice, FLAG, type WholeFormat, whole } from './formats.ts';
import {
  type OwnReminder,
  PUSH_TEXTS,
  REMINDER_KINDS,
  type ReminderKind,
  type ReminderTexts,
} from './port/reminder.ts';

/** The most reminders of a provider. */
export const REMINDERS_MAX = 10;

/** The amounts of each kind: hours, days, per cent, days. */
export const AMOUNTS: Readonly<Record<ReminderKind, WholeFormat>> = {
  before_end: whole(1, 720),
  after_end: whole(0, 30),
  traffic: whole(1, 100),
  inactive: whole(1, 90),
};

/** A reminder whose texts are one value, which can be compared. */
export interface FlatReminder extends Omit<OwnReminder, 'texts'> {
  texts: string;
}

/** The fields but the texts, which core/reminder.ts reads. */
export const REMINDER_FIELDS = {
  kind: { format: choice(REMINDER_KINDS) },
  amount: { format: whole(0, 720) },
  pushText: { format: choice(PUSH_TEXTS), usual: 'neutral' },
  enabled: { format: FLAG, usual: 0 },
} as const satisfies Fields<Omit<OwnReminder, 'texts'>>;

/** The fields as the audit log has them: none of the texts. */
export const REMINDER_AUDIT = {
  kind: {},
  amount: {},
  texts: { audit: 'text' },
  pushText: {},
  enabled: {},
} as const satisfies NoFormat<FlatReminder>;

/** Returns the texts in one order of their languages. */
export const textsJson = (texts: ReminderTexts): string =>
  JSON.stringify(Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))));

export const flatReminder = ({ kind, amount, texts, pushText, enabled }: OwnReminder) =>
  ({ kind, amount, texts: textsJson(texts), pushText, enabled }) satisfies FlatReminder;
