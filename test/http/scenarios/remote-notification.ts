/** POST /remote/notification: every rule, by the order of the specification. */

import {
  aBinding,
  aDeletedBinding,
  aDevice,
  aLink,
  asked,
  CODE,
  delivered,
  FOREIGN,
  type Given,
  gateScenarios,
  HASH,
  HWID,
  OTHER_CODE,
  OWN,
  onPlan,
  type Scenario,
  timePasses,
} from './scenario.ts';
import { beyondBounds } from './send-bounds.ts';

export const NOTIFICATION = '/remote/notification';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** When a scenario's request comes: the fake clock's start, 15:00 in UTC+3. */
const NOW_MS = Date.UTC(2026, 10, 20, 12);

export const form = { body: 'Hello', type_push: 'optional', expire_days: 1 };
export const toAndroid = { PushNotificationForm: form, os: ['android'] };
export const toHwid = { PushNotificationForm: form, hwid: HWID };
export const withForm = (fields: Record<string, unknown>) => ({
  PushNotificationForm: { ...form, ...fields },
  os: ['android'],
});

/** An enterprise provider with one Android device on a link. */
export const crowd = [onPlan('enterprise'), aLink(), aBinding(), aDevice()];
const sent = (body: unknown = toAndroid) => asked(NOTIFICATION, OWN, {}, body);
/** A device of somebody else's. */
const aForeignDevice = [
  aBinding(HASH, FOREIGN),
  aLink(OTHER_CODE, 2, FOREIGN),
  aDevice('theirs', OTHER_CODE),
];

const GENERAL = ['distribution 1 added', `provider 1 last_general_at_ms: null -> ${NOW_MS}`];

const accepted = (name: string, body: unknown, changed = GENERAL, given = crowd): Scenario => ({
  name,
  path: NOTIFICATION,
  says: 'ok',
  given,
  request: {},
  body,
  answer: '{"rc":1,"msg":"Ok","id":1}',
  changed,
});

const refused = (
  says: Scenario['says'],
  msg: string,
  detail: string,
  name: string,
  body: unknown,
  given: readonly Given[] = crowd,
): Scenario => ({
  name,
  path: NOTIFICATION,
  says,
  given,
  request: {},
  body,
  answer: JSON.stringify({ rc: 0, msg }),
  detail,
});

export const malformed = (name: string, detail: string, body: unknown): Scenario =>
  refused('unknown_error', 'Unknown error', detail, name, body);
const notFound = (name: string, body: unknown, given?: readonly Given[]): Scenario =>
  refused(
    'device_not_found',
    'Device with this HWID not found',
    'a HWID in hwid is not known, or not of this provider; nothing was sent',
    name,
    body,
    given,
  );
const nobody = (name: string, body: unknown, given?: readonly Given[], detail?: string): Scenario =>
  refused(
    'no_devices_found',
    'No devices found for selected OS and your provider IDs',
    detail ?? 'the provider has no device with an operating system in os',
    name,
    body,
    given,
  );
const untargeted = (name: string, body: unknown): Scenario =>
  nobody(name, body, undefined, 'os or hwid is required');
const tooSoon = (name: string, given: readonly Given[], body: unknown = toAndroid): Scenario =>
  refused(
    'general_too_soon',
    'You can send general notifications only once every 5 minutes',
    'less than 5 minutes have passed since the last notification without hwid',
    name,
    body,
    given,
  );
const needsEnterprise = (plan: 'basic' | 'pro'): Scenario =>
  refused(
    'enterprise_required',
    'This feature requires Enterprise plan',
    "push notifications are not part of the provider's plan",
    `the ${plan} plan, however wrong the body is`,
    '{',
    [...crowd, onPlan(plan)],
  );

const accesses: Scenario[] = [
  ...beyondBounds('notification', NOTIFICATION, crowd, toAndroid),
  ...gateScenarios(NOTIFICATION, {}, crowd, 'addDistribution', toAndroid),
  needsEnterprise('basic'),
  needsEnterprise('pro'),
  {
    ...refused(
      'notification_save_error',
      'Failed to save notification',
      'it could not be saved; internal fault ',
      'a notification that cannot be saved',
      toAndroid,
    ),
    fault: { method: 'addDistribution', kind: 'write_failed' },
  },
];

const LONG = 'x'.repeat(4_000);
const SCHEDULED = withForm({ send_date: '2026-11-20', send_time: '15:30' });

const accepting: Scenario[] = [
  accepted('the minimal body', toAndroid),
  accepted('every field', {
    PushNotificationForm: {
      title: 'News',
      body: '<b>Hello</b>',
      link_for_open: 'tg://resolve?domain=x',
      background_image: 'https://example.com/a.png',
      locales: { RU: { title: 'Новости', body: 'Привет', 'link-for-open': 'https://example.com' } },
      type_push: 'force',
      expire_days: 365,
      send_date: '2026-11-21',
      send_time: '00:00',
    },
    os: ['ios', 'android'],
    hwid: '',
  }),
  accepted('numbers and lists as forms send them', {
    PushNotificationForm: { ...form, expire_days: '30', title: null, locales: [], send_date: '' },
    os: 'iOS, ANDROID,android',
    hwid: null,
  }),
  accepted('to one HWID: that is not general', toHwid, ['distribution 1 added']),
  accepted(
    'to HWIDs with blanks and repeats, with an os that is not looked at',
    { ...toHwid, hwid: ` ${HWID} , ${HWID},`, os: ['windows'] },
    ['distribution 1 added'],
  ),
  accepted(
    'the minute that is running now means now',
    withForm({ send_date: '2026-11-20', send_time: '15:00' }),
  ),
  accepted(
    'to a device linked by a binding',
    toHwid,
    ['distribution 1 added'],
    [
      onPlan('enterprise'),
      aBinding(),
      asked('/provider', null, { id: OWN.code, domain_hash: HASH, hwid: HWID, os_name: 'ios' }),
    ],
  ),
  {
    ...accepted('five minutes after the last one', toAndroid, [
      'distribution 2 added',
      `provider 1 last_general_at_ms: ${NOW_MS} -> ${NOW_MS + 5 * MINUTE_MS}`,
    ]),
    given: [...crowd, sent(), timePasses(5 * MINUTE_MS)],
    answer: '{"rc":1,"msg":"Ok","id":2}',
  },
  {
    ...accepted('to a HWID right after a general one', toHwid, ['distribution 2 added']),
    given: [...crowd, sent()],
    answer: '{"rc":1,"msg":"Ok","id":2}',
  },
];

const refusing: Scenario[] = [
  notFound('a HWID that nobody knows', { ...toHwid, hwid: 'nobody' }),
  notFound('one good HWID and one that nobody knows: nothing is sent', {
    ...toHwid,
    hwid: `${HWID},nobody`,
  }),
  notFound("another provider's device", { ...toHwid, hwid: 'theirs' }, [
    ...crowd,
    ...aForeignDevice,
  ]),
  notFound('a device that was freed from its link', toHwid, [
    ...crowd,
    asked('/api/delete-hwid', OWN, { install_code: CODE, hwid: HWID }),
  ]),
  notFound('a device whose binding was disabled', toHwid, [
    onPlan('enterprise'),
    aBinding(),
    asked('/provider', null, { id: OWN.code, domain_hash: HASH, hwid: HWID }),
    aDeletedBinding(1),
  ]),
  notFound('what cannot be a HWID', { ...toHwid, hwid: 'has blanks inside' }),
  untargeted('no os and no hwid', { PushNotificationForm: form }),
  nobody('an os that none of its devices has', { ...toAndroid, os: ['ios'] }),
  untargeted('an empty os', { ...toAndroid, os: [] }),
  nobody("only another provider's devices", toAndroid, [onPlan('enterprise'), ...aForeignDevice]),
  tooSoon('a millisecond less than five minutes after the last one', [
    ...crowd,
    sent(),
    timePasses(5 * MINUTE_MS - 1),
  ]),
  tooSoon('after one that was cancelled', [
    ...crowd,
    sent(SCHEDULED),
    asked('/remote/cancel', OWN, { id: 1 }),
  ]),
  refused(
    'message_too_large',
    'Message too large (max 4096 bytes)',
    'the message as JSON in base64 is over 4096 bytes',
    'a message of more than 4096 bytes, however wrong its targets are',
    { PushNotificationForm: { ...form, title: LONG }, os: 'windows' },
  ),
];

/** One was delivered a minute ago, which another is to replace. */
const correctable = [...crowd, sent(), delivered, timePasses(MINUTE_MS)];
const CORRECTED = [
  `distribution 1 expires_at_ms: ${NOW_MS + DAY_MS} -> ${NOW_MS + MINUTE_MS}`,
  'distribution 2 added',
];

const correcting: Scenario[] = [
  {
    ...accepted('a correction of one a minute ago', toAndroid, CORRECTED, correctable),
    request: { replaces: 1 },
    answer: '{"rc":1,"msg":"Ok","id":2}',
  },
  {
    ...accepted(
      'the same, with the id in the body',
      { ...toAndroid, replaces: '1' },
      CORRECTED,
      correctable,
    ),
    answer: '{"rc":1,"msg":"Ok","id":2}',
  },
  ...(
    [
      ['no id', { replaces: 'first' }, 'must be a whole number of 1 to 15 digits'],
      [
        'that of no notification',
        { replaces: 9 },
        'must be the id of a notification of this provider',
      ],
      [
        'one to other devices',
        { ...toHwid, replaces: 1 },
        'must name a notification with the same os or HWIDs',
      ],
    ] as const
  ).map(([name, more, rule]) =>
    refused(
      'unknown_error',
      'Unknown error',
      `replaces ${rule}`,
      `replaces: ${name}`,
      { ...toAndroid, ...more, ...('hwid' in more && { os: [] }) },
      correctable,
    ),
  ),
  {
    ...refused(
      'unknown_error',
      'Unknown error',
      'replaces was given twice with different values',
      'replaces: two of them',
      { ...toAndroid, replaces: 1 },
      correctable,
    ),
    request: { replaces: 2 },
  },
];

export const notificationScenarios = [...accesses, ...accepting, ...refusing, ...correcting];
