/** Rounds: the messages of reminders, one a UTC day. */

import { actAt } from './audit/entry.ts';
import { DAY_MS, utcDay } from './calendar.ts';
import type { Core } from './core.ts';
import type { NotificationPayload } from './message/notification.ts';
import { type Refused, saving } from './outcome.ts';
import type { Provider } from './port/provider.ts';
import type { Reminder } from './port/reminder.ts';
import type { NewRound } from './port/reminding.ts';
import { reminderPayload } from './reminder.ts';
import { usedNow } from './unconfirmed.ts';

/**
 * Returns the texts by language with that of the main one, which is the body too: else its readers
 * would get the text of their second language.
 */
function withMain(
  { body, locales = {} }: NotificationPayload,
  { formerTexts: former, texts: now, textsAtMs: atMs }: Reminder,
  { confirmedAtMs }: Provider,
  nowMs: number,
): NonNullable<NotificationPayload['locales']> {
  const texts = usedNow({ now, former, atMs }, confirmedAtMs, nowMs) ?? {};
  const main = Object.keys(texts).find((tag) => locales[tag] === undefined);
  return main === undefined ? locales : { [main]: { body }, ...locales };
}

/** Returns the round of a reminder; null: nothing of it may be sent now. */
export function roundOf(reminder: Reminder, owner: Provider, nowMs: number): NewRound | null {
  const notification = reminderPayload(reminder, owner, nowMs);
  if (typeof notification === 'string') return null;
  const { amount, kind, pushText } = reminder;
  const locales = withMain(notification, reminder, owner, nowMs);
  const payload = JSON.stringify({
    ...notification,
    locales,
    reminder: { kind, amount, pushText },
  });
  const reminderDay = utcDay(nowMs);
  // The last device of the day has it as long as the first.
  const expiresAtMs = (reminderDay + 1 + notification.expire_days) * DAY_MS;
  return { reminderId: reminder.id, reminderDay, payload, expiresAtMs };
}

/**
 * Lets the reminders of a provider go on that stopped because many links moved at once. Returns
 * false if they had not.
 */
export const resumeReminders = (
  core: Core,
  { id }: Pick<Provider, 'id'>,
  nowMs: number,
): Promise<boolean | Refused<'reminder_save_error'>> =>
  saving('reminder_save_error', core.store.resumeReminders(id, actAt(core, nowMs)));
