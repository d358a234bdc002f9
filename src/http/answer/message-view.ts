import { byteLength } from '../../core/json-input.ts';
import type { Message } from '../../core/port/inbox.ts';
import type { WireSettings } from '../endpoint.ts';
import { wireTime } from './wire-time.ts';

/** Maps a message to the form that devices get, by long poll and by stream. */
export function messageView(
  message: Message,
  { outputOffsetMinutes }: Pick<WireSettings, 'outputOffsetMinutes'>,
) {
  return {
    id: message.id,
    notification_type: message.notificationType,
    created_at: wireTime(message.createdAtMs, outputOffsetMinutes),
    expires_at: wireTime(message.expiresAtMs, outputOffsetMinutes),
    payload: message.payload,
  };
}

interface MessageText {
  text: string;
  bytes: number;
}

const texts = new WeakMap<Message, MessageText>();

/** Returns the view as JSON: made once, as many devices may share a message. */
export function messageText(message: Message, settings: WireSettings): MessageText {
  const known = texts.get(message);
  if (known !== undefined) return known;
  const text = JSON.stringify(messageView(message, settings));
  const made = { text, bytes: byteLength(text) };
  texts.set(message, made);
  return made;
}

/** Returns the provider that sent most of the bytes of some messages; undefined: no message. */
export function senderOf(messages: readonly Message[]): number | undefined {
  const bytesOf = new Map<number, number>();
  for (const { providerId, bytes } of messages) {
    bytesOf.set(providerId, (bytesOf.get(providerId) ?? 0) + bytes);
  }
  return [...bytesOf].sort(([, a], [, b]) => b - a)[0]?.[0];
}
