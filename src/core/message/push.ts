/** Pushes: the content of a message for gateways. */

import { PUSH } from '../port/distribution.ts';
import type { PushContent, PushMessage } from '../port/outbox.ts';
import { localeOf } from './locale.ts';
import type { NotificationPayload } from './notification.ts';
import { plainText } from './plain-text.ts';

/** The operator's settings of contents. */
export interface PushSettings {
  /** True: gateways carry the whole message, also import data and settings. */
  readonly gatewayCarryMessages: boolean;
  /** The zone of its times: minutes east of UTC. */
  readonly outputOffsetMinutes: number;
}

/**
 * Renders a message for gateways: the texts of a notification in the language of `locale` (null:
 * unknown); of a command no content.
 */
export function renderPush(
  message: PushMessage,
  locale: string | null,
  settings: PushSettings,
): PushContent {
  const { id, expiresAtMs } = message;
  const inboxMessage = settings.gatewayCarryMessages ? inboxJson(message, settings) : null;
  const common = { id, expiresAtMs, inboxMessage };
  if (message.notificationType !== PUSH) {
    const nothing = { title: null, body: null, link: null, image: null };
    return { ...common, kind: 'command', ...nothing, isUrgent: false };
  }
  const payload = message.payload as NotificationPayload;
  const { title, body, link } = textsOf(payload, locale === null ? [] : [locale]);
  return {
    ...common,
    kind: 'notification',
    title,
    // Platforms show no picture without a text.
    body: body || (title === null ? '\u2026' : null),
    link,
    image: payload.background_image ?? null,
    isUrgent: isUrgent(payload),
  };
}

/** Returns true if the provider asks for attention. */
export const isUrgent = ({ type_push }: NotificationPayload): boolean => type_push === 'force';

/** The texts of a notification in one language. */
interface Texts {
  title: string | null;
  /** Plain text; empty: an image alone. */
  body: string;
  link: string | null;
}

/** Returns the texts of a notification for a reader; `languages` has the preferred one first. */
export function textsOf(payload: NotificationPayload, languages: readonly string[]): Texts {
  const body = plainText(payload.body);
  const own = localeOf(payload.locales ?? {}, languages, body);
  return {
    title: own?.title ?? payload.title ?? null,
    body: own?.body === undefined ? body : plainText(own.body),
    link: own?.['link-for-open'] ?? payload.link_for_open ?? null,
  };
}

/** Formats the message as `GET /device/inbox` does. */
function inboxJson(message: PushMessage, { outputOffsetMinutes }: PushSettings): string {
  const wireTime = (atMs: number) =>
    new Date(atMs + outputOffsetMinutes * 60_000).toISOString().slice(0, 19).replace('T', ' ');
  return JSON.stringify({
    id: message.id,
    notification_type: message.notificationType,
    created_at: wireTime(message.createdAtMs),
    expires_at: wireTime(message.expiresAtMs),
    payload: message.payload,
  });
}
