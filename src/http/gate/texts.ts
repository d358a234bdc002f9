/** The texts that users read when their device, or their subscription, is refused. */

import { appOf } from '../../core/app/find.ts';
import { TEXT_LENGTH_MAX } from '../../core/app/make.ts';
import type { HiddenReason } from '../../core/outcome.ts';
import type { EndWord } from '../../core/port/ended.ts';
import type { AdmitRefusal } from '../../core/port/slot.ts';
import { announcement, WEB_PAGE_URL } from '../../core/ride/headers.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import { cutText } from '../../core/ride/text.ts';

/** Refusals with a text for the user. */
export type GateReason = Exclude<AdmitRefusal, HiddenReason>;

/** Why a panel refuses a customer; `{date}` in a text is the day of the end. */
export type EndReason = 'subscription_ended' | 'traffic_used_up';

type TextName = GateReason | EndReason | EndWord;

/** Texts by language (a tag in lower case), then by reason. */
export type GateTexts = Readonly<Record<string, Readonly<Partial<Record<TextName, string>>>>>;

/** Settings that are read for each refusal, so that a change applies at once. */
export interface TextSettings {
  readonly gateTexts: GateTexts;
  /** The language for clients that accept none of the languages of the texts. */
  readonly gateLanguage: string;
}

type AllTexts = Readonly<Record<TextName, string>>;

/** Texts in the languages of most users of panels. */
const BUILT_IN: { en: AllTexts } & Readonly<Record<string, AllTexts>> = {
  en: {
    hwid_required:
      'This app does not send a device ID (HWID). Turn it on in the settings of the app, or use another app.',
    link_not_found: 'Subscription not found. Ask support for a new link.',
    link_disabled: 'This subscription is disabled. Contact support.',
    link_limit_reached:
      'Device limit reached for this subscription. Contact support to replace a device.',
    barred: 'This device was removed from this subscription. Contact support to use it again.',
    not_named: 'This device is not on the list of this subscription. Ask support to add it.',
    copied_hwid:
      'This device ID (HWID) belongs to another phone of this subscription. Turn off a copied HWID in the settings of the app, or contact support.',
    subscription_ended: 'This subscription ended on {date}. Renew it to connect again.',
    traffic_used_up: 'The traffic of this subscription is used up. Renew it to connect again.',
    slot_freed:
      'This device was removed from the subscription. To use it again, add the subscription again.',
    link_ended: 'This subscription link has ended. Ask support for a new one.',
    link_replaced: 'This subscription has a new link. Ask support for it.',
  },
  ru: {
    hwid_required:
      'Приложение не передаёт идентификатор устройства (HWID). Включите его в настройках приложения или возьмите другое приложение.',
    link_not_found: 'Подписка не найдена. Попросите новую ссылку в поддержке.',
    link_disabled: 'Подписка отключена. Напишите в поддержку.',
    link_limit_reached:
      'Достигнут лимит устройств. Чтобы заменить устройство, напишите в поддержку.',
    barred: 'Это устройство удалено из подписки. Чтобы вернуть его, напишите в поддержку.',
    not_named: 'Этого устройства нет в списке этой подписки. Попросите поддержку добавить его.',
    copied_hwid:
      'Этот идентификатор устройства (HWID) принадлежит другому телефону этой подписки. Уберите чужой HWID в настройках приложения или напишите в поддержку.',
    subscription_ended: 'Срок подписки истёк ({date}). Продлите её, чтобы подключиться снова.',
    traffic_used_up: 'Трафик подписки израсходован. Продлите её, чтобы подключиться снова.',
    slot_freed:
      'Это устройство удалено из подписки. Чтобы пользоваться им снова, добавьте подписку ещё раз.',
    link_ended: 'Эта ссылка на подписку больше не действует. Попросите новую в поддержке.',
    link_replaced: 'У подписки новая ссылка. Попросите её в поддержке.',
  },
  zh: {
    hwid_required: '此应用未发送设备标识（HWID）。请在应用设置中启用，或换用其他应用。',
    link_not_found: '未找到该订阅。请向客服索取新的链接。',
    link_disabled: '该订阅已禁用。请联系客服。',
    link_limit_reached: '此订阅的设备数已满。如需更换设备，请联系客服。',
    barred: '此设备已从该订阅中移除。如需再次使用，请联系客服。',
    not_named: '此设备不在该订阅的设备名单中。请联系客服添加。',
    copied_hwid:
      '此设备标识（HWID）属于该订阅的另一部手机。请在应用设置中停用复制的 HWID，或联系客服。',
    subscription_ended: '该订阅已于{date}到期。续费后即可重新连接。',
    traffic_used_up: '该订阅的流量已用完。续费后即可重新连接。',
    slot_freed: '此设备已从订阅中移除。如需继续使用，请重新添加订阅。',
    link_ended: '该订阅链接已失效。请向客服索取新的链接。',
    link_replaced: '该订阅已更换链接。请向客服索取新的链接。',
  },
  fa: {
    hwid_required:
      'این برنامه شناسهٔ دستگاه (HWID) را نمی‌فرستد. آن را در تنظیمات برنامه روشن کنید یا از برنامهٔ دیگری استفاده کنید.',
    link_not_found: 'اشتراک پیدا نشد. از پشتیبانی لینک جدید بخواهید.',
    link_disabled: 'این اشتراک غیرفعال است. به پشتیبانی پیام دهید.',
    link_limit_reached:
      'ظرفیت دستگاه‌های این اشتراک پر است. برای جابه‌جایی دستگاه به پشتیبانی پیام دهید.',
    barred: 'این دستگاه از این اشتراک حذف شده است. برای استفادهٔ دوباره به پشتیبانی پیام دهید.',
    not_named:
      'این دستگاه در فهرست دستگاه‌های این اشتراک نیست. از پشتیبانی بخواهید آن را اضافه کند.',
    copied_hwid:
      'این شناسهٔ دستگاه (HWID) متعلق به گوشی دیگری از همین اشتراک است. HWID کپی‌شده را در تنظیمات برنامه خاموش کنید یا به پشتیبانی پیام دهید.',
    subscription_ended:
      'این اشتراک در {date} به پایان رسیده است. برای اتصال دوباره آن را تمدید کنید.',
    traffic_used_up: 'حجم این اشتراک تمام شده است. برای اتصال دوباره آن را تمدید کنید.',
    slot_freed:
      'این دستگاه از اشتراک حذف شده است. برای استفادهٔ دوباره، اشتراک را دوباره اضافه کنید.',
    link_ended: 'لینک این اشتراک دیگر معتبر نیست. از پشتیبانی لینک جدید بخواهید.',
    link_replaced: 'لینک این اشتراک عوض شده است. لینک جدید را از پشتیبانی بخواهید.',
  },
};

/**
 * The texts for `link_limit_reached` before the address of the page of users: only there can a user
 * remove a device.
 */
const REMOVE_HERE: Readonly<Record<string, string>> = {
  en: 'Device limit reached for this subscription. Remove a device here:',
  ru: 'Достигнут лимит устройств. Удалить устройство можно здесь:',
  zh: '此订阅的设备数已满。可在此删除设备：',
  fa: 'ظرفیت دستگاه‌های این اشتراک پر است. اینجا می‌توانید دستگاهی را حذف کنید:',
};

const FALLBACK = 'en';

interface TextInLanguage {
  text: string;
  language: string;
}

/** Returns true if a refusal has a text for people. */
export const hasText = (says: string): says is GateReason => Object.hasOwn(BUILT_IN.en, says);

/** Returns the name of the text of a refusal: that of its reason if that has one. */
export const textNameOf = <Says extends GateReason>({
  says,
  reason,
}: {
  says: Says;
  reason?: string | undefined;
}): GateReason => (reason !== undefined && hasText(reason) ? reason : says);

/** Returns a text with the address of a page behind it. */
const withPage = ({ text }: TextInLanguage, page: string | null): string =>
  page === null ? text : `${cutText(text, TEXT_LENGTH_MAX - page.length - 1)}\n${page}`;

/**
 * Returns the headers by which apps show a text beside the subscription; `page` may be null. An app
 * that has a header of its own for the text of a refusal (`userAgent`; null: none) gets that too.
 */
export function announcing(
  wording: TextInLanguage,
  page: string | null = null,
  userAgent: string | null = null,
): Record<string, string> {
  const { language } = wording;
  const notice = appOf(userAgent)?.refusal.notice ?? null;
  const text = announcement(withPage(wording, isShort(page) ? page : null));
  return {
    ...text,
    ...(notice !== null && { [notice]: text.announce }),
    ...(page !== null && { 'announce-url': page, [WEB_PAGE_URL]: page }),
    'content-language': language,
  };
}

/** The most characters of an address in a text, so that the text stays readable. */
const PAGE_LENGTH_MAX = 120;

/** Without it in the text, an app that shortens the address still has the button. */
const isShort = (page: string | null): page is string =>
  page !== null && page.length <= PAGE_LENGTH_MAX;

/**
 * Returns the text for a reason, in the first of these languages that has one: those of the request
 * (see {@link languagesOf}), that of the settings, English. `zh-TW` falls back to `zh`. A text of
 * the operator takes precedence over a built-in one. `page`: the address that stands behind the
 * text (see {@link announcing}), by which a built-in text says what the user can do; null: none.
 */
export function textFor(
  settings: TextSettings,
  reason: TextName,
  headers: Headers,
  page: string | null = null,
): TextInLanguage {
  return textIn(settings, reason, languagesOf(headers), page);
}

/** As {@link textFor}, for a request whose languages were read before. */
export function textIn(
  { gateTexts, gateLanguage }: TextSettings,
  reason: TextName,
  languages: readonly string[],
  page: string | null = null,
): TextInLanguage {
  const isHere = reason === 'link_limit_reached' && isShort(page);
  const builtIn = (language: string) =>
    isHere ? REMOVE_HERE[language] : BUILT_IN[language]?.[reason];
  for (const tag of [...languages, gateLanguage]) {
    for (const language of fromNarrow(tag)) {
      const text = gateTexts[language]?.[reason] ?? builtIn(language);
      if (text) return { text, language };
    }
  }
  return { text: builtIn(FALLBACK) ?? '', language: FALLBACK };
}

/** Returns the text for the end of a subscription at a time, ms. */
export function endTextFor(
  settings: TextSettings,
  reason: EndReason,
  headers: Headers,
  atMs: number | null,
): TextInLanguage {
  const { language, text } = textFor(settings, reason, headers);
  const date = atMs === null ? '' : dayIn(language, atMs);
  return { language, text: cutText(text.replaceAll('{date}', date)) };
}

/** Returns a day in a language; one that is no language to `Intl` has the English form. */
function dayIn(language: string, atMs: number): string {
  const form = { dateStyle: 'long', timeZone: 'UTC' } as const;
  try {
    return new Intl.DateTimeFormat(language, form).format(atMs);
  } catch {
    return new Intl.DateTimeFormat(FALLBACK, form).format(atMs);
  }
}

/** Returns a tag and its shorter forms: `zh-Hant-TW`, `zh-Hant`, `zh`. */
function fromNarrow(tag: string): string[] {
  const parts = tag.split('-', 4);
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('-'));
}
