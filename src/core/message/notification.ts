/** Push notifications: the form of providers, the payload for devices, and its size. */

import { EXPIRE_DAYS, type Format, PUSH_ENCODED_MAX, PUSH_TYPE } from '../formats.ts';
import { byteLength, isAbsent, isRecord, isText, nameForDetail } from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';
import { HtmlBudget, sanitizeBody, showsAnything } from './html.ts';
import { isUrlToOpen, isWebUrl } from './url.ts';

/** Most bytes of the other texts of a form: {@link PUSH_ENCODED_MAX} before base64. */
const TEXT_BYTES_MAX = 3072;

/** One language of a notification. The link has hyphens here, unlike at the top level. */
interface LocalePayload {
  title?: string;
  body?: string;
  'link-for-open'?: string;
}

/** The payload for devices: the filtered form without its schedule and absent fields. */
export interface NotificationPayload {
  title?: string;
  /** Filtered HTML. */
  body: string;
  link_for_open?: string;
  background_image?: string;
  locales?: Record<string, LocalePayload>;
  type_push: (typeof PUSH_TYPE.values)[number];
  expire_days: number;
}

/** A language of 2 to 8 letters and perhaps a region or script: `RU`, `pt-BR`, `zh_Hans`. */
export const LOCALE_KEY = /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{2,8})?$/;

/** Most locales of one notification. */
export const LOCALE_COUNT_MAX = 64;

/**
 * Composes the payload of a notification from its `PushNotificationForm`, field by field in the
 * order of the specification; `readNotification` of core/message/order.ts reads the schedule.
 * Refuses `malformed`, and `message_too_large` if the encoded payload is over
 * {@link PUSH_ENCODED_MAX} bytes or the HTML is over its bounds.
 */
export function composeNotification(
  form: unknown,
): NotificationPayload | Refused<'message_too_large'> | Misfit {
  if (!isRecord(form)) return malformed('PushNotificationForm is required and must be an object');
  const reader = new FormReader();
  const payload: NotificationPayload = {
    ...reader.text(form, 'title', 'title'),
    body: reader.html(form, 'body', 'body') ?? reader.refuse('body', 'is required', ''),
    ...reader.urlToOpen(form, 'link_for_open', 'link-for-open'),
    ...reader.text(form, 'background_image', 'background_image', IMAGE),
    ...reader.locales(form['locales']),
    type_push: reader.needed(form, 'type_push', PUSH_TYPE),
    expire_days: reader.needed(form, 'expire_days', EXPIRE_DAYS),
  };
  if (reader.misfit !== null) return reader.misfit;
  const isOver = reader.isTooLarge || encodePayload(payload).length > PUSH_ENCODED_MAX;
  return isOver ? new Refused('message_too_large') : payload;
}

interface TextRule {
  fits(value: string): boolean;
  rule: string;
}

const URL_TO_OPEN: TextRule = {
  fits: isUrlToOpen,
  rule: 'must be an absolute http or https URL, or a deep link of an app',
};
const IMAGE: TextRule = { fits: isWebUrl, rule: 'must be an absolute http or https URL' };

/** Reads the fields of one form, and keeps the first misfit. */
class FormReader {
  misfit: Misfit | null = null;
  readonly #html = new HtmlBudget();
  #textBytes = 0;

  /** True: the form is too large, so that its other fields need not be read. */
  get isTooLarge(): boolean {
    return this.#textBytes > TEXT_BYTES_MAX || this.#html.isOver;
  }

  /** Keeps the misfit of a field. Returns `instead`, which is never used. */
  refuse<T>(field: string, rule: string, instead: T): T {
    this.misfit ??= malformed(`${field} ${rule}`);
    return instead;
  }

  /** Reads a text; returns no field if it is absent. */
  text<N extends string>(
    from: Record<string, unknown>,
    name: N,
    field: string,
    { fits, rule }: TextRule = { fits: () => true, rule: '' },
  ): { [K in N]?: string } {
    const value = from[name];
    if (isAbsent(value)) return {};
    if (!isText(value)) return this.refuse(field, NOT_TEXT, {});
    this.#textBytes += byteLength(value);
    if (this.isTooLarge) return {};
    return fits(value)
      ? ({ [name]: value } as { [K in N]?: string })
      : this.refuse(field, rule, {});
  }

  /** Reads a URL to open, by its `name` or by the `other` name that clients use too. */
  urlToOpen<N extends string>(
    from: Record<string, unknown>,
    name: N,
    other: string,
    prefix = '',
  ): { [K in N]?: string } {
    const source = isAbsent(from[name]) ? other : name;
    const url = this.text(from, source, `${prefix}${source}`, URL_TO_OPEN)[source];
    return (url === undefined ? {} : { [name]: url }) as { [K in N]?: string };
  }

  /** Reads and filters HTML; null: the field is absent. */
  html(from: Record<string, unknown>, name: string, field: string): string | null {
    const value = from[name];
    if (isAbsent(value)) return null;
    if (!isText(value)) return this.refuse(field, NOT_TEXT, '');
    if (!this.#html.admits(value) || this.isTooLarge) return '';
    const filtered = sanitizeBody(value);
    if (showsAnything(filtered)) return filtered;
    return this.refuse(field, 'is empty after the HTML filter has removed what is not allowed', '');
  }

  /** Reads the locales that are not empty. Clients in PHP send an empty map as `[]`. */
  locales(value: unknown): { locales?: Record<string, LocalePayload> } {
    if (isAbsent(value) || (Array.isArray(value) && value.length === 0)) return {};
    if (!isRecord(value)) {
      return this.refuse('locales', 'must be an object that maps locale codes to objects', {});
    }
    const entries = Object.entries(value);
    if (entries.length > LOCALE_COUNT_MAX) {
      return this.refuse('locales', `must not hold more than ${LOCALE_COUNT_MAX} locales`, {});
    }
    const locales: [string, LocalePayload][] = [];
    for (const [key, content] of entries) {
      const locale = this.#locale(key, content);
      if (Object.keys(locale).length > 0) locales.push([key, locale]);
      if (this.misfit !== null) return {};
    }
    return locales.length === 0 ? {} : { locales: Object.fromEntries(locales) };
  }

  #locale(key: string, content: unknown): LocalePayload {
    const field = `locales.${nameForDetail(key)}`;
    if (!LOCALE_KEY.test(key)) {
      return this.refuse(field, 'is not a locale: 2 to 8 letters, perhaps with a region', {});
    }
    if (isAbsent(content) || (Array.isArray(content) && content.length === 0)) return {};
    if (!isRecord(content)) {
      return this.refuse(field, 'must be an object with title, body and link-for-open', {});
    }
    const body = this.html(content, 'body', `${field}.body`);
    return {
      ...this.text(content, 'title', `${field}.title`),
      ...(body !== null && { body }),
      ...this.urlToOpen(content, 'link-for-open', 'link_for_open', `${field}.`),
    };
  }

  /** Reads a required field by its format. */
  needed<T>(from: Record<string, unknown>, field: string, { read, rule }: Format<T>): T {
    const value = read(from[field]);
    if (isRefused(value)) this.refuse(field, `is required and must be ${rule}`, null);
    return value as T;
  }
}

const NOT_TEXT = 'must be a string of whole Unicode characters';

/** Encodes a payload for the size rule: base64 of compact JSON. */
export function encodePayload(payload: NotificationPayload): string {
  return Buffer.from(JSON.stringify(payload), 'utf8').toString('base64');
}
