/** Notifications and commands: specification, from "Notifications and commands (common)" on. */

import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { nowOf } from '../../core/device-reach.ts';
import { SEARCHED_HWIDS_MAX } from '../../core/device-search.ts';
import { readFiguresWish } from '../../core/figures-filter.ts';
import { isAbsent } from '../../core/json-input.ts';
import { cancelDistribution } from '../../core/message/cancel.ts';
import { noteOn } from '../../core/message/command.ts';
import { PLACEHOLDER_NAMES } from '../../core/message/fill.ts';
import { readCommand, readNotification } from '../../core/message/order.ts';
import { readSegment } from '../../core/message/segment.ts';
import { STATUS_NAMES, TYPE_NAMES } from '../../core/message/status.ts';
import { isRefused, malformed } from '../../core/outcome.ts';
import type { Distribution as DistributionRecord } from '../../core/port/distribution.ts';
import type { Page } from '../../core/port/page.ts';
import type { DistributionReach } from '../../core/port/receipt.ts';
import { type Accepted, sendCommand, sendNotification } from '../../core/send.ts';
import type { TargetCount } from '../../core/target-count.ts';
import { wireTime } from '../answer/wire-time.ts';
import { optional, providerEndpoint, type Reply, required } from '../endpoint.ts';
import { figuresParams, refusedFigures } from './figures-params.ts';
import { keyParam, REPEATED, sendOnce } from './once.ts';
import { forms, HWID_EXAMPLE, orNull, pageParams, RecordId, statusOf, WireTime } from './params.ts';
import { CommandInput, NotificationInput } from './remote-bodies.ts';
import { LIST_COUNT_MAX, replyWithList } from './reply.ts';

/** Most records of a list with details, and of one read: each counts rows of its ledger. */
const DETAILS_COUNT_MAX = 100;
const DETAILS_BOUNDS = { countMax: DETAILS_COUNT_MAX, pageCount: 5 };
/** Most rows of a ledger that are counted. */
const REACH_ROWS = 2_000;

const Count = Type.Integer({ minimum: 0, examples: [12] });

/** Makes fields that come with `details=1` alone. */
const detailFields = <F extends Record<string, readonly [TSchema, string]>>(fields: F) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, [schema, about]]) => {
      return [name, Type.Optional({ ...schema, description: `Only with \`details=1\`: ${about}` })];
    }),
  );

/** A notification or command in remote/list. */
const Distribution = Type.Object(
  {
    id: RecordId,
    target_os: Type.Union([Type.String(), Type.Null()], {
      description: 'Such as `ios,android`; null if it was sent by HWID or by a filter.',
      examples: [null],
    }),
    target_hwid: Type.String({
      description:
        'HWIDs between commas; empty if it was sent by os or by a filter. Up to five, or up to 500 from the console.',
      examples: [HWID_EXAMPLE],
    }),
    status: statusOf(STATUS_NAMES),
    created_at: WireTime,
    sent_at: {
      ...WireTime,
      description: 'When delivery began; until then, the time for which it is scheduled.',
    },
    notification_type: statusOf(TYPE_NAMES),
    ...detailFields({
      expires_at: [WireTime, 'when a device can get it no more.'],
      finished_at: [orNull(WireTime), 'when it ended; null: it has not.'],
      recipients: [Count, 'its devices; 0 before delivery begins.'],
      sent: [Count, 'those in whose inbox it was put.'],
      failed: [Count, 'those to which it could not be sent.'],
      reachable: [
        orNull(Count),
        'those that can get it: an app registered them with this provider. The others are in apps that never asked. Null before delivery begins, and when the ledger was deleted.',
      ],
      received: [orNull(Count), 'those that acknowledged it.'],
      now: [orNull(Count), 'those that get it when they ask, or by their stream.'],
      by_push: [orNull(Count), 'those for which a gateway was asked to push.'],
      at_next_fetch: [
        orNull(Count),
        'those that it rides to on their subscription, at most, or rode to, in apps that show it.',
      ],
      not_known: [
        orNull(Count),
        'those that it rides to as well, in apps of which it is not known that they show it.',
      ],
      cannot: [orNull(Count), 'all others.'],
      carried: [orNull(Count), 'those whose subscription carried it.'],
      at_least: [
        orNull(Type.Boolean({ examples: [false] })),
        `whether \`reachable\` and \`received\` count the first ${REACH_ROWS} devices alone.`,
      ],
      replaces: [orNull(RecordId), 'the notification that it corrects.'],
    }),
  },
  { title: 'Distribution' },
);

const REACH_HEADER = {
  'x-reach': {
    about:
      'Comes with `Ok`: the devices that the message is for now, and how many of them can get messages, because an app registered them with the messaging protocol. The others are in apps that never asked. All of them by how the message comes: `now` to apps that ask or hold a stream, by `push` through a gateway, on the subscription at the next `fetch` to apps that show it, and those that `cannot` get it. `not-known`, if there are any: it rides to them as well, and whether their apps show it is not known. `within-hours`: how soon apps fetch; `guess=1`: a panel sets that. `at-least=1`: counting stopped at a bound.',
    example: 'recipients=120; reachable=14; now=4; push=10; fetch=80; cannot=26; within-hours=12',
  },
} as const;

/** Replies to an accepted send; a header has the number of devices that can get it. */
function accepted({ id, count, isRepeat }: Accepted): Reply<'ok'> {
  const headers = count === null ? undefined : reachOf(count);
  return { says: 'ok', body: { id }, headers, ...(isRepeat && { detail: REPEATED }) };
}

function reachOf(count: TargetCount) {
  const { recipients, reachable, ways, withinHours, isGuess, isAtLeast } = count;
  const unknown = ways.unknown === 0 ? '' : `; not-known=${ways.unknown}`;
  const within =
    ways.fetch + ways.unknown === 0
      ? ''
      : `; within-hours=${withinHours}${isGuess ? '; guess=1' : ''}`;
  const all = `recipients=${recipients}; reachable=${reachable}; now=${nowOf(ways)}; push=${ways.push}`;
  const bound = isAtLeast ? '; at-least=1' : '';
  const late = `fetch=${ways.fetch}; cannot=${ways.none}${unknown}`;
  return { 'x-reach': `${all}; ${late}${within}${bound}` };
}

/** The placeholders in one line. */
const PLACEHOLDERS_ABOUT = PLACEHOLDER_NAMES.map((name) => `\`{${name}}\``).join(', ');

/** The key of a call may also be a field of the body. */
const IN_BODY = ' It may also be a field of the body.';

const notificationEndpoint = providerEndpoint({
  method: 'POST',
  path: '/remote/notification',
  repeat: 'keyed',
  needs: 'send',
  summary: 'Send a push notification',
  description:
    'Sends a push notification. `Ok` means that it is on disk: a worker delivers it at once or at its time, after a crash too. A filter keeps the tags and attributes of the contract; a device gets the form after the filter, without its schedule, and as JSON in base64 it must not exceed 4096 bytes. A notification by `os` may be sent every five minutes.',
  plan: 'enterprise',
  params: {
    ...keyParam(IN_BODY),
    replaces: optional(forms.id, {
      misfit: 'unknown_error',
      about: `The \`id\` of an earlier notification of the provider, with the same recipients, which this one corrects: the earlier one expires at once, gateways push this one to no device, and the five minutes are not for the first correction of a notification.${IN_BODY} An extension of the public contract.`,
    }),
    fill: optional(forms.flag, {
      misfit: 'unknown_error',
      about: `1: placeholders in the texts of bodies are filled for each device (${PLACEHOLDERS_ABOUT}); \`{days_left|soon}\` has a text for devices without a value. Refused: an unknown placeholder; one in a title, link, image or tag; and a message that could exceed its bound once it is filled. Without it braces are delivered as they are.${IN_BODY} An extension of the public contract.`,
    }),
    ...figuresParams(
      ` Sent to all devices that have a slot on such a link, and whose home link it is, in place of \`hwid\` and \`os\`; a scheduled one to those that match when it is due. To more than ${SEARCHED_HWIDS_MAX} of them it counts as a notification by \`os\`: one every five minutes.${IN_BODY}`,
    ),
  },
  input: NotificationInput,
  fields: { ok: { id: RecordId } },
  answerHeaders: REACH_HEADER,
  says: [
    'ok',
    'auth_error',
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
  handle: (call) => {
    const { core, provider, params, nowMs } = call;
    const { idempotency_key: _, ...fields } = params;
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
    for (const [name, value] of Object.entries(given)) {
      const inBody = call.body[name];
      if (!isAbsent(inBody) && `${inBody}` !== `${value}`) {
        return malformed(`${name} was given twice with different values`);
      }
    }
    const body = { ...call.body, ...given };
    const refused = readFiguresWish(body) && refusedFigures(call);
    if (refused !== null) return refused;
    return sendOnce({ core, provider, params, body, nowMs }, 'notification', async (keyed) => {
      const segment = readSegment(provider, body);
      if (isRefused(segment)) return segment;
      const order = readNotification(body, nowMs, { segment });
      if (isRefused(order)) return order;
      const sent = await sendNotification(core, provider, { ...order, keyed }, nowMs);
      return isRefused(sent) ? sent : accepted(sent);
    });
  },
});

const commandEndpoint = providerEndpoint({
  method: 'POST',
  path: '/remote/command',
  repeat: 'keyed',
  needs: 'send',
  summary: 'Send a command to devices',
  description:
    'Sends a command to devices; it waits for a device for 30 days. All commands but `import-data` go to linked devices alone. `import-data` may also go to any HWID that the server knows: to 10 unlinked ones within 24 hours, unless the operator sets another number. So a new user gets a first subscription. Fields that an action does not need are ignored.',
  plan: 'pro',
  params: keyParam(IN_BODY),
  input: CommandInput,
  fields: { ok: { id: RecordId } },
  answerHeaders: {
    ...REACH_HEADER,
    'x-note': {
      about:
        'Comes with `Ok` to `sub-change` of a domain: the old one must be served until every device has got the command.',
      example: noteOn({ action_type: 'sub-change', change_type: 'domain', change_value: '' }) ?? '',
    },
  },
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
  handle: (call) =>
    sendOnce(call, 'command', async (keyed) => {
      const { core, provider, body, nowMs } = call;
      const order = readCommand(body, nowMs);
      if (isRefused(order)) return order;
      const sent = await sendCommand(core, provider, { ...order, keyed }, nowMs);
      if (isRefused(sent)) return sent;
      const note = noteOn(order.payload);
      const { headers, ...rest } = accepted(sent);
      const all = { ...headers, ...(note !== null && { 'x-note': note }) };
      return { detail: order.note, ...rest, headers: all };
    }),
});

const cancelEndpoint = providerEndpoint({
  method: 'GET',
  path: '/remote/cancel',
  repeat: 'noted',
  needs: 'send',
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
  repeat: 'reads',
  needs: 'read',
  summary: 'List notifications and commands, newest first',
  description: "Lists the provider's notifications and commands, the highest `id` first.",
  params: {
    ...pageParams,
    details: optional(forms.flag, {
      misfit: 'unknown_error',
      about: `With 1 each record has its counts too, and a list has ${DETAILS_COUNT_MAX} records at most: an extension of the public contract.`,
    }),
  },
  fields: { ok: { data: Type.Array(Distribution, { maxItems: LIST_COUNT_MAX }) } },
  says: ['ok', 'unknown_error'],
  handle({ core, provider, params, settings: { outputOffsetMinutes: offset } }) {
    const { details, ...page } = params;
    if (details === 1) {
      const read = (of: Page) => core.store.listReaches(provider.id, of, REACH_ROWS);
      return replyWithList(
        page,
        read,
        (record) => ({
          ...rowOf(record, offset),
          ...countsOf(record, offset),
        }),
        DETAILS_BOUNDS,
      );
    }
    const read = (of: Page) => core.store.listDistributions(provider.id, of);
    return replyWithList(page, read, (record) => rowOf(record, offset));
  },
});

function rowOf(record: DistributionRecord, offsetMinutes: number): Static<typeof Distribution> {
  return {
    id: record.id,
    target_os: record.targetOs,
    target_hwid: record.targetHwid,
    status: record.status,
    created_at: wireTime(record.createdAtMs, offsetMinutes),
    sent_at: wireTime(record.sentAtMs, offsetMinutes),
    notification_type: record.notificationType,
  };
}

function countsOf(record: DistributionReach, offsetMinutes: number) {
  const { reach, finishedAtMs } = record;
  return {
    expires_at: wireTime(record.expiresAtMs, offsetMinutes),
    finished_at: finishedAtMs === null ? null : wireTime(finishedAtMs, offsetMinutes),
    recipients: record.recipientCount,
    sent: record.sentCount,
    failed: record.failedCount,
    reachable: reach?.reachable ?? null,
    received: reach?.received ?? null,
    now: reach && nowOf(reach),
    by_push: reach?.push ?? null,
    at_next_fetch: reach?.fetch ?? null,
    not_known: reach?.unknown ?? null,
    cannot: reach?.none ?? null,
    carried: reach?.carried ?? null,
    at_least: reach?.isAtLeast ?? null,
    replaces: record.replacesId,
  };
}

export const remoteEndpoints = [
  notificationEndpoint,
  commandEndpoint,
  cancelEndpoint,
  listEndpoint,
];
