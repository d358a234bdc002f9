/**
 * The push of a reminder that says nothing: Google and Apple read pushes, and a locked screen shows
 * them. The app shows the message itself.
 */

import type { PushContent, PushMessage } from '../port/outbox.ts';
import { languageOf, localeOf, SCRIPTS, tidyTag } from './locale.ts';
import type { NotificationPayload } from './notification.ts';
import { isUrgent } from './push.ts';

const NEWS: Readonly<Record<string, string>> = {
  en: 'There is news',
  ru: 'Есть новое сообщение',
  zh: '您有新消息',
  fa: 'پیام تازه‌ای دارید',
};

/** Returns the language of a message's own texts by their script. */
const scriptOf = (text: string) =>
  Object.keys(NEWS).find((language) => SCRIPTS.get(language)?.test(text)) ?? 'en';

/** Returns the content in the language of `locale`; null, or another one: in that of the text. */
export function neutralPush(message: PushMessage, locale: string | null): PushContent {
  const payload = message.payload as NotificationPayload;
  const body =
    (locale === null ? undefined : localeOf(payload.locales ?? {}, [locale])?.body) ?? payload.body;
  const language = locale === null ? '' : languageOf(tidyTag(locale));
  return {
    id: message.id,
    expiresAtMs: message.expiresAtMs,
    inboxMessage: null,
    kind: 'notification',
    title: null,
    body: NEWS[language] ?? NEWS[scriptOf(body)] ?? null,
    link: null,
    image: null,
    isUrgent: isUrgent(payload),
  };
}
