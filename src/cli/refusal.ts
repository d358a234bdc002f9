/** Refusals of the core as an operator reads them, and every failure as it is printed. */

import { CommanderError } from 'commander';
import { innermostReason, isRefused, type Refused } from '../core/outcome.ts';
import { WriteFailed } from '../core/port/store.ts';
import { type ErrorCode, OperatorError } from '../operator-error.ts';

/** The sentence of each refusal, given whose code, HWID or id was refused. */
const SENTENCES = {
  provider_not_found: (code) => `there is no provider '${code}': see 'gatepost provider list'`,
  provider_code_exists: (code) => `provider code '${code}' is taken`,
  other_key: (code) =>
    `provider ${code} is here already, with another key; if it is the same provider, --new-key goes on and leaves the key here as it is`,
  link_not_found: (code) => `there is no link '${code}': see 'gatepost link list'`,
  link_limit_below_count: (code) =>
    `more HWIDs are on link '${code}' than that: see 'gatepost link show ${code}'`,
  subscription_key_exists: (code) =>
    `another link of the provider of '${code}' has this subscription key`,
  device_not_found: (hwid) => `there is no device '${hwid}': see 'gatepost device list'`,
  distribution_not_found: (id) =>
    `there is no distribution ${id}: see 'gatepost distribution list'`,
  webhook_not_found: (id) => `there is no webhook ${id}: see 'gatepost webhook list'`,
  webhook_limit_reached: (owner) =>
    `${owner} has as many webhooks as the setting webhook.per_owner_max allows`,
} as const satisfies Partial<Record<ErrorCode, (subject: string | number) => string>>;

type Refusal = keyof typeof SENTENCES;

/** The error of a refusal. */
export function refusal(says: Refusal, subject: string | number): OperatorError {
  return new OperatorError(SENTENCES[says](subject), says);
}

/** The value that the core gave. Throws the sentence of a refusal as {@link OperatorError}. */
export function granted<T, K extends Refusal>(
  outcome: T | Refused<K>,
  subject: string | number,
): T {
  if (isRefused(outcome)) throw refusal((outcome as Refused<K>).says, subject);
  return outcome as T;
}

interface Failure {
  code: ErrorCode;
  message: string;
}

/** The code and the sentence of all that commands throw: a mistake of ours has its stack. */
export function failureOf(error: unknown): Failure {
  if (error instanceof OperatorError) return error;
  if (error instanceof CommanderError) return { code: 'usage', message: plainMistake(error) };
  if (error instanceof WriteFailed) {
    return { code: 'not_saved', message: `it could not be saved: ${innermostReason(error)}` };
  }
  const stack = error instanceof Error ? error.stack : undefined;
  return { code: 'fault', message: stack ?? String(error) };
}

/** The commander's words for a value that is none of the choices. */
const NO_CHOICE =
  /^error: (?:option '([^' ]+)|command-argument .* '([\w-]+)'\.).*Allowed choices are (.*)\.$/s;

/** The commander's sentence, without what our own sentences already say. */
function plainMistake({ message }: CommanderError): string {
  return message
    .replace(NO_CHOICE, (_, option = '', argument = '', choices) => {
      return `${option}${argument} is one of ${choices}`;
    })
    .replace(/^error: /, '')
    .replace(/^(option|command-argument) .* is invalid( for argument '[^']*')?\. /s, '');
}

const HELP_HINT = "(see 'gatepost help', or --help after a command)";

/** A failure for stderr: one line of JSON, or text with a hint at a mistake of usage. */
export function failureText({ code, message }: Failure, isJson: boolean): string {
  if (isJson) return `${JSON.stringify({ error: { code, message } })}\n`;
  return `gatepost: ${message}\n${code === 'usage' ? `${HELP_HINT}\n` : ''}`;
}
