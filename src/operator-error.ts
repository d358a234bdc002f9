/** The codes of errors, for scripts: each with its meaning, as docs/operating.md has it. */
export const ERROR_CODES = {
  usage: 'The command line cannot be meant; exit code 2.',
  config_invalid: 'A setting or the configuration file has mistakes.',
  database_missing: 'The data directory or its database does not exist.',
  database_older: 'The database waits for `gatepost serve` of this version to migrate it.',
  database_newer: 'The database or the backup is of a newer Gatepost.',
  database_moved: 'The data moved elsewhere, or have not all arrived; the message says what to do.',
  database_damaged: 'The database is damaged.',
  locked: 'Another process holds the database: a restore, or what a restore must wait for.',
  disk_full: 'No space is left on a disk.',
  not_saved: 'The database could not save the change.',
  interrupted: 'A signal ended the command; run again, it goes on or begins anew.',
  provider_not_found: 'No provider has this code.',
  provider_code_exists: 'The code of a new provider is taken.',
  other_key: 'The provider that moves in is here already, with another key.',
  link_not_found: 'No link has this code or subscription key.',
  link_limit_below_count: 'More HWIDs are on the link than the new limit.',
  subscription_key_exists: 'Another link of the provider has the subscription key.',
  device_not_found: 'No device has this HWID.',
  distribution_not_found: 'No distribution has this id.',
  distribution_ended: 'The distribution has ended and cannot be blocked.',
  webhook_not_found: 'No webhook has this id.',
  webhook_limit_reached: 'The provider, or the operator, has as many webhooks as it may have.',
  file_exists: 'The file to be made exists.',
  backup_damaged: 'The backup is damaged, or the file is none.',
  source_unusable: 'The server that a provider moves in from refuses or fails.',
  audit_not_verified: 'The audit log is not what was written.',
  test_failed: 'The call that was tried out did not get through; the message says why.',
  fault: 'A mistake of Gatepost itself; the message is its stack.',
  failed: 'Anything else: the message says what.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A mistake that the operator can mend: one plain sentence, without a stack, exit code 1. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';

  constructor(
    message: string,
    readonly code: ErrorCode = 'failed',
  ) {
    super(message);
  }
}

/** A command line that makes no sense: exit code 2, with a hint where the help is. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super(message, 'usage');
  }
}

/** The message of a fault, for a sentence to the operator. */
export function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
