/** A mistake that the operator can mend: one plain sentence, without a stack, exit code 1. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** A command line that makes no sense: exit code 2, with a hint where the help is. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}

/** The message of a fault, for a sentence to the operator. */
export function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
