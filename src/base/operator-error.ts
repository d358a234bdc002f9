/** The codes of errors, for scripts, with their meanings. */

import { wordsOfErrno } from './errno.ts';

export const ERROR_CODES = {
  usage: 'The command line is invalid; exit code 2.',
  config_invalid: 'A setting or the configuration file is invalid.',
  database_missing: 'The data directory or its database does not exist.',
  database_older: 'The database is older; `gatepost serve` of this version migrates it.',
  database_newer: 'The database or the backup is of a newer Gatepost.',
  database_moved:
    'The data moved elsewhere, or its move is incomplete; the message says what to do.',
  database_damaged: 'The database is damaged.',
  locked:
    'Another process has locked the database; the message names it as far as known. Also a restore, or what it waits for.',
  disk_full: 'No space is left on a disk.',
  disk_read_only: 'A disk is mounted read-only, or is so for the process alone.',
  not_saved: 'The database could not save the change.',
  interrupted: 'A signal ended the command; running it again continues or restarts it.',
  provider_not_found: 'No provider has this code, or there is none.',
  provider_required: 'There are several providers; the message lists their codes.',
  provider_code_exists: 'The code of a new provider is taken.',
  other_key: 'The provider to import exists with another key.',
  link_not_found: 'No link has this code, id, subscription key or part of a note.',
  link_ambiguous: 'Several links fit the name; the message lists them.',
  link_exists: 'Another link has the code or the subscription key, or a removed link had it.',
  links_max_reached: 'The provider has reached its number of links.',
  link_limit_below_count: 'The link has more HWIDs than the new limit.',
  hwids_no_room: 'The link has no room for all HWIDs that are named.',
  hwids_too_many: 'The provider has named as many HWIDs that have not come as it may.',
  subscription_key_exists: 'Another link of the provider has the subscription key.',
  domain_not_found: 'The provider has no such domain.',
  domain_limit_reached: 'The provider has reached its limit of domains.',
  device_not_found: 'No device has this HWID.',
  distribution_not_found: 'No distribution has this id.',
  distribution_ended: 'The distribution has ended and cannot be blocked.',
  cancel_refused: 'The distribution cannot be cancelled, or no longer.',
  send_refused: 'The message is refused: by plan, subscription, recipients, content or a limit.',
  send_too_soon: 'Too many messages were sent: try again later.',
  follow_not_found: 'The panel of this host is not followed.',
  follow_not_held: 'No pass over the panel of this host waits for the operator.',
  cut_not_found: 'There is no cut-off with this id, or it does not wait.',
  cut_running: 'An attempt of the cut-off is being made.',
  cut_impossible: 'No panel can change the credentials of the link.',
  cuts_not_stopped: 'The upstream with this host makes cut-offs, or does not exist.',
  bot_not_found: 'The provider has no bot with this id.',
  bot_limit_reached: 'The provider has reached its limit of bots.',
  reminder_not_found: 'The provider has no reminder with this id.',
  reminder_exists: 'The provider has a reminder of this kind and amount.',
  reminder_limit_reached: 'The provider has reached its limit of reminders.',
  webhook_not_found: 'No webhook has this id.',
  webhook_limit_reached: 'The provider, or the operator, has reached its limit of webhooks.',
  account_not_found: 'No account of the console has this name.',
  file_exists: 'The file to create exists.',
  backup_damaged: 'The backup is damaged, or the file is no backup.',
  warnings_found: '`doctor --strict` found warnings and no problem; exit code 3.',
  users_not_served:
    'Users of the panel have keys or names that no link can have; all others came; exit code 3.',
  many_links: 'The import would end over a tenth of the links; `--yes` agrees to it.',
  source_unusable: 'The server to import from refuses or fails.',
  panel_refused: 'The panel refuses the token, or the account.',
  audit_not_verified: 'The audit log was changed or is damaged.',
  release_refused:
    'The release page is not signed by `update.key`, or has an older version than this.',
  test_failed: 'The test message or event was not accepted; the message says why.',
  code_not_found: 'Nothing has the code to explain.',
  fault: 'An internal fault of Gatepost; the message names what and where.',
  failed: 'Anything else: the message says what.',
} as const;

/** The exit codes of all commands. */
export const EXIT_CODES = {
  0: 'The command did its work.',
  1: 'It failed, or `gatepost doctor` found a problem.',
  2: 'The command line is invalid; nothing was done.',
  3: 'An import left out users that no link can serve, or `gatepost doctor --strict` found warnings.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error that the operator can fix: a sentence without a stack, exit code 1. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';

  constructor(
    message: string,
    readonly code: ErrorCode = 'failed',
  ) {
    super(message);
  }
}

export const isPanelRefusal = (fault: unknown): boolean =>
  fault instanceof OperatorError && fault.code === 'panel_refused';

/** Returns the error that a command with `--json` printed, or its words as they are. */
export function errorIn(complaint: string): OperatorError {
  const words = complaint.trim();
  try {
    const { code, message } = JSON.parse(words.split('\n').at(-1) ?? '').error;
    return new OperatorError(String(message), code);
  } catch {
    return new OperatorError(words.replace(/^gatepost: /, ''));
  }
}

/** An invalid command line: exit code 2, with a hint to the help. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super(message, 'usage');
  }
}

/** Returns the sentence for a database whose lock another process holds. */
export const busyText = (problem: string) => `database is busy: ${problem}; try again in a moment`;

/** Returns the message of a fault; a code that stands alone in it gets words. */
export function messageOf(fault: unknown): string {
  return wordsOfErrno(fault instanceof Error ? fault.message : String(fault));
}
