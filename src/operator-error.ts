/** Something the operator can mend: one plain sentence, printed without a stack, exit code 1. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
