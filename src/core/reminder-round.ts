/** The message of a reminder on a UTC day. */

import { DAY_MS, utcDay } from './calendar.ts';
import type { StoredNotification } from './message/filling.ts';
import type { Reminder } from './port/reminder.ts';
import { BOUND_MS } from './reminder-rules.ts';
import { usedNow } from './unconfirmed.ts';

/** The language of the text for readers of others, if there is one. */
const USUAL = 'en';

/** Days until a message that nobody fetched expires: then its device may get the next one. */
const EXPIRE_DAYS = BOUND_MS / DAY_MS;

/** What a round stores. */
interface NewRound {
  reminderDay: number;
  /** JSON. */
  payload: string;
  expiresAtMs: number;
}

/** Returns the round of a reminder; null: its texts wait for a person. */
export function roundOf(
  { kind, amount, pushText, texts: now, formerTexts: former, textsAtMs: atMs }: Reminder,
  confirmedAtMs: number,
  nowMs: number,
): NewRound | null {
  const texts = usedNow({ now, former, atMs }, confirmedAtMs, nowMs);
  const languages = Object.keys(texts ?? {});
  const usual = languages.includes(USUAL) ? USUAL : languages[0];
  if (texts === null || usual === undefined) return null;
  const locales = Object.entries(texts).map(([language, body]) => [language, { body }] as const);
  const payload: StoredNotification = {
    body: texts[usual] ?? '',
    locales: Object.fromEntries(locales),
    type_push: 'optional',
    expire_days: EXPIRE_DAYS,
    fill: 1,
    reminder: { kind, amount, pushText },
  };
  const reminderDay = utcDay(nowMs);
  // The last device of the day has it as long.
  const expiresAtMs = (reminderDay + 1) * DAY_MS + BOUND_MS;
  return { reminderDay, payload: JSON.stringify(payload), expiresAtMs };
}
