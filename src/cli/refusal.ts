/** Refusals of the core as sentences, and the output of failures. */

import { CommanderError } from 'commander';
import { busyText, type ErrorCode, OperatorError, UsageError } from '../base/operator-error.ts';
import { BOTS_MAX } from '../core/bot.ts';
import { EXISTS } from '../core/link.ts';
import { innermostReason, isRefused, type Refused } from '../core/outcome.ts';
import { isAway, isBusy, WriteFailed } from '../core/port/store.ts';
import { REMINDERS_MAX } from '../core/reminder-fields.ts';
import { machineFault } from '../disk/fault.ts';

/** The sentence of each refusal, for the code, HWID or id that was refused. */
const SENTENCES = {
  provider_not_found: (code) => `there is no provider '${code}': see 'gatepost provider list'`,
  provider_code_exists: (code) => `provider code '${code}' is taken`,
  other_key: (code) =>
    `provider ${code} exists with another key; if it is the same provider, --new-key continues and keeps the key here`,
  link_not_found: (code) => `there is no link '${code}': see 'gatepost link list'`,
  link_limit_below_count: (code) =>
    `link '${code}' has more HWIDs than that: see 'gatepost link show ${code}'`,
  hwids_no_room: (code) =>
    `link '${code}' has no room for all of these HWIDs: none was named; see 'gatepost link show ${code}'`,
  hwids_too_many: (code) =>
    `the provider of '${code}' has named as many HWIDs that have not come as it may`,
  subscription_key_exists: (code) =>
    `another link of the provider of '${code}' has this subscription key`,
  domain_not_found: (name) => `there is no domain '${name}': see 'gatepost domain list'`,
  domain_limit_reached: (code) =>
    `provider ${code} has reached its limit of domains (the setting limits.domains_per_provider_max)`,
  device_not_found: (hwid) => `there is no device '${hwid}': see 'gatepost device list'`,
  distribution_not_found: (id) =>
    `there is no distribution ${id}: see 'gatepost distribution list'`,
  distribution_ended: (id, state) =>
    `distribution ${id} has ended (${state}) and cannot be blocked`,
  account_not_found: (name) => `there is no account '${name}': see 'gatepost account list'`,
  follow_not_found: (host) => `the panel of '${host}' is not followed: see 'gatepost follow list'`,
  follow_not_held: (host) => `no pass over the panel of '${host}' waits: nothing to accept`,
  cut_not_found: (id) => `no cut-off ${id} waits: see 'gatepost cuts list'`,
  cut_running: (id) => `cut-off ${id} is being made just now: see 'gatepost cuts list'`,
  cuts_not_stopped: (host) => `no cut-offs have stopped at '${host}': see 'gatepost cuts list'`,
  bot_not_found: (id) => `there is no bot ${id}: see 'gatepost bot list'`,
  bot_limit_reached: (code) => `provider ${code} has reached the limit of ${BOTS_MAX} bots`,
  reminder_not_found: (id) => `there is no reminder ${id}: see 'gatepost reminder list'`,
  reminder_exists: (code) => `provider ${code} has a reminder of this kind and amount already`,
  reminder_limit_reached: (code) =>
    `provider ${code} has reached the limit of ${REMINDERS_MAX} reminders`,
  webhook_not_found: (id) => `there is no webhook ${id}: see 'gatepost webhook list'`,
  webhook_limit_reached: (owner) =>
    `${owner} has reached the limit of webhooks (the setting webhook.per_owner_max)`,
} as const satisfies Partial<
  Record<ErrorCode, (subject: string | number, detail?: string) => string>
>;

type Refusal = keyof typeof SENTENCES;

/** Refusals of the core that have another name on the command line. */
const NAMES = {
  install_not_found: 'link_not_found',
  install_code_error: 'link_not_found',
  install_limit_below_count: 'link_limit_below_count',
  notification_not_found: 'distribution_not_found',
  message_ended: 'distribution_ended',
} as const satisfies Readonly<Record<string, Refusal>>;

/** Makes the error of a refusal. */
export function refusal(says: Refusal, subject: string | number, detail?: string): OperatorError {
  const sentence: (subject: string | number, detail?: string) => string = SENTENCES[says];
  return new OperatorError(sentence(subject, detail), says);
}

/** Refusals because of a fault, which is thrown. */
type Unsaved = `${string}_save_error` | 'domain_activate_error' | 'domain_delete_error';

type Said = Refusal | keyof typeof NAMES | 'malformed' | Unsaved;

/** Returns the value of the core. Throws {@link OperatorError} for a refusal. */
export function granted<T, K extends Said>(
  outcome: T | Refused<K>,
  subject: string | number,
): Exclude<T, Refused<string>> {
  if (isRefused(outcome)) throw errorOf(outcome as Refused<Said>, subject);
  return outcome as Exclude<T, Refused<string>>;
}

/** Returns the error of a refusal, or its fault. */
export function errorOf({ says, detail, fault }: Refused<Said>, subject: string | number): unknown {
  if (fault !== undefined) return fault;
  if (says === 'malformed') return new UsageError(detail ?? says);
  if (detail === EXISTS.subscription_key_exists) return refusal('subscription_key_exists', subject);
  const name = says in NAMES ? NAMES[says as keyof typeof NAMES] : (says as Refusal);
  return refusal(name, subject, detail);
}

interface Failure {
  code: ErrorCode;
  message: string;
}

/**
 * Returns code and message of anything that commands throw: always one sentence. `dataDir` is the
 * data directory if it is known.
 */
export function failureOf(error: unknown, dataDir: string | null = null): Failure {
  if (error instanceof OperatorError) return error;
  if (error instanceof CommanderError) return { code: 'usage', message: plainMessage(error) };
  if (isBusy(error)) return { code: 'locked', message: busyText(innermostReason(error)) };
  if (error instanceof WriteFailed) {
    return {
      code: 'not_saved',
      message: `the change could not be saved: ${innermostReason(error)}`,
    };
  }
  if (isAway(error)) {
    return { code: 'failed', message: `the database does not answer: ${innermostReason(error)}` };
  }
  const folders = dataDir === null ? [] : [dataDir];
  return machineFault(error, ...folders) ?? { code: 'fault', message: internalFault(error) };
}

/** Functions of the stack that are named. */
const NAMED_MAX = 5;

/** Describes a fault of the program in one line, with the functions in which it happened. */
function internalFault(error: unknown): string {
  if (!(error instanceof Error)) return `internal fault: ${String(error)}`;
  const calls = [...(error.stack ?? '').matchAll(/^ +at (?:async )?([\w.#]+) \(/gm)];
  const names = calls.map(([, name]) => name).slice(0, NAMED_MAX);
  const where = names.length === 0 ? '' : ` (in ${names.join(' < ')})`;
  return `internal fault: ${error.name}: ${error.message}`.replaceAll('\n', ' ') + where;
}

/** Commander's message for a value outside of the choices. */
const NO_CHOICE =
  /^error: (?:option '([^' ]+)|command-argument .* '([\w-]+)'\.).*Allowed choices are (.*)\.$/s;

/** Commander's message for a value with a mistake that begins with "it is". */
const IT_IS =
  /^(?:option '([^' ]+)|command-argument ).* is invalid(?: for argument '([\w-]+)')?\. it is /is;

/** Returns commander's message, without the parts that the readers' messages repeat. */
function plainMessage({ message }: CommanderError): string {
  return message
    .replace(NO_CHOICE, (_, option = '', argument = '', choices) => {
      return `${option}${argument} is one of ${choices}`;
    })
    .replace(/^error: /, '')
    .replace(IT_IS, (_, option = '', argument = '') => `${option}${argument} is `)
    .replace(/^(option|command-argument) .* is invalid( for argument '[^']*')?\. /s, '');
}

const HELP_HINT = "(see 'gatepost help', or --help after a command)";

/** Returns a failure for stderr: a line of JSON, or text, with a hint for a mistake of usage. */
export function failureText({ code, message }: Failure, isJson: boolean): string {
  if (isJson) return `${JSON.stringify({ error: { code, message } })}\n`;
  return `gatepost: ${message}\n${code === 'usage' ? `${HELP_HINT}\n` : ''}`;
}
