/** Thrown within a write to roll it back; the write returns `value` all the same. */
export class Refusal extends Error {
  constructor(readonly value: unknown) {
    super('refused');
  }
}
