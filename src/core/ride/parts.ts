/** The parts of a message that ride. Each part rides, ends and is replaced on its own. */

import type { CommandPayload } from '../message/command.ts';
import type { StoredNotification } from '../message/filling.ts';
import { PUSH } from '../port/distribution.ts';
import { isSettingRidden } from './setting.ts';

/**
 * A part of a message.
 *
 * | part | of |
 * |---|---|
 * | `message` | a notification |
 * | `domain`, `url` | `sub-change` |
 * | `update` | `update-subscription`: the fetch itself does it, without a header |
 * | `set:KEY` | `set-settings`, one part a setting |
 */
export type Part = 'message' | 'domain' | 'url' | 'update' | `set:${string}`;

export type RidingPayload = StoredNotification | CommandPayload;

/**
 * Returns the parts of a message that can ride in any app. Of `set-settings` only keys in the table
 * of settings ride; of `import-data` nothing, because no app reads servers from a header.
 */
export function partsOf(notificationType: number, payload: RidingPayload): readonly Part[] {
  if (notificationType === PUSH || !('action_type' in payload)) return ['message'];
  switch (payload.action_type) {
    case 'set-settings':
      return Object.keys(payload.settings)
        .filter(isSettingRidden)
        .map((key) => `set:${key}` as const);
    case 'sub-change':
      return [payload.change_type];
    case 'update-subscription':
      return ['update'];
    default:
      return [];
  }
}

/**
 * Returns the parts that ride to all devices, or to named ones. A URL belongs to one user, so it
 * rides only to named devices.
 */
export function partsTo(
  isToAll: boolean,
  notificationType: number,
  payload: RidingPayload,
): readonly Part[] {
  const parts = partsOf(notificationType, payload);
  return isToAll ? parts.filter((part) => part !== 'url') : parts;
}

/** Returns the key of a part `set:KEY`; null: another part. */
export const settingKeyOf = (part: string): string | null =>
  part.startsWith('set:') ? part.slice(4) : null;
