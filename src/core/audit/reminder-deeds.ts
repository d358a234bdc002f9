/** Deeds about reminders: see ./deeds.ts. The log has no text of them. */

import { isoTime } from '../calendar.ts';
import type { OwnReminder, Reminder } from '../port/reminder.ts';
import { type FlatReminder, flatReminder, REMINDER_AUDIT } from '../reminder-fields.ts';
import { changesIn, type Deed, factsIn } from './entry.ts';

type Named = Pick<Reminder, 'id'> & OwnReminder;

export const addReminder = ({ id, ...own }: Named): Deed => ({
  action: 'reminder.add',
  object: { id, ...factsIn<FlatReminder>(REMINDER_AUDIT, flatReminder(own)) },
});

export function setReminder(before: Named, after: Named): Deed | null {
  const [was, is] = [flatReminder(before), flatReminder(after)];
  const change = changesIn<FlatReminder>(REMINDER_AUDIT, was, is);
  return change && { action: 'reminder.set', object: { id: after.id, kind: after.kind }, change };
}

/** `untilMs`: what keys changed until then was confirmed. */
export const confirmChanges = (untilMs: number): Deed => ({
  action: 'reminder.confirm',
  object: { until: isoTime(untilMs) },
});

export const removeReminder = ({ id, kind, amount }: Named): Deed => ({
  action: 'reminder.remove',
  object: { id, kind, amount },
});
