/**
 * The three kinds of outcome: functions return a value, return a refusal as a {@link Refused}, or
 * throw a fault.
 */

import type { Maybe } from './port/maybe.ts';
import { TooManyDeeds, WriteFailed } from './port/store.ts';

/** A reason for the operator's log; the caller gets only `says`. */
export type HiddenReason = 'link_domain_not_bound' | 'key_ambiguous';

/** A reason that is more precise than `says`. */
export type Reason = HiddenReason | 'copied_hwid' | 'not_named' | 'barred';

interface Particulars {
  detail?: string | undefined;
  reason?: Reason | undefined;
  fault?: unknown;
  recordId?: number | undefined;
}

/** A refusal: nothing was changed. */
export class Refused<const K extends string> {
  /** Makes the type nominal. */
  declare protected readonly isOurs: true;
  /** One sentence in ASCII for the caller, without credentials. */
  readonly detail: string | undefined;
  readonly reason: Reason | undefined;
  /** The fault that caused the refusal, for the log. */
  readonly fault: unknown;
  /** The id of the caller's own record that exists already. */
  readonly recordId: number | undefined;

  constructor(
    /** The key of the caller's answer. */
    readonly says: K,
    { detail, reason, fault, recordId }: Particulars = {},
  ) {
    this.detail = detail;
    this.reason = reason;
    this.fault = fault;
    this.recordId = recordId;
  }
}

/** A refusal of a value: `detail` names the field and the rule, never the value. */
export type Misfit<K extends string = 'malformed'> = Refused<K> & { readonly detail: string };

/** Makes the refusal of a value. `detail` must be ASCII without line breaks. */
export function malformed(detail: string): Misfit {
  return new Refused('malformed', { detail }) as Misfit;
}

/** Returns true for a refusal. */
export function isRefused<T>(outcome: T): outcome is Extract<T, Refused<string>> {
  return outcome instanceof Refused;
}

/** Turns the store's answers into outcomes: a text other than `ok` becomes a refusal. */
export function fromStore<T>(
  answer: T,
): Exclude<T, string> | Extract<T, 'ok'> | Refused<Exclude<Extract<T, string>, 'ok'>> {
  return typeof answer === 'string' && answer !== 'ok'
    ? new Refused(answer as Exclude<Extract<T, string>, 'ok'>)
    : (answer as Exclude<T, string> | Extract<T, 'ok'>);
}

/**
 * Waits for a step of the store. Returns the refusal `says` if it could not be saved, or if the
 * provider changed too much in a short time.
 */
export async function saving<T, K extends string>(
  says: K,
  step: Promise<T>,
): Promise<T | Refused<K>> {
  try {
    return await step;
  } catch (fault) {
    if (fault instanceof WriteFailed) return new Refused(says, { fault });
    if (fault instanceof TooManyDeeds) return new Refused(says, { detail: fault.message });
    throw fault;
  }
}

/**
 * Waits for a step of the store. Null: it could not be saved, and is `optional`: what a known
 * device gets does not depend on it.
 */
export function orUnsaved<T>(optional: boolean, step: Maybe<T>): Maybe<T | null> {
  if (!optional || !(step instanceof Promise)) return step;
  return step.catch((fault) => {
    if (fault instanceof WriteFailed) return null;
    throw fault;
  });
}

/** Returns the message of the innermost cause, such as "database or disk is full". */
export function innermostReason(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return fault.cause instanceof Error ? innermostReason(fault.cause) : fault.message;
}
