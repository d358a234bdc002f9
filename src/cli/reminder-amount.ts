/** Amounts of reminders as people write them: `3d`, `12h`, `80%`. */

import { InvalidArgumentError } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import type { Reminder, ReminderKind } from '../core/port/reminder.ts';

/** The units of each kind, with how many of its own each is. */
const UNITS: Readonly<Record<ReminderKind, Readonly<Record<string, number>>>> = {
  before_end: { h: 1, d: 24 },
  after_end: { d: 1 },
  traffic: { '%': 1 },
  inactive: { d: 1 },
};

/** Checks the form of an amount, whose kind is not known yet. */
export function amountValue(given: string): string {
  if (/^\d{1,3}[hd%]?$/.test(given)) return given;
  throw new InvalidArgumentError('It is a number, as 3d, 12h or 80%.');
}

/** Reads an amount of a kind: `3d` before the end are 72. */
export function amountIn(kind: ReminderKind, given: string): number {
  const [, digits, unit = ''] = /^(\d{1,3})([hd%]?)$/.exec(given) ?? [];
  const units = UNITS[kind];
  const each = unit === '' ? 1 : units[unit];
  if (digits === undefined || each === undefined) {
    const forms = Object.keys(units).map((one) => `3${one}`);
    throw new UsageError(`the amount of ${kind} is a number, as ${forms.join(' or ')}`);
  }
  return Number(digits) * each;
}

/** Returns an amount in its largest whole unit. */
export function amountText({ kind, amount }: Pick<Reminder, 'kind' | 'amount'>): string {
  const units = Object.entries(UNITS[kind]).reverse();
  const [unit = '', each = 1] = units.find(([, one]) => amount % one === 0) ?? [];
  return `${amount / each}${unit}`;
}
