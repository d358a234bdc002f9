/**
 * What the user of an app sees of what rides on a subscription's answer: the rules of the apps, in
 * words of our own. Those of open apps were read in their sources, whose files and lines are named;
 * those of Happ and INCY in the documents of their makers. Of other apps no rule is known. They
 * share no code with src, which they judge.
 */

/** What a person sees, and what the app has changed by itself. */
export interface Shown {
  /** The text beside the servers; null: none. */
  announcement: string | null;
  /** Opens when the text is tapped; null: nothing does. */
  link: string | null;
  /** The box of Happ; null: there is none. */
  box: { text: string; color: string; button: string | null; link: string | null } | null;
  /** Buttons: the page of support, the page of the provider. */
  support: string | null;
  page: string | null;
  /** The new domain or URL of the subscription; null: it stays. */
  moved: string | null;
  settings: Readonly<Record<string, string>>;
}

export interface RidingApp {
  name: string;
  /** Repository, file and line that have the rule. */
  source: string;
  userAgent: string;
  /**
   * Returns what is seen after an answer with these headers, when `before` was seen until then;
   * null: the rule is not known.
   */
  shows(headers: Headers, before?: Shown): Shown | null;
}

export const NOTHING: Shown = {
  announcement: null,
  link: null,
  box: null,
  support: null,
  page: null,
  moved: null,
  settings: {},
};

/** A header with text; null: absent or empty. */
const filled = (headers: Headers, name: string) => headers.get(name) || null;

/** Rust and Dart decoders of base64 refuse what `Buffer` skips, and UTF-8 that is broken. */
function strictly(coded: string): string | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(coded) || coded.length % 4 !== 0) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(coded, 'base64'));
  } catch {
    return null;
  }
}

/** Plain or `base64:`; a text that does not decode is shown as nothing. */
function plainOrCoded(value: string | null): string | null {
  if (value === null) return null;
  return value.startsWith('base64:') ? strictly(value.slice(7)) : value;
}

/** The makers document the bound; what an app does beyond it is its own matter. */
function bounded(text: string | null, lengthMax: number): string | null {
  return text === null ? null : [...text].slice(0, lengthMax).join('');
}

const page = (headers: Headers) => filled(headers, 'profile-web-page-url');
const support = (headers: Headers) => filled(headers, 'support-url');

const HAPP_KEYS = [
  ...['fragmentation-enable', 'fragmentation-packets', 'fragmentation-length'],
  ...['fragmentation-interval', 'subscription-autoconnect', 'subscription-autoconnect-type'],
  ...['ping-type', 'change-user-agent', 'per-app-proxy-mode', 'per-app-proxy-list'],
  ...['server-address-resolve-enable', 'notification-subs-expire', 'app-auto-start'],
];

/** What was sent with a Provider ID stays until it is sent otherwise; no text ends the box. */
function happShows(headers: Headers, before: Shown = NOTHING): Shown {
  const announcement = bounded(plainOrCoded(filled(headers, 'announce')), 200);
  const seen = { ...NOTHING, announcement, support: support(headers), page: page(headers) };
  if (!headers.has('providerid')) return { ...seen, box: before.box, settings: before.settings };
  const settings: Record<string, string> = { ...before.settings };
  for (const key of HAPP_KEYS) {
    const value = headers.get(key);
    if (value === '') delete settings[key];
    else if (value !== null) settings[key] = value;
  }
  const moved = headers.get('new-url') ?? headers.get('new-domain');
  return { ...seen, moved, settings, box: boxOf(headers, before.box) };
}

function boxOf(headers: Headers, before: Shown['box']): Shown['box'] {
  const text = headers.get('sub-info-text');
  if (text === '' || text === '0') return null;
  const stays = before ?? { text: '', color: 'blue', button: null, link: null };
  const color = headers.get('sub-info-color') ?? stays.color;
  const label = headers.get('sub-info-button-text') ?? stays.button;
  const box = {
    text: bounded(plainOrCoded(text), 200) ?? stays.text,
    color: ['red', 'blue', 'green'].includes(color) ? color : 'blue',
    button: bounded(plainOrCoded(label || null), 25),
    link: headers.get('sub-info-button-link') ?? stays.link,
  };
  return box.text === '' ? null : box;
}

const INCY_SETTINGS: Readonly<Record<string, RegExp>> = {
  'fragmentation-enable': /^[01]$/,
  'fragmentation-packets': /^(?:tlshello|1-3|1|all)$/,
  'fragmentation-length': /^\d+-\d+$/,
  'fragmentation-interval': /^\d+-\d+$/,
  'server-address-resolve-enable': /^[01]$/,
  'per-app-proxy-enable': /^[01]$/,
  'per-app-proxy-mode': /^(?:bypass|proxy)$/,
  'per-app-proxy-list': /^[\w.,]+$/,
};

/** Each header applies as long as answers have it; five lines, then an ellipsis. */
function incyShows(headers: Headers): Shown {
  const value = filled(headers, 'announce');
  const isCoded = value?.startsWith('base64:') === true;
  const text = plainOrCoded(isCoded ? value.replace(/(?!^)[-_]/g, standard) : value);
  const lines = bounded(text, 200)?.split('\n') ?? [];
  const cut = lines.length > 5 ? `${lines.slice(0, 5).join('\n')}…` : lines.join('\n');
  const settings: Record<string, string> = {};
  for (const [key, form] of Object.entries(INCY_SETTINGS)) {
    const value = headers.get(key);
    if (value !== null && form.test(value)) settings[key] = value;
  }
  return {
    ...NOTHING,
    announcement: cut || null,
    link: filled(headers, 'announce-url'),
    support: support(headers),
    page: page(headers) ?? filled(headers, 'homepage'),
    settings,
  };
}

const standard = (character: string) => (character === '-' ? '+' : '/');

/** A header that is absent or empty changes nothing; `base64:` alone is a text of no length. */
function prizrakShows(headers: Headers, before: Shown = NOTHING): Shown {
  const value = filled(headers, 'announce');
  const given = plainOrCoded(value) ?? value;
  const announcement = bounded(value === null ? before.announcement : given, 200) || null;
  const link = filled(headers, 'announce-url') ?? before.link;
  const moved = filled(headers, 'new-url') ?? filled(headers, 'new-domain');
  const buttons = { support: support(headers), page: page(headers) };
  // The link belongs to the text, and is not shown without one.
  return { ...NOTHING, announcement, link: announcement === null ? null : link, moved, ...buttons };
}

/** All lives for one answer. Links are `https` alone. */
function clodShows(headers: Headers, lengthMax: number): Shown {
  const https = (link: string | null) => (link?.startsWith('https://') ? link : null);
  const announcement = bounded(plainOrCoded(filled(headers, 'announce')), lengthMax) || null;
  return {
    ...NOTHING,
    announcement,
    link: announcement === null ? null : https(filled(headers, 'announce-url')),
    support: https(support(headers)),
    page: https(page(headers)),
    moved: https(filled(headers, 'new-url')) ?? filled(headers, 'new-domain'),
  };
}

export const RIDING_APPS: readonly RidingApp[] = [
  {
    name: 'Happ',
    source: 'HappDev/happ_su: dev-docs/app-management.md, dev-docs/provider-id.md',
    userAgent: 'Happ/4.9.0/ios/2605051739663',
    shows: happShows,
  },
  {
    name: 'INCY',
    source:
      'INCY-DEV/incy-docs: ru/dev-docs/app-management.en.md, ru/dev-docs/subscription-format.en.md',
    userAgent: 'INCY/2.1.0/android',
    shows: incyShows,
  },
  {
    name: 'FlClashX',
    source:
      'pluralplay/FlClashX: lib/models/profile.dart:195-212, lib/views/dashboard/widgets/announce_widget.dart:18-34',
    userAgent: 'FlClash X/v0.3.0 Platform/android',
    // The widget decodes a text without a prefix too, and shows it as it is if that fails.
    shows: (headers) => {
      const value = filled(headers, 'announce');
      const coded = value?.replace(/^base64:/, '') ?? '';
      const announcement = strictly(coded) ?? value;
      const moved = filled(headers, 'flclashx-newdomain');
      return { ...NOTHING, announcement: announcement || null, support: support(headers), moved };
    },
  },
  {
    name: 'Koala Clash',
    source:
      'coolcoala/koala-clash: src-tauri/src/config/prfitem.rs:323-442, profiles.rs:219-226, src/pages/home.tsx:278-303',
    userAgent: 'koala-clash/v1.2.0',
    // Every update replaces all fields, and `\n` written out is a line feed on the page.
    shows: (headers) => {
      const text = plainOrCoded(filled(headers, 'announce'));
      return {
        ...NOTHING,
        announcement: text?.replaceAll('\\n', '\n') ?? null,
        link: text === null ? null : filled(headers, 'announce-url'),
        support: support(headers),
        page: page(headers),
        moved: filled(headers, 'new-sub-domain'),
      };
    },
  },
  {
    name: 'Prizrak-Box',
    source:
      'legiz-ru/Prizrak-Box: src-go/internal/resolve.go, ParseHeaders(); src-go/internal/subscription.go',
    userAgent: 'Clash-Meta/Prizrak-Box (Desktop Build 1.0.21 Windows)',
    shows: prizrakShows,
  },
  {
    name: 'Clod Clash',
    source: 'Mrvibecodic/clod-clash: docs/HEADERS_en.md, src-tauri/src/config/sub_headers.rs',
    userAgent: 'ClodClash/1.4.0',
    shows: (headers) => clodShows(headers, 500),
  },
  {
    name: 'Clod Clash for Android',
    source:
      'Mrvibecodic/clod-clash-android: core/src/main/golang/native/config/panel/panel.go, README.md',
    userAgent: 'ClodClash/0.0.10 (Android)',
    shows: (headers) => ({ ...clodShows(headers, 300), page: null }),
  },
  {
    name: 'LxBox',
    source: 'Leadaxe/LxBox: app/lib/services/subscription/sources.dart:236-300',
    userAgent: 'LxBox Android subscription client',
    shows: (headers) => ({ ...NOTHING, support: support(headers), page: page(headers) }),
  },
  {
    name: 'Hiddify',
    source: 'hiddify/hiddify-app: lib/features/profile/data/profile_parser.dart:41-50, 353-365',
    userAgent: 'HiddifyNext/2.5.7 (android) like ClashMeta v2ray sing-box',
    // Both links belong to the figures of the subscription, and are nowhere without them.
    shows: (headers) =>
      headers.has('subscription-userinfo')
        ? { ...NOTHING, support: support(headers), page: page(headers) }
        : NOTHING,
  },
  {
    name: 'Clash Verge Rev',
    source: 'clash-verge-rev/clash-verge-rev: src-tauri/src/config/prfitem.rs:314-375',
    userAgent: 'clash-verge/v2.4.3',
    shows: (headers) => ({ ...NOTHING, page: page(headers) }),
  },
  {
    name: 'v2rayNG',
    source: '2dust/v2rayNG: util/HttpUtil.kt:146-200, which returns the body alone',
    userAgent: 'v2rayNG/1.10.20',
    shows: () => NOTHING,
  },
  {
    name: 'v2rayN',
    source: '2dust/v2rayN: ServiceLib/Services/DownloadService.cs, which returns the body alone',
    userAgent: 'v2rayN/7.15.0',
    shows: () => NOTHING,
  },
  {
    name: 'NekoBox',
    source: 'MatsuriDayo/NekoBoxForAndroid: group/RawUpdater.kt, Subscription-Userinfo alone',
    userAgent: 'NekoBox/Android/1.4.2 (Prefer ClashMeta Format)',
    shows: () => NOTHING,
  },
  {
    name: 'Clash Party',
    source: 'mihomo-party-org/clash-party: src/main/config/profile.ts, createProfile()',
    userAgent: 'mihomo.party/v1.9.6 (clash.meta)',
    shows: (headers) => ({ ...NOTHING, page: page(headers) }),
  },
  {
    name: 'Clash Meta for Android',
    source: 'MetaCubeX/ClashMetaForAndroid: config/fetch.go, two headers of figures alone',
    userAgent: 'ClashMetaForAndroid/2.11.21',
    shows: () => NOTHING,
  },
  {
    name: 'Throne',
    source: 'throneproj/Throne: src/configs/sub/GroupUpdater.cpp, Subscription-UserInfo alone',
    userAgent: 'Throne/1.0.8',
    shows: () => NOTHING,
  },
  {
    name: 'sing-box for Android',
    source:
      'SagerNet/sing-box-for-android: utils/HTTPClient.kt:31-36, which returns the body alone',
    userAgent: 'SFA/1.12.0 (500; sing-box 1.12.0; language ru_RU)',
    shows: () => NOTHING,
  },
  {
    name: 'v2RayTun',
    source: 'closed; PasarGuard/panel: app/models/settings.py:313 says that it shows `announce`',
    userAgent: 'v2raytun/android',
    shows: () => null,
  },
  {
    name: 'Shadowrocket',
    source: 'closed',
    userAgent: 'Shadowrocket/2701 CFNetwork/1494.0.7 Darwin/23.4.0',
    shows: () => null,
  },
];

/** The apps that show an announcement by a source, and those with a link on it. */
export const LINKED_APPS: readonly string[] = [
  ...['INCY', 'Koala Clash', 'Prizrak-Box', 'Clod Clash', 'Clod Clash for Android'],
];
export const SHOWING_APPS: readonly string[] = ['Happ', 'FlClashX', ...LINKED_APPS];

/** The app of a name, for tests that need one. */
export function ridingApp(name: string): RidingApp {
  const app = RIDING_APPS.find((row) => row.name === name);
  if (app === undefined) throw new Error(`no riding app ${name}`);
  return app;
}
