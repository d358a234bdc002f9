/**
 * The apps of the soak of rides, as they come to a subscription, and what each must be shown. Made
 * from the makers' documents by hand, and not from the table of the core, which it judges.
 */

import { PANEL_HEADERS } from './panel.ts';

/** What an app shows of a message that rides. */
export interface Shape {
  name: string;
  agent: string;
  os: string;
  /** How it tells the language of its user. */
  languages: Readonly<Record<string, string>>;
  /** The language of the text that its user must read. */
  reads: Language;
  /** True: it shows announcements. */
  announces: boolean;
  /** True: it shows a link on them. */
  links: boolean;
  /** True: with a Provider ID it has a box, and takes commands. */
  isHapp: boolean;
  /** True: it takes settings without one. */
  takesSettings: boolean;
  /** The header by which it moves to another domain. */
  domainHeader: 'new-domain' | 'new-sub-domain' | null;
}

export type Language = 'default' | 'ru' | 'zh' | 'fa';

const PLAIN = {
  announces: true,
  links: false,
  isHapp: false,
  takesSettings: false,
  domainHeader: null,
} as const;

/** Shows nothing. */
const SILENT = { ...PLAIN, announces: false } as const;

const RU = { 'accept-language': 'ru-RU,ru;q=0.9,en;q=0.5' };
const FA = { 'accept-language': 'fa' };
const EN = { 'accept-language': 'en-US,en;q=0.9' };
/** Happ tells Chinese by a country. */
const CN = { 'x-device-locale': 'CN' };

export const SHAPES: readonly Shape[] = [
  {
    ...PLAIN,
    name: 'Happ',
    agent: 'Happ/3.9.1/android/1',
    os: 'Android',
    languages: { 'x-device-locale': 'RU' },
    reads: 'ru',
    isHapp: true,
    takesSettings: true,
    domainHeader: 'new-domain',
  },
  {
    ...PLAIN,
    name: 'INCY',
    agent: 'INCY/2.0.1',
    os: 'iOS',
    languages: RU,
    reads: 'ru',
    links: true,
    takesSettings: true,
  },
  {
    ...PLAIN,
    name: 'FlClashX',
    agent: 'FlClash X/v0.3.0 Platform/android',
    os: 'android',
    languages: FA,
    reads: 'fa',
  },
  {
    ...PLAIN,
    name: 'Koala Clash',
    agent: 'koala-clash/v0.2.5',
    os: 'Windows',
    languages: CN,
    reads: 'zh',
    links: true,
    domainHeader: 'new-sub-domain',
  },
  {
    ...PLAIN,
    name: 'v2RayTun',
    agent: 'v2raytun/ios',
    os: 'iOS',
    languages: { 'accept-language': 'de, fr;q=0.5' },
    reads: 'default',
  },
  {
    ...SILENT,
    name: 'Karing',
    agent: 'Karing/1.1.2 Platform/ios',
    os: 'iOS',
    languages: RU,
    reads: 'ru',
  },
  {
    ...SILENT,
    name: 'Hiddify',
    agent: 'HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box',
    os: 'android',
    languages: FA,
    reads: 'fa',
  },
  {
    ...SILENT,
    name: 'v2rayNG',
    agent: 'v2rayNG/1.9.30',
    os: 'Android',
    languages: CN,
    reads: 'zh',
  },
  {
    ...PLAIN,
    name: 'unknown',
    agent: 'SomeApp/1.0',
    os: 'Android',
    languages: EN,
    reads: 'default',
  },
  {
    ...PLAIN,
    name: 'desktop',
    agent: 'FlClash X/v0.3.0 Platform/windows',
    os: 'Windows',
    languages: {},
    reads: 'default',
  },
];

/** An agent behind which `change-user-agent` hides an app that was known before. */
export const HIDDEN_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0';

/** The operating system as targets name it; null: no target names it. */
export function targetOf({ os }: Shape): 'ios' | 'android' | null {
  const name = os.toLowerCase();
  return name === 'ios' || name === 'android' ? name : null;
}

const WORDS: Readonly<Record<Language, string>> = {
  default: 'news of',
  ru: 'новости',
  zh: '新闻',
  fa: 'خبر',
};

/** The link of a message, by its number. */
export const linkOf = (number: number) => `https://news.example.org/${number}`;

/** The form of a notification that is known again by its number in any language. */
export function formOf(number: number): Record<string, unknown> {
  const localeOf = (language: Language) => ({ body: `<b>${WORDS[language]}</b> ${number} 🎁` });
  return {
    title: `N${number}`,
    ...localeOf('default'),
    link_for_open: linkOf(number),
    locales: { RU: localeOf('ru'), 'zh-CN': localeOf('zh'), fa: localeOf('fa') },
    type_push: number % 2 === 0 ? 'force' : 'optional',
    expire_days: 3,
  };
}

/** The text that an app must show. */
export const textFor = (number: number, language: Language) =>
  `N${number}\n${WORDS[language]} ${number} 🎁`;

/** Reads a header of an app's text; null: it is absent. */
export function readText(value: string | null): string | null {
  if (value === null) return null;
  return value.startsWith('base64:')
    ? Buffer.from(value.slice('base64:'.length), 'base64').toString('utf8')
    : value;
}

/** What a panel says itself, beside `PANEL_HEADERS`: only its announcement may be replaced. */
export const PANEL_ANNOUNCE = `base64:${Buffer.from('Panel says').toString('base64')}`;
export const PANEL_SAYS: Readonly<Record<string, string>> = {
  'content-type': PANEL_HEADERS['Content-Type'],
  'subscription-userinfo': PANEL_HEADERS['Subscription-Userinfo'],
  'profile-title': PANEL_HEADERS['Profile-Title'],
  'profile-update-interval': PANEL_HEADERS['Profile-Update-Interval'],
  'content-disposition': 'attachment; filename="sub"',
  'support-url': 'https://panel.example.org/support',
  'x-panel': 'as it was',
};
