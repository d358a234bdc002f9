import { WriteFailed } from '../core/port/store.ts';

/** Thrown within a write to roll it back; the write returns `value` all the same. */
export class Refusal extends Error {
  constructor(readonly value: unknown) {
    super('refused');
  }
}

/** The connection went while a COMMIT was under way: it was saved, or it was not. */
export class OutcomeUnknown extends WriteFailed {}
