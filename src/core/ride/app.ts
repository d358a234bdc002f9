/**
 * The table of apps, with the headers that each app reads from the answer of a subscription. Each
 * row names its source: a document of the maker, or the file and line in the sources of an open
 * app. Repositories are on GitHub.
 */

import { AGENTS, type AppName, appNameOf } from '../app-agent.ts';
import { type AppSetting, HAPP_SETTINGS, INCY_SETTINGS } from './setting.ts';

/** A header that an app reads, and the part of a message that it carries. */
export interface AppHeader {
  readonly header: string;
  readonly part: 'message' | 'domain' | 'url';
  /** The value in words, and its effect in the app. */
  readonly effect: string;
  readonly needsProviderId: boolean;
  readonly source: string;
}

export interface App {
  readonly name: string;
  /** The first characters of its `User-Agent`, in lower case. */
  readonly prefixes: readonly string[];
  readonly reads: readonly AppHeader[];
  readonly settings: readonly AppSetting[];
  readonly settingsNeedProviderId: boolean;
  /** How the app resets a setting: by an empty header, or by an answer without the header. */
  readonly takesBack: 'empty' | 'absent';
  /** The buttons that the app shows: `support-url`, `profile-web-page-url`. */
  readonly buttons: readonly string[];
  /** The source for the settings; for an app without settings, the source that shows it. */
  readonly source: string;
}

const SUPPORT = 'support-url';
const PAGE = 'profile-web-page-url';

const HAPP = 'HappDev/happ_su: dev-docs/app-management.md';
const INCY = 'INCY-DEV/incy-docs: ru/dev-docs/app-management.en.md';
const KOALA = 'coolcoala/koala-clash: src-tauri/src/config/prfitem.rs';

type Row = Omit<AppHeader, 'header' | 'needsProviderId'> & { needsProviderId?: true };

const header = (name: string, row: Row): AppHeader => ({
  needsProviderId: false,
  ...row,
  header: name,
});

/** The text of a notification; an answer without the header removes it. */
const announce = (source: string): AppHeader =>
  header('announce', { part: 'message', effect: 'text beside the servers', source });

const linkOnText = (source: string): AppHeader =>
  header('announce-url', { part: 'message', effect: 'link on the text', source });

/**
 * The box of Happ, which stays until a new value replaces it. The document does not mention texts
 * outside ASCII: they go as `base64:`, which it has for `announce` and several panels send.
 */
const infoBox = (name: string, effect: string): AppHeader =>
  header(name, { part: 'message', effect, needsProviderId: true, source: `${HAPP}, sub-info` });

/** The headers that every app is assumed to read; apps outside the table get them. */
const UNKNOWN_READS: readonly AppHeader[] = [announce('what most apps of this field read')];

const NO_SETTINGS = { settings: [], settingsNeedProviderId: false, takesBack: 'absent' } as const;

/** Makes the row of an app that shows no announcement. */
const shows = (name: AppName, buttons: readonly string[], source: string): App => ({
  name,
  prefixes: AGENTS[name],
  reads: [],
  ...NO_SETTINGS,
  buttons,
  source,
});

export const APPS: readonly App[] = [
  {
    name: 'Happ',
    prefixes: AGENTS['Happ'],
    reads: [
      announce(`${HAPP}, "Объявление": 200 characters`),
      infoBox('sub-info-text', 'box of 200 characters; empty takes it away'),
      infoBox('sub-info-color', '`red` for `force`, `blue` for `optional`'),
      infoBox('sub-info-button-text', 'label of 25 characters; empty takes the button away'),
      infoBox('sub-info-button-link', 'the button opens it'),
      header('new-domain', {
        part: 'domain',
        effect: 'replaces the domain of the subscription',
        needsProviderId: true,
        source: `${HAPP}, "Смена домена подписки"`,
      }),
      header('new-url', {
        part: 'url',
        effect: 'replaces the URL of the subscription',
        needsProviderId: true,
        source: `${HAPP}, "Смена URL подписки"`,
      }),
    ],
    settings: HAPP_SETTINGS,
    settingsNeedProviderId: true,
    // The contract's command resets a key by an empty value, and headers take the same values.
    takesBack: 'empty',
    buttons: [SUPPORT, PAGE],
    source: `${HAPP}; dev-docs/provider-id.md`,
  },
  {
    name: 'INCY',
    prefixes: AGENTS['INCY'],
    reads: [
      announce(`${INCY}, "Announcement": 200 characters; subscription-format.en.md: five lines`),
      linkOnText(`${INCY}, "Announcement"`),
    ],
    settings: INCY_SETTINGS,
    settingsNeedProviderId: false,
    takesBack: 'absent',
    buttons: [SUPPORT, PAGE],
    source: `${INCY}, "Parameter Summary Table"`,
  },
  {
    name: 'FlClashX',
    prefixes: AGENTS['FlClashX'],
    reads: [announce('pluralplay/FlClashX: lib/models/profile.dart:195')],
    ...NO_SETTINGS,
    buttons: [SUPPORT],
    source: 'pluralplay/FlClashX: lib/models/profile.dart, headersToCollect',
  },
  {
    name: 'Koala Clash',
    prefixes: AGENTS['Koala Clash'],
    reads: [
      announce(`${KOALA}:406`),
      linkOnText(`${KOALA}:435; src/pages/home.tsx:286`),
      header('new-sub-domain', {
        part: 'domain',
        effect: 'replaces the domain of the subscription',
        source: `${KOALA}:323`,
      }),
    ],
    ...NO_SETTINGS,
    buttons: [SUPPORT, PAGE],
    source: `${KOALA}:390-404`,
  },
  {
    name: 'v2RayTun',
    prefixes: AGENTS['v2RayTun'],
    reads: [announce('PasarGuard/panel: app/models/settings.py:313, a panel that sends it')],
    ...NO_SETTINGS,
    buttons: [],
    source: 'closed; docs.v2raytun.com is not at hand',
  },
  shows('Karing', [], 'KaringX/karing: no file under lib/ reads it'),
  shows('Prizrak-Box', [SUPPORT, PAGE], 'legiz-ru/Prizrak-Box: src-go/internal/resolve.go:376-451'),
  shows(
    'LxBox',
    [SUPPORT, PAGE],
    'Leadaxe/LxBox: app/lib/services/subscription/sources.dart:244-254',
  ),
  shows(
    'Hiddify',
    [SUPPORT, PAGE],
    'hiddify/hiddify-app: lib/features/profile/data/profile_parser.dart:41-50',
  ),
  shows('v2rayNG', [], '2dust/v2rayNG: util/HttpUtil.kt:146, which returns the body alone'),
  shows(
    'Clash Verge Rev',
    [PAGE],
    'clash-verge-rev/clash-verge-rev: src-tauri/src/config/prfitem.rs:314-375',
  ),
  shows('FlClash', [], 'chen08209/FlClash: lib/models/profile.dart, update()'),
  shows('Throne', [], 'throneproj/Throne: src/configs/sub/GroupUpdater.cpp'),
  shows(
    'PassWall',
    [],
    'Openwrt-Passwall/openwrt-passwall: root/usr/share/passwall/subscribe.lua:1558',
  ),
  shows(
    'sing-box',
    [],
    'SagerNet/sing-box-for-android: utils/HTTPClient.kt:31-36, which returns the body alone',
  ),
];

/** Returns the app by the first characters of its `User-Agent`, in any case; null: unknown. */
export function appOf(userAgent: string | null | undefined): App | null {
  const name = appNameOf(userAgent ?? '');
  return name === null ? null : (BY_NAME.get(name) ?? null);
}

const BY_NAME: ReadonlyMap<string, App> = new Map(APPS.map((app) => [app.name, app]));

/** Returns the headers that an app reads; null: an unknown app. */
export const headersReadBy = (app: App | null): readonly AppHeader[] =>
  app === null ? UNKNOWN_READS : app.reads;

/**
 * Returns true if a part can ride to an app (null: an unknown one), with or without a Provider ID.
 * The value decides too: see `rideHeaders`.
 */
export function carriesPart(app: App | null, part: string, hasProviderId: boolean): boolean {
  if (part === 'update') return true;
  const key = part.startsWith('set:') ? part.slice(4) : null;
  if (key === null) {
    return headersReadBy(app).some(
      (row) => row.part === part && (hasProviderId || !row.needsProviderId),
    );
  }
  const isOpen = app !== null && (hasProviderId || !app.settingsNeedProviderId);
  return isOpen && app.settings.some((setting) => setting.key === key);
}
