/** Pushes: the content of a message for gateways. */

import { PUSH } from '../port/distribution.ts';
import type { PushContent, PushMessage } from '../port/outbox.ts';
import { plainText } from './html.ts';
import type { NotificationPayload } from './notification.ts';

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
  const own = localeOf(payload.locales ?? {}, locale);
  const title = own?.title ?? payload.title ?? null;
  return {
    ...common,
    kind: 'notification',
    title,
    // Platforms show no picture without a text.
    body: plainText(own?.body ?? payload.body) || (title === null ? '\u2026' : null),
    link: own?.['link-for-open'] ?? payload.link_for_open ?? null,
    image: payload.background_image ?? null,
    isUrgent: payload.type_push === 'force',
  };
}

/**
 * Returns the texts of a language tag: of the same tag, else of its language, else of the first tag
 * of its language; undefined: there are none. Ignores case; `_` equals `-`.
 */
function localeOf<T>(locales: Readonly<Record<string, T>>, locale: string | null): T | undefined {
  if (locale === null) return undefined;
  const tags = Object.entries(locales).map(([key, texts]) => ({ tag: tidyTag(key), texts }));
  const wanted = tidyTag(locale);
  const language = languageOf(wanted);
  const found =
    tags.find(({ tag }) => tag === wanted) ??
    tags.find(({ tag }) => tag === language) ??
    tags.find(({ tag }) => languageOf(tag) === language);
  return found?.texts;
}

const tidyTag = (tag: string) => tag.toLowerCase().replaceAll('_', '-');
const languageOf = (tag: string) => tag.split('-')[0];

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
