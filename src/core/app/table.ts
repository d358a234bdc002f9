/**
 * The table of apps: what each reads from the answer of a subscription, what it sends, and what it
 * does with a refusal. Each row names its source, a document of the maker or a file of an open app
 * (repositories are on GitHub), and the day on which it was read. What no source says is "not
 * known". The tables of the documents are made from these rows. The settings of apps are in
 * `ride/setting.ts`.
 */

import {
  adds,
  announce,
  CLOSED,
  fallback,
  infoBox,
  installs,
  linkOnText,
  NAME_OF_SERVER,
  NOT_KNOWN,
  names,
  newDomain,
  newUrl,
  row,
  UNKNOWN_READS,
} from './make.ts';
import type { App } from './record.ts';

const SUPPORT = 'support-url';
const PAGE = 'profile-web-page-url';

const HAPP = 'HappDev/happ_su: dev-docs/app-management.md';
const INCY = 'INCY-DEV/incy-docs: ru/dev-docs/app-management.en.md';
const FLCLASHX = 'pluralplay/FlClashX: README_EN.md';
const KOALA = 'coolcoala/koala-clash: src-tauri/src/config/prfitem.rs';
const PRIZRAK = 'legiz-ru/Prizrak-Box: src-go/internal/resolve.go, ParseHeaders()';
const PRIZRAK_MOVES = 'legiz-ru/Prizrak-Box: src-go/internal/subscription.go';
const CLOD = 'Mrvibecodic/clod-clash: docs/HEADERS_en.md';
const CLOD_ANDROID =
  'Mrvibecodic/clod-clash-android: core/src/main/golang/native/config/panel/panel.go';

/** The system in the `User-Agent` of FlClash and its forks. */
const PLATFORM = /\bPlatform\/(\w+)/i;

const box = (name: string, effect: string) => infoBox(name, effect, `${HAPP}, sub-info`);

/** Both editions of Clod Clash; that of Android shows less of a text, and not the page. */
const clodClash = (columns: Pick<App, 'name' | 'textLengthMax' | 'buttons'> & Partial<App>): App =>
  row({
    agents: ['clodclash/'],
    reads: [announce(CLOD), linkOnText(CLOD, true), newDomain(CLOD), newUrl(CLOD)],
    panelMoves: [fallback('fallback-url', CLOD), fallback('fallback-domain', CLOD)],
    passes: ['clod-promo', 'clod-portal-url', 'notify-expire-days', 'notify-traffic-percent'],
    hwid: 'default',
    refusal: {
      status: 'a notice with `clod-hwid-limit` if the link is full; else the status',
      placeholder: `${NAME_OF_SERVER}; the notice too`,
      notice: 'clod-hwid-limit',
    },
    format: 'clash',
    source: CLOD,
    readOn: '2026-11-29',
    ...columns,
  });

export const APPS: readonly App[] = [
  row({
    name: 'Happ',
    agents: ['happ/'],
    reads: [
      announce(`${HAPP}, "Объявление": 200 characters`),
      box('sub-info-text', 'box of 200 characters; empty or `0` takes it away'),
      box('sub-info-color', '`red` for `force`, `blue` for `optional`'),
      box('sub-info-button-text', 'label of 25 characters; empty takes the button away'),
      box('sub-info-button-link', 'the button opens it'),
      newDomain(`${HAPP}, "Смена домена подписки"`, 'new-domain', true),
      newUrl(`${HAPP}, "Смена URL подписки"`, true),
    ],
    // The contract's command resets a key by an empty value, and headers take the same values.
    takesBack: 'empty',
    buttons: [SUPPORT, PAGE],
    panelMoves: [fallback('fallback-url', `${HAPP}, "Fallback URL", with a Provider ID`)],
    passes: [
      ...['socks-auth-mode', 'socks-auth-user', 'socks-auth-password'],
      ...['http-auth-mode', 'http-auth-user', 'http-auth-password'],
    ],
    hwid: 'default',
    refusal: { ...CLOSED, status: 'not known: closed; its document has `announce`' },
    adding: [adds('happ', 'happ://add/', 'fragment'), adds('happ-query', 'happ://add/', 'query')],
    source: `${HAPP}; dev-docs/provider-id.md`,
    readOn: '2026-11-29',
  }),
  row({
    name: 'INCY',
    agents: ['incy/'],
    reads: [
      announce(`${INCY}, "Announcement": 200 characters; subscription-format.en.md: five lines`),
      linkOnText(`${INCY}, "Announcement"`),
    ],
    buttons: [SUPPORT, PAGE],
    passes: ['homepage', 'support-email', 'premium-url', 'sort-order', 'hide-url', 'hide-check'],
    hwid: 'sends',
    refusal: { ...CLOSED, status: 'not known: closed; its document has `announce`' },
    adding: [adds('incy', 'incy://add/', 'query')],
    source: `${INCY}, "Parameter Summary Table"; ru/dev-docs/hwid.en.md, deep-links.en.md`,
    readOn: '2026-11-29',
  }),
  row({
    name: 'FlClashX',
    agents: ['flclash x/', 'flclashx/'],
    reads: [
      announce('pluralplay/FlClashX: lib/models/profile.dart, headersToCollect'),
      newDomain(`${FLCLASHX}, flclashx-newdomain`, 'flclashx-newdomain'),
    ],
    buttons: [SUPPORT],
    passes: [
      ...['flclashx-servicename', 'flclashx-settings', 'flclashx-widgets', 'flclashx-view'],
      ...['flclashx-buyplan', 'flclashx-buytraffic'],
    ],
    hwid: 'default',
    systemInAgent: PLATFORM,
    refusal: {
      status: 'the status',
      placeholder: `${NAME_OF_SERVER}; a notice with \`announce\` if the link is full`,
      notice: null,
    },
    format: 'clash',
    adding: [installs('flclashx')],
    source: 'pluralplay/FlClashX: lib/models/profile.dart, update()',
    readOn: '2026-11-29',
  }),
  row({
    name: 'Koala Clash',
    agents: ['koala-clash/'],
    reads: [
      announce(`${KOALA}:406`),
      linkOnText(`${KOALA}:435; src/pages/home.tsx:286`),
      newDomain(`${KOALA}:323`, 'new-sub-domain'),
    ],
    buttons: [SUPPORT, PAGE],
    passes: ['update-always'],
    hwid: 'default',
    refusal: {
      status: 'the status',
      placeholder: `link full: a notice with \`announce\`, and the servers stay; else ${NAME_OF_SERVER}`,
      notice: null,
    },
    format: 'clash',
    adding: [installs('koala-clash')],
    source: `${KOALA}:279-442`,
    readOn: '2026-11-29',
  }),
  row({
    name: 'v2RayTun',
    agents: ['v2raytun/'],
    reads: [announce('PasarGuard/panel: app/models/settings.py:313, a panel that sends it')],
    hwid: 'sends',
    refusal: { ...CLOSED, status: 'not known: closed' },
    adding: [adds('v2raytun', 'v2raytun://import/', 'query')],
    source: 'closed; docs.v2raytun.com is not at hand',
    readOn: '2026-11-29',
  }),
  row({
    name: 'Prizrak-Box',
    agents: ['clash-meta/prizrak-box', 'prizrak-box/'],
    reads: [
      announce(`${PRIZRAK}: 200 visible characters`),
      linkOnText(PRIZRAK),
      newDomain(PRIZRAK_MOVES),
      newUrl(PRIZRAK_MOVES),
    ],
    keepsText: true,
    buttons: [SUPPORT, PAGE],
    panelMoves: [
      fallback('fallback-url', PRIZRAK_MOVES),
      fallback('fallback-domain', PRIZRAK_MOVES),
    ],
    passes: ['pxd-template', 'pxa-template', 'global-mode'],
    hwid: 'sends',
    refusal: {
      status: 'the status; on Android a notice of its own if the link is full',
      placeholder: `${NAME_OF_SERVER}; on Android the notice, and the servers stay`,
      notice: null,
    },
    format: 'clash',
    adding: [installs('prizrak-box')],
    source: `${PRIZRAK}; on Android ProfileProcessor.kt; docs/deeplink.md`,
    readOn: '2026-11-29',
  }),
  clodClash({
    name: 'Clod Clash for Android',
    agentHas: '(android)',
    textLengthMax: 300,
    buttons: [SUPPORT],
    passes: ['clod-promo', 'clod-portal-url', 'notify-expire-days', 'notify-traffic-percent'],
    refusal: {
      status: 'link full: a notice with `clod-hwid-limit`, and the servers stay; else the body',
      placeholder: `link full: the notice, and the servers stay; else ${NAME_OF_SERVER}`,
      notice: 'clod-hwid-limit',
    },
    source: CLOD_ANDROID,
  }),
  clodClash({
    name: 'Clod Clash',
    textLengthMax: 500,
    buttons: [SUPPORT, PAGE],
    adding: [installs('clodclash')],
  }),
  row({
    name: 'Karing',
    agents: ['karing/'],
    hwid: 'switch',
    refusal: names('the status'),
    format: 'singBox',
    adding: [installs('karing')],
    source: 'KaringX/karing: no file under lib/ reads it; lib/app/utils/http_utils.dart',
    readOn: '2026-11-29',
  }),
  row({
    name: 'LxBox',
    agents: ['lxbox'],
    buttons: [SUPPORT, PAGE],
    refusal: names(NOT_KNOWN),
    source: 'Leadaxe/LxBox: app/lib/services/subscription/sources.dart:244-254',
    readOn: '2026-11-29',
  }),
  row({
    name: 'Hiddify',
    agents: ['hiddify'],
    systemInAgent: /^[^(]*\((\w+)\)/,
    buttons: [SUPPORT, PAGE],
    panelMoves: [
      {
        header: 'moved-permanently-to',
        effect: 'replaces the address',
        source: 'hiddify/hiddify-app: wiki, URL scheme',
      },
    ],
    refusal: names('an unexpected error'),
    adding: [adds('hiddify', 'hiddify://import/', 'query')],
    source: 'hiddify/hiddify-app: lib/features/profile/data/profile_parser.dart:41-50',
    readOn: '2026-11-29',
  }),
  row({
    name: 'v2rayNG',
    agents: ['v2rayng/'],
    system: 'android',
    refusal: names('that the update failed'),
    source: '2dust/v2rayNG: util/HttpUtil.kt:146, which returns the body alone',
    readOn: '2026-11-29',
  }),
  row({
    name: 'v2rayN',
    agents: ['v2rayn/'],
    system: 'desktop',
    refusal: names('that the update failed'),
    source: '2dust/v2rayN: v2rayN/ServiceLib/Services/DownloadService.cs, the body alone',
    readOn: '2026-11-29',
  }),
  row({
    name: 'NekoBox',
    agents: ['nekobox/'],
    refusal: names(NOT_KNOWN),
    source: 'MatsuriDayo/NekoBoxForAndroid: sagernet/group/RawUpdater.kt:60-90',
    readOn: '2026-11-29',
  }),
  row({
    name: 'Clash Party',
    agents: ['mihomo.party/'],
    buttons: [PAGE],
    refusal: names('the status'),
    format: 'clash',
    source: 'mihomo-party-org/clash-party: src/main/config/profile.ts, createProfile()',
    readOn: '2026-11-29',
  }),
  row({
    name: 'Clash Meta for Android',
    agents: ['clashmetaforandroid/'],
    system: 'android',
    refusal: names('a fault of its parser: it reads the body whatever the status'),
    format: 'clash',
    source: 'MetaCubeX/ClashMetaForAndroid: core/src/main/golang/native/config/fetch.go:38-52',
    readOn: '2026-11-29',
  }),
  row({
    name: 'Clash Verge Rev',
    agents: ['clash-verge/'],
    buttons: [PAGE],
    refusal: names('the status'),
    format: 'clash',
    adding: [installs('clash')],
    source: 'clash-verge-rev/clash-verge-rev: src-tauri/src/config/prfitem.rs:314-375',
    readOn: '2026-11-29',
  }),
  row({
    name: 'FlClash',
    agents: ['flclash/'],
    systemInAgent: PLATFORM,
    refusal: names(NOT_KNOWN),
    format: 'clash',
    source: 'chen08209/FlClash: lib/models/profile.dart, update()',
    readOn: '2026-11-29',
  }),
  row({
    name: 'Throne',
    agents: ['throne/'],
    hwid: 'switch',
    refusal: names('the status and the body, in its log'),
    source: 'throneproj/Throne: src/configs/sub/GroupUpdater.cpp',
    readOn: '2026-11-29',
  }),
  row({
    name: 'PassWall',
    agents: ['passwall'],
    hwid: 'sends',
    refusal: names('the status, in its log'),
    source: 'Openwrt-Passwall/openwrt-passwall: root/usr/share/passwall/subscribe.lua:1558',
    readOn: '2026-11-29',
  }),
  row({
    name: 'sing-box',
    agents: ['sfa/', 'sfi/', 'sfm/', 'sft/', 'sing-box'],
    refusal: names('an error of the fetch'),
    format: 'singBox',
    adding: [adds('sing-box', 'sing-box://import-remote-profile?url=', 'profile')],
    source:
      'SagerNet/sing-box-for-android: utils/HTTPClient.kt:31-36, which returns the body alone',
    readOn: '2026-11-23',
  }),
  ...(
    [
      ['Shadowrocket', 'sends', [adds('shadowrocket', 'sub://', 'base64')]],
      ['Streisand', 'unknown', []],
      ['V2Box', 'unknown', []],
    ] as const
  ).map(([name, hwid, adding]) =>
    row({
      name,
      agents: [name.toLowerCase()],
      isKnown: false,
      reads: UNKNOWN_READS,
      hwid,
      refusal: CLOSED,
      adding,
      source: 'closed; no document of the maker',
      readOn: '2026-11-29',
    }),
  ),
];
