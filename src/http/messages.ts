/**
 * Every answer that the API can give, one line each: the words of the specification, and one plain
 * sentence for `x-error-detail` where those words say little. Nothing else in the program knows
 * them.
 */

export interface Message {
  /** 1 success, 2 already exists, 0 error. */
  rc: 0 | 1 | 2;
  msg: string;
  /** For `x-error-detail`: ASCII, never a credential, never another provider's data. */
  detail?: string;
  /** The HWID convention of panels: headers that name a denial to an app. */
  headers?: Readonly<Record<string, string>>;
}

const refusal = (msg: string, detail: string): Message => ({ rc: 0, msg, detail });

const denial = (msg: string, detail: string, ...headers: string[]): Message => ({
  ...refusal(msg, detail),
  headers: Object.fromEntries(headers.map((name) => [name, 'true'])),
});

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
  install_code_limit_reached: refusal(
    'Install code limit reached',
    'the provider has as many limited links as it may have',
  ),
  install_limit_error: refusal(
    'Install limit error',
    'install_limit must be a whole number from 1 to 100',
  ),
  install_limit_below_count: refusal(
    'Install limit is less than the current install_count',
    'install_limit must not be lower than the number of HWIDs on the link',
  ),
  install_status_error: refusal('Install status error', 'status must be 5 or 10'),
  install_save_error: refusal('Error save install', 'the change could not be saved'),
  install_not_found: refusal('Install not found', 'id names no limited link of this provider'),
  install_code_error: refusal(
    'Install code error',
    'install_code and install_id name no limited link of this provider',
  ),
  invalid_parameters: refusal('Invalid parameters', 'a parameter is missing or malformed'),

  domain_hash_error: refusal(
    'Domain hash error',
    'domain_hash must be 64 lower-case hexadecimal digits',
  ),
  domain_exists: { rc: 2, msg: 'Domain hash exists' },
  domain_activated: { rc: 2, msg: 'Domain hash exists. State set to active' },
  domain_save_error: refusal('Error save domain', 'the binding could not be saved'),
  domain_activate_error: refusal('Error change state to active', 'the binding could not be saved'),
  domain_delete_error: refusal('Domain delete error', 'the binding could not be saved'),
  domain_not_found: refusal('Domain not found', 'id names no binding of this provider'),

  hwid_required: denial(
    'HWID is required',
    'hwid must be 1 to 128 visible ASCII characters without comma',
    'x-hwid-not-supported',
  ),
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
  provider_not_found: refusal('Provider not found', 'id names no provider'),
} satisfies Record<string, Message>;

export type MessageKey = keyof typeof TABLE;

export const messages: Readonly<Record<MessageKey, Message>> = TABLE;
