/** Notifications and commands: specification, from "Notifications and commands (common)" on. */

import { composeCommand, parseActionType } from '../../core/command.ts';
import { composeNotification } from '../../core/content.ts';
import {
  cancelDistribution,
  listDistributions,
  sendCommand,
  sendNotification,
} from '../../core/distribution.ts';
import { isRecord } from '../../core/json-input.ts';
import { parseSchedule } from '../../core/schedule.ts';
import { parseCommandTargets, parseNotificationTargets } from '../../core/target.ts';
import { providerEndpoint, required } from '../endpoint.ts';
import { wireTime } from '../wire-time.ts';
import { ID_RULE, Id, pageOf, pageParams } from './params.ts';

const malformed = ({ problem }: { problem: string }) =>
  ({ says: 'unknown_error', detail: problem }) as const;

const notificationEndpoint = providerEndpoint({
  method: 'POST',
  path: '/remote/notification',
  summary: 'Send a push notification',
  plan: 'enterprise',
  params: {},
  says: [
    'ok',
    'unknown_error',
    'message_too_large',
    'device_not_found',
    'no_devices_found',
    'general_too_soon',
    'notification_save_error',
  ],
  async handle({ core, provider, body, nowMs }) {
    const form = body['PushNotificationForm'];
    const content = composeNotification(form);
    if (content === 'message_too_large') return content;
    if ('problem' in content) return malformed(content);
    const { send_date: sendDate, send_time: sendTime } = isRecord(form) ? form : {};
    const schedule = parseSchedule(sendDate, sendTime, nowMs);
    if ('problem' in schedule) return malformed(schedule);
    const targets = parseNotificationTargets(body);
    if (targets === 'no_devices_found') {
      return { says: targets, detail: 'os or hwid is required' };
    }
    if (typeof targets === 'string') return targets;
    if ('problem' in targets) return malformed(targets);

    const order = { payload: content.payload, targets, dueAtMs: schedule.dueAtMs };
    const sent = await sendNotification(core, provider, order, nowMs);
    if (typeof sent === 'string') return sent;
    return 'id' in sent ? { says: 'ok', body: { id: sent.id } } : sent;
  },
});

const commandEndpoint = providerEndpoint({
  method: 'POST',
  path: '/remote/command',
  summary: 'Send a command to devices',
  plan: 'pro',
  params: {},
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
  ],
  async handle({ core, provider, body, nowMs }) {
    const action = parseActionType(body);
    if (typeof action !== 'string') return malformed(action);
    const targets = parseCommandTargets(body);
    if (typeof targets === 'string') return targets;
    if ('problem' in targets) return malformed(targets);
    const schedule = parseSchedule(body['send_date'], body['send_time'], nowMs);
    if ('problem' in schedule) return malformed(schedule);
    const content = composeCommand(body);
    if (typeof content === 'string') return content;
    if ('problem' in content) return malformed(content);

    const order = { payload: content.payload, targets, dueAtMs: schedule.dueAtMs };
    const sent = await sendCommand(core, provider, order, nowMs);
    if (typeof sent === 'string') return sent;
    return 'id' in sent ? { says: 'ok', body: { id: sent.id } } : sent;
  },
});

const cancelEndpoint = providerEndpoint({
  method: 'GET',
  path: '/remote/cancel',
  summary: 'Cancel a notification or command',
  params: { id: required(Id, { misfit: 'notification_not_found', rule: ID_RULE }) },
  says: ['ok', 'notification_not_found', 'cancel_too_late', 'cancel_failed'],
  handle: ({ core, provider, params, nowMs }) =>
    cancelDistribution(core, provider, params.id, nowMs),
});

const listEndpoint = providerEndpoint({
  method: 'GET',
  path: '/remote/list',
  summary: 'List notifications and commands, newest first',
  params: pageParams,
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, params, settings }) {
    const { outputOffsetMinutes } = settings;
    const distributions = await listDistributions(core, provider, pageOf(params));
    const data = distributions.map((distribution) => ({
      id: distribution.id,
      target_os: distribution.targetOs,
      target_hwid: distribution.targetHwid,
      status: distribution.status,
      created_at: wireTime(distribution.createdAtMs, outputOffsetMinutes),
      sent_at: wireTime(distribution.sentAtMs, outputOffsetMinutes),
      notification_type: distribution.notificationType,
    }));
    return { says: 'ok', body: { data } };
  },
});

export const remoteEndpoints = [
  notificationEndpoint,
  commandEndpoint,
  cancelEndpoint,
  listEndpoint,
];
