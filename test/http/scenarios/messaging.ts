/** The calls of the messaging protocol: /device/register, /device/inbox, /device/ack. */

import { crowd, NOTIFICATION, toAndroid } from './remote-notification.ts';
import {
  aBinding,
  aDeletedBinding,
  aDevice,
  aDisabledLink,
  aLink,
  aRegisteredDevice,
  asked,
  brokenStore,
  CODE,
  DRAWN_TOKEN,
  delivered,
  HASH,
  HWID,
  OTHER_HASH,
  OWN,
  type Scenario,
  TOKEN,
} from './scenario.ts';

const REGISTER = '/device/register';
const INBOX = '/device/inbox';
const ACK = '/device/ack';

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
): Scenario => ({
  name,
  path: REGISTER,
  says,
  ...(given && { given }),
  request: {},
  body,
  answer: JSON.stringify({ rc: 0, msg }),
  detail,
});
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
  'installid names no limited link, or id is not a domain that is actively bound to its provider';
const PUSH = 'push.gateway must be fcm, apns, webpush';

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
  changed,
});

const register: Scenario[] = [
  registered(
    'a HWID that nobody knows: an inbox for what comes to an unbound device',
    [],
    {
      hwid: HWID,
    },
    ['device 1 added'],
  ),
  registered('with a link: admitted, and proven', door, byLink, [
    'device 1 added',
    'device_proof 1 added',
    'install 1 device_count: 0 -> 1',
    'install_device 1 added',
  ]),
  registered('with a binding: linked, and proven', [aBinding()], byBinding, [
    'device 1 added',
    'device_domain 1 added',
    'device_proof 1 added',
    'device_provider 1 added',
  ]),
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
      push: { gateway: 'webpush', token: { endpoint: 'https://push.example/1', keys: {} } },
    },
    ['device 1 added'],
  ),
  registered(
    'with the token that it has: the old one dies',
    [aRegisteredDevice()],
    { hwid: HWID },
    ['device 1 token_hash: 32 bytes -> 32 bytes'],
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
  refused(
    'link_not_found',
    'Install not found',
    NOT_FOUND_DETAIL,
    'an unknown link',
    [aBinding()],
    byLink,
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
  ),
  refused(
    'link_disabled',
    'Install disabled',
    'the limited link is disabled',
    'a disabled link',
    [...door, aDisabledLink(1)],
    byLink,
  ),
  {
    ...refused(
      'link_limit_reached',
      'Install limit reached',
      'the limited link holds as many devices as it may',
      'a full link',
      [...door, aDevice('a'), aDevice('b')],
      byLink,
    ),
    answerHeaders: { 'x-hwid-limit': 'true', 'x-hwid-max-devices-reached': 'true' },
  },
  refused(
    'provider_not_found',
    'Provider not found',
    'there is no such provider',
    'an unknown provider',
    [],
    {
      ...byBinding,
      provider_code: 'Nobody00',
    },
  ),
  {
    ...refused(
      'domain_not_bound',
      'Domain not found',
      'domain_hash is not actively bound to provider_code',
      'a binding that is disabled: the device is seen and gets no token',
      [aBinding(), aDeletedBinding(1)],
      byBinding,
    ),
    changed: ['device 1 added', 'device_provider 1 added'],
  },
  refused(
    'registration_refused',
    'Device is registered',
    'show the token that the HWID has, or the link that it has been on for longest',
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
  malformed('a subscription that is no object', 'push.token must be the subscription object', {
    hwid: HWID,
    push: { gateway: 'webpush', token: 'x' },
  }),
  malformed('a push token that is too long', 'push.token must not be longer than 4096 characters', {
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

const TOKEN_ANSWER = '{"rc":0,"msg":"Device token error"}';
const TOKEN_DETAIL = 'the header Authorization must be Bearer and the token of a registered device';
const tokenErrors = (path: string, body?: unknown): Scenario[] =>
  [
    ['no token', {}],
    ['a token that nobody has', { authorization: `Bearer ${'x'.repeat(43)}` }],
    ['a malformed token', { authorization: `Bearer ${TOKEN}x` }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['the HWID for a token', { authorization: `Bearer ${HWID}` }],
  ].map(([name, headers]) => ({
    name: name as string,
    path,
    says: 'device_token_error',
    given: [aRegisteredDevice()],
    request: {},
    headers: headers as Record<string, string>,
    body,
    answer: TOKEN_ANSWER,
    detail: TOKEN_DETAIL,
  }));

/** A registered device on a link, and one notification delivered to it. */
const message = [...crowd, aRegisteredDevice(), asked(NOTIFICATION, OWN, {}, toAndroid), delivered];
const MESSAGE = {
  id: 1,
  notification_type: 10,
  created_at: '2026-11-20 15:00:00',
  expires_at: '2026-11-21 15:00:00',
  payload: { body: 'Hello', type_push: 'optional', expire_days: 1 },
};
const WAIT_RULE = 'wait must be a whole number of seconds from 0 to 60';

const inbox: Scenario[] = [
  ...tokenErrors(INBOX),
  {
    name: 'a message waits',
    path: INBOX,
    says: 'ok',
    given: message,
    request: { wait: 60 },
    headers: bearer,
    answer: JSON.stringify({ rc: 1, msg: 'Ok', data: [MESSAGE] }),
  },
  {
    name: 'nothing waits',
    path: INBOX,
    says: 'ok',
    given: [aRegisteredDevice()],
    request: {},
    headers: bearer,
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  ...['61', '-1', '1.5', 'x'].map(
    (wait): Scenario => ({
      name: `wait=${wait}`,
      path: INBOX,
      says: 'unknown_error',
      given: [aRegisteredDevice()],
      request: { wait },
      headers: bearer,
      answer: '{"rc":0,"msg":"Unknown error"}',
      detail: WAIT_RULE,
    }),
  ),
  { ...brokenStore(INBOX, {}, [aRegisteredDevice()], 'listInbox'), headers: bearer },
];

const ACK_RULE = 'items must be a list of 1 to 100 acknowledgements';
const ackRefused = (name: string, body: unknown, detail: string): Scenario => ({
  name,
  path: ACK,
  says: 'unknown_error',
  given: message,
  request: {},
  headers: bearer,
  body,
  answer: '{"rc":0,"msg":"Unknown error"}',
  detail,
});
const acked = (name: string, items: readonly unknown[], changed: readonly string[]): Scenario => ({
  name,
  path: ACK,
  says: 'ok',
  given: message,
  request: {},
  headers: bearer,
  body: { items },
  answer: '{"rc":1,"msg":"Ok"}',
  changed,
});
const at = Date.UTC(2026, 10, 20, 12);
const RECEIVED = ['recipient 1 is_waiting: 1 -> 0', `recipient 1 received_at_ms: null -> ${at}`];

const ack: Scenario[] = [
  ...tokenErrors(ACK, { items: [{ id: 1, state: 'received' }] }),
  acked('received', [{ id: 1, state: 'received' }], RECEIVED),
  acked('an id as a text', [{ id: '1', state: 'received' }], RECEIVED),
  acked(
    'failed, with the reason',
    [{ id: 1, state: 'failed', detail: 'no\nroom' }],
    [
      'recipient 1 detail: null -> "no room"',
      ...RECEIVED,
      `recipient 1 refused_at_ms: null -> ${at}`,
    ],
  ),
  acked('a message that was never its own', [{ id: 7, state: 'received' }], []),
  ackRefused('no items', {}, ACK_RULE),
  ackRefused('an empty list', { items: [] }, ACK_RULE),
  ackRefused(
    'a hundred and one',
    { items: Array.from({ length: 101 }, (_, i) => ({ id: i, state: 'received' })) },
    ACK_RULE,
  ),
  ackRefused(
    'an item without an id',
    { items: [{ state: 'received' }] },
    'each item must have the id of a message',
  ),
  ackRefused(
    'another state, beside a good item: nothing is kept',
    {
      items: [
        { id: 1, state: 'received' },
        { id: 1, state: 'seen' },
      ],
    },
    'the state of an item must be received, opened, executed, failed',
  ),
  ackRefused('a body that is no JSON', '[', 'the body must be a JSON object in UTF-8'),
  {
    ...brokenStore(ACK, {}, message, 'acknowledge'),
    headers: bearer,
    body: { items: [{ id: 1, state: 'received' }] },
  },
];

export const messagingScenarios = [...register, ...inbox, ...ack].map((scenario) => ({
  ...scenario,
  credentials: null,
}));
