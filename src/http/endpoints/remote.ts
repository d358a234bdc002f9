/** Notifications and commands: specification, from "Notifications and commands (common)" on. */

import { type Static, Type } from '@sinclair/typebox';
import { cancelDistribution } from '../../core/message/cancel.ts';
import { readCommand, readNotification } from '../../core/message/order.ts';
import { type Accepted, sendCommand, sendNotification } from '../../core/message/send.ts';
import { STATUS_NAMES, TYPE_NAMES } from '../../core/message/status.ts';
import type { TargetCount } from '../../core/message/target-count.ts';
import { isRefused } from '../../core/outcome.ts';
import { wireTime } from '../answer/wire-time.ts';
import { providerEndpoint, type Reply, required } from '../endpoint.ts';
import { forms, HWID_EXAMPLE, pageParams, RecordId, statusOf, WireTime } from './params.ts';
import { CommandInput, NotificationInput } from './remote-bodies.ts';
import { LIST_COUNT_MAX, replyWithList } from './reply.ts';

/** A notification or command in remote/list. */
const Distribution = Type.Object(
  {
    id: RecordId,
    target_os: Type.Union([Type.String(), Type.Null()], {
      description: 'Such as `ios,android`; null if it was sent by HWID.',
      examples: [null],
    }),
    target_hwid: Type.String({
      description: 'HWIDs between commas; empty if it was sent by os.',
      examples: [HWID_EXAMPLE],
    }),
    status: statusOf(STATUS_NAMES),
    created_at: WireTime,
    sent_at: {
      ...WireTime,
      description: 'When delivery began; until then, the time for which it is scheduled.',
    },
    notification_type: statusOf(TYPE_NAMES),
  },
  { title: 'Distribution' },
);

const REACH_HEADER = {
  'x-reach': {
    about:
      'Comes with `Ok`: the devices that the message is for now, and how many of them can get messages, because an app registered them with the messaging protocol. The others are in apps that never asked. `at-least=1`: counting stopped at a bound.',
    example: 'recipients=120; reachable=14',
  },
} as const;

/** Replies to an accepted send; the header says how many of its devices can get it. */
function accepted({ id, count }: Accepted): Reply<'ok'> {
  return { says: 'ok', body: { id }, headers: count === null ? undefined : reachOf(count) };
}

function reachOf({ recipients, reachable, isAtLeast }: TargetCount) {
  const bound = isAtLeast ? '; at-least=1' : '';
  return { 'x-reach': `recipients=${recipients}; reachable=${reachable}${bound}` };
}

const notificationEndpoint = providerEndpoint({
  method: 'POST',
  path: '/remote/notification',
  summary: 'Send a push notification',
  description:
    'Sends a push notification. `Ok` means that it is on disk: a worker delivers it at once or at its time, after a crash too. A filter keeps the tags and attributes of the contract; a device gets the form after the filter, without its schedule, and as JSON in base64 it must not exceed 4096 bytes. A notification by `os` may be sent every five minutes.',
  plan: 'enterprise',
  params: {},
  input: NotificationInput,
  fields: { ok: { id: RecordId } },
  answerHeaders: REACH_HEADER,
  says: [
    'ok',
    'unknown_error',
    'message_too_large',
    'device_not_found',
    'no_devices_found',
    'general_too_soon',
    'notification_save_error',
    'notification_too_many_sends',
    'notification_kept_bytes_full',
    'notification_ledger_full',
  ],
  async handle({ core, provider, body, nowMs }) {
    const order = readNotification(body, nowMs);
    if (isRefused(order)) return order;
    const sent = await sendNotification(core, provider, order, nowMs);
    return isRefused(sent) ? sent : accepted(sent);
  },
});

const commandEndpoint = providerEndpoint({
  method: 'POST',
  path: '/remote/command',
  summary: 'Send a command to devices',
  description:
    'Sends a command to devices; it waits for a device for 30 days. All commands but `import-data` go to linked devices alone. `import-data` may also go to any HWID that the server knows: to 10 unlinked ones within 24 hours, unless the operator sets another number. So a new user gets a first subscription. Fields that an action does not need are ignored.',
  plan: 'pro',
  params: {},
  input: CommandInput,
  fields: { ok: { id: RecordId } },
  answerHeaders: REACH_HEADER,
  says: [
    'ok',
    'unknown_error',
    'target_hwid_required',
    'target_os_required',
    'import_data_empty',
    'settings_empty',
    'device_not_found',
    'unbound_not_allowed',
    'unbound_quota_exceeded',
    'command_save_error',
    'command_too_many_sends',
    'command_kept_bytes_full',
    'command_ledger_full',
  ],
  async handle({ core, provider, body, nowMs }) {
    const order = readCommand(body, nowMs);
    if (isRefused(order)) return order;
    const sent = await sendCommand(core, provider, order, nowMs);
    if (isRefused(sent)) return sent;
    return { ...accepted(sent), detail: order.leftOut };
  },
});

const cancelEndpoint = providerEndpoint({
  method: 'GET',
  path: '/remote/cancel',
  summary: 'Cancel a notification or command',
  description:
    'Cancels a scheduled notification or command, at least ten minutes before its time. After `Ok` no device ever gets it.',
  params: { id: required(forms.id, { misfit: 'notification_not_found', example: 1 }) },
  says: ['ok', 'notification_not_found', 'cancel_too_late', 'cancel_failed'],
  handle: ({ core, provider, params, nowMs }) =>
    cancelDistribution(core, provider, params.id, nowMs),
});

const listEndpoint = providerEndpoint({
  method: 'GET',
  path: '/remote/list',
  summary: 'List notifications and commands, newest first',
  description: "Lists the provider's notifications and commands, the highest `id` first.",
  params: pageParams,
  fields: { ok: { data: Type.Array(Distribution, { maxItems: LIST_COUNT_MAX }) } },
  says: ['ok', 'unknown_error'],
  handle: ({ core, provider, params, settings: { outputOffsetMinutes } }) =>
    replyWithList(
      params,
      (page) => core.store.listDistributions(provider.id, page),
      (distribution): Static<typeof Distribution> => ({
        id: distribution.id,
        target_os: distribution.targetOs,
        target_hwid: distribution.targetHwid,
        status: distribution.status,
        created_at: wireTime(distribution.createdAtMs, outputOffsetMinutes),
        sent_at: wireTime(distribution.sentAtMs, outputOffsetMinutes),
        notification_type: distribution.notificationType,
      }),
    ),
});

export const remoteEndpoints = [
  notificationEndpoint,
  commandEndpoint,
  cancelEndpoint,
  listEndpoint,
];
