/**
 * All answers of the API: the text of the specification, and a sentence for `x-error-detail` where
 * that text is vague. No other file has such texts.
 */

import { DOMAIN_HASH, HWID, INSTALL_LIMIT, INSTALL_STATUS } from '../core/formats.ts';

interface Message {
  /** 1 success, 2 already exists, 0 error. */
  rc: 0 | 1 | 2;
  msg: string;
  /**
   * The detail for `x-error-detail`: ASCII, without credentials and without data of another
   * provider.
   */
  detail?: string;
  /** Headers that name the reason to an app, by the HWID convention of panels. */
  headers?: Readonly<Record<string, string>>;
}

const refusal = (msg: string, detail: string): Message => ({ rc: 0, msg, detail });

const denial = (msg: string, detail: string, ...headers: string[]): Message => ({
  ...refusal(msg, detail),
  headers: Object.fromEntries(headers.map((name) => [name, 'true'])),
});

/** The detail of a name that is not of a link of the caller, in the body too. */
export const TAKEN = 'taken';

const TOO_MANY_SENDS = 'the provider has sent as many in a minute as it may: try again in a minute';
const KEPT_BYTES_FULL =
  'as many bytes of notifications and commands are kept for the provider as may be: wait until old ones are pruned, or ask the operator to raise limits.kept_bytes_per_provider_max';
const LEDGER_FULL =
  'as many recipients are kept in the ledger for the provider as may be: wait until old ones are pruned, or ask the operator to raise limits.ledger_rows_per_provider_max';

const TABLE = {
  ok: { rc: 1, msg: 'Ok' },
  unknown_error: refusal('Unknown error', 'internal fault'),
  no_such_endpoint: refusal('Unknown error', 'there is no such endpoint'),
  wrong_method: refusal('Unknown error', 'this endpoint does not take that method'),

  auth_error: refusal('Auth error', 'provider_code and auth_key are not those of a provider'),
  subscription_required: refusal(
    'This feature requires an active subscription',
    'the subscription has ended or is suspended',
  ),

  install_code_exists: { rc: 2, msg: 'Install code exists', detail: 'install_code is taken' },
  install_code_taken: refusal('Unknown error', TAKEN),
  install_code_limit_reached: refusal(
    'Install code limit reached',
    'the provider has as many limited links as it may have',
  ),
  install_limit_error: refusal(
    'Install limit error',
    `install_limit must be ${INSTALL_LIMIT.rule}`,
  ),
  cut_not_found: refusal('Cut-off not found', 'no cut-off with this id waits'),
  cut_running: refusal('Cut-off is being made', 'an attempt is being made: try again in a minute'),
  install_limit_below_count: refusal(
    'Install limit is less than the current install_count',
    'install_limit must not be lower than the number of HWIDs on the link',
  ),
  install_status_error: refusal('Install status error', `status must be ${INSTALL_STATUS.rule}`),
  install_save_error: refusal('Error save install', 'the change could not be saved'),
  hwids_no_room: refusal(
    'Install limit reached',
    'the limited link has no room for all HWIDs: none was added',
  ),
  hwids_too_many: refusal(
    'Error save install',
    'the provider has named as many HWIDs that have not come as it may',
  ),
  install_not_found: refusal('Install not found', 'id names no limited link of this provider'),
  install_code_error: refusal(
    'Install code error',
    'install_code and install_id name no limited link of this provider',
  ),
  invalid_parameters: refusal('Invalid parameters', 'a parameter is missing or malformed'),

  domain_hash_error: refusal('Domain hash error', `domain_hash must be ${DOMAIN_HASH.rule}`),
  domain_exists: { rc: 2, msg: 'Domain hash exists' },
  domain_activated: { rc: 2, msg: 'Domain hash exists. State set to active' },
  domain_save_error: refusal('Error save domain', 'the binding could not be saved'),
  domain_limit_reached: refusal(
    'Error save domain',
    'the provider has as many bindings as it may have',
  ),
  domain_activate_error: refusal('Error change state to active', 'the binding could not be saved'),
  domain_delete_error: refusal('Domain delete error', 'the binding could not be saved'),
  domain_not_found: refusal('Domain not found', 'id names no binding of this provider'),

  enterprise_required: refusal(
    'This feature requires Enterprise plan',
    "push notifications are not part of the provider's plan",
  ),
  pro_required: refusal(
    'This feature requires Pro or Enterprise plan',
    "remote commands are not part of the provider's plan",
  ),
  general_too_soon: refusal(
    'You can send general notifications only once every 5 minutes',
    'less than 5 minutes have passed since the last notification without hwid',
  ),
  message_too_large: refusal(
    'Message too large (max 4096 bytes)',
    'the message as JSON in base64 is over 4096 bytes',
  ),
  device_not_found: refusal(
    'Device with this HWID not found',
    'a HWID in hwid is not known, or not of this provider; nothing was sent',
  ),
  no_devices_found: refusal(
    'No devices found for selected OS and your provider IDs',
    'the provider has no device with an operating system in os',
  ),
  notification_save_error: refusal('Failed to save notification', 'it could not be saved'),
  notification_too_many_sends: refusal('Failed to save notification', TOO_MANY_SENDS),
  notification_kept_bytes_full: refusal('Failed to save notification', KEPT_BYTES_FULL),
  notification_ledger_full: refusal('Failed to save notification', LEDGER_FULL),
  target_hwid_required: refusal(
    'HWID is required for specific device',
    'hwid is required when specific_device_toggle is true',
  ),
  target_os_required: refusal(
    'Select at least one OS or enable specific device',
    'os is required when specific_device_toggle is false',
  ),
  import_data_empty: refusal('Import data cannot be empty', 'import_data is required'),
  settings_empty: refusal('Settings cannot be empty', 'settings must be an object with a key'),
  unbound_not_allowed: refusal(
    'Action is not allowed for not linked HWIDs',
    'only import-data may go to a HWID that is not linked to the provider',
  ),
  unbound_quota_exceeded: refusal(
    'The maximum number of commands to unbound HWIDs has been exceeded',
    'too many HWIDs that are not linked to the provider got a command in the last 24 hours',
  ),
  command_save_error: refusal('Failed to save command', 'it could not be saved'),
  command_too_many_sends: refusal('Failed to save command', TOO_MANY_SENDS),
  command_kept_bytes_full: refusal('Failed to save command', KEPT_BYTES_FULL),
  command_ledger_full: refusal('Failed to save command', LEDGER_FULL),
  notification_not_found: refusal(
    'Notification not found',
    'id names no notification or command of this provider',
  ),
  cancel_too_late: refusal(
    'Cannot cancel notification less than 10 minutes before scheduled time',
    'it is not scheduled, or is due in less than 10 minutes',
  ),
  cancel_failed: refusal(
    'Failed to cancel notification',
    'it was sent, cancelled or blocked already, or the change could not be saved',
  ),

  reminder_not_found: refusal('Reminder not found', 'id names no reminder of this provider'),
  reminder_exists: refusal(
    'Reminder exists',
    'the provider has a reminder of this kind and amount already',
  ),
  reminder_limit_reached: refusal(
    'Reminder limit reached',
    'the provider has as many reminders as it may have',
  ),
  reminder_save_error: refusal('Error save reminder', 'the change could not be saved'),
  webhook_not_found: refusal('Webhook not found', 'id names no webhook of this provider'),
  webhook_limit_reached: refusal(
    'Webhook limit reached',
    'the provider has as many webhooks as it may have',
  ),
  webhook_save_error: refusal('Error save webhook', 'the change could not be saved'),
  webhook_test_failed: refusal(
    'Webhook test failed',
    'the event did not get through: problem says why',
  ),

  hwid_required: denial('HWID is required', `hwid must be ${HWID.rule}`, 'x-hwid-not-supported'),
  link_not_found: refusal(
    'Install not found',
    'installid names no limited link, or id is not a domain that is actively bound to its provider',
  ),
  link_disabled: refusal('Install disabled', 'the limited link is disabled'),
  link_limit_reached: denial(
    'Install limit reached',
    'the limited link holds as many devices as it may',
    'x-hwid-max-devices-reached',
    'x-hwid-limit',
  ),
  gate_untrusted: refusal('Unknown error', 'only proxies in gate.proxies may ask here'),
  gate_unclear: refusal('Unknown error', 'it is not clear which request is asked about'),
  gate_method: refusal('Unknown error', 'only GET and HEAD are let through'),
  gate_bot_limit: refusal(
    'Unknown error',
    'this bot has fetched the key as often today as it may without a HWID',
  ),
  gate_no_slot: refusal('Unknown error', 'HEAD takes no slot: only a HWID on the link may ask so'),

  provider_not_found: refusal('Provider not found', 'there is no such provider'),

  device_token_error: refusal(
    'Device token error',
    'the header Authorization must be Bearer and the token of a registered device',
  ),
  domain_not_bound: refusal(
    'Domain not found',
    'domain_hash is not actively bound to provider_code',
  ),
  registration_refused: refusal(
    'Device is registered',
    'show the token that the HWID has, or the link by which it was registered',
  ),
  push_key_missing: refusal('Push key not found', 'the operator has not set up Web Push'),
  not_a_stream: refusal('Unknown error', 'this path takes WebSocket connections only'),
  too_many_streams: refusal('Too many requests', 'the server holds as many streams as it may'),
  too_many_requests: refusal('Too many requests', 'try again in a minute'),
} satisfies Record<string, Message>;

export type MessageKey = keyof typeof TABLE;

export const messages: Readonly<Record<MessageKey, Message>> = TABLE;
