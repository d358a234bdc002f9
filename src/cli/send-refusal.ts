/** Refusals of messages to devices, as sentences. */

import { type ErrorCode, OperatorError } from '../base/operator-error.ts';
import { isRefused, type Refused } from '../core/outcome.ts';
import type { Provider } from '../core/port/provider.ts';

const BYTES_FULL =
  'its stored messages fill limits.kept_bytes_per_provider_max: raise it, or wait until old ones are pruned';
const LEDGER_FULL =
  'its ledgers fill limits.ledger_rows_per_provider_max: raise it, or wait until old ones are pruned';
const TOO_MANY =
  'it sent limits.sends_per_minute_max messages within a minute: try again in a minute';

/** The sentence of each refusal, after "provider CODE: ". */
const SENTENCES = {
  subscription_required: 'its subscription has ended or is suspended',
  pro_required: 'its plan does not include commands: it needs pro or enterprise',
  enterprise_required: 'its plan does not include notifications: it needs enterprise',
  device_not_found:
    'a HWID is unknown or not linked to it, so nothing was sent: see gatepost device list',
  no_devices_found: 'no linked device has such an operating system',
  general_too_soon:
    'it sent a notification to all less than five minutes ago: wait, or name up to five HWIDs',
  message_too_large: 'the message is over 4096 bytes as JSON in base64',
  unbound_not_allowed: 'a HWID is not linked to it: only import-data may be sent there',
  unbound_quota_exceeded:
    'too many HWIDs that are not linked to it got a command within 24 hours (limits.unbound_commands_per_day_max)',
  import_data_empty: 'the data to import is empty',
  settings_empty: 'the settings are empty',
  target_hwid_required: 'a HWID is required',
  target_os_required: 'an operating system is required',
  notification_too_many_sends: TOO_MANY,
  command_too_many_sends: TOO_MANY,
  notification_kept_bytes_full: BYTES_FULL,
  command_kept_bytes_full: BYTES_FULL,
  notification_ledger_full: LEDGER_FULL,
  command_ledger_full: LEDGER_FULL,
} as const;

type SendRefusal = keyof typeof SENTENCES;
type Unsaved = 'notification_save_error' | 'command_save_error';

const LATER: readonly SendRefusal[] = [
  'general_too_soon',
  'notification_too_many_sends',
  'command_too_many_sends',
];

/** Makes the error of a refused send. */
function sendRefusal(
  says: SendRefusal,
  { code }: Pick<Provider, 'code'>,
  sentence: string = SENTENCES[says],
): OperatorError {
  const errorCode: ErrorCode = LATER.includes(says) ? 'send_too_soon' : 'send_refused';
  return new OperatorError(`provider ${code}: ${sentence}`, errorCode);
}

/** Returns the value of the core. Throws {@link OperatorError} for a refusal. */
export function sent<T, K extends SendRefusal | Unsaved | 'malformed'>(
  outcome: T | Refused<K>,
  provider: Pick<Provider, 'code'>,
): Exclude<T, Refused<string>> {
  if (!isRefused(outcome)) return outcome as Exclude<T, Refused<string>>;
  const { says, detail, fault } = outcome as Refused<K>;
  if (fault !== undefined) throw fault;
  if (says === 'malformed') throw new OperatorError(`the message: ${detail}`, 'send_refused');
  throw sendRefusal(says as SendRefusal, provider, detail);
}
