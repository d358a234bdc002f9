import type { Message } from '../../core/port/inbox.ts';
import type { WireSettings } from '../endpoint.ts';
import { wireTime } from './wire-time.ts';

/** A message as a device gets it, by long poll and by stream alike. */
export function messageView(message: Message, { outputOffsetMinutes }: WireSettings) {
  return {
    id: message.id,
    notification_type: message.notificationType,
    created_at: wireTime(message.createdAtMs, outputOffsetMinutes),
    expires_at: wireTime(message.expiresAtMs, outputOffsetMinutes),
    payload: message.payload,
  };
}

/** The provider who sent most of the bytes of some messages; undefined: there are none. */
export function senderOf(messages: readonly Message[]): number | undefined {
  const bytesOf = new Map<number, number>();
  for (const { providerId, bytes } of messages) {
    bytesOf.set(providerId, (bytesOf.get(providerId) ?? 0) + bytes);
  }
  return [...bytesOf].sort(([, a], [, b]) => b - a)[0]?.[0];
}
