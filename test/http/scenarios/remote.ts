/** /remote/cancel, /remote/list and /remote/receipts. */

import { ACT } from '../../support/actor.ts';
import { COMMAND, toAndroid as commandToAndroid } from './remote-command.ts';
import { crowd, form, NOTIFICATION, toAndroid } from './remote-notification.ts';
import {
  aRegisteredDevice,
  asked,
  delivered,
  FOREIGN,
  type Given,
  gateScenarios,
  HWID,
  OWN,
  onPlan,
  type Scenario,
  timePasses,
} from './scenario.ts';

const CANCEL = '/remote/cancel';
const LIST = '/remote/list';
const MINUTE_MS = 60_000;

const id = { id: 1 };
const sent = asked(NOTIFICATION, OWN, {}, toAndroid);
const sentToHwid = asked(NOTIFICATION, OWN, {}, { PushNotificationForm: form, hwid: HWID });
const ordered = asked(COMMAND, OWN, {}, { ...commandToAndroid, os: ['android', 'ios'] });
const scheduledAt = (send_time: string, by = OWN) =>
  asked(
    NOTIFICATION,
    by,
    {},
    {
      PushNotificationForm: { ...form, send_date: '2026-11-20', send_time },
      os: ['android'],
    },
  );
const aForeignOne: Given = async (app) => {
  await app.core.store.updateProvider(FOREIGN.code, { plan: 'enterprise' }, ACT);
  await asked(COMMAND, FOREIGN, {}, commandToAndroid)(app);
};

/** 15:10 in UTC+3 is ten minutes after the fake clock's start. */
const planned = [...crowd, scheduledAt('15:10')];
const NOW_MS = Date.UTC(2026, 10, 20, 12);

const cancelled = (name: string, given: readonly Given[], from = 10): Scenario => ({
  name,
  path: CANCEL,
  says: 'ok',
  given,
  request: id,
  answer: '{"rc":1,"msg":"Ok"}',
  changed: [
    `distribution 1 finished_at_ms: null -> ${NOW_MS}`,
    `distribution 1 status: ${from} -> 130`,
  ],
});

const refused =
  (says: Scenario['says'], msg: string, detail: string) =>
  (name: string, given: readonly Given[], request: Scenario['request'] = id): Scenario => ({
    name,
    path: CANCEL,
    says,
    given,
    request,
    answer: JSON.stringify({ rc: 0, msg }),
    detail,
  });
const NOT_FOUND = 'Notification not found';
const notFound = refused(
  'notification_not_found',
  NOT_FOUND,
  'id names no notification or command of this provider',
);
const misfit = (detail: string) => refused('notification_not_found', NOT_FOUND, detail);
const ID_RULE = 'a whole number of 1 to 15 digits';
const tooLate = refused(
  'cancel_too_late',
  'Cannot cancel notification less than 10 minutes before scheduled time',
  'it is not scheduled, or is due in less than 10 minutes',
);
const FAILED = 'Failed to cancel notification';
const FAILED_DETAIL = 'it was sent, cancelled or blocked already, or the change could not be saved';
const failed = refused('cancel_failed', FAILED, FAILED_DETAIL);

const cancel: Scenario[] = [
  ...gateScenarios(CANCEL, id, planned, 'cancelDistribution'),
  cancelled('exactly ten minutes before', planned),
  cancelled('one that was checked and waits', [...planned, delivered], 30),
  cancelled('on the basic plan: it needs none', [...planned, onPlan('basic')]),
  tooLate('a millisecond less than ten minutes before', [...planned, timePasses(1)]),
  tooLate('one that was not scheduled and is not delivered yet', [...crowd, sent]),
  tooLate('a command that was not scheduled', [...crowd, ordered]),
  failed('one that was sent', [...crowd, sent, delivered]),
  failed('one that was scheduled and sent', [...planned, timePasses(10 * MINUTE_MS), delivered]),
  failed('one that was cancelled', [...planned, asked(CANCEL, OWN, id)]),
  {
    ...failed('a cancel that cannot be saved', planned),
    fault: { method: 'cancelDistribution', kind: 'write_failed' },
    detail: `${FAILED_DETAIL}; internal fault `,
  },
  notFound('an id that nobody has', planned, { id: 2 }),
  notFound("another provider's id", [...crowd, aForeignOne]),
  misfit(`id is required: ${ID_RULE}`)('no id', planned, {}),
  misfit(`id must be ${ID_RULE}`)('a malformed id', planned, { id: '1e0' }),
];

const record = (fields: Record<string, unknown>) => ({
  id: 1,
  target_os: 'android',
  target_hwid: '',
  status: 100,
  created_at: '2026-11-20 15:00:00',
  sent_at: '2026-11-20 15:00:00',
  notification_type: 10,
  ...fields,
});
const listed = (
  name: string,
  given: readonly Given[],
  data: readonly unknown[],
  request: Scenario['request'] = {},
): Scenario => ({
  name,
  path: LIST,
  says: 'ok',
  given,
  request,
  answer: JSON.stringify({ rc: 1, msg: 'Ok', data }),
});
const refusedList = (name: string, request: Scenario['request'], detail: string): Scenario => ({
  name,
  path: LIST,
  says: 'unknown_error',
  given: [...crowd, sent],
  request,
  answer: '{"rc":0,"msg":"Unknown error"}',
  detail,
});

const toHwid = { target_os: null, target_hwid: HWID };
const command = { id: 2, target_os: 'ios,android', notification_type: 20 };
const both = [...crowd, sent, ordered];

const list: Scenario[] = [
  ...gateScenarios(LIST, {}, [...crowd, sent], 'listDistributions'),
  listed('nothing was sent', crowd, []),
  listed('a notification that was sent', [...crowd, sent, delivered], [record({})]),
  listed('one that is accepted', [...crowd, sent], [record({ status: 10 })]),
  listed('to a HWID', [...crowd, sentToHwid, delivered], [record(toHwid)]),
  listed('both types, the newest first', both, [
    record({ ...command, status: 10 }),
    record({ status: 10 }),
  ]),
  listed(
    'one that waits: sent_at is when it will be',
    [...planned, delivered],
    [record({ status: 30, sent_at: '2026-11-20 15:10:00' })],
  ),
  listed(
    'one that was sent late: sent_at is when it was',
    [...planned, timePasses(11 * MINUTE_MS), delivered],
    [record({ sent_at: '2026-11-20 15:11:00' })],
  ),
  listed(
    'one that was cancelled',
    [...planned, asked(CANCEL, OWN, id)],
    [record({ status: 130, sent_at: '2026-11-20 15:10:00' })],
  ),
  listed(
    'one that was blocked: the plan had lapsed when it was due',
    [...planned, onPlan('pro'), timePasses(10 * MINUTE_MS), delivered],
    [record({ status: 140, sent_at: '2026-11-20 15:10:00' })],
  ),
  listed('one by its id', both, [record({ status: 10 })], id),
  listed('further back', both, [record({ status: 10 })], { before_id: 2 }),
  listed('an id that nobody has', both, [], { id: 3 }),
  listed("another provider's id", [aForeignOne], [], id),
  listed('on the basic plan: it needs none', [...crowd, onPlan('basic')], []),
  refusedList('a malformed id', { id: '-1' }, `id must be ${ID_RULE}`),
  refusedList('a malformed before_id', { before_id: 'x' }, `before_id must be ${ID_RULE}`),
];

const COUNTS = {
  expires_at: '2026-11-21 15:00:00',
  finished_at: '2026-11-20 15:00:00',
  recipients: 1,
  sent: 1,
  failed: 0,
  reachable: 0,
  received: 0,
  now: 0,
  by_push: 0,
  at_next_fetch: 0,
  not_known: 0,
  cannot: 1,
  carried: 0,
  at_least: false,
  replaces: null,
};
const UNCOUNTED = {
  finished_at: null,
  recipients: 0,
  sent: 0,
  reachable: null,
  received: null,
  now: null,
  by_push: null,
  at_next_fetch: null,
  not_known: null,
  cannot: null,
  carried: null,
  at_least: null,
  replaces: null,
};

const detailed: Scenario[] = [
  listed('with details: nobody asked for messages', [...crowd, sent, delivered], [record(COUNTS)], {
    details: 1,
  }),
  listed(
    'with details, of one that is accepted',
    [...crowd, sent],
    [record({ status: 10, ...COUNTS, ...UNCOUNTED })],
    { details: 1 },
  ),
  listed('with details, by its id', both, [record({ status: 10, ...COUNTS, ...UNCOUNTED })], {
    ...id,
    details: 1,
  }),
  listed("with details, another provider's id", [aForeignOne], [], { ...id, details: 1 }),
  refusedList('a malformed details', { details: 2 }, 'details must be 0 or 1'),
];

const RECEIPTS = '/remote/receipts';
const AT = '2026-11-20 15:00:00';
const receipt = (fields: Record<string, unknown>) => ({
  id: 1,
  hwid: HWID,
  device_name: 'Pixel 9',
  state: 'sent',
  reachable: false,
  queued_at: AT,
  sent_at: AT,
  received_at: null,
  opened_at: null,
  executed_at: null,
  refused_at: null,
  failed_at: null,
  expired_at: null,
  carried_at: null,
  carried: null,
  detail: null,
  push: null,
  push_problem: null,
  ...fields,
});
const receipts = (name: string, given: readonly Given[], data: readonly unknown[]): Scenario => ({
  ...listed(name, given, data, id),
  path: RECEIPTS,
});
const refusedReceipts = (name: string, request: Scenario['request'], detail: string): Scenario => ({
  ...refusedList(name, request, detail),
  path: RECEIPTS,
  given: [...crowd, sent, delivered],
});

const ledger: Scenario[] = [
  ...gateScenarios(RECEIPTS, id, [...crowd, sent, delivered], 'listReceipts'),
  receipts('one that was sent', [...crowd, sent, delivered], [receipt({})]),
  receipts(
    'to an app that registered',
    [...crowd, aRegisteredDevice(), sent, delivered],
    [receipt({ reachable: true })],
  ),
  receipts('one that is accepted: it has no recipients yet', [...crowd, sent], []),
  receipts('an id that nobody has', crowd, []),
  receipts("another provider's id", [aForeignOne], []),
  refusedReceipts('no id', {}, `id is required: ${ID_RULE}`),
  refusedReceipts(
    'a malformed before_id',
    { ...id, before_id: 'x' },
    `before_id must be ${ID_RULE}`,
  ),
  refusedReceipts(
    'a before_id that is of no receipt',
    { ...id, before_id: 9 },
    'before_id names no receipt of this message: its device may have been deleted; start from the first page',
  ),
];

export const remoteScenarios = [...cancel, ...list, ...detailed, ...ledger];
