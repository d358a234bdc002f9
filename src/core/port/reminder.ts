/** Reminders that a provider's users get by themselves: records and their part of the port. */

import type { Act } from './audit.ts';
import type { Maybe } from './maybe.ts';

/** Reminders are sent before or after the end, at a share of the traffic, or after silence. */
export const REMINDER_KINDS = ['before_end', 'after_end', 'traffic', 'inactive'] as const;
export type ReminderKind = (typeof REMINDER_KINDS)[number];

/** The text of a push: one that says nothing, or that of the reminder. */
export const PUSH_TEXTS = ['neutral', 'full'] as const;

/** Filtered HTML by language, as `en` or `pt-br`. */
export type ReminderTexts = Readonly<Record<string, string>>;

/** The terms of a provider about reminders. */
export interface OwnQuiet {
  /** Between these times of the day, `HH:MM`, no reminder is sent; null: at any time. */
  quietFrom: string | null;
  quietTo: string | null;
  /** The zone of these times and of dates in messages, as `+03:00`; null: UTC+3. */
  timeZone: string | null;
}

/** The fields that can be set; core/reminder.ts has a row for each. */
export interface OwnReminder {
  kind: ReminderKind;
  /** Hours before the end, the day after it (the first is 1), per cent, or days of silence. */
  amount: number;
  texts: ReminderTexts;
  pushText: (typeof PUSH_TEXTS)[number];
  enabled: 0 | 1;
}

/** A value that a key may have changed: core/unconfirmed.ts says which one is used. */
export interface Unconfirmed<T> {
  now: T;
  /** The value before; null: there was none. */
  former: T | null;
  /** When a key changed it; 0: a person did. */
  atMs: number;
}

/** The addresses of a provider or link before a key changed them. */
export interface ChangedButtons {
  /** JSON of the addresses that were used before; null: none. */
  formerButtons: string | null;
  /** When a key changed them; 0: a person did. */
  buttonsAtMs: number;
}

export interface Reminder extends OwnReminder {
  id: number;
  createdAtMs: number;
  /** The texts before `textsAtMs`; null: none. */
  formerTexts: ReminderTexts | null;
  /** When a key changed the texts; 0: a person did. */
  textsAtMs: number;
}

export interface NewReminder extends OwnReminder {
  providerId: number;
  createdAtMs: number;
  /** The most reminders of the provider. */
  countMax: number;
}

/** A reminder that was saved. */
interface SavedReminder {
  reminder: Reminder;
  /** True: the provider's `subscriptionFigures` were off, and are on now. */
  hasBegunFigures: boolean;
}

export interface ReminderStore {
  /**
   * Adds a reminder; an enabled one switches on `subscriptionFigures` of the provider. Returns
   * `reminder_exists` if the provider has one of the kind and amount, `reminder_limit_reached` at
   * `countMax`.
   */
  addReminder(
    draft: NewReminder,
    act: Act,
  ): Promise<SavedReminder | 'reminder_exists' | 'reminder_limit_reached'>;
  /**
   * Changes a reminder; an enabled one switches on `subscriptionFigures` of the provider. Returns
   * `reminder_not_found` if the provider has none with the id, and `reminder_exists` as above.
   */
  setReminder(
    providerId: number,
    id: number,
    change: Partial<Omit<OwnReminder, 'kind'>>,
    act: Act,
  ): Promise<SavedReminder | 'reminder_exists' | 'reminder_not_found'>;
  /** Removes a reminder. Returns false if the provider has none with the id. */
  removeReminder(providerId: number, id: number, act: Act): Promise<boolean>;
  /**
   * Confirms what keys changed of texts and addresses until a time: it is used from now on. Returns
   * false if that was confirmed before.
   */
  confirmChanges(providerId: number, untilMs: number, act: Act): Promise<boolean>;
  /** Finds a reminder of a provider; null: it has none with the id. */
  findReminder(providerId: number, id: number): Maybe<Reminder | null>;
  /** Lists the reminders of a provider, oldest first. */
  listReminders(providerId: number): Maybe<Reminder[]>;
}
