import type { Says } from '../../../call/table.ts';

/** Refusals that any call may return before it runs. */
type Met =
  | 'offline'
  | 'outdated'
  | 'fault'
  | 'signed_out'
  | 'no_right'
  | 'other_origin'
  | 'no_account';

export const refusals = {
  offline: 'The server does not answer. What you typed is still here.',
  fault: 'Something went wrong on the server; its log has the reason.',
  sign_in_wrong: 'That is not right. Check what you typed.',
  code_needed: 'Type the code of your authenticator app.',
  code_wrong: 'That code is wrong, or was used already.',
  too_many_requests: 'Too many attempts. Wait a minute.',
  signed_out: 'Your session has ended.',
  no_right: 'Your role does not allow this.',
  sign_in_afresh: 'Sign in again first: this needs a sign-in of the last ten minutes.',
  link_too_old:
    'More than ten minutes have passed, so you need a new link. The operator makes one (gatepost account reset NAME); or an owner removes you from the staff and invites you again.',
  account_exists: 'That name is taken.',
  passkey_wrong: 'The passkey could not be checked. Try again.',
  passkey_exists: 'This passkey exists already.',
  subscription_required: 'Your Gatepost plan has ended or is suspended.',
  install_code_limit_reached: 'The limit of links is reached.',
  outdated: 'A newer version is installed. Reload the page.',
  last_of_role: 'One account must keep this role. Give it to another account first.',
  key_limit_reached: 'The limit of keys is reached.',
  bot_limit_reached: 'There are as many bots as there may be. Remove one first.',
  cut_not_found: 'The cut-off no longer waits.',
  cut_running: 'The cut-off is being made just now. Try again in a minute.',
  cut_save_error:
    'The cut-off could not be saved, or the provider has changed too much in a minute. Try again.',
  install_code_error: 'There is no such link any more.',
  bot_not_found: 'The bot is not there any more.',
  one_time_limit_reached: 'Too many open invitations. They end after ten minutes.',
  domain_limit_reached: 'The limit of domains is reached.',
  cancel_too_late: 'Too late: it is due in less than ten minutes, or was not scheduled.',
  cancel_failed: 'It has ended already, or could not be saved.',
  notification_not_found: 'There is no such message.',
  receipt_not_found: 'The list changed meanwhile. Choose a filter again.',
  other_origin: 'The browser sent this from another page. Reload the page.',
  no_account: "Only an account has this; you signed in with the provider's key.",
  account_limit_reached: 'The limit of accounts is reached.',
  account_not_found: 'There is no such account.',
  session_not_found: 'That session has ended already.',
  passkey_limit_reached: 'There are as many passkeys as there may be. Remove one first.',
  passkey_not_found: 'This passkey was removed already.',
  second_factor_exists: 'An authenticator app is set up already. Remove it first.',
  key_not_found: 'There is no such key any more.',
  install_code_exists: 'A link with this code is there already.',
  install_limit_below_count: 'More devices than that are on the link. Remove devices first.',
  install_not_found: 'There is no such link any more.',
  install_save_error: 'The link could not be saved. Nothing was changed.',
  provider_code_exists: 'That code is taken.',
  provider_not_found: 'There is no such provider any more.',
  upstream_exists: 'This host has an upstream already.',
  upstream_in_file: 'The configuration file has this host: change it there.',
  upstream_limit_reached: 'There are as many upstreams as there may be. Remove one first.',
  upstream_not_found: 'There is no such upstream any more.',
  check_failed: 'The check could not be finished. The log of the server may say why.',
  message_ended: 'It has ended already: nothing is left to block.',
  no_push_address:
    'The device has no address there: its app did not register one, or it was dropped.',
  gateway_not_set_up: 'This gateway is not set up.',
  no_database_file: 'The data is in PostgreSQL: use its tools, pg_dump and pg_restore.',
  backup_not_found: 'There is no such backup any more.',
  backup_busy: 'A backup is being verified or copied. Try again when it is done.',
  no_links: 'No link matches.',
  more_links_match: 'More links match now than you were shown. Preview it again.',
  job_limit_reached: 'Too many changes are waiting or running. Try again when one has ended.',
  job_ended: 'Too late: it is done.',
  job_not_found: 'There is no such change any more.',
  domain_not_found: 'There is no such domain.',
  domain_save_error: 'The domain could not be saved. Nothing was changed.',
  domain_activate_error: 'The domain could not be saved. Nothing was changed.',
  domain_delete_error: 'The domain could not be saved. Nothing was changed.',
  reminder_exists: 'There is a reminder of this kind and time already.',
  reminder_limit_reached: 'There are as many reminders as there may be.',
  reminder_not_found: 'There is no such reminder any more.',
  reminder_save_error: 'The reminder could not be saved. Try again.',
  webhook_limit_reached: 'There are as many webhooks as there may be.',
  webhook_not_found: 'There is no such webhook any more.',
  webhook_save_error: 'The webhook could not be saved. Nothing was changed.',
  enterprise_required: 'Notifications need the Enterprise plan.',
  pro_required: 'Commands need the Pro or Enterprise plan.',
  general_too_soon:
    'A notification to all is accepted once in five minutes, a scheduled one too. Try again later.',
  message_too_large:
    'The message is too long: about 3,000 bytes fit, 1,500 letters in Russian or Persian. Make its texts shorter.',
  device_not_found: 'A HWID is unknown here, or not on a link of yours. Nothing was sent.',
  no_devices_found: 'No device is among the targets. Nothing was sent.',
  target_hwid_required: 'Name a device.',
  target_os_required: 'Choose a system, or name devices.',
  import_data_empty: 'There is no data to import.',
  settings_empty: 'Set one setting at least.',
  unbound_not_allowed: 'A device that is on no link of yours takes imported data alone.',
  unbound_quota_exceeded:
    'Too many devices that are on no link of yours got a command in the last 24 hours.',
  notification_save_error: 'It could not be saved. Nothing was sent.',
  notification_too_many_sends: 'You have sent as many as you may in a minute. Wait a minute.',
  notification_kept_bytes_full:
    'As much text is kept for you as may be. It frees itself as old messages end.',
  notification_ledger_full:
    'As many recipients are kept for you as may be. It frees itself as old messages end.',
  command_save_error: 'It could not be saved. Nothing was sent.',
  command_too_many_sends: 'You have sent as many as you may in a minute. Wait a minute.',
  command_kept_bytes_full:
    'As much text is kept for you as may be. It frees itself as old messages end.',
  command_ledger_full:
    'As many recipients are kept for you as may be. It frees itself as old messages end.',
} satisfies Record<Says | Met, string>;
