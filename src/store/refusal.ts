import { WriteFailed } from '../core/port/store.ts';

/** Thrown within a write to roll it back; the write returns `value` nevertheless. */
export class Refusal extends Error {
  constructor(readonly value: unknown) {
    super('refused');
  }
}

/** The connection was lost during a COMMIT: the write was saved, or it was not. */
export class OutcomeUnknown extends WriteFailed {}
