/**
 * Three kinds of outcome are never mixed: a value that was asked for is returned as it is, a
 * refusal is a {@link Refused} that is returned beside it, a fault is thrown.
 */

import { WriteFailed } from './port/store.ts';

/** A reason for the operator alone: the caller hears no more than the refusal `says`. */
export type Reason = 'link_domain_not_bound' | 'key_ambiguous';

interface Particulars {
  detail?: string | undefined;
  reason?: Reason | undefined;
  fault?: unknown;
}

/** A refusal: nothing was done. */
export class Refused<const K extends string> {
  /** Keeps the compiler from taking another object that says something for a refusal. */
  declare protected readonly isOurs: true;
  /** One sentence in ASCII that says more than `says`; never a credential. */
  readonly detail: string | undefined;
  readonly reason: Reason | undefined;
  /** The fault that is behind the refusal, for the log. */
  readonly fault: unknown;

  constructor(
    /** The key of the answer that the caller gets. */
    readonly says: K,
    { detail, reason, fault }: Particulars = {},
  ) {
    this.detail = detail;
    this.reason = reason;
    this.fault = fault;
  }
}

/** A refusal of a value from outside: `detail` names the field and the rule, never the value. */
export type Misfit<K extends string = 'malformed'> = Refused<K> & { readonly detail: string };

/** Refuses a value from outside. `detail` must be ASCII without line breaks. */
export function malformed(detail: string): Misfit {
  return new Refused('malformed', { detail }) as Misfit;
}

/** Tells a refusal from what was asked for. */
export function isRefused<T>(outcome: T): outcome is Extract<T, Refused<string>> {
  return outcome instanceof Refused;
}

/** The store's answer as the core gives it: a literal other than `ok` becomes a refusal. */
export function fromStore<T>(
  answer: T,
): Exclude<T, string> | Extract<T, 'ok'> | Refused<Exclude<Extract<T, string>, 'ok'>> {
  return typeof answer === 'string' && answer !== 'ok'
    ? new Refused(answer as Exclude<Extract<T, string>, 'ok'>)
    : (answer as Exclude<T, string> | Extract<T, 'ok'>);
}

/** Waits for a storage step; if it could not be saved, that is the refusal `says`. */
export async function saving<T, K extends string>(
  says: K,
  step: Promise<T>,
): Promise<T | Refused<K>> {
  try {
    return await step;
  } catch (fault) {
    if (fault instanceof WriteFailed) return new Refused(says, { fault });
    throw fault;
  }
}

/** The storage's own sentence, such as "database or disk is full": the innermost cause. */
export function innermostReason(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return fault.cause instanceof Error ? innermostReason(fault.cause) : fault.message;
}
