/** The calls of registered devices: /device/inbox and /device/ack; and /device/push-key. */

import { crowd, NOTIFICATION, toAndroid } from './remote-notification.ts';
import {
  aFreedSlot,
  aRegisteredDevice,
  asked,
  brokenStore,
  delivered,
  FREED_ANSWER,
  HWID,
  OWN,
  type Scenario,
  TOKEN,
} from './scenario.ts';

const INBOX = '/device/inbox';
const ACK = '/device/ack';

const PUSH_KEY = '/device/push-key';
const VAPID =
  'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8';

const bearer = { authorization: `Bearer ${TOKEN}` };

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
const WAIT_RULE = 'wait must be a whole number of seconds from 0 to 300';

const inbox: Scenario[] = [
  ...tokenErrors(INBOX),
  {
    name: 'a token whose last slot was freed',
    path: INBOX,
    says: 'device_token_error',
    given: [...message, aFreedSlot()],
    request: {},
    headers: bearer,
    answer: FREED_ANSWER,
    detail: TOKEN_DETAIL,
  },
  {
    name: 'a message by its id',
    path: INBOX,
    says: 'ok',
    given: message,
    request: { id: 1 },
    headers: bearer,
    answer: JSON.stringify({ rc: 1, msg: 'Ok', data: [MESSAGE] }),
    answerHeaders: { 'x-wait-max': '60' },
  },
  {
    name: 'the id of no message',
    path: INBOX,
    says: 'ok',
    given: message,
    request: { id: 2 },
    headers: bearer,
    answer: '{"rc":1,"msg":"Ok","data":[]}',
    answerHeaders: { 'x-wait-max': '60' },
  },
  {
    name: 'a bound below the least is the least',
    path: INBOX,
    says: 'ok',
    given: message,
    request: { frame_max: 1 },
    headers: bearer,
    answer: JSON.stringify({ rc: 1, msg: 'Ok', data: [MESSAGE] }),
    answerHeaders: { 'x-wait-max': '60' },
  },
  {
    name: 'a message waits',
    path: INBOX,
    says: 'ok',
    given: message,
    request: { wait: 60 },
    headers: bearer,
    answer: JSON.stringify({ rc: 1, msg: 'Ok', data: [MESSAGE] }),
    answerHeaders: { 'x-wait-max': '60' },
  },
  {
    name: 'nothing waits',
    path: INBOX,
    says: 'ok',
    given: [aRegisteredDevice()],
    request: {},
    headers: bearer,
    answer: '{"rc":1,"msg":"Ok","data":[]}',
    answerHeaders: { 'x-wait-max': '60' },
  },
  ...['301', '-1', '1.5', 'x'].map(
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
  ackRefused(
    'a body of more than 64 KiB',
    { items: [{ id: 1, state: 'failed', detail: 'x'.repeat(65_536) }] },
    'the body must not be longer than 65536 bytes',
  ),
  {
    ...brokenStore(ACK, {}, message, 'acknowledge'),
    headers: bearer,
    body: { items: [{ id: 1, state: 'received' }] },
  },
];

const pushKey: Scenario[] = [
  {
    name: 'the operator has set up Web Push',
    path: PUSH_KEY,
    options: { pushKey: VAPID },
    says: 'ok',
    request: {},
    answer: `{"rc":1,"msg":"Ok","public_key":"${VAPID}"}`,
  },
  {
    name: 'the operator has not',
    path: PUSH_KEY,
    says: 'push_key_missing',
    request: {},
    answer: '{"rc":0,"msg":"Push key not found"}',
    detail: 'the operator has not set up Web Push',
  },
  brokenStore(PUSH_KEY, {}, [], 'pushKey'),
];

export const messagingScenarios = [...inbox, ...ack, ...pushKey].map((scenario) => ({
  ...scenario,
  credentials: null,
}));
