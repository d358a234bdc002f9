import {
  aBinding,
  aDeletedBinding,
  aDevice,
  aDisabledLink,
  aFreedSlot,
  aLink,
  aRegisteredDevice,
  brokenStore,
  CODE,
  DRAWN_TOKEN,
  FREED_ANSWER,
  HASH,
  HWID,
  OTHER_HASH,
  OWN,
  type Scenario,
  TOKEN,
} from './scenario.ts';

const REGISTER = '/device/register';

const bearer = { authorization: `Bearer ${TOKEN}` };
const door = [aLink(), aBinding()];
const byLink = { hwid: HWID, os: 'Android', install_code: CODE, domain_hash: HASH };
const byBinding = { hwid: HWID, os: 'Android', provider_code: OWN.code, domain_hash: HASH };

const refused = (
  says: Scenario['says'],
  msg: string,
  detail: string,
  name: string,
  given: Scenario['given'],
  body: unknown,
  more: Record<string, unknown> = {},
): Scenario => ({
  name,
  path: REGISTER,
  says,
  ...(given && { given }),
  request: {},
  body,
  answer: JSON.stringify({ rc: 0, msg, ...more }),
  detail,
});
const NOT_FOUND = {
  reason: 'link_not_found',
  text: 'Subscription not found. Ask support for a new link.',
};
const malformed = (name: string, detail: string, body: unknown) =>
  refused('unknown_error', 'Unknown error', detail, name, [], body);
const hwidRequired = (name: string, body: unknown): Scenario => ({
  ...refused(
    'hwid_required',
    'HWID is required',
    'hwid must be 1 to 128 visible ASCII characters without comma',
    name,
    [],
    body,
  ),
  answerHeaders: { 'x-hwid-not-supported': 'true' },
});
const NOT_FOUND_DETAIL =
  'install_code names no limited link, or domain_hash is not actively bound to its provider';
const PUSH = 'push.gateway must be one of fcm, apns, webpush';
const NO_SUBSCRIPTION = 'push.token must be the subscription object, with its endpoint';
const BAD_KEYS =
  'push.token.keys must hold p256dh, a point of P-256 of 65 bytes, and auth, 16 bytes, in base64url';
/** The receiver of RFC 8291, appendix A. */
const KEYS = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};
const SUBSCRIPTION = { endpoint: 'https://push.example/1', expirationTime: null, keys: KEYS };
const subscribed = (change: Record<string, unknown>) => ({
  hwid: HWID,
  push: { gateway: 'webpush', token: { ...SUBSCRIPTION, ...change } },
});
const PUSH_TOO_LONG = 'push.token must not be longer than 4096 bytes';

const registered = (
  name: string,
  given: Scenario['given'],
  body: unknown,
  changed: readonly string[],
  headers: Scenario['headers'] = {},
): Scenario => ({
  name,
  path: REGISTER,
  says: 'ok',
  ...(given && { given }),
  request: {},
  headers,
  body,
  answer: `{"rc":1,"msg":"Ok",${DRAWN_TOKEN}}`,
  answerHeaders: { 'x-wait-max': '60' },
  changed,
});

const register: Scenario[] = [
  registered(
    'a HWID that nobody knows: an inbox for what comes to an unbound device',
    [],
    {
      hwid: HWID,
    },
    ['device 1 added', 'device_token 1 added'],
  ),
  registered('with a link: admitted, and proven', door, byLink, [
    'device 1 added',
    'device_provider 1/1 added',
    'device_token 1 added',
    'install 1 device_count: 0 -> 1',
    'install_device 1 added',
  ]),
  registered('with a binding: linked, and proven', [aBinding()], byBinding, [
    'device 1 added',
    'device_domain 1 added',
    'device_provider 1/1 added',
    'device_token 1 added',
  ]),
  registered(
    'with a provider, but no domain: nothing is proven, and the provider sees it',
    [],
    { hwid: HWID, os: 'Android', provider_code: OWN.code },
    ['device 1 added', 'device_provider 1/1 added', 'device_token 1 added'],
  ),
  registered(
    'every field',
    [],
    {
      hwid: HWID,
      os: 'iPadOS 18',
      device_name: 'iPad',
      os_version: '18',
      app_version: '3.1',
      locale: 'pt-BR',
      provider_code: null,
      domain_hash: '',
      install_code: null,
      push: { gateway: 'webpush', token: SUBSCRIPTION },
    },
    ['device 1 added', 'device_token 1 added'],
  ),
  registered(
    'with the token that it has: the old one dies',
    [aRegisteredDevice()],
    { hwid: HWID },
    ['device_token 1 token_hash: 32 bytes -> 32 bytes'],
    bearer,
  ),
  {
    ...refused(
      'too_many_requests',
      'Too many requests',
      'try again in a minute',
      'more registrations than an address may do in a minute',
      [],
      { hwid: HWID },
    ),
    options: { registrationsPerMinuteMax: 0 },
  },
  hwidRequired('no HWID', { os: 'android' }),
  hwidRequired('a malformed HWID', { hwid: 'a,b' }),
  hwidRequired('a HWID that is no text', { hwid: 5 }),
  hwidRequired('no HWID, and another field that does not fit', { locale: '!', push: 1 }),
  {
    name: 'a token alone whose last slot was freed',
    path: REGISTER,
    says: 'device_token_error',
    given: [...door, aDevice(), aRegisteredDevice(), aFreedSlot()],
    request: {},
    headers: bearer,
    body: { hwid: HWID },
    answer: FREED_ANSWER,
    detail: 'the header Authorization must be Bearer and the token of a registered device',
  },
  refused(
    'link_not_found',
    'Install not found',
    NOT_FOUND_DETAIL,
    'an unknown link',
    [aBinding()],
    byLink,
    NOT_FOUND,
  ),
  refused(
    'link_not_found',
    'Install not found',
    NOT_FOUND_DETAIL,
    'a link without a domain',
    door,
    {
      hwid: HWID,
      install_code: CODE,
    },
    NOT_FOUND,
  ),
  refused(
    'link_not_found',
    'Install not found',
    NOT_FOUND_DETAIL,
    'a domain that is not bound',
    door,
    {
      ...byLink,
      domain_hash: OTHER_HASH,
    },
    NOT_FOUND,
  ),
  refused(
    'link_disabled',
    'Install disabled',
    'the limited link is disabled',
    'a disabled link',
    [...door, aDisabledLink(1)],
    byLink,
    { reason: 'link_disabled', text: 'This subscription is disabled. Contact support.' },
  ),
  {
    ...refused(
      'link_limit_reached',
      'Install limit reached',
      'the limited link holds as many devices as it may',
      'a full link',
      [...door, aDevice('a'), aDevice('b')],
      byLink,
      {
        reason: 'link_limit_reached',
        text: 'Device limit reached for this subscription. Contact support to replace a device.',
        limit: 2,
      },
    ),
    answerHeaders: { 'x-hwid-limit': 'true', 'x-hwid-max-devices-reached': 'true' },
  },
  refused(
    'provider_not_found',
    'Provider not found',
    'provider_code names no provider',
    'an unknown provider',
    [],
    {
      ...byBinding,
      provider_code: 'Nobody00',
    },
  ),
  refused(
    'domain_not_bound',
    'Domain not found',
    'domain_hash is not actively bound to provider_code',
    'a binding that is disabled',
    [aBinding(), aDeletedBinding(1)],
    byBinding,
  ),
  refused(
    'registration_refused',
    'Device is registered',
    'show the token that the HWID has, or the link by which it was registered',
    'a HWID that has a token, alone',
    [aRegisteredDevice()],
    { hwid: HWID },
  ),
  malformed('a field that is no text', 'os must be a string', { hwid: HWID, os: 5 }),
  malformed('a locale that is none', 'locale must be a language tag such as en or pt-BR', {
    hwid: HWID,
    locale: 'e',
  }),
  malformed('push that is no object', 'push must be an object with gateway and token', {
    hwid: HWID,
    push: 'fcm',
  }),
  malformed('another gateway', PUSH, { hwid: HWID, push: { gateway: 'sms', token: 'x' } }),
  malformed('a push token that is no text', 'push.token must be a string', {
    hwid: HWID,
    push: { gateway: 'fcm', token: {} },
  }),
  malformed('a subscription that is no object', NO_SUBSCRIPTION, {
    hwid: HWID,
    push: { gateway: 'webpush', token: 'x' },
  }),
  malformed('a subscription without its endpoint', NO_SUBSCRIPTION, {
    hwid: HWID,
    push: { gateway: 'webpush', token: { keys: {} } },
  }),
  malformed('a subscription whose texts are too long together', PUSH_TOO_LONG, {
    hwid: HWID,
    push: { gateway: 'webpush', token: { endpoint: 'x', keys: { auth: 'я'.repeat(2048) } } },
  }),
  malformed(
    'a subscription whose endpoint is no address',
    'push.token.endpoint is not an http or https address of up to 2048 characters',
    subscribed({ endpoint: 'push.example/1' }),
  ),
  malformed(
    'a subscription at an address without TLS',
    'push.token.endpoint is not an https address',
    subscribed({ endpoint: 'http://push.example/1' }),
  ),
  malformed(
    'a subscription at this machine, in decimal digits',
    'push.token.endpoint leads to a network that is not public',
    subscribed({ endpoint: 'https://2130706433/1' }),
  ),
  malformed('a subscription without keys', BAD_KEYS, subscribed({ keys: {} })),
  malformed(
    'a subscription with a key that is no point of the curve',
    BAD_KEYS,
    subscribed({ keys: { ...KEYS, p256dh: Buffer.alloc(65, 4).toString('base64url') } }),
  ),
  malformed(
    'a subscription whose secret is too short',
    BAD_KEYS,
    subscribed({ keys: { ...KEYS, auth: 'BTBZMqHH6r4Tts7J' } }),
  ),
  malformed(
    'a token of APNs in other than hexadecimal digits',
    'push.token of apns must be the device token in hexadecimal digits',
    { hwid: HWID, push: { gateway: 'apns', token: '../../evil' } },
  ),
  malformed('a subscription that nests too deep', 'the body must not nest deeper than 32 levels', {
    hwid: HWID,
    push: {
      gateway: 'webpush',
      token: JSON.parse(`{"endpoint":${'['.repeat(30)}${']'.repeat(30)}}`),
    },
  }),
  malformed('a body of more than 8 KiB', 'the body must not be longer than 8192 bytes', {
    hwid: HWID,
    device_name: 'x'.repeat(8192),
  }),
  malformed('a push token that is too long', PUSH_TOO_LONG, {
    hwid: HWID,
    push: { gateway: 'apns', token: 'x'.repeat(4097) },
  }),
  malformed('a body that is no JSON', 'the body must be a JSON object in UTF-8', '?'),
  { ...brokenStore(REGISTER, {}, [], 'registerDevice'), body: { hwid: HWID }, credentials: null },
  {
    ...brokenStore(REGISTER, {}, [], 'registerDevice'),
    name: 'a registration that cannot be saved',
    fault: { method: 'registerDevice', kind: 'write_failed' },
    body: { hwid: HWID },
  },
];

export const registerScenarios = register.map((scenario) => ({
  ...scenario,
  credentials: null,
}));
