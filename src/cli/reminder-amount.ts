/** Amounts of reminders as people write them: `3d`, `12h`, `80%`. */

import { InvalidArgumentError } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import type { Reminder, ReminderKind } from '../core/port/reminder.ts';
import { AMOUNTS } from '../core/reminder-fields.ts';

/** The units of each kind, with how many of its own each is. */
const UNITS: Readonly<Record<ReminderKind, Readonly<Record<string, number>>>> = {
  before_end: { h: 1, d: 24 },
  after_end: { d: 1 },
  traffic: { '%': 1 },
  inactive: { d: 1 },
};

const FORM = /^(\d{1,3})([hd%]?)$/;

/** Checks the form of an amount, whose kind is not known yet. */
export function amountValue(given: string): string {
  if (FORM.test(given)) return given;
  throw new InvalidArgumentError('it is a number with its unit, as 3d, 12h or 80%');
}

/** Reads an amount of a kind: `3d` before the end are 72. One of two units is never guessed. */
export function amountIn(kind: ReminderKind, given: string): number {
  const [, digits = '', unit = ''] = FORM.exec(given) ?? [];
  const units = UNITS[kind];
  const [only, ...others] = Object.keys(units);
  const each = units[unit === '' && others.length === 0 ? (only ?? '') : unit];
  const amount = Number(digits) * (each ?? Number.NaN);
  const { minimum, maximum } = AMOUNTS[kind];
  if (amount >= minimum && amount <= maximum) return amount;
  const [least, most] = [minimum, maximum].map((one) => amountText({ kind, amount: one }));
  throw new UsageError(`the amount of ${kind} is ${least} to ${most}`);
}

/** Returns an amount in its largest whole unit. */
export function amountText({ kind, amount }: Pick<Reminder, 'kind' | 'amount'>): string {
  const units = Object.entries(UNITS[kind]).reverse();
  const [unit = '', each = 1] = units.find(([, one]) => amount % one === 0) ?? [];
  return `${amount / each}${unit}`;
}
