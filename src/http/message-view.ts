import type { Message } from '../core/messaging.ts';
import type { WireSettings } from './endpoint.ts';
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
