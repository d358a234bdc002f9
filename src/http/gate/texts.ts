/** The texts that users read when their device is refused. */

import type { Reason } from '../../core/outcome.ts';
import type { AdmitRefusal } from '../../core/port/slot.ts';
import { announcement, WEB_PAGE_URL } from '../../core/ride/headers.ts';
import { languagesOf } from '../../core/ride/languages.ts';
import { cutText, TEXT_LENGTH_MAX } from '../../core/ride/text.ts';

/** Refusals with a text for the user. */
export type GateReason = Exclude<AdmitRefusal, Reason>;

/** Texts by language (a tag in lower case), then by reason. */
export type GateTexts = Readonly<Record<string, Readonly<Partial<Record<GateReason, string>>>>>;

/** Settings that are read for each refusal, so that a change applies at once. */
export interface TextSettings {
  readonly gateTexts: GateTexts;
  /** The language for clients that accept none of the languages of the texts. */
  readonly gateLanguage: string;
}

type AllTexts = Readonly<Record<GateReason, string>>;

/** Texts in the languages of most users of panels. */
const BUILT_IN: { en: AllTexts } & Readonly<Record<string, AllTexts>> = {
  en: {
    hwid_required:
      'Open this link in an app that tells its device (HWID). Some do once it is turned on in their settings.',
    link_not_found: 'This subscription is not known here. Ask your provider for a new link.',
    link_disabled: 'This subscription is switched off. Ask your provider.',
    link_limit_reached:
      'All devices of this subscription are taken. Remove one, or ask your provider for more.',
  },
  ru: {
    hwid_required:
      'Откройте ссылку в приложении, которое передаёт идентификатор устройства (HWID). В некоторых его нужно включить в настройках.',
    link_not_found: 'Такая подписка здесь неизвестна. Попросите у провайдера новую ссылку.',
    link_disabled: 'Эта подписка отключена. Обратитесь к провайдеру.',
    link_limit_reached:
      'Достигнут лимит устройств этой подписки. Удалите одно из них или обратитесь к провайдеру.',
  },
  zh: {
    hwid_required: '请在会发送设备标识（HWID）的应用中打开此链接。有些应用需要先在设置中启用。',
    link_not_found: '此处没有该订阅。请向服务商索取新的链接。',
    link_disabled: '该订阅已停用。请联系服务商。',
    link_limit_reached: '该订阅的设备数量已达上限。请移除一台设备，或联系服务商。',
  },
  fa: {
    hwid_required:
      'این پیوند را در برنامه‌ای باز کنید که شناسهٔ دستگاه (HWID) را می‌فرستد. در برخی برنامه‌ها باید آن را در تنظیمات روشن کنید.',
    link_not_found: 'این اشتراک اینجا شناخته نیست. از ارائه‌دهنده پیوند تازه بخواهید.',
    link_disabled: 'این اشتراک غیرفعال است. با ارائه‌دهنده تماس بگیرید.',
    link_limit_reached:
      'ظرفیت دستگاه‌های این اشتراک پر است. یکی را حذف کنید یا با ارائه‌دهنده تماس بگیرید.',
  },
};

const FALLBACK = 'en';

interface TextInLanguage {
  text: string;
  language: string;
}

/** Returns true if a refusal has a text for people. */
export const hasText = (says: string): says is GateReason => Object.hasOwn(BUILT_IN.en, says);

/** Returns a text with the address of a page behind it. */
const withPage = ({ text }: TextInLanguage, page: string | null): string =>
  page === null ? text : `${cutText(text, TEXT_LENGTH_MAX - page.length - 1)}\n${page}`;

/** Returns the headers by which apps show a text beside the subscription; `page` may be null. */
export function announcing(
  wording: TextInLanguage,
  page: string | null = null,
): Record<string, string> {
  const { language } = wording;
  // An app that shortens the address still has the link of the text, or the button.
  const isShort = page !== null && page.length <= PAGE_LENGTH_MAX;
  return {
    ...announcement(withPage(wording, isShort ? page : null)),
    ...(page !== null && { 'announce-url': page, [WEB_PAGE_URL]: page }),
    'content-language': language,
  };
}

/** The most characters of an address in a text, so that the text stays readable. */
const PAGE_LENGTH_MAX = 120;

/**
 * Returns the text for a reason, in the first of these languages that has one: those of the request
 * (see {@link languagesOf}), that of the settings, English. `zh-TW` falls back to `zh`. A text of
 * the operator takes precedence over a built-in one.
 */
export function textFor(
  { gateTexts, gateLanguage }: TextSettings,
  reason: GateReason,
  headers: Headers,
): TextInLanguage {
  for (const tag of [...languagesOf(headers), gateLanguage]) {
    for (const language of fromNarrow(tag)) {
      const text = gateTexts[language]?.[reason] ?? BUILT_IN[language]?.[reason];
      if (text) return { text, language };
    }
  }
  return { text: BUILT_IN[FALLBACK]?.[reason] ?? '', language: FALLBACK };
}

/** Returns a tag and its shorter forms: `zh-Hant-TW`, `zh-Hant`, `zh`. */
function fromNarrow(tag: string): string[] {
  const parts = tag.split('-', 4);
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('-'));
}
