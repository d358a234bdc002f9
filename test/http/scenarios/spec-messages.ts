/**
 * The specification's error table, word for word. Of two listings, the later one. The last rows are
 * of extensions.
 */

const ACCESS = ['Auth error', 'This feature requires an active subscription'];

export const SPEC_MESSAGES: Readonly<Record<string, readonly string[]>> = {
  '/api/add-install': [
    ...ACCESS,
    'Install limit error',
    'Install code limit reached',
    'Unknown error',
  ],
  '/api/update-install': [
    ...ACCESS,
    'Install limit error',
    'Install limit is less than the current install_count',
    'Install status error',
    'Error save install',
    'Install not found',
    'Unknown error',
  ],
  '/api/list-install': [...ACCESS, 'Unknown error'],
  '/api/free-slots': [...ACCESS, 'Invalid parameters', 'Install code error', 'Unknown error'],
  '/api/revoke-install': [...ACCESS, 'Error save install', 'Install not found', 'Unknown error'],
  '/api/remove-install': [...ACCESS, 'Error save install', 'Install not found', 'Unknown error'],
  '/api/list-ties': [...ACCESS, 'Invalid parameters', 'Unknown error'],
  '/api/tie-keys': [...ACCESS, 'Invalid parameters', 'Unknown error'],
  '/api/untie-keys': [...ACCESS, 'Invalid parameters', 'Unknown error'],
  '/api/set-keys': [...ACCESS, 'Invalid parameters', 'Unknown error'],
  '/api/list-refused': [...ACCESS, 'Install code error', 'Unknown error'],
  '/api/list-hwid': [...ACCESS, 'Install code error', 'Unknown error'],
  '/api/delete-hwid': [...ACCESS, 'Invalid parameters', 'Install code error', 'Unknown error'],
  '/api/add-domain': [
    ...ACCESS,
    'Domain hash error',
    'Error save domain',
    'Error change state to active',
    'Unknown error',
  ],
  '/api/delete-domain': [...ACCESS, 'Domain delete error', 'Domain not found', 'Unknown error'],
  '/api/list-domain': [...ACCESS, 'Unknown error'],
  '/remote/cancel': [
    ...ACCESS,
    'Notification not found',
    'Cannot cancel notification less than 10 minutes before scheduled time',
    'Failed to cancel notification',
    'Unknown error',
  ],
  '/remote/list': [...ACCESS, 'Unknown error'],
  '/remote/receipts': [...ACCESS, 'Unknown error'],
  '/remote/notification': [
    ...ACCESS,
    'This feature requires Enterprise plan',
    'You can send general notifications only once every 5 minutes',
    'Message too large (max 4096 bytes)',
    'Device with this HWID not found',
    'No devices found for selected OS and your provider IDs',
    'Failed to save notification',
    'Unknown error',
  ],
  '/remote/command': [
    ...ACCESS,
    'This feature requires Pro or Enterprise plan',
    'HWID is required for specific device',
    'Select at least one OS or enable specific device',
    'Import data cannot be empty',
    'Settings cannot be empty',
    'Action is not allowed for not linked HWIDs',
    'Device with this HWID not found',
    'The maximum number of commands to unbound HWIDs has been exceeded',
    'Failed to save command',
    'Unknown error',
  ],
  '/api/stats': [...ACCESS, 'Unknown error'],
  '/api/policy': [...ACCESS, 'Unknown error'],
  '/api/webhook-add': [
    ...ACCESS,
    'Invalid parameters',
    'Webhook limit reached',
    'Error save webhook',
    'Unknown error',
  ],
  '/api/webhook-list': [...ACCESS, 'Unknown error'],
  '/api/webhook-update': [
    ...ACCESS,
    'Webhook not found',
    'Invalid parameters',
    'Error save webhook',
    'Unknown error',
  ],
  '/api/webhook-rotate': [
    ...ACCESS,
    'Webhook not found',
    'Invalid parameters',
    'Error save webhook',
    'Unknown error',
  ],
  '/api/webhook-test': [
    ...ACCESS,
    'Webhook not found',
    'Webhook test failed',
    'Too many requests',
    'Unknown error',
  ],
  '/api/webhook-deliveries': [
    ...ACCESS,
    'Webhook not found',
    'Invalid parameters',
    'Unknown error',
  ],
  '/api/webhook-replay': [
    ...ACCESS,
    'Webhook not found',
    'Invalid parameters',
    'Too many requests',
    'Unknown error',
  ],
  '/api/webhook-remove': [...ACCESS, 'Webhook not found', 'Error save webhook', 'Unknown error'],
};

/** The `rc` 2 notices, which stand with the endpoints. */
export const SPEC_NOTICES: Readonly<Record<string, readonly string[]>> = {
  '/api/add-install': ['Install code exists'],
  '/api/add-domain': ['Domain hash exists', 'Domain hash exists. State set to active'],
};
