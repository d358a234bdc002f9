/**
 * Three kinds of outcome are never mixed: a parameter that does not fit is answered before the core
 * is asked, a refusal is a literal that the core returns, a fault is thrown. This file is about the
 * one fault that the contract has its own texts for: a change that could not be saved.
 */

import { WriteFailed } from './port/store.ts';

/** The refusal `says`, given because of `fault`. Nothing of the change was kept. */
export class NotSaved<K extends string> {
  constructor(
    readonly says: K,
    readonly fault: WriteFailed,
  ) {}
}

/** Waits for a storage step; if it could not be saved, that is the refusal `says`. */
export async function saving<T, K extends string>(
  says: K,
  step: Promise<T>,
): Promise<T | NotSaved<K>> {
  try {
    return await step;
  } catch (fault) {
    if (fault instanceof WriteFailed) return new NotSaved(says, fault);
    throw fault;
  }
}

/** The storage's own sentence, such as "database or disk is full": the innermost cause. */
export function innermostReason(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return fault.cause instanceof Error ? innermostReason(fault.cause) : fault.message;
}
