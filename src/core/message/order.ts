/** Orders: the sends of providers, read in the order of the specification's tables. */

import { isRecord } from '../json-input.ts';
import { isRefused, type Refused } from '../outcome.ts';
import type { Segment } from '../port/device-search.ts';
import type { KeyedCall } from '../port/idempotency.ts';
import { type CommandPayload, composeCommand, readActionType } from './command.ts';
import { markFilled, readFill } from './fill-form.ts';
import type { StoredNotification } from './filling.ts';
import { composeNotification } from './notification.ts';
import { readReplaces } from './replacing.ts';
import { readSchedule, type Schedule } from './schedule.ts';
import { readCommandTargets, readNotificationTargets, type Targets } from './target.ts';

/** Content, recipients and time of a send. */
export interface Order<P> extends Schedule {
  payload: P;
  targets: Targets;
  /** The key of the call; null or absent: it cannot be repeated. */
  keyed?: KeyedCall | null;
  /** The notification that it replaces; null or absent: none. */
  replacesId?: number | null;
}

type Body = Readonly<Record<string, unknown>>;

/** The rules of a surface besides those of the API. */
interface OrderBounds {
  hwidCountMax?: number | undefined;
  segment?: Segment | null | undefined;
}

/**
 * Reads the body of `POST /remote/notification`: content, schedule, targets, and the replaced
 * notification, and whether placeholders are filled. `segment` takes the place of the targets.
 * Returns a misfit or a refusal of the targets.
 */
export function readNotification(
  body: Body,
  nowMs: number,
  { hwidCountMax, segment = null }: OrderBounds = {},
):
  | Order<StoredNotification>
  | Refused<'malformed' | 'message_too_large' | 'device_not_found' | 'no_devices_found'> {
  const form = body['PushNotificationForm'];
  const isFilled = readFill(body['fill']);
  const plain = composeNotification(form);
  if (isRefused(plain)) return plain;
  if (isRefused(isFilled)) return isFilled;
  const payload = isFilled ? markFilled(plain) : plain;
  if (isRefused(payload)) return payload;
  const schedule = readSchedule(isRecord(form) ? form : {}, nowMs);
  if (isRefused(schedule)) return schedule;
  const targets = segment ? { segment } : readNotificationTargets(body, hwidCountMax);
  if (isRefused(targets)) return targets;
  const replacesId = readReplaces(body['replaces']);
  return isRefused(replacesId) ? replacesId : { payload, targets, ...schedule, replacesId };
}

/**
 * Reads the body of `POST /remote/command`: action, targets, schedule, content. `note`: a sentence
 * about settings that were omitted or do not fit. `segment` takes the place of the targets. Returns
 * a misfit or a refusal of the targets.
 */
export function readCommand(
  body: Body,
  nowMs: number,
  { hwidCountMax, segment = null }: OrderBounds = {},
):
  | (Order<CommandPayload> & { note?: string })
  | Refused<
      | 'malformed'
      | 'target_hwid_required'
      | 'target_os_required'
      | 'device_not_found'
      | 'import_data_empty'
      | 'settings_empty'
    > {
  const action = readActionType(body);
  if (isRefused(action)) return action;
  const targets = segment ? { segment } : readCommandTargets(body, hwidCountMax);
  if (isRefused(targets)) return targets;
  const schedule = readSchedule(body, nowMs);
  if (isRefused(schedule)) return schedule;
  const content = composeCommand(body);
  return isRefused(content) ? content : { ...content, targets, ...schedule };
}
